package lazyregexp

import (
	"fmt"
	"regexp"
	"testing"
)

// A lazy expression finds what the same expression finds, in each of its methods.
func TestLikeRegexp(t *testing.T) {
	const expr, text = `(\d+)-(\d*)`, "see 12-34, 5- and -6"
	lazy, plain := New(expr), regexp.MustCompile(expr)
	all := func(r interface {
		fmt.Stringer
		Match([]byte) bool
		MatchString(string) bool
		FindString(string) string
		FindStringIndex(string) []int
		FindStringSubmatch(string) []string
		FindStringSubmatchIndex(string) []int
		FindAllString(string, int) []string
		FindAllStringIndex(string, int) [][]int
		FindAllStringSubmatch(string, int) [][]string
		FindAllStringSubmatchIndex(string, int) [][]int
		ReplaceAll([]byte, []byte) []byte
		ReplaceAllString(string, string) string
		ReplaceAllStringFunc(string, func(string) string) string
	}) string {
		return fmt.Sprintf("%q", []any{r.String(), r.Match([]byte(text)), r.MatchString(text), r.FindString(text), r.FindStringIndex(text),
			r.FindStringSubmatch(text), r.FindStringSubmatchIndex(text), r.FindAllString(text, -1), r.FindAllStringIndex(text, 1),
			r.FindAllStringSubmatch(text, -1), r.FindAllStringSubmatchIndex(text, -1), r.ReplaceAll([]byte(text), []byte("$2")),
			r.ReplaceAllString(text, "$2"), r.ReplaceAllStringFunc(text, func(s string) string { return "<" + s + ">" })})
	}
	if got, want := all(lazy), all(plain); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A wrong expression fails in tests, before anything uses it.
func TestWrongExpression(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(`(`)
}

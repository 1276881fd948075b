// Package lazyregexp compiles regular expressions when they are first used, so that a program which does not need hundreds
// of them starts without them. A wrong expression panics then; in tests it panics at once, as with regexp.MustCompile.
package lazyregexp

import (
	"os"
	"regexp"
	"sync"
	"testing"
)

// AsProgram is a variable of the environment. With it, a test binary is a program, which compiles its expressions when it needs
// them.
const AsProgram = "TANDEM_TEST_RUN_AS_PROGRAM"

var atOnce = testing.Testing() && os.Getenv(AsProgram) == ""

// Regexp is a regular expression that is compiled when it is first used. Its methods are those of regexp.Regexp, and may be
// called at the same time.
type Regexp struct {
	expr     string
	compiled func() *regexp.Regexp
}

// New returns a regular expression that is compiled later.
func New(expr string) *Regexp {
	r := &Regexp{expr, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
	if atOnce {
		r.compiled()
	}
	return r
}

// String returns the source of the expression.
func (r *Regexp) String() string { return r.expr }

func (r *Regexp) Match(b []byte) bool                  { return r.compiled().Match(b) }
func (r *Regexp) MatchString(s string) bool            { return r.compiled().MatchString(s) }
func (r *Regexp) FindString(s string) string           { return r.compiled().FindString(s) }
func (r *Regexp) FindStringIndex(s string) []int       { return r.compiled().FindStringIndex(s) }
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

func (r *Regexp) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

func (r *Regexp) ReplaceAllString(s, by string) string { return r.compiled().ReplaceAllString(s, by) }
func (r *Regexp) ReplaceAllStringFunc(s string, by func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, by)
}

func (r *Regexp) ReplaceAll(b, by []byte) []byte { return r.compiled().ReplaceAll(b, by) }

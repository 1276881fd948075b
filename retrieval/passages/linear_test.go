package passages

import (
	"fmt"
	"strings"
	"testing"

	"tandem/internal/allocated"
)

// wordList returns n bytes of different words.
func wordList(n int) string {
	var b strings.Builder
	for i := range n / 5 {
		fmt.Fprintf(&b, "%c%c%c%c ", 'a'+i%26, 'a'+i/26%26, 'a'+i/26/26%26, 'a'+i/26/26/26)
	}
	return b.String()
}

// The cost of a file is linear: four times the text takes about four times the memory.
func TestCuttingIsLinear(t *testing.T) {
	for _, c := range []struct {
		name string
		text func(n int) string
	}{
		{"lines.html", func(n int) string { return "<p>" + strings.Repeat("a line of text<br>\n", n/19) }},
		{"long.html", func(n int) string { return "<p>" + strings.Repeat("a", n/2) + strings.Repeat("<br>", n/8) }},
		{"item.txt", func(n int) string { return "- item\n" + strings.Repeat("  goes on and on\n", n/17) }},
		{"word.txt", func(n int) string { return strings.Repeat("a", 20*n) }},
		{"initials.txt", func(n int) string { return strings.Repeat("A. ", n/3) }},
		{"words.txt", wordList},
		{"lines.txt", func(n int) string { return strings.ReplaceAll(wordList(n), " ", "\n") }},
	} {
		cost := func(n, words int) uint64 {
			data := []byte(c.text(n))
			return allocated.Bytes(func() {
				if _, _, err := FromFile(t.Context(), c.name, data, words); err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
			})
		}
		const n = 1 << 14
		for _, words := range []int{SentenceWords, DefaultWords} {
			if one, four := cost(n, words), cost(4*n, words); four > 8*one {
				t.Errorf("%s, %d words: %d kB of memory for %d kB of text, %d kB for four times the text", c.name, words, one>>10, n>>10, four>>10)
			}
		}
	}
}

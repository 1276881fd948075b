package documents

import (
	"strings"
	"testing"
)

// Unclosed opening marks do not each cause a search of the whole text.
func TestMarksAreSearchedForOnce(t *testing.T) {
	for _, s := range []string{"[", "[x", "[[", "![", "[x](", "[x][", "<", "<a", "`a ``", "[x]] [[", "[](", "a] [", "<a <!--"} {
		for _, end := range []string{"", "]", ")", ">", "`", "][x", "](x"} {
			text := strings.Repeat(s, 10000/len(s)) + end
			if _, searched := unmark(text); searched > 8*len(text) {
				t.Errorf("%q repeated, then %q: %d bytes searched in a text of %d", s, end, searched, len(text))
			}
		}
	}
}

// An asterisk without another one is no emphasis.
func TestLoneAsterisk(t *testing.T) {
	for text, want := range map[string]string{"The PIN is *4711#.": "The PIN is *4711#.", "an *old* key": "an old key", "3 * 4 and *5*": "3 * 4 and 5"} {
		if got := plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

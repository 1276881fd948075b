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

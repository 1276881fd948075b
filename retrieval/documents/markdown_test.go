package documents

import (
	"strings"
	"testing"
)

// Marks that nothing closes are not searched for anew by each that opens.
func TestMarksAreSearchedForOnce(t *testing.T) {
	for _, s := range []string{"[", "[x", "[[", "![", "[x](", "[x][", "<", "<a", "`a ``", "[x]] [[", "[](", "a] [", "<a <!--"} {
		for _, end := range []string{"", "]", ")", ">", "`", "][x", "](x"} {
			text := strings.Repeat(s, 10000/len(s)) + end
			if _, looked := unmark(text); looked > 8*len(text) {
				t.Errorf("%q again and again, then %q: %d bytes are looked at of %d", s, end, looked, len(text))
			}
		}
	}
}

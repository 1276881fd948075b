package sample

import "testing"

// Only what precedes the text is cut off, however it is divided into pieces.
func TestLeadingSpace(t *testing.T) {
	for _, pieces := range [][]string{{" \n A b \n"}, {" ", "\n", " A", " b", " \n"}, {"", "\n ", "", "A b ", "\n"}} {
		var l LeadingSpace
		got := ""
		for _, piece := range pieces {
			got += l.Cut(piece)
			if l.Begun() != (got != "") {
				t.Errorf("%q: begun %v after %q", pieces, l.Begun(), got)
			}
		}
		if got != "A b \n" {
			t.Errorf("%q: %q", pieces, got)
		}
	}
	var l LeadingSpace
	if l.Keep(); l.Cut(" A") != " A" {
		t.Error("a space was cut that is to be kept")
	}
}

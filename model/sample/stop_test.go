package sample

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Text is cut where the stop string that is complete first begins, or the longest of several that end together. It does not
// matter in which pieces the text comes.
func TestStopFilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("abé")), 0, 20, -1).Draw(t, "text")
		stops := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("abé")), 0, 4, -1), 0, 3).Draw(t, "stops")
		size := rapid.IntRange(1, len(text)+1).Draw(t, "size")
		f, got := NewStopFilter(stops), ""
		for piece := range slices.Chunk([]byte(text), size) {
			show, _ := f.Write(string(piece))
			got += show
		}
		got += f.Flush()
		want, end := text, len(text)+1
		for _, s := range stops {
			if i := strings.Index(text, s); s != "" && i >= 0 && (i+len(s) < end || i+len(s) == end && i < len(want)) {
				want, end = text[:i], i+len(s)
			}
		}
		if got != want || f.Stopped() != (end <= len(text)) {
			t.Fatalf("%q with stops %q in pieces of %d shows %q, want %q", text, stops, size, got, want)
		}
	})
	f := NewStopFilter([]string{"abc", "b"})
	if show, stopped := f.Write("abc"); show != "a" || !stopped {
		t.Errorf("%q %v: the string that ends first is in the middle of the other", show, stopped)
	}
	f = NewStopFilter([]string{"###"})
	if show, stopped := f.Write("an#swer##"); show != "an#swer" || stopped {
		t.Errorf("%q %v", show, stopped)
	}
	if show, stopped := f.Write("# more"); show != "" || !stopped {
		t.Errorf("%q %v", show, stopped)
	}
	if show, stopped := f.Write("more"); show != "" || !stopped {
		t.Errorf("%q %v", show, stopped)
	}
}

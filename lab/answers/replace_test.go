package answers

import (
	"slices"
	"testing"
	"testing/fstest"
)

// The files of a folder stand for the documents of their names, in the sides and in the questions.
func TestReplace(t *testing.T) {
	set := Set{Name: "own", Worlds: []World{{
		Sides:     [2][]Document{{{"museum.md", []byte("# Museum")}}, {{"pool.txt", []byte("Pool")}}},
		Questions: []Question{ask("When does the museum open?", "9:40", "It opens at 9:40.", "museum.md", "pool.txt")},
	}}}
	n, err := set.Replace(fstest.MapFS{"museum.pdf": {Data: []byte("%PDF-")}, "other.pdf": {}, "pool": {Mode: 0o755 | 1<<31}})
	w := set.Worlds[0]
	if n != 1 || err != nil || w.Sides[0][0].Name != "museum.pdf" || string(w.Sides[0][0].Data) != "%PDF-" || w.Sides[1][0].Name != "pool.txt" || !slices.Equal(w.Questions[0].Names, []string{"museum.pdf", "pool.txt"}) {
		t.Errorf("%d, %v, %+v", n, err, w)
	}
}

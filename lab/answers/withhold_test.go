package answers

import (
	"slices"
	"testing"

	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// A withheld set asks the answerable questions without the documents that answer them: no passage of these is found, those of
// others still are, and to refuse is right.
func TestWithheld(t *testing.T) {
	q := ask("When does the harbour museum open?", "9:40", "The harbour museum opens at 9:40.", "museum.txt")
	set := Set{Name: "own", Worlds: []World{{
		Sides: [2][]Document{
			{{Name: "museum.txt", Data: []byte("# Harbour museum\n\nThe harbour museum opens at 9:40.\n")}},
			{{Name: "pool.txt", Data: []byte("# Pool\n\nThe pool opens at 8:00, and the museum next to it later.\n")}},
		},
		Questions: []Question{q, {Text: "Who owns the moon?"}},
	}}}
	held := set.Withheld()
	if held.Count() != 1 {
		t.Fatalf("%d questions, want the answerable one", held.Count())
	}
	got := held.Worlds[0].Questions[0]
	if got.Answerable() || !slices.Equal(got.Without, q.Names) || Judge(got, Answer{Unknown: true}).Outcome != Right || Judge(got, Answer{Text: "9:40"}).Outcome == Right {
		t.Errorf("%+v", got)
	}
	l, err := Open(t.Context(), set.Worlds[0], Options{Options: search.Options{Words: passages.DefaultWords}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		q    Question
		want string
	}{{q, "museum.txt"}, {got, "pool.txt"}} {
		found, err := c.q.search(t.Context(), l.All, 1)
		if err != nil || len(found) != 1 || found[0].Source != c.want {
			t.Errorf("without %v: %+v, %v", c.q.Without, found, err)
		}
	}
}

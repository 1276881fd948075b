package answers

import (
	"slices"
	"testing"

	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// Sets that are asked together keep apart files of one name, and leave out what another set asks in the same words.
func TestTogether(t *testing.T) {
	set := func(opens, question string) Set {
		return Set{Worlds: []World{{
			Sides:     [2][]Document{{{Name: "notes.txt", Data: []byte("The " + opens + ".\n")}}},
			Questions: []Question{ask(question, "8:00", "The "+opens+".", "notes.txt"), ask("Is it open?", "8:00", "The "+opens+".", "notes.txt")},
		}}}
	}
	pool, mill := set("pool opens at 8:00", "When does the pool open?"), set("mill opens at 8:00", "When does the mill open?")
	follow := ask("Is it open?", "8:00", "The mill opens at 8:00.", "notes.txt")
	follow.Before = &mill.Worlds[0].Questions[0]
	mill.Worlds[0].Questions = append(mill.Worlds[0].Questions, follow)
	all := Together([]Set{pool, mill})
	w := all.Worlds[0]
	var ids []string
	for _, q := range w.Questions {
		ids = append(ids, q.Names[0]+" "+q.Text)
	}
	if want := []string{"1/notes.txt When does the pool open?", "1/notes.txt Is it open?", "2/notes.txt When does the mill open?", "2/notes.txt Is it open?"}; !slices.Equal(ids, want) {
		t.Errorf("%q, want %q", ids, want)
	}
	l, err := Open(t.Context(), w, Options{Options: search.Options{Words: passages.DefaultWords}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	found, err := w.Questions[2].search(t.Context(), l.Device, 1)
	if err != nil || len(found) != 1 || found[0].Source != "2/notes.txt" {
		t.Errorf("%v, %v", found, err)
	}
}

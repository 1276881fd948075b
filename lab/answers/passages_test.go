package answers

import (
	"slices"
	"strings"
	"testing"
)

// A question comes with the passages of both sides as the reader is given them, below their titles.
func TestFoundPassages(t *testing.T) {
	w := cabin()
	compound := ask("When does the museum open and what is the wifi password?", "9:30", "")
	followUp := ask("And when does it close?", "17:20", "")
	followUp.askAfter(&open)
	w.Questions = []Question{open, compound, followUp, {ID: "x", Kind: "unanswerable", Text: "When was the boat sold?"}}
	var got []Found
	err := FoundPassages(t.Context(), Set{"cabins", []World{w}}, 8, Options{}, func(f Found) error {
		got = append(got, f)
		return nil
	})
	if err != nil || len(got) != 2 {
		t.Fatalf("%d questions, want the first and the last: %+v %v", len(got), got, err)
	}
	if !slices.Contains(got[0].Passages, "# Harbour museum\nThe museum opens at 9:30.") || got[0].Parts[0].Sentence != "The museum opens at 9:30." || got[0].Set != "cabins" {
		t.Errorf("%+v", got[0])
	}
	if len(got[1].Parts) > 0 || !slices.ContainsFunc(got[1].Passages, func(p string) bool { return strings.HasPrefix(p, "# Lake cabin\n") }) {
		t.Errorf("%+v", got[1])
	}
}

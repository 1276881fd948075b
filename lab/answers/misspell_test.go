package answers

import (
	"strings"
	"testing"
)

// Misspelt changes as many words as are asked for, if there are as many, and no name, number or short word.
func TestMisspelt(t *testing.T) {
	const question = "When does the Harbour museum open on weekdays, and what is the password of room kx-2024b?"
	of := func(n int, seed uint64) string {
		s := Set{Name: "s", Worlds: []World{{Questions: []Question{{Text: question}}}}}
		return s.Misspelt(n, seed).Worlds[0].Questions[0].Text
	}
	if again := of(2, 1); of(0, 1) != question || of(2, 1) != again {
		t.Error("no words are misspelt, or not alike")
	}
	for seed := range uint64(50) {
		for n := range 6 {
			before, after := strings.Fields(question), strings.Fields(of(n, seed))
			if len(before) != len(after) {
				t.Fatalf("%q has other words than %q", after, before)
			}
			changed := 0
			for i, w := range before {
				if w == after[i] {
					continue
				}
				changed++
				if w != "museum" && w != "weekdays," && w != "password" {
					t.Errorf("%q is misspelt %q", w, after[i])
				}
			}
			if changed > min(n, 3) {
				t.Errorf("%d words misspelt, want at most %d: %q", changed, min(n, 3), after)
			}
		}
	}
}

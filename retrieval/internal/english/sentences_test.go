package english

import (
	"slices"
	"testing"
)

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"Mr. Oduya has it. The fee is 1.50 euros. See Dr. A. Hale at St. Olan!": {"Mr. Oduya has it.", "The fee is 1.50 euros.", "See Dr. A. Hale at St. Olan!"},
		"It opens at 9:30": {"It opens at 9:30"},
		"The fee is 14 euros. 8 pounds is the deposit. £3 more.":       {"The fee is 14 euros.", "8 pounds is the deposit.", "£3 more."},
		"Mail to Ada. ada@inn.example is new. Is it in chap. 5 of it?": {"Mail to Ada. ada@inn.example is new.", "Is it in chap. 5 of it?"},
		"It weighs approx. 5 kg, opens at 6 p.m. 30 people come.":      {"It weighs approx. 5 kg, opens at 6 p.m. 30 people come."},
		"So do I. We go.": {"So do I.", "We go."},
		"":                nil,
	} {
		if got := Sentences(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

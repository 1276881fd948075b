package refusal

import "testing"

func TestIn(t *testing.T) {
	for answer, want := range map[string]bool{
		"The door code of the lake cabin is unknown.": true,
		"It opens at 9:30. The price is Unknown.":     true,
		"I don't know.":                        true,
		"The text does not say when it opens.": true,
		"That is not mentioned.":               true,
		"There is no information about it.":    true,
		"22 … Das weiß ich nicht.":             true,
		"Je ne sais pas.":                      true,
		"No lo sé.":                            true,
		"":                                     false,
		"The museum opens at 9:30.":            false,
		"The unknowns are x and y.":            false,
		"She does not knowingly lie.":          false,
	} {
		if In(answer) != want {
			t.Errorf("In(%q) = %v", answer, !want)
		}
	}
}

// A sentence is unsupported if its weight comes from the contexts without a document. It is unknown if it is unsupported
// or says so itself.
func TestUnsupported(t *testing.T) {
	for _, c := range []struct {
		sentence string
		nothing  float64
		want     [2]bool // unsupported, unknown
	}{
		{"The door code of the cabin is 4471.", 0.02, [2]bool{false, false}},
		{"The door code of the cabin is 4471.", 0.4, [2]bool{false, false}},
		{"The door code of the cabin is 4471.", 0.6, [2]bool{true, true}},
		{"The door code of the moon base is unknown.", 0.47, [2]bool{true, true}},
		{"The author of the letter is unknown.", 0.05, [2]bool{false, true}}, // a document says so
		{"The bakery is run by unknown", 0.07, [2]bool{false, true}},
		{"The unknown soldier lies in the park.", 0.07, [2]bool{false, false}},
		{"The theatre shows The Great Unknown.", 0.07, [2]bool{false, false}},
	} {
		if got := [2]bool{Unsupported(c.sentence, c.nothing), Unknown(c.sentence, c.nothing)}; got != c.want {
			t.Errorf("%q with weight %v without a document: %v", c.sentence, c.nothing, got)
		}
	}
}

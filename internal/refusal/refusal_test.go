package refusal

import "testing"

func TestRefused(t *testing.T) {
	for answer, want := range map[string]bool{
		"The door code of the lake cabin is unknown.": true,
		"It opens at 9:30. The price is Unknown.":     true,
		"I don't know.":                        true,
		"The text does not say when it opens.": true,
		"That is not mentioned.":               true,
		"There is no information about it.":    true,
		"":                                     false,
		"The museum opens at 9:30.":            false,
		"The unknowns are x and y.":            false,
		"She does not knowingly lie.":          false,
	} {
		if In(answer) != want {
			t.Errorf("%q: refused is %v", answer, !want)
		}
	}
}

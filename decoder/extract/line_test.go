package extract

import "testing"

func TestUnmarked(t *testing.T) {
	for line, want := range map[string]string{
		"- Its phone number is 490-4484.": "Its phone number is 490-4484.", "A: The fee is 45 euros.": "The fee is 45 euros.", "- [x] Buy milk": "[x] Buy milk", "- [ ] ": "- [ ] ",
		"A. Miller runs it.": "A. Miller runs it.", "-5 degrees": "-5 degrees", "- ": "- ", "": "", "3. Stir.": "Stir.", "3. eggs": "3. eggs", "3. April was wet.": "3. April was wet.",
	} {
		if got := unmarked(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

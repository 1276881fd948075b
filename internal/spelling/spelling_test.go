package spelling

import (
	"strings"
	"testing"
)

// The distance of two words is the number of typing errors between them.
func TestDistance(t *testing.T) {
	for pair, want := range map[string]int{"/": 0, "a/": 1, "/ab": 2, "ab/ba": 1, "abc/ca": 3, "kitten/sitting": 3, "teahcer/teacher": 1, "abcd/badc": 2} {
		a, b, _ := strings.Cut(pair, "/")
		for limit := range 5 {
			if got := Distance([]rune(a), []rune(b), limit); got != min(want, limit+1) {
				t.Errorf("%s: %d with a limit of %d", pair, got, limit)
			}
		}
	}
}

// A misspelt word has the nearest of the known ones, unless that is another word.
func TestNearest(t *testing.T) {
	known := []string{"local_only", "loss", "notes", "max-tokens"}
	for misspelt, want := range map[string]string{"local_onyl": "local_only", "max-toknes": "max-tokens", "lss": "", "lost": "loss", "quotes": "", "": ""} {
		if got := Nearest(misspelt, known); got != want {
			t.Errorf("%q: %q, want %q", misspelt, got, want)
		}
	}
}

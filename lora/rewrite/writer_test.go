package rewrite

import (
	"slices"
	"strings"
	"testing"
)

const letter = `Dear Mr Brown,

thank you for the letter that you have sent me last week. I have read it with
great interest and would like to meet you on Monday or, if that is too early, on
Tuesday. Please call me at 10:30, or write to the address that you find at the end
of this letter.

I would be happy to show you the garden and the new house on that occasion, too
Anna Smith
- one
- two
`

// Sentences go on in the next line of a letter that was broken to fit a width. Other lines end what they say.
func TestSentencesOverLines(t *testing.T) {
	want := []string{
		"Dear Mr Brown,", "thank you for the letter that you have sent me last week.",
		"I have read it with great interest and would like to meet you on Monday or, if that is too early, on Tuesday.",
		"Please call me at 10:30, or write to the address that you find at the end of this letter.",
		"I would be happy to show you the garden and the new house on that occasion, too", "Anna Smith", "- one", "- two",
	}
	for _, text := range []string{letter, strings.ReplaceAll(letter, "\n", "\r\n")} {
		if got := sentencesOf(text); !slices.Equal(got, want) {
			t.Errorf("the sentences are %q, want %q", got, want)
		}
		same, kept, err := EachSentence(text, func(string) (string, error) { return "", nil })
		if err != nil || same != text || kept != len(want) {
			t.Errorf("%d sentences are left as they were, and the text is %q (%v)", kept, same, err)
		}
	}
	for _, short := range []string{"hi anna\ni have a question\nwhen do you come", "Milk\nBread\nbutter"} { // a chat, a list
		if got := sentencesOf(short); !slices.Equal(got, strings.Split(short, "\n")) {
			t.Errorf("%q has the sentences %q", short, got)
		}
	}
}

package extract

import (
	"regexp"
	"slices"
	"strings"

	"tandem/decoder"
)

// firstPerson matches what people say of themselves.
var firstPerson = regexp.MustCompile(`(?i)` + apart(`I|I['’](?:m|ll|ve|d)|me|my|mine|myself|ich|mir|mich|mein\pL*|je|j['’]ai|moi|mon|yo|mi`))

// saysOfSelf matches what its speaker says to do or to have, and nobody else.
var saysOfSelf = regexp.MustCompile(`(?i)(?:^|: |[.!?,] )(?:I|I['’](?:m|ll|ve|d)|me|ich|je|yo)(?:[ .!,]|$)`)

// ofHearer matches what stands for something that another speaker has named, or for her.
var ofHearer = regexp.MustCompile(`(?i)` + apart(`it|them|you|your|yours|that one|dich|dir|dein\pL*|es|te|tu|lo|la|le`))

// namesAnother reports whether a value has a name.
func namesAnother(value string) bool {
	return slices.ContainsFunc(aName.FindAllString(value, -1), func(name string) bool { return len(decoder.ContentWords(name)) > 0 })
}

// saidByAnother reports whether a sentence is what somebody says of himself, where the question is about another of those who speak in the
// passage: "I bring the grill" does not answer "what does Nadia bring?" if Piet says it. It may answer what she has said just before.
func (w wants) saidByAnother(at pointed) bool {
	by := at.speakerOf(at.begin)
	if by == "" || !firstPerson.MatchString(strings.TrimPrefix(at.said, speaker.FindString(at.said))) {
		return false
	}
	asked := at.speakersAmong(letterWords(w.question))
	if len(asked) == 0 || anyWord(by, asked) || anyWord(at.said, asked) || ofHearer.MatchString(at.said) {
		return false
	}
	before := at.lineStart(max(0, at.lineStart(at.begin)-1))
	line := at.text[before:at.lineStart(at.begin)]
	replies := anyWord(at.speakerOf(before), asked) && decoder.SharedWords(decoder.WithoutWords(w.words, asked), decoder.ContentWords(line)) > 0
	return !replies
}

// speakersAmong returns the words of the names of those who speak in the passage and whom words name.
func (p passage) speakersAmong(words []string) (out []string) {
	for begin := range p.lines() {
		if by := p.speakerOf(begin); by != "" && anyWord(by, words) {
			out = append(out, letterWords(by)...)
		}
	}
	return out
}

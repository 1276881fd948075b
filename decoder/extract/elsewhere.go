package extract

import (
	"path"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

var (
	// atTheEnd matches the place or the thing that a question names last: " in the theatre?".
	atTheEnd = lazyregexp.New(`(?i) (?:at|in|of) (?:the|our|my|your) ((?:[\pL-]+ ){0,2}[\pL-]+)\W*$`)
	// ofOwner matches the owner that a question names: "the theatre's rules".
	ofOwner = lazyregexp.New(`(?i)\b(?:the|our|my|your) ((?:[\pL-]+ )?[\pL-]+)['’]s `)
)

// elsewhere reports for each passage whether the question names another document as the place or the thing that it asks
// about. The rules of the hostel do not answer "may I smoke in the theatre?" if there are documents about both. Neither
// the passage nor its names may have a word of that.
func elsewhere(question string, known []passage) []bool {
	out := make([]bool, len(known))
	for _, at := range []*lazyregexp.Regexp{atTheEnd, ofOwner} {
		m := at.FindStringSubmatch(question)
		if m == nil {
			continue
		}
		place, named := excluding(words.Content(m[1]), ofAnyDocument), false
		for _, p := range known {
			named = named || words.Shared(place, p.documentWords()) > 0
		}
		for i, p := range known {
			out[i] = out[i] || named && words.Shared(place, append(words.Content(p.text), p.names...)) == 0
		}
	}
	return out
}

// ofAnyDocument has words for what a document may be about without naming it, such as "house": the calendar of waste
// does not.
var ofAnyDocument = words.Set(`house home flat apartment building place family room rooms garden town city village street country area
 time times way day week month year season summer winter trip holiday journey visit meeting event party wedding project job work
 list plan notes note letter mail email message page document documents file table guide rules form report bill invoice minutes
 new old first last next second end beginning other same whole people person child children kids mum dad`)

// documentWords returns the words of the names of the passage's document, without those of its headings and folders.
func (p passage) documentWords() []string {
	title, _, _ := strings.Cut(p.title(), ": ")
	file := path.Base(strings.ReplaceAll(p.source, `\`, "/"))
	return words.Content(title + " " + strings.Map(spaceForSeparator, strings.TrimSuffix(file, path.Ext(file))))
}

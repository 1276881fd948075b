package extract

import "tandem/internal/lazyregexp"

// opposites are pairs of words. A sentence with one says nothing of the other: what is turned on in April may be turned
// off in October. A reader that looks for the question's words takes one for the other. Timetables are read in four
// languages.
var opposites = [][2]*lazyregexp.Regexp{
	opposing(`(?:turn|switch)(?:s|es|ed|ing)? (?:it |them )?on|put on`, `(?:turn|switch)(?:s|es|ed|ing)? (?:it |them )?off|shut off|cut off`),
	opposing(`open(?:s|ed|ing)?`, wordsForClosing),
	opposing(`beg[aiu]n(?:s|ning)?|start(?:s|ed|ing)?`, wordsForEnding),
	opposing(`arriv(?:e|es|ed|al|als|ing|er|ent|ées?)|(?:an)?kommt|ankommen|ankunft|ankunftszeit(?:en)?|lleg(?:a|an|ar|adas?)`,
		`depart(?:s|ed|ure|ures|ing)?|leav(?:e|es|ing)|(?:ab|los)?fährt|(?:ab|los)fahren|abfahrt|abfahrtszeit(?:en)?|départs?|part (?:the|l[ea]s?|à|de)|partir|partent|sale (?:a|de|the)|sal(?:en|ir|idas?)`),
	opposing(`check(?:s|ed|ing)?[ -]?in`, `check(?:s|ed|ing)?[ -]?out`),
	opposing(`pick(?:s|ed|ing)?[ -]?up`, `drop(?:s|ped|ping)?[ -]?off|return(?:s|ed|ing)?`),
	opposing(`entrances?`, `exits?`),
	opposing(`mornings?`, `evenings?`),
	opposing(`summer`, `winter`),
	opposing(`adults?`, `child(?:ren)?|kids?`),
}

const (
	wordsForClosing = `clos(?:e|es|ed|ing)|shuts?`
	wordsForEnding  = `end(?:s|ed|ing)?|finish(?:es|ed|ing)?`
)

// opposing compiles two patterns of whole words.
func opposing(a, b string) [2]*lazyregexp.Regexp {
	return [2]*lazyregexp.Regexp{lazyregexp.New(`(?i)` + apart(a)), lazyregexp.New(`(?i)` + apart(b))}
}

// aRange matches what has a beginning and an end, whatever the words for them: "9–17", "from".
var aRange = lazyregexp.New(`(?i)\d ?[–—-] ?\d|` + apart(`from|between|von|vom|zwischen|de|du|entre|desde`))

// opposed returns the opposites of which a question has only one word, with that word first.
func opposed(question string) (out [][2]*lazyregexp.Regexp) {
	for _, o := range opposites {
		switch a, b := o[0].MatchString(question), o[1].MatchString(question); {
		case a && !b:
			out = append(out, o)
		case b && !a:
			out = append(out, [2]*lazyregexp.Regexp{o[1], o[0]})
		}
	}
	return out
}

// homonyms matches words that look like one of a pair but name a place: "close to the gate", "the west end".
var homonyms = lazyregexp.New(`(?i)\bclose (?:to|by)\b|\b(?:far|other|upper|lower|top|bottom|front|back|rear|(?:north|south|east|west)(?:ern)?) ends?\b`)

// ends matches a question for the end of something: "when does it close?".
var ends = lazyregexp.New(`(?i)` + apart(wordsForClosing+`|`+wordsForEnding))

// aBound matches what says of a time that something ends then: "until".
var aBound = lazyregexp.New(`(?i)` + apart(`until|till|bis|jusqu['’]\pL+|hasta`))

// saysOpposite reports whether a sentence, with what stands above it, has the opposite of a word of the question,
// and neither that word, nor a range, nor "until" where the question is for an end.
func (w wants) saysOpposite(text string) bool {
	if len(w.opposed) == 0 || ends.MatchString(w.question) && aBound.MatchString(text) {
		return false
	}
	text = homonyms.ReplaceAllString(text, "")
	for _, o := range w.opposed {
		if o[1].MatchString(text) && !o[0].MatchString(text) && !aRange.MatchString(text) {
			return true
		}
	}
	return false
}

package extract

import "regexp"

// opposites are words of which a sentence that has one says nothing of the other: what is turned on in April may be turned off in
// October. A reader that looks for the question's words takes one sentence for the other. Timetables are read in four languages.
var opposites = [][2]*regexp.Regexp{
	opposing(`(?:turn|switch)(?:s|es|ed|ing)? (?:it |them )?on|put on`, `(?:turn|switch)(?:s|es|ed|ing)? (?:it |them )?off|shut off|cut off`),
	opposing(`open(?:s|ed|ing)?`, `clos(?:e|es|ed|ing)|shuts?`),
	opposing(`beg[aiu]n(?:s|ning)?|start(?:s|ed|ing)?`, `end(?:s|ed|ing)?|finish(?:es|ed|ing)?`),
	opposing(`arriv(?:e|es|ed|al|als|ing|er|ent|ées?)|(?:an)?kommt|ankommen|ankunft|ankunftszeit(?:en)?|lleg(?:a|an|ar|adas?)`,
		`depart(?:s|ed|ure|ures|ing)?|leav(?:e|es|ing)|(?:ab|los)?fährt|(?:ab|los)fahren|abfahrt|abfahrtszeit(?:en)?|départs?|part (?:the|l[ea]s?|à|de)|partir|partent|sale (?:a|de|the)|sal(?:en|ir|idas?)`),
	opposing(`check(?:s|ed|ing)?[ -]?in`, `check(?:s|ed|ing)?[ -]?out`),
	opposing(`pick(?:s|ed|ing)?[ -]?up`, `drop(?:s|ped|ping)?[ -]?off|return(?:s|ed|ing)?`),
	opposing(`entrances?`, `exits?`),
	opposing(`mornings?`, `evenings?`),
	opposing(`summer`, `winter`),
	opposing(`adults?`, `child(?:ren)?|kids?`),
}

// opposing compiles two patterns of whole words.
func opposing(a, b string) [2]*regexp.Regexp {
	return [2]*regexp.Regexp{regexp.MustCompile(`(?i)` + apart(a)), regexp.MustCompile(`(?i)` + apart(b))}
}

// aRange matches what names beginning and end, by whatever word.
var aRange = regexp.MustCompile(`(?i)\d ?[–—-] ?\d|` + apart(`from|between|von|vom|zwischen|de|du|entre|desde`))

// opposed returns the opposites of which a question has only one, that one first.
func opposed(question string) (out [][2]*regexp.Regexp) {
	for _, o := range opposites {
		switch a, b := o[0].MatchString(question), o[1].MatchString(question); {
		case a && !b:
			out = append(out, o)
		case b && !a:
			out = append(out, [2]*regexp.Regexp{o[1], o[0]})
		}
	}
	return out
}

// opposite reports whether a sentence, with what stands above it, has the opposite of a word of the question, and neither that word nor
// a range.
func (w wants) opposite(text string) bool {
	for _, o := range w.opposed {
		if o[1].MatchString(text) && !o[0].MatchString(text) && !aRange.MatchString(text) {
			return true
		}
	}
	return false
}

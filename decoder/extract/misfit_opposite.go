package extract

import (
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

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

// otherEnd reports whether the question asks for one end of a range of times and the value is the other.
func (w wants) otherEnd(before, value string) bool {
	return asksSince.MatchString(w.question) && (untilHere.MatchString(before) || untilIn.MatchString(value)) ||
		asksUntil.MatchString(w.question) && sinceHere.MatchString(before)
}

// untilHere matches before a value what makes it an end: "until the ".
var untilHere = lazyregexp.New(`(?i)(?:^|[^\pL])(?:until|till|up to|bis(?: zum)?|jusqu'(?:à|en|au)) (?:the |end of |the end of )?$`)

// untilIn matches a value that says itself that it is an end: "until May".
var untilIn = lazyregexp.New(`(?i)^(?:until|till|up to|bis|jusqu'(?:à|en|au)) [^,;]*$`)

// sinceHere matches before a value what makes it a beginning: "since ".
var sinceHere = lazyregexp.New(`(?i)(?:^|[^\pL])(?:since|as of|seit|ab|depuis) (?:the )?$`)

// otherWay reports whether a sentence has the journey the other way round: "Lund – Kiel" for one to Lund.
func (w wants) otherWay(sentence string) bool {
	begins := func(place string) bool { return journey(sentence, place+" ", "") }
	ends := func(place string) bool { return journey(sentence, "", " "+place) }
	return w.to != "" && begins(w.to) && !ends(w.to) || w.from != "" && ends(w.from) && !begins(w.from)
}

// toElsewhere reports whether a sentence, with the heading above it, has a journey from the same place to another one
// than the question's. A place in capitals, "JFK", may be the question's.
func (w wants) toElsewhere(head, sentence string) bool {
	if w.to == "" || w.from == "" || strings.Contains(head+sentence, w.to) {
		return false
	}
	m := goesTo.FindStringSubmatch(sentence)
	return m != nil && m[1] != w.to && strings.ToUpper(m[1]) != m[1] && strings.Contains(sentence, w.from)
}

// journey reports whether a sentence has a mark between two places, with some text before it and after it.
func journey(sentence, before, after string) bool {
	return slices.ContainsFunc([]string{"–", "—", "-", "→", "->"}, func(mark string) bool {
		return strings.Contains(sentence, before+mark+after)
	})
}

// besideOther looks at a sentence that names two things, one rather than the other. It returns how many words of the
// question stand beside the candidate, and how many only beside the other.
func (c candidate) besideOther(w wants) (here, there int) {
	if !c.says(ratherThan) || ratherThan.MatchString(w.question) {
		return 0, 0
	}
	m := ratherThan.FindStringIndex(c.said)
	behind := c.said[m[1]:]
	if end := afterOther.FindStringIndex(behind); end != nil { // "rather than Ada in the hall": both are in the hall
		behind = behind[:end[0]]
	}
	one, other := words.Content(c.said[:m[0]]), words.Content(behind)
	if c.from-c.begin >= m[1] {
		one, other = other, one
	}
	return words.Shared(w.words, one), words.Shared(words.Without(w.words, one), other)
}

// afterOther matches what may go with both things again: " in the hall".
var afterOther = lazyregexp.New(`(?i) (?:in|on|at|to|for|of|from|with|by|because|this|next|last|as)\b|[,;:]`)

// ratherThan matches what stands between two things of which one is meant: "instead of".
var ratherThan = lazyregexp.New(`(?i)\b(?:rather than|instead of|as opposed to|compared (?:to|with))\b`)

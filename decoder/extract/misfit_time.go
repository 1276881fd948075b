package extract

import (
	"slices"
	"strconv"
	"strings"

	"tandem/internal/lazyregexp"
)

// isFormer reports whether a value is a former one: its clause says "was", and a later one has another value with "now".
func (c candidate) isFormer() bool {
	clause := c.before()
	if i := strings.LastIndexAny(clause, ";.:"); i >= 0 {
		clause = clause[i:]
	}
	if !c.matches(wasSo, clause) {
		return false
	}
	next := c.after + c.nextSentence()
	return isNow.MatchString(next) && (len(numbers(c.value)) > 0) == (len(numbers(next)) > 0) && !containsAll(numbers(c.value), numbers(next))
}

// heldOnce reports whether a sentence says of the value in a range that it held until some time: "was 50 µg until February".
// What goes on behind that may say what came then.
func heldOnce(said string, from, to int) bool {
	return slices.ContainsFunc(wasUntil.FindAllStringSubmatchIndex(said, -1), func(m []int) bool { return m[0] <= from && from < m[3] && to <= m[1]+1 })
}

// wasUntil matches what was, as its group, and until when, at the beginning of a sentence or a clause.
var wasUntil = lazyregexp.New(`(?i)(?:^|[.;,(] ?)((?:[\pL'’-]+ ){0,4}(?:was|were|cost|war|waren|kostete|était|coûtait|era|costaba) (?:[^ ;,()]+ ){1,4}?)(?:until|till|up to|bis|jusqu['’](?:à|en|au)|hasta)(?: (?:the|end|of|zum|ende|last)){0,3} (?:` + aDay + ` )?(?:` + aMonth + `|(?:19|20)\d\d|then|now|recently|spring|summer|autumn|winter)\b`)

// nextSentence returns the sentence after the candidate's.
func (c candidate) nextSentence() string {
	return c.text[c.end:max(c.end, c.sentenceEnd(min(len(c.text), c.end+2)))]
}

// isTakenBack reports whether the sentence after the candidate's says that it was wrong.
func (c candidate) isTakenBack() bool {
	return takesBack.MatchString(strings.TrimSpace(c.nextSentence()))
}

// takesBack matches a sentence that takes back the one before it: "That was wrong." What goes on may speak of something else:
// "It was not so easy". What was a mistake was done all the same.
var takesBack = lazyregexp.New(`(?i)^(?:but |sadly,? |unfortunately,? |however,? )?(?:(?:that|this|it|which|das|es|cela|ça|c['’]|eso) ?` +
	`(?:(?:was|is|proved|turned out(?: to be)?|war|ist|était|est|era|es)(?: all| quite| simply)? (?:wrong|not (?:so|true|right|correct|the case)|untrue|incorrect|false|mistaken|falsch|nicht (?:so|wahr|richtig)|faux|falso)|` +
	`(?:is|ist|est|es) (?:a mistake|an error|ein fehler|une erreur|un error))|(?:das )?stimmte? nicht)` +
	`(?:$|[.,;:!)]| [–—-] | (?:and|as|because|but|since|though|und|weil|denn|aber|et|car|mais|y|pero|porque) )`)

// strike stands before and after what is struck out, and struckOut matches both with what is between.
const strike = "~~"

// struckOut matches what is struck out, with its marks: "~~Ada Lund~~".
var struckOut = lazyregexp.New(`~~[^~]*~~`)

// isStruckOut reports whether a value is struck out, with or without its marks: "~~Ada Lund~~ Per Holm".
func (p passage) isStruckOut(at int, value string) bool {
	begin := p.lineStart(at)
	first, last := strings.IndexFunc(value, isWordRune), strings.LastIndexFunc(value, isWordRune)
	if first < 0 {
		return false
	}
	from, to := at-begin+first, at-begin+last
	return slices.ContainsFunc(struckOut.FindAllStringIndex(p.text[begin:p.lineEnd(begin)], -1), func(out []int) bool {
		return out[0] < from && to < out[1]
	})
}

// cancelled matches what says that something does not take place: "called off".
var cancelled = lazyregexp.New(`(?i)` + apart(`cancell?ed|called off|vacated|adjourned|abgesagt|entfällt|fällt aus|annulée?s?|supprimée?s?|cancelad[oa]s?|suspendid[oa]s?`))

// asksCancelled matches a question about that: "was it cancelled?".
var asksCancelled = lazyregexp.New(`(?i)cancel|called off|vacat|adjourn|abgesagt|entfäll|ausgefallen|annul|supprim|suspend|postpone|move`)

// changedTo matches what says only what came after a change: "was moved to".
var changedTo = lazyregexp.New(`(?i)\b(?:moved|moves|changed|raised|increased|reduced|lowered|renamed|switched)(?: \pL+){0,3}? to\b`)

// outdates reports whether the sentence says that the value is no longer so.
func (c candidate) outdates(question string) bool {
	if !c.formerKnown {
		c.formerValues, c.formerKnown = formerValuesIn(c.said, question), true
	}
	return (len(c.formerValues) > 0 || c.says(instead)) && replacesAny(c.formerValues, c.said, c.value, question)
}

// datesAsked returns the days on which a question asks what was so, "3 may".
func datesAsked(question string) (dates []string) {
	for _, m := range onDate.FindAllStringSubmatch(question, -1) {
		dates = append(dates, datesIn(m[1])...)
	}
	return dates
}

// onDate matches the day on which a question asks what was so: "on Friday, 3 May".
var onDate = lazyregexp.New(`(?i)\bon (?:the )?(?:\pL+day,? )?(?:the )?(` + aDay + `(?: of)? ` + aMonth + `|` + aMonth + ` ` + aDay + `)(?:$|[^\pL\pN])`)

// otherDate reports whether a sentence, or the heading above it if the sentence has no day, is of another day than the
// question names. A sentence may say what was so over several days, or on the day before. The day in a title is often
// that on which the text was written.
func (w wants) otherDate(c candidate) bool {
	several := func(text string) bool {
		return severalDays.MatchString(isoDate.ReplaceAllString(text, "")) || slashed.MatchString(text)
	}
	asked := func(text string) bool {
		return slices.ContainsFunc(datesIn(text), func(d string) bool { return slices.Contains(w.dates, d) })
	}
	if several(c.said) || relativeDay.MatchString(c.said) || asked(c.withColumnNames(c.begin, c.end)) || asked(c.head) || asked(c.title()) {
		return false
	}
	here := datesIn(c.said)
	if len(here) == 0 && !several(c.head) && (!c.titled || onlyDate.MatchString(c.head)) && !asked(c.text[c.lineStart(c.begin):c.begin]) {
		here = datesIn(c.head)
	}
	return len(here) > 0
}

// yearAsked is a year of which a question asks what was so: "in 2022".
type yearAsked struct {
	year string
	in   *lazyregexp.Regexp // matches a text that has it: "2022", "'22", "Nov 22"
}

// yearsAsked returns the years of which a question asks what was so.
func yearsAsked(question string) (years []yearAsked) {
	for _, y := range ofYear.FindAllString(besideYear.ReplaceAllString(question, ""), -1) {
		years = append(years, yearAsked{y, lazyregexp.New(y + `|(?:[’'/–-]|\b[A-Za-z]{3,9}\.? ?)` + y[2:] + `\b`)})
	}
	return years
}

// besideYear matches a year of which a question asks only what was before or after: "since 2022".
var besideYear = lazyregexp.New(`(?i)\b(?:since|until|till|before|after|from|to|by|between|than) (?:the )?(?:\pL+ ){0,2}?(?:1[5-9]|20)\d\d(?: (?:and|to) (?:1[5-9]|20)\d\d)?\b`)

// otherYear reports whether the title of a passage has another year than the question asks about, "price list 2024", and
// the passage does not have that year. What is of one year may say what will be in the next, two years in a title may be
// the first and the last, what was agreed holds from its year on, and the year of a day in a title is that in which the
// text was written.
func (w wants) otherYear(c candidate) bool {
	title := ofYear.FindAllString(writtenOn.ReplaceAllString(c.title(), "${1}"), -1)
	return len(title) > 0 && !slices.ContainsFunc(w.years, func(y yearAsked) bool {
		year, _ := strconv.Atoi(y.year)
		holds := slices.Max(title) >= strconv.Itoa(year-1) || holdsOn.MatchString(c.title())
		return slices.Min(title) <= y.year && holds || y.in.MatchString(c.text)
	})
}

// holdsOn matches what says that a text holds from its year on: "lease", "agreed 2020".
var holdsOn = lazyregexp.New(`(?i)\b(?:lease|contract|agreement|tenancy|deed|statutes|by-?laws|constitution|\pL*vertrag|satzung|contrat|bail|statuts|contrato|estatutos|` +
	`agreed|signed|issued|founded|built|bought|installed)\b`)

// writtenOn matches a day or a month with its year: "2024-11-19", "19.11.2024", "19 November 2024". Its group is a day from
// which something holds.
var writtenOn = lazyregexp.New(`(?i)(\b(?:from|since|as of|ab|seit|dès|depuis|desde) ` + aDay + `(?: of)? ` + aMonth + `\.? (?:1[5-9]|20)\d\d\b)|` +
	`\b` + aDay + `(?: of)? ` + aMonth + `\.?,? (?:1[5-9]|20)\d\d\b|\b` + aMonth + ` ` + aDay + `,? (?:1[5-9]|20)\d\d\b|` +
	`\b(?:1[5-9]|20)\d\d[-_./]\d\d?(?:[-_./]\d\d?)?\b|\b\d\d?[-_./](?:\d\d?[-_./])?(?:1[5-9]|20)\d\d\b`)

// relativeDay matches a day that is told by another one: "yesterday", "the day before".
var relativeDay = lazyregexp.New(`(?i)\b(?:yesterday|tomorrow|last night|overnight|ago|earlier|later|next|following|previous|the day|eve of)\b`)

// severalDays matches what holds on more than one day, "1 and 2 May".
var severalDays = lazyregexp.New(`(?i)\b(?:since|from|until|till|through|to|by|before|after|between|every|each|daily|always|as of|week of)\b|\d(?:st|nd|rd|th|\.)?,? ?(?:and|und|or|&|\+) ?\d{1,2}(?:\D|$)|(?:` + aMonth + `) \d{1,2}(?:st|nd|rd|th)? (?:and|or|&) \d|\d ?[–—-] ?\d{1,2}(?:[^\d-]|$)`)

// slashed matches a date in numbers, whose day may stand first or second: "3/5".
var slashed = lazyregexp.New(`\b\d{1,2}[./]\d{1,2}\b`)

// asksClosing matches a question about when something closes: "when does it close?".
var asksClosing = lazyregexp.New(`(?i)` + questionStart + `(?:when|at what time|what time) (?:do|does|did|will) .*\b(?:close|shut)\b`)

// isClosed matches what says, before a time, that it is closed then: "closed on ".
var isClosed = lazyregexp.New(`(?i)\b(?:(?:closed|shut)(?: on| for)?|geschlossen(?: am)?|zu am|fermée?s?(?: le)?|cerrad[oa]s?(?: los?| el)?) *$`)

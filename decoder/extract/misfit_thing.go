package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tandem/internal/words"
)

// valuesInTurn match values of one kind, of which a sentence may have several in turn: amounts of money, times.
var valuesInTurn = []*regexp.Regexp{
	regexp.MustCompile(`(?i)[€£$] ?\d[\d.,]*\d|[€£$] ?\d|\d[\d.,]* ?(?:€|euros?\b|eur\b|pounds?\b|dollars?\b|chf\b|francs?\b|kr\b)`),
	regexp.MustCompile(`(?i)\b\d{1,2}[:.]\d\d\b(?: ?[ap]\.?m\b)?|\b\d{1,2} ?[ap]\.?m\b`),
	regexp.MustCompile(`(?i)\b(?:\d+(?:[.,]\d+)?|an?|half an?|one|two|three|four|five|six) (?:minutes?|hours?|days?|weeks?|months?|years?)\b`),
}

// sameThing matches what says that a second value is of the same thing as the first: "it was", "later".
var sameThing = regexp.MustCompile(`(?i)` + apart(`it|its|they|their|he|she|now|since|then|later|instead|currently|was|were|used to|rais\pL*|reduc\pL*|chang\pL*|es|er|sie|jetzt|seit|war|dann|statt|il|elle|maintenant|depuis|était|ahora|desde|era`))

// valueInTurn is one of several values of a kind that a sentence names each behind its own words: "a morning £33, an
// afternoon £30".
type valueInTurn struct {
	from, to int      // offsets in the sentence
	before   []string // the words between the value before it and this one
	those    bool     // "those of" stands there
}

// named returns the words before a value, with those of the first for which "those" stands.
func (v valueInTurn) named(first valueInTurn) []string {
	if v.those {
		return slices.Concat(v.before, first.before)
	}
	return v.before
}

var standsForOthers = regexp.MustCompile(`(?i)\b(?:those|that|the ones?) (?:of|for|in|on|at|from|with)\b`)

// inTurn returns the values of each kind in a sentence, if it has several, and words before each but none after the
// last: where the words may as well follow their values, it has none.
func inTurn(said string) (kinds [][]valueInTurn) {
	for _, kind := range valuesInTurn {
		found := kind.FindAllStringIndex(said, -1)
		if len(found) < 2 || len(words.Content(said[found[len(found)-1][1]:])) > 0 {
			continue
		}
		values, begin := make([]valueInTurn, len(found)), 0
		for i, v := range found {
			values[i] = valueInTurn{v[0], v[1], words.Content(said[begin:v[0]]), i > 0 && standsForOthers.MatchString(said[begin:v[0]])}
			begin = v[1]
		}
		if !slices.ContainsFunc(values, func(v valueInTurn) bool { return len(v.before) == 0 }) && !sameThing.MatchString(said) {
			kinds = append(kinds, values)
		}
	}
	return kinds
}

// valueOfOther reports whether the value is not the one of several in turn behind which all words of the question
// stand, but for those of the title.
func (at candidate) valueOfOther(topic []string) bool {
	if !strings.ContainsAny(at.value, "0123456789") {
		return false
	}
	if !at.turnsKnown {
		at.turns, at.turnsKnown = inTurn(at.said), true
	}
	if len(at.turns) == 0 {
		return false
	}
	topic = words.Without(besides(topic, asksOnly), words.Content(at.title()))
	from, to := at.from-at.begin, at.from-at.begin+len(at.value)
	for _, values := range at.turns {
		asked := -1
		for i, v := range values {
			if before := v.named(values[0]); len(topic) > 0 && words.Shared(topic, before) == len(topic) {
				if asked >= 0 {
					return false
				}
				asked = i
			}
		}
		covers := func(v valueInTurn) bool { return v.from < to && from < v.to }
		if asked >= 0 && slices.ContainsFunc(values, covers) && !covers(values[asked]) {
			return true
		}
	}
	return false
}

// numbered matches a thing that is told from others by its number: "Year 3", "room 12b", "payment-service 5.12".
var numbered = regexp.MustCompile(`(\pL{3,})s? (?:no\.? ?|nr\.? ?|number |#)?(\d{1,4}(?:\.\d+)*\pL?)\b`)

// numberedThings returns the numbers of the numbered things in a text.
func numberedThings(text string) map[string][]string {
	all := map[string][]string{}
	for _, m := range numbered.FindAllStringSubmatch(strings.ToLower(text), -1) {
		if thing := strings.TrimSuffix(m[1], "s"); countable(thing) && months[thing] == "" {
			all[thing] = append(all[thing], m[2])
		}
	}
	return all
}

// otherNumber reports whether a sentence, with what heads it, has a numbered thing of the question under other numbers
// only: "Year 5" for "Year 3".
func (w wants) otherNumber(head, said string) bool {
	if len(w.numbered) == 0 {
		return false
	}
	here, all := numberedThings(head+"\n"+said), numbers(said)
	for thing, asked := range w.numbered {
		others := here[thing]
		agrees := func(n string) bool {
			return slices.ContainsFunc(slices.Concat(others, all), func(o string) bool {
				return o == n || strings.HasPrefix(o, n+".") || strings.HasPrefix(n, o+".") // what holds for version 3 holds for 3.2
			})
		}
		if len(others) > 0 && !slices.ContainsFunc(asked, agrees) {
			return true
		}
	}
	return false
}

// hasNumber reports whether a text has a numbered thing of the question under a number that the question names, also in
// a list, "flats 4 and 5", or short, "F5".
func (w wants) hasNumber(text string) bool {
	here, low := numberedThings(text), strings.ToLower(text)
	for thing, asked := range w.numbered {
		all := here[thing]
		for _, m := range numberedList.FindAllStringSubmatch(low, -1) {
			if m[1] == thing || m[1] == thing+"s" {
				all = append(all, numbers(m[0])...)
			}
		}
		for _, m := range shortNumbered.FindAllStringSubmatch(low, -1) {
			if strings.HasPrefix(thing, m[1]) {
				all = append(all, m[2])
			}
		}
		if slices.ContainsFunc(asked, func(n string) bool { return slices.Contains(all, n) }) {
			return true
		}
	}
	return false
}

// numberedList matches several things with numbers, "flats 4 and 5"; shortNumbered one that is named by its first letter, "f5".
var (
	numberedList  = regexp.MustCompile(`\b(\pL{3,}) \d+(?:(?:, | and | or | to | & | ?[-–/] ?)\d+)+`)
	shortNumbered = regexp.MustCompile(`\b(\pL)[. ]?(\d{1,4})\b`)
)

// aNumberedCode matches capitals with a number behind them: "E3", "P12".
var aNumberedCode = regexp.MustCompile(`\b([A-Z]{1,3})-?0*(\d{1,4})\b`)

// toCode matches several codes at once, some of them without capitals or between others: "E1–5", "E1/2".
var toCode = regexp.MustCompile(`[A-Z]-?\d{1,4} ?(?:[–—/,&-]|to|through|until|and|or|bis|und|à|et) ?(?:[A-Z]{1,3}-?)?\d`)

// codes returns the numbers behind the capitals of a text.
func codes(text string) map[string][]string {
	all := map[string][]string{}
	for _, m := range aNumberedCode.FindAllStringSubmatch(text, -1) {
		all[m[1]] = append(all[m[1]], m[2])
	}
	return all
}

// otherCode reports whether a sentence has the capitals of a code of the question with other numbers only, "E1" for
// "E3", and the heading above it does not have the code.
func (w wants) otherCode(head, said string) bool {
	if len(w.codes) == 0 || toCode.MatchString(said) {
		return false
	}
	here, above := codes(said), codes(head)
	for capitals, asked := range w.codes {
		has := func(n string) bool { return slices.Contains(here[capitals], n) || slices.Contains(above[capitals], n) }
		if len(here[capitals]) > 0 && !slices.ContainsFunc(asked, has) {
			return true
		}
	}
	return false
}

// sibling matches a name in two parts: "db-old", "node_2".
var sibling = regexp.MustCompile(`(?:^|[^\pL\pN_-])(\pL[\pL\pN]+)[-_]([\pL\pN]+)(?:$|[^\pL\pN_-])`)

// siblings returns the second parts of the names in two parts in a text by the first ones, in small letters.
func siblings(text string) map[string][]string {
	all := map[string][]string{}
	for at := 0; at < len(text); {
		m := sibling.FindStringSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		first, second := strings.ToLower(text[at+m[2]:at+m[3]]), strings.ToLower(text[at+m[4]:at+m[5]])
		if !prefixes[first] {
			all[first] = append(all[first], second)
		}
		at += m[5]
	}
	return all
}

// prefixes make a word with what stands behind them, and no name.
var prefixes = words.Set("co re pre non self well half semi anti post mid ex all on off in out up over under by no two three four five six seven eight nine ten one twenty thirty forty fifty sixty seventy eighty ninety")

// particles are second parts of nouns made of verbs: "sign-up", "kick-off". Only "check-in" has a counterpart.
var particles = words.Set("up off on away by through over down back around about along")

// otherIdentifier reports whether a sentence has the first part of a name of the question with other second parts only,
// "db-old" for "db-new", and the heading above it does not have the name.
func (w wants) otherIdentifier(head, said string) bool {
	if len(w.siblings) == 0 {
		return false
	}
	here, above := siblings(said), siblings(head)
	for first, asked := range w.siblings {
		said := slices.Concat(here[first], above[first])
		has := func(second string) bool {
			return particles[second] || slices.ContainsFunc(said, func(s string) bool {
				return particles[s] || strings.HasPrefix(s, second) || strings.HasPrefix(second, s)
			})
		}
		if len(here[first]) > 0 && !slices.ContainsFunc(asked, has) {
			return true
		}
	}
	return false
}

// otherOption reports whether nothing near a sentence has an option, or another name in a program, of the question:
// neither the passage nor, where that tells of several releases, the sentence's one.
func (w wants) otherOption(at candidate) bool {
	missing := func(text string) bool {
		return slices.ContainsFunc(w.identifiers, func(name string) bool {
			exact := len(name) > 2 && (name[0] == '-' || strings.Contains(name, "_"))
			return exact && !spells(text, name)
		})
	}
	if missing("") { // else the question has no such name, and no release matters
		begin, end := 0, len(at.text)
		for _, r := range at.releases() {
			if r.version.from <= at.begin && at.begin < r.to {
				begin, end = at.lineStart(r.version.from), r.to
			}
		}
		return missing(at.text[begin:end])
	}
	return false
}

// spells reports whether a text has a name, perhaps with other marks between its parts: "maxAge" is "max_age".
func spells(text, name string) bool {
	if strings.Contains(strings.ToLower(text), strings.ToLower(name)) {
		return true
	}
	return strings.ContainsAny(strings.Trim(name, "-_"), "-_") && strings.Contains(joined(text), joined(name))
}

// joined returns the letters and digits of a text, in small letters.
func joined(text string) string {
	return strings.Map(func(r rune) rune {
		if isWordRune(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// aWeekday matches a day of the week, "Mondays", "Tue.", and daysTo what stands between the first and the last of
// several: " to ".
var aWeekday = regexp.MustCompile(`\b(?:(?i:(mon|tues|wednes|thurs|fri|satur|sun)days?)|(Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:s|rs?)?)\b\.?`)

var daysTo = regexp.MustCompile(`(?i)^ ?(?:[–—-]|to|until|till|through|thru) ?(?:and including )?$`)

// manyDays matches what speaks of other days without naming them: "daily", "on holidays".
var manyDays = regexp.MustCompile(`(?i)\b(?:daily|every ?day|any day|all days|seven days|7 days|weekdays?|working days?|weekends?|bank holidays?|holidays|whole week|all week|other days|except|apart from|otherwise|since|until|till|from now)\b`)

// weekdays returns the days of the week that a text names or that lie between two that it names, from 0 for Monday.
func weekdays(text string) (days [7]bool) {
	names := []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	last, end := -1, 0
	for _, m := range aWeekday.FindAllStringIndex(text, -1) {
		day := slices.Index(names, strings.ToLower(text[m[0]:m[0]+3]))
		if last >= 0 && daysTo.MatchString(text[end:m[0]]) {
			for d := last; d != day; d = (d + 1) % 7 {
				days[d] = true
			}
		}
		days[day], last, end = true, day, m[1]
	}
	return days
}

// otherDay reports whether a text gives hours for days of the week, none of which the question names. Hours before the
// first day hold on all other days: "opens at 9:00, on Sundays at 11:00".
func (w wants) otherDay(text string) bool {
	first, clock := aWeekday.FindStringIndex(text), aClock.FindStringIndex(text)
	if first == nil || clock == nil || clock[0] < first[0] || manyDays.MatchString(text) {
		return false
	}
	for d, named := range weekdays(text) {
		if named && w.days[d] {
			return false
		}
	}
	return true
}

// saysYes matches a sentence that answers yes to a question above it: "Yes, on Fridays."
var saysYes = regexp.MustCompile(`(?i)^\W*(?:yes|ja|oui|sí)\b`)

// yesOfOtherDay reports whether a sentence names days of the week, and the question others: "yes, on Fridays" to a
// question about Tuesday.
func (w wants) yesOfOtherDay(said string) bool {
	asked, given := weekdays(w.question), weekdays(said)
	if asked == [7]bool{} || given == [7]bool{} || manyDays.MatchString(said) {
		return false
	}
	for d := range asked {
		if asked[d] && given[d] {
			return false
		}
	}
	return true
}

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

// aRange matches what names beginning and end, by whatever word: "9–17", "from".
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

// opposite reports whether a sentence, with what stands above it, has the opposite of a word of the question, and
// neither that word nor a range.
func (w wants) opposite(text string) bool {
	for _, o := range w.opposed {
		if o[1].MatchString(text) && !o[0].MatchString(text) && !aRange.MatchString(text) {
			return true
		}
	}
	return false
}

// otherEnd reports whether a value is the other end of a stretch of time than the question asks for.
func (w wants) otherEnd(before, value string) bool {
	return asksSince.MatchString(w.question) && (untilHere.MatchString(before) || untilIn.MatchString(value)) ||
		asksUntil.MatchString(w.question) && sinceHere.MatchString(before)
}

// untilHere matches before a value what makes it an end: "until the "; untilIn a value that says so itself: "until May".
var untilHere = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:until|till|up to|bis(?: zum)?|jusqu'(?:à|en|au)) (?:the |end of |the end of )?$`)

var untilIn = regexp.MustCompile(`(?i)^(?:until|till|up to|bis|jusqu'(?:à|en|au)) [^,;]*$`)

// sinceHere matches before a value what makes it a beginning: "since ".
var sinceHere = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:since|as of|seit|ab|depuis) (?:the )?$`)

// otherWay reports whether a sentence has the journey the other way round: "Lund – Kiel" for one to Lund.
func (w wants) otherWay(sentence string) bool {
	begins := func(place string) bool { return journey(sentence, place+" ", "") }
	ends := func(place string) bool { return journey(sentence, "", " "+place) }
	return w.to != "" && begins(w.to) && !ends(w.to) || w.from != "" && ends(w.from) && !begins(w.from)
}

// toElsewhere reports whether a sentence, with what heads it, has the journey from where the question's begins to
// another place only. A place in capitals, "JFK", may be the question's.
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

// ofOtherDay reports whether an offset is in a heading that is a day, as in a diary, and what stands above it has more
// of some words than what stands below: the day is that of the text below.
func (p passage) ofOtherDay(at int, asked []string) bool {
	begin, end := p.lineStart(at), p.lineEnd(at)
	if !p.isDay(begin, end) {
		return false
	}
	from, to := begin, end
	for from > p.body && !(from < begin && p.isDay(from, p.lineEnd(from))) {
		from = p.lineStart(from - 1)
	}
	for to < len(p.text) && !p.isDay(to+1, p.lineEnd(to+1)) {
		to = p.lineEnd(to + 1)
	}
	shared := func(text string) int { return words.Shared(asked, words.Content(text)) }
	return shared(p.text[from:begin]) > shared(p.text[end:to])
}

// countedIn returns the words for that of which a question asks how much or how many, "eggs".
func countedIn(question string) []string {
	m := asksCount.FindStringSubmatch(question)
	if m == nil {
		return nil
	}
	return words.Content(m[1])
}

var asksCount = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*how (?:much|many) ((?:\pL+ ){0,2}?\pL+)(?:$|\W*$| (?:do|does|did|is|are|was|were|can|could|should|will|must|have|has|had|go(?:es)?|in|for|per|to)\b)`)

// countsOther reports whether a line with an amount does not say of what is counted, and another line of the passage
// says how much of it there is.
func (at candidate) countsOther(counted []string) bool {
	if words.Shared(counted, words.Content(at.said)) > 0 || !countsItself.MatchString(at.said) && !beginsWithDate.MatchString(at.said) {
		return false
	}
	for begin, end := range at.lines() {
		line := at.text[begin:end]
		if (end <= at.begin || at.end <= begin) && begin >= at.body && aNumeral.MatchString(line) && words.Shared(counted, words.Content(line)) == len(counted) {
			return true
		}
	}
	return false
}

// countsItself matches a line that is only a number of things: "2 carrots", "500 g of flour".
var countsItself = regexp.MustCompile(`(?i)^[^\pL\d]*\d[\d.,/]* ?(?:(?:g|kg|mg|ml|cl|l|litres?|tsp|tbsp|cups?|pinch(?:es)?|spoons?) )?(?:of )?\pL+(?: \pL+){0,2}\W*$`)

// besideOther returns, of a sentence that names two things, one rather than the other, how many words of the question
// stand beside the candidate, and how many only beside the other.
func (at candidate) besideOther(w wants) (here, there int) {
	if !at.says(ratherThan) || ratherThan.MatchString(w.question) {
		return 0, 0
	}
	m := ratherThan.FindStringIndex(at.said)
	behind := at.said[m[1]:]
	if end := afterOther.FindStringIndex(behind); end != nil { // "rather than Ada in the hall": both are in the hall
		behind = behind[:end[0]]
	}
	one, other := words.Content(at.said[:m[0]]), words.Content(behind)
	if at.from-at.begin >= m[1] {
		one, other = other, one
	}
	return words.Shared(w.words, one), words.Shared(words.Without(w.words, one), other)
}

// afterOther matches what may go with both things again.
var afterOther = regexp.MustCompile(`(?i) (?:in|on|at|to|for|of|from|with|by|because|this|next|last|as)\b|[,;:]`)

// ratherThan matches what stands between two things of which one is meant.
var ratherThan = regexp.MustCompile(`(?i)\b(?:rather than|instead of|as opposed to|compared (?:to|with))\b`)

// turnsOf returns the places in their order of the things of a text: "the first mill", "the second cotton mill".
func turnsOf(text string) map[string][]string {
	all := map[string][]string{}
	for _, m := range ordered.FindAllStringSubmatch(strings.ToLower(text), -1) {
		for _, thing := range m[2:] { // of "first cotton mill", cotton and mill
			if thing = strings.TrimSuffix(thing, "s"); countable(thing) && !notInOrder[thing] {
				all[thing] = append(all[thing], m[1])
			}
		}
	}
	return all
}

var ordered = regexp.MustCompile(`\b(first|second|third|fourth|fifth|sixth|last) (\pL{3,})(?: (\pL{3,}))?`)

// otherwiseInTurn matches other words for a place in an order.
var otherwiseInTurn = regexp.MustCompile(`(?i)\b(?:final|latest|closing|newest|recent|previous|present|current|opening|initial|earliest|original|oldest|\d+(?:st|nd|rd|th)|the one|number two)\b`)

// notInOrder has words behind "first" and "last" with which nothing is told from others of its kind.
var notInOrder = words.Set(`time times day days week weeks month months year years night name names aid class floor half part person people thing things one step
	few two three four five hour hours minute minutes term lap place prize row line page and then degree hand`)

// otherTurn reports whether a text has a thing of the question in other places of the order only: "the last mill" for
// "the first mill". The last one may be called the third, and either may be called otherwise, "the final one".
func (w wants) otherTurn(text string) bool {
	if otherwiseInTurn.MatchString(text) {
		return false
	}
	here := turnsOf(text)
	said := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isWordRune(r) })
	for thing, asked := range w.turns {
		last := !slices.ContainsFunc(asked, func(o string) bool { return o != "last" })
		if len(here[thing]) == 0 || last && !slices.Contains(here[thing], "first") {
			continue
		}
		if !slices.ContainsFunc(asked, func(o string) bool { return slices.Contains(said, o) }) {
			return true
		}
	}
	return false
}

// ofOtherItem reports whether a sentence is in an item of a list, the question names what another item of that list
// begins with, and nothing in this item, in what it is part of or above it.
func (at candidate) ofOtherItem(w wants) bool {
	begin := at.lineStart(at.begin)
	own := itemName(at.text[begin:at.lineEnd(begin)])
	if own == "" || noItem.MatchString(own) || words.Shared(words.Content(own), w.words) > 0 {
		return false
	}
	here, question := at.itemWithin(begin)+"\n"+at.head+"\n"+at.title(), spaced(w.question)
	for from, to := range at.lines() {
		name := itemName(at.text[from:to])
		if from >= at.body && name != "" && name != own && !noItem.MatchString(name) && strings.Contains(question, spaced(name)) && !strings.Contains(here, name) {
			return true
		}
	}
	return false
}

// itemWithin returns the line of an item with those of the items that it is part of, which are indented less.
func (p passage) itemWithin(begin int) string {
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
	all := p.text[begin:p.lineEnd(begin)]
	for depth := indent(all); begin > p.body && depth > 0; {
		begin = p.lineStart(begin - 1)
		if line := p.text[begin:p.lineEnd(begin)]; itemName(line) != "" && indent(line) < depth {
			all, depth = all+"\n"+line, indent(line)
		}
	}
	return all
}

// spaced returns the words of a text between blanks, so that what it contains are whole words.
func spaced(text string) string {
	return " " + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !isWordRune(r) }), " ") + " "
}

// itemName returns the name with which an item of a list begins: "Joanna Reyes" of "- Joanna Reyes (daughter), lives in Bristol".
func itemName(line string) string {
	m := itemStart.FindStringSubmatch(line)
	if m == nil || len(m[1]) < 3 {
		return ""
	}
	return m[1]
}

var itemStart = regexp.MustCompile(`^\s*[-*•–] +\**(\p{Lu}[\pL\pN]*(?:[ -]\p{Lu}[\pL\pN]*){0,3})\**(?:[:,(]| [(–—-]|$)`)

// noItem matches what an item begins with that is no name of it.
var noItem = regexp.MustCompile(`(?i)^(?:all|each|every|everyone|everybody|both|others?|anyone|note|who|whom|whose|what|when|where|which|why|how|is|are|can|do|does|may|must)\b`)

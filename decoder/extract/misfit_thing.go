package extract

import (
	"slices"
	"strings"
	"unicode"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// numbered matches a thing that is told from others by its number: "Year 3", "room 12b", "payment-service 5.12".
var numbered = lazyregexp.New(`(\pL{3,})s? (?:no\.? ?|nr\.? ?|number |#)?(\d{1,4}(?:\.\d+)*\pL?)\b`)

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

// otherNumber reports whether a sentence, with the heading above it, has a numbered thing of the question only under
// other numbers: "Year 5" for "Year 3".
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

var (
	// numberedList matches several things with numbers: "flats 4 and 5".
	numberedList = lazyregexp.New(`\b(\pL{3,}) \d+(?:(?:, | and | or | to | & | ?[-–/] ?)\d+)+`)
	// shortNumbered matches a thing that is named by its first letter: "f5".
	shortNumbered = lazyregexp.New(`\b(\pL)[. ]?(\d{1,4})\b`)
)

// aLetterCode matches capitals with a number after them: "E3", "P12", "F.28".
var aLetterCode = lazyregexp.New(`\b([A-Z]{1,3})[.-]?0*(\d{1,4})\b`)

// severalLetterCodes matches several codes at once, some without capitals or between others: "E1–5", "E1/2".
var severalLetterCodes = lazyregexp.New(`[A-Z]-?\d{1,4} ?(?:[–—/,&-]|to|through|until|and|or|bis|und|à|et) ?(?:[A-Z]{1,3}-?)?\d`)

// letterCodesIn returns the numbers after the capitals of a text.
func letterCodesIn(text string) map[string][]string {
	all := map[string][]string{}
	for _, m := range aLetterCode.FindAllStringSubmatch(text, -1) {
		all[m[1]] = append(all[m[1]], m[2])
	}
	return all
}

// otherLetterCode reports whether a sentence has the capitals of a code of the question only with other numbers, "E1" for
// "E3", and the heading above it does not have the code. A sentence without a code is about one before it in its line.
func (w wants) otherLetterCode(c candidate) bool {
	if len(w.letterCodes) == 0 || severalLetterCodes.MatchString(c.said) {
		return false
	}
	before := c.text[c.lineStart(c.begin):max(c.lineStart(c.begin), c.begin)]
	here, above, earlier := letterCodesIn(c.said), letterCodesIn(c.head), letterCodesIn(before)
	for capitals, asked := range w.letterCodes {
		codes := here[capitals]
		if len(codes) == 0 && !severalLetterCodes.MatchString(before) {
			codes = earlier[capitals]
		}
		has := func(n string) bool { return slices.Contains(codes, n) || slices.Contains(above[capitals], n) }
		if len(codes) > 0 && !slices.ContainsFunc(asked, has) {
			return true
		}
	}
	return false
}

// sibling matches a name in several parts, "db-old", "db_eu-2", or one with a number at its end, "web02".
var sibling = lazyregexp.New(`(?:^|[^\pL\pN_-])(?:(\pL[\pL\pN]+)[-_]([\pL\pN]+(?:[-_][\pL\pN]+)*)|(\pL{2,})(\d{1,4}))(?:$|[^\pL\pN_-])`)

// siblings returns what follows the first parts of the names in several parts in a text, by those first parts, in lower case.
func siblings(text string) map[string][]string {
	all := map[string][]string{}
	text = strings.ToLower(text)
	for at := 0; at < len(text); {
		m := sibling.FindStringSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		part := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return text[at+m[2*n] : at+m[2*n+1]]
		}
		first, rest := part(1)+part(3), part(2)+strings.TrimLeft(part(4), "0")
		version := part(4) != "" && strings.HasSuffix(first, "v")                                                       // "IPv4 only" says something of IPv6
		if !version && !prefixes[first] && !slices.ContainsFunc(strings.FieldsFunc(rest, joinsParts), words.Function) { // "mother-in-law" is a word
			all[first] = append(all[first], rest)
		}
		at += max(m[5], m[9])
	}
	return all
}

// joinsParts reports whether a rune stands between the parts of a name.
func joinsParts(r rune) bool { return r == '-' || r == '_' }

// beginsName reports whether a name may be a shorter form of another: "db" of "database". A number has no shorter form.
func beginsName(short, long string) bool {
	rest, ok := strings.CutPrefix(long, short)
	return ok && (rest == "" || !hasDigit(rest[:1]) || !hasDigit(short[len(short)-1:]))
}

// prefixes make one word with what stands after them, as in "co-op", and no name in two parts.
var prefixes = words.Set("co re pre non self well half semi anti post mid ex all on off in out up over under by no two three four five six seven eight nine ten one twenty thirty forty fifty sixty seventy eighty ninety")

// particles are second parts of nouns made of verbs: "sign-up", "kick-off". Only "check-in" has a counterpart.
var particles = words.Set("up off on away by through over down back around about along")

// otherIdentifier reports whether a sentence has the first part of a name of the question only with other parts after it,
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
				return particles[s] || beginsName(second, s) || beginsName(s, second)
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
func (w wants) otherOption(c candidate) bool {
	missing := func(text string) bool {
		return slices.ContainsFunc(w.identifiers, func(name string) bool {
			exact := len(name) > 2 && (name[0] == '-' || strings.Contains(name, "_"))
			return exact && !spells(text, name)
		})
	}
	if missing("") { // else the question has no such name, and no release matters
		begin, end := 0, len(c.text)
		for _, r := range c.releases() {
			if r.version.from <= c.begin && c.begin < r.to {
				begin, end = c.lineStart(r.version.from), r.to
			}
		}
		return missing(c.text[begin:end])
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

// joined returns the letters and digits of a text, in lower case.
func joined(text string) string {
	return strings.Map(func(r rune) rune {
		if isWordRune(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// ordinalsIn returns the places in their order of the things of a text: "the first mill", "the second cotton mill".
func ordinalsIn(text string) map[string][]string {
	all := map[string][]string{}
	for _, m := range ordinalThing.FindAllStringSubmatch(strings.ToLower(text), -1) {
		for _, thing := range m[2:] { // of "first cotton mill", cotton and mill
			if thing = strings.TrimSuffix(thing, "s"); countable(thing) && !notOrdered[thing] {
				all[thing] = append(all[thing], m[1])
			}
		}
	}
	return all
}

// ordinalThing matches a thing with its place in an order: "first mill", "second cotton mill".
var ordinalThing = lazyregexp.New(`\b(first|second|third|fourth|fifth|sixth|last) (\pL{3,})(?: (\pL{3,}))?`)

// otherOrdinalWord matches other words for a place in an order: "final", "newest", "3rd".
var otherOrdinalWord = lazyregexp.New(`(?i)\b(?:final|latest|closing|newest|recent|previous|present|current|opening|initial|earliest|original|oldest|\d+(?:st|nd|rd|th)|the one|number two)\b`)

// notOrdered has words that "first" and "last" do not tell from others of their kind: "the first time".
var notOrdered = words.Set(`time times day days week weeks month months year years night name names aid class floor half part person people thing things one step
	few two three four five hour hours minute minutes term lap place prize row line page and then degree hand`)

// otherOrdinal reports whether a text has a thing of the question only in other places of the order: "the last mill" for
// "the first mill". The last one may be called the third, and either may be called something else: "the final one".
func (w wants) otherOrdinal(text string) bool {
	if otherOrdinalWord.MatchString(text) {
		return false
	}
	here := ordinalsIn(text)
	said := allWords(strings.ToLower(text))
	for thing, asked := range w.ordinals {
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

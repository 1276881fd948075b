package extract

import (
	"slices"
	"strings"
	"unicode"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
	"tandem/model/span"
)

// label is a name in a passage with the value after it.
type label struct {
	words    []string
	from, to int // of the value
}

// numberedName matches a name with the number after it: "Policy no. HH-77 204", "Serial no.: VK-00".
var numberedName = lazyregexp.New(`(?i)((?:[\pL'’-]+ ){0,2}[\pL'’-]+) (?:no|nr|num)(?:\.:?|:) *([\pL\d./-]*\d[\pL\d/-]*(?:[ .][\pL\d./-]*\d[\pL\d/-]*)*)`)

// labels returns the names with values in a line: what stands before its colon, or before "no."
func (p passage) labels(begin, end int) (out []label) {
	line := p.text[begin:end]
	if mailField.MatchString(line) && fromLine.MatchString(p.text[p.body:]) {
		return nil
	}
	for _, m := range numberedName.FindAllStringSubmatchIndex(line, -1) {
		words := append(words.Content(line[m[2]:m[3]]), "number")
		out = append(out, label{words, begin + m[4], begin + m[5]})
	}
	if len(out) > 0 {
		return out
	}
	if name := labelOf(line); name != "" {
		at := begin + behindLabel(line, name)
		if words := words.Content(unit.ReplaceAllString(name, "")); len(words) > 0 && at < end {
			out = append(out, label{words, at, end})
		}
	}
	return out
}

// valueBehindLabel returns the value after the label that a question asks for: "4.5 l" in "Tank: 4.5 l" for "how big is
// the tank of the DryMate?" The question has all words of the label. The passage has all other words of the question,
// up to that line: else the value may belong to another thing, which was named before. Of several labels the longest
// counts. Two of that length leave open which is meant.
func (p passage) valueBehindLabel(q query) (from, to int, ok bool) {
	question := q.text
	if q.form != formValue || q.compares != "" {
		return 0, 0, false
	}
	wanted := p.asLabelled(excluding(words.Content(question), asksOnly))
	namesAll := func(end int) bool { // up to an offset
		return words.HasAll(append(words.Content(p.text[p.start:end]), "number"), wanted)
	}
	if !namesAll(len(p.text)) {
		return 0, 0, false
	}
	thing, most := p.asLabelled(asksFor(question)), 0
	for begin, end := range p.lines() {
		for _, l := range p.labels(begin, end) {
			if len(l.words) < most || !p.isMeasure(question, wanted, l) && (!words.HasAll(wanted, l.words) || words.Shared(l.words, thing) == 0) {
				continue
			}
			if !namesAll(end) || q.old && !saysFormer.MatchString(p.text[begin:end]) {
				continue
			}
			if len(l.words) == most && ok {
				return 0, 0, false
			}
			from, to, ok, most = l.from, l.to, true, len(l.words)
		}
	}
	if !ok || !q.mayBeLabelled(p.text[from:to]) || p.saysElsewhere(q, wanted, from) {
		return 0, 0, false
	}
	return from, to, len(q.misfits(p, span.Span{Begin: from, End: to}, newSentenceCache(patternCache{}))) == 0
}

// asLabelled returns words of a question with the label of a contact for what it is called in German or French, unless the
// passage calls it so, too.
func (p passage) asLabelled(asked []string) []string {
	out := slices.Clone(asked)
	for i, w := range out {
		if label := contactLabels[w]; label != "" && !words.Has(words.Content(p.text), w) {
			out[i] = label
		}
	}
	return out
}

// contactLabels has German and French words for the labels of contacts, which are in English whatever the language of the
// address book.
var contactLabels = map[string]string{
	"telephone": "phone", "telefon": "phone", "telefonnummer": "phone", "handy": "phone", "handynummer": "phone", "mobilnummer": "phone", "rufnummer": "phone",
	"téléphone": "phone", "portable": "phone", "adresse": "address", "anschrift": "address", "geburtstag": "birthday", "anniversaire": "birthday",
	"beruf": "job", "métier": "job",
}

// saysElsewhere reports whether the label of the value at an offset is a name of the question, as speakers have it in a
// chat, and another line with a label has more that the question wants: "Per: Ada, your bike is in the cellar" for
// "Where is Ada's bike?", which what Ada says does not answer.
func (p passage) saysElsewhere(q query, wanted []string, at int) bool {
	name := words.Content(labelOf(p.text[p.lineStart(at):p.lineEnd(at)]))
	rest := words.Without(wanted, name)
	if len(name) == 0 || len(rest) == 0 || !words.HasAll(namesIn(q.text), name) {
		return false
	}
	for begin, end := range p.lines() {
		line := p.text[begin:end]
		if (at < begin || end < at) && labelOf(line) != "" && words.Shared(words.Content(line), rest) > 0 {
			return true
		}
	}
	return false
}

// mayBeLabelled reports whether a value after a label is short and of the kind that is asked for.
func (q query) mayBeLabelled(value string) bool {
	return len(strings.Fields(value)) <= maxWords && (!q.person || strings.ContainsFunc(value, unicode.IsUpper)) &&
		(!asksCost.MatchString(q.text) || aPrice.MatchString(value))
}

// asksFor returns the words of a question up to the complement that says what it is about: "old tenant" of "who was the
// old tenant of the flat in Lund".
func asksFor(question string) []string {
	for _, at := range complements.FindAllStringIndex(question, -1) {
		if words := words.Content(question[:at[0]]); len(words) > 0 {
			return words
		}
	}
	return words.Content(question)
}

// complements matches what begins such a complement: " of ".
var complements = lazyregexp.New(` (?:of|in|at|on|for|with|from) `)

// isMeasure reports whether a label is the measure that a question about the passage's subject asks for: "Noise" for
// "how loud is the DryMate?"
func (p passage) isMeasure(question string, wanted []string, l label) bool {
	if !words.HasAll(words.Content(p.title()), wanted) {
		return false
	}
	return slices.ContainsFunc(columnKinds, func(k columnKind) bool {
		return k.asks.MatchString(question) && words.HasAll(k.columns, l.words)
	})
}

// asksCost matches a question for a price that may not say "price": "how much is the tap". Questions in other languages
// are read so, too.
var asksCost = lazyregexp.New(`(?i)\bhow much (?:is|are)\b|\bcosts?\b|\bprice\b`)

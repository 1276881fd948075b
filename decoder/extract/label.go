package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tandem/decoder"
	"tandem/model/span"
)

// label is a name in a passage with the value behind it.
type label struct {
	words    []string
	from, to int // of the value
}

// numberedName matches a name with the number behind it: "Policy no. HH-77 204", "Serial no.: VK-00".
var numberedName = regexp.MustCompile(`(?i)((?:[\pL'’-]+ ){0,2}[\pL'’-]+) (?:no|nr|num)(?:\.:?|:) *([\pL\d./-]*\d[\pL\d/-]*(?:[ .][\pL\d./-]*\d[\pL\d/-]*)*)`)

// inMailHead matches a line above a mail, and fromLine the one that other documents lack.
var (
	fromLine   = regexp.MustCompile(`(?m)^(?:From|Von|De): `)
	inMailHead = regexp.MustCompile(`^(?:From|To|Cc|Reply-To|Date|Sent|Subject|Von|An|Datum|Betreff|De|À|Objet|Para|Fecha|Asunto): `)
)

// labels returns the names with values in a line: what stands before its colon, or before "no."
func (p passage) labels(begin, end int) (out []label) {
	line := p.text[begin:end]
	if inMailHead.MatchString(line) && fromLine.MatchString(p.text[p.body:]) {
		return nil
	}
	for _, m := range numberedName.FindAllStringSubmatchIndex(line, -1) {
		words := append(decoder.ContentWords(line[m[2]:m[3]]), "number")
		out = append(out, label{words, begin + m[4], begin + m[5]})
	}
	if len(out) > 0 {
		return out
	}
	if name := labelOf(line); name != "" {
		at := begin + strings.Index(line, name) + len(name) + len(": ")
		if words := decoder.ContentWords(unit.ReplaceAllString(name, "")); len(words) > 0 && at < end {
			out = append(out, label{words, at, end})
		}
	}
	return out
}

// valueBehindLabel returns the value behind the name that a question asks for: "4.5 l" in "Tank: 4.5 l" for "how big is the tank of the
// DryMate?" The question has all words of the name, and the passage all others of the question, up to that line: else the value may be of another
// thing, that was named before.
// Of several names the longest counts; two equally long ones leave open which is meant.
func (p passage) valueBehindLabel(question string, w wants) (from, to int, ok bool) {
	if !w.bare || w.compares != "" {
		return 0, 0, false
	}
	wanted := besides(decoder.ContentWords(question), asksOnly)
	speaks := func(end int) bool {
		return len(decoder.WithoutWords(wanted, append(decoder.ContentWords(p.text[p.start:end]), "number"))) == 0
	}
	if !speaks(len(p.text)) {
		return 0, 0, false
	}
	thing, most := asksFor(question), 0
	for begin := p.body; begin < len(p.text); {
		end := p.lineEnd(begin)
		for _, l := range p.labels(begin, end) {
			if len(l.words) < most || !p.measured(question, wanted, l) && (decoder.SharedWords(l.words, wanted) < len(l.words) || decoder.SharedWords(l.words, thing) == 0) {
				continue
			}
			if !speaks(end) {
				continue
			}
			if len(l.words) == most && ok {
				return 0, 0, false
			}
			from, to, ok, most = l.from, l.to, true, len(l.words)
		}
		begin = end + 1
	}
	switch said := p.text[from:to]; {
	case !ok, len(strings.Fields(said)) > maxWords, w.person && !strings.ContainsFunc(said, unicode.IsUpper), asksCost.MatchString(question) && !aPrice.MatchString(said):
		return 0, 0, false
	}
	return from, to, len(w.misfits(p, span.Span{Begin: from, End: to}, newViews(matches{}))) == 0
}

// asksFor returns the words of a question up to those that say of what it asks for something: "old tenant" of "who was the old tenant of the
// flat in Lund".
func asksFor(question string) []string {
	for _, at := range complements.FindAllStringIndex(question, -1) {
		if words := decoder.ContentWords(question[:at[0]]); len(words) > 0 {
			return words
		}
	}
	return decoder.ContentWords(question)
}

var complements = regexp.MustCompile(` (?:of|in|at|on|for|with|from) `)

// measured reports whether a name is that of the measure for which a question asks, of what the passage is about: "Noise" for "how loud is
// the DryMate?"
func (p passage) measured(question string, wanted []string, l label) bool {
	if len(decoder.WithoutWords(wanted, decoder.ContentWords(p.text[p.start:p.body]))) > 0 {
		return false
	}
	return slices.ContainsFunc(kinds, func(k kind) bool {
		return k.asks.MatchString(question) && decoder.SharedWords(l.words, k.columns) == len(l.words)
	})
}

// asksCost matches a question for a price that does not name it, as those in other languages are read.
var asksCost = regexp.MustCompile(`(?i)\bhow much (?:is|are)\b|\bcosts?\b|\bprice\b`)

// pointsAt returns spans that point at the value behind a name, and whether the reader itself did not point at its line.
func (p passage) pointsAt(spans []span.Span, from, to int, sure float64) (out []span.Span, named bool) {
	begin, end := p.lineStart(from), p.lineEnd(from)
	if len(spans) > 0 && spans[0].Begin < end && spans[0].End > begin {
		return spans, false
	}
	return []span.Span{{Begin: from, End: to, P: sure}}, true
}

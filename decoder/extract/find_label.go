package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tandem/internal/words"
	"tandem/model/span"
)

// label is a name in a passage with the value after it.
type label struct {
	words    []string
	from, to int // of the value
}

// numberedName matches a name with the number after it: "Policy no. HH-77 204", "Serial no.: VK-00".
var numberedName = regexp.MustCompile(`(?i)((?:[\pL'’-]+ ){0,2}[\pL'’-]+) (?:no|nr|num)(?:\.:?|:) *([\pL\d./-]*\d[\pL\d/-]*(?:[ .][\pL\d./-]*\d[\pL\d/-]*)*)`)

// mailField matches a line above a mail, "Date: 3 May", and fromLine the one that other documents lack, "From: Ada".
var (
	fromLine  = regexp.MustCompile(`(?m)^(?:From|Von|De): `)
	mailField = regexp.MustCompile(`^(?:` + mailFields + `): `)
)

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
		at := begin + strings.Index(line, name) + len(name) + len(": ")
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
	wanted := excluding(words.Content(question), asksOnly)
	speaks := func(end int) bool {
		return len(words.Without(wanted, append(words.Content(p.text[p.start:end]), "number"))) == 0
	}
	if !speaks(len(p.text)) {
		return 0, 0, false
	}
	thing, most := asksFor(question), 0
	for begin, end := range p.lines() {
		for _, l := range p.labels(begin, end) {
			if len(l.words) < most || !p.isMeasure(question, wanted, l) && (words.Shared(l.words, wanted) < len(l.words) || words.Shared(l.words, thing) == 0) {
				continue
			}
			if !speaks(end) || q.old && !saysFormer.MatchString(p.text[begin:end]) {
				continue
			}
			if len(l.words) == most && ok {
				return 0, 0, false
			}
			from, to, ok, most = l.from, l.to, true, len(l.words)
		}
	}
	switch said := p.text[from:to]; {
	case !ok, len(strings.Fields(said)) > maxWords, q.person && !strings.ContainsFunc(said, unicode.IsUpper), asksCost.MatchString(question) && !aPrice.MatchString(said):
		return 0, 0, false
	}
	return from, to, len(q.misfits(p, span.Span{Begin: from, End: to}, newSentenceCache(patternCache{}))) == 0
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
var complements = regexp.MustCompile(` (?:of|in|at|on|for|with|from) `)

// isMeasure reports whether a label is the measure that a question about the passage's subject asks for: "Noise" for
// "how loud is the DryMate?"
func (p passage) isMeasure(question string, wanted []string, l label) bool {
	if len(words.Without(wanted, words.Content(p.title()))) > 0 {
		return false
	}
	return slices.ContainsFunc(columnKinds, func(k columnKind) bool {
		return k.asks.MatchString(question) && words.Shared(l.words, k.columns) == len(l.words)
	})
}

// asksCost matches a question for a price that may not say "price": "how much is the tap". Questions in other languages
// are read so, too.
var asksCost = regexp.MustCompile(`(?i)\bhow much (?:is|are)\b|\bcosts?\b|\bprice\b`)

// meaningOfCode returns what stands after a code ("E11", "- 3: …") that a question asks about.
func (p passage) meaningOfCode(q query) (from, to int, ok bool) {
	wanted, defined := words.Content(q.text), asksMeaning.MatchString(q.text)
	if !defined && !(asksRemedy.MatchString(q.text) && slices.ContainsFunc(wanted, isCodeLabel)) {
		return 0, 0, false
	}
	return p.meaning(wanted, defined, saysMeaning.MatchString(q.text))
}

// saysMeaning matches a question that says that it asks what something means: "what does E11 mean".
var saysMeaning = regexp.MustCompile(`(?i)\b(?:means?|meaning|stands? for|signif(?:y|ies))\b`)

// asksMeaning matches a question about what something means: "what does E11 stand for?", "what is E11?".
var asksMeaning = regexp.MustCompile(`(?i)^\W*(?:and )?(?:what (?:does|do|did|is|are)\b.*\b(?:mean|stand for|signify|meaning)\b|what(?:'s| is)\b|meaning of\b)`)

// asksRemedy matches a question about what to do about something that is displayed: "what do I do when it shows E5".
var asksRemedy = regexp.MustCompile(`(?i)\b(?:what|how)\b.*\b(?:do|fix|solve|clear|wrong)\b|\b(?:shows?|says|displays?|error|fault|message)\b`)

// meaning returns what a code that the question names stands for: the second cell of its row, or what follows the colon
// in its line. A bare number needs more: the title or the heading above it must have the rest of the question. defined
// says that the question asks what something is, and meant that it asks what it means: of a row with several cells,
// only that question wants the second.
func (p passage) meaning(wanted []string, defined, meant bool) (from, to int, ok bool) {
	for _, r := range p.rows {
		if !defined {
			break
		}
		label := p.text[r.cells[0].from:r.cells[0].to]
		other := len(unnamed(wanted, strings.ToLower(label), slices.Concat(words.Content(r.names[0]), p.names))) > 0 // "the IP of web01"
		if (isCodeLabel(label) && (meant || !other) || longNumber.MatchString(label) && !other) && len(r.cells) > 1 && slices.Contains(wanted, strings.ToLower(label)) {
			if ok {
				return 0, 0, false
			}
			from, to, ok = r.cells[1].from, r.cells[1].to, true
		}
	}
	if ok {
		return from, to, from < to
	}
	above := words.Content(p.title())
	for begin, end := range p.lines() {
		line := p.text[begin:end]
		mark := len(lineMark.FindString(line))
		label, rest, colon := cutLabel(line[mark:])
		switch bare := bareCode(label); {
		case !colon && p.heading(begin, end) || !strings.ContainsAny(line, ".:;,!?"):
			above = slices.Concat(words.Content(p.title()), words.Content(line))
		case !colon || strings.Contains(bare, " ") || !slices.Contains(wanted, strings.ToLower(bare)):
		case isCodeLabel(bare) || number.FindString(bare) == bare && len(unnamed(wanted, bare, above)) == 0:
			if ok {
				return 0, 0, false
			}
			from, to, ok = end-len(rest), end, true
		}
	}
	return from, to, ok && from < to
}

// cutLabel divides a line after its label, which a colon or a dash ends.
func cutLabel(line string) (label, rest string, ok bool) {
	if label, rest, ok = strings.Cut(line, ": "); ok {
		return label, rest, true
	}
	for _, dash := range []string{" – ", " — ", " - "} {
		if label, rest, ok = strings.Cut(line, dash); ok && len(strings.Fields(label)) <= longestCode {
			return label, rest, true
		}
	}
	return line, "", false
}

// longestCode is how many words a label has that a dash ends: "Error E5 –".
const longestCode = 3

// bareCode returns a label without marks around it, and without words that only say that it is a code: "E5" for "Error E5".
func bareCode(label string) string {
	label = strings.Trim(label, "`*_ ")
	words := strings.Fields(label)
	left := slices.DeleteFunc(words, func(w string) bool { return codeWords[strings.ToLower(w)] })
	if len(left) != 1 {
		return label
	}
	return left[0]
}

// longNumber matches a number that counts nothing, such as a code, a port or an identifier: "8080".
var longNumber = regexp.MustCompile(`^\d{3,}$`)

// unnamed returns the words of a question about a number that are not above its line and do not say that it is a code.
func unnamed(wanted []string, number string, above []string) []string {
	left := words.Without(wanted, above)
	return slices.DeleteFunc(left, func(w string) bool { return w == number || codeWords[w] })
}

// codeWords say that a number is a code, as "status" does, or ask for its meaning.
var codeWords = words.Set("mean means meaning stand stands code error status number exit message signify display displays")

// isCodeLabel reports whether a label is a code: it has letters and digits and no space.
func isCodeLabel(label string) bool {
	return !strings.ContainsAny(label, " \t") && strings.ContainsFunc(label, unicode.IsDigit) && strings.ContainsFunc(label, unicode.IsLetter)
}

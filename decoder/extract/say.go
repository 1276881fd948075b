package extract

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/decoder"
	"tandem/internal/lazyregexp"
	"tandem/internal/sentences"
	"tandem/internal/words"
	"tandem/model/span"
	"tandem/retrieval/passages"
)

// Lengths in bytes of what is said with a sentence that does not stand by itself.
const (
	longestSnippet    = 160
	longestAntecedent = 160
)

// say returns what a passage answers with a span, and the sentence around the span.
func (p passage) say(s span.Span, form form) (string, decoder.Quote) {
	from, to := p.widen(s.Begin, s.End)
	quote := p.quote(from, to)
	switch {
	case p.isBlock(from, to):
		return dedented(p.text[from:to]), quote
	case form == formList && p.listed(from, to), form == formSteps && itemMark.MatchString(p.text[p.lineStart(from):]):
		from, to = p.widen(p.read.Items(from, to))
	case form != formValue, sentences.BreaksOff(p.text, to), len(words.Content(p.text[from:to])) == 0: // not "they"
		begin := from - quote.From
		end := begin + len(quote.Text)
		return p.saySentences(begin, end) + p.listOrCodeAfter(end, form) + cmp.Or(p.exceptionAfter(end), p.instructionsAfter(end, form)), quote
	}
	return p.withColumnNames(from, to), quote
}

// listed reports whether a range stands in a list.
func (p passage) listed(from, to int) bool {
	begin, end := p.read.Items(from, to)
	a, b := p.read.Sentence(from, to)
	return begin != a || end != b
}

// saySentences returns what an answer says with some sentences, on one line.
func (p passage) saySentences(begin, end int) string {
	return cmp.Or(p.denyingLead(begin), p.unfinishedLead(begin)) + p.antecedent(begin) + unmarked(p.withColumnNames(begin, end))
}

// denyingLead returns the line above the list that an item belongs to, with a colon, if the list is of what is not so:
// "Do not take it: " before "with grapefruit juice".
func (p passage) denyingLead(at int) string {
	lead := strings.TrimRight(p.leadOf(at), ":")
	if len(lead) > longestAntecedent || strings.ContainsAny(lead, ".!?()") || !deniesAll.MatchString(lead) {
		return ""
	}
	return lead + ": "
}

// unfinishedLead returns the sentence above a list if the item at an offset goes on with it: "Tickets are refunded if "
// before "the show is cancelled". Its last word says so, or its length: no heading is so long.
func (p passage) unfinishedLead(at int) string {
	item := p.text[p.lineStart(at):]
	mark := len(listItem.FindString(item))
	next, _ := utf8.DecodeRuneInString(item[mark:])
	if at > p.lineStart(at)+mark || !unicode.IsLower(next) {
		return ""
	}
	said := sentences.Split(p.leadOf(at))
	if len(said) == 0 {
		return ""
	}
	lead := said[len(said)-1]
	all := strings.Fields(lead)
	last, colon := strings.CutSuffix(strings.ToLower(all[len(all)-1]), ":")
	goesOn := words.Function(last) || !colon && len(all) > longestHeading && !strings.ContainsAny(last, ".;!?)")
	if !goesOn || len(all) < shortestLead || len(lead) > longestAntecedent {
		return ""
	}
	return lead + " "
}

// shortestLead is the length of the shortest line that its list goes on with, in words.
const shortestLead = 4

// leadOf returns the line above the list that the item at an offset belongs to, or the heading if the list's beginning
// is in the passage before; nothing if there is no such item.
func (p passage) leadOf(at int) string {
	begin := p.lineStart(at)
	if begin < p.body || !p.isItem(begin) {
		return ""
	}
	for begin > p.body && (p.isItem(begin) || begin == p.lineEnd(begin)) {
		begin = p.lineStart(begin - 1)
	}
	lead := p.text[begin:p.lineEnd(begin)]
	if p.isItem(begin) {
		title := p.title()
		lead = title[strings.LastIndex(title, ": ")+1:]
	}
	return strings.TrimSpace(lead)
}

// deniesAll matches the line above a list of what is not so: "Please do not take it", "What is not covered".
var deniesAll = lazyregexp.New(`(?i)^(?:(?:please |you |we |what |who |it |this |the following |things (?:that )?(?:you )?)*(?:(?:do|does|is|are|will|can) not|(?:do|does|is|are|wo|ca)n['’]t|never|not (?:for|in)|ne (?:\pL+ )?pas|nicht)|` +
	`(?:\pL+ ){0,3}(?:(?:must|may|should) not|cannot|not (?:allowed|permitted|included|covered|suitable)|forbidden|prohibited|excluded|verboten|interdite?s?|prohibid[oa]s?))(?:[^\pL]|$)`)

// antecedent returns the sentence before the one at an offset, in the same line and with a space, if that one begins
// with a pronoun: "It is kept cold." says nothing by itself.
func (p passage) antecedent(at int) string {
	line := p.lineStart(at)
	if at <= max(line, p.body) || !refers.MatchString(p.text[at:]) || p.isCode(at) {
		return ""
	}
	end := len(strings.TrimRight(p.text[:at], " "))
	begin := max(p.sentenceStart(end-1), line)
	if begin+longestAntecedent < end || begin < p.body || p.isQuestion(begin) || p.isSpeech(begin) || strings.Contains(p.text[begin:end], passages.CellMark) {
		return ""
	}
	return unmarked(p.text[begin:end]) + " "
}

// exceptionAfter returns the sentence after another, in its line or the next one, if it begins an exception.
func (p passage) exceptionAfter(to int) string {
	rest := p.text[to:]
	begin := to + len(rest) - len(strings.TrimLeft(rest, " "))
	if strings.HasPrefix(p.text[begin:], "\n") && !strings.HasPrefix(p.text[begin:], "\n\n") {
		begin++
	}
	if begin == to || begin >= len(p.text) || !exception.MatchString(p.text[begin:p.lineEnd(begin)]) {
		return ""
	}
	_, end := p.sentence(begin, begin+1)
	return p.text[to:min(end, p.lineEnd(begin))]
}

// exception matches the beginning of an exception: "Except on Mondays".
var exception = lazyregexp.New(`(?i)^(?:(?:the )?(?:only )?exceptions?|except|unless|ausnahmen?|ausgenommen|sauf|excepto|excepción)\b`)

// instructionsAfter returns the sentences right after another, in its line, that say what to do, for a question about that.
func (p passage) instructionsAfter(to int, form form) string {
	if form != formRemedy {
		return ""
	}
	end := to
	for last := p.lineEnd(to); end < last; {
		begin := end + len(p.text[end:last]) - len(strings.TrimLeft(p.text[end:last], " "))
		if begin == end || !instruction.MatchString(p.text[begin:last]) {
			break
		}
		_, next := p.sentence(begin, begin+1)
		if next = min(next, last); next-to > longestLabelled {
			break
		}
		end = next
	}
	return unmarked(p.text[to:end])
}

// instruction matches the beginning of a sentence that says what to do: "Press reset", "You should call".
var instruction = lazyregexp.New(`(?i)^(?:(?:please|then|first|now|next|in (?:that|this) case|otherwise|bitte|dann),? )*(?:(?:you|we) (?:should|must|have to|need to|can|may)|do(?: not|n['’]t)?|never|always|make sure|be sure|` +
	`adjust|add|apply|ask|avoid|bleed|bring|call|change|check|clean|clear|close|connect|contact|cool|cut|descale|disconnect|drain|drink|dry|empty|ensure|enter|fill|find|get|give|go|hold|inform|insert|keep|leave|let|lift|look|lower|move|open|phone|` +
	`plug|pour|press|pull|push|put|raise|refill|remove|repeat|replace|report|reset|restart|ring|rinse|run|see|send|set|shake|shut|speak|stay|stop|switch|take|tell|tighten|top up|try|turn|unplug|use|wait|warm|wash|wipe|write|` +
	`\pL+en Sie|\pL{3,}ez)(?:$|[^\pL])`)

// listOrCodeAfter returns what a sentence with a colon at its end introduces: a few lines of code or, for a question for a
// list, its items.
func (p passage) listOrCodeAfter(to int, form form) string {
	if !strings.HasSuffix(p.text[:to], ":") {
		return ""
	}
	begin := len(p.text) - len(strings.TrimLeft(p.text[to:], "\n"))
	switch {
	case begin == to || begin == len(p.text):
		return ""
	case p.isCode(begin):
		if end := p.codeEnd(begin); end-begin <= longestSnippet {
			return "\n" + dedented(p.text[begin+len(passages.CodeMark):end])
		}
	case form == formList && p.isItem(begin):
		_, end := p.widen(p.read.Items(begin, begin+1))
		return "\n" + p.text[begin:end]
	}
	return ""
}

// quote returns the sentence around a range.
func (p passage) quote(from, to int) decoder.Quote {
	begin, end := p.sentence(from, to)
	return decoder.Quote{Text: p.text[begin:end], From: from - begin, To: to - begin, Column: p.columnAt(from, to)}
}

// Lengths of a quote that says too little by itself, in words, and with the line before it, in bytes.
const (
	shortQuote      = 6
	longestLabelled = 320
)

// withLabel returns the quote at an offset, together with its line from its beginning on if it is a short further sentence of an item
// or of a line with a label: "Default: 2m." says nothing without "keepalive is how long to keep connections open."
func (p passage) withLabel(q decoder.Quote, at int) decoder.Quote {
	begin := p.lineStart(at)
	begin += len(listItem.FindString(p.text[begin:]))
	end := at + len(q.Text)
	if begin >= at || begin < p.body || end-begin > longestLabelled || len(strings.Fields(q.Text)) > shortQuote || p.text[at:end] != q.Text {
		return q
	}
	if !p.isItem(at) && labelOf(p.text[begin:at]) == "" || p.isSpeech(at) || p.isCode(at) || strings.Contains(p.text[begin:end], passages.CellMark) {
		return q
	}
	q.Text, q.From, q.To = p.text[begin:end], q.From+at-begin, q.To+at-begin
	return q
}

// quoteAround returns the text of a passage without its title, or as many of its sentences around one as fit.
func (p passage) quoteAround(from, to int) decoder.Quote {
	begin, end := p.widen(p.read.Around(from, to, p.body, decoder.MaxQuoteBytes))
	if b, e := p.sentence(begin, end); e-b <= decoder.MaxQuoteBytes {
		begin, end = b, e
	}
	return decoder.Quote{Text: p.text[begin:end], From: from - begin, To: to - begin}
}

// answerText is a text with its probability and its place.
type answerText struct {
	text  string
	p     float64
	quote decoder.Quote // where it stands, without Passage, Weight and Relevance
	at    int           // where the quote begins in the passage's text
}

// answerTexts turns the likeliest spans into texts: the likeliest first, their probabilities summing to 1.
func (c Config) answerTexts(p passage, best []span.Span, form form) []answerText {
	var all []answerText
	at := map[string]int{}
	for _, s := range best {
		if s.P < leastLikely*best[0].P {
			break
		}
		w := answerText{p: s.P}
		w.text, w.quote = p.say(s, form)
		from, _ := p.widen(s.Begin, s.End)
		w.at = from - w.quote.From
		if w.text == "" {
			continue
		}
		if i, ok := at[w.text]; ok {
			all[i].p += s.P
			continue
		}
		at[w.text] = len(all)
		all = append(all, w)
	}
	slices.SortStableFunc(all, func(x, y answerText) int { return cmp.Compare(y.p, x.p) })
	return c.temper(all)
}

// temper applies the temperature to probabilities in descending order, and makes them sum to 1.
func (c Config) temper(all []answerText) []answerText {
	if len(all) == 0 {
		return nil
	}
	if c.Temperature == 0 {
		all[0].p = 1
		return all[:1]
	}
	top, sum := all[0].p, 0.0
	for i := range all {
		all[i].p = math.Pow(all[i].p/top, 1/c.Temperature)
		sum += all[i].p
	}
	for i := range all {
		all[i].p /= sum
	}
	return all
}

// quotable is a sentence that may answer.
type quotable struct {
	quote decoder.Quote // without Passage, Weight and Relevance
	at    int           // where the sentence begins in the passage's text
	odds  float64       // against the passage's likeliest sentence, in nats
}

// maxNear is how many sentences of a passage are worth quoting.
const maxNear = 3

// nearestSentences returns the sentences around spans, the likeliest first. Unless they are asked for, the lines above a mail
// come last, and are no likelier than what the mail says: every question about a time finds their date. So do greetings,
// signatures and the names of columns, which say nothing.
func (p passage) nearestSentences(spans []span.Span, asksHead bool) []quotable {
	var all []quotable
	var sums []float64
	at := map[string]int{}
	for _, s := range spans {
		from, to := p.widen(s.Begin, s.End)
		q := p.quote(from, to)
		i, ok := at[q.Text]
		if !ok {
			i = len(all)
			at[q.Text], all, sums = i, append(all, quotable{quote: q, at: from - q.From}), append(sums, 0)
		}
		sums[i] += s.P
	}
	for i := range all {
		all[i].odds = math.Log(sums[i] / slices.Max(sums))
	}
	slices.SortStableFunc(all, func(x, y quotable) int { return cmp.Compare(y.odds, x.odds) })
	if asksHead {
		return all[:min(maxNear, len(all))]
	}
	idle := func(n quotable) bool {
		return p.inMailHead(n.at) || greeting.MatchString(n.quote.Text) || p.signs(n.at) || p.namesColumns(n.at)
	}
	said := slices.DeleteFunc(slices.Clone(all), idle)
	for _, n := range all {
		if idle(n) {
			if len(said) > 0 {
				n.odds = min(n.odds, said[len(said)-1].odds)
			}
			said = append(said, n)
		}
	}
	return said[:min(maxNear, len(said))]
}

// greeting matches a line that greets: "Dear Ms Lund,".
var greeting = lazyregexp.New(`(?i)^(?:dear|hello|hi|hey|hallo|liebe[rs]?|sehr geehrte[rs]?|bonjour|chère?s?|hola|estimad[oa]s?|querid[oa]s?)\b[^.!?:\d]{0,40},?$`)

// signs reports whether the line at an offset is that above the name below a letter, or the name.
func (p passage) signs(at int) bool {
	begin := p.lineStart(at)
	above := strings.TrimRight(p.text[p.body:max(begin, p.body)], "\n")
	above = above[strings.LastIndexByte(above, '\n')+1:]
	return signsOff.MatchString(p.text[begin:p.lineEnd(begin)]) || signsOff.MatchString(above) && len(strings.Fields(p.text[begin:p.lineEnd(begin)])) <= maxSignerWords
}

// flat returns a text on one line, with semicolons between the lines of a list.
func flat(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if said := b.String(); said != "" {
			if !strings.ContainsAny(said[len(said)-1:], ".:;,!?") {
				b.WriteByte(';')
			}
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return b.String()
}

// refers matches a sentence that begins with a pronoun for what the one before is about: "It is kept cold."
var refers = lazyregexp.New(`(?i)^(?:he|she|it|they|his|her|its|their|this|these|er|sie|es|il|elle|ils|elles|él|ella)\b`)

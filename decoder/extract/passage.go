package extract

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"tandem/decoder/ground"
	"tandem/internal/lazyregexp"
	"tandem/internal/sentences"
	"tandem/internal/words"
	"tandem/model/span"
	"tandem/retrieval/passages"
)

// passage is a passage as the reader sees it.
type passage struct {
	source string   // the document
	text   string   // the title as a heading, then the text
	start  int      // where the document's own bytes begin
	body   int      // where the text begins
	inside []bool   // where text must not be cut
	ends   []int    // of the text's sentences, as package sentences finds them
	names  []string // words of the title and of the file's path
	rows   []tableRow
	heads  []textRange // lines that may be headings of sections
	read   *span.Passage
}

// textRange is a range of a text, in bytes.
type textRange struct{ from, to int }

// heading makes a title a heading for the reader, even one with a colon. It is no part of the document.
const heading = "# "

// TextToRead returns a passage as the reader is given it: below its title.
func TextToRead(p passages.Passage) string {
	if p.Title == "" {
		return p.Text
	}
	return heading + p.Title + "\n" + p.Text
}

// passage reads what of a passage does not depend on a question.
func (c Config) passage(p passages.Passage) (out passage) {
	out.source, out.text = p.Source, TextToRead(p)
	if p.Title != "" {
		out.start, out.body = len(heading), len(out.text)-len(p.Text)
	}
	out.names = words.Content(p.Title + " " + strings.Map(spaceForSeparator, p.Source))
	out.inside = ground.Inside(out.text)
	if out.ends = sentences.Ends(out.text); len(out.ends) == 0 || out.ends[len(out.ends)-1] < len(out.text) {
		out.ends = append(out.ends, len(out.text)) // a sentence without a mark
	}
	out.rows, out.heads = out.tableRows(), out.sectionHeads()
	out.read = c.Reader.Passage(out.text)
	return out
}

// slice returns the text of a range.
func (p passage) slice(r textRange) string { return p.text[r.from:r.to] }

// title returns the title, without the mark that makes it a heading, up to where the text begins.
func (p passage) title() string { return p.text[p.start:p.body] }

// lines yields where each line of the text begins and ends.
func (p passage) lines() iter.Seq2[int, int] {
	return func(yield func(begin, end int) bool) {
		for begin := p.body; begin < len(p.text); {
			end := p.lineEnd(begin)
			if !yield(begin, end) {
				return
			}
			begin = end + 1
		}
	}
}

// withoutNames returns words without those of the title and of the file's path, just as they are spelt.
func (p passage) withoutNames(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(p.names, w) })
}

// spaceForSeparator returns a rune of a file's name, or a space if it separates words there.
func spaceForSeparator(r rune) rune {
	if strings.ContainsRune("-_.+", r) {
		return ' '
	}
	return r
}

// widen moves the ends of a range outwards until it cuts no word and no amount: "20" in "D20" becomes "D20", and "9" in
// "9:40" becomes "9:40". What is not the document's own is left out.
func (p passage) widen(from, to int) (int, int) {
	from, to = max(from, p.start), max(to, p.start)
	if from == to {
		return from, to
	}
	for from > p.start && p.inside[from] {
		from--
	}
	for p.inside[to] {
		to++
	}
	return from, p.passwordEnd(from, to)
}

// passwordEnd returns where a value ends, with the marks that belong to it in a line about a password or a code:
// "Sommer$2026!".
func (p passage) passwordEnd(from, to int) int {
	end := to
	for end < len(p.text) && strings.IndexByte("!#$%&*+=@^~?", p.text[end]) >= 0 {
		end++
	}
	if end == to || end < len(p.text) && !unicode.IsSpace(rune(p.text[end])) && strings.IndexByte(".,;)\"'", p.text[end]) < 0 {
		return to
	}
	word := p.text[from+strings.LastIndexAny(p.text[from:to], " \n\t")+1 : to]
	line := p.text[p.lineStart(from):from]
	if !hasDigit(word) || !strings.ContainsFunc(word, unicode.IsLetter) || !secrets.MatchString(line) {
		return to
	}
	return end
}

// secrets matches the beginning of a line about a password or a code: "wifi password: ".
var secrets = lazyregexp.New(`(?i)passw|passphrase|passcode|\b(?:pin|code|key|kennwort|schlüssel|mot de passe|contraseña|clave)\b`)

// lineStart returns where the line around an offset begins.
func (p passage) lineStart(at int) int { return strings.LastIndexByte(p.text[:at], '\n') + 1 }

// lineEnd returns where the line around an offset ends.
func (p passage) lineEnd(at int) int {
	if n := strings.IndexByte(p.text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(p.text)
}

// sentence returns the range of the sentences around a range, as package sentences finds them, which knows more
// abbreviations, ordinals and units than the reader.
func (p passage) sentence(from, to int) (int, int) {
	return p.widen(p.sentenceStart(from), p.sentenceEnd(to))
}

// sentenceStart returns where the sentence around an offset begins.
func (p passage) sentenceStart(at int) int {
	begin := 0
	if n, _ := slices.BinarySearch(p.ends, at+1); n > 0 {
		begin = p.ends[n-1]
	}
	for begin < at && unicode.IsSpace(rune(p.text[begin])) {
		begin++
	}
	return min(begin, at)
}

// sentenceEnd returns where the sentence ends that ends at offset at or after it.
func (p passage) sentenceEnd(at int) int {
	end := len(p.text)
	if n, _ := slices.BinarySearch(p.ends, at); n < len(p.ends) {
		end = p.ends[n]
	}
	return max(at, len(strings.TrimRightFunc(p.text[:end], unicode.IsSpace)))
}

// sentenceIndex returns the index of the sentence around an offset.
func (p passage) sentenceIndex(at int) int {
	n, _ := slices.BinarySearch(p.ends, at+1)
	return min(n, len(p.ends)-1)
}

// heading reports whether a range begins in the title or in a heading. The reader sees headings below an empty line; where a
// passage has any, its first line is one, too, if it ends as one does.
func (p passage) heading(from, to int) bool {
	if from < p.body || p.read.Heading(from, to) {
		return true
	}
	if begin := p.lineStart(from); numberedHeading.MatchString(p.text[begin:p.lineEnd(begin)]) {
		return true
	}
	line := p.text[p.body:p.lineEnd(p.body)]
	return from < p.body+len(line) && strings.Contains(p.text[p.body:], "\n\n") &&
		len(strings.Fields(line)) <= longestHeading && !strings.ContainsAny(line[len(line)-1:], ".!?;,") && !itemMark.MatchString(line)
}

// numberedHeading matches a line that says what a numbered part is about: "5. How to store the tablets". No step of a
// list begins so.
var numberedHeading = lazyregexp.New(`^[ \t]*\d{1,2}[.)][ \t]+(?i:how|what|when|where|why|who|which)\b.*[^.!?;,]$`)

// longestHeading is the length of the longest heading that is not marked as one, in words.
const longestHeading = 10

// headingAbove returns the heading or the question above an offset, or nothing.
func (p passage) headingAbove(at int) string {
	for at = p.lineStart(at); at > p.body; {
		begin := p.lineStart(at - 1)
		if line := p.text[begin : at-1]; line != "" && (p.heading(begin, at-1) || p.isQuestion(begin)) {
			return line
		}
		at = begin
	}
	return p.title()
}

// isQuestion reports whether the sentence at an offset is a question: it begins like one, or is marked as one ("Q:").
// "Locker: 17-04?" says what somebody is not sure of.
func (p passage) isQuestion(at int) bool {
	begin, end := p.sentence(at, at+1)
	said := strings.TrimRightFunc(p.text[begin:end], func(r rune) bool { return strings.ContainsRune("\"'”’»)]*_ ", r) })
	switch {
	case strings.HasSuffix(said, "？"):
		return true
	case !strings.HasSuffix(said, "?"):
		return false
	}
	if line := p.text[p.lineStart(begin):begin]; questionMark.MatchString(line+said) || strings.HasPrefix(said, "¿") {
		return true
	}
	return beginsToAsk(said)
}

// beginsToAsk reports whether one of the first words of a text asks.
func beginsToAsk(said string) bool {
	words := strings.FieldsFunc(strings.ToLower(said), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '-' })
	return slices.ContainsFunc(words[:min(maxBefore, len(words))], func(w string) bool { return askingWords[strings.TrimSuffix(w, "'s")] })
}

// askedInSpeech returns where what somebody says in a chat asks, within a sentence that goes on in lower case: "who has
// my towel??" in "Ann: who has my towel?? i need it". The range is empty if it asks nothing.
func (p passage) askedInSpeech(begin, end int) (from, to int) {
	line := p.lineStart(begin)
	m := speaker.FindStringIndex(p.text[line:])
	if m == nil {
		return end, end
	}
	from = max(begin, line+m[1])
	for from < end {
		m := endOfAsking.FindStringIndex(p.text[from:end])
		if m == nil {
			break
		}
		to = from + m[1]
		if strings.HasSuffix(strings.TrimRight(p.text[from:to], " "), "?") && beginsToAsk(p.text[from:to]) {
			return from, to
		}
		from = to
	}
	return end, end
}

// endOfAsking matches the marks after which a chat goes on, perhaps in lower case: "?? ".
var endOfAsking = lazyregexp.New(`[.!?]+(?: +|$)`)

// maxBefore is how many words a question may have before the one that asks: "And on Sundays, when does it open?"
const maxBefore = 5

// questionMark matches what marks a question: "Q: ", "Question 3. ".
var questionMark = lazyregexp.New(`^[ \t#*_-]*(?:Q|F|Frage|Question|P)[ \t]?\d{0,3}[.:)]`)

// askingWords has the words, in four languages, that a question has among its first ones.
var askingWords = words.Set(`who whom whose what when where why how which is isn't are aren't was were do does don't doesn't did didn't can can't could couldn't
 may might must shall should shouldn't will won't would wouldn't has hasn't have haven't had
 wer wen wem was wann wo woher wohin wie warum wieso weshalb welche welcher welches welchen ist sind kann können darf dürfen muss müssen soll gibt hat haben wird werden
 qui que quoi quand où comment pourquoi quel quelle quels quelles combien est-ce y-a-t-il peut-on faut-il
 quién quiénes qué cuándo dónde cómo cuál cuáles cuánto cuánta cuántos`)

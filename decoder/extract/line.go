package extract

import (
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/sentences"
	"tandem/retrieval/passages"
)

// isItem reports whether the line around an offset is the item of a list.
func (p passage) isItem(at int) bool { return listItem.MatchString(p.text[p.lineStart(at):]) }

// listItem matches the item of a list: "- oil", "[x] oil", "3. oil".
var listItem = lazyregexp.New(`^[ \t]*(?:[-*•‣–+]|\[[ xX]\]|\d{1,3}[.)])[ \t]`)

// itemMark matches the number before an item: "3. ".
var itemMark = lazyregexp.New(`^[ \t]*\d{1,3}[.)][ \t]`)

// unmarked returns a line without the marks of a list or of an answer below a question: they say nothing by themselves.
// The box of a task stays: it says whether the task is done.
func unmarked(line string) string {
	mark := lineMark.FindString(line)
	if mark == "" {
		return line[sentences.ItemMark(line):]
	}
	rest := line[len(mark):]
	if rest == "" {
		return line
	}
	if box := strings.IndexByte(mark, '['); box >= 0 {
		return line[box:]
	}
	return rest
}

// lineMark matches the marks at the beginning of a line: "- [ ] ", "(3) ", "A: ".
var lineMark = lazyregexp.New(`^(?:(?:[-*•‣–+]|\[[ xX]\]|\(\d{1,3}\)|A:|Answer:|Antwort:|R ?:|Réponse ?:) +)+`)

// labelOf returns what a line explains before its colon, without the marks of a list: "--min-size SIZE", "keepalive (integer)".
func labelOf(line string) string {
	label, rest, ok := strings.Cut(unmarked(line), ": ")
	if !ok || rest == "" || len(strings.Fields(label)) > longestLabel || strings.ContainsAny(label, "!?;") {
		return ""
	}
	return label
}

// behindLabel returns the offset at which a line goes on after its label.
func behindLabel(line, label string) int { return strings.Index(line, label) + len(label) + len(": ") }

// longestLabel is the length of the longest label, in words.
const longestLabel = 8

// isSpeech reports whether the line around an offset is what somebody says in a chat or a transcript: "Ann: …", "[9:02]
// Ann: …".
func (p passage) isSpeech(at int) bool { return speaker.MatchString(p.text[p.lineStart(at):]) }

// speaker matches the name before what is said: "Ann: ", "[9:02] Ann Holm: ", "@ann (9:02): ", or before the time as
// in a table of messages: "Ann | 2026-05-03T09:02 | ".
var speaker = lazyregexp.New(`^(?:\[[^\]\n]{4,25}\] ?|[\d./-]{6,10},? [\d:]{4,8}(?: ?[apAP]\.?[mM]\.?)? - |\(?\d{1,2}[:.]\d{2}\)? )?(\p{Lu}[\pL'’.-]{0,20}(?: \p{Lu}[\pL'’.-]{0,20})?|@[\pL\d_.-]{2,30})(?: \(\d{1,2}[:.]\d{2}\))?(?:: | \| \d{4}-\d\d-\d\dT[\d:.]{5,12}Z? \| )`)

// isCode reports whether the line that holds an offset is code.
func (p passage) isCode(at int) bool {
	line := p.lineStart(at)
	return line >= p.body && strings.HasPrefix(p.text[line:], passages.CodeMark)
}

// isBlock reports whether a range is a whole block of code.
func (p passage) isBlock(from, to int) bool {
	line := p.lineStart(from)
	return from == line+len(passages.CodeMark) && p.isCode(from) && p.codeEnd(line) == to
}

// codeEnd returns where a block of code ends that begins with the line at an offset; that offset if there is none.
func (p passage) codeEnd(begin int) int {
	end := begin
	for at := begin; at < len(p.text) && strings.HasPrefix(p.text[at:], passages.CodeMark); at = end + 1 {
		end = p.lineEnd(at)
	}
	return end
}

// dedented returns the lines of a block of code without the mark of windows before them.
func dedented(block string) string { return strings.ReplaceAll(block, "\n"+passages.CodeMark, "\n") }

// isDay reports whether a line is a heading that is a day.
func (p passage) isDay(begin, end int) bool {
	return begin < end && begin >= p.body && onlyDate.MatchString(p.text[begin:end]) && p.heading(begin, end)
}

// dayAbove returns the heading above an offset if it is a day, as in a diary, and "" otherwise.
func (p passage) dayAbove(at int) string {
	above := p.headingAbove(at)
	day := strings.Trim(above[strings.LastIndex(above, ": ")+1:], " #*\n")
	if !onlyDate.MatchString(day) {
		return ""
	}
	return day
}

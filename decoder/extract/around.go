package extract

import (
	"regexp"
	"strings"

	"tandem/retrieval/passages"
)

// Lengths in bytes of what is said with a sentence that does not stand by itself.
const (
	longestSnippet    = 160
	longestAntecedent = 160
)

// antecedent returns the sentence in the same line before the one at an offset, with a blank, if that begins with a pronoun:
// "It is kept cold." says nothing by itself.
func (p passage) antecedent(at int) string {
	line := p.lineStart(at)
	if at <= max(line, p.body) || !refers.MatchString(p.text[at:]) || p.isCode(at) {
		return ""
	}
	end := len(strings.TrimRight(p.text[:at], " "))
	begin := max(p.begun(end-1), line)
	if begin+longestAntecedent < end || begin < p.body || p.asks(begin) || p.speaks(begin) || strings.Contains(p.text[begin:end], passages.CellMark) {
		return ""
	}
	return unmarked(p.text[begin:end]) + " "
}

// told returns what an answer says with some sentences of the text, on one line.
func (p passage) told(begin, end int) string {
	return p.antecedent(begin) + unmarked(p.cells(begin, end))
}

// excepted returns the sentence behind another, in its line or the next one, if it says to what that does not apply.
func (p passage) excepted(to int) string {
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

var exception = regexp.MustCompile(`(?i)^(?:(?:the )?(?:only )?exceptions?|except|unless|ausnahmen?|ausgenommen|sauf|excepto|excepción)\b`)

// introduced returns what a sentence with a colon at its end introduces: a few lines of code or, to a question for a list, its items.
func (p passage) introduced(to int, form form) string {
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
	case form == list && p.isItem(begin):
		_, end := p.widen(p.read.Items(begin, begin+1))
		return "\n" + p.text[begin:end]
	}
	return ""
}

package decoder

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/words"
)

// sentenceStart returns the offset of the last sentence in text. A sentence ends at a line end, and at '.', '!' or '?' before
// white space unless the word before looks like an abbreviation. The end of text does not end a sentence: "1." may become
// "1.5".
func sentenceStart(text []byte) int {
	for i := len(text) - 1; i > 0; i-- {
		if c := text[i]; c == '\n' {
			return skipSpace(text, i)
		} else if c != ' ' && c != '\t' {
			continue
		}
		j := i - 1 // over closing quotes and brackets
		for j > 0 && bytes.IndexByte([]byte(`"')]`), text[j]) >= 0 {
			j--
		}
		switch text[j] {
		case '!', '?':
			return skipSpace(text, i)
		case '.':
			if !words.Abbreviated(string(text[:j])) {
				return skipSpace(text, i)
			}
		}
	}
	return 0
}

func skipSpace(text []byte, at int) int {
	return len(text) - len(bytes.TrimLeft(text[at:], " \t\r\n"))
}

// wholeWords drops a last word that the next token may lengthen.
func wholeWords(text []byte) string {
	i := len(text)
	for i > 0 {
		r, n := utf8.DecodeLastRune(text[:i])
		if unicode.IsSpace(r) {
			break
		}
		i -= n
	}
	return strings.TrimSpace(string(text[:i]))
}

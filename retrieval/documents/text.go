package documents

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/retrieval/internal/english"
)

// parseText reads plain text: blank lines end paragraphs, list lines and lines that were broken off on purpose
// stand alone. A short first line followed by a blank one, or underlined, is the title; later ones are headings.
func parseText(_ context.Context, data []byte) (Document, error) {
	text, err := decodeText(data)
	if err != nil {
		return Document{}, err
	}
	var doc Document
	var para []string
	rest := map[int][]string{} // lines by which list items go on, by their blocks
	end := func() {
		doc.Add(Paragraph, strings.Join(para, " "))
		para = nil
	}
	lines := splitLines(text)
	wraps := wrapped(lines)
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		level, head := atxHeading(trimmed)
		switch {
		case trimmed == "", isRule(trimmed):
			if len(para) == 1 && looksLikeTitle(para[0]) && followed(lines[i:]) {
				if len(doc.Blocks) == 0 && doc.Title == "" {
					doc.Title, para = para[0], nil
				} else if i < 2 || strings.TrimSpace(lines[i-2]) == "" || isRule(trimmed) {
					doc.Add(Heading, para[0])
					para = nil
				}
			}
			end()
		case level > 0 && looksLikeTitle(trimmed), isHead(trimmed) && followed(lines[i+1:]),
			(len(para) == 0 || closed(para[len(para)-1], trimmed, wraps)) && announces(lines, i):
			end()
			if level == 0 {
				head = strings.TrimSuffix(trimmed, ":")
			}
			doc.Add(Heading, strings.TrimSuffix(head, ":"))
		case isItem(trimmed):
			end()
			doc.Add(Line, trimmed)
		case len(doc.Blocks) > 0 && len(para) == 0 && strings.HasPrefix(line, "  ") && doc.Blocks[len(doc.Blocks)-1].Kind == Line &&
			i > 0 && strings.TrimSpace(lines[i-1]) != "":
			last := len(doc.Blocks) - 1 // an item that goes on
			rest[last] = append(rest[last], trimmed)
		case isLabel(trimmed) && len(para) == 0 && !alone(lines, i):
			doc.Add(Line, trimmed)
		default:
			if len(para) > 0 && brokenOff(para[len(para)-1], trimmed, wraps) {
				end()
			}
			para = append(para, trimmed)
		}
	}
	end()
	for i, lines := range rest {
		doc.Blocks[i].Text = english.Collapse(doc.Blocks[i].Text + " " + strings.Join(lines, " "))
	}
	return doc, nil
}

// followed reports whether any line has text.
func followed(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { l = strings.TrimSpace(l); return l != "" && !isRule(l) })
}

// isHead reports whether a line announces those below it: "Kitchen:".
func isHead(line string) bool {
	name, ok := strings.CutSuffix(line, ":")
	return ok && english.CountWords(name) <= 10 && !isItem(line) && !strings.ContainsAny(name, ".:;!?")
}

// announces reports whether line i, between others, stands over the next like a heading without marks: a few words
// that make no sentence, before an item or a line that begins with a pronoun or an article. It may end in a colon, or in what it is:
// "The mill: overview".
func announces(lines []string, i int) bool {
	line, colon := strings.CutSuffix(strings.TrimSpace(lines[i]), ":")
	if i+1 >= len(lines) || english.CountWords(line) > 6 || isItem(line) || strings.ContainsAny(line, ".!?;") || !english.IsName(line) || strings.HasPrefix(line, "As ") || slices.ContainsFunc(strings.Fields(line), english.IsVerb) {
		return false
	}
	if colon {
		return true
	}
	if strings.Contains(line, ":") && !writings[line[strings.LastIndexByte(line, ' ')+1:]] {
		return false
	}
	below := strings.TrimSpace(lines[i+1])
	next, _, _ := strings.Cut(below, " ")
	return english.Leaning[strings.ToLower(next)] || next == "The" || isItem(below)
}

// writings are words for what a text is.
var writings = english.Set("overview details information guide notes history facts plan profile contact summary handbook list introduction")

// closed reports whether a line ends a paragraph or a sentence before the next.
func closed(line, next string, wrapped bool) bool {
	return brokenOff(line, next, wrapped) || strings.ContainsAny(line[len(line)-1:], ".!?")
}

// full is the least width, in bytes, at which a line of wrapped text may end.
const full = 60

// brokenOff reports whether a line ends where its writer wanted, rather than where it was full: somebody else speaks in the next, or that
// begins like a sentence, and the text is not wrapped or its first word would have fitted.
func brokenOff(line, next string, wrapped bool) bool {
	r, _ := utf8.DecodeRuneInString(next)
	word, _, _ := strings.Cut(next, " ")
	if !unicode.IsUpper(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Sc, r) {
		return english.Message.MatchString(next)
	}
	return !wrapped && !unicode.IsDigit(r) || len(line)+1+len(word) <= full || english.Message.MatchString(next)
}

// wrapped reports whether the lines were broken by a program: one goes on in the next with a small letter.
func wrapped(lines []string) bool {
	for i := 1; i < len(lines); i++ {
		r, _ := utf8.DecodeRuneInString(strings.TrimSpace(lines[i]))
		if before := strings.TrimSpace(lines[i-1]); unicode.IsLower(r) && before != "" && !strings.ContainsAny(before[len(before)-1:], ".!?:") {
			return true
		}
	}
	return false
}

// splitLines splits at any of the line ends in use.
func splitLines(s string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n\n", "\u2028", "\n", "\u2029", "\n\n").Replace(s), "\n")
}

// looksLikeTitle reports whether a line that stands alone is a title rather than a sentence.
func looksLikeTitle(line string) bool {
	return english.CountWords(line) <= 10 && !strings.ContainsAny(line[len(line)-1:], ".,;!") && !states(line)
}

// states reports whether a line says something though no full stop ends it: "Password: 3232", "The orchid is kept under the stairs".
func states(line string) bool {
	if _, value, ok := strings.Cut(line, ": "); ok && strings.ContainsAny(value, "0123456789@") {
		return isLabel(line)
	}
	fields := strings.Fields(line)
	first := strings.ToLower(fields[0])
	return (english.Articles[first] || english.Leaning[first]) && slices.ContainsFunc(fields, func(f string) bool { return english.Be[f] || f == "has" })
}

// alone reports whether line i stands between blank lines, before others.
func alone(lines []string, i int) bool {
	blank := func(at int) bool { return at < 0 || at >= len(lines) || strings.TrimSpace(lines[at]) == "" }
	return blank(i-1) && blank(i+1) && followed(lines[i+1:])
}

// isRule reports whether a line only draws.
func isRule(line string) bool {
	return len(line) >= 3 && strings.Trim(line, "-=*_~# ") == "" && strings.Count(line, line[:1]) >= 3
}

// isItem reports whether a line begins with a list marker.
func isItem(line string) bool {
	_, ok := english.CutMarker(line)
	return ok
}

// Most words of a label's two parts.
const (
	labelWords = 5
	valueWords = 12
)

// isLabel reports whether a line is a short "name: value", as in notes; such lines stand alone.
func isLabel(line string) bool {
	label, value, ok := strings.Cut(line, ": ")
	return ok && english.CountWords(label) <= labelWords && english.CountWords(value) <= valueWords && !strings.ContainsAny(label, ".!?")
}

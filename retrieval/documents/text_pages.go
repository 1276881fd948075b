package documents

import (
	"strings"

	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/margins"
	"tandem/retrieval/internal/textline"
)

// pagedLines returns the lines of a text whose pages form feeds divide, without page numbers and the headers and footers that
// return. An empty line stands between two pages, unless a sentence goes on from one to the other.
func pagedLines(text string) (out []string) {
	var pages [][]string
	var pieces [][]margins.Piece
	for page := range strings.SplitSeq(text, "\f") {
		lines := splitLines(page)
		pages, pieces = append(pages, lines), append(pieces, piecesOf(lines))
	}
	for p, repeated := range margins.Repeated(pieces) {
		var kept []string
		next := 0 // the next piece
		for _, line := range pages[p] {
			empty := english.Collapse(line) == ""
			if empty || !repeated[next] {
				kept = append(kept, line)
			}
			if !empty {
				next++
			}
		}
		kept = trimmedLines(kept)
		if len(out) > 0 && len(kept) > 0 && !goesOver(strings.TrimSpace(out[len(out)-1]), strings.TrimSpace(kept[0])) {
			out = append(out, "")
		}
		out = append(out, kept...)
	}
	return out
}

// trimmedLines returns lines without the empty ones before and after the others.
func trimmedLines(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// linePoints is the height of a line in points.
const linePoints = 12

// piecesOf returns the lines of a page that have text. The last two have their places from the bottom of the page.
func piecesOf(lines []string) (out []margins.Piece) {
	for _, line := range lines {
		if line = english.Collapse(line); line != "" {
			out = append(out, margins.Piece{Y: float64(len(out) * linePoints), Text: line})
		}
	}
	for i := max(0, len(out)-2); i < len(out); i++ {
		out[i].Y = float64((maxLines + 2 - len(out) + i) * linePoints)
	}
	return out
}

// goesOver reports whether the sentence in the last line of a page goes on in the first line of the next.
func goesOver(last, first string) bool {
	return !textline.EndsSentence(last) && (textline.BeginsLower(first) || textline.Binds(last) || textline.EndsDivided(last))
}

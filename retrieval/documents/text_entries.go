package documents

import (
	"strings"
	"unicode/utf8"

	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// This file finds the entries of bibliographies and the like: the first line of each stands further left than the rest.

// Bounds of hanging indents: in characters, and the least length of a line that goes on in the next.
const (
	maxHang   = 12
	minHanged = 40
)

// hang is where the first line of an entry and its other lines begin.
type hang struct{ first, rest int }

// hangCount counts the entries with a hang.
type hangCount struct {
	width     int         // of their longest line that goes on
	all, full int         // entries, and those whose lines are full
	entries   map[int]int // the lines of these, by the first
}

// hangingEntries returns how many lines each entry with a hanging indent takes, by its first line. All its lines are full but the
// last, and so are those of most entries like it: there are two at least. Entries of one line between them count, too.
func hangingEntries(lines []string, justified map[int]bool) map[int]int {
	counts := map[hang]*hangCount{}
	each := func(do func(i, n int, c *hangCount)) {
		for i := range lines {
			if h, n := entryAt(lines, i, justified); n > 0 {
				if counts[h] == nil {
					counts[h] = &hangCount{entries: map[int]int{}}
				}
				do(i, n, counts[h])
			}
		}
	}
	each(func(i, n int, c *hangCount) {
		for _, line := range lines[i : i+n-1] {
			c.width = max(c.width, utf8.RuneCountInString(strings.TrimSpace(line)))
		}
	})
	each(func(i, n int, c *hangCount) {
		c.all++
		for at := i; at < i+n-1; at++ {
			if fits(strings.TrimSpace(lines[at]), strings.TrimSpace(lines[at+1]), c.width*5/6) {
				return
			}
		}
		c.full++
		c.entries[i] = n
	})
	out := map[int]int{}
	for h, c := range counts {
		if c.width < minHanged || c.full < 2 || 4*c.full < 3*c.all {
			continue
		}
		for i, n := range c.entries {
			out[i] = n
			for i += n; c.entries[i] == 0 && isShortEntry(lines, i, h.first, c.width*5/6); i++ {
				out[i] = 1
			}
		}
	}
	return out
}

// entryAt returns how the entry hangs that may begin with line i, and its number of lines; 0 if none does.
func entryAt(lines []string, i int, justified map[int]bool) (h hang, n int) {
	first := strings.TrimSpace(lines[i])
	if first == "" || i+1 == len(lines) {
		return h, 0
	}
	h = hang{indentation(lines[i]), indentation(lines[i+1])}
	if h.rest < h.first+2 || h.rest > h.first+maxHang || strings.HasSuffix(first, ":") || textline.IsItem(first) || textline.IsLabel(english.Collapse(first)) {
		return h, 0
	}
	for n = 1; i+n < len(lines) && indentation(lines[i+n]) > h.first && strings.TrimSpace(lines[i+n]) != ""; n++ {
		line := strings.TrimSpace(lines[i+n])
		if indentation(lines[i+n]) != h.rest || textline.IsItem(line) || hasColumns(line) && !justified[i+n] {
			return h, 0
		}
	}
	if n == 1 || hasColumns(first) && !justified[i] {
		return h, 0
	}
	return h, n
}

// isShortEntry reports whether line i, below an entry whose first line has that indentation, is an entry of one line.
func isShortEntry(lines []string, i, indent, width int) bool {
	if i >= len(lines) || strings.TrimSpace(lines[i]) == "" || indentation(lines[i]) != indent {
		return false
	}
	line := strings.TrimSpace(lines[i])
	if textline.IsItem(line) || textline.LooksLikeTitle(line) || hasColumns(line) {
		return false
	}
	return i+1 == len(lines) || strings.TrimSpace(lines[i+1]) == "" || textline.EndsSentence(line) || fits(line, strings.TrimSpace(lines[i+1]), width)
}

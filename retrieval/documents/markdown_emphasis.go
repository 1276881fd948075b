package documents

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// emphasis finds the marks around emphasised words, as CommonMark does: one that closes another touches a word on its other side.
// Marks that close nothing, and those that nothing closes, are text.
type emphasis struct {
	runs []run          // that may open, and have not been passed by a pair around them
	drop []span         // what is no text, of the text so far
	last map[byte][]int // the indexes in runs, by sign
}

// run is one mark, or several of the same sign next to each other.
type run struct {
	sign byte
	at   int // offset in the text so far, of the marks that are left
	n    int
}

// mark notes a run of n marks at an offset in s, which is written at an offset in the text.
func (e *emphasis) mark(s string, i, n, at int) {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	blankBefore, blankAfter := i == 0 || unicode.IsSpace(before), i+n == len(s) || unicode.IsSpace(after)
	opens := !blankAfter && (isWord(after) || !isWord(before))
	closes := !blankBefore && (isWord(before) || !isWord(after))
	r := run{s[i], at, n}
	switch r.sign {
	case '*': // between letters it stands for a product, or for all genders
		if n == 1 && isLatin(before) && isLatin(after) {
			return
		}
	case '=': // two around what is highlighted
		opens, closes = opens && n == 2 && !isWord(before), closes && n == 2 && !isWord(after)
	case '_': // inside a word it is part of a name
		opens, closes = opens && (blankBefore || !isWord(before)), closes && (blankAfter || !isWord(after))
	}
	if closes {
		e.close(&r)
	}
	if opens && r.n > 0 {
		if e.last == nil {
			e.last = map[byte][]int{}
		}
		e.last[r.sign] = append(e.last[r.sign], len(e.runs))
		e.runs = append(e.runs, r)
	}
}

// close matches the marks of a run with those that opened before it.
func (e *emphasis) close(r *run) {
	for r.n > 0 && len(e.last[r.sign]) > 0 {
		open := e.last[r.sign][len(e.last[r.sign])-1]
		e.cut(open + 1)
		o := &e.runs[open]
		n := min(o.n, r.n)
		e.drop = append(e.drop, span{o.at + o.n - n, o.at + o.n}, span{r.at, r.at + n})
		o.n -= n
		r.at += n
		if r.n -= n; o.n == 0 {
			e.cut(open)
		}
	}
}

// cut forgets all runs from an index on.
func (e *emphasis) cut(n int) {
	for _, r := range e.runs[n:] {
		e.last[r.sign] = e.last[r.sign][:len(e.last[r.sign])-1]
	}
	e.runs = e.runs[:n]
}

// without returns the text without the marks.
func (e *emphasis) without(text string) string {
	if len(e.drop) == 0 {
		return text
	}
	slices.SortFunc(e.drop, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, d := range e.drop {
		b.WriteString(text[at:d.from])
		at = d.to
	}
	return b.String() + text[at:]
}

// isLatin reports whether a character is a Latin letter or a figure.
func isLatin(r rune) bool { return unicode.Is(unicode.Latin, r) || unicode.IsDigit(r) }

// isWord reports whether a character is no white space and no punctuation.
func isWord(r rune) bool {
	return r != utf8.RuneError && !unicode.IsSpace(r) && !unicode.IsPunct(r) && !unicode.IsSymbol(r)
}

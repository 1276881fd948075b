package span

import (
	"hash/crc32"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a word's first rune says.
type kind uint8

const (
	letter kind = iota
	number
	symbol
)

// isSpace reports whether a rune separates words.
func isSpace(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r == ' ', r == 0x85, r == 0xa0, r == 0x1680, r >= 0x2000 && r <= 0x200a,
		r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000:
		return true
	}
	return false
}

// alone reports whether a rune is a word by itself: kana and ideographs.
func alone(r rune) bool {
	return r >= 0x3040 && r <= 0x30ff || r >= 0x3400 && r <= 0x4dbf || r >= 0x4e00 && r <= 0x9fff ||
		r >= 0xf900 && r <= 0xfaff || r >= 0x20000 && r <= 0x3ffff
}

func isLetter(r rune) bool { return unicode.In(r, unicode.L, unicode.M) }
func isDigit(r rune) bool  { return r >= '0' && r <= '9' || r > 0x7f && unicode.Is(unicode.Nd, r) }
func joins(r rune) bool    { return isLetter(r) && !alone(r) }

// scanner walks over the words of a text.
type scanner struct {
	text string
	at   int     // the next byte
	last [2]rune // the runes before at, the nearest last
}

// peek returns the rune at byte i and the byte after it, or -1 at the end.
func (s *scanner) peek(i int) (rune, int) {
	if i >= len(s.text) {
		return -1, i
	}
	r, n := utf8.DecodeRuneInString(s.text[i:])
	return r, i + n
}

// while returns the first byte from i on whose rune does not fit.
func (s *scanner) while(i int, fits func(rune) bool) int {
	for {
		r, next := s.peek(i)
		if r < 0 || !fits(r) {
			return i
		}
		i = next
	}
}

// next returns the byte range of the next word; ok is false at the end.
func (s *scanner) next() (begin, end int, ok bool) {
	for {
		r, after := s.peek(s.at)
		if r < 0 {
			return 0, 0, false
		}
		begin = s.at
		switch {
		case isSpace(r):
			s.pass(after)
			continue
		case joins(r):
			end = s.while(after, joins)
		case isDigit(r):
			end = s.number(after)
		default:
			end = after
		}
		s.pass(end)
		return begin, end, true
	}
}

// pass moves on to byte i.
func (s *scanner) pass(i int) {
	for _, r := range s.text[s.at:i] {
		s.last = [2]rune{s.last[1], r}
	}
	s.at = i
}

// number returns the end of the number whose first digit ends at i. Points and colons stay between digits, so does a
// comma before three digits, and a last one before one or two: a decimal comma.
func (s *scanner) number(i int) int {
	commas := !(isDigit(s.last[0]) && s.last[1] == ',')
	i = s.while(i, isDigit)
	for {
		r, after := s.peek(i)
		end := s.while(after, isDigit)
		digits := utf8.RuneCountInString(s.text[after:end])
		switch {
		case (r == '.' || r == ':') && digits > 0:
			i = end
			continue
		case r == ',' && commas && digits == 3:
			i = end
			continue
		case r == ',' && commas && (digits == 1 || digits == 2) && !s.more(end):
			return end
		}
		return i
	}
}

// more reports whether a number goes on at byte i: after a point, a comma or a colon.
func (s *scanner) more(i int) bool {
	r, after := s.peek(i)
	if r == '.' || r == ',' || r == ':' {
		r, _ = s.peek(after)
	}
	return r >= 0 && isDigit(r)
}

// lower returns a word with each rune lower-cased by itself.
func lower(word string) string { return strings.Map(unicode.ToLower, word) }

// letters reports whether a word consists of letters only, without marks.
func letters(word string) bool {
	for _, r := range word {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return word != ""
}

// first returns the first rune of a word.
func first(word string) rune {
	r, _ := utf8.DecodeRuneInString(word)
	return r
}

func kindOf(word string) kind {
	switch r := first(word); {
	case isLetter(r):
		return letter
	case isDigit(r):
		return number
	}
	return symbol
}

// numParts is how many hashed parts a word has.
const numParts = 6

// parts returns the buckets of a lower-case word's prefixes and suffixes, or of a number's shape.
func parts(low string, buckets uint32) (out [numParts]int32) {
	w := []rune(low)
	head := func(w []rune, n int) string { return string(w[:min(n, len(w))]) }
	tail := func(w []rune, n int) string { return string(w[max(0, len(w)-n):]) }
	var names [numParts]string
	if isDigit(w[0]) {
		shape := make([]rune, len(w))
		for i, r := range w {
			if isDigit(r) {
				r = '0'
			}
			shape[i] = r
		}
		begin := head(shape, 3)
		if len(w) == 4 {
			begin = head(w, 2)
		}
		names = [numParts]string{"#s" + string(shape), "#n" + strconv.Itoa(len(w)), "#a" + head(w, 1), "#b" + head(w, 2),
			"#c" + tail(w, 2), "#d" + begin}
	} else {
		names = [numParts]string{"<" + head(w, 3), "<" + head(w, 4), "<" + head(w, 5), tail(w, 2) + ">", tail(w, 3) + ">", tail(w, 4) + ">"}
	}
	for i, name := range names {
		out[i] = int32(crc32.ChecksumIEEE([]byte(name)) % buckets)
	}
	return out
}

// A lexicon is what a file says about words.
type lexicon struct {
	row           map[string]int32 // of a known word, from 1
	idf           []float32        // of known words
	stop          map[string]bool
	abbreviations map[string]bool
	irregular     map[string]string
	suffixes      []string
	fold          map[rune]rune
	buckets       uint32
	relations     relations
	abroad        func() map[string][]string // see formsAbroad
}

// weight returns how rare a word is, from 0 to 1.
func (l *lexicon) weight(low string) float32 {
	if row := l.row[low]; row > 0 {
		return l.idf[row-1]
	}
	return 1
}

// stem returns what a word shares with its inflections.
func (l *lexicon) stem(low string) string {
	w := strings.Map(func(r rune) rune {
		if f, ok := l.fold[r]; ok {
			return f
		}
		return r
	}, low)
	if base, ok := l.irregular[w]; ok {
		w = base
	}
	if !letters(w) {
		return w
	}
	for range 2 {
		for _, s := range l.suffixes {
			if strings.HasSuffix(w, s) && utf8.RuneCountInString(w)-utf8.RuneCountInString(s) >= 3 {
				w = strings.TrimSuffix(w, s)
				break
			}
		}
	}
	if r := []rune(w); len(r) > 3 && r[len(r)-1] == r[len(r)-2] {
		w = string(r[:len(r)-1])
	}
	return w
}

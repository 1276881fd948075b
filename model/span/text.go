package span

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sizes of the features that the network takes.
const (
	baseFeatures  = 32
	matchFeatures = 32
)

// A word of a text, with what does not depend on any other text.
type word struct {
	text, low, stem string
	read            string // what the network takes it for: low, or an English word for one of another language
	same            string // what makes it the same as a word of another language: low, or what the whole word is in English
	own             string // the stem of low; stem is that of same
	head            string // among the related words; "" for none
	begin, end      int    // bytes
	gap             string
	kind            kind
	stop            bool
	idf             float32
	line, sentence  int

	// Ranges of words that the word is seen with, as numbers of text.pieces; -1 for none.
	heading, keyed, header int

	base [baseFeatures]float32
}

// content reports whether a word says what a text is about.
func (w *word) content() bool { return w.kind != symbol && !w.stop }

// text is a question or a passage cut into words, lines and sentences.
type text struct {
	words    []word
	language Language
	pieces   [][2]int // ranges of words
	title    int      // the piece that is the first line, if that is a heading; else -1
}

// line is a line of a text: words a to b.
type line struct {
	a, b          int
	blank         bool // the first, or after an empty line
	item          int  // how many words its list mark has
	key           int  // the word that ends its key, such as ':'; 0 for none
	heading, rule bool
	table         int // the number of its table's first line, -1 outside tables
	cells         []int
}

// analyse splits a passage into words, at most maxWords of them, and reads those of another language as English ones.
func (l *lexicon) analyse(s string, maxWords int) *text {
	t := l.split(s, maxWords)
	if t.language = l.languageOf(t.words); t.language != English {
		for i := range t.words {
			l.translate(t.words, i, t.language)
		}
	}
	t.laidOut(l)
	return t
}

// analyseIn is analyse for a text in a known language. It leaves stop words alone.
func (l *lexicon) analyseIn(s string, maxWords int, language Language) *text {
	t := l.split(s, maxWords)
	if t.language = language; language != English {
		for i := range t.words {
			if !t.words[i].stop {
				l.translate(t.words, i, language)
			}
		}
	}
	t.laidOut(l)
	return t
}

// split splits a text into words, at most maxWords of them.
func (l *lexicon) split(s string, maxWords int) *text {
	t := &text{title: -1}
	scan, end := scanner{text: s}, 0
	for len(t.words) < maxWords {
		a, b, ok := scan.next()
		if !ok {
			break
		}
		w := l.word(s[a:b])
		w.begin, w.end, w.gap = a, b, s[end:a]
		if n := len(t.words); n > 0 {
			w.line = t.words[n-1].line
			if strings.Contains(w.gap, "\n") {
				w.line++
			}
		}
		end = b
		t.words = append(t.words, w)
	}
	return t
}

// laidOut says where the words stand: in which sentence, line, table, and below which heading.
func (t *text) laidOut(l *lexicon) {
	t.sentences(l)
	lines := t.lines()
	t.tables(lines)
	t.headings(lines)
	t.layout(lines)
	if t.language == German {
		t.lowered()
	}
}

// word describes a word by itself.
func (l *lexicon) word(s string) word {
	s = strings.ToValidUTF8(s, "\uFFFD")
	w := word{text: s, low: lower(s), kind: kindOf(s), heading: -1, keyed: -1, header: -1}
	w.read, w.same = w.low, w.low
	w.own, w.stop, w.idf = l.stem(w.low), l.stop[w.low], l.weight(w.low)
	w.stem = w.own
	if w.content() {
		w.head = l.head(w.low)
	}
	n := utf8.RuneCountInString(s)
	flags := [...]bool{
		w.kind == letter && first(s) != first(w.low),
		w.kind == letter && n > 1 && s != w.low && capitals(s),
		w.kind == number,
		w.kind == symbol,
		w.stop,
		n == 4 && strings.IndexFunc(s, func(r rune) bool { return !isDigit(r) }) < 0,
	}
	w.base[0] = w.idf
	for i, f := range flags {
		w.base[1+i] = one(f)
	}
	return w
}

// capitals reports whether upper-casing changes nothing.
func capitals(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return unicode.ToUpper(r) != r || r == 'ß' }) < 0
}

func one(b bool) float32 {
	if b {
		return 1
	}
	return 0
}

// among reports whether a word is one of the runes in set.
func among(w, set string) bool {
	r, n := utf8.DecodeRuneInString(w)
	return n == len(w) && strings.ContainsRune(set, r)
}

// sentences numbers the words' sentences.
func (t *text) sentences(l *lexicon) {
	for i := 1; i < len(t.words); i++ {
		w := &t.words[i]
		w.sentence = t.words[i-1].sentence
		if w.line != t.words[i-1].line || w.gap != "" && t.ends(l, i) {
			w.sentence++
		}
	}
}

// maxShort is the length in runes of the longest word that a full stop before a number abbreviates: "Yalı Cad. 48".
const maxShort = 4

// ends reports whether a sentence ends before word i of a line.
func (t *text) ends(l *lexicon, i int) bool {
	j := i - 1
	for j > 0 && among(t.words[j].text, `"')]”’`) {
		j--
	}
	r := first(t.words[i].text)
	switch t.words[j].text {
	case "!", "?":
		return !unicode.IsLower(r)
	case ".":
		if !unicode.IsUpper(r) && !isDigit(r) && !strings.ContainsRune(`"'([“*`, r) {
			return false
		}
		if j > 0 && t.language == German && ordinal(t.words[j-1].text) {
			return false
		}
		if j == 0 || !unicode.IsLetter(first(t.words[j-1].text)) {
			return true
		}
		before := &t.words[j-1]
		n := utf8.RuneCountInString(before.text)
		if n <= maxShort && isDigit(r) && unicode.IsUpper(first(before.text)) && j > 1 && t.words[j-2].sentence == before.sentence {
			return false
		}
		return !l.abbreviations[before.low] && n > 1
	}
	return false
}

// ordinal reports whether a word and a full stop are an ordinal number in German: "3. Juli", "2. Stock".
func ordinal(word string) bool { return len(word) <= 2 && isDigits(word) }

// lines returns the lines of a text, without their tables and headings.
func (t *text) lines() (out []line) {
	for a, n := 0, len(t.words); a < n; {
		b := a + 1
		for b < n && t.words[b].line == t.words[a].line {
			b++
		}
		l := line{a: a, b: b, table: -1, blank: a == 0 || strings.Count(t.words[a].gap, "\n") > 1}
		l.item = mark(t.words[a:b])
		l.key = t.key(&l)
		l.rule = !slices.ContainsFunc(t.words[a:b], func(w word) bool { return !among(w.text, "-|:+=_*~") })
		out = append(out, l)
		a = b
	}
	return out
}

// mark returns how many words the list mark of a line has: "-", "1.", "- [x]".
func mark(w []word) int {
	switch {
	case len(w) > 1 && among(w[0].text, "-*+•–·‣◦") && w[1].gap != "":
		if len(w) > 4 && w[1].text == "[" {
			for i := 2; i <= 3; i++ {
				if w[i].text == "]" {
					return 1 + i
				}
			}
		}
		return 1
	case len(w) > 2 && isDigits(w[0].text) && among(w[1].text, ".)") && w[1].gap == "" && w[2].gap != "":
		return 2
	}
	return 0
}

func isDigits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !isDigit(r) }) < 0
}

// key returns the word that ends a line's key: ':', '=', a dash between spaces, or dots; 0 for none.
func (t *text) key(l *line) int {
	for i := l.a + l.item + 1; i < min(l.b-1, l.a+l.item+8); i++ {
		w, next := &t.words[i], &t.words[i+1]
		switch {
		case w.text == ":" && !(next.text == "/" && next.gap == ""),
			w.text == "=",
			among(w.text, "-–—") && w.gap != "" && next.gap != "",
			w.text == "." && next.text == ".":
			return i
		case among(w.text, ".!?;,|"):
			return 0
		}
	}
	return 0
}

// cuts returns the words of a line that begin a new cell; for the separator ' ' those after a tab or two spaces.
func (t *text) cuts(l *line, separator string) (out []int) {
	for i := l.a; i < l.b; i++ {
		w := &t.words[i]
		if separator == " " {
			if i > l.a && (strings.Contains(w.gap, "\t") || strings.Contains(w.gap, "  ")) {
				out = append(out, i)
			}
		} else if w.text == separator {
			out = append(out, i)
		}
	}
	return out
}

// tables finds runs of at least two lines with the same number of separators. Lines that only draw a rule belong to them.
func (t *text) tables(lines []line) {
	for _, s := range []struct {
		separator string
		least     int
	}{{"|", 1}, {" ", 1}, {";", 1}, {",", 2}} {
		for k := 0; k < len(lines); {
			if lines[k].table >= 0 || lines[k].rule {
				k++
				continue
			}
			count := len(t.cuts(&lines[k], s.separator))
			e, real := k+1, 1
			for ; e < len(lines) && lines[e].table < 0 && !lines[e].blank; e++ {
				if !lines[e].rule {
					if len(t.cuts(&lines[e], s.separator)) != count {
						break
					}
					real++
				}
			}
			if count < s.least || real < 2 {
				k++
				continue
			}
			for i := k; i < e; i++ {
				lines[i].table, lines[i].cells = k, cells(&lines[i], t.cuts(&lines[i], s.separator))
			}
			k = e
		}
	}
}

// cells returns the number of each word's cell: how many of the cuts stand at or before it.
func cells(l *line, cuts []int) []int {
	out := make([]int, l.b-l.a)
	for i := range out {
		for len(cuts) > 0 && cuts[0] <= l.a+i {
			cuts = cuts[1:]
			out[i]++
		}
		if i > 0 {
			out[i] += out[i-1]
		}
	}
	return out
}

// headings finds the lines that say what follows. The last line never does.
func (t *text) headings(lines []line) {
	for k := range max(0, len(lines)-1) {
		l := &lines[k]
		n, last := l.b-l.a, t.words[l.b-1].text
		switch {
		case l.table >= 0:
		case t.words[l.a].text == "#",
			l.item == 0 && last == ":" && n <= 12,
			l.item == 0 && l.blank && l.key == 0 && n <= 10 && !among(last, ".!?;,"):
			l.heading = true
		}
	}
}

// layout sets the features that the lines give to their words, and the ranges that words are seen with.
func (t *text) layout(lines []line) {
	for i := range t.words {
		w := &t.words[i]
		w.base[7] = one(i == 0 || w.sentence != t.words[i-1].sentence)
		w.base[8] = one(i == 0 || w.line != t.words[i-1].line)
	}
	heading := -1
	top := map[[2]int]int{} // the piece that heads a table's column, by the table and the cell
	for k := range lines {
		l := &lines[k]
		if l.heading {
			heading = t.piece(l.a, l.b)
			if k == 0 {
				t.title = heading
			}
		}
		keyed := -1
		if l.key > 0 {
			keyed = t.piece(l.a+l.item, l.key)
		}
		for i := l.a; i < l.b; i++ {
			w := &t.words[i]
			w.keyed = keyed
			if !l.heading {
				w.heading = heading
			}
			w.base[9], w.base[10], w.base[11] = one(l.heading), one(l.item > 0), one(l.blank)
			w.base[12], w.base[13], w.base[14] = one(l.table >= 0), float32(min(k, 8))/8, one(k == 0)
			w.base[15] = one(l.key > 0 && i >= l.a+l.item && i < l.key)
			w.base[16] = one(l.key > 0 && i > l.key)
		}
		if l.table >= 0 {
			t.columns(l, k, top)
		}
	}
}

// columns sets what a table's line k gives to its words.
func (t *text) columns(l *line, k int, top map[[2]int]int) {
	for a := l.a; a < l.b; {
		cell, b := l.cells[a-l.a], a+1
		for b < l.b && l.cells[b-l.a] == cell {
			b++
		}
		at := [2]int{l.table, cell}
		if l.table == k {
			top[at] = t.piece(a, b)
		}
		for i := a; i < b; i++ {
			w := &t.words[i]
			w.base[17+min(cell, 5)] = 1
			w.base[23] = one(l.table == k)
			if p, ok := top[at]; ok && l.table != k && !l.rule {
				w.header = p
			}
		}
		a = b
	}
}

// piece returns the number of a range of words.
func (t *text) piece(a, b int) int {
	if i := slices.Index(t.pieces, [2]int{a, b}); i >= 0 {
		return i
	}
	t.pieces = append(t.pieces, [2]int{a, b})
	return len(t.pieces) - 1
}

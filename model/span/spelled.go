package span

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/spelling"
)

// Lengths in characters of what may be misspelt.
const (
	minTypo  = 4
	twoTypos = 8 // of a word that may be misspelt twice
	minName  = 6
	minFree  = 5 // of a word that no passage has
)

// Of two words at the same distance, the more frequent one is chosen if its frequency, in the passages or in the
// language, is higher by this factor. The rank of a word in the vocabulary stands for its rarity (Zipf's law).
const (
	oftener = 2
	rarer   = 4
)

// Spelled returns a question (see ReadIn) with its misspelt words as the passages spell them, or else as the language does, and
// how many it changed. A word is misspelt if neither the reader's vocabulary, nor the lists of these languages, nor a passage
// has it. The word that is meant begins with the same letter and differs by one letter that was left out, put in, replaced or
// swapped with the next (Damerau, "A technique for computer detection and correction of spelling errors", 1964); words of eight
// letters and more may differ by two. If several words are as near and none is clearly more frequent, the question keeps its
// own. For names, a replaced letter is not corrected, because it makes another name: only a letter that was left out, put in or
// swapped, and never the last.
//
// The result depends on the question and the passages only.
func (r *Reader) Spelled(t Language, question string, ps []*Passage) (spelled string, changed int) {
	q := r.lexicon.analyseIn(question, r.maxQuestion, t)
	of := []Language{t}
	for _, p := range ps {
		of = append(of, p.Language())
	}
	byPassages, byLanguage := r.lexicon.corrections(q, holdWords(ps), slices.Compact(slices.Sorted(slices.Values(of))))
	var out strings.Builder
	at := 0
	for i := range q.words {
		w := &q.words[i]
		low := cmp.Or(byPassages[i], byLanguage[i])
		if low == "" {
			continue
		}
		out.WriteString(question[at:w.begin])
		out.WriteString(capitalised(low, unicode.IsUpper(first(w.text))))
		at = w.end
		changed++
	}
	return out.String() + question[at:], changed
}

// corrections returns, for each word of a question, its correction by a word of the passages and its correction by a word of
// the English vocabulary, "" for none. There are no corrections by the vocabulary if the question is in another language.
func (l *lexicon) corrections(q *text, held holds, of []Language) (byPassages, byLanguage []string) {
	byPassages, byLanguage = make([]string, len(q.words)), make([]string, len(q.words))
	known, all := 0, 0
	for i := range q.words {
		w := &q.words[i]
		if !letters(w.low) {
			continue
		}
		all++
		if l.row[w.low] > 0 || held.has(w.low) || foreign(w.low, of) {
			known += int(one(l.row[w.low] > 0))
			continue
		}
		named := i > 0 && unicode.IsUpper(first(w.text))
		byPassages[i] = l.meant(w.low, named, held)
		if !named {
			byLanguage[i] = l.usual(w.low)
		}
		if byLanguage[i] != "" {
			known++
		}
	}
	if 3*known < 2*all {
		clear(byLanguage)
	}
	return byPassages, byLanguage
}

// capitalised returns a lower-case word, with a capital if that is asked for.
func capitalised(low string, capital bool) string {
	if !capital {
		return low
	}
	r, n := utf8.DecodeRuneInString(low)
	return string(unicode.ToUpper(r)) + low[n:]
}

// holds counts the words of passages, in lower case. A word in -s also counts without it.
type holds struct {
	count map[string]int
	words []string // by their first place
}

func holdWords(ps []*Passage) holds {
	h := holds{count: map[string]int{}}
	add := func(low string) {
		if h.count[low] == 0 {
			h.words = append(h.words, low)
		}
		h.count[low]++
	}
	for _, p := range ps {
		for i := range p.text.words {
			w := &p.text.words[i]
			if !letters(w.low) || w.stop {
				continue
			}
			add(w.low)
			if one := strings.TrimSuffix(w.low, "s"); one != w.low && len(one) >= minTypo {
				add(one)
			}
		}
	}
	return h
}

// has reports whether a passage has a word, or has it without -s.
func (h *holds) has(low string) bool {
	return h.count[low] > 0 || h.count[strings.TrimSuffix(low, "s")] > 0
}

// meant returns the word of the passages that a misspelt one stands for, or nothing.
func (l *lexicon) meant(low string, named bool, held holds) string {
	asked := []rune(low)
	var near [3][]string // by the distance
	for _, word := range held.words {
		if d, ok := slip(asked, []rune(word), named || l.row[word] == 0); ok {
			near[d] = append(near[d], word)
		}
	}
	words := near[1]
	if len(words) == 0 {
		words = near[2]
	}
	if w := leading(words, func(a, b string) bool { return held.count[a] >= oftener*held.count[b] }); w != "" {
		return w
	}
	return leading(words, l.usualer)
}

// usualer reports whether a word is clearly more frequent in the language than another.
func (l *lexicon) usualer(a, b string) bool {
	x, y := l.row[a], l.row[b]
	return x > 0 && (y == 0 || y >= rarer*x)
}

// usual returns the word of the language that a misspelt one stands for, or nothing.
func (l *lexicon) usual(low string) string {
	asked := []rune(low)
	if len(asked) < minFree {
		return ""
	}
	var near [3][]string
	for word := range l.row {
		if len(word)-len(low) > 2*utf8.UTFMax || len(low)-len(word) > 2*utf8.UTFMax || !letters(word) {
			continue
		}
		if d, ok := slip(asked, []rune(word), false); ok {
			near[d] = append(near[d], word)
		}
	}
	if len(near[1]) > 0 {
		return leading(near[1], l.usualer)
	}
	return leading(near[2], l.usualer)
}

// leading returns the word that leads all others, or nothing.
func leading(words []string, leads func(a, b string) bool) string {
	for _, a := range words {
		if !slices.ContainsFunc(words, func(b string) bool { return a != b && !leads(a, b) }) {
			return a
		}
	}
	return ""
}

// slip returns the distance of two different words, and whether one may be the other misspelt. name tells that they are
// names.
func slip(a, b []rune, name bool) (int, bool) {
	least, most := minTypo, 1
	if name {
		least = minName
	} else if len(a) >= twoTypos {
		most = 2
	}
	if len(a) < least || len(b) < minTypo || len(a)-len(b) > most || len(b)-len(a) > most {
		return 0, false
	}
	if swapped := a[0] == b[1] && a[1] == b[0]; a[0] != b[0] && !swapped {
		return 0, false
	}
	d := spelling.Distance(a, b, most)
	if d < 1 || d > most {
		return d, false
	}
	return d, !name || a[len(a)-1] == b[len(b)-1] && !replaced(a, b)
}

// replaced reports whether two words of distance 1 differ in a letter at the same place.
func replaced(a, b []rune) bool {
	if len(a) != len(b) {
		return false
	}
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n == 1
}

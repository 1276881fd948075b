package rewrite

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/model/span"
)

// Log odds that a word is right as it stands, without context, against its rivals.
const (
	known      = 4.0  // a word of the vocabulary
	unknown    = -4.0 // another one, which is not a name
	wrong      = -8.0 // one that is never right
	nameLike   = 2.0  // another one with a capital
	initial    = 0.0  // another one with a capital, at the beginning of the sentence
	endless    = -3.0 // a sentence without a mark at its end
	small      = -4.0 // a sentence that begins with a small letter
	doubled    = -2.0 // the same word twice
	suspicious = -4.0 // a word that is probably wrong between its neighbours
	article    = -4.0 // a before a vowel, or an before a consonant
	listed     = 2.0  // what a misspelling of the list stands for
	strange    = -4.0 // another word that is seldom written for this one
	ending     = -1.0 // a verb's other form, which is often a noun, too
)

// Words near an unknown one: how many, and how far away by its length.
const (
	nearest = 8
	twoOff  = 6
)

// rare is the rank from which a known word may be a misspelling of a word that is at least oftener times as frequent.
const (
	rare    = 15000
	oftener = 8
)

// slotsOf lists the ways to write each word of a sentence.
func slotsOf(sentence string, v *span.Vocabulary) []slot {
	var list []slot
	pieces := split(sentence)
	for i := 0; i < len(pieces); i++ {
		p := pieces[i]
		before := neighbour(pieces, i, -1)
		if i+1 < len(pieces) && p.after == "" && pieces[i+1].before == "" {
			if ways := paired(p, pieces[i+1]); ways != nil {
				list = append(list, slot{p.space, ways})
				i++
				continue
			}
		}
		of := spaced(ways(p, i == 0, before, v), p, v)
		for k, w := range of {
			if suspect(neighbour(pieces, i, -2), before, strings.ToLower(strings.Trim(w.Text, marks)), neighbour(pieces, i, 1)) {
				of[k].Prior = min(w.Prior, 0) + suspicious
			}
		}
		if low := strings.ToLower(p.core); (low == "a" || low == "an") && i+1 < len(pieces) && p.after == "" {
			of = articles(p, pieces[i+1].core)
		}
		list = append(list, slot{p.space, ended(of, i+1 == len(pieces) && i > 1)})
	}
	return list
}

// foreign reports whether a sentence is in another language than the vocabulary: fewer than half of five words or more
// are known, or its articles and the like are of another one.
func foreign(sentence string, v *span.Vocabulary) bool {
	all, there := 0, 0
	var words []string
	for _, p := range split(sentence) {
		if low := strings.ToLower(p.core); letters(low) {
			words = append(words, low)
			all++
			if v.Rank(low) > 0 {
				there++
			}
		}
	}
	return all >= minWords && 2*there < all || v.Foreign(words)
}

// minWords is the smallest number of words by which foreign judges a sentence's language.
const minWords = 5

// neighbour returns the word n pieces from the i-th, in lower case, or "" if there is none, or a mark stands between.
func neighbour(list []piece, i, n int) string {
	if i+n < 0 || i+n >= len(list) {
		return ""
	}
	for k := min(i, i+n); k < max(i, i+n); k++ {
		if list[k].after != "" || list[k+1].before != "" {
			return ""
		}
	}
	return strings.ToLower(list[i+n].core)
}

// marks are what may stand around a word.
const marks = ".,;:!?\"()“”‘’…"

// piece is what stands between white space: a word with the marks around it.
type piece struct{ space, before, core, after string }

func (p piece) text() string { return p.before + p.core + p.after }

func split(text string) (list []piece) {
	for rest := text; ; {
		body := strings.TrimLeftFunc(rest, unicode.IsSpace)
		if body == "" {
			return list
		}
		space := rest[:len(rest)-len(body)]
		end := strings.IndexFunc(body, unicode.IsSpace)
		if end < 0 {
			end = len(body)
		}
		word := strings.ReplaceAll(body[:end], "’", "'")
		core := strings.TrimLeftFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		before := word[:len(word)-len(core)]
		trimmed := strings.TrimRightFunc(core, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		list = append(list, piece{space, before, trimmed, core[len(trimmed):]})
		rest = body[end:]
	}
}

// paired returns the ways to write two words that belong together, or nil.
func paired(a, b piece) []way {
	low := strings.ToLower(a.core + " " + b.core)
	now := a.text() + b.space + b.text()
	switch {
	case a.core == "" || b.core == "":
	case strings.EqualFold(a.core, b.core) && letters(a.core):
		if low == "had had" || low == "that that" {
			return nil
		}
		return []way{{now, doubled}, {a.before + a.core + b.after, 0}}
	case strings.EqualFold(a.core, "more") && comparative[strings.ToLower(b.core)]:
		return []way{{now, doubled}, {like(a.core, b.core) + b.after, 0}}
	case pairs[low] != nil:
		ways := []way{{now, 0}}
		for _, w := range pairs[low] {
			ways = append(ways, way{a.before + like(a.core, w) + b.after, 0})
		}
		return ways
	}
	return nil
}

// ways returns the ways to write a word.
func ways(p piece, begins bool, previous string, v *span.Vocabulary) []way {
	if strings.ContainsFunc(p.core[min(1, len(p.core)):], unicode.IsUpper) { // an abbreviation
		return []way{{p.text(), known}}
	}
	low := strings.ToLower(p.core)
	first, _ := utf8.DecodeRuneInString(p.core)
	w := written{piece: p, low: low, begins: begins, capital: unicode.IsUpper(first), rank: v.Rank(low), list: []way{{p.text(), known}}}
	w.addListed()
	w.addByKind(previous, v)
	switch {
	case begins && !w.capital && letters(strings.ReplaceAll(low, "'", "")):
		w.add(p.core, w.list[0].Prior-small)
	case !w.capital && capitals[low]:
		w.list = append(w.list, way{p.before + upper(p.core) + p.after, w.list[0].Prior})
	}
	return w.list
}

// written is a word as somebody wrote it, with the ways to write it.
type written struct {
	piece
	low     string // core in lower case
	begins  bool   // it begins the sentence
	capital bool   // it begins with a capital
	rank    int    // in the vocabulary; 0 if it is unknown
	list    []way  // the first is the word as it is
}

// add adds a way: another word, with a capital where it needs one.
func (w *written) add(word string, prior float64) {
	if w.begins || w.capital {
		word = upper(word)
	}
	text := w.before + word + w.after
	if !slices.ContainsFunc(w.list, func(o way) bool { return o.Text == text }) {
		w.list = append(w.list, way{text, prior})
	}
}

// addListed adds the words that a list gives for it.
func (w *written) addListed() {
	for _, other := range slices.Concat(rivals[w.low], oneWayRivals[w.low], corrections[w.low]) {
		w.add(other, 0)
	}
	for _, other := range rareRivals[w.low] {
		w.add(other, strange)
	}
	if w.rank == 0 || w.rank >= rare {
		for _, other := range misspelt()[w.low] {
			w.add(other, listed)
		}
	}
}

// addByKind sets the log odds that the word is right, by the kind of word, and adds the words that such a word may be a
// mistake for.
func (w *written) addByKind(previous string, v *span.Vocabulary) {
	switch mended := len(corrections[w.low]) > 0; {
	case mended && sometimesRight[w.low]:
		w.list[0].Prior = 0
	case mended:
		w.list[0].Prior = wrong
	case !letters(w.low):
		w.addApostrophes()
	case w.rank > 0 && w.rank < rare:
		for _, other := range inflected(w.low, previous) {
			w.add(other, ending)
		}
	case w.capital && !w.begins && !capitals[w.low]:
		w.list[0].Prior = nameLike
	case w.rank == 0 && utf8.RuneCountInString(w.low) > 2:
		w.addNear(v)
	case w.rank >= rare:
		for _, near := range v.Near(w.low, 1, nearest) {
			if v.Rank(near.Word)*oftener < w.rank {
				w.add(near.Word, 0)
			}
		}
	}
}

// addApostrophes adds to a word with an apostrophe in the wrong place those with it in the right one.
func (w *written) addApostrophes() {
	bare := strings.ReplaceAll(w.low, "'", "")
	if bare == w.low || len(corrections[bare]) == 0 || slices.Contains(corrections[bare], w.low) {
		return
	}
	w.list[0].Prior = unknown
	for _, other := range corrections[bare] {
		w.add(other, 0)
	}
}

// addNear adds to an unknown word the known ones near it.
func (w *written) addNear(v *span.Vocabulary) {
	w.list[0].Prior = unknown
	if w.capital {
		w.list[0].Prior = initial
	}
	for _, near := range v.Near(w.low, 1+min(1, utf8.RuneCountInString(w.low)/twoOff), nearest) {
		w.add(near.Word, channel(w.low, near)-math.Log(float64(v.Rank(near.Word))/usual))
	}
	if !w.begins {
		w.list = append(w.list, way{w.before + upper(w.low) + w.after, unknown}) // a name without its capital
	}
}

// Log odds of a misspelling by its kind: people drop one of two equal letters, or double a letter, more often than they write
// another letter.
const (
	equalLetters = 1.5
	tooMany      = -1.5
	other        = -1.0
	second       = -6.0 // a second letter that differs

	usual = 1000 // the rank of a word whose frequency counts neither for nor against it (Zipf's law)
)

// channel returns the log odds that somebody who wrote low meant the neighbouring word (the noisy channel's error
// model).
func channel(low string, meant span.Neighbour) float64 {
	worth := second * float64(meant.Distance-1)
	switch {
	case single(low) == single(meant.Word):
		worth += equalLetters
	case len(low) > len(meant.Word):
		worth += tooMany
	case len(low) == len(meant.Word) && sorted(low) != sorted(meant.Word):
		worth += other
	}
	return worth
}

// single returns a word with runs of equal letters reduced to one letter.
func single(word string) string { return string(slices.Compact([]rune(word))) }

func sorted(word string) string { return string(slices.Sorted(slices.Values([]rune(word)))) }

// vowel matches words that begin with the sound of a vowel, and consonant some that begin with the letter of one.
var (
	vowel     = regexp.MustCompile(`^(?i:[aeiou]|hour|honest|honour|heir)`)
	consonant = regexp.MustCompile(`^(?i:uni|use|usu|euro?|ewe|one\b|once\b|ubiq|util)`)
)

// articles returns the ways to write "a" or "an" before a word. Before a figure or an abbreviation it is as it is.
func articles(p piece, next string) []way {
	now := []way{{p.text(), known}}
	if !letters(next) || strings.ToUpper(next) == next {
		return now
	}
	right := "a"
	if vowel.MatchString(next) && !consonant.MatchString(next) {
		right = "an"
	}
	if strings.EqualFold(p.core, right) {
		return now
	}
	return []way{{p.text(), article}, {p.before + like(p.core, right) + p.after, 0}}
}

// inflected returns other forms of a verb that may be meant after a word.
func inflected(low, before string) (out []string) {
	// The word before may be misspelt: "cant come".
	plain := bases[before] || slices.ContainsFunc(corrections[before], func(w string) bool { return bases[w] })
	for _, forms := range formsOf[low] {
		base, third, past, done := forms[0], forms[1], forms[2], forms[3]
		switch {
		case plain && low != base && (low == past || low == third):
			out = append(out, base)
		case participles[before] && low == past && past != done:
			out = append(out, done)
		case low == base && !plain:
			out = append(out, third)
		case low == third:
			out = append(out, base)
		}
	}
	return out
}

// spaced adds a way with a space after a comma that lacks it.
func spaced(list []way, p piece, v *span.Vocabulary) []way {
	a, b, ok := strings.Cut(p.core, ",")
	if ok && v.Rank(strings.ToLower(a)) > 0 && v.Rank(strings.ToLower(b)) > 0 && letters(a) && letters(b) {
		return append(list, way{p.before + a + ", " + b + p.after, -doubled})
	}
	return list
}

// ended adds marks to the last word of a sentence.
func ended(list []way, last bool) []way {
	if !last {
		return list
	}
	now := list[0].Text
	mark, _ := utf8.DecodeLastRuneInString(now)
	switch {
	case mark == '.':
		for _, w := range slices.Clone(list) {
			list = append(list, way{strings.TrimSuffix(w.Text, ".") + "?", w.Prior - 2*known})
		}
	case unicode.IsLetter(mark) || unicode.IsDigit(mark):
		var out []way
		for _, w := range list {
			out = append(out, way{w.Text + ".", w.Prior - endless}, way{w.Text + "?", w.Prior - endless - known})
		}
		list = append(list, out...)
	}
	return list
}

func letters(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
}

func upper(word string) string {
	r, n := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(r)) + word[n:]
}

// like returns word with a capital if of has one.
func like(of, word string) string {
	if r, _ := utf8.DecodeRuneInString(of); unicode.IsUpper(r) {
		return upper(word)
	}
	return word
}

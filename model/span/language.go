package span

import (
	_ "embed"
	"hash/crc32"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Language is the language of a text.
type Language uint8

// The languages that the reader can read. It has learnt English only: of the others it takes each word for an English one, by the
// lists in the folder dictionaries.
const (
	English Language = iota
	German
	French
	Spanish
)

//go:embed dictionaries/de.txt
var germanList string

//go:embed dictionaries/fr.txt
var frenchList string

//go:embed dictionaries/es.txt
var spanishList string

// dictionaries are the lists: what a word in small letters is in English. A word may be spelt without its accents.
var dictionaries = sync.OnceValue(func() [Spanish + 1]map[string]string {
	return [...]map[string]string{German: meaningsOf(germanList), French: meaningsOf(frenchList), Spanish: meaningsOf(spanishList)}
})

// dictionariesSum tells versions of the lists apart.
var dictionariesSum = sync.OnceValue(func() uint32 { return crc32.ChecksumIEEE([]byte(germanList + frenchList + spanishList)) })

// meaningsOf reads lines of an English word, a colon, and the words that mean it.
func meaningsOf(list string) map[string]string {
	out := make(map[string]string, strings.Count(list, " "))
	var bare [][2]string
	for line := range strings.Lines(list) {
		english, forms, _ := strings.Cut(line, ":")
		for form := range strings.FieldsSeq(forms) {
			out[form] = english
			if strings.ContainsFunc(form, func(r rune) bool { return r >= utf8.RuneSelf }) {
				bare = append(bare, [2]string{accents.Replace(form), english})
			}
		}
	}
	for _, b := range bare {
		if _, ok := out[b[0]]; !ok {
			out[b[0]] = b[1]
		}
	}
	return out
}

// accents turns a word into what those type who have no accents on their keyboard.
var accents = strings.NewReplacer("ä", "a", "ö", "o", "ü", "u", "ß", "ss", "à", "a", "â", "a", "ç", "c", "é", "e", "è", "e", "ê", "e", "ë", "e",
	"î", "i", "ï", "i", "ô", "o", "œ", "oe", "ù", "u", "û", "u", "á", "a", "í", "i", "ó", "o", "ú", "u", "ñ", "n")

// Lengths in characters of a compound, of its last part and of what stands before it.
const (
	minCompound = 8
	minPart     = 4
	minBefore   = 3
)

// english returns what a word in small letters is in English. A German compound that is not in the list is translated by its
// last part ("Gartenmauer": wall), and whole is false.
func (t Language) english(low string) (word string, whole, ok bool) {
	words := dictionaries()[t]
	if word, ok = words[low]; ok || t != German || utf8.RuneCountInString(low) < minCompound {
		return word, ok, ok
	}
	n := 0
	for i := range low {
		if n++; n > minBefore && utf8.RuneCountInString(low[i:]) >= minPart {
			if word, ok = words[low[i:]]; ok {
				return word, false, true
			}
		}
	}
	return "", false, false
}

// foreign reports whether a word is one of these languages, as far as the lists know.
func foreign(low string, of []Language) bool {
	return slices.ContainsFunc(of, func(t Language) bool {
		_, ok := dictionaries()[t][low]
		return ok
	})
}

// minForeign is the smallest number of foreign words in a text of another language.
const minForeign = 2

// languageOf returns the language that most of a text's words are from. What speaks for another than English is its
// articles and the like, and what is in its list and no English word; against it, English articles, and English words
// that are not in its list by half.
func (l *lexicon) languageOf(words []word) Language {
	best, most, lists := English, 0, dictionaries()
	for t := German; t <= Spanish; t++ {
		speaks, against := 0, 0
		for i := range words {
			low := words[i].low
			e, ok := lists[t][low]
			switch {
			case l.stop[low]:
				against += 2
			case ok && (l.row[low] == 0 || l.stop[e]):
				speaks += 2
			case !ok && l.row[low] > 0 && words[i].kind == letter:
				against++
			}
		}
		if speaks >= 2*minForeign && speaks-against > most {
			best, most = t, speaks-against
		}
	}
	return best
}

// translate makes the network read word i of a text in another language as an English one. The last part of a compound
// says what kind of word it is, not which.
func (l *lexicon) translate(words []word, i int, t Language) {
	w := &words[i]
	e, whole, ok := t.english(w.low)
	if !ok || w.kind != letter {
		return
	}
	if w.low == "partir" && i > 0 && (words[i-1].low == "à" || words[i-1].low == "a") { // "à partir de", in Spanish "a partir de"
		e = "from"
		w.own = l.stem(e) // it does not match "partir", to leave
	}
	w.read = e
	if whole {
		w.same = e
		w.stem, w.stop, w.idf, w.head = l.stem(e), l.stop[e], l.weight(e), ""
		if w.content() {
			w.head = l.head(e)
		}
		w.base[0], w.base[5] = w.idf, one(w.stop)
	}
}

// lowered writes German nouns in lower case, except at the beginning of a sentence.
func (t *text) lowered() {
	for i := range t.words {
		if w := &t.words[i]; w.read != w.low && w.base[7] == 0 {
			w.base[1] = 0
		}
	}
}

// Language returns the passage's language.
func (p *Passage) Language() Language { return p.text.language }

// English returns the passage's text with the words that the reader takes for English ones in English.
func (p *Passage) English() string { return p.text.english() }

// English returns a text in a language with the words that the reader takes for English ones in English.
func (r *Reader) English(s string, t Language) string {
	return r.lexicon.analyseIn(s, r.maxPassage, t).english()
}

func (t *text) english() string {
	var b strings.Builder
	for i := range t.words {
		w := &t.words[i]
		b.WriteString(w.gap)
		if b.WriteString(w.text); w.read != w.low {
			b.WriteString(" " + w.read)
		}
	}
	return b.String()
}

// formsAbroad returns the words of other languages that mean an English one, by its stem.
func (l *lexicon) formsAbroad() map[string][]string {
	out := map[string][]string{}
	for _, list := range dictionaries() {
		for form, english := range list {
			stem := l.stem(english)
			out[stem] = append(out[stem], form)
		}
	}
	return out
}

// translated is how related a word is to what it means in another language.
const translated = 1

// meanings adds to the words that are related to a word those of other languages that mean the same. A word that is spelt like an
// English one is taken for that.
func (l *lexicon) meanings(low string, related map[string]float64) {
	english := []string{low}
	if l.row[low] == 0 {
		for t := German; t <= Spanish; t++ {
			if e, ok := dictionaries()[t][low]; ok {
				related[e] = translated
				english = append(english, e)
			}
		}
	}
	for _, e := range english {
		for _, form := range l.abroad()[l.stem(e)] {
			if form != low {
				related[form] = translated
			}
		}
	}
}

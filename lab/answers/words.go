package answers

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/decoder/ground"
	"tandem/internal/refusal"
)

// Normal is SQuAD's normalisation of an answer, as words: lower case, without punctuation and articles. Punctuation and
// ASCII symbols go wherever they stand, also within words and numbers.
func Normal(s string) []string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSymbol(r) && r < utf8.RuneSelf {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	var out []string
	for w := range strings.FieldsSeq(s) {
		if w != "a" && w != "an" && w != "the" {
			out = append(out, w)
		}
	}
	return out
}

// F1 is the harmonic mean of precision and recall of an answer's words against an accepted answer's (SQuAD).
func F1(answer, accepted string) float64 {
	a, g := Normal(answer), Normal(accepted)
	if len(a) == 0 || len(g) == 0 {
		if len(a) == len(g) {
			return 1
		}
		return 0
	}
	return 2 * float64(countShared(a, g)) / float64(len(a)+len(g))
}

// countShared counts the words of a that b has too, each as often as b has it.
func countShared(a, b []string) (n int) {
	left := map[string]int{}
	for _, w := range b {
		left[w]++
	}
	for _, w := range a {
		if left[w] > 0 {
			left[w]--
			n++
		}
	}
	return n
}

// token matches a number with what joins its digits, a word, or the sign of a currency or of percent.
var token = regexp.MustCompile(`\p{N}+(?:[.,:'’]\p{N}+)*|[\p{L}\p{M}]+|[€$£¥%]`)

var currencies = map[string]string{
	"€": "eur", "euro": "eur", "euros": "eur", "$": "usd", "dollars": "usd", "£": "gbp", "pounds": "gbp", "¥": "jpy",
	"eur": "eur", "usd": "usd", "gbp": "gbp", "jpy": "jpy", "chf": "chf",
}

// tokens divides text into words and numbers for comparison: without case, punctuation and articles, with a currency
// after its amount ("EUR 14", "14 €" and "€14" are alike; in "room 12, €14" it belongs to the second). A number keeps
// what joins its digits: 9:30 is no part of 19:30, nor of 9:305.
func tokens(s string) []string {
	s = strings.ToLower(s)
	var out []string
	places := token.FindAllStringIndex(s, -1)
	for _, at := range places {
		out = append(out, s[at[0]:at[1]])
	}
	for i, w := range out {
		if c, ok := currencies[w]; ok {
			out[i] = c
			if i+1 < len(out) && isNumber(out[i+1]) && (i == 0 || !isNumber(out[i-1]) || places[i][1] == places[i+1][0] && places[i-1][1] < places[i][0]) {
				out[i], out[i+1] = out[i+1], c
			}
		}
	}
	return slices.DeleteFunc(out, func(w string) bool { return w == "a" || w == "an" || w == "the" })
}

func isNumber(w string) bool {
	r, _ := utf8.DecodeRuneInString(w)
	return unicode.IsNumber(r)
}

// Contains reports whether a text contains a value as whole words and numbers, one after another.
func Contains(text, value string) bool {
	v := tokens(value)
	if len(v) == 0 {
		value = fold(strings.TrimSpace(value))
		return value != "" && standsWhole(fold(text), value)
	}
	return containsRun(tokens(text), v)
}

// containsRun reports whether words stand in text one after another.
func containsRun(text, words []string) bool {
	return strings.Contains(" "+strings.Join(text, " ")+" ", " "+strings.Join(words, " ")+" ")
}

var tag = regexp.MustCompile(`</?[A-Za-z][^<>]*>`)

// ContainsSentence reports whether a text that is shown or read contains a sentence of a file. Markup does not count, and
// a table's cells may have been joined otherwise than in the file: nine tenths of the words suffice. So does a half of the
// sentence in one piece, if it contains an accepted answer: not everybody ends sentences at the same places. Commas between
// figures may separate cells, as in "14.6,11.8".
func ContainsSentence(text, sentence string, accepted []string) bool {
	sentence = html.UnescapeString(tag.ReplaceAllString(sentence, " "))
	have := tokens(text)
	return containsSentence(have, tokens(sentence), accepted) || containsSentence(have, tokens(strings.ReplaceAll(sentence, ",", ", ")), accepted)
}

func containsSentence(have, want, accepted []string) bool {
	if len(want) == 0 || len(have) == 0 {
		return false
	}
	if containsRun(have, want) || 10*countShared(want, have) >= 9*len(want) {
		return true
	}
	return slices.ContainsFunc(accepted, func(a string) bool { return containsPiece(have, want, tokens(a)) })
}

// containsPiece reports whether a text contains half of a sentence, three words or more, in one piece that holds an answer.
func containsPiece(text, sentence, answer []string) bool {
	n := max(3, (len(sentence)+1)/2)
	for from := 0; from+n <= len(sentence) && len(answer) > 0; from++ {
		piece := sentence[from : from+n]
		if containsRun(piece, answer) && containsRun(text, piece) {
			return true
		}
	}
	return false
}

// functionWords are the words of the closed list that an answer may add of its own, in lower case.
var functionWords = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range ground.Words() {
		out[strings.ToLower(w)] = true
	}
	return out
}()

// Invented returns the words of an answer, as it writes them, that are neither function words nor in the question or the turns
// before it nor in a passage that was read. Case does not count, so that a sentence may begin with a capital, nor what
// punctuation surrounds a word. What is within a word counts: a number with another separator, or a name that lost its
// accents, is invented. A span reader's refusal is not.
func Invented(answer, question string, read []string) []string {
	texts := []string{fold(question)}
	for _, p := range read {
		texts = append(texts, fold(p))
	}
	known := func(w string) bool {
		for _, t := range texts {
			if standsWhole(t, w) {
				return true
			}
		}
		return false
	}
	for _, s := range refusal.Sentences {
		answer = strings.ReplaceAll(answer, s, " ")
	}
	var out []string
	for field := range strings.FieldsSeq(answer) {
		word := strings.TrimFunc(field, func(r rune) bool {
			return r != utf8.RuneError && (unicode.IsPunct(r) || unicode.IsSymbol(r))
		})
		w := fold(word)
		if w == "" || functionWords[w] || known(w) {
			continue
		}
		if base, ok := strings.CutSuffix(w, "'s"); ok && (functionWords[base] || known(base)) {
			continue
		}
		out = append(out, word)
	}
	return out
}

// fold lowers the case and replaces all kinds of apostrophes and blanks by the plain ones.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '’' || r == 'ʼ':
			return '\''
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ToLower(r)
	}, s)
}

// standsWhole reports whether a word stands in a text whole: neither within a longer word nor within a longer number.
func standsWhole(text, word string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(word)
		if !joinedBefore(text[:from], word) && !joinedAfter(word, text[to:]) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[from:])
		at = from + size
	}
}

// joinedBefore reports whether a word goes on to the left: with a letter or digit, or a number with a separator of digits.
func joinedBefore(before, word string) bool {
	last, size := utf8.DecodeLastRuneInString(before)
	if size == 0 {
		return false
	}
	if inWord(last) {
		return true
	}
	first, _ := utf8.DecodeRuneInString(word)
	digit, _ := utf8.DecodeLastRuneInString(before[:len(before)-size])
	return unicode.IsNumber(first) && joinsDigits(last) && unicode.IsNumber(digit)
}

func joinedAfter(word, after string) bool {
	first, size := utf8.DecodeRuneInString(after)
	if size == 0 {
		return false
	}
	if inWord(first) {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(word)
	digit, _ := utf8.DecodeRuneInString(after[size:])
	return unicode.IsNumber(last) && joinsDigits(first) && unicode.IsNumber(digit)
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == utf8.RuneError
}

func joinsDigits(r rune) bool { return r == '.' || r == ',' || r == ':' || r == '\'' }

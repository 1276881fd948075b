package tokenizer

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/model/gguf"
)

// A scanner returns the length in bytes of the first word of a non-empty text. The scanners are hand-written versions
// of the regular expressions that models were trained with. Their comments and the tests give the expressions.
type scanner func(text string) int

// A preTokenizer splits text into the words within which merges apply. Each stage splits the words of the one before.
type preTokenizer struct {
	name       string // of the pattern; files use many names for it
	stages     []scanner
	wholeWords bool // a word that is a token becomes that token without merges
	addBOS     bool // BOS is added unless the file says otherwise
}

var (
	preGPT2   = preTokenizer{name: "gpt-2", stages: []scanner{scanGPT2}}
	preDigits = preTokenizer{name: "smollm", stages: []scanner{isolate(isNumber, 1), scanGPT2}}
	preQwen2  = preTokenizer{name: "qwen2", stages: []scanner{scanModern(1, true)}}
	preLlama3 = preTokenizer{name: "llama-bpe", stages: []scanner{scanModern(3, true)}, wholeWords: true, addBOS: true}
	preThrees = preTokenizer{name: "dbrx", stages: []scanner{scanModern(3, true)}}
	preFalcon = preTokenizer{name: "falcon", stages: []scanner{isolate(isFalconPunct, 0), scanGPT2, scanThreeDigits}}
	preQwen35 = preTokenizer{name: "qwen35", stages: []scanner{scanMarked}}
	preSeek3  = preTokenizer{name: "deepseek-v3", stages: []scanner{isolate(isNumber, 3), isolate(isHanOrKana, 0), scanSeek3}}
	preSeed   = preTokenizer{name: "seed-coder", stages: []scanner{scanModern(1, false)}}
	preGPT4o  = preTokenizer{name: "gpt-4o", stages: []scanner{scanCased(3, true)}}
	preTekken = preTokenizer{name: "tekken", stages: []scanner{scanCased(1, false)}, wholeWords: true, addBOS: true}
	preCoder  = preTokenizer{name: "deepseek-coder", stages: []scanner{isolate(isLineEnd, 1), cutOut(unicode.IsLetter),
		cutOut(unicode.IsPunct), isolate(isEastAsian, 0), isolate(isNumber, 1)}}
	preSeekLM = preTokenizer{name: "deepseek-llm", stages: []scanner{isolate(isLineEnd, 1), cutOut(isSeekLetter), cutOut(isSeekPunct),
		scanTrailingSpace, isolate(isEastAsian, 0), isolate(isNumber, 0)}}
	preKimi    = preTokenizer{name: "kimi-k2", stages: []scanner{scanKimi}}
	preDefault = preTokenizer{name: "default", stages: []scanner{isolate(isDefaultPunct, 0), scanGPT2, isolate(isNumber, 0), scanThreeDigits}}
)

// preTokenizers maps the names in files to pre-tokenizers.
var preTokenizers = map[string]preTokenizer{
	"gpt-2": preGPT2, "phi-2": preGPT2, "mpt": preGPT2, "olmo": preGPT2, "jais": preGPT2, "trillion": preGPT2,
	"jina-es": preGPT2, "jina-de": preGPT2, "jina-v2-es": preGPT2, "jina-v2-de": preGPT2, "gigachat": preGPT2,
	"a.x-4.0": preGPT2, "mellum": preGPT2, "exaone4": preGPT2, "granite-docling": preGPT2, "modern-bert": preGPT2,

	"smollm": preDigits, "starcoder": preDigits, "refact": preDigits, "command-r": preDigits,
	"codeshell": preDigits, "exaone": preDigits, "minerva-7b": preDigits, "mellum2": preDigits,

	"qwen2": preQwen2, "deepseek-r1-qwen": preQwen2, "megrez": preQwen2, "stablelm2": preQwen2,
	"bailingmoe": preQwen2, "bailingmoe2": preQwen2, "llada-moe": preQwen2, // another pattern that splits alike
	"hunyuan": preQwen2, "solar-open": preQwen2, "grok-2": preQwen2, "kormo": preQwen2,

	"qwen35": preQwen35, "deepseek-v3": preSeek3, "seed-coder": preSeed,

	"llama-bpe": preLlama3, "llama3": preLlama3, "llama-v3": preLlama3, "falcon3": preLlama3,
	"falcon-h1": preLlama3, "pixtral": preLlama3, "midm-2.0": preLlama3, "lfm2": preLlama3,

	"dbrx": preThrees, "smaug-bpe": preThrees, "glm4": preThrees, "chatglm-bpe": preThrees,

	"gpt-4o": preGPT4o, "llama4": preGPT4o, "tekken": preTekken, "deepseek-coder": preCoder,
	"deepseek-llm": preSeekLM, "kimi-k2": preKimi,

	"falcon": preFalcon, "default": preDefault,
}

// preFor returns the pre-tokenizer of a file. Without a name it is "default", as in llama.cpp.
func preFor(m gguf.Meta) (preTokenizer, error) {
	name, ok := m.String("tokenizer.ggml.pre")
	if !ok || name == "" {
		name = "default"
	}
	p, ok := preTokenizers[name]
	if !ok {
		known := make([]string, 0, len(preTokenizers))
		for k := range preTokenizers {
			known = append(known, k)
		}
		slices.Sort(known)
		return p, fmt.Errorf("tokenizer: the pre-tokenizer %q is not supported: known are %s",
			name, strings.Join(known, ", "))
	}
	return p, nil
}

// splitWords calls emit with the words of text in order. Together they are the text.
func splitWords(text string, stages []scanner, emit func(word string)) {
	if len(stages) == 0 {
		emit(text)
		return
	}
	for len(text) > 0 {
		n := max(1, stages[0](text)) // at least a byte, so that a fault in a stage shows as wrong words and not as a hang
		splitWords(text[:n], stages[1:], emit)
		text = text[n:]
	}
}

// A class is a class of characters that the patterns distinguish.
type class uint8

const (
	other   class = iota // [^\s\p{L}\p{N}], and bytes that are not UTF-8
	letter               // \p{L}
	number               // \p{N}
	space                // \s without line ends
	newline              // \r and \n
)

var asciiClasses = func() (c [utf8.RuneSelf]class) {
	for r := range rune(utf8.RuneSelf) {
		c[r] = unicodeClass(r)
	}
	return c
}()

func unicodeClass(r rune) class {
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return number
	case r == '\n' || r == '\r':
		return newline
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// classAt returns the class and width of the character at text[i:], width 0 at the end.
func classAt(text string, i int) (class, int) {
	if i >= len(text) {
		return other, 0
	}
	if b := text[i]; b < utf8.RuneSelf {
		return asciiClasses[b], 1
	}
	r, n := utf8.DecodeRuneInString(text[i:])
	return unicodeClass(r), n
}

// run returns the end of the run of class c at text[i:].
func run(text string, i int, c class) int {
	for {
		k, n := classAt(text, i)
		if n == 0 || k != c {
			return i
		}
		i += n
	}
}

// contraction returns the length of an English contraction at the start of text, 's|'t|'re|'ve|'m|'ll|'d, or 0.
func contraction(text string, fold bool) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	at := func(i int) byte {
		if i >= len(text) {
			return 0
		}
		if b := text[i]; fold && b >= 'A' && b <= 'Z' {
			return b + 'a' - 'A'
		}
		return text[i]
	}
	switch at(1) {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if at(2) == 'e' {
			return 3
		}
	case 'l':
		if at(2) == 'l' {
			return 3
		}
	}
	return 0
}

// spaces returns the length of the match of \s+(?!\S)|\s+ at the start of text: all white space at the end of the
// text, else all but the last character, which belongs to the next word. With lines, \s*[\r\n]+ comes first: the
// match ends after the last line end, if there is one.
func spaces(text string, lines bool) int {
	i, last, line := 0, 0, 0
	for {
		k, n := classAt(text, i)
		if n == 0 || k != space && k != newline {
			if lines && line > 0 {
				return line
			}
			if n > 0 && last > 0 {
				return last
			}
			return i
		}
		last, i = i, i+n
		if k == newline {
			line = i
		}
	}
}

// scanGPT2 is 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func scanGPT2(text string) int {
	if n := contraction(text, false); n > 0 {
		return n
	}
	i := 0
	if text[0] == ' ' {
		i = 1
	}
	if k, n := classAt(text, i); n > 0 && (k == letter || k == number || k == other) {
		return run(text, i, k)
	}
	return spaces(text, false)
}

// scanModern is (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,digits}|
// ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ (without the line break), with digits 1 for Qwen2
// and 3 for Llama 3. Without lines, line breaks do not follow what is no letter or number, as in Seed-Coder.
func scanModern(digits int, lines bool) scanner {
	others := func(text string, from int) int {
		end := run(text, from, other)
		if lines {
			end = run(text, end, newline)
		}
		return end
	}
	return func(text string) int {
		if n := contraction(text, true); n > 0 {
			return n
		}
		first, width := classAt(text, 0)
		next, _ := classAt(text, width)
		switch {
		case first == letter:
			return run(text, 0, letter)
		case next == letter && (first == other || first == space):
			return run(text, width, letter)
		case first == number:
			i := width
			for range digits - 1 {
				k, n := classAt(text, i)
				if k != number {
					break
				}
				i += n
			}
			return i
		case first == other:
			return others(text, 0)
		case text[0] == ' ' && next == other && len(text) > 1:
			return others(text, 1)
		}
		return spaces(text, true)
	}
}

// scanMarked is scanModern(1) with [\p{L}\p{M}] for \p{L}: a mark, such as a vowel sign, belongs to its word.
func scanMarked(text string) int {
	if n := contraction(text, true); n > 0 {
		return n
	}
	if k, n := classAt(text, 0); k != newline && k != number {
		if end := markedRun(text, 0); end > 0 {
			return end
		}
		if end := markedRun(text, n); end > n {
			return end
		}
	} else if k == number {
		return n
	}
	if end := otherRun(text); end > 0 {
		return run(text, end, newline)
	}
	return spaces(text, true)
}

// markedRun returns the end of the run of letters and marks at text[i:].
func markedRun(text string, i int) int {
	return i + runOf(text[i:], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) })
}

// otherRun returns the end of the match of  ?[^\s\p{L}\p{M}\p{N}]+ at the start of text, or 0.
func otherRun(text string) int {
	i := 0
	if text[0] == ' ' {
		i = 1
	}
	if n := runOf(text[i:], func(r rune) bool { return unicodeClass(r) == other && !unicode.IsMark(r) }); n > 0 {
		return i + n
	}
	return 0
}

// runOf returns the length of the run of characters at the start of text that are in a set.
func runOf(text string, in func(rune) bool) int {
	for i, r := range text {
		if !in(r) {
			return i
		}
	}
	return len(text)
}

// scanKimi is scanModern(3), but ideographs are words apart, and contractions end a word instead of being one:
//
//	[H]+|[^\r\n\p{L}\p{N}]?[\p{L}--H]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// (The model's own pattern starts a new word at a capital letter. This is what llama.cpp does for this name.)
func scanKimi(text string) int {
	if n := runOf(text, isHan); n > 0 {
		return n
	}
	first, width := classAt(text, 0)
	at := width
	if first == letter {
		at = 0
	}
	if next, _ := classAt(text, at); next != letter || first == number || first == newline {
		return scanThrees(text)
	}
	end := at + runOf(text[at:], func(r rune) bool { return unicode.IsLetter(r) && !isHan(r) })
	if end == at { // an ideograph follows
		return width
	}
	return end + contraction(text[end:], true)
}

var scanThrees = scanModern(3, true)

// scanTrailingSpace isolates \s+$.
func scanTrailingSpace(text string) int {
	if n := len(strings.TrimRightFunc(text, unicode.IsSpace)); n > 0 {
		return n
	}
	return len(text)
}

// scanSeek3 is the last stage of DeepSeek V3's pattern. Characters that nothing matches, such as digits, stay together:
//
//	[!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func scanSeek3(text string) int {
	for i := range text {
		if n := seek3(text[i:]); n > 0 && i == 0 {
			return n
		} else if n > 0 {
			return i
		}
	}
	return len(text)
}

// seek3 returns the length of scanSeek3's match at the start of text, or 0.
func seek3(text string) int {
	mark := func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }
	first, width := utf8.DecodeRuneInString(text)
	if first < utf8.RuneSelf && mark(first) {
		if n := runOf(text[1:], func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }); n > 0 {
			return 1 + n
		}
	}
	if end := markedRun(text, 0); end > 0 {
		return end
	}
	if !mark(first) && !isLineEnd(first) {
		if end := markedRun(text, width); end > width {
			return end
		}
	}
	i := 0
	if first == ' ' {
		i = 1
	}
	if n := runOf(text[i:], mark); n > 0 {
		return run(text, i+n, newline)
	}
	return spaces(text, true)
}

// scanCased is the pattern of GPT-4o ("gpt-4o") and Mistral's Tekken. It differs from scanModern in that a new word
// starts at a capital letter, contractions belong to their word, and slashes count like line ends after punctuation:
//
//	[^\r\n\p{L}\p{N}]?U*L+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?U+L*(?i:…)?|\p{N}{1,digits}|
//	?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// where U is a letter other than a to z and L one other than A to Z, so that letters outside ASCII are both. (The
// models' own patterns distinguish capitals in all scripts. This is what llama.cpp does for these names, and the tokens
// must be the same.)
func scanCased(digits int, contractions bool) scanner {
	modern := scanModern(digits, true)
	return func(text string) int {
		first, width := classAt(text, 0)
		if first == number || first == newline {
			return modern(text)
		}
		starts := [2]int{width, 0} // with and without the character before the word
		if first == letter {
			starts[0] = 0
		}
		for _, word := range [2]func(string, int) int{lowerWord, upperWord} {
			for _, at := range starts {
				if end := word(text, at); end > at {
					if contractions {
						end += contraction(text[end:], true)
					}
					return end
				}
			}
		}
		i := 0
		if text[0] == ' ' {
			i = 1
		}
		if end := run(text, i, other); end > i {
			for end < len(text) && (text[end] == '\r' || text[end] == '\n' || text[end] == '/') {
				end++
			}
			return end
		}
		return spaces(text, true)
	}
}

// lowerWord returns the end of U*L+ at text[at:], or at.
func lowerWord(text string, at int) int {
	upper := at
	last := at // the start of the last character of U* that is also an L, if any
	both := false
	for {
		c, n := classAt(text, upper)
		if c != letter || n == 0 || n == 1 && text[upper] >= 'a' {
			break
		}
		if n > 1 {
			last, both = upper, true
		}
		upper += n
	}
	if end := lowerRun(text, upper); end > upper {
		return end
	}
	if both { // backtrack until L+ has a letter
		return lowerRun(text, last)
	}
	return at
}

// upperWord returns the end of U+ at text[at:]. It is called if lowerWord finds nothing, so no L follows.
func upperWord(text string, at int) int {
	for {
		c, n := classAt(text, at)
		if c != letter || n == 0 || n == 1 && text[at] >= 'a' {
			return at
		}
		at += n
	}
}

func lowerRun(text string, at int) int {
	for {
		c, n := classAt(text, at)
		if c != letter || n == 0 || n == 1 && text[at] <= 'Z' {
			return at
		}
		at += n
	}
}

// cutOut isolates matches of \s?[in]+.
func cutOut(in func(rune) bool) scanner {
	return func(text string) int {
		before, found := -1, false // before: the start of a space right before the match
		for i, r := range text {
			switch {
			case in(r):
				if found {
					continue
				}
				if found = true; before < 0 {
					before = i
				}
				if before > 0 {
					return before
				}
			case found:
				return i
			case unicode.IsSpace(r):
				before = i
			default:
				before = -1
			}
		}
		return len(text)
	}
}

// isolate isolates runs of characters, of at most limit characters each (0: no limit).
func isolate(in func(rune) bool, limit int) scanner {
	return func(text string) int {
		first, count := false, 0
		for i, r := range text {
			if i == 0 {
				first = in(r)
			} else if in(r) != first || first && count == limit && limit > 0 {
				return i
			}
			count++
		}
		return len(text)
	}
}

// scanThreeDigits isolates matches of [0-9][0-9][0-9].
func scanThreeDigits(text string) int {
	digits := 0
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			digits = 0
			continue
		}
		if digits++; digits == 3 {
			if i == 2 {
				return 3
			}
			return i - 2
		}
	}
	return len(text)
}

func isNumber(r rune) bool  { return unicode.IsNumber(r) }
func isLineEnd(r rune) bool { return r == '\n' || r == '\r' }

// isEastAsian is [一-龥ࠀ-一가-퟿].
func isEastAsian(r rune) bool { return r >= 0x0800 && r <= 0x9FA5 || r >= 0xAC00 && r <= 0xD7FF }

// isHanOrKana is [一-龥぀-ゟ゠-ヿ].
func isHanOrKana(r rune) bool { return r >= 0x4E00 && r <= 0x9FA5 || r >= 0x3040 && r <= 0x30FF }

// isDefaultPunct is [\p{P}\$\+<=>\^~\|], isFalconPunct the same with the backtick.
func isDefaultPunct(r rune) bool { return unicode.IsPunct(r) || strings.ContainsRune("$+<=>^~|", r) }
func isFalconPunct(r rune) bool  { return isDefaultPunct(r) || r == '`' }

// Classes of characters, as text between the brackets of a regular expression.
const (
	// What llama.cpp takes for \p{Han}. Escaped, because editors turn the last two ranges' bounds into other characters.
	ideographs = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ebef\U0002f800-\U0002fa1f"

	// Those of DeepSeek LLM. Its letters are those of scripts with capitals. An ideographic space is not among its punctuation,
	// because llama.cpp takes it for white space first.
	seekLetters = `A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃`
	seekPunct   = `!-/:-~！-／：-～‘-‟、-。`
)

var isHan, isSeekLetter, isSeekPunct = oneOf(ideographs), oneOf(seekLetters), oneOf(seekPunct)

// oneOf returns the set of a class's characters.
func oneOf(class string) func(rune) bool {
	set, err := syntax.Parse("["+class+"]", 0)
	if err != nil {
		panic(err)
	}
	return func(r rune) bool {
		for i := 0; i < len(set.Rune) && set.Rune[i] <= r; i += 2 { // pairs of the first and last of ascending ranges
			if r <= set.Rune[i+1] {
				return true
			}
		}
		return false
	}
}

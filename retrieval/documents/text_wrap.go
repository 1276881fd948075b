package documents

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// runsOn reports whether a line is full, and the next one goes on with its sentence.
func runsOn(lines []string, i, width int) bool {
	if width == 0 || i+1 == len(lines) {
		return false
	}
	line, next := strings.TrimSpace(lines[i]), strings.TrimSpace(lines[i+1])
	return next != "" && textline.BeginsLower(next) && !breaksBefore(line, next, width) && !fits(line, next, width*5/6)
}

// endsBefore reports whether a line ends a paragraph or a sentence before the next.
func endsBefore(line, next string, width int) bool {
	return breaksBefore(line, next, width) || strings.ContainsAny(line[len(line)-1:], ".!?")
}

// breaksBefore reports whether a line was broken on purpose, rather than because it was full. width is the width at which a
// program wrapped the text, 0 if none did. A break is on purpose if another speaker or a box to tick begins in the next line,
// or if that begins like a sentence, a number or a name and either the text is not wrapped or the next word would still have fitted. In
// a text that is not wrapped, a line in lower case continues the line before it only if that ends in the middle of a sentence. A
// quotation, a bracket or a dash continues it in any text.
func breaksBefore(line, next string, width int) bool {
	r, _ := utf8.DecodeRuneInString(next)
	switch {
	case textline.IsStamped(next), textline.IsBoxed(next), english.Message.MatchString(next), reference.MatchString(next) && textline.EndsSentence(line):
		return true
	case unicode.IsUpper(r), unicode.IsNumber(r), unicode.In(r, unicode.Sc, unicode.Sm, unicode.So) && r != '<', strings.ContainsRune("@§¿¡", r), negative.MatchString(next): // '<' is a bracket
		return !textline.Binds(line) && (width == 0 || fits(line, next, width*5/6))
	case unicode.IsLower(r):
		return width == 0 && givesValue(line, next) || (width == 0 || namesOnly(line)) && !goesOn(line, next)
	case unicode.IsLetter(r): // of a script without capitals
		return width == 0
	}
	return false
}

// reference matches how an entry of a list of references begins. Below a line without a full stop it is a citation.
var reference = lazyregexp.New(`^\[\d{1,3}\] `)

// negative matches a number below zero. Some people write it with a dash.
var negative = lazyregexp.New(`^[-–]\d`)

// givesValue reports whether the next line gives a value for a name of a few words, "phone: 0555", and the line before
// does not break off.
func givesValue(line, next string) bool {
	const most = 3 // words
	label, _, _ := strings.Cut(next, ": ")
	return textline.IsLabel(next) && len(strings.Fields(label)) <= most && !strings.HasSuffix(line, ",") && !textline.Links(english.TrimWord(strings.ToLower(lastWord(line))))
}

// firstWord and lastWord return a word of a line.
func firstWord(line string) string {
	word, _, _ := strings.Cut(line, " ")
	return word
}

func lastWord(line string) string { return line[strings.LastIndexByte(line, ' ')+1:] }

// fits reports whether the first word of the next line would still have fitted in a line of some width.
func fits(line, next string, width int) bool {
	return utf8.RuneCountInString(line)+1+utf8.RuneCountInString(firstWord(next)) <= width
}

// goesOn reports whether a sentence goes on in the next line, which begins in lower case. It does after a line that is as long
// as programs wrap, begins with a capital and ends with a word.
func goesOn(line, next string) bool {
	first, _ := utf8.DecodeRuneInString(line)
	last, _ := utf8.DecodeLastRuneInString(line)
	if unicode.IsUpper(first) && unicode.IsLower(last) && utf8.RuneCountInString(line) >= minWidth {
		return true
	}
	before, after := lastWord(line), firstWord(next)
	return strings.HasSuffix(before, ",") || textline.EndsDivided(before) || strings.ContainsAny(next[len(next)-1:], ".!?") ||
		textline.Links(english.TrimWord(strings.ToLower(before))) || textline.Links(english.TrimWord(after)) || english.IsVerb(before) || english.IsVerb(after)
}

// namesOnly reports whether a line is a name: "Zoé Picard".
func namesOnly(line string) bool {
	words := strings.Fields(line)
	return len(words) < 4 && !strings.ContainsAny(line, ".,;:!?") && !slices.ContainsFunc(words, func(w string) bool { return !english.IsName(w) })
}

// The widths, in characters, at which programs wrap lines.
const (
	minWidth = 60
	maxWidth = 120
)

// wrapWidth returns the width at which a program wrapped the lines of a text, or 0 if none did. Wrapped lines have
// about one width: of those that text follows, more are full than not, and a line goes on in lower case. A line of less
// than half the width, such as "Dear Ada,", was broken on purpose in any text, and so were the rows of a table. justified has
// the lines that only look like rows, see justified.
func wrapWidth(lines []string, justified map[int]bool) int {
	var full, broken [maxWidth + 1]int // by width
	goesOn := false
	for i := 1; i < len(lines); i++ {
		line, next := strings.TrimSpace(lines[i-1]), strings.TrimSpace(lines[i])
		row := hasColumns(line) && !justified[i-1]
		if line == "" || next == "" || row || textline.IsItem(next) || isRule(next) {
			continue
		}
		length := utf8.RuneCountInString(line)
		r, _ := utf8.DecodeRuneInString(next)
		goesOn = goesOn || unicode.IsLower(r) && !strings.ContainsAny(line[len(line)-1:], ".!?:")
		for width := minWidth; width <= maxWidth; width++ {
			switch {
			case 2*length < width:
			case length > width, fits(line, next, width):
				broken[width]++
			default:
				full[width]++
			}
		}
	}
	best := 0
	for width := minWidth; width <= maxWidth; width++ {
		if more := full[width] - broken[width]; goesOn && more > 0 && (best == 0 || more > full[best]-broken[best]) {
			best = width
		}
	}
	return best
}

// hasColumns reports whether a line is divided into columns. Most lines are not, and their search would be slow.
func hasColumns(line string) bool {
	return (strings.Contains(line, "  ") || strings.Contains(line, "\t")) && columnGap.MatchString(line)
}

// columnGap matches what stands between two columns; some people also leave two spaces between sentences.
var columnGap = lazyregexp.New(`[^.!?\s](?: *\t| {2,})`)

// Lines count as justified if at least minJustified of them, with at most maxBlanks blanks between words, end in the
// same column.
const (
	minJustified = 8
	minWords     = 6
	maxBlanks    = 3
)

var blanks = lazyregexp.New(` {2,}`)

// justified returns the lines of text that a program has padded to equal length with blanks between words, as in manual pages.
// Without this check they look like rows of a table.
func justified(lines []string) map[int]bool {
	ends, wide, single := map[int]int{}, map[int]int{}, map[int]int{}
	for _, line := range lines {
		if w, s, ok := stretched(line); ok && w > 0 {
			at := utf8.RuneCountInString(line)
			ends[at]++
			wide[at] += w
			single[at] += s
		}
	}
	out := map[int]bool{}
	for i, line := range lines {
		at := utf8.RuneCountInString(line)
		if _, _, ok := stretched(line); ok && at >= minWidth && ends[at] >= minJustified && single[at] >= wide[at] {
			out[i] = true
		}
	}
	return out
}

// stretched reports whether a line may be justified, and how many places between words have several blanks and one.
func stretched(line string) (wide, single int, ok bool) {
	text := strings.TrimSpace(line)
	words := strings.Fields(text)
	if len(words) < minWords || strings.Contains(text, "\t") {
		return 0, 0, false
	}
	for _, at := range blanks.FindAllStringIndex(text, -1) {
		if at[1]-at[0] > maxBlanks {
			return 0, 0, false
		}
		wide++
	}
	return wide, len(words) - 1 - wide, true
}

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

// endsBefore reports whether the last line of a paragraph ends it, or a sentence, before the next line. The paragraph stands below
// the blocks of doc.
func endsBefore(doc *Document, para []string, next string, width int) bool {
	line := para[len(para)-1]
	return endsParagraph(doc, para, next, width) || strings.ContainsAny(line[len(line)-1:], ".!?")
}

// endsParagraph reports whether someone ended a paragraph, which stands below the blocks of doc, before the next line. Lines that
// begin with a date each are entries of a log. A paragraph that begins in lower case is by someone who begins lines so: unless a
// program wrapped the text, a line there goes on only if it breaks off or the next begins with "and" or the like.
func endsParagraph(doc *Document, para []string, next string, width int) bool {
	line := para[len(para)-1]
	if breaksBefore(line, next, width) || startsDated(para[0]) && startsDated(next) {
		return true
	}
	if !textline.BeginsLower(next) || breaksOff(line) || joining[firstWord(next)] {
		return false
	}
	above := ""
	if n := len(doc.Blocks); n > 0 {
		above = doc.Blocks[n-1].Text
	}
	if width == 0 {
		return beginsLower(above, para[0])
	}
	return len(para) == 1 && 2*utf8.RuneCountInString(line) < width && !goesOn(line, next)
}

// joining are words that begin no note.
var joining = english.Set("and or but und oder aber et ou mais y o pero")

// beginsLower reports whether a paragraph begins in lower case, and not because it follows a salutation: "Liebe Ada,".
func beginsLower(above, first string) bool {
	return textline.BeginsLower(first) && !strings.HasSuffix(above, ",")
}

// breaksOff reports whether a line ends within a sentence: at a comma, in a word, after a word that others follow, or in brackets.
func breaksOff(line string) bool {
	last := lastWord(line)
	return strings.HasSuffix(last, ",") || textline.EndsDivided(last) || textline.Links(strings.ToLower(last)) ||
		strings.LastIndexByte(line, '(') > strings.LastIndexByte(line, ')')
}

// startsDated reports whether a line begins with a day: "29/3 leaking again".
func startsDated(line string) bool { return startDate.MatchString(line) }

// startDate matches the date at the start of an entry. Two numbers with a dot between them may be an amount.
var startDate = lazyregexp.New(`^(?:\d{1,2}/(?:0?[1-9]|1[0-2])(?:/(?:\d{4}|\d{2}))?|\d{1,2}\.(?:0?[1-9]|1[0-2])\.(?:\d{4}|\d{2})?|\d{4}-\d{2}-\d{2}):? +\S`)

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

// minFull is how many lines must be full in a text that is wrapped if only paragraphs that begin in lower case go on so.
const minFull = 3

// wrapWidth returns the width at which a program wrapped the lines of a text, or 0 if none did. Wrapped lines have
// about one width: of those that text follows, more are full than not, and a line goes on in lower case. In a paragraph that begins
// in lower case, as notes do, that shows nothing, unless most of at least minFull lines are full. A line of less than half the width,
// such as "Dear Ada,", was broken on purpose in any text, and so were the rows of a table. It shows nothing but where the next line
// begins in lower case, and then only if it is not an item, not indented like code, and not the rest of a line that was wrapped
// twice. justified has the lines that only look like rows, see justified.
func wrapWidth(lines []string, justified map[int]bool) int {
	var full, broken [maxWidth + 1]int // by width
	var goesOn, lowerGoesOn bool
	var above string          // the last line with text, up to the paragraph
	lower, before := false, 0 // of the paragraph, and the length of the line before
	for i := 1; i < len(lines); i++ {
		line, next := strings.TrimSpace(lines[i-1]), strings.TrimSpace(lines[i])
		length := utf8.RuneCountInString(line)
		if before == 0 {
			lower = beginsLower(above, line)
		}
		remnant := before >= minWidth
		before = length
		if line != "" {
			above = line
		}
		row := hasColumns(line) && !justified[i-1]
		if line == "" || next == "" || row || textline.IsItem(next) || isRule(next) {
			continue
		}
		further := textline.BeginsLower(next) && !strings.ContainsAny(line[len(line)-1:], ".!?:")
		goesOn = goesOn || further && !lower
		lowerGoesOn = lowerGoesOn || further
		counts := further && !remnant && indentation(lines[i-1]) == 0 && !textline.IsItem(line) && !strings.HasSuffix(line, ",")
		for width := minWidth; width <= maxWidth; width++ {
			switch {
			case 2*length < width && !counts:
			case length > width, fits(line, next, width):
				broken[width]++
			default:
				full[width]++
			}
		}
	}
	best := 0
	for width := minWidth; width <= maxWidth; width++ {
		more := full[width] - broken[width]
		wrapped := goesOn && more > 0 || lowerGoesOn && full[width] >= minFull && full[width] > 3*broken[width]
		if wrapped && (best == 0 || more > full[best]-broken[best]) {
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

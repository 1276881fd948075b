package documents

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// parseText reads plain text. Blank lines end paragraphs; list items, and lines that someone broke on purpose, are blocks
// of their own. Lines in columns are tables. A short first line that a blank line or an underline follows is the title;
// later ones are headings.
//
// Mail programs keep their mailboxes in files without an extension: parseText reads those as what they are.
func parseText(ctx context.Context, data []byte) (Document, error) {
	if mailboxStart.Match(data[:min(len(data), 1024)]) {
		return parseMailbox(ctx, data)
	}
	text, err := decodeText(data)
	if err != nil {
		return Document{}, err
	}
	return textDocument(ctx, splitLines(text), true), nil
}

// textDocument returns the document in lines of plain text, or what it has of it when ctx ends. It looks for a title if titled
// is set.
func textDocument(ctx context.Context, lines []string, titled bool) Document {
	r := textReader{
		lines: lines, titled: titled, width: wrapWidth(lines), dated: letterDate(lines), headed: numberedHeadings(lines), days: dayHeadings(lines),
		indents: indentsOf(lines), full: justified(lines), rest: map[int][]string{},
	}
	for i := 0; i < len(lines) && ctx.Err() == nil; {
		n := r.block(i)
		if n == 0 {
			r.line(i)
			n = 1
		}
		i += n
	}
	r.end()
	for i, lines := range r.rest {
		r.doc.Blocks[i].Text = english.Collapse(joined(append([]string{r.doc.Blocks[i].Text}, lines...)))
	}
	r.doc.demoteTitle(false)
	return r.doc
}

// textReader makes blocks of lines of plain text.
type textReader struct {
	lines   []string
	titled  bool         // a short first line is the title
	width   int          // see wrapWidth
	dated   int          // see letterDate
	headed  map[int]bool // see numberedHeadings
	days    map[int]bool // see dayHeadings
	indents indents
	full    map[int]bool // see justified

	doc  Document
	para []string         // lines of the paragraph that has not ended
	item int              // the last line of the list item that was added last
	rest map[int][]string // the further lines of list items, by block
}

// end ends the paragraph, if there is one.
func (r *textReader) end() {
	r.doc.Add(Paragraph, joined(r.para))
	r.para = nil
}

// heading makes the only line of the paragraph a heading.
func (r *textReader) heading(level int) {
	r.doc.AddHeading(level, r.para[0])
	r.para = nil
}

// starts reports whether line begins a paragraph or a sentence.
func (r *textReader) starts(line string) bool {
	return len(r.para) == 0 || endsBefore(r.para[len(r.para)-1], line, r.width)
}

// block adds the table, the code or the hanging item that begins with line i, and returns how many lines it takes. It returns 0
// if none begins there.
func (r *textReader) block(i int) int {
	if !r.full[i] {
		if n, rows, head := textTable(r.lines[i:]); n > 0 {
			if len(r.para) == 1 && textline.LooksLikeTitle(r.para[0]) && !continuesEntry(r.lines, i-1) {
				r.heading(LowestLevel)
			}
			r.end()
			r.doc.addTable(rows, head)
			return n
		}
	}
	if len(r.para) > 0 {
		return 0
	}
	if n := indentedCode(r.lines, i); n > 0 && r.width > 0 {
		r.doc.addCode(r.lines[i : i+n])
		return n
	}
	if text, n := hanging(r.lines, i); n > 0 {
		r.doc.Add(Line, text)
		return n
	}
	return 0
}

// line adds line i, or keeps it for the paragraph.
func (r *textReader) line(i int) {
	trimmed := strings.TrimSpace(r.lines[i])
	level, head := atxHeading(trimmed)
	switch {
	case trimmed == "", isRule(trimmed):
		r.separator(i)
	case strings.Contains(trimmed, "....") && len(r.para) == 0: // dots lead from a name to its value
		r.doc.Add(Line, trimmed)
	case isMarkedHeading(r.lines, i):
		r.end()
		r.doc.AddHeading(2, trimmed)
	case r.days[i]:
		r.end()
		r.doc.AddHeading(2, strings.TrimSuffix(trimmed, ":"))
	case r.headed[i], len(r.para) == 0 && r.width > 0 && r.indents.hangs(r.lines, i):
		r.end()
		r.doc.AddHeading(3, strings.TrimSuffix(trimmed, "."))
	case r.leadsList(i):
		r.end()
		r.doc.Add(Paragraph, trimmed)
	case level > 0 && textline.LooksLikeTitle(trimmed), r.leadsText(i):
		r.end()
		if level == 0 {
			level, head = LowestLevel, trimmed
		}
		r.doc.AddHeading(level, strings.TrimSuffix(head, ":"))
	case textline.IsItem(trimmed) && (len(r.para) == 0 || !textline.Binds(r.para[len(r.para)-1])): // not "on the" and then "11. December"
		r.end()
		r.doc.Add(Line, trimmed)
		r.item = i
	case r.continuesItem(i), r.wrapsItem(i):
		last := len(r.doc.Blocks) - 1
		r.rest[last] = append(r.rest[last], trimmed)
		r.item = i
	case textline.IsLabel(english.Collapse(trimmed)) && len(r.para) == 0 && !standsAlone(r.lines, i) && !runsOn(r.lines, i, r.width):
		r.doc.Add(Line, trimmed)
	default:
		if len(r.para) > 0 && breaksBefore(r.para[len(r.para)-1], trimmed, r.width) {
			r.end()
		}
		r.para = append(r.para, trimmed)
	}
}

// separator ends the paragraph at line i, which is empty or a rule. A short line above it is the title or a heading.
func (r *textReader) separator(i int) {
	if len(r.para) == 1 && textline.LooksLikeTitle(r.para[0]) && hasText(r.lines[i:]) {
		if r.titled && len(r.doc.Blocks) == 0 && r.doc.Title == "" {
			r.doc.Title, r.para = r.para[0], nil
		} else if i-1 != r.dated && !r.indents.inBody(r.lines[i-1]) && (i < 2 || strings.TrimSpace(r.lines[i-2]) == "" || isRule(strings.TrimSpace(r.lines[i]))) {
			r.heading(2)
		}
	}
	r.end()
}

// leadsList reports whether line i introduces a list. It is no heading, as no more than the list is below it.
func (r *textReader) leadsList(i int) bool {
	line := strings.TrimSpace(r.lines[i])
	return isLead(line) && i+1 < len(r.lines) && (textline.IsItem(strings.TrimSpace(r.lines[i+1])) || leadsOnlyList(r.lines, i)) && r.starts(line)
}

// longestList is how many lines are searched for the end of a list, which may be within another.
const longestList = 400

// leadsOnlyList reports whether line i ends with a colon before a list, and text that belongs neither to the list nor below another
// heading follows: as a heading the line would take that text in.
func leadsOnlyList(lines []string, i int) bool {
	if !strings.HasSuffix(strings.TrimSpace(lines[i]), ":") {
		return false
	}
	listed := false
	for at := i + 1; at < min(len(lines), i+longestList); at++ {
		line := strings.TrimSpace(lines[at])
		switch {
		case line == "":
		case textline.IsItem(line):
			listed = true
		case !listed:
			return false
		case lines[at] != strings.TrimLeft(lines[at], " \t"), strings.TrimSpace(lines[at-1]) != "" && textline.BeginsLower(line): // goes on with an item
		default:
			return !headsNext(lines, at)
		}
	}
	return false
}

// headsNext reports whether line i may be a heading of its own, in plain text or in Markdown.
func headsNext(lines []string, i int) bool {
	line := strings.TrimSpace(lines[i])
	level, _ := atxHeading(line)
	_, bold := boldLine(lines, i)
	underlined := i+1 < len(lines) && isUnderline(strings.TrimSpace(lines[i+1]))
	alone := textline.LooksLikeTitle(line) && standsAlone(lines, i)
	return level > 0 || bold || underlined || alone || isRule(line) || isLead(line) || isMarkedHeading(lines, i) || isPlainHeading(lines, i)
}

// leadsText reports whether line i, which has no marks of a heading, is one by its words.
func (r *textReader) leadsText(i int) bool {
	line := strings.TrimSpace(r.lines[i])
	return (isLead(line) && hasText(r.lines[i+1:]) || isPlainHeading(r.lines, i)) && !(r.width > 0 && r.indents.inBody(r.lines[i])) && r.starts(line)
}

// continuesItem reports whether line i continues the list item that was added last.
func (r *textReader) continuesItem(i int) bool {
	blocks := r.doc.Blocks
	return len(blocks) > 0 && len(r.para) == 0 && strings.HasPrefix(r.lines[i], "  ") && !isEntry(strings.TrimSpace(r.lines[i])) && blocks[len(blocks)-1].Kind == Line &&
		i > 0 && strings.TrimSpace(r.lines[i-1]) != ""
}

// wrapsItem reports whether line i, which is not indented, continues the list item in the line above: that is full.
func (r *textReader) wrapsItem(i int) bool {
	if r.width == 0 || i == 0 || r.item != i-1 || len(r.para) > 0 || !textline.IsItem(strings.TrimSpace(r.lines[i-1])) && r.rest[len(r.doc.Blocks)-1] == nil {
		return false
	}
	line, next := strings.TrimSpace(r.lines[i-1]), strings.TrimSpace(r.lines[i])
	return !breaksBefore(line, next, r.width) && !fits(line, next, r.width*5/6)
}

// runsOn reports whether a line is full, and the next one goes on with its sentence.
func runsOn(lines []string, i, width int) bool {
	if width == 0 || i+1 == len(lines) {
		return false
	}
	line, next := strings.TrimSpace(lines[i]), strings.TrimSpace(lines[i+1])
	return next != "" && textline.BeginsLower(next) && !breaksBefore(line, next, width) && !fits(line, next, width*5/6)
}

// isEntry reports whether a line is a label whose value stands apart: "Phone:     08157 555 12".
func isEntry(line string) bool {
	at := gap.FindStringIndex(line)
	return at != nil && line[at[0]-1] == ':' && textline.IsLabel(english.Collapse(line))
}

// letterDate returns the index of the line that dates a letter, -1 if there is none. It must be the only line that is a date,
// perhaps after a place: several dates are the headings of a diary.
func letterDate(lines []string) int {
	at := -1
	for i, line := range lines {
		if dateline.MatchString(strings.TrimSpace(line)) {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}

// dateline matches a line that is a date, perhaps after a place: "Bremen, den 3. November 2026", "Lyon, le 4 mai 2026", "4 May 2026".
var dateline = regexp.MustCompile(`^(\p{Lu}[\pL .'-]{1,40}, +)?(\pL{1,3} +)?(\d{1,2}(\.|st|nd|rd|th|er)? +(de +)?\pL{3,12}\.?,? +(de +)?|\pL{3,9} +\d{1,2}, +|\d{1,2}[./-]\d{1,2}[./-])\d{4}$`)

// dayHeadings returns the lines of a diary that are headings: each is no more than a day, after a gap, with text in the line below it that
// does not go on with a sentence. A single one is the date of a letter.
func dayHeadings(lines []string) map[int]bool {
	out := map[int]bool{}
	above := "" // the last line with text
	for i, line := range lines {
		line = strings.TrimSpace(line)
		gap := i == 0 || isRule(strings.TrimSpace(lines[i-1])) || strings.TrimSpace(lines[i-1]) == ""
		if gap && day.MatchString(line) && i+1 < len(lines) && !textline.Links(strings.ToLower(above[strings.LastIndexByte(above, ' ')+1:])) {
			next := strings.TrimSpace(lines[i+1])
			out[i] = next != "" && !isRule(next) && !day.MatchString(next) && !textline.BeginsLower(next)
		}
		if line != "" {
			above = line
		}
	}
	maps.DeleteFunc(out, func(_ int, heads bool) bool { return !heads })
	if len(out) < 2 {
		return nil
	}
	return out
}

// day matches a line that is a day, perhaps with the time: "Monday 3 Feb", "Sat, 4/5/2025", "12. März 2025, 9:30 Uhr:".
var day = regexp.MustCompile(`(?i)^(?:(?:` + weekday + `)[.,]? +(?:the +|den +|le +)?)?(?:\d{1,2}(?:\.|st|nd|rd|th|er)? +(?:of +|de +)?(?:` + monthName + `)\b\.?,?(?: +(?:de +)?\d{4})?|(?:` + monthName + `)\.? +\d{1,2}(?:st|nd|rd|th)?(?:,? +\d{4})?|` +
	`\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})|\d{4}-\d{2}-\d{2})(?:,? +(?:at +|um +)?\d{1,2}[:.]\d{2}(?: ?(?:uhr|h|[ap]m))?)?:?$`)

const (
	weekday = `(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|(?:lun|mar|mercre|jeu|vendre|same)di|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo`

	monthName = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|januar|februar|märz|mai|juni|juli|oktober|dezember|` +
		`janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre`
)

// numbered is how a numbered heading begins.
var numbered = regexp.MustCompile(`^(\d{1,2})[.)] +\p{Lu}`)

// numberedHeadings returns the lines that are headings with a number, if there are several: each stands after an empty line and ends
// as no sentence does, and text that is no item begins in the line below.
func numberedHeadings(lines []string) map[int]bool {
	out := map[int]bool{}
	for i := range lines {
		if headsText(lines, i) {
			out[i] = true
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

func headsText(lines []string, i int) bool {
	line := lines[i]
	if !numbered.MatchString(line) || i+1 == len(lines) || i > 0 && strings.TrimSpace(lines[i-1]) != "" || !textline.LooksLikeTitle(strings.TrimSpace(line)) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(lines[i+1])
	return unicode.IsUpper(r) || unicode.IsDigit(r) && !textline.IsItem(lines[i+1])
}

// continuesEntry reports whether line i, before a table, lists what belongs to an entry above it: it is indented more than the line
// below it, and no heading.
func continuesEntry(lines []string, i int) bool {
	return strings.Contains(lines[i], ",") && indentation(lines[i]) > indentation(lines[i+1])
}

// hasText reports whether any line has text.
func hasText(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { l = strings.TrimSpace(l); return l != "" && !isRule(l) })
}

// isLead reports whether a line introduces those below it: "Kitchen:".
func isLead(line string) bool {
	name, ok := strings.CutSuffix(line, ":")
	return ok && english.CountWords(name) <= 10 && !textline.IsItem(line) && !strings.ContainsAny(name, ".:;!?")
}

// isMarkedHeading reports whether line i, after a blank line and before text, is a heading by its letters, which are all
// capitals, or by its sign: "§ 3 Membership".
func isMarkedHeading(lines []string, i int) bool {
	line := strings.TrimSpace(lines[i])
	if i+1 == len(lines) || i > 0 && strings.TrimSpace(lines[i-1]) != "" {
		return false
	}
	if strings.TrimSpace(lines[i+1]) == "" && !hasText(lines[i+1:min(i+4, len(lines))]) {
		return false
	}
	return textline.IsMarked(line)
}

// stamp is how a line of a chat, a log or a contract begins: a date or time in brackets, or a clause's number.
var stamp = regexp.MustCompile(`^(\[[0-9]{1,4}[-./:][0-9]{1,2}[-./:, \]]|\([0-9a-z]{1,2}\) )`)

// isPlainHeading reports whether line i, among others, is a heading without marks: a few words that form no sentence,
// before an item or before a line that begins with a pronoun or an article. It may end in a colon, or in the kind of
// text that follows: "The mill: overview".
func isPlainHeading(lines []string, i int) bool {
	line, colon := strings.CutSuffix(strings.TrimSpace(lines[i]), ":")
	if i+1 >= len(lines) || english.CountWords(line) > 6 || textline.IsItem(line) || strings.ContainsAny(line, ".!?;") || !english.IsName(line) || strings.HasPrefix(line, "As ") || slices.ContainsFunc(strings.Fields(line), english.IsVerb) {
		return false
	}
	if colon {
		return true
	}
	if strings.Contains(line, ":") && !textKinds[line[strings.LastIndexByte(line, ' ')+1:]] {
		return false
	}
	below := strings.TrimSpace(lines[i+1])
	next, _, _ := strings.Cut(below, " ")
	return english.Anaphors[strings.ToLower(next)] || next == "The" || textline.IsItem(below)
}

// textKinds are words for kinds of text.
var textKinds = english.Set("overview details information guide notes history facts plan profile contact summary handbook list introduction")

// endsBefore reports whether a line ends a paragraph or a sentence before the next.
func endsBefore(line, next string, width int) bool {
	return breaksBefore(line, next, width) || strings.ContainsAny(line[len(line)-1:], ".!?")
}

// breaksBefore reports whether a line was broken on purpose, rather than because it was full. width is the width at which a
// program wrapped the text, 0 if none did. A break is on purpose if another speaker begins in the next line, or if the next
// line begins like a sentence and either the text is not wrapped or the next word would still have fitted. In a text that is
// not wrapped, a line in lower case continues the line before it only if that ends in the middle of a sentence.
func breaksBefore(line, next string, width int) bool {
	r, _ := utf8.DecodeRuneInString(next)
	switch {
	case stamp.MatchString(next), english.Message.MatchString(next):
		return true
	case unicode.IsUpper(r), unicode.Is(unicode.Sc, r):
		return !textline.Binds(line) && (width == 0 || fits(line, next, width*5/6))
	case unicode.IsDigit(r):
		return !textline.Binds(line) && fits(line, next, max(minWidth, width*5/6))
	case unicode.IsLower(r):
		return (width == 0 || namesOnly(line)) && !goesOn(line, next)
	case unicode.IsLetter(r): // of a script without capitals
		return width == 0
	}
	return false
}

// fits reports whether the first word of the next line would still have fitted in a line of some width.
func fits(line, next string, width int) bool {
	word, _, _ := strings.Cut(next, " ")
	return utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width
}

// goesOn reports whether a sentence goes on in the next line, which begins in lower case.
func goesOn(line, next string) bool {
	words := strings.Fields(line)
	first, _, _ := strings.Cut(next, " ")
	last := words[len(words)-1]
	return strings.HasSuffix(last, ",") || strings.ContainsAny(next[len(next)-1:], ".!?") || textline.Links(english.TrimWord(strings.ToLower(last))) || textline.Links(english.TrimWord(first)) || english.IsVerb(last) || english.IsVerb(first)
}

// namesOnly reports whether a line is a name: "Zoé Picard".
func namesOnly(line string) bool {
	words := strings.Fields(line)
	return len(words) < 4 && !strings.ContainsAny(line, ".,;:!?") && !slices.ContainsFunc(words, func(w string) bool { return !english.IsName(w) })
}

// The widths, in characters, at which programs wrap lines.
const (
	minWidth = 60
	maxWidth = 100
)

// wrapWidth returns the width at which a program wrapped the lines of a text, or 0 if none did. Wrapped lines have about one width:
// of those that text follows, more are full than not, and a line goes on in lower case. A line of less than half the
// width, such as "Dear Ada,", was broken on purpose in any text.
func wrapWidth(lines []string) int {
	var full, broken [maxWidth + 1]int // by width
	goesOn := false
	for i := 1; i < len(lines); i++ {
		line, next := strings.TrimSpace(lines[i-1]), strings.TrimSpace(lines[i])
		if line == "" || next == "" || textline.IsItem(next) || isRule(next) {
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

// splitLines splits s at line ends of any kind.
func splitLines(s string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n\n", "\u2028", "\n", "\u2029", "\n\n").Replace(s), "\n")
}

// standsAlone reports whether line i is between blank lines, and more text follows.
func standsAlone(lines []string, i int) bool {
	blank := func(at int) bool { return at < 0 || at >= len(lines) || strings.TrimSpace(lines[at]) == "" }
	return blank(i-1) && blank(i+1) && hasText(lines[i+1:])
}

// isRule reports whether a line consists of punctuation that draws a rule.
func isRule(line string) bool {
	return len(line) >= 3 && strings.Trim(line, "-=*_~# ") == "" && strings.Count(line, line[:1]) >= 3
}

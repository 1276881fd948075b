package documents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// parseAsciiDoc reads AsciiDoc. Its lines are those of Markdown in other signs, so they become Markdown.
func parseAsciiDoc(ctx context.Context, data []byte) (Document, error) {
	lines, err := linesOf(data)
	if err != nil {
		return Document{}, err
	}
	a := asciiDoc{left: len(data), values: map[string]string{}}
	for _, line := range lines {
		if ctx.Err() != nil {
			return Document{}, ctx.Err()
		}
		a.line(strings.TrimRight(line, " \t"))
	}
	a.endBlock()
	return markdownDocument(ctx, append(a.out, ""), true), nil
}

// asciiDoc writes Markdown for the lines of a file in AsciiDoc.
type asciiDoc struct {
	markdownWriter
	headed bool              // a heading has been read
	header bool              // the lines below the title say who wrote the file
	values map[string]string // what names between braces stand for
	left   int               // bytes that these may add

	block   string // the line that ends the block: of code, of a table or of a comment
	columns int    // of the open table
	cells   []string
	ends    []int // where the lines of a table end, in cells
	named   bool  // its first line names its columns
	options string
	note    string // what the next paragraph is: "Note: "
	term    bool   // the last line is a term whose meaning begins below
	counts  []int  // the number of the last item of each open list
}

// Lines of files in AsciiDoc.
var (
	adocHeading   = lazyregexp.New(`^(={1,6}|#{1,6}) +(\S.*)$`)
	adocAttribute = lazyregexp.New(`^:(!?[\w-]+!?):(?: +(.*))?$`)
	adocItem      = lazyregexp.New(`^\s*(?:([*-]{1,6})|(\.{1,6})|(\d+\.)) +(\S.*)$`)
	adocTerm      = lazyregexp.New(`^\s*(\S.*?):{2,4}(?: +(\S.*))?$`)
	adocMacro     = lazyregexp.New(`^(image|video|audio|include|toc|ifdef|ifndef|endif|ifeval)::([^\[]*)\[([^\]]*)\]$`)
	adocNote      = lazyregexp.New(`^(` + adocNotes + `): +(\S.*)$`)
	adocStyle     = lazyregexp.New(`^\[([^\]]*)\]$`)
	adocFence     = lazyregexp.New("^(-{4,}|\\.{4,}|/{4,}|\\+{4,}|`{3,}|[|,:!]={3,})$")
	adocFrame     = lazyregexp.New(`^(--|={4,}|\*{4,}|_{4,})$`)
)

// adocNotes are the kinds of notes.
const adocNotes = "NOTE|TIP|IMPORTANT|WARNING|CAUTION"

// line reads a line.
func (a *asciiDoc) line(line string) {
	if a.block != "" {
		a.inBlock(line)
		return
	}
	attribute, heading := adocAttribute.FindStringSubmatch(line), adocHeading.FindStringSubmatch(line)
	switch {
	case adocFence.MatchString(line):
		a.begin(line)
	case strings.HasPrefix(line, "//"):
	case attribute != nil:
		a.attribute(attribute[1], attribute[2])
	case heading != nil:
		a.heading(len(heading[1]), heading[2])
	case adocStyle.MatchString(line):
		a.style(strings.Trim(line, "[]"))
	case line == "":
		a.header = false
		a.add("")
	case a.header:
		a.about(line)
	default:
		a.text(line)
	}
}

// about reads a line below the title, which says who wrote the file or which version it is.
func (a *asciiDoc) about(line string) {
	name := "author"
	if line[0] == 'v' && len(line) > 1 && strings.IndexByte("0123456789", line[1]) >= 0 || line[0] >= '0' && line[0] <= '9' {
		name = "revision"
	}
	a.add("", english.Capitalise(name)+": "+a.inline(line), "")
}

// Bounds of what names between braces stand for.
const (
	adocValues = 1 << 10 // names
	adocValue  = 4 << 10 // bytes of a value
)

// attribute keeps what a name stands for. A few say something of the file.
func (a *asciiDoc) attribute(name, value string) {
	name = strings.ToLower(name)
	if len(a.values) < adocValues && len(value) < adocValue {
		a.values["{"+name+"}"] = value
	}
	switch name {
	case "author", "email", "description", "keywords", "revnumber", "revdate":
		if value != "" {
			a.add("", nameOf(name)+": "+a.inline(value), "")
		}
	}
}

// heading adds a heading.
func (a *asciiDoc) heading(level int, text string) {
	first := !a.headed
	a.headed, a.counts = true, nil
	if first && level == 1 {
		a.header = true
	}
	a.addHeading(level, a.inline(text))
}

// style reads the line "[…]" above a block.
func (a *asciiDoc) style(style string) {
	a.options = style
	if name, _, _ := strings.Cut(style, ","); slices.Contains(strings.Split(adocNotes, "|"), name) {
		a.note = english.Capitalise(strings.ToLower(name)) + ": "
	}
}

// text reads a line of a paragraph or of a list.
func (a *asciiDoc) text(line string) {
	item, term, note, macro := adocItem.FindStringSubmatch(line), adocTerm.FindStringSubmatch(line), adocNote.FindStringSubmatch(line), adocMacro.FindStringSubmatch(line)
	switch {
	case line == "+", adocFrame.MatchString(line), strings.HasPrefix(line, "<<<"):
		a.add("")
	case line[0] == '.' && len(line) > 1 && line[1] != '.' && line[1] != ' ':
		a.add("", "**"+a.inline(line[1:])+"**", "")
	case macro != nil:
		if text, _, _ := strings.Cut(macro[3], ","); macro[1] == "image" && text != "" {
			a.add("", a.inline(text), "")
		}
	case note != nil:
		a.add("", english.Capitalise(strings.ToLower(note[1]))+": "+a.inline(note[2]))
	case item != nil:
		a.term = false
		a.item(item)
	case term != nil && english.CountWords(term[1]) <= textline.AboveWords:
		a.add("", a.inline(term[1]))
		if a.term = term[2] == ""; !a.term {
			a.add(rstMeaning + a.inline(term[2]))
		}
	case a.term:
		a.add(rstMeaning + a.inline(strings.TrimSpace(line)))
		a.term = false
	default:
		goesOn, broken := strings.CutSuffix(strings.TrimSpace(line), " +")
		a.add(a.note + a.inline(goesOn))
		if a.note = ""; broken {
			a.add("")
		}
	}
}

// item adds an item of a list, given what adocItem matches.
func (a *asciiDoc) item(m []string) {
	mark := "- "
	switch {
	case m[2] != "":
		depth := len(m[2])
		for len(a.counts) < depth {
			a.counts = append(a.counts, 0)
		}
		a.counts = a.counts[:depth]
		a.counts[depth-1]++
		mark = fmt.Sprintf("%d. ", a.counts[depth-1])
	case m[3] != "":
		mark = m[3] + " "
	}
	if len(m[1]) == 1 {
		a.counts = nil
	}
	a.add(mark + a.inline(m[4]))
}

// begin begins a block of code, a table or a comment.
func (a *asciiDoc) begin(line string) {
	a.block = line
	switch {
	case strings.HasSuffix(line, "==="):
		a.columns, a.cells, a.ends = 0, nil, nil
		a.named = strings.Contains(a.options, "header")
		if m := adocColumns.FindStringSubmatch(a.options); m != nil {
			a.columns = columnsOf(m[1])
		}
	case line[0] != '/':
		a.add("", "```")
	}
	a.options = ""
}

// adocColumns matches the option of a table that says how many columns it has: "1,2,2" or "3*".
var adocColumns = lazyregexp.New(`cols="?([^"\]]+)"?`)

// columnsOf counts the columns of a table's option.
func columnsOf(option string) int {
	n := 0
	for part := range strings.FieldsFuncSeq(option, func(r rune) bool { return r == ',' || r == ';' }) {
		many := 1
		if before, _, ok := strings.Cut(part, "*"); ok && len(before) < 3 {
			fmt.Sscan(before, &many)
		}
		n += many
	}
	return min(n, csvFields)
}

// inBlock reads a line of a block.
func (a *asciiDoc) inBlock(line string) {
	switch {
	case line == a.block:
		a.endBlock()
	case strings.HasSuffix(a.block, "==="):
		a.row(line)
	case a.block[0] != '/':
		a.addCode(line)
	}
}

// endBlock ends the block.
func (a *asciiDoc) endBlock() {
	block := a.block
	a.block = ""
	switch {
	case strings.HasSuffix(block, "==="):
		a.endTable()
	case block != "" && block[0] != '/':
		a.add("```", "")
	}
}

// adocCell matches what begins a cell, with its width and style.
var adocCell = lazyregexp.New(`(?:^|\s)(?:\d+(?:\.\d+)?[+*]|\.\d+\+)?[<^>.]{0,3}[adehlmsv]?[|!]`)

// row reads a line of a table. A blank line below the first one says that this names the columns.
func (a *asciiDoc) row(line string) {
	if strings.IndexByte(",:", a.block[0]) >= 0 {
		for cell := range strings.SplitSeq(line, a.block[:1]) {
			a.cells = append(a.cells, strings.TrimSpace(cell))
		}
		a.ends = append(a.ends, len(a.cells))
		return
	}
	if line == "" {
		a.named = a.named || len(a.ends) == 1 && len(a.cells) > 0
		if len(a.ends) == 0 {
			a.ends = append(a.ends, len(a.cells))
		}
		return
	}
	starts := adocCell.FindAllStringIndex(line, -1)
	before := line
	if len(starts) > 0 {
		before = line[:starts[0][0]]
	}
	if last := len(a.cells) - 1; last >= 0 && len(a.cells[last]) < maxCell && strings.TrimSpace(before) != "" {
		a.cells[last] += " " + strings.TrimSpace(before)
	}
	for i, start := range starts {
		end := len(line)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		a.cells = append(a.cells, strings.TrimSpace(line[start[1]:end]))
	}
	a.ends = append(a.ends, len(a.cells))
}

// endTable writes the table. Without an option its first line says how many columns it has.
func (a *asciiDoc) endTable() {
	columns := a.columns
	for i := 0; i < len(a.ends) && columns == 0; i++ {
		columns = a.ends[i]
	}
	var rows [][]string
	if columns > 0 {
		rows = slices.Collect(slices.Chunk(a.cells, columns))
	}
	a.addTable(rows, a.named, a.inline)
	a.cells, a.ends = nil, nil
}

// Marks within a line.
var (
	adocName  = lazyregexp.New(`\{[\w-]{1,40}\}`)
	adocLink  = lazyregexp.New(`(?:(?:link|xref|mailto|image|icon|kbd|btn|menu):([^\s\[\]]*)|(https?://[^\s\[\]]+))\[([^\]]*)\]`)
	adocNamed = lazyregexp.New(`\{[\w-]{1,40}\}[^\s\[\]]*\[([^\]]+)\]`) // whose address another file gives
	adocXref  = lazyregexp.New(`<<([^<>,]{1,200})(?:,\s*([^<>]{1,200}))?>>`)
	adocFoot  = lazyregexp.New(`footnote:[\w-]*\[([^\]]*)\]`)
	adocID    = lazyregexp.New(`\[\[[\w-]+(?:,[^\]]*)?\]\]|\(\(\(?|\)\)\)?`)
	adocRole  = lazyregexp.New(`\[[.#][\w. #-]{1,60}\]([#*_` + "`" + `])`)
)

// inline returns a line in Markdown's signs.
func (a *asciiDoc) inline(line string) string {
	line = adocName.ReplaceAllStringFunc(line, func(name string) string {
		value, known := a.values[strings.ToLower(name)]
		if a.left -= len(value); !known || a.left < 0 {
			return name
		}
		return value
	})
	if strings.IndexByte(line, '[') >= 0 {
		line = adocID.ReplaceAllString(line, "")
		line = adocFoot.ReplaceAllString(line, " ($1)")
		line = adocRole.ReplaceAllString(line, "$1")
		for _, links := range []*lazyregexp.Regexp{adocLink, adocNamed} {
			line = links.ReplaceAllStringFunc(line, func(link string) string {
				m := links.FindStringSubmatch(link)
				text, _, _ := strings.Cut(m[len(m)-1], ",")
				if text = strings.Trim(text, `"^`); text != "" {
					return text
				}
				return strings.Join(m[1:len(m)-1], "")
			})
		}
	}
	return adocXref.ReplaceAllStringFunc(line, func(ref string) string {
		m := adocXref.FindStringSubmatch(ref)
		if m[2] != "" {
			return m[2]
		}
		return strings.NewReplacer("_", " ", "-", " ").Replace(strings.Trim(m[1], "_#"))
	})
}

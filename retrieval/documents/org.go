package documents

import (
	"context"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// parseOrg reads notes in Emacs's Org mode. Their lines are those of Markdown in other signs, so they become Markdown.
func parseOrg(ctx context.Context, data []byte) (Document, error) {
	lines, err := linesOf(data)
	if err != nil {
		return Document{}, err
	}
	o := org{}
	for _, line := range lines {
		if ctx.Err() != nil {
			return Document{}, ctx.Err()
		}
		o.line(line)
	}
	o.endFixed()
	if o.block == "code" {
		o.add("```")
	}
	return markdownDocument(ctx, append(append(o.front(), o.out...), ""), o.tops == 1 && o.title == ""), nil
}

// org writes Markdown for the lines of an Org file.
type org struct {
	markdownWriter
	title string
	about []string // what the file says of itself
	tops  int      // headings of the highest level
	top   int      // that level

	block  string // "code" or "drop" in a block whose text is code or left out
	ends   string // the line that ends the block, in lower case
	drawer string // the drawer that is open, in upper case
	fixed  bool   // lines of fixed width are being written as code
	listed bool   // below an item of a list,
	indent int    // which is indented as much
	table  bool   // the last line was one of a table
}

// front returns what the file says of itself, as Markdown's front matter.
func (o *org) front() []string {
	out := []string{"---"}
	if o.title != "" {
		out = append(out, "title: "+o.title)
	}
	if out = append(out, o.about...); len(out) == 1 {
		return nil
	}
	return append(out, "---")
}

// Lines of Org files.
var (
	orgHeading = lazyregexp.New(`^(\*+) +(.*?)(?:\s+:([\pL\d_@#%:]+):)?\s*$`)
	orgKeyword = lazyregexp.New(`^\s*#\+(\w+)(?:\[[^\]]*\])?:\s*(.*)$`)
	orgBegin   = lazyregexp.New(`^(?i:\s*#\+begin_(\w+))`)
	orgDrawer  = lazyregexp.New(`^\s*:([\w-]+):(?:\s+(.*))?$`)
	orgPlan    = lazyregexp.New(`(SCHEDULED|DEADLINE|CLOSED): *[<\[]([^>\]]{1,60})[>\]]`)
	orgTerm    = lazyregexp.New(`^(\s*- +(?:\[[ X-]\] +)?\S.*?) +:: +`)
	orgFixed   = lazyregexp.New(`^\s*:(?: (.*))?$`)
	orgMark    = lazyregexp.New(`^(TODO |DONE |[A-Z]{4,12} )?\[#[A-Z0-9]\] +`)
)

// line reads a line.
func (o *org) line(line string) {
	trimmed := strings.TrimSpace(line)
	if o.block != "" {
		o.inBlock(line, trimmed)
		return
	}
	if m := orgHeading.FindStringSubmatch(line); m != nil {
		o.heading(len(m[1]), m[2], m[3])
		return
	}
	if o.inDrawer(trimmed) {
		return
	}
	if m := orgFixed.FindStringSubmatch(line); m != nil {
		if !o.fixed {
			o.fixed = true
			o.add("```")
		}
		o.add(m[1])
		return
	}
	o.endFixed()
	isTable := strings.HasPrefix(trimmed, "|")
	switch m := orgBegin.FindStringSubmatch(line); {
	case m != nil:
		o.begin(strings.ToLower(m[1]))
	case strings.HasPrefix(trimmed, "#+"):
		o.keyword(line)
	case trimmed == "#", strings.HasPrefix(trimmed, "# "):
	case strings.HasPrefix(trimmed, "|-"):
		if o.table { // a rule above the first row says nothing
			o.add(strings.ReplaceAll(trimmed, "+", "|"))
		}
	case isTable:
		o.add(orgInline(trimmed))
	case orgPlan.MatchString(trimmed):
		o.plan(trimmed)
	default:
		o.text(line, trimmed)
	}
	o.table = isTable
}

// endFixed ends lines of fixed width.
func (o *org) endFixed() {
	if o.fixed {
		o.fixed = false
		o.add("```")
	}
}

// begin starts a block. The text of one for quotations, or of an unknown kind, is text.
func (o *org) begin(kind string) {
	o.ends = "#+end_" + kind
	switch kind {
	case "src", "example":
		o.block = "code"
		o.add("```")
	case "comment", "export":
		o.block = "drop"
	default:
		o.add("")
	}
}

// inBlock reads a line of a block.
func (o *org) inBlock(line, trimmed string) {
	ends := strings.EqualFold(trimmed, o.ends)
	if o.block == "code" {
		if ends {
			o.add("```")
		} else {
			o.addCode(strings.Replace(strings.Replace(line, ",*", "*", 1), ",#+", "#+", 1))
		}
	}
	if ends {
		o.block = ""
	}
}

// heading adds a heading, with its tags as a line below.
func (o *org) heading(level int, text, tags string) {
	o.endFixed()
	o.drawer, o.listed, o.table = "", false, false
	if text = orgMark.ReplaceAllString(text, "$1"); text == "" {
		return
	}
	switch {
	case o.top == 0 || level < o.top:
		o.top, o.tops = level, 1
	case level == o.top:
		o.tops++
	}
	o.addHeading(level, orgInline(text))
	if tags != "" {
		o.add("Tags: "+strings.ReplaceAll(tags, ":", ", "), "")
	}
}

// inDrawer reads a line of a drawer, which has an entry's properties or its history, and reports whether it was one.
func (o *org) inDrawer(trimmed string) bool {
	m := orgDrawer.FindStringSubmatch(trimmed)
	switch {
	case o.drawer == "":
		if m == nil || m[2] != "" {
			return false
		}
		o.drawer = strings.ToUpper(m[1])
	case m != nil && strings.EqualFold(m[1], "END"):
		o.drawer = ""
		o.add("")
	case o.drawer == "PROPERTIES" && m != nil && m[2] != "" && !strings.HasSuffix(strings.ToUpper(m[1]), "ID"):
		o.add("", m[1]+": "+orgInline(m[2]))
	}
	return true
}

// keyword reads a line such as "#+TITLE: Notes".
func (o *org) keyword(line string) {
	m := orgKeyword.FindStringSubmatch(line)
	if m == nil || m[2] == "" {
		return
	}
	switch name := strings.ToLower(m[1]); name {
	case "title":
		if len(o.title) < orgTitle {
			o.title = strings.TrimSpace(o.title + " " + orgInline(m[2]))
		}
	case "subtitle", "author", "date", "description", "keywords":
		if len(o.about) < orgAbout {
			o.about = append(o.about, name+": "+orgInline(m[2]))
		}
	case "caption":
		o.add("", orgInline(m[2]), "")
	}
}

// Bounds of what a file says of itself.
const (
	orgTitle = 64 // bytes of the title to which no further line is joined
	orgAbout = 32 // other lines
)

// plan adds when an entry is due.
func (o *org) plan(line string) {
	for _, m := range orgPlan.FindAllStringSubmatch(line, -1) {
		o.add("", english.Capitalise(strings.ToLower(m[1]))+": "+m[2])
	}
	o.add("")
}

// text adds a line of a paragraph or of a list. Some programs indent all text below a heading: that is no code.
func (o *org) text(line, trimmed string) {
	indented := line != strings.TrimLeft(line, " \t")
	trimmed, broken := strings.CutSuffix(trimmed, `\\`)
	switch item := textline.IsItem(trimmed) && (trimmed[0] != '*' || indented); {
	case trimmed == "":
		o.add("")
		return
	case item:
		o.listed, o.indent = true, indentation(line)
		o.add(orgInline(orgTerm.ReplaceAllString(trimmed, "$1: ")))
	case o.listed && indentation(line) > o.indent:
		o.add("  " + orgInline(trimmed))
	default:
		if o.listed { // the list, or at least the item, has ended
			o.add("")
		}
		o.listed = false
		o.add(orgInline(trimmed))
		if broken {
			o.add("")
		}
	}
}

// Marks within a line.
var (
	orgLink     = lazyregexp.New(`\[\[([^\[\]]*)\](?:\[([^\[\]]*)\])?\]`)
	orgTime     = lazyregexp.New(`[<\[](\d{4}-\d{2}-\d{2}[^<>\[\]]{0,40})[>\]]`)
	orgFootnote = lazyregexp.New(`(\S)\[fn:[^\]:]*\]`)
)

// orgInline returns a line in Markdown's signs.
func orgInline(line string) string {
	line = orgTime.ReplaceAllString(line, "$1")
	line = orgFootnote.ReplaceAllString(line, "$1")
	line = orgLink.ReplaceAllStringFunc(line, func(link string) string {
		target, text, _ := strings.Cut(strings.Trim(link, "[]"), "][")
		if text == "" {
			text = strings.TrimPrefix(target, "file:")
		}
		return text
	})
	return orgEmphasis(line)
}

// orgReach is how many bytes after an opening mark its end is looked for.
const orgReach = 200

// orgEmphasis replaces the marks around words: = and ~ around code, / around what is slanted and + around what is struck out.
func orgEmphasis(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		mark := line[i]
		opens := strings.IndexByte("=~/+", mark) >= 0 && (i == 0 || strings.IndexByte(" ('\"{-|", line[i-1]) >= 0) && i+1 < len(line) && line[i+1] != ' '
		end := 0
		if opens {
			end = orgClose(line, i)
		}
		if end == 0 {
			b.WriteByte(mark)
			continue
		}
		inner := line[i+1 : end]
		switch mark {
		case '/':
			b.WriteString(inner)
		case '+':
			b.WriteString("~~" + inner + "~~")
		default:
			b.WriteString("`" + strings.ReplaceAll(inner, "`", "") + "`")
		}
		i = end
	}
	return b.String()
}

// orgClose returns where the mark at an offset is closed, 0 if it is not.
func orgClose(line string, at int) int {
	for i := at + 2; i < min(len(line), at+orgReach); i++ {
		if line[i] == line[at] && line[i-1] != ' ' && (i+1 == len(line) || strings.IndexByte(" )'\"}-|.,;:!?[", line[i+1]) >= 0) {
			return i
		}
	}
	return 0
}

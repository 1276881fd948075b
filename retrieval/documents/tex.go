package documents

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/blocks"
)

// parseTeX reads the text of a file in LaTeX, without its commands. What stands before the text gives the title; mathematics stays
// as it is written.
func parseTeX(ctx context.Context, data []byte) (Document, error) {
	lines, err := linesOf(data)
	if err != nil {
		return Document{}, err
	}
	text := strings.Join(lines, "\n")
	r := texReader{ctx: ctx, s: text}
	if before, body, ok := strings.Cut(text, `\begin{document}`); ok {
		r.preamble(before)
		r.s, _, _ = strings.Cut(body, `\end{document}`)
	}
	r.read()
	if ctx.Err() != nil {
		return Document{}, ctx.Err()
	}
	if len(r.doc.Blocks) == 0 {
		return Document{}, errors.New("no text in it (only commands?)")
	}
	return r.doc, nil
}

// Bounds of reading LaTeX.
const (
	texArgument = 2 << 10 // bytes of what stands between brackets
	texDepth    = 4       // commands with text within each other
	texLists    = 16      // lists within each other
)

// texReader makes blocks of the text of a file.
type texReader struct {
	ctx   context.Context
	s     string
	at    int
	depth int // of the commands around the text
	doc   Document
	text  strings.Builder // that has not ended
	item  bool            // the text is a list item
	lists []int           // the number of the last item of each open list, -1 where items have none
	grid  *blocks.Table   // the outermost open table
	span  int             // how many of its columns the open cell takes
	table int             // open tables
}

// Parts of what stands before the text: comments, and commands that say something of the text or of who wrote it.
var (
	texRemark = lazyregexp.New(`(?m)(^|[^\\])%.*$`)
	texAbout  = lazyregexp.New(`\\(title|author|name|date|signature|address|telephone|phone|email)\s*[\[{]`)
)

// preamble reads what the commands before the text say of it. The last of a kind holds.
func (r *texReader) preamble(before string) {
	before = texRemark.ReplaceAllString(before, "$1")
	var names []string
	last := map[string]int{}
	for _, m := range texAbout.FindAllStringSubmatchIndex(before, -1) {
		name := before[m[2]:m[3]]
		if _, known := last[name]; !known {
			names = append(names, name)
		}
		last[name] = m[3]
	}
	for _, name := range names {
		p := texReader{ctx: r.ctx, s: before, at: last[name]}
		argument, ok := p.argument()
		for more := ""; ok && len(argument) < texArgument; { // "\name{Ada}{Lund}"
			if more, ok = p.bracketed('{', '}'); ok {
				argument += " " + more
			}
		}
		r.about(name, argument)
	}
}

// about keeps what a file says of itself.
func (r *texReader) about(name, argument string) {
	text := r.inline(argument)
	if name == "title" {
		r.doc.Title = text
	} else if text != "" {
		r.doc.Add(Line, name+": "+text)
	}
}

// read reads the text.
func (r *texReader) read() {
	for r.at < len(r.s) && r.ctx.Err() == nil && len(r.doc.Blocks) < blocks.MaxBlocks {
		switch c := r.s[r.at]; c {
		case '\\':
			r.command()
		case '%': // a comment, with the line's end
			line, _, _ := strings.Cut(r.s[r.at:], "\n")
			r.at = min(r.at+len(line)+1, len(r.s))
			r.keepEmptyLine()
		case '$':
			r.math()
		case '\n':
			r.lineEnd()
		case '{', '}':
			if strings.HasPrefix(r.s[r.at:], "}{") { // two texts of a command
				r.text.WriteByte(' ')
			}
			r.at++
		case '~':
			r.sign(" ", 1)
		case '&':
			if r.at++; r.table > 0 {
				r.cell()
			}
		case '-', '`', '\'':
			r.punctuation()
		default:
			end := strings.IndexAny(r.s[r.at:], "\\%$\n{}~&-`'")
			if end < 0 {
				end = len(r.s) - r.at
			}
			r.sign(r.s[r.at:r.at+end], end)
		}
	}
	if r.table > 0 {
		r.endTable()
	}
	r.end()
}

// sign adds text in the place of n bytes.
func (r *texReader) sign(text string, n int) {
	r.text.WriteString(text)
	r.at += n
}

// texSigns are what stands for other signs.
var texSigns = []struct{ written, read string }{{"---", "—"}, {"--", "–"}, {"``", "“"}, {"''", "”"}, {"-", "-"}, {"`", "‘"}, {"'", "'"}}

// punctuation reads a dash or a quotation mark.
func (r *texReader) punctuation() {
	for _, sign := range texSigns {
		if strings.HasPrefix(r.s[r.at:], sign.written) {
			r.sign(sign.read, len(sign.written))
			return
		}
	}
}

// keepEmptyLine goes back over a line end that has been skipped, if an empty line follows: that still ends the paragraph.
func (r *texReader) keepEmptyLine() {
	if r.at < len(r.s) && r.s[r.at] == '\n' {
		r.at--
	}
}

// lineEnd reads the end of a line. An empty line ends the paragraph.
func (r *texReader) lineEnd() {
	n := len(r.s[r.at:]) - len(strings.TrimLeft(r.s[r.at:], " \t\n"))
	if strings.Count(r.s[r.at:r.at+n], "\n") > 1 && r.table == 0 {
		r.end()
	}
	r.sign(" ", n)
}

// end ends the paragraph or the item.
func (r *texReader) end() {
	kind := Paragraph
	if r.item {
		kind = Line
	}
	r.doc.Add(kind, r.text.String())
	r.text.Reset()
	r.item = false
}

// cell ends a cell.
func (r *texReader) cell() {
	r.grid.AddCell(r.text.String(), r.span, 1)
	r.text.Reset()
	r.span = 1
}

// row ends a row.
func (r *texReader) row() {
	r.cell()
	r.grid.BeginRow()
}

// beginTable begins the outermost table.
func (r *texReader) beginTable() {
	r.end()
	r.grid, r.span = &blocks.Table{}, 1
	r.grid.BeginRow()
}

// endTable adds the open table.
func (r *texReader) endTable() {
	r.row()
	rows, head := r.grid.JoinHeads(r.grid.GuessHeads())
	if head == blocks.NoHead {
		head = blocks.AssumeHead
	}
	r.doc.AddTable(rows, head)
	r.grid, r.table = nil, 0
}

// math copies mathematics up to the dollar at its end.
func (r *texReader) math() {
	mark := "$"
	if strings.HasPrefix(r.s[r.at:], "$$") {
		mark = "$$"
	}
	inner := r.s[r.at+len(mark) : min(len(r.s), r.at+texArgument)]
	end := strings.Index(inner, mark)
	if end < 0 || strings.Contains(inner[:end], "\n\n") {
		r.sign(mark, len(mark))
		return
	}
	r.sign(mark+inner[:end]+mark, 2*len(mark)+end)
}

// until returns the text up to a mark and skips both. Without the mark it is the rest.
func (r *texReader) until(mark string) string {
	inner, _, _ := strings.Cut(r.s[r.at:], mark)
	r.at = min(r.at+len(inner)+len(mark), len(r.s))
	return inner
}

// argument reads what stands between braces after a command, and skips options in brackets before it. It reads nothing if that is
// missing or too long.
func (r *texReader) argument() (string, bool) {
	r.bracketed('[', ']')
	return r.bracketed('{', '}')
}

// bracketed reads what stands between brackets.
func (r *texReader) bracketed(opens, closes byte) (string, bool) {
	from := r.at
	for from < len(r.s) && from < r.at+8 && strings.IndexByte(" \n", r.s[from]) >= 0 {
		from++
	}
	if from == len(r.s) || r.s[from] != opens {
		return "", false
	}
	open := 0
	for i := from; i < min(len(r.s), from+texArgument); i++ {
		switch r.s[i] {
		case '\\':
			i++
		case opens:
			open++
		case closes:
			if open--; open == 0 {
				r.at = i + 1
				return r.s[from+1 : i], true
			}
		}
	}
	return "", false
}

// inline returns the text of an argument.
func (r *texReader) inline(argument string) string {
	if r.depth == texDepth {
		return argument
	}
	p := texReader{ctx: r.ctx, s: argument, depth: r.depth + 1}
	p.read()
	var texts []string
	for _, b := range p.doc.Blocks {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, " ")
}

// texCommand matches a command of letters.
var texCommand = lazyregexp.New(`^\\([a-zA-Z]+)\*?[ \t]*\n?`)

// Commands by what becomes of them.
var (
	texLevels  = map[string]int{"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5, "subparagraph": 6}
	texLetters = map[string]string{
		"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "i": "ı", "S": "§", "P": "¶",
		"ldots": "…", "dots": "…", "textellipsis": "…", "textendash": "–", "textemdash": "—", "euro": "€", "EUR": "€", "texteuro": "€", "pounds": "£", "copyright": "©",
		"textbackslash": `\`, "textasciitilde": "~", "textbar": "|", "textdegree": "°", "degree": "°", "LaTeX": "LaTeX", "TeX": "TeX", "quad": " ", "qquad": " ", "newline": " ", "today": "",
		"glqq": "„", "grqq": "“", "flqq": "«", "frqq": "»",
	}
	texAccents = map[byte]string{'"': "\u0308", '\'': "\u0301", '`': "\u0300", '^': "\u0302", '~': "\u0303", '=': "\u0304", '.': "\u0307"}
	texAccent  = map[string]string{"c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "r": "\u030a", "k": "\u0328"}
	// texDrop has the number of arguments that say nothing to readers.
	texDrop = map[string]int{
		"label": 1, "ref": 1, "eqref": 1, "pageref": 1, "autoref": 1, "cref": 1, "Cref": 1, "cite": 1, "citep": 1, "citet": 1, "parencite": 1, "textcite": 1, "nocite": 1, "vspace": 1,
		"hspace": 1, "includegraphics": 1, "bibliographystyle": 1, "bibliography": 1, "addbibresource": 1, "usepackage": 1, "documentclass": 1, "pagestyle": 1, "thispagestyle": 1,
		"setlength": 2, "addtolength": 2, "setcounter": 2, "addtocounter": 2, "newcommand": 2, "renewcommand": 2, "providecommand": 2, "newtheorem": 2, "definecolor": 3, "color": 1, "textcolor": 1, "colorbox": 1, "fcolorbox": 2, "input": 1,
		"include": 1, "index": 1, "hypersetup": 1, "selectlanguage": 1, "pagenumbering": 1, "graphicspath": 1, "cline": 1, "cmidrule": 1, "fontsize": 2, "addcontentsline": 3, "rule": 2,
		"multirow": 2, "foreignlanguage": 1, "hyphenation": 1, "geometry": 1, "setmainfont": 1, "bibitem": 1, "rowcolor": 1, "parbox": 1,
	}
)

// command reads a command.
func (r *texReader) command() {
	m := texCommand.FindStringSubmatch(r.s[r.at:min(len(r.s), r.at+64)])
	if m == nil {
		r.signCommand()
		return
	}
	name := m[1]
	r.at += len(m[0])
	if strings.HasSuffix(m[0], "\n") {
		r.keepEmptyLine()
	}
	if level := texLevels[name]; level > 0 {
		r.heading(level)
		return
	}
	if accent := texAccent[name]; accent != "" {
		r.accent(accent)
		return
	}
	if letter, ok := texLetters[name]; ok {
		r.text.WriteString(letter)
		return
	}
	if n, ok := texDrop[name]; ok {
		if name == "bibitem" {
			r.beginItem("-")
		}
		if name == "cmidrule" {
			r.bracketed('(', ')')
		}
		for range n {
			r.argument()
			r.bracketed('[', ']') // "\newcommand{\mill}[1]{…}"
		}
		return
	}
	r.textCommand(name)
}

// textCommand reads a command that has text. Of one that is unknown the text stays.
func (r *texReader) textCommand(name string) {
	switch name {
	case "begin":
		env, _ := r.bracketed('{', '}')
		r.begin(env)
	case "end":
		env, _ := r.bracketed('{', '}')
		r.endEnvironment(strings.TrimSuffix(env, "*"))
	case "par", "newpage", "clearpage", "maketitle", "tableofcontents", "centering", "bigskip", "medskip", "smallskip", "noindent":
		if r.table == 0 && name != "noindent" {
			r.end()
		}
	case "item":
		label, _ := r.bracketed('[', ']')
		r.beginItem(r.inline(label))
	case "title", "author", "date":
		argument, _ := r.argument()
		r.about(name, argument)
	case "caption":
		argument, _ := r.argument()
		r.doc.Add(Paragraph, r.inline(argument))
	case "footnote", "thanks":
		argument, _ := r.argument()
		r.text.WriteString(" (" + r.inline(argument) + ")")
	case "href":
		r.bracketed('{', '}')
	case "multicolumn":
		columns, _ := r.bracketed('{', '}')
		r.span, _ = strconv.Atoi(strings.TrimSpace(columns))
		r.bracketed('{', '}')
	case "verb", "lstinline":
		if r.at < len(r.s) {
			mark := strings.Replace(r.s[r.at:r.at+1], "{", "}", 1)
			r.at++
			r.text.WriteString(r.until(mark))
		}
	case "url", "path", "nolinkurl":
		argument, _ := r.argument()
		r.text.WriteString(argument)
	default:
		r.bracketed('[', ']')
	}
}

// heading reads the text of a heading.
func (r *texReader) heading(level int) {
	r.end()
	if argument, ok := r.argument(); ok {
		r.doc.AddHeading(level, r.inline(argument))
	}
}

// signCommand reads a command that is a sign.
func (r *texReader) signCommand() {
	sign := byte(0)
	if r.at+1 < len(r.s) {
		sign = r.s[r.at+1]
	}
	r.at = min(r.at+2, len(r.s))
	switch {
	case texAccents[sign] != "" && strings.HasPrefix(r.s[r.at:], "{}"): // no letter: the sign itself
		r.sign(string(sign), len("{}"))
	case texAccents[sign] != "":
		r.accent(texAccents[sign])
	case sign == '\\':
		r.bracketed('[', ']')
		if r.table > 0 {
			r.row()
			return
		}
		r.text.WriteByte(' ')
	case sign == '[':
		r.text.WriteString(" " + r.until(`\]`) + " ")
	case sign == '(':
		r.text.WriteString(r.until(`\)`))
	case sign == '-', sign == '/', sign == 0:
	case strings.IndexByte("%&$#_{}", sign) >= 0:
		r.text.WriteByte(sign)
	case sign >= utf8.RuneSelf:
		r.at--
	default:
		r.text.WriteByte(' ')
	}
}

// accent reads the letter that an accent is on.
func (r *texReader) accent(accent string) {
	for r.at < len(r.s) && strings.IndexByte("{ \\", r.s[r.at]) >= 0 {
		r.at++
	}
	if r.at < len(r.s) {
		_, n := utf8.DecodeRuneInString(r.s[r.at:])
		r.sign(r.s[r.at:r.at+n]+accent, n)
	}
}

// Environments by what becomes of them.
var (
	texCode   = map[string]bool{"verbatim": true, "lstlisting": true, "minted": true, "Verbatim": true, "alltt": true}
	texHidden = map[string]bool{"comment": true, "tikzpicture": true, "picture": true, "filecontents": true, "pgfpicture": true}
	texMath   = map[string]bool{"equation": true, "align": true, "gather": true, "math": true, "displaymath": true, "eqnarray": true, "multline": true, "flalign": true, "alignat": true}
	texList   = map[string]int{"itemize": -1, "enumerate": 0, "description": -1, "compactitem": -1, "thebibliography": -1}
	texTable  = map[string]int{"tabular": 1, "tabular*": 2, "tabularx": 2, "tabulary": 2, "longtable": 1, "supertabular": 1, "tblr": 1} // with the number of arguments
	// texDropBegin has the number of arguments that say nothing to readers.
	texDropBegin = map[string]int{"multicols": 1, "minipage": 1, "wrapfigure": 2, "wraptable": 2, "subfigure": 1, "subtable": 1, "adjustbox": 1}
)

// begin begins an environment.
func (r *texReader) begin(env string) {
	columns := texTable[env]
	env = strings.TrimSuffix(env, "*")
	number, isList := texList[env]
	for range texDropBegin[env] {
		r.argument()
	}
	ends := `\end{` + env
	switch {
	case texCode[env]:
		r.end()
		r.bracketed('[', ']')
		if env == "minted" {
			r.bracketed('{', '}')
		}
		r.doc.AddCode(strings.Split(r.until(ends), "\n"))
		r.until("}")
	case texHidden[env]:
		r.until(ends)
		r.until("}")
	case texMath[env]:
		r.text.WriteString(" " + texLabel.ReplaceAllString(r.until(ends), "") + " ")
		r.until("}")
	case isList:
		r.end()
		r.argument()
		if len(r.lists) < texLists {
			r.lists = append(r.lists, number)
		}
	case columns > 0:
		for range columns {
			r.argument()
		}
		if r.table++; r.table == 1 {
			r.beginTable()
		}
	case r.table == 0:
		r.end()
		title, _ := r.bracketed('[', ']') // a theorem's name, or where a figure goes
		if !texPlace.MatchString(title) {
			r.text.WriteString(r.inline(title) + " ")
		}
	}
}

var (
	texLabel = lazyregexp.New(`\\label\{[^{}]*\}`)
	texPlace = lazyregexp.New(`^[htbpH!]*$|=|\\`)
)

// endEnvironment ends an environment.
func (r *texReader) endEnvironment(env string) {
	_, isList := texList[env]
	switch {
	case texTable[env] > 0 && r.table > 1:
		r.table--
	case texTable[env] > 0 && r.table == 1:
		r.endTable()
	case r.table == 0:
		r.end()
		if isList && len(r.lists) > 0 {
			r.lists = r.lists[:len(r.lists)-1]
		}
	}
}

// beginItem begins an item of a list. Its label stands before it.
func (r *texReader) beginItem(label string) {
	r.end()
	r.item = true
	last := len(r.lists) - 1
	switch {
	case label != "" && label != "-":
		r.text.WriteString(label + ": ")
	case last >= 0 && r.lists[last] >= 0:
		r.lists[last]++
		r.text.WriteString(strconv.Itoa(r.lists[last]) + ". ")
	default:
		r.text.WriteString("- ")
	}
}

package documents

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// parseHTML reads the title and the main text of a page, which is <main> or <article> if there is one. It skips scripts,
// navigation and the fields of forms.
func parseHTML(ctx context.Context, data []byte) (Document, error) {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("%PDF-")) {
		return Document{}, errors.New("not HTML, despite its name")
	}
	from, name, _ := charset.DetermineEncoding(data[:min(len(data), 1024)], "")
	if name == "windows-1252" && utf8.Valid(data) { // the default when the first bytes are ASCII and name no encoding
		from = encoding.Nop
	}
	utf, err := io.ReadAll(io.LimitReader(from.NewDecoder().Reader(bytes.NewReader(data)), 4*textLimit))
	if err != nil {
		return Document{}, fmt.Errorf("text in an unknown encoding (%v)", err)
	}
	return htmlDocument(ctx, utf)
}

// htmlDocument reads a page in UTF-8.
func htmlDocument(ctx context.Context, utf []byte) (Document, error) {
	if err := countLines(string(utf)); err != nil { // of code, which keeps its lines
		return Document{}, err
	}
	if bytes.Contains(utf[:min(len(utf), 1024)], []byte("http://www.w3.org/1999/xhtml")) {
		utf = emptyElement.ReplaceAll(utf, []byte("<$1$2></$1>"))
	}
	plain, err := withoutFormatting(ctx, utf)
	if err != nil {
		return Document{}, err
	}
	root, err := html.Parse(contextReader{ctx, bytes.NewReader(plain)})
	switch {
	case ctx.Err() != nil:
		return Document{}, ctx.Err()
	case err != nil: // nested too deeply
		return flatHTML(ctx, utf), nil
	}
	p := page{ctx: ctx}
	if t := find(root, atom.Title); t != nil {
		p.doc.Title = english.Collapse(textOf(t))
	}
	body := mainPart(root)
	if h := find(body, atom.H1); h != nil && p.doc.Title == "" {
		p.doc.Title = english.Collapse(textOf(h))
	}
	p.walk(body)
	p.end(Paragraph)
	return p.doc, nil
}

// formatting has the elements that HTML opens again in each paragraph until they are closed, and what stands for them. A few
// hundred that nothing closes would make a tree of many gigabytes of a page of some megabytes.
var formatting = map[atom.Atom]string{
	atom.B: "span", atom.Big: "span", atom.Code: "span", atom.Em: "span", atom.Font: "span", atom.I: "span", atom.Nobr: "span",
	atom.Small: "span", atom.Strong: "span", atom.Tt: "span", atom.U: "span", atom.S: "del", atom.Strike: "del",
}

// maxElements bounds the elements of a page, with its comments: each takes a few hundred bytes, however short it is.
const maxElements = 1 << 19

var errManyElements = fmt.Errorf("it has more than %d elements: divide it into several files", maxElements)

// withoutFormatting returns a page with elements that end with their paragraph in the place of formatting.
func withoutFormatting(ctx context.Context, utf []byte) ([]byte, error) {
	var out bytes.Buffer
	z, elements := html.NewTokenizer(contextReader{ctx, bytes.NewReader(utf)}), 0
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		begin := out.Len()
		out.Write(z.Raw())
		if kind == html.TextToken {
			continue
		}
		t := z.Token()
		if kind != html.EndTagToken || t.DataAtom == atom.P || t.DataAtom == atom.Br { // the end of either may begin one
			elements++
		}
		if elements > maxElements {
			return nil, errManyElements
		}
		name := formatting[t.DataAtom]
		if name == "" {
			continue
		}
		out.Truncate(begin)
		switch {
		case kind == html.EndTagToken:
			out.WriteString("</" + name + ">")
		case hidden(&html.Node{Attr: t.Attr}):
			out.WriteString("<" + name + " hidden>")
		default:
			out.WriteString("<" + name + ">")
		}
	}
	return out.Bytes(), nil
}

// contextReader reads until a context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// flatHTML reads the text of a page without its structure, for pages of which there is no tree.
func flatHTML(ctx context.Context, utf []byte) (doc Document) {
	var inline strings.Builder
	z, hidden, depth := html.NewTokenizer(contextReader{ctx, bytes.NewReader(utf)}), atom.Atom(0), 0
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			doc.AddBlock(Block{Kind: Paragraph, Text: inline.String(), Quoted: quotedAs(depth)})
			return doc
		}
		t := z.Token()
		switch {
		case hidden != 0:
			if kind == html.EndTagToken && t.DataAtom == hidden {
				hidden = 0
			} else if kind == html.TextToken && hidden == atom.Title && doc.Title == "" {
				doc.Title = english.Collapse(t.Data)
			}
		case kind == html.TextToken:
			inline.WriteString(t.Data)
		case kind == html.StartTagToken && flatHides[t.DataAtom]:
			hidden = t.DataAtom
		case (kind == html.StartTagToken || kind == html.EndTagToken) && !flatInline[t.DataAtom]:
			doc.AddBlock(Block{Kind: Paragraph, Text: inline.String(), Quoted: quotedAs(depth)})
			inline.Reset()
			if t.DataAtom == atom.Blockquote && kind == html.StartTagToken {
				depth++
			} else if t.DataAtom == atom.Blockquote {
				depth--
			}
		}
	}
}

// What flatHTML leaves out of the text, and what of it does not end a paragraph.
var (
	flatHides  = map[atom.Atom]bool{atom.Title: true, atom.Script: true, atom.Style: true, atom.Textarea: true, atom.Select: true, atom.Template: true, atom.Nav: true}
	flatInline = map[atom.Atom]bool{atom.A: true, atom.B: true, atom.I: true, atom.U: true, atom.Em: true, atom.Strong: true, atom.Span: true, atom.Code: true, atom.Small: true, atom.Sub: true, atom.Sup: true, atom.Abbr: true, atom.Font: true, atom.Mark: true}
)

// emptyElement is an element that XHTML writes as one tag. In HTML it would not end there, and hide what follows.
var emptyElement = lazyregexp.New(`<(title|script|style|textarea|iframe|a|p|div|span|i|b|em|strong|td|th|li|h[1-6])(\s[^<>]*)?/>`)

// mainPart returns the <main> of a page, or its only <article>, or all of it.
func mainPart(root *html.Node) *html.Node {
	if main := find(root, atom.Main); main != nil {
		return main
	}
	article := find(root, atom.Article)
	if article == nil {
		return root
	}
	for n := article; n != nil; n = n.Parent {
		for next := n.NextSibling; next != nil; next = next.NextSibling {
			if find(next, atom.Article) != nil {
				return root
			}
		}
	}
	return article
}

// page collects inline text until a block element ends.
type page struct {
	ctx    context.Context
	doc    Document
	inline strings.Builder
	head   string                // the inline text before the last <br>, collapsed
	at     int                   // offset in inline after that <br>
	long   bool                  // head has too many words for a label
	mark   string                // what the inline text begins with if it is a list item
	marks  map[*html.Node]string // of the items of ordered lists

	described string // the term whose descriptions are being read
	adjoins   bool   // the text that comes next is in an element right behind another

	depth   int // of quotation
	settled int // blocks that have theirs
}

func (p *page) end(kind Kind) {
	if p.mark != "" {
		kind = Line
	}
	p.doc.Add(kind, p.inline.String())
	p.reset()
}

func (p *page) reset() {
	p.inline.Reset()
	p.head, p.at, p.long, p.mark = "", 0, false, ""
}

// onlyMark reports whether the inline text is a list item that has no text yet.
func (p *page) onlyMark() bool {
	return p.mark != "" && strings.TrimSpace(p.inline.String()) == strings.TrimSpace(p.mark)
}

// labelled reports, at a <br>, whether the inline text so far is a label. It looks only at the text since the last <br>,
// and at none once there are too many words for a label: some documents are nothing but lines between <br>.
func (p *page) labelled() bool {
	if p.long {
		return false
	}
	p.head, p.at = english.Collapse(p.head+" "+p.inline.String()[p.at:]), p.inline.Len()
	p.long = english.CountWords(p.head) > textline.LabelWords+textline.ValueWords
	return textline.IsLabel(p.head)
}

// skipped elements hold nothing of the page's text.
var skipped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Nav: true, atom.Noscript: true,
	atom.Template: true, atom.Svg: true, atom.Math: true, atom.Button: true, atom.Select: true,
	atom.Iframe: true, atom.Object: true, atom.Head: true, atom.Title: true, atom.Textarea: true, atom.Canvas: true,
	atom.Audio: true, atom.Video: true,
}

// inlineElements do not end a paragraph.
var inlineElements = map[atom.Atom]bool{
	atom.A: true, atom.Abbr: true, atom.B: true, atom.Bdi: true, atom.Bdo: true, atom.Cite: true, atom.Code: true,
	atom.Data: true, atom.Del: true, atom.Dfn: true, atom.Em: true, atom.I: true, atom.Ins: true, atom.Kbd: true,
	atom.Label: true, atom.Mark: true, atom.Q: true, atom.S: true, atom.Samp: true, atom.Small: true, atom.Span: true,
	atom.Strong: true, atom.Sub: true, atom.Sup: true, atom.Time: true, atom.U: true, atom.Var: true, atom.Wbr: true,
	atom.Font: true, atom.Tt: true, atom.Img: true, atom.Input: true, atom.Picture: true, atom.Source: true,
}

func (p *page) walk(n *html.Node) {
	if p.ctx.Err() != nil {
		return
	}
	switch n.Type {
	case html.TextNode:
		p.text(textIn(n))
		return
	case html.CommentNode, html.DoctypeNode:
		return
	}
	if !skipped[n.DataAtom] && !hidden(n) {
		p.element(n)
	}
}

func (p *page) element(n *html.Node) {
	if n.DataAtom == atom.Ol {
		p.numberItems(n)
	}
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.end(Paragraph)
		p.children(n)
		p.doc.AddHeading(int(n.Data[1]-'0'), p.inline.String())
		p.reset()
	case atom.Li:
		p.item(n)
	case atom.Table:
		p.end(Paragraph)
		if isLayout(n) {
			p.children(n)
			p.end(Paragraph)
			return
		}
		p.table(n)
	case atom.Pre:
		p.end(Paragraph)
		p.doc.AddCode(splitLines(textOf(n)))
	case atom.Footer, atom.Aside, atom.Form:
		p.end(Paragraph)
		if !isMenu(n) {
			p.children(n)
			p.end(Paragraph)
		}
	case atom.Blockquote:
		p.quotation(n)
	case atom.Dt:
		p.term(n)
	case atom.Dd:
		p.meaning(n)
	case atom.Summary:
		p.summary(n)
	case atom.Br:
		p.inline.WriteByte('\n')
		if p.labelled() {
			p.end(Line)
		}
	case atom.Del, atom.S, atom.Strike:
		p.struck(n)
	default:
		if inlineElements[n.DataAtom] {
			switch {
			case n.DataAtom == atom.Sub, n.DataAtom == atom.Sup, n.DataAtom == atom.Wbr:
				p.adjoins = false
			case n.PrevSibling != nil && n.PrevSibling.Type == html.ElementNode && n.PrevSibling.DataAtom != atom.Wbr:
				p.adjoins = true
			}
			p.children(n)
			return
		}
		p.block(n)
	}
}

// text adds text that is part of a line. Where two elements adjoin, pages often place them apart without a space between them.
func (p *page) text(text string) {
	if p.adjoins && seam(p.inline.String(), text) {
		p.inline.WriteByte(' ')
	}
	p.inline.WriteString(text)
	p.adjoins = p.adjoins && text == ""
}

// seam reports whether a word ends at the end of a text, and another begins with the next text: "Oven" and "190 °C", "Member"
// and "Posts", but not "W" and "heel" or "x" and "2".
func seam(text, next string) bool {
	last, n := utf8.DecodeLastRuneInString(text)
	before, _ := utf8.DecodeLastRuneInString(text[:len(text)-n])
	first, m := utf8.DecodeRuneInString(next)
	second, _ := utf8.DecodeRuneInString(next[m:])
	word := unicode.IsLower(last) && unicode.IsLetter(before)
	switch {
	case unicode.IsUpper(first):
		return word || (unicode.IsUpper(last) && !unicode.IsLetter(before) || unicode.IsDigit(last)) && unicode.IsLower(second)
	case unicode.IsDigit(first):
		return word || strings.ContainsRune(":!?", last) && unicode.IsLetter(before)
	}
	return unicode.IsLetter(first) && strings.ContainsRune(":!?", last)
}

// struck adds text that is struck out, between marks as in Markdown: it holds no longer.
func (p *page) struck(n *html.Node) {
	if isBlank(n) {
		return
	}
	p.inline.WriteString("~~")
	p.children(n)
	p.inline.WriteString("~~")
}

// item adds an item of a list.
func (p *page) item(n *html.Node) {
	p.end(Paragraph)
	p.mark = cmp.Or(p.marks[n], "- ")
	p.inline.WriteString(p.mark)
	p.children(n)
	if p.onlyMark() {
		p.reset()
	}
	p.end(Line)
}

// term keeps a term, which stays with its description. Terms that share one are joined.
func (p *page) term(n *html.Node) {
	shares := p.onlyMark() && before(n) == atom.Dt && len(p.mark) <= maxTerm
	above := strings.TrimSuffix(p.mark, ": ")
	if shares {
		p.reset()
	}
	p.end(Paragraph)
	p.children(n)
	term := strings.TrimSuffix(english.Collapse(p.inline.String()), ":")
	p.reset()
	if shares && term != "" {
		term = above + ", " + term
	}
	if p.described = english.FirstBytes(term, maxTerm); term != "" {
		p.mark = term + ": "
		p.inline.WriteString(p.mark)
	}
}

// meaning adds a description of the last term. A further one has the term, too.
func (p *page) meaning(n *html.Node) {
	if before(n) == atom.Dd && p.described != "" {
		p.end(Line)
		p.mark = p.described + ": "
		p.inline.WriteString(p.mark)
	}
	p.children(n)
	if before(n) == atom.Dd && p.onlyMark() {
		p.reset()
	}
	p.end(Line)
}

// maxTerm is the greatest length, in bytes, of a term that another one joins, or that each of its descriptions has.
const maxTerm = 64

// before returns the element before n among those around it, 0 if n is the first.
func before(n *html.Node) atom.Atom {
	for n = n.PrevSibling; n != nil; n = n.PrevSibling {
		if n.Type == html.ElementNode {
			return n.DataAtom
		}
	}
	return 0
}

// summary adds what stands for text that a click unfolds. It is a heading if no text follows that is not folded, too.
func (p *page) summary(n *html.Node) {
	p.end(Paragraph)
	p.children(n)
	text := english.Collapse(p.inline.String())
	next := n.Parent.NextSibling
	for next != nil && next.Type != html.ElementNode && strings.TrimSpace(next.Data) == "" {
		next = next.NextSibling
	}
	if next == nil || next.DataAtom == atom.Details || headingElement(next) {
		p.reset()
		p.doc.Add(Heading, text)
		return
	}
	p.end(Paragraph)
}

func headingElement(n *html.Node) bool {
	return len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6'
}

// block adds an element that is no part of a line, such as a paragraph. The first paragraph of a list item belongs to the item.
func (p *page) block(n *html.Node) {
	if !p.onlyMark() {
		p.end(Paragraph)
	}
	p.children(n)
	if p.onlyMark() {
		return
	}
	kind := Paragraph
	if text := english.Collapse(p.inline.String()); strings.HasPrefix(text, "- ") || n.DataAtom == atom.P && textline.IsLabel(text) {
		kind = Line
	}
	p.end(kind)
}

// quotation adds what the page quotes, or an element that only sets its text in.
func (p *page) quotation(n *html.Node) {
	if setsIn(n) {
		p.block(n)
		return
	}
	if !p.onlyMark() {
		p.end(Paragraph)
	}
	p.settle()
	p.depth++
	p.block(n)
	p.settle()
	p.depth--
}

// settle notes how often the blocks that were added last are quoted.
func (p *page) settle() {
	for ; p.settled < len(p.doc.Blocks); p.settled++ {
		p.doc.Blocks[p.settled].Quoted = quotedAs(p.depth)
	}
}

// quotedAs returns a depth of quotation as blocks have it.
func quotedAs(depth int) uint8 { return uint8(max(0, min(depth, math.MaxUint8))) }

// setsIn reports whether a quotation has no border. Mail programs indent text with such.
func setsIn(n *html.Node) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
		return a.Key == "style" && noBorder.MatchString(a.Val) && !strings.Contains(strings.ToLower(a.Val), "border-left")
	})
}

var noBorder = lazyregexp.New(`(?i)(?:^|[;\s])border\s*:\s*(?:none|0)`)

func (p *page) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.walk(c)
	}
}

// hidden reports whether an element does not show. What a click on a tab shows, or a search within the page, is not hidden.
func hidden(n *html.Node) bool {
	if attribute(n, "role") == "tabpanel" || strings.EqualFold(attribute(n, "hidden"), "until-found") {
		return false
	}
	opened := false
	for _, a := range n.Attr {
		opened = opened || a.Key == "open"
		switch {
		case a.Key == "hidden", a.Key == "aria-hidden" && a.Val == "true":
			return true
		case a.Key == "role" && (a.Val == "navigation" || a.Val == "banner" || a.Val == "contentinfo"):
			return true
		case a.Key == "style" && unseen.MatchString(a.Val):
			return true
		}
	}
	return n.DataAtom == atom.Dialog && !opened
}

// unseen matches how an element looks that does not show.
var unseen = lazyregexp.New(`(?i)(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden)\b`)

// find returns the first element a outside skipped elements. The title is found though it is in the skipped head.
func find(n *html.Node, a atom.Atom) *html.Node {
	if n.Type == html.ElementNode && n.DataAtom == a && (n.Namespace == "") {
		return n
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if skipped[c.DataAtom] && c.DataAtom != atom.Head && c.DataAtom != a {
			continue
		}
		if found := find(c, a); found != nil {
			return found
		}
	}
	return nil
}

// textIn returns the text of a text node. Raised figures stay so: "m²".
func textIn(n *html.Node) string {
	if n.Parent != nil && n.Parent.DataAtom == atom.Sup {
		return textline.Raised(n.Data)
	}
	return n.Data
}

// textOf returns the text below n, without skipped elements.
func textOf(n *html.Node) string {
	var b strings.Builder
	writeText(&b, n)
	return b.String()
}

func writeText(b *strings.Builder, n *html.Node) {
	if n.Type == html.TextNode {
		b.WriteString(textIn(n))
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if !skipped[c.DataAtom] && !hidden(c) {
			writeText(b, c)
			if !inlineElements[c.DataAtom] && c.Type == html.ElementNode {
				b.WriteByte(' ')
			}
		}
	}
}

// isBlank reports whether the text below n is nothing but white space. It looks no further than the first of other text.
func isBlank(n *html.Node) bool {
	if n.Type == html.TextNode {
		return strings.TrimSpace(n.Data) == ""
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if !skipped[c.DataAtom] && !hidden(c) && !isBlank(c) {
			return false
		}
	}
	return true
}

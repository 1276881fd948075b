package documents

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

// isLayout reports whether a table only places parts of the page: it holds another table, a heading or a list, or has a
// single column.
func isLayout(table *html.Node) bool {
	if v := attribute(table, "role"); v == "presentation" || v == "none" {
		return true
	}
	wide := false
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Table, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Dl:
			return true
		case atom.Td, atom.Th:
			for c := n.NextSibling; c != nil && !wide; c = c.NextSibling {
				wide = c.DataAtom == atom.Td || c.DataAtom == atom.Th
			}
		}
	}
	return !wide
}

// table appends the rows of a table. Its caption is a paragraph before them.
func (p *page) table(table *html.Node) {
	var g blocks.Table
	heads := 0 // the rows at the top that only name columns
	sides := false
	for n := range table.Descendants() {
		switch {
		case n.DataAtom == atom.Caption:
			p.doc.Add(Paragraph, textOf(n))
		case n.DataAtom == atom.Tr && !hidden(n):
			g.BeginRow()
			names, cells := 0, 0
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.DataAtom != atom.Td && c.DataAtom != atom.Th || hidden(c) {
					continue
				}
				g.AddCell(english.Collapse(textOf(c)), number(c, "colspan", 1), number(c, "rowspan", 1))
				cells++
				if c.DataAtom == atom.Th || n.Parent.DataAtom == atom.Thead {
					names++
				}
			}
			if names == cells && names > 1 && heads == len(g.Rows)-1 {
				heads++
			}
			sides = sides || names > 0 && names < cells
		}
	}
	if heads == 0 && !sides {
		heads = g.GuessHeads()
	}
	rows, head := g.JoinHeads(heads)
	if heads == 0 && !sides {
		head = blocks.GuessHead
	}
	p.doc.AddTable(rows, head)
}

// menuNodes bounds the nodes that isMenu looks at: elements nest, and each would be looked at again for each around it.
const menuNodes = 2000

// isMenu reports whether the text of an element is mostly that of its links, or whether it has no text but that of fields
// and their labels.
func isMenu(n *html.Node) bool {
	all, links := 0, 0
	text := n.DataAtom != atom.Form
	seen := 0
	for d := range n.Descendants() {
		if seen++; seen > menuNodes {
			return false
		}
		switch {
		case d.Type == html.TextNode:
			size := len(strings.TrimSpace(d.Data))
			all += size
			if d.Parent.DataAtom == atom.A {
				links += size
			}
		case d.DataAtom == atom.P, d.DataAtom == atom.Table, d.DataAtom == atom.H1, d.DataAtom == atom.H2, d.DataAtom == atom.Article:
			text = true
		}
	}
	return !text || 2*links > all
}

// numberItems notes the numbers of an ordered list's items.
func (p *page) numberItems(list *html.Node) {
	if p.marks == nil {
		p.marks = map[*html.Node]string{}
	}
	n := number(list, "start", 1)
	for c := list.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Li {
			n = number(c, "value", n)
			p.marks[c] = strconv.Itoa(n) + ". "
			n++
		}
	}
}

// number returns an attribute that is a number, or otherwise if there is none.
func number(n *html.Node, name string, otherwise int) int {
	if v, err := strconv.Atoi(strings.TrimSpace(attribute(n, name))); err == nil {
		return v
	}
	return otherwise
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

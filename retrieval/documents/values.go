package documents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/words"
	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

// This file makes documents of data: JSON, YAML, TOML, INI and XML.

// value is a piece of data: an object, a list or a single value.
type value struct {
	kind  valueKind
	text  string   // of a single value
	note  string   // what a comment says of it
	names []string // of an object's parts
	parts []*value // of an object or a list
}

// part returns the part of an object that has a name. It is an empty value if there is none.
func (v *value) part(name string) *value {
	if i := slices.Index(v.names, name); i >= 0 {
		return v.parts[i]
	}
	return &value{}
}

type valueKind uint8

const (
	single valueKind = iota
	object
	list
)

// Bounds of data.
const (
	valueDepth  = 64      // objects and lists within each other
	valueCount  = 1 << 19 // values, each of which takes a hundred bytes of memory, however short it is
	valueInline = 12      // values of a list that are written in one line,
	inlineWords = 24      // if they have no more words
	nameBytes   = 64      // of a name that is written before values
)

var (
	errDeepValues = fmt.Errorf("damaged (more than %d objects or lists within each other)", valueDepth)
	errManyValues = fmt.Errorf("it has more than %d values: divide it into several files", valueCount)
)

// valueDocument returns the document in data.
func valueDocument(ctx context.Context, top *value) (Document, error) {
	w := valueWriter{ctx: ctx}
	w.doc.Add(Paragraph, top.note)
	w.write(top, 0, "")
	if ctx.Err() != nil {
		return Document{}, ctx.Err()
	}
	if len(w.doc.Blocks) == 0 {
		return Document{}, errors.New("no text in it (only empty values?)")
	}
	return w.doc, nil
}

// valueWriter writes data: objects as lines of "name: value" below headings, and lists of objects that are alike as tables.
type valueWriter struct {
	ctx context.Context
	doc Document
}

// write adds a value that stands below as many headings as depth says. The name is that of the object or the list.
func (w *valueWriter) write(v *value, depth int, name string) {
	if w.ctx.Err() != nil || len(w.doc.Blocks) >= blocks.MaxBlocks { // Parse refuses the file
		return
	}
	switch v.kind {
	case single:
		w.single("", v.text, "")
	case object:
		w.object(v, depth, name)
	case list:
		w.list(v, depth, name)
	}
}

// object adds first what an object says itself, then what it holds.
func (w *valueWriter) object(v *value, depth int, name string) {
	for i, part := range v.parts {
		if text, ok := inline(part); ok {
			w.single(v.names[i], text, part.note)
		}
	}
	for i, part := range v.parts {
		if _, ok := inline(part); ok {
			continue
		}
		w.heading(depth, name, v.names[i])
		w.doc.Add(Paragraph, part.note)
		w.write(part, depth+1, v.names[i])
	}
}

// list adds the parts of a list: as a table, or one after the other.
func (w *valueWriter) list(v *value, depth int, name string) {
	if rows := tableOf(v); rows != nil {
		w.doc.AddTable(rows, blocks.HasHead)
		return
	}
	name = english.FirstBytes(cmp.Or(name, "entry"), nameBytes)
	for i, part := range v.parts {
		if isCell(part) {
			if text := cellOf(part, ": "); text != "" {
				w.doc.Add(Line, "- "+noted(text, part.note))
			}
			continue
		}
		own := cmp.Or(titleOf(part), fmt.Sprint(name, " ", i+1))
		w.heading(depth, "", own)
		w.doc.Add(Paragraph, part.note)
		w.write(part, depth+1, own)
	}
}

// heading adds a heading. Those below the lowest level name what they belong to.
func (w *valueWriter) heading(depth int, above, name string) {
	name = english.Shorten(name, MaxHeading/2)
	if depth >= LowestLevel && above != "" {
		name = english.Shorten(english.FirstBytes(above, nameBytes), MaxHeading/3) + ", " + name
	}
	w.doc.AddHeading(depth+1, name)
}

// single adds a value with its name and its note, unless it is empty. One of several lines or many words is divided into paragraphs.
func (w *valueWriter) single(name, text, note string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	if name = english.FirstBytes(name, nameBytes); name != "" {
		name += ": "
	}
	short := !strings.Contains(text, "\n") && english.CountWords(text) <= inlineWords
	if short && english.CountWords(note) <= inlineWords {
		w.doc.Add(Line, name+noted(text, note))
		return
	}
	w.doc.Add(Paragraph, note)
	if short {
		w.doc.Add(Line, name+text)
		return
	}
	if lines := splitLines(text); isWrapped(lines) {
		w.prose(name, lines)
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			w.doc.Add(Paragraph, name+line)
			name = ""
		}
	}
}

// isWrapped reports whether lines are wrapped text, as of a description, and not those of a program: most paragraphs end as sentences do.
func isWrapped(lines []string) bool {
	lines = proseOf(lines)
	ends, sentences := 0, 0
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != "" {
			continue
		}
		if ends++; strings.ContainsAny(line[len(line)-1:], ".!?:") {
			sentences++
		}
	}
	return sentences > ends/2 && wrapWidth(lines, nil) > 0
}

// prose adds a value that is written as Markdown is. Its headings do not end the section of the value.
func (w *valueWriter) prose(name string, lines []string) {
	for i, b := range markdownDocument(w.ctx, lines, false).Blocks {
		if b.Kind == Heading {
			b = Block{Kind: Line, Text: b.Text + ":"}
		}
		switch {
		case i == 0 && (b.Kind == Paragraph || b.Kind == Line):
			b.Text = name + b.Text
		case i == 0 && name != "":
			w.doc.Add(Line, name)
		}
		w.doc.Blocks = append(w.doc.Blocks, b)
	}
}

// noted returns a text with what a comment says of it, in brackets: a dash would make a range of two numbers.
func noted(text, note string) string {
	if note == "" {
		return text
	}
	return text + " (" + note + ")"
}

// inline returns the text of a value that stands in one line with its name. Empty values have none.
func inline(v *value) (string, bool) {
	switch v.kind {
	case single:
		return v.text, true
	case object:
		return "", len(v.parts) == 0
	}
	if len(v.parts) > valueInline {
		return "", false
	}
	var texts []string
	words := 0
	for _, part := range v.parts {
		words += english.CountWords(part.text) + english.CountWords(part.note)
		if part.kind != single || strings.Contains(part.text, "\n") {
			return "", false
		}
		if part.text != "" {
			texts = append(texts, noted(part.text, part.note))
		}
	}
	return strings.Join(texts, ", "), words <= inlineWords
}

// titleOf returns the name that an object has among its parts, or "".
func titleOf(v *value) string {
	for i, name := range v.names {
		if slices.Contains(titleNames, strings.ToLower(name)) && v.parts[i].kind == single && english.CountWords(v.parts[i].text) <= MaxTitle {
			return english.Collapse(v.parts[i].text)
		}
	}
	return ""
}

var titleNames = []string{"title", "name", "label", "subject", "titel"}

// tableOf returns the rows of a list of objects that are alike: they have parts of the same names, which are short. It returns
// nil for other lists.
func tableOf(v *value) (rows [][]string) {
	var names []string
	column := map[string]int{}
	cells := 0
	for _, part := range v.parts {
		if part.kind != object || len(part.parts) == 0 {
			return nil
		}
		for i, name := range part.names {
			if !isCell(part.parts[i]) {
				return nil
			}
			if _, known := column[name]; !known && len(names) < blocks.MaxColumns {
				column[name], names = len(names), append(names, name)
			} else if !known {
				return nil
			}
		}
		cells += len(part.parts)
	}
	if len(v.parts) < 2 || len(names) < 2 || 2*cells <= len(names)*len(v.parts) {
		return nil
	}
	if slices.ContainsFunc(v.parts, func(p *value) bool { return notesOf(p) != "" }) {
		names = append(names, noteColumn)
	}
	rows = append(rows, names)
	for _, part := range v.parts {
		row := make([]string, len(names))
		for i, name := range part.names {
			row[column[name]] = cellOf(part.parts[i], " ")
		}
		if notes := notesOf(part); notes != "" {
			row[len(row)-1] = notes
		}
		rows = append(rows, row)
	}
	return rows
}

// noteColumn is the name of the column of a table that has the comments.
const noteColumn = "(comment)"

// notesOf returns what the comments say of an object and of its parts.
func notesOf(v *value) string {
	notes := []string{v.note}
	for _, part := range v.parts {
		notes = append(notes, part.note)
	}
	return strings.Join(slices.DeleteFunc(notes, func(note string) bool { return note == "" }), "; ")
}

// isCell reports whether a value fits into the cell of a table.
func isCell(v *value) bool {
	if v.kind == object {
		return len(v.parts) <= 4 && !slices.ContainsFunc(v.parts, func(p *value) bool { return p.kind != single || english.CountWords(p.text) > inlineWords })
	}
	text, ok := inline(v)
	return ok && english.CountWords(text) <= blocks.LayoutWords
}

// cellOf returns the text of a value that fits into a cell. A separator divides the names of an object's parts from these.
func cellOf(v *value, separator string) string {
	if v.kind != object {
		text, _ := inline(v)
		return text
	}
	var pairs []string
	for i, part := range v.parts {
		if part.text != "" {
			pairs = append(pairs, v.names[i]+separator+part.text)
		}
	}
	return strings.Join(pairs, ", ")
}

// yesNo returns the word for "true" or "false", and "" for other texts.
func yesNo(text string) string { return map[string]string{"true": "yes", "false": "no"}[text] }

// nameOf returns the name of a value as the file has it, except that "openingHours" becomes "opening hours": the built-in reader
// finds the value of such a name more often.
func nameOf(name string) string { return english.Collapse(words.Divided(name)) }

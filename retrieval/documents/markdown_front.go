package documents

import (
	"context"
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/english"
)

// This file reads what a file in Markdown begins with: values in YAML or TOML.

// Bounds of a file's front matter.
const (
	frontLines = 1000
	frontBytes = 64 << 10 // bytes that are read as YAML or TOML
)

// frontMatter removes what a file begins with: values in YAML between lines "---", or in TOML between lines "+++". It takes the
// title from them and keeps the others.
func (m *markdown) frontMatter(ctx context.Context, lines []string) []string {
	mark := strings.TrimSpace(lines[0])
	if mark != "---" && mark != "+++" {
		return lines
	}
	for i, line := range lines[1:min(len(lines), frontLines)] {
		if end := strings.TrimSpace(line); end != mark && (end != "..." || mark != "---") {
			continue
		}
		is := false
		if mark == "+++" {
			is = m.frontValues(ctx, lines[1:i+1], readTOML)
		} else {
			is = m.frontValues(ctx, lines[1:i+1], readYAML) || m.frontLines(lines[1:i+1])
		}
		if !is {
			break
		}
		return lines[i+2:]
	}
	return lines
}

// frontValues takes the values of front matter. It returns false for lines that have none.
func (m *markdown) frontValues(ctx context.Context, lines []string, read func(context.Context, string) (*value, error)) bool {
	text := strings.Join(lines, "\n")
	if len(text) > frontBytes {
		return false
	}
	text = onlyLink.ReplaceAllString(text, `$1"[[$2]]"`)
	v, err := read(ctx, text)
	if err != nil || v.kind != object || slices.ContainsFunc(v.names, func(name string) bool { return strings.Contains(name, ". ") }) {
		return false
	}
	v.withoutLinks()
	w := valueWriter{ctx: ctx}
	w.doc.Add(Paragraph, v.note)
	for i, part := range v.parts {
		text, plain := inline(part)
		switch name := v.names[i]; {
		case strings.EqualFold(name, "title") && part.kind == single:
			m.doc.Title = english.Collapse(text)
		case plain:
			w.single(name, text, part.note)
		case isCell(part):
			w.single(name, cellOf(part, " "), part.note)
		default:
			w.doc.Add(Line, english.FirstBytes(name, nameBytes)+":")
			w.write(part, LowestLevel, name)
		}
	}
	for i, b := range w.doc.Blocks {
		if b.Kind == Heading { // the text below the front matter does not belong to it
			w.doc.Blocks[i] = Block{Kind: Line, Text: b.Text + ":"}
		}
	}
	m.front = w.doc.Blocks
	return true
}

// onlyLink matches a value that is a link to another note, which YAML takes for a list within a list: "with: [[Ada Lund]]".
var onlyLink = lazyregexp.New(`(?m)^([ \t]*(?:[^\s:#"'\[][^:#"'\n]*:|-)[ \t]+)\[\[([^\[\]",\n\\]+)\]\][ \t]*$`)

// withoutLinks puts the names of notes in the place of links to them, in all parts of a value.
func (v *value) withoutLinks() {
	if strings.Contains(v.text, "]]") {
		v.text = plain(v.text)
	}
	for _, part := range v.parts {
		part.withoutLinks()
	}
}

// frontLines reads front matter in what is nearly YAML, line by line. It returns false for lines that are none.
func (m *markdown) frontLines(lines []string) bool {
	var front Document
	title, key := "", ""
	for _, line := range lines {
		t := strings.TrimSpace(line)
		name, value, ok := strings.Cut(t, ":")
		name, value = strings.TrimSpace(name), strings.Trim(strings.TrimSpace(value), `"'`)
		item, isItem := english.CutMarker(t)
		switch {
		case t == "", strings.HasPrefix(t, "#"):
		case isItem && key != "":
			front.Add(Line, key+": "+strings.Trim(item, `"'`))
		case !ok || strings.Contains(name, ". "):
			return false // text between two rules
		case strings.EqualFold(name, "title"):
			title = value
		case value == "":
			key = english.FirstBytes(name, nameBytes)
		default:
			if strings.HasPrefix(value, "[") {
				value = strings.NewReplacer("[", "", "]", "", `"`, "", "'", "").Replace(value)
			}
			front.Add(Line, name+": "+value)
		}
	}
	m.doc.Title, m.front = english.Collapse(title), front.Blocks
	return true
}

package documents

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/documents/office"
	"tandem/retrieval/internal/blocks"
)

// parseXML reads XML of any kind as data: an element that holds only text is a name with its value, one that holds text between
// elements is a text, and others are objects of their attributes and elements.
func parseXML(ctx context.Context, data []byte) (Document, error) {
	text, err := xmlText(data)
	if err != nil {
		return Document{}, err
	}
	if text, err = expandEntities(text); err != nil {
		return Document{}, err
	}
	r := xmlReader{open: []*xmlNode{{}}}
	err = office.ReadXML(contextReader{ctx, strings.NewReader(text)}, r.token)
	switch {
	case ctx.Err() != nil:
		return Document{}, ctx.Err()
	case r.err != nil:
		return Document{}, r.err
	case errors.As(err, new(*xml.SyntaxError)):
		return Document{}, fmt.Errorf("damaged XML (%s)", strings.ToValidUTF8(strings.TrimPrefix(err.Error(), "XML syntax error on "), "\ufffd"))
	case err != nil:
		return Document{}, err
	}
	top := r.open[0].value(ctx)
	if top.kind == object && len(top.parts) == 1 { // the name of the outermost element says what the file is, not what it says
		top = top.parts[0]
	}
	return valueDocument(ctx, top)
}

// xmlDeclaration matches what XML begins with. It may name the encoding.
var xmlDeclaration = lazyregexp.New(`^\s*<\?xml(?:[^>]*encoding\s*=\s*["']([^"'>]{1,40})["'])?[^>]*\?>`)

// xmlText returns XML in UTF-8, without its declaration.
func xmlText(data []byte) (string, error) {
	if m := xmlDeclaration.FindStringSubmatch(string(data[:min(len(data), 1024)])); m != nil && m[1] != "" {
		text := decodeAs(data, m[1])
		return text[len(xmlDeclaration.FindString(text)):], nil
	}
	text, err := decodeText(data)
	return text[len(xmlDeclaration.FindString(text)):], err
}

// What a document type of its own says, and the entities that it declares there. Those that are kept elsewhere stand for nothing.
var (
	xmlOwnType = lazyregexp.New(`(?s)^\s*(?:<!--.*?-->\s*|<\?.*?\?>\s*)*<!DOCTYPE[^\[>]*\[(.*?)\]\s*>`)
	xmlEntity  = lazyregexp.New(`<!ENTITY\s+([\pL_][\pL\pN_.-]*)\s+(?:"([^"]*)"|'([^']*)'|(?:SYSTEM|PUBLIC)\s[^>]*)\s*>`)
)

// maxEntityName bounds the name of an entity, in bytes.
const maxEntityName = 64

// expandEntities returns XML with the texts of the entities that it declares. Each is replaced once, so that none can nest.
func expandEntities(text string) (string, error) {
	at := xmlOwnType.FindStringSubmatchIndex(text)
	if at == nil {
		return text, nil
	}
	values := map[string]string{}
	for _, m := range xmlEntity.FindAllStringSubmatch(text[at[2]:at[3]], -1) {
		values[m[1]] = m[2] + m[3]
	}
	for _, name := range []string{"lt", "gt", "amp", "apos", "quot"} { // XML has these, and a document type may only repeat them
		delete(values, name)
	}
	var b strings.Builder
	for rest := text[at[1]:]; ; {
		before, after, found := strings.Cut(rest, "&")
		b.WriteString(before)
		if !found {
			return text[:at[1]] + b.String(), nil
		}
		name, _, closed := strings.Cut(after[:min(len(after), maxEntityName+1)], ";")
		if value, known := values[name]; closed && known {
			b.WriteString(value)
			rest = after[len(name)+1:]
		} else {
			b.WriteByte('&')
			rest = after
		}
		if b.Len() > blocks.MaxText {
			return "", blocks.ErrMuchText
		}
	}
}

// xmlReader makes a tree of elements within bounds.
type xmlReader struct {
	open  []*xmlNode // within each other
	count int
	err   error
}

// xmlNode is an element or, without a name, a text.
type xmlNode struct {
	name  string
	text  string
	attrs []xml.Attr
	parts []*xmlNode
}

// token reads a token.
func (r *xmlReader) token(t xml.Token) {
	around := r.open[len(r.open)-1]
	if r.err != nil {
		return
	}
	switch t := t.(type) {
	case xml.StartElement:
		n := &xmlNode{name: nameOf(t.Name.Local), attrs: slices.DeleteFunc(t.Attr, saysNothing)}
		r.count += len(n.attrs)
		r.open = append(r.open, n)
		r.add(around, n)
		if len(r.open) > valueDepth {
			r.err = errDeepValues
		}
	case xml.EndElement:
		r.open = r.open[:len(r.open)-1]
	case xml.CharData:
		r.add(around, &xmlNode{text: string(t)})
	}
}

// add adds a node to the one around it.
func (r *xmlReader) add(around, n *xmlNode) {
	if r.count++; r.count > valueCount {
		r.err = errManyValues
		return
	}
	around.parts = append(around.parts, n)
}

// saysNothing reports whether an attribute is for programs, or empty.
func saysNothing(a xml.Attr) bool {
	return a.Name.Space == "xmlns" || a.Name.Local == "xmlns" || strings.HasSuffix(a.Name.Space, "XMLSchema-instance") || strings.TrimSpace(a.Value) == ""
}

// value returns the value of an element. Elements of the same name after each other are a list.
func (n *xmlNode) value(ctx context.Context) *value {
	elements, said := 0, false
	for _, part := range n.parts {
		if part.name != "" {
			elements++
		} else {
			said = said || strings.TrimSpace(part.text) != ""
		}
	}
	if elements == 0 || said {
		return &value{text: n.words(ctx)}
	}
	v := &value{kind: object}
	for _, a := range n.attrs {
		v.names, v.parts = append(v.names, nameOf(a.Name.Local)), append(v.parts, &value{text: a.Value})
	}
	own := len(v.parts)
	run := 0 // elements of the last name so far
	for _, part := range n.parts {
		last := len(v.parts) - 1
		switch {
		case part.name == "":
			continue
		case run == 0 || v.names[last] != part.name:
			run = 1
			v.names, v.parts = append(v.names, part.name), append(v.parts, part.value(ctx))
			continue
		case run == 1:
			v.parts[last] = &value{kind: list, parts: []*value{v.parts[last]}}
		}
		run++
		v.parts[last].parts = append(v.parts[last].parts, part.value(ctx))
	}
	if own == 0 && len(v.parts) == 1 && run > 1 {
		return v.parts[0]
	}
	return v
}

// inHTML matches a tag in the text of an element. Feeds have articles so.
var inHTML = lazyregexp.New(`(?i)</[a-z][a-z0-9]{0,9}>|<br ?/?>`)

// words returns the text of an element, with its attributes behind it. Of HTML in it, the text stays.
func (n *xmlNode) words(ctx context.Context) string {
	var b strings.Builder
	n.write(&b)
	text := strings.TrimSpace(b.String())
	if inHTML.MatchString(text) {
		var lines []string
		for _, block := range flatHTML(ctx, []byte(text)).Blocks {
			lines = append(lines, block.Text)
		}
		text = strings.Join(lines, "\n")
	}
	var about []string
	for _, a := range n.attrs {
		about = append(about, nameOf(a.Name.Local)+": "+a.Value)
	}
	switch {
	case len(about) == 0:
		return text
	case text == "":
		return strings.Join(about, ", ")
	}
	return text + " (" + strings.Join(about, ", ") + ")"
}

// write writes the text of an element and of those within it. An element that holds others stands in lines of its own.
func (n *xmlNode) write(b *strings.Builder) {
	b.WriteString(lineEnds.Replace(n.text))
	for _, part := range n.parts {
		apart := slices.ContainsFunc(part.parts, func(p *xmlNode) bool { return p.name != "" })
		if apart {
			b.WriteByte('\n')
		}
		part.write(b)
		if apart {
			b.WriteByte('\n')
		}
	}
}

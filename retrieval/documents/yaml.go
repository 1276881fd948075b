package documents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlLimit is the size in bytes up to which YAML is read. Its reader takes a hundred times as much memory.
const yamlLimit = 1 << 20

// parseYAML reads data in YAML, of which a file may have several values.
func parseYAML(ctx context.Context, data []byte) (Document, error) {
	text, err := decodeText(data)
	if err != nil {
		return Document{}, err
	}
	all, err := readYAML(ctx, text)
	if err != nil {
		return Document{}, err
	}
	return valueDocument(ctx, all)
}

// readYAML returns the value in a text, or a list of them if it has several.
func readYAML(ctx context.Context, text string) (*value, error) {
	r := yamlReader{ctx: ctx, left: len(text)}
	all := &value{kind: list}
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var node yaml.Node
		if err := d.Decode(&node); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("damaged YAML (%s)", strings.ToValidUTF8(strings.TrimPrefix(err.Error(), "yaml: "), "\ufffd"))
		}
		v, err := r.value(&node, 0)
		if err != nil {
			return nil, err
		}
		v.note = joinNotes(r.note(&node), v.note)
		all.parts = append(all.parts, v)
	}
	if len(all.parts) == 1 {
		all = all.parts[0]
	}
	return all, nil
}

// yamlReader makes values within bounds. A comment above or behind a value becomes its note.
type yamlReader struct {
	ctx   context.Context
	count int
	left  int // bytes that may be repeated: a few lines may name others again and again
	again int // depth within what is repeated
}

// value returns the value of a node.
func (r *yamlReader) value(n *yaml.Node, depth int) (*value, error) {
	if r.count++; r.count > valueCount {
		return nil, errManyValues
	}
	if depth > valueDepth {
		return nil, errDeepValues
	}
	if r.again > 0 {
		if r.left -= len(n.Value) + 1; r.left < 0 {
			return &value{}, nil
		}
	}
	switch n.Kind {
	case yaml.DocumentNode, yaml.SequenceNode:
		v := &value{kind: list}
		for _, part := range n.Content {
			if err := r.add(v, part, depth); err != nil {
				return nil, err
			}
		}
		if n.Kind == yaml.DocumentNode && len(v.parts) == 1 {
			return v.parts[0], nil
		}
		return v, nil
	case yaml.MappingNode:
		return r.object(n, depth)
	case yaml.AliasNode:
		r.again++
		defer func() { r.again-- }()
		return r.value(n.Alias, depth+1)
	}
	switch n.ShortTag() {
	case "!!null", "!!binary":
		return &value{}, nil
	case "!!bool":
		return &value{text: cmp.Or(yesNo(strings.ToLower(n.Value)), n.Value)}, nil
	}
	return &value{text: n.Value}, nil
}

// add appends the value of a node to the parts of another.
func (r *yamlReader) add(v *value, n *yaml.Node, depth int) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	part, err := r.value(n, depth+1)
	if err == nil {
		part.note = joinNotes(r.note(n), part.note)
		v.parts = append(v.parts, part)
	}
	return err
}

// object returns an object. What it takes over from others ("<<") stands after its own parts, which replace parts of the same
// names.
func (r *yamlReader) object(n *yaml.Node, depth int) (*value, error) {
	v, taken, own := &value{kind: object}, &value{kind: list}, map[string]bool{}
	below := "" // what the parser takes for a comment below the value before, because a blank line follows
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		if name.ShortTag() == "!!merge" {
			if err := r.add(taken, n.Content[i+1], depth); err != nil {
				return nil, err
			}
			continue
		}
		if err := r.add(v, n.Content[i+1], depth); err != nil {
			return nil, err
		}
		part := v.parts[len(v.parts)-1]
		part.note = joinNotes(below, joinNotes(r.note(name), part.note))
		below = r.plainComment(name.FootComment)
		v.names = append(v.names, nameOf(name.Value))
		own[v.names[len(v.names)-1]] = true
	}
	for _, from := range taken.parts {
		for i, name := range from.names {
			if !own[name] {
				own[name] = true
				v.names, v.parts = append(v.names, name), append(v.parts, from.parts[i])
			}
		}
	}
	return v, nil
}

// note returns what the comments above and behind a node say.
func (r *yamlReader) note(n *yaml.Node) string {
	return joinNotes(r.plainComment(n.HeadComment), r.plainComment(n.LineComment))
}

// plainComment is plainComment for YAML. What is repeated has its comments once.
func (r *yamlReader) plainComment(comment string) string {
	if r.again > 0 {
		return ""
	}
	return plainComment(comment)
}

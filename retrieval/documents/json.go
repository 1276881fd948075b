package documents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// parseJSON reads data in JSON, of which a file may have several values, such as one in each line. Chats are read as such.
func parseJSON(ctx context.Context, data []byte) (Document, error) {
	text, err := decodeText(data)
	if err != nil {
		return Document{}, err
	}
	r := jsonReader{ctx: ctx, text: text, d: json.NewDecoder(strings.NewReader(text))}
	r.d.UseNumber()
	all := &value{kind: list}
	for r.d.More() {
		v, err := r.value(0)
		if err != nil {
			return Document{}, err
		}
		all.parts = append(all.parts, v)
	}
	if _, err := r.d.Token(); err != nil && err != io.EOF {
		return Document{}, r.damaged(err)
	}
	if len(all.parts) == 1 {
		all = all.parts[0]
	}
	if doc, ok := chatDocument(ctx, all); ok {
		return doc, ctx.Err()
	}
	return valueDocument(ctx, all)
}

// jsonReader reads values within bounds.
type jsonReader struct {
	ctx   context.Context
	text  string
	d     *json.Decoder
	count int
}

// value reads the next value.
func (r *jsonReader) value(depth int) (*value, error) {
	t, err := r.d.Token()
	if err != nil {
		return nil, r.damaged(err)
	}
	if r.count++; r.count > valueCount {
		return nil, errManyValues
	}
	switch t := t.(type) {
	case json.Delim:
		if depth == valueDepth {
			return nil, errDeepValues
		}
		v := &value{kind: list}
		if t == '{' {
			v.kind = object
		}
		err := r.parts(v, depth)
		return v, err
	case string:
		return &value{text: t}, nil
	case json.Number:
		return &value{text: t.String()}, nil
	case bool:
		return &value{text: yesNo(strconv.FormatBool(t))}, nil
	}
	return &value{}, nil // null
}

// parts reads the parts of an object or a list, with the bracket at its end.
func (r *jsonReader) parts(v *value, depth int) error {
	for r.d.More() {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if v.kind == object {
			name, err := r.d.Token()
			if err != nil {
				return r.damaged(err)
			}
			v.names = append(v.names, nameOf(fmt.Sprint(name)))
		}
		part, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		v.parts = append(v.parts, part)
	}
	if _, err := r.d.Token(); err != nil {
		return r.damaged(err)
	}
	return nil
}

// damaged names the line in which the data is no JSON.
func (r *jsonReader) damaged(err error) error {
	at := r.d.InputOffset()
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = syntax.Offset
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("damaged JSON (it ends within a value)")
	}
	line := 1 + strings.Count(r.text[:max(0, min(int(at), len(r.text)))], "\n")
	return fmt.Errorf("damaged JSON (line %d: %s)", line, strings.ToValidUTF8(err.Error(), "\ufffd"))
}

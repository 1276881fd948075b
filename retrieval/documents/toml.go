package documents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tandem/internal/lazyregexp"
)

// parseTOML reads settings in TOML.
func parseTOML(ctx context.Context, data []byte) (Document, error) {
	text, err := decodeText(data)
	if err != nil {
		return Document{}, err
	}
	v, err := readTOML(ctx, text)
	if err != nil {
		return Document{}, err
	}
	return valueDocument(ctx, v)
}

// readTOML returns the values in a text.
func readTOML(ctx context.Context, text string) (*value, error) {
	r := newTOMLReader(ctx, text)
	if err := r.read(); err != nil {
		if ctx.Err() == nil && !errors.Is(err, errManyValues) && !errors.Is(err, errDeepValues) {
			line := 1 + strings.Count(r.text[:min(r.at, len(r.text))], "\n")
			err = fmt.Errorf("damaged TOML (line %d: %w)", line, err)
		}
		return nil, err
	}
	return r.top, nil
}

// tomlReader makes values within bounds. A comment above or behind a value becomes its note. Libraries for TOML lose comments, or
// nest as deep as a file asks.
type tomlReader struct {
	ctx   context.Context
	text  string
	at    int
	count int
	top   *value
	table *value                       // to which settings belong
	parts map[*value]map[string]*value // of objects, by their names as the file has them
	said  string                       // the comments above
}

func newTOMLReader(ctx context.Context, text string) *tomlReader {
	r := &tomlReader{ctx: ctx, text: strings.ReplaceAll(text, "\r\n", "\n"), parts: map[*value]map[string]*value{}}
	r.top = &value{kind: object}
	r.table = r.top
	return r
}

// read reads the whole file.
func (r *tomlReader) read() error {
	for {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		r.comments()
		if r.at == len(r.text) {
			return nil
		}
		read := r.setting
		if r.text[r.at] == '[' {
			read = r.header
		}
		if err := read(); err != nil {
			return err
		}
	}
}

// comments skips white space and comments. What these say goes with the next setting; those at the start of the file, before a
// blank line, are about all of it.
func (r *tomlReader) comments() {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '#':
			said := joinLines(r.said, plainComment(r.rest()))
			if r.said = said; r.count == 0 && strings.HasPrefix(r.text[r.at:], "\n\n") {
				r.top.note, r.said = joinNotes(r.top.note, said), ""
			}
		case strings.IndexByte(" \t\n", c) >= 0:
			r.at++
		default:
			return
		}
	}
}

// rest returns the text up to the end of the line, and skips it.
func (r *tomlReader) rest() string {
	line, _, _ := strings.Cut(r.text[r.at:], "\n")
	r.at += len(line)
	return line
}

// blanks skips the blanks of a line.
func (r *tomlReader) blanks() {
	for r.at < len(r.text) && strings.IndexByte(" \t", r.text[r.at]) >= 0 {
		r.at++
	}
}

// take skips a sign and what is blank before it, and reports whether it stands there.
func (r *tomlReader) take(sign string) bool {
	r.blanks()
	found := strings.HasPrefix(r.text[r.at:], sign)
	if found {
		r.at += len(sign)
	}
	return found
}

// header reads the name of a table, "[a.b]", or of the next table of a list, "[[a.b]]".
func (r *tomlReader) header() error {
	many := r.take("[[")
	ends := "]]"
	if !many {
		r.take("[")
		ends = "]"
	}
	keys, err := r.keys()
	if err != nil {
		return err
	}
	if !r.take(ends) {
		return errors.New("a table's name has no end")
	}
	above, err := r.within(r.top, keys[:len(keys)-1])
	if err != nil {
		return err
	}
	name := keys[len(keys)-1]
	if many {
		r.table, err = r.next(above, name)
	} else {
		r.table, err = r.within(above, []string{name})
	}
	if err == nil {
		r.table.note = joinNotes(r.table.note, r.said)
		err = r.endLine(r.table)
	}
	r.said = ""
	return err
}

// next adds a table to the list of a name.
func (r *tomlReader) next(above *value, name string) (*value, error) {
	tables := r.parts[above][name]
	if tables == nil {
		tables = &value{kind: list}
		if err := r.add(above, name, tables); err != nil {
			return nil, err
		}
	}
	if tables.kind != list {
		return nil, errTwice
	}
	if r.count++; r.count > valueCount {
		return nil, errManyValues
	}
	table := &value{kind: object}
	tables.parts = append(tables.parts, table)
	return table, nil
}

var errTwice = errors.New("a name has two values")

// within returns the object that keys lead to from another, and adds it if need be. Of a list it takes the last object.
func (r *tomlReader) within(v *value, keys []string) (*value, error) {
	for _, key := range keys {
		part := r.parts[v][key]
		if part == nil {
			part = &value{kind: object}
			if err := r.add(v, key, part); err != nil {
				return nil, err
			}
		}
		if part.kind == list && len(part.parts) > 0 {
			part = part.parts[len(part.parts)-1]
		}
		if part.kind != object {
			return nil, errTwice
		}
		v = part
	}
	return v, nil
}

// add adds a part to an object.
func (r *tomlReader) add(v *value, name string, part *value) error {
	if r.count++; r.count > valueCount {
		return errManyValues
	}
	if r.parts[v] == nil {
		r.parts[v] = map[string]*value{}
	} else if r.parts[v][name] != nil {
		return errTwice
	}
	r.parts[v][name] = part
	v.names, v.parts = append(v.names, nameOf(name)), append(v.parts, part)
	return nil
}

// setting reads a name with its value, and what the comment behind it says.
func (r *tomlReader) setting() error {
	note := r.said
	r.said = ""
	v, err := r.pair(r.table, 0)
	if err != nil {
		return err
	}
	v.note = joinNotes(note, v.note)
	return r.endLine(v)
}

// endLine reads what stands behind a value: nothing but a comment.
func (r *tomlReader) endLine(v *value) error {
	v.note = joinNotes(v.note, r.behind())
	if r.rest() != "" {
		return errors.New("there is more behind a value")
	}
	return nil
}

// behind skips the rest of the line if it is a comment, and returns what that says.
func (r *tomlReader) behind() string {
	if r.blanks(); !strings.HasPrefix(r.text[r.at:], "#") {
		return ""
	}
	return plainComment(r.rest())
}

// pair reads a name with its value, which it adds to an object and returns.
func (r *tomlReader) pair(into *value, depth int) (*value, error) {
	keys, err := r.keys()
	if err != nil {
		return nil, err
	}
	if !r.take("=") {
		return nil, errors.New("a name has no value")
	}
	v, err := r.value(depth + 1)
	if err != nil {
		return nil, err
	}
	last := len(keys) - 1
	if into, err = r.within(into, keys[:last]); err != nil {
		return nil, err
	}
	return v, r.add(into, keys[last], v)
}

// tomlKey matches a name without quotation marks.
var tomlKey = lazyregexp.New(`^[\pL\pN_-]+`)

// keys reads a name, which may have several parts.
func (r *tomlReader) keys() (keys []string, err error) {
	for {
		r.blanks()
		key := tomlKey.FindString(r.text[r.at:])
		if key != "" {
			r.at += len(key)
		} else if key, err = r.quoted(); err != nil {
			return nil, errors.New("a name was expected")
		}
		if keys = append(keys, key); len(keys) > valueDepth {
			return nil, errDeepValues
		}
		if !r.take(".") {
			return keys, nil
		}
	}
}

// value reads a value.
func (r *tomlReader) value(depth int) (*value, error) {
	if depth > valueDepth {
		return nil, errDeepValues
	}
	r.blanks()
	switch first := r.text[r.at:min(r.at+1, len(r.text))]; first {
	case `"`, "'":
		text, err := r.quoted()
		return &value{text: text}, err
	case "[":
		return r.series(&value{kind: list}, "]", depth)
	case "{":
		return r.series(&value{kind: object}, "}", depth)
	}
	end := strings.IndexAny(r.text[r.at:], ",]}#\n")
	if end < 0 {
		end = len(r.text) - r.at
	}
	text := strings.TrimSpace(r.text[r.at : r.at+end])
	if r.at += end; text == "" {
		return nil, errors.New("a value was expected")
	}
	return &value{text: cmp.Or(yesNo(text), text)}, nil
}

// series reads the parts of a list or of an object, up to the bracket at its end.
func (r *tomlReader) series(v *value, ends string, depth int) (*value, error) {
	said := r.said
	defer func() { r.said = said }()
	for r.at++; ; {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		r.said = ""
		if r.comments(); r.take(ends) {
			return v, nil
		}
		note := r.said
		part, err := (*value)(nil), error(nil)
		if v.kind == object {
			part, err = r.pair(v, depth)
		} else if part, err = r.value(depth + 1); err == nil {
			v.parts = append(v.parts, part)
			if r.count++; r.count > valueCount {
				err = errManyValues
			}
		}
		if err != nil {
			return nil, err
		}
		said := r.behind()
		r.comments()
		if !r.take(",") && !strings.HasPrefix(r.text[r.at:], ends) {
			return nil, errors.New("a list has no end")
		}
		part.note = joinNotes(joinNotes(note, part.note), joinNotes(said, r.behind()))
	}
}

// quoted reads a text between quotation marks, of which three go around a text of several lines.
func (r *tomlReader) quoted() (string, error) {
	mark := r.text[r.at:min(r.at+1, len(r.text))]
	if mark != `"` && mark != "'" {
		return "", errors.New("a text was expected")
	}
	long := strings.HasPrefix(r.text[r.at:], mark+mark+mark)
	if long {
		mark += mark + mark
	}
	r.at += len(mark)
	begin := r.at
	for ; !strings.HasPrefix(r.text[r.at:], mark); r.at++ {
		if r.at < len(r.text) && r.text[r.at] == '\\' && mark[0] == '"' {
			r.at++
		}
		if r.at >= len(r.text) || r.text[r.at] == '\n' && !long {
			return "", errors.New("a text has no end")
		}
	}
	for long && strings.HasPrefix(r.text[r.at+1:], mark) { // the text ends with a mark of its own
		r.at++
	}
	text := r.text[begin:r.at]
	r.at += len(mark)
	if mark[0] == '"' {
		text = unescapeTOML(text)
	}
	return text, nil
}

// tomlEscape matches what stands for a sign in a text.
var tomlEscape = lazyregexp.New(`\\(?:[ \t]*\n\s*|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[^uU])`)

// unescapeTOML puts signs in the place of what stands for them. A backslash at the end of a line joins it to the next.
func unescapeTOML(text string) string {
	return tomlEscape.ReplaceAllStringFunc(text, func(escape string) string {
		switch c := escape[1]; c {
		case 'u', 'U':
			code, _ := strconv.ParseInt(escape[2:], 16, 64)
			return string(rune(code))
		case 'n', 'r':
			return "\n"
		case 't', 'b', 'f', ' ', '\t', '\n':
			return " "
		}
		return escape[1:]
	})
}

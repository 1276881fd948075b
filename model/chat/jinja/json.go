package jinja

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A jsonWriter writes values as Python's json.dumps.
type jsonWriter struct {
	m           *machine
	b           strings.Builder
	indent      string // of one level; lines only if not empty or lines
	lines       bool
	comma       string
	colon       string
	ascii, sort bool
}

// filterJSON is tojson as chat templates expect it: json.dumps(x, ensure_ascii=False), without escapes for HTML.
func filterJSON(m *machine, x any, a *arguments) any {
	w := &jsonWriter{m: m, comma: ", ", colon: ": "}
	w.ascii = truth(a.or(-1, "ensure_ascii", false))
	w.sort = truth(a.or(-1, "sort_keys", false))
	switch by := a.or(0, "indent", nil).(type) {
	case nil:
	case string:
		w.indent, w.lines, w.comma = by, true, ","
	default:
		w.indent, w.lines, w.comma = strings.Repeat(" ", min(max(m.small(by), 0), 64)), true, ","
	}
	if v := a.or(-1, "separators", nil); v != nil {
		pair := m.iterate(v)
		if len(pair) != 2 {
			m.fail("tojson: separators are two texts")
		}
		w.comma, w.colon = m.textArg(pair[0]), m.textArg(pair[1])
	}
	w.write(x, 0)
	return w.b.String()
}

// maxJSONNesting bounds the nesting of a text in JSON.
const maxJSONNesting = 64

// filterFromJSON reads a text in JSON, which Jinja does not know and templates of llama.cpp use.
func filterFromJSON(m *machine, x any, _ *arguments) any {
	text := m.textArg(x)
	m.work(len(text))
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	v := m.readJSON(dec, 0)
	if _, err := dec.Token(); err != io.EOF {
		m.fail("from_json: more than one value")
	}
	return v
}

func (m *machine) readJSON(dec *json.Decoder, depth int) any {
	m.step()
	if depth > maxJSONNesting {
		m.fail("from_json: nested more than %d times", maxJSONNesting)
	}
	tok, err := dec.Token()
	if err != nil {
		m.fail("from_json: %.100v", err)
	}
	switch v := tok.(type) {
	case json.Delim:
		if v == '{' {
			d := &Dict{}
			for m.alloc(64); dec.More(); m.alloc(96) {
				key := m.readJSON(dec, depth+1)
				d.set(key, m.readJSON(dec, depth+1))
			}
			m.endJSON(dec)
			return d
		}
		l := m.list(nil, listKind)
		for dec.More() {
			m.alloc(32)
			l.items = append(l.items, m.readJSON(dec, depth+1))
		}
		m.endJSON(dec)
		return l
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, err := v.Float64()
		if err != nil || !strings.ContainsAny(v.String(), ".eE") {
			m.fail("from_json: %.100s is out of range", v)
		}
		return f
	case string:
		m.alloc(len(v))
	}
	return tok
}

// endJSON reads the end of an object or a list.
func (m *machine) endJSON(dec *json.Decoder) {
	if _, err := dec.Token(); err != nil {
		m.fail("from_json: %.100v", err)
	}
}

func (w *jsonWriter) put(s string) {
	w.m.alloc(2 * len(s))
	w.b.WriteString(s)
}

func (w *jsonWriter) line(level int) {
	if w.lines {
		w.m.allocTimes(len(w.indent), int64(2*level))
		w.b.WriteByte('\n')
		w.b.WriteString(strings.Repeat(w.indent, level))
	}
}

func (w *jsonWriter) write(v any, level int) {
	defer w.m.enter()()
	switch x := v.(type) {
	case nil:
		w.put("null")
	case bool:
		w.put(strings.ToLower(scalar(x)))
	case int64, float64:
		w.put(numberJSON(x))
	case string:
		w.text(x)
	case *List:
		w.put("[")
		for i, item := range x.items {
			if i > 0 {
				w.put(w.comma)
			}
			w.line(level + 1)
			w.write(item, level+1)
		}
		if len(x.items) > 0 {
			w.line(level)
		}
		w.put("]")
	case *Dict:
		w.dict(x, level)
	default:
		w.m.fail("tojson: %s has no JSON", typeName(v))
	}
}

// numberJSON writes a number as Python does, which has names for those that JSON does not know.
func numberJSON(v any) string {
	f, _ := v.(float64)
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.Replace(scalar(v), "inf", "Infinity", 1)
	}
	return scalar(v)
}

func (w *jsonWriter) dict(d *Dict, level int) {
	order := make([]int, len(d.keys))
	for i := range order {
		order[i] = i
	}
	if w.sort {
		sort.SliceStable(order, func(i, j int) bool { return w.m.compare(d.keys[order[i]], d.keys[order[j]]) < 0 })
	}
	w.put("{")
	for n, i := range order {
		if n > 0 {
			w.put(w.comma)
		}
		w.line(level + 1)
		switch k := d.keys[i].(type) {
		case string:
			w.text(k)
		case nil:
			w.put(`"null"`)
		case bool:
			w.put(`"` + strings.ToLower(scalar(k)) + `"`)
		case int64, float64:
			w.put(`"` + numberJSON(k) + `"`)
		default:
			w.m.fail("tojson: %s is no key", typeName(k))
		}
		w.put(w.colon)
		w.write(d.values[i], level+1)
	}
	if len(order) > 0 {
		w.line(level)
	}
	w.put("}")
}

var jsonEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}

func (w *jsonWriter) text(s string) {
	w.m.alloc(3*len(s) + 2)
	w.b.WriteByte('"')
	for _, r := range s {
		e, ok := jsonEscapes[r]
		switch {
		case ok:
			w.b.WriteString(e)
		case r < ' ' || w.ascii && r >= 0x7f && r < 0x10000:
			w.m.alloc(6)
			fmt.Fprintf(&w.b, `\u%04x`, r)
		case w.ascii && r > utf8.RuneSelf:
			a, b := utf16.EncodeRune(r)
			w.m.alloc(12)
			fmt.Fprintf(&w.b, `\u%04x\u%04x`, a, b)
		default:
			w.b.WriteRune(r)
		}
	}
	w.b.WriteByte('"')
}

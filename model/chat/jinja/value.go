package jinja

import (
	"cmp"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A value is what an expression gives: nil, a bool, int64, float64 or string, a *List, *Dict, *undefined, *namespace,
// *loop, *macro, *method or Func.

// undefined stands for a name or item that is not there.
type undefined struct{ what string }

type listKinds uint8

const (
	listKind listKinds = iota
	tupleKind
	lazyKind // what select, map and their like give: true even if empty, as Python's generators
)

// A List is Python's list or tuple.
type List struct {
	items []any
	kind  listKinds
}

// A Dict is Python's dictionary, which keeps the order of its keys.
type Dict struct {
	keys, values []any
	at           map[any]int
}

// NewDict returns a dictionary of keys and values, one after the other.
func NewDict(pairs ...any) *Dict {
	d := &Dict{}
	for i := 0; i+1 < len(pairs); i += 2 {
		d.set(pairs[i], valueOf(pairs[i+1]))
	}
	return d
}

// hashable returns the form of a key under which equal keys are one.
func hashable(key any) (any, bool) {
	switch k := key.(type) {
	case nil, string, int64:
		return k, true
	case bool:
		if k {
			return int64(1), true
		}
		return int64(0), true
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<53 {
			return int64(k), true
		}
		return k, true
	case *List:
		if k.kind == tupleKind && len(k.items) <= maxTupleKey {
			t := tupleKey{length: len(k.items)}
			for i, item := range k.items {
				h, ok := hashable(item)
				if _, nested := item.(*List); nested || !ok {
					return nil, false
				}
				t.items[i] = h
			}
			return t, true
		}
	}
	return nil, false
}

// maxTupleKey is the greatest number of items of a tuple that is a key.
const maxTupleKey = 8

// tupleKey is the form of a tuple under which equal ones are one.
type tupleKey struct {
	length int
	items  [maxTupleKey]any
}

func (d *Dict) get(key any) (any, bool) {
	h, ok := hashable(key)
	if !ok {
		return nil, false
	}
	i, ok := d.at[h]
	if !ok {
		return nil, false
	}
	return d.values[i], true
}

func (d *Dict) set(key, value any) bool {
	h, ok := hashable(key)
	if !ok {
		return false
	}
	if i, ok := d.at[h]; ok {
		d.values[i] = value
		return true
	}
	if d.at == nil {
		d.at = map[any]int{}
	}
	d.at[h] = len(d.keys)
	d.keys, d.values = append(d.keys, key), append(d.values, value)
	return true
}

// A namespace is a dictionary whose attributes can be set.
type namespace struct{ Dict }

// A Func is a function that a template may call, with the arguments that have no names.
type Func func(args []any) (any, error)

// valueOf returns a Go value as a template's.
func valueOf(v any) any {
	switch x := v.(type) {
	case int:
		return int64(x)
	case []any:
		l := &List{items: make([]any, len(x))}
		for i, e := range x {
			l.items[i] = valueOf(e)
		}
		return l
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		d := &Dict{}
		for _, k := range keys {
			d.set(k, valueOf(x[k]))
		}
		return d
	}
	return v
}

// typeName is Python's name of a value's type.
func typeName(v any) string {
	switch x := v.(type) {
	case nil:
		return "None"
	case bool:
		return "a truth value"
	case int64:
		return "an integer"
	case float64:
		return "a number"
	case string:
		return "a text"
	case *List:
		return [...]string{"a list", "a tuple", "a list"}[x.kind]
	case *Dict:
		return "a dictionary"
	case *namespace:
		return "a namespace"
	case *undefined:
		return "undefined " + x.what
	}
	return "a function"
}

func truth(v any) bool {
	switch x := v.(type) {
	case nil, *undefined:
		return false
	case bool:
		return x
	case int64:
		return x != 0
	case float64:
		return x != 0
	case string:
		return x != ""
	case *List:
		return len(x.items) > 0 || x.kind == lazyKind
	case *Dict:
		return len(x.keys) > 0
	}
	return true
}

// integer returns integers and truth values, which are integers in Python.
func integer(v any) (int64, bool) {
	switch x := v.(type) {
	case int64:
		return x, true
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

func number(v any) (float64, bool) {
	if f, ok := v.(float64); ok {
		return f, true
	}
	i, ok := integer(v)
	return float64(i), ok
}

// equal compares as Python's ==.
func (m *machine) equal(a, b any) bool {
	defer m.enter()()
	if x, ok := number(a); ok {
		y, ok := number(b)
		i, isInt := integer(a)
		j, isInt2 := integer(b)
		if isInt && isInt2 {
			return i == j
		}
		return ok && x == y
	}
	switch x := a.(type) {
	case nil:
		return b == nil
	case string:
		y, ok := b.(string)
		m.work(min(len(x), len(y)))
		return ok && x == y
	case *undefined:
		_, ok := b.(*undefined)
		return ok
	case *List:
		y, ok := b.(*List)
		if !ok || len(x.items) != len(y.items) || (x.kind == tupleKind) != (y.kind == tupleKind) {
			return false
		}
		for i := range x.items {
			if !m.equal(x.items[i], y.items[i]) {
				return false
			}
		}
		return true
	case *Dict:
		y, ok := b.(*Dict)
		if !ok || len(x.keys) != len(y.keys) {
			return false
		}
		for i, k := range x.keys {
			if v, ok := m.find(y, k); !ok || !m.equal(x.values[i], v) {
				return false
			}
		}
		return true
	case *namespace, *macro, *loop:
		return a == b
	}
	return false
}

// compare returns the sign of a−b.
func (m *machine) compare(a, b any) int {
	defer m.enter()()
	if x, ok := integer(a); ok {
		if y, ok := integer(b); ok {
			return cmp.Compare(x, y)
		}
	}
	if x, ok := number(a); ok {
		if y, ok := number(b); ok {
			return cmp.Compare(x, y)
		}
	}
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			m.work(min(len(x), len(y)))
			return strings.Compare(x, y)
		}
	case *List:
		if y, ok := b.(*List); ok {
			for i := range min(len(x.items), len(y.items)) {
				if !m.equal(x.items[i], y.items[i]) {
					return m.compare(x.items[i], y.items[i])
				}
			}
			return len(x.items) - len(y.items)
		}
	}
	m.fail("%s cannot be compared with %s", typeName(a), typeName(b))
	return 0
}

// str is Python's str(v): what a template prints.
func (m *machine) str(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case *undefined:
		return ""
	case nil, bool, int64, float64:
		return scalar(x)
	}
	var b strings.Builder
	m.repr(&b, v)
	return b.String()
}

func scalar(v any) string {
	switch x := v.(type) {
	case bool:
		if x {
			return "True"
		}
		return "False"
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		return float(x)
	}
	return "None"
}

// float formats a number as Python does.
func float(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(x, 'g', -1, 64)), "+")
	case a != 0 && (a < 1e-4 || a >= 1e16):
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// repr writes Python's repr(v).
func (m *machine) repr(b *strings.Builder, v any) {
	defer m.enter()()
	m.alloc(32)
	switch x := v.(type) {
	case string:
		m.alloc(2 * len(x))
		m.work(8 * len(x)) // quote goes character by character
		quote(b, x)
	case nil, bool, int64, float64:
		b.WriteString(scalar(x))
	case *undefined:
		b.WriteString("Undefined")
	case *List:
		open, end := "[", "]"
		if x.kind == tupleKind {
			open, end = "(", ")"
			if len(x.items) == 1 {
				end = ",)"
			}
		}
		b.WriteString(open)
		for i, e := range x.items {
			if i > 0 {
				b.WriteString(", ")
			}
			m.repr(b, e)
		}
		b.WriteString(end)
	case *Dict:
		m.reprDict(b, x)
	case *namespace:
		b.WriteString("<Namespace ")
		m.reprDict(b, &x.Dict)
		b.WriteString(">")
	default:
		b.WriteString("<function>")
	}
}

func (m *machine) reprDict(b *strings.Builder, d *Dict) {
	b.WriteString("{")
	for i, k := range d.keys {
		if i > 0 {
			b.WriteString(", ")
		}
		m.repr(b, k)
		b.WriteString(": ")
		m.repr(b, d.values[i])
	}
	b.WriteString("}")
}

// quote writes a text as Python's repr does.
func quote(b *strings.Builder, s string) {
	q := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	b.WriteRune(q)
	for _, r := range s {
		switch {
		case r == q || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f || r < 0x100 && !unicode.IsPrint(r):
			fmt.Fprintf(b, `\x%02x`, r)
		case r != ' ' && !unicode.IsPrint(r) && r < 0x10000:
			fmt.Fprintf(b, `\u%04x`, r)
		case r != ' ' && !unicode.IsPrint(r):
			fmt.Fprintf(b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteRune(q)
}

// iterate returns what a loop over v visits.
func (m *machine) iterate(v any) []any {
	switch x := v.(type) {
	case *List:
		return x.items
	case *Dict:
		return x.keys
	case string:
		m.alloc(40 * utf8.RuneCountInString(x))
		items := make([]any, 0, len(x))
		for _, r := range x {
			items = append(items, string(r))
		}
		return items
	case *undefined:
		return nil
	}
	m.fail("%s cannot be iterated over", typeName(v))
	return nil
}

// length returns len(v).
func (m *machine) length(v any) int {
	switch x := v.(type) {
	case string:
		m.work(len(x))
		return utf8.RuneCountInString(x)
	case *List:
		return len(x.items)
	case *Dict:
		return len(x.keys)
	case *undefined:
		return 0
	}
	m.fail("%s has no length", typeName(v))
	return 0
}

// contains is Python's item in v.
func (m *machine) contains(v, item any) bool {
	switch x := v.(type) {
	case string:
		part, ok := item.(string)
		if !ok {
			m.fail("a text cannot contain %s", typeName(item))
		}
		m.work(len(x) + len(part))
		return strings.Contains(x, part)
	case *Dict:
		_, ok := m.find(x, item)
		return ok
	}
	for _, e := range m.iterate(v) {
		if m.equal(e, item) {
			return true
		}
	}
	return false
}

// list makes a list and counts its memory.
func (m *machine) list(items []any, kind listKinds) *List {
	m.alloc(16*len(items) + 48)
	return &List{items, kind}
}

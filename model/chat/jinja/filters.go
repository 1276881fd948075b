package jinja

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var filters, tests, functions map[string]builtin

func init() {
	filters = map[string]builtin{
		"abs": filterAbs, "attr": filterAttr, "batch": filterBatch, "capitalize": textFilter("capitalize"),
		"center": filterCenter, "count": filterLength, "d": filterDefault, "default": filterDefault, "dictsort": filterDictsort,
		"e": filterEscape, "escape": filterEscape, "from_json": filterFromJSON, "first": filterFirst, "float": filterFloat, "format": filterFormat,
		"groupby": filterGroupby, "indent": filterIndent, "int": filterInt, "items": filterItems, "join": filterJoin,
		"last": filterLast, "length": filterLength, "list": filterList, "lower": textFilter("lower"), "map": filterMap,
		"max": filterExtreme(1), "min": filterExtreme(-1), "pprint": filterPprint, "reject": filterSelect(failing),
		"rejectattr": filterSelectAttr(failing), "replace": filterReplace, "reverse": filterReverse, "round": filterRound,
		"safe": filterString, "select": filterSelect(passing), "selectattr": filterSelectAttr(passing), "slice": filterSlice,
		"sort": filterSort, "string": filterString, "sum": filterSum, "title": filterTitle, "tojson": filterJSON,
		"trim": filterTrim, "truncate": filterTruncate, "unique": filterUnique, "upper": textFilter("upper"),
		"urlencode": filterURL, "wordcount": filterWordcount,
	}
	functions = map[string]builtin{"range": callRange, "dict": callDict, "namespace": callNamespace}
}

func init() {
	tests = map[string]builtin{
		"defined":   func(_ *machine, x any, _ *arguments) any { _, not := x.(*undefined); return !not },
		"undefined": func(_ *machine, x any, _ *arguments) any { _, is := x.(*undefined); return is },
		"none":      func(_ *machine, x any, _ *arguments) any { return x == nil },
		"boolean":   func(_ *machine, x any, _ *arguments) any { _, is := x.(bool); return is },
		"true":      func(_ *machine, x any, _ *arguments) any { return x == true },
		"false":     func(_ *machine, x any, _ *arguments) any { return x == false },
		"integer":   func(_ *machine, x any, _ *arguments) any { _, is := x.(int64); return is },
		"float":     func(_ *machine, x any, _ *arguments) any { _, is := x.(float64); return is },
		"number":    func(_ *machine, x any, _ *arguments) any { _, is := number(x); return is },
		"string":    func(_ *machine, x any, _ *arguments) any { _, is := x.(string); return is },
		"mapping":   func(_ *machine, x any, _ *arguments) any { _, is := x.(*Dict); return is },
		"sequence": func(_ *machine, x any, _ *arguments) any {
			switch x := x.(type) {
			case string, *Dict, *undefined:
				return true
			case *List:
				return x.kind != lazyKind
			}
			return false
		},
		"iterable": func(_ *machine, x any, _ *arguments) any {
			switch x.(type) {
			case string, *Dict, *List, *undefined:
				return true
			}
			return false
		},
		"callable": func(_ *machine, x any, _ *arguments) any {
			switch x.(type) {
			case *method, *macro, Func:
				return true
			}
			return false
		},
		"lower": func(m *machine, x any, _ *arguments) any { return isLower(m.str(x)) },
		"upper": func(m *machine, x any, _ *arguments) any { return isUpper(m.str(x)) },
		"odd":   func(m *machine, x any, _ *arguments) any { return m.integer(x)&1 == 1 },
		"even":  func(m *machine, x any, _ *arguments) any { return m.integer(x)&1 == 0 },
		"divisibleby": func(m *machine, x any, a *arguments) any {
			return m.integers("%", m.integer(x), m.integer(m.need(a, 0, "num"))) == int64(0)
		},
		"sameas":  func(m *machine, x any, a *arguments) any { return same(x, m.need(a, 0, "other")) },
		"in":      func(m *machine, x any, a *arguments) any { return m.contains(m.need(a, 0, "seq"), x) },
		"filter":  func(m *machine, x any, _ *arguments) any { _, is := filters[m.str(x)]; return is },
		"test":    func(m *machine, x any, _ *arguments) any { _, is := tests[m.str(x)]; return is },
		"escaped": func(*machine, any, *arguments) any { return false },
	}
	for op, names := range map[string]string{"==": "eq equalto ==", "!=": "ne !=", "<": "lt lessthan <", "<=": "le <=",
		">": "gt greaterthan >", ">=": "ge >="} {
		for _, name := range strings.Fields(names) {
			tests[name] = func(m *machine, x any, a *arguments) any {
				return (&compareExpr{&constExpr{x}, []string{op}, []expr{&constExpr{m.need(a, 0, "other")}}}).eval(m)
			}
		}
	}
}

// same reports whether two values are one object. Dictionaries and lists are by reference.
func same(x, y any) bool {
	switch x.(type) {
	case nil, bool, int64, float64, string, *Dict, *List, *namespace:
		return x == y
	}
	return false
}

// need returns an argument that must be there.
func (m *machine) need(a *arguments, i int, name string) any {
	v, ok := a.get(i, name)
	if !ok {
		m.fail("argument %q is missing", name)
	}
	return v
}

func (m *machine) textArg(v any) string {
	s, ok := v.(string)
	if !ok {
		m.fail("%s is no text", typeName(v))
	}
	return s
}

// textFilter is a filter that is a method of texts, and takes any value as its text.
func textFilter(name string) builtin {
	return func(m *machine, x any, a *arguments) any { return textMethods[name](m, m.str(x), a) }
}

func filterString(m *machine, x any, _ *arguments) any { return m.str(x) }
func filterPprint(m *machine, x any, _ *arguments) any {
	var b strings.Builder
	m.repr(&b, x)
	return b.String()
}

func filterAttr(m *machine, x any, a *arguments) any {
	return m.attribute(x, m.textArg(m.need(a, 0, "name")))
}

func filterDefault(_ *machine, x any, a *arguments) any {
	if _, is := x.(*undefined); is || truth(a.or(1, "boolean", false)) && !truth(x) {
		return a.or(0, "default_value", "")
	}
	return x
}

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&#39;", `"`, "&#34;")

func filterEscape(m *machine, x any, _ *arguments) any {
	s := m.str(x)
	m.alloc(5 * len(s))
	return htmlEscapes.Replace(s)
}

// defined refuses an undefined value.
func (m *machine) defined(x any) {
	if u, is := x.(*undefined); is {
		m.fail("%s is undefined", u.what)
	}
}

func filterFormat(m *machine, x any, a *arguments) any { return m.format(m.str(x), a) }
func filterLength(m *machine, x any, _ *arguments) any { return int64(m.length(x)) }
func filterTrim(m *machine, x any, a *arguments) any   { return textMethods["strip"](m, m.str(x), a) }
func filterCenter(m *machine, x any, a *arguments) any {
	return m.pad(m.str(x), m.small(a.or(0, "width", int64(80))), " ", padBoth)
}

func filterReplace(m *machine, x any, a *arguments) any {
	n := -1
	if v := a.or(2, "count", nil); v != nil {
		n = m.small(v)
	}
	return m.replace(m.str(x), m.str(m.need(a, 0, "old")), m.str(m.need(a, 1, "new")), n)
}

func (m *machine) replace(s, old, by string, n int) string {
	m.work(len(s))
	found := strings.Count(s, old)
	if n >= 0 {
		found = min(found, n)
	}
	m.alloc(len(s))
	m.allocTimes(len(by), int64(found))
	return strings.Replace(s, old, by, n)
}

func filterIndent(m *machine, x any, a *arguments) any {
	by, ok := a.or(0, "width", int64(4)).(string)
	if !ok {
		n := max(m.small(a.or(0, "width", int64(4))), 0)
		m.alloc(n)
		by = strings.Repeat(" ", n)
	}
	s := m.str(x)
	var all []string
	for line := range lines(s + "\n") {
		if i := len(all); (i > 0 || truth(a.or(1, "first", false))) && (i == 0 || line != "" || truth(a.or(2, "blank", false))) {
			line = by + line
		}
		m.alloc(32 + 2*(len(by)+len(line)))
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

func filterTruncate(m *machine, x any, a *arguments) any {
	s := m.str(x)
	length, end := max(m.small(a.or(0, "length", int64(255))), 0), m.str(a.or(2, "end", "..."))
	leeway := max(m.small(a.or(3, "leeway", int64(5))), 0)
	n := m.length(s)
	if n <= length+leeway {
		return s
	}
	keep := max(length-utf8.RuneCountInString(end), 0)
	m.alloc(4*len(s) + len(end))
	cut := string([]rune(s)[:keep])
	if !truth(a.or(1, "killwords", false)) {
		if i := strings.LastIndexByte(cut, ' '); i >= 0 {
			cut = cut[:i]
		}
	}
	return cut + end
}

func filterURL(m *machine, x any, _ *arguments) any {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~/"
	switch x.(type) {
	case *Dict, *List:
		m.fail("urlencode takes a text, not %s", typeName(x))
	}
	s := m.str(x)
	m.alloc(3 * len(s))
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(plain, s[i]) >= 0 {
			b.WriteByte(s[i])
			continue
		}
		b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(s[i])|0x100, 16)[1:]))
	}
	return b.String()
}

func filterWordcount(m *machine, x any, _ *arguments) any {
	s := m.str(x)
	m.alloc(16 * len(s))
	return int64(len(strings.FieldsFunc(s, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })))
}

func callDict(m *machine, _ any, a *arguments) any {
	d := &Dict{}
	m.fill(d, a)
	return d
}

func callNamespace(m *machine, _ any, a *arguments) any {
	ns := &namespace{}
	m.fill(&ns.Dict, a)
	return ns
}

// fill sets a dictionary from arguments as Python's dict does.
func (m *machine) fill(d *Dict, a *arguments) {
	for _, v := range a.list {
		if from, ok := v.(*Dict); ok {
			for i, k := range from.keys {
				m.put(d, k, from.values[i])
			}
			continue
		}
		for _, pair := range m.iterate(v) {
			kv := m.iterate(pair)
			if len(kv) != 2 {
				m.fail("a dictionary is made of pairs")
			}
			m.put(d, kv[0], kv[1])
		}
	}
	for i, k := range a.names {
		m.put(d, k, a.named[i])
	}
}

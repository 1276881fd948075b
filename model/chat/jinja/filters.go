package jinja

import (
	"errors"
	"math"
	"regexp"
	"slices"
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

func (m *machine) integer(v any) int64 {
	i, ok := integer(v)
	if !ok {
		m.fail("%s is no integer", typeName(v))
	}
	return i
}

// small is an integer argument, cut to ±2³⁰.
func (m *machine) small(v any) int { return int(min(max(m.integer(v), -1<<30), 1<<30)) }

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

func filterAbs(m *machine, x any, _ *arguments) any {
	if f, ok := x.(float64); ok {
		return math.Abs(f)
	}
	if i := m.integer(x); i < 0 {
		return m.integers("-", 0, i)
	} else {
		return i
	}
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

func filterFirst(m *machine, x any, _ *arguments) any {
	if s, ok := x.(string); ok {
		return m.character(s, 0)
	}
	if items := m.iterate(x); len(items) > 0 {
		return items[0]
	}
	return &undefined{"the first item"}
}

func filterLast(m *machine, x any, _ *arguments) any {
	if s, ok := x.(string); ok {
		return m.character(s, -1)
	}
	if items := m.iterate(x); len(items) > 0 {
		return items[len(items)-1]
	}
	return &undefined{"the last item"}
}

func filterFloat(m *machine, x any, a *arguments) any {
	if f, ok := number(x); ok {
		return f
	}
	if s, ok := x.(string); ok {
		if f, ok := parseFloat(s); ok {
			return f
		}
	}
	m.defined(x)
	return a.or(0, "default", 0.0)
}

// defined refuses an undefined value.
func (m *machine) defined(x any) {
	if u, is := x.(*undefined); is {
		m.fail("%s is undefined", u.what)
	}
}

// loneUnderscore matches where Python's numbers have no underscore: but between two digits.
var loneUnderscore = regexp.MustCompile(`(^|[^0-9A-Za-z])_|_($|[^0-9A-Za-z])`)

// parseFloat reads a number as Python's float(s): beyond the range it is infinite.
func parseFloat(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "xX") || loneUnderscore.MatchString(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange)
}

// parseInt reads an integer as Python's int(s, base).
func (m *machine) parseInt(s string, base int) (int64, bool) {
	if loneUnderscore.MatchString(s) {
		return 0, false
	}
	digits := strings.TrimLeft(s, "+-")
	if prefix, ok := map[int]string{2: "0b", 8: "0o", 16: "0x"}[base]; ok && len(digits) > 2 && strings.EqualFold(digits[:2], prefix) {
		s = s[:len(s)-len(digits)] + digits[2:]
	}
	i, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), base, 64)
	if errors.Is(err, strconv.ErrRange) {
		m.fail("%.40s is out of range: integers have 64 bits", s)
	}
	return i, err == nil
}

// whole is a number without its fraction. It must fit in 64 bits.
func (m *machine) whole(f float64) int64 {
	if !(f >= math.MinInt64 && f < math.MaxInt64) {
		m.fail("%s is out of range: integers have 64 bits", float(f))
	}
	return int64(f)
}

func filterInt(m *machine, x any, a *arguments) any {
	if i, ok := integer(x); ok {
		return i
	}
	f, isNumber := x.(float64)
	if s, ok := x.(string); ok {
		s = strings.TrimSpace(s)
		base := m.small(a.or(1, "base", int64(10)))
		if base != 0 && (base < 2 || base > 36) {
			m.fail("int: base %d is not between 2 and 36", base)
		}
		if i, ok := m.parseInt(s, base); ok {
			return i
		}
		f, isNumber = parseFloat(s)
		isNumber = isNumber && !math.IsInf(f, 0)
	}
	if isNumber && !math.IsNaN(f) {
		return m.whole(f)
	}
	m.defined(x)
	return a.or(0, "default", int64(0))
}

func filterFormat(m *machine, x any, a *arguments) any { return m.format(m.str(x), a) }
func filterLength(m *machine, x any, _ *arguments) any { return int64(m.length(x)) }
func filterTrim(m *machine, x any, a *arguments) any   { return textMethods["strip"](m, m.str(x), a) }
func filterCenter(m *machine, x any, a *arguments) any {
	return m.pad(m.str(x), m.small(a.or(0, "width", int64(80))), " ", padBoth)
}

func filterItems(m *machine, x any, _ *arguments) any {
	if _, is := x.(*undefined); is {
		return m.list(nil, lazyKind)
	}
	d, ok := x.(*Dict)
	if !ok {
		m.fail("items takes a dictionary, not %s", typeName(x))
	}
	return m.pairs(d)
}

// pairs returns the keys and values of a dictionary.
func (m *machine) pairs(d *Dict) *List {
	items := make([]any, len(d.keys))
	for i, k := range d.keys {
		items[i] = m.list([]any{k, d.values[i]}, tupleKind)
	}
	return m.list(items, listKind)
}

func filterJoin(m *machine, x any, a *arguments) any {
	by := m.str(a.or(0, "d", ""))
	attr := a.or(1, "attribute", nil)
	items := m.iterate(x)
	m.alloc(16 * len(items))
	parts := make([]string, len(items))
	for i, item := range items {
		m.step()
		parts[i] = m.str(m.path(item, attr))
	}
	return m.join(parts, by)
}

func (m *machine) join(parts []string, by string) string {
	m.allocTimes(len(by), int64(len(parts)))
	for _, s := range parts {
		m.alloc(len(s))
	}
	return strings.Join(parts, by)
}

func filterList(m *machine, x any, _ *arguments) any {
	return m.list(slices.Clone(m.iterate(x)), listKind)
}

func filterReverse(m *machine, x any, _ *arguments) any {
	if s, ok := x.(string); ok {
		return (&sliceExpr{&constExpr{s}, [3]expr{nil, nil, &constExpr{int64(-1)}}}).eval(m)
	}
	items := slices.Clone(m.iterate(x))
	slices.Reverse(items)
	return m.list(items, lazyKind)
}

func filterRound(m *machine, x any, a *arguments) any {
	f, ok := number(x)
	if !ok {
		m.fail("%s is no number", typeName(x))
	}
	precision := m.small(a.or(0, "precision", int64(0)))
	round := math.Ceil
	switch method := m.textArg(a.or(1, "method", "common")); method {
	case "common":
		if i, ok := integer(x); ok {
			return m.roundInteger(i, precision)
		}
		return roundDecimal(f, precision)
	case "floor":
		round = math.Floor
	case "ceil":
	default:
		m.fail("round: the method %s is not common, ceil or floor", m.brief(method))
	}
	scale := math.Pow10(min(max(precision, -300), 300))
	r := round(f * scale)
	if math.IsNaN(r) || math.IsInf(r, 0) {
		m.fail("round: %s is out of range", float(f))
	}
	return r / scale
}

// roundDecimal rounds to as many decimals, halves to the even digit, as the number's exact value says: 2.675 lies below the half.
func roundDecimal(f float64, decimals int) float64 {
	if decimals < 0 {
		scale := math.Pow10(max(decimals, -400))
		if scale == 0 {
			return math.Copysign(0, f)
		}
		return math.RoundToEven(f*scale) / scale
	}
	const most = 1100 // no number has more decimals
	r, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', min(decimals, most), 64), 64)
	return r
}

// roundInteger is roundDecimal of an integer, which stays one.
func (m *machine) roundInteger(i int64, decimals int) int64 {
	if decimals >= 0 {
		return i
	}
	unit := int64(1)
	for ; decimals < 0; decimals++ {
		if unit > math.MaxInt64/10 {
			return 0
		}
		unit *= 10
	}
	rest := m.integers("%", i, unit).(int64)
	below := m.integers("-", i, rest).(int64)
	if half := unit / 2; rest > half || rest == half && below/unit%2 != 0 {
		return m.integers("+", below, unit).(int64)
	}
	return below
}

func filterSum(m *machine, x any, a *arguments) any {
	sum := a.or(1, "start", int64(0))
	attr := a.or(0, "attribute", nil)
	for _, item := range m.iterate(x) {
		sum = (&binaryExpr{"+", &constExpr{sum}, &constExpr{m.path(item, attr)}}).eval(m)
		m.step()
	}
	return sum
}

// path is the attribute or item that a filter's argument names, such as "function.name", or x itself if it is none.
func (m *machine) path(x, attr any) any { return m.pathOr(x, attr, nil) }

// pathOr is path with a fallback for what is missing on the way, unless that is nil.
func (m *machine) pathOr(x, attr, fallback any) any {
	name, ok := attr.(string)
	if attr == nil {
		return x
	}
	if !ok {
		return m.item(x, attr)
	}
	for part := range strings.SplitSeq(name, ".") {
		if i, err := strconv.ParseInt(part, 10, 64); err == nil {
			x = m.item(x, i)
		} else {
			x = m.item(x, part)
		}
		if _, is := x.(*undefined); is && fallback != nil {
			x = fallback
		}
	}
	return x
}

func filterMap(m *machine, x any, a *arguments) any {
	items := slices.Clone(m.some(x))
	var each func(any) any
	if attr, ok := a.get(-1, "attribute"); ok {
		fallback := a.or(-1, "default", nil)
		each = func(x any) any { return m.pathOr(x, attr, fallback) }
	} else {
		run, rest := m.named(filters, "filter", a)
		each = func(x any) any { return run(m, x, rest) }
	}
	out := m.list(items, lazyKind)
	for i := range items {
		m.step()
		items[i] = each(items[i])
	}
	return out
}

// some is iterate for filters that treat false values, such as none, as an empty list.
func (m *machine) some(x any) []any {
	if !truth(x) {
		return nil
	}
	return m.iterate(x)
}

// named finds a filter or test by the first argument, and returns the others.
func (m *machine) named(in map[string]builtin, what string, a *arguments) (builtin, *arguments) {
	if len(a.list) == 0 {
		m.fail("the name of a %s is missing", what)
	}
	run, ok := in[m.str(a.list[0])]
	if !ok {
		m.fail("%s %q is unknown", what, m.brief(a.list[0]))
	}
	return run, &arguments{a.list[1:], a.names, a.named}
}

// What filterSelect and filterSelectAttr keep: the items that pass a test, or the others.
const (
	passing = true
	failing = false
)

// filterSelect keeps items by a test that the first argument names, or by their truth.
func filterSelect(keep bool) builtin {
	return func(m *machine, x any, a *arguments) any {
		return m.selected(x, a, keep, func(item any) any { return item })
	}
}

// filterSelectAttr is filterSelect by the items' attribute that the first argument names. The test is the second.
func filterSelectAttr(keep bool) builtin {
	return func(m *machine, x any, a *arguments) any {
		if len(a.list) == 0 {
			m.fail("the name of an attribute is missing")
		}
		name, rest := a.list[0], &arguments{a.list[1:], a.names, a.named}
		return m.selected(x, rest, keep, func(item any) any { return m.path(item, name) })
	}
}

// selected returns the items of x for which the test of subject has the result keep.
func (m *machine) selected(x any, a *arguments, keep bool, subject func(item any) any) any {
	run, rest := builtin(func(_ *machine, x any, _ *arguments) any { return truth(x) }), a
	if len(a.list) > 0 {
		run, rest = m.named(tests, "test", a)
	}
	out := m.list(nil, lazyKind)
	for _, item := range m.some(x) {
		v := subject(item)
		m.step()
		if run(m, v, rest) == keep {
			m.alloc(32)
			out.items = append(out.items, item)
		}
	}
	return out
}

// key returns a function that gives what sort and its like compare.
func (m *machine) key(a *arguments, attrAt, caseAt int) func(any) any {
	attr := a.or(attrAt, "attribute", nil)
	sensitive := truth(a.or(caseAt, "case_sensitive", false))
	if s, ok := attr.(string); ok && strings.Contains(s, ",") { // several: a tuple
		return func(x any) any {
			var all []any
			for one := range strings.SplitSeq(s, ",") {
				key := m.key(&arguments{list: []any{one, sensitive}}, 0, 1)
				all = append(all, key(x))
			}
			return m.list(all, tupleKind)
		}
	}
	return func(x any) any {
		x = m.path(x, attr)
		if s, ok := x.(string); ok && !sensitive {
			m.alloc(3 * len(s))
			return lower(s)
		}
		return x
	}
}

// sorted sorts items by their keys, stably.
func (m *machine) sorted(items []any, key func(any) any, reverse bool) {
	m.alloc(32 * len(items))
	type keyed struct{ key, item any }
	list := make([]keyed, len(items))
	for i, item := range items {
		list[i] = keyed{key(item), item}
	}
	slices.SortStableFunc(list, func(a, b keyed) int {
		if reverse {
			return m.compare(b.key, a.key)
		}
		return m.compare(a.key, b.key)
	})
	for i := range list {
		items[i] = list[i].item
	}
}

func filterSort(m *machine, x any, a *arguments) any {
	items := slices.Clone(m.iterate(x))
	out := m.list(items, listKind)
	m.sorted(items, m.key(a, 2, 1), truth(a.or(0, "reverse", false)))
	return out
}

func filterDictsort(m *machine, x any, a *arguments) any {
	d, ok := x.(*Dict)
	if !ok {
		m.fail("dictsort takes a dictionary, not %s", typeName(x))
	}
	at := int64(0)
	if a.or(1, "by", "key") == "value" {
		at = 1
	}
	pairs := m.pairs(d)
	key := m.key(&arguments{list: []any{a.or(0, "case_sensitive", false)}}, -1, 0)
	m.sorted(pairs.items, func(x any) any { return key(m.item(x, at)) }, truth(a.or(2, "reverse", false)))
	return pairs
}

func filterUnique(m *machine, x any, a *arguments) any {
	key := m.key(a, 1, 0)
	seen, out := &Dict{}, m.list(nil, lazyKind)
	for _, item := range m.iterate(x) {
		k := key(item)
		if _, ok := m.find(seen, k); !ok {
			m.put(seen, k, true)
			out.items = append(out.items, item)
		}
	}
	return out
}

func filterGroupby(m *machine, x any, a *arguments) any {
	attr := m.need(a, 0, "attribute")
	key := m.key(&arguments{list: []any{attr, a.or(2, "case_sensitive", false)}}, 0, 1)
	items := slices.Clone(m.iterate(x))
	m.alloc(16 * len(items))
	m.sorted(items, key, false)
	out := m.list(nil, listKind)
	var group *List
	for i, item := range items {
		if i == 0 || !m.equal(key(items[i-1]), key(item)) {
			group = m.list(nil, listKind)
			m.alloc(64)
			out.items = append(out.items, m.list([]any{m.path(item, attr), group}, tupleKind))
		}
		m.alloc(32)
		group.items = append(group.items, item)
	}
	return out
}

func filterExtreme(sign int) builtin {
	return func(m *machine, x any, a *arguments) any {
		key := m.key(a, 1, 0)
		var best any = &undefined{"the extreme of no items"}
		for i, item := range m.iterate(x) {
			if i == 0 || m.compare(key(item), key(best))*sign > 0 {
				best = item
			}
		}
		return best
	}
}

func filterBatch(m *machine, x any, a *arguments) any {
	n := m.small(m.need(a, 0, "linecount"))
	if n < 1 {
		m.fail("batch takes a number above 0")
	}
	fill, filled := a.get(1, "fill_with")
	items := m.iterate(x)
	m.alloc(16 * len(items))
	out := m.list(nil, listKind)
	for part := range slices.Chunk(items, n) {
		row := m.list(slices.Clone(part), listKind)
		if filled && fill != nil {
			m.allocTimes(16, int64(n-len(part)))
			for len(row.items) < n {
				row.items = append(row.items, fill)
			}
		}
		out.items = append(out.items, row)
	}
	return out
}

func filterSlice(m *machine, x any, a *arguments) any {
	n := m.small(m.need(a, 0, "slices"))
	if n < 1 {
		m.fail("slice takes a number above 0")
	}
	fill, filled := a.get(1, "fill_with")
	items := m.iterate(x)
	m.allocTimes(80, int64(n))
	m.alloc(16 * len(items))
	size, longer := len(items)/n, len(items)%n
	out := m.list(nil, listKind)
	for i := range n {
		k := size
		if i < longer {
			k++
		}
		row := m.list(slices.Clone(items[:k]), listKind)
		items = items[k:]
		if filled && fill != nil && i >= longer {
			row.items = append(row.items, fill)
		}
		out.items = append(out.items, row)
	}
	return out
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

func callRange(m *machine, _ any, a *arguments) any {
	from, step := int64(0), int64(1)
	var to int64
	switch len(a.list) {
	case 3:
		step = m.integer(a.list[2])
		fallthrough
	case 2:
		from, to = m.integer(a.list[0]), m.integer(a.list[1])
	case 1:
		to = m.integer(a.list[0])
	default:
		m.fail("range takes one to three integers")
	}
	if step == 0 {
		m.fail("the step of range is 0")
	}
	if const1 := int64(1) << 40; max(from, to, step) > const1 || min(from, to, step) < -const1 {
		panic(failure{ErrLimit})
	}
	n := max((to-from+step-sign(step))/step, 0)
	m.allocTimes(24, n)
	items := make([]any, n)
	for i := range items {
		items[i] = from + int64(i)*step
	}
	return m.list(items, listKind)
}

func sign(i int64) int64 {
	if i < 0 {
		return -1
	}
	return 1
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

package jinja

import (
	"slices"
	"strconv"
	"strings"
)

// This file has the filters of lists and dictionaries.

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

// divided returns what a filter divides, the number that it takes, and what fills rows that are too short, nil for nothing.
func divided(m *machine, x any, a *arguments, filter, number string) (items []any, n int, fill any) {
	if n = m.small(m.need(a, 0, number)); n < 1 {
		m.fail("%s takes a number above 0", filter)
	}
	fill, _ = a.get(1, "fill_with")
	return m.iterate(x), n, fill
}

func filterBatch(m *machine, x any, a *arguments) any {
	items, n, fill := divided(m, x, a, "batch", "linecount")
	m.alloc(16 * len(items))
	out := m.list(nil, listKind)
	for part := range slices.Chunk(items, n) {
		row := m.list(slices.Clone(part), listKind)
		if fill != nil {
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
	items, n, fill := divided(m, x, a, "slice", "slices")
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
		if fill != nil && i >= longer {
			row.items = append(row.items, fill)
		}
		out.items = append(out.items, row)
	}
	return out
}

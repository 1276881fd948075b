package jinja

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	textMethods, dictMethods, listMethods map[string]builtin
)

// methodOf returns a method of a value, or nil.
func methodOf(x any, name string) builtin {
	switch x.(type) {
	case string:
		return textMethods[name]
	case *Dict:
		return dictMethods[name]
	case *List:
		return listMethods[name]
	}
	return nil
}

// onText is a method of texts.
func onText(f func(m *machine, s string, a *arguments) any) builtin {
	return func(m *machine, x any, a *arguments) any {
		s := x.(string)
		m.work(2 * len(s))
		return f(m, s, a)
	}
}

// mapped is a method that changes characters. Some grow by a few bytes.
func mapped(f func(string) string) builtin {
	return onText(func(m *machine, s string, _ *arguments) any {
		m.alloc(3 * len(s))
		return f(s)
	})
}

// all is a method that is true if all characters are of a kind, and there is one.
func all(is func(r rune) bool) builtin {
	return onText(func(_ *machine, s string, _ *arguments) any {
		return s != "" && strings.IndexFunc(s, func(r rune) bool { return !is(r) }) < 0
	})
}

type padding uint8

const (
	padLeft padding = iota
	padRight
	padBoth
)

func init() {
	textMethods = map[string]builtin{
		"capitalize": mapped(capitalize), "lower": mapped(lower), "upper": mapped(upper), "casefold": mapped(fold),
		"title": mapped(title), "swapcase": mapped(swapCase),
		"isalnum": all(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }),
		"isalpha": all(unicode.IsLetter), "isdigit": all(unicode.IsDigit), "isdecimal": all(unicode.IsDigit),
		"isnumeric": all(unicode.IsNumber), "isspace": all(unicode.IsSpace), "isascii": all(func(r rune) bool { return r < 0x80 }),
		"islower": onText(func(_ *machine, s string, _ *arguments) any { return isLower(s) }),
		"isupper": onText(func(_ *machine, s string, _ *arguments) any { return isUpper(s) }),
		"strip":   stripping(true, true), "lstrip": stripping(true, false), "rstrip": stripping(false, true),
		"split":      onText(func(m *machine, s string, a *arguments) any { return m.split(s, a, false) }),
		"rsplit":     onText(func(m *machine, s string, a *arguments) any { return m.split(s, a, true) }),
		"splitlines": onText(splitLines), "partition": partition(strings.Index, false), "rpartition": partition(strings.LastIndex, true),
		"startswith": affix(strings.HasPrefix), "endswith": affix(strings.HasSuffix),
		"removeprefix": onText(func(m *machine, s string, a *arguments) any {
			return strings.TrimPrefix(s, m.textArg(m.need(a, 0, "prefix")))
		}),
		"removesuffix": onText(func(m *machine, s string, a *arguments) any {
			return strings.TrimSuffix(s, m.textArg(m.need(a, 0, "suffix")))
		}),
		"replace": onText(func(m *machine, s string, a *arguments) any {
			return m.replace(s, m.textArg(m.need(a, 0, "old")), m.textArg(m.need(a, 1, "new")), m.small(a.or(2, "count", int64(-1))))
		}),
		"join": onText(func(m *machine, s string, a *arguments) any {
			var parts []string
			for _, v := range m.iterate(m.need(a, 0, "iterable")) {
				m.alloc(32)
				parts = append(parts, m.textArg(v))
			}
			return m.join(parts, s)
		}),
		"count": onText(func(m *machine, s string, a *arguments) any {
			s, _ = m.within(s, a)
			return int64(strings.Count(s, m.textArg(m.need(a, 0, "sub"))))
		}),
		"find": finding(strings.Index, false), "rfind": finding(strings.LastIndex, false),
		"index": finding(strings.Index, true), "rindex": finding(strings.LastIndex, true),
		"center": padder(padBoth), "ljust": padder(padRight), "rjust": padder(padLeft),
		"zfill": onText(func(m *machine, s string, a *arguments) any {
			width := m.small(m.need(a, 0, "width"))
			if s != "" && (s[0] == '-' || s[0] == '+') {
				return s[:1] + m.pad(s[1:], width-1, "0", padLeft)
			}
			return m.pad(s, width, "0", padLeft)
		}),
		"format": onText(func(m *machine, s string, a *arguments) any { return m.formatFields(s, a) }),
	}
}

func init() {
	dictMethods = map[string]builtin{
		"items":  func(m *machine, x any, _ *arguments) any { return m.pairs(x.(*Dict)) },
		"keys":   func(m *machine, x any, _ *arguments) any { return m.list(slices.Clone(x.(*Dict).keys), listKind) },
		"values": func(m *machine, x any, _ *arguments) any { return m.list(slices.Clone(x.(*Dict).values), listKind) },
		"get": func(m *machine, x any, a *arguments) any {
			if v, ok := m.find(x.(*Dict), m.need(a, 0, "key")); ok {
				return v
			}
			return a.or(1, "default", nil)
		},
		"copy": func(m *machine, x any, _ *arguments) any {
			d := &Dict{}
			m.fill(d, &arguments{list: []any{x}})
			return d
		},
		"update": func(m *machine, x any, a *arguments) any {
			m.fill(x.(*Dict), a)
			return nil
		},
	}
	listMethods = map[string]builtin{
		"append": listAppend, "copy": listCopy, "count": listCount, "extend": listExtend, "index": listIndex,
		"insert": listInsert, "pop": listPop, "reverse": listReverse,
	}
}

func listAppend(m *machine, x any, a *arguments) any {
	m.alloc(32)
	x.(*List).items = append(x.(*List).items, m.need(a, 0, "object"))
	return nil
}

func listCopy(m *machine, x any, _ *arguments) any {
	return m.list(slices.Clone(x.(*List).items), listKind)
}

func listCount(m *machine, x any, a *arguments) any {
	n, what := int64(0), m.need(a, 0, "value")
	for _, item := range x.(*List).items {
		if m.equal(item, what) {
			n++
		}
	}
	return n
}

func listExtend(m *machine, x any, a *arguments) any {
	more := m.iterate(m.need(a, 0, "iterable"))
	m.alloc(32 * len(more))
	x.(*List).items = append(x.(*List).items, more...)
	return nil
}

func listIndex(m *machine, x any, a *arguments) any {
	what := m.need(a, 0, "value")
	for i, item := range x.(*List).items {
		if m.equal(item, what) {
			return int64(i)
		}
	}
	m.fail("the list does not contain %s", m.brief(what))
	return nil
}

func listInsert(m *machine, x any, a *arguments) any {
	l := x.(*List)
	i := m.small(m.need(a, 0, "index"))
	if i < 0 {
		i += len(l.items)
	}
	m.alloc(32 + len(l.items))
	l.items = slices.Insert(l.items, min(max(i, 0), len(l.items)), m.need(a, 1, "object"))
	return nil
}

func listPop(m *machine, x any, a *arguments) any {
	l := x.(*List)
	i := m.small(a.or(0, "index", int64(-1)))
	if i < 0 {
		i += len(l.items)
	}
	if i < 0 || i >= len(l.items) {
		m.fail("pop: the list has no item %d", i)
	}
	v := l.items[i]
	m.alloc(16 * len(l.items))
	l.items = slices.Delete(slices.Clone(l.items), i, i+1)
	return v
}

func listReverse(m *machine, x any, _ *arguments) any {
	m.work(16 * len(x.(*List).items))
	slices.Reverse(x.(*List).items)
	return nil
}

// stripping trims white space, or the given characters.
func stripping(left, right bool) builtin {
	return onText(func(m *machine, s string, a *arguments) any {
		cut := unicode.IsSpace
		if v := a.or(0, "chars", nil); v != nil {
			chars := m.textArg(v)
			m.allocTimes(len(chars), int64(len(s)/64))
			cut = func(r rune) bool { return strings.ContainsRune(chars, r) }
		}
		if left {
			s = strings.TrimLeftFunc(s, cut)
		}
		if right {
			s = strings.TrimRightFunc(s, cut)
		}
		return s
	})
}

// affix reports whether a text has one of several prefixes or suffixes.
func affix(has func(s, part string) bool) builtin {
	return onText(func(m *machine, s string, a *arguments) any {
		v := m.need(a, 0, "prefix")
		s, _ = m.within(s, a)
		if l, ok := v.(*List); ok {
			for _, part := range l.items {
				m.step()
				if has(s, m.textArg(part)) {
					return true
				}
			}
			return false
		}
		return has(s, m.textArg(v))
	})
}

// finding returns the position of a part in characters, or −1 or an error if there is none.
func finding(index func(s, part string) int, must bool) builtin {
	return onText(func(m *machine, s string, a *arguments) any {
		part := m.textArg(m.need(a, 0, "sub"))
		within, from := m.within(s, a)
		i := index(within, part)
		if i < 0 && must {
			m.fail("the text does not contain %q", part[:min(len(part), 40)])
		}
		if i < 0 {
			return int64(-1)
		}
		return int64(utf8.RuneCountInString(s[:from+i]))
	})
}

// within returns the part of a text that the arguments after the first bound by its first character and the one behind its last.
// from is how many bytes of the text come before.
func (m *machine) within(s string, a *arguments) (part string, from int) {
	if len(a.list) < 2 {
		return s, 0
	}
	first, _, count := m.span(m.length(s), [3]any{a.list[1], a.or(2, "end", nil), nil})
	bytes := func(s string, characters int) (n int) {
		for range characters {
			_, size := utf8.DecodeRuneInString(s[n:])
			n += size
		}
		return n
	}
	from = bytes(s, first)
	return s[from : from+bytes(s[from:], count)], from
}

func partition(index func(s, part string) int, last bool) builtin {
	return onText(func(m *machine, s string, a *arguments) any {
		by := m.textArg(m.need(a, 0, "sep"))
		if by == "" {
			m.fail("the separator is empty")
		}
		i := index(s, by)
		switch {
		case i >= 0:
			return m.list([]any{s[:i], by, s[i+len(by):]}, tupleKind)
		case last:
			return m.list([]any{"", "", s}, tupleKind)
		}
		return m.list([]any{s, "", ""}, tupleKind)
	})
}

// split splits a text at separators or at white space, from the left or from the right.
func (m *machine) split(s string, a *arguments, last bool) any {
	sep, most := a.or(0, "sep", nil), m.small(a.or(1, "maxsplit", int64(-1)))
	var parts []any
	add := func(part string) {
		m.alloc(64)
		parts = append(parts, part)
	}
	if sep == nil {
		m.splitSpace(s, most, last, add)
	} else {
		by := m.textArg(sep)
		if by == "" {
			m.fail("the separator is empty")
		}
		for ; most != 0; most-- {
			i := strings.Index(s, by)
			if last {
				i = strings.LastIndex(s, by)
			}
			if i < 0 {
				break
			}
			if last {
				add(s[i+len(by):])
				s = s[:i]
			} else {
				add(s[:i])
				s = s[i+len(by):]
			}
		}
		add(s)
	}
	if last {
		slices.Reverse(parts)
	}
	return m.list(parts, listKind)
}

func (m *machine) splitSpace(s string, maxSplits int, last bool, add func(string)) {
	trim, index := strings.TrimLeftFunc, strings.IndexFunc
	if last {
		trim, index = strings.TrimRightFunc, strings.LastIndexFunc
	}
	for s = trim(s, unicode.IsSpace); s != ""; s = trim(s, unicode.IsSpace) {
		i := index(s, unicode.IsSpace)
		switch {
		case maxSplits == 0 || i < 0:
			add(s)
			return
		case last:
			_, size := utf8.DecodeRuneInString(s[i:])
			add(s[i+size:])
			s = s[:i]
		default:
			add(s[:i])
			s = s[i:]
		}
		maxSplits--
	}
}

func splitLines(m *machine, s string, a *arguments) any {
	keep := truth(a.or(0, "keepends", false))
	out := m.list(nil, listKind)
	for line, end := range lines(s) {
		if keep {
			line += end
		}
		m.alloc(64)
		out.items = append(out.items, line)
	}
	return out
}

// lines yields the lines of a text and what ends each, by Python's rules. A line end at the end begins no line.
func lines(s string) iter.Seq2[string, string] {
	return func(yield func(line, end string) bool) {
		for s != "" {
			line, end := s, ""
			if i := strings.IndexAny(s, "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029"); i >= 0 {
				_, n := utf8.DecodeRuneInString(s[i:])
				if strings.HasPrefix(s[i:], "\r\n") {
					n = 2
				}
				line, end = s[:i], s[i:i+n]
			}
			s = s[len(line)+len(end):]
			if !yield(line, end) {
				return
			}
		}
	}
}

func padder(where padding) builtin {
	return onText(func(m *machine, s string, a *arguments) any {
		return m.pad(s, m.small(m.need(a, 0, "width")), m.textArg(a.or(1, "fillchar", " ")), where)
	})
}

// pad fills a text up to a width in characters.
func (m *machine) pad(s string, width int, fill string, where padding) string {
	n := width - m.length(s)
	if n <= 0 {
		return s
	}
	m.allocTimes(len(fill), int64(n))
	m.alloc(len(s))
	switch where {
	case padLeft:
		return strings.Repeat(fill, n) + s
	case padRight:
		return s + strings.Repeat(fill, n)
	}
	left := n/2 + n&width&1
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, n-left)
}

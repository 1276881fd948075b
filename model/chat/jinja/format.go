package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWidth bounds the widths and precisions of formats.
const maxWidth = 999

// format is Python's text % arguments, for the conversions s, r, d, i, f, e, g, x, o and c.
func (m *machine) format(s string, a *arguments) string {
	var b strings.Builder
	next := 0
	for s != "" {
		plain, rest, found := strings.Cut(s, "%")
		m.alloc(2 * len(plain))
		b.WriteString(plain)
		if !found {
			break
		}
		if strings.HasPrefix(rest, "%") {
			b.WriteByte('%')
			s = rest[1:]
			continue
		}
		var v any
		if strings.HasPrefix(rest, "(") {
			name, after, ok := strings.Cut(rest[1:], ")")
			if !ok {
				m.fail("a name in the format is not closed")
			}
			rest = after
			if d, isDict := a.or(0, "", nil).(*Dict); isDict {
				v, ok = m.find(d, name)
			} else {
				v, ok = a.get(-1, name)
			}
			if !ok {
				m.fail("the format has no argument %q", name)
			}
		} else if next >= len(a.list) {
			m.fail("the format needs more than %d arguments", len(a.list))
		} else {
			v = a.list[next]
			next++
		}
		n := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("-+ 0#123456789.", r) })
		if n < 0 {
			m.fail("the format ends within a field")
		}
		text := m.field(rest[:n], rest[n], v)
		m.alloc(2 * len(text))
		b.WriteString(text)
		s = rest[n+1:]
	}
	return b.String()
}

// field formats one value by flags such as "-8.3" and a conversion.
func (m *machine) field(flags string, verb byte, v any) string {
	for word := range strings.FieldsFuncSeq(flags, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(word); err != nil || n > maxWidth {
			m.fail("the format's width %.10s exceeds %d", word, maxWidth)
		}
	}
	switch verb {
	case 's':
		return fmt.Sprintf("%"+flags+"s", m.str(v))
	case 'r', 'a':
		return fmt.Sprintf("%"+flags+"s", filterPprint(m, v, nil))
	case 'd', 'i', 'u', 'x', 'X', 'o', 'c':
		if f, ok := v.(float64); ok && verb != 'x' && verb != 'X' && verb != 'o' {
			v = m.whole(f)
		}
		if s, ok := v.(string); ok && verb == 'c' {
			return s
		}
		if verb == 'i' || verb == 'u' {
			verb = 'd'
		}
		return fmt.Sprintf("%"+flags+string(verb), m.integer(v))
	case 'f', 'F', 'e', 'E', 'g', 'G':
		f, ok := number(v)
		if !ok {
			m.fail("%s is no number", typeName(v))
		}
		if !finite(f) {
			return m.infinite(flags, verb, f)
		}
		if (verb == 'g' || verb == 'G') && !strings.Contains(flags, ".") {
			flags += ".6"
		}
		return fmt.Sprintf("%"+flags+string(verb), f)
	}
	m.fail("the format's conversion %q is unknown", verb)
	return ""
}

// infinite formats what is no finite number.
func (m *machine) infinite(flags string, verb byte, f float64) string {
	text := float(f)
	if strings.ContainsAny(flags, "+ ") && !math.Signbit(f) {
		text = flags[strings.IndexAny(flags, "+ "):][:1] + text
	}
	if unicode.IsUpper(rune(verb)) {
		text = upper(text)
	}
	flags, _, _ = strings.Cut(flags, ".")
	width, _ := strconv.Atoi(strings.TrimLeft(flags, "-+ 0#"))
	switch digits := strings.TrimLeft(flags, "+ #"); {
	case strings.HasPrefix(digits, "-"):
		return m.pad(text, width, " ", padRight)
	case strings.HasPrefix(digits, "0"):
		return textMethods["zfill"](m, text, &arguments{list: []any{int64(width)}}).(string)
	}
	return m.pad(text, width, " ", padLeft)
}

// formatFields is Python's text.format(arguments): fields such as {}, {0}, {name} and {x.y[0]}, with widths, fills and
// precisions.
func (m *machine) formatFields(s string, a *arguments) string {
	var b strings.Builder
	next := 0
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			i = len(s)
		}
		m.alloc(2 * i)
		b.WriteString(s[:i])
		if s = s[i:]; s == "" {
			break
		}
		if len(s) > 1 && s[1] == s[0] {
			b.WriteByte(s[0])
			s = s[2:]
			continue
		}
		end := strings.IndexAny(s[1:], "{}") + 1
		if s[0] == '}' || end == 0 || s[end] == '{' {
			m.fail("the format's braces do not match, or are nested")
		}
		field, spec, _ := strings.Cut(s[1:end], ":")
		s = s[end+1:]
		field, conversion, _ := strings.Cut(field, "!")
		v := m.fieldValue(field, a, &next)
		if conversion == "r" {
			v = filterPprint(m, v, nil)
		}
		text := m.aligned(spec, v)
		m.alloc(2 * len(text))
		b.WriteString(text)
	}
	return b.String()
}

// fieldValue returns the value of a field such as "0", "name" or "x.y[0]". One without a name takes the next argument.
func (m *machine) fieldValue(field string, a *arguments, next *int) any {
	name, path := field, ""
	if i := strings.IndexAny(field, ".["); i >= 0 {
		name, path = field[:i], field[i:]
	}
	if name == "" {
		name = strconv.Itoa(*next)
		*next++
	}
	at, err := strconv.Atoi(name)
	if err != nil {
		at = -1
	}
	v, ok := a.get(at, name)
	if !ok {
		m.fail("the format has no argument %q", name)
	}
	if path != "" {
		v = m.path(v, strings.NewReplacer("[", ".", "]", "").Replace(strings.TrimLeft(path, ".[")))
	}
	return v
}

// aligned formats a value by a specification such as "*>8.3f".
func (m *machine) aligned(spec string, v any) string {
	fill, align := " ", byte(0)
	if r, n := utf8.DecodeRuneInString(spec); len(spec) > n && strings.IndexByte("<>^", spec[n]) >= 0 {
		fill, align, spec = string(r), spec[n], spec[n+1:]
	} else if spec != "" && strings.IndexByte("<>^", spec[0]) >= 0 {
		align, spec = spec[0], spec[1:]
	}
	verb := byte('s')
	_, isNumber := number(v)
	if n := len(spec); n > 0 && (spec[n-1] < '0' || spec[n-1] > '9') {
		verb, spec = spec[n-1], spec[:n-1]
	} else if isNumber && strings.Contains(spec, ".") {
		verb = 'g'
	}
	width := 0
	flags := strings.TrimLeft(spec, "+ ")
	digits, precision, point := strings.Cut(flags, ".")
	if strings.HasPrefix(digits, "0") && isNumber && align == 0 {
		fill, align = "0", '>'
	}
	if digits != "" {
		var err error
		if width, err = strconv.Atoi(digits); err != nil || width > maxWidth {
			m.fail("the format's width %.10q is no number up to %d", digits, maxWidth)
		}
	}
	if point {
		precision = "." + precision
	}
	if strings.Trim(precision, ".0123456789") != "" {
		m.fail("the format's specification %.20q is not supported", spec)
	}
	text := m.field(spec[:len(spec)-len(flags)]+precision, verb, v)
	switch {
	case align == '^':
		n := max(width-utf8.RuneCountInString(text), 0)
		return strings.Repeat(fill, n/2) + text + strings.Repeat(fill, n-n/2)
	case align == '>' || align == 0 && isNumber:
		return m.pad(text, width, fill, padLeft)
	}
	return m.pad(text, width, fill, padRight)
}

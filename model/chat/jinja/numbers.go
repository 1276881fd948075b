package jinja

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// This file has the filters and functions of numbers.

func (m *machine) integer(v any) int64 {
	i, ok := integer(v)
	if !ok {
		m.fail("%s is no integer", typeName(v))
	}
	return i
}

// small is an integer argument, cut to ±2³⁰.
func (m *machine) small(v any) int { return int(min(max(m.integer(v), -1<<30), 1<<30)) }

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

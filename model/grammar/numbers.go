package grammar

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// maxDigits is the most digits of a number before the point, and the most after it.
const maxDigits = 16

func powerOfTen(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// bounds returns the least and the largest multiple of 1/scale within the limits of a schema, times scale; nil for no limit.
func bounds(o object, scale *big.Int, at string) (low, top *big.Int, err error) {
	for _, m := range o {
		lower, excluded := strings.HasSuffix(strings.ToLower(m.name), "minimum"), strings.HasPrefix(m.name, "exclusive")
		switch m.name {
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		default:
			continue
		}
		limit, ok := rational(m.value)
		if !ok {
			return nil, nil, errorAt(at, "%s: want a number from -1e308 to 1e308", m.name)
		}
		limit.Mul(limit, new(big.Rat).SetInt(scale))
		n, rest := new(big.Int).DivMod(limit.Num(), limit.Denom(), new(big.Int))
		switch between := rest.Sign() != 0; {
		case lower && (between || excluded):
			n.Add(n, big.NewInt(1))
		case !lower && !between && excluded:
			n.Sub(n, big.NewInt(1))
		}
		switch {
		case lower && (low == nil || n.Cmp(low) > 0):
			low = n
		case !lower && (top == nil || n.Cmp(top) < 0):
			top = n
		}
	}
	return low, top, nil
}

// rational returns the value of a number.
func rational(v any) (*big.Rat, bool) {
	n, _ := v.(json.Number)
	const longest = 400 // with float64's exponents, the exact value stays small
	f, err := n.Float64()
	switch {
	case err != nil || len(n) > longest:
		return nil, false
	case f == 0: // also 1e-999999999
		return new(big.Rat), true
	}
	return new(big.Rat).SetString(n.String())
}

// signed returns the expression of the numbers from low to top, given that of those of 0 or more.
func signed(low, top *big.Int, within func(low, top *big.Int) expression) expression {
	zero, one := big.NewInt(0), big.NewInt(1)
	var out choice
	if low.Sign() < 0 {
		least := one
		if top.Sign() < 0 {
			least = new(big.Int).Neg(top)
		}
		out = append(out, sequence{literal("-"), within(least, new(big.Int).Neg(low))})
	}
	if top.Sign() >= 0 {
		if low.Sign() < 0 {
			low = zero
		}
		out = append(out, within(low, top))
	}
	return out
}

// naturalsWithin returns the expression of the integers from low to top, 0 or more, without zeros in front.
func naturalsWithin(low, top *big.Int) expression {
	a, b := low.String(), top.String()
	var out choice
	for n := len(a); n <= len(b); n++ {
		from, to := "1"+strings.Repeat("0", n-1), strings.Repeat("9", n)
		if n == len(a) {
			from = a
		}
		if n == len(b) {
			to = b
		}
		out = append(out, digitsWithin(from, to, n))
	}
	return out
}

// decimalsWithin returns the expression of the numbers from low to top, which are 0 or more and in units of the last digit after
// the point.
func decimalsWithin(low, top *big.Int) expression {
	unit, one := powerOfTen(maxDigits), big.NewInt(1)
	from, fromRest := new(big.Int).QuoRem(low, unit, new(big.Int))
	to, toRest := new(big.Int).QuoRem(top, unit, new(big.Int))
	first, last := fmt.Sprintf("%0*d", maxDigits, fromRest), fmt.Sprintf("%0*d", maxDigits, toRest)
	zeros, nines := strings.Repeat("0", maxDigits), strings.Repeat("9", maxDigits)
	if from.Cmp(to) == 0 {
		return sequence{literal(from.String()), fractionsWithin(first, last)}
	}
	out := choice{sequence{literal(from.String()), fractionsWithin(first, nines)}, sequence{literal(to.String()), fractionsWithin(zeros, last)}}
	if from.Add(from, one).Cmp(to.Sub(to, one)) <= 0 {
		out = append(out, sequence{naturalsWithin(from, to), fractionsWithin(zeros, nines)})
	}
	return out
}

// fractionsWithin returns the expression of a point and the digits after it, or of nothing, from low to top.
func fractionsWithin(low, top string) expression {
	some := sequence{literal("."), digitsWithin(low, top, 1)}
	if strings.Trim(low, "0") == "" {
		return choice{some, sequence{}}
	}
	return some
}

// digitsWithin returns the expression of the strings of digits from low to top, which are as long as each other. Those with fewer
// digits, but at least least, stand for themselves with zeros behind.
func digitsWithin(low, top string, least int) expression {
	n := len(low)
	zeros, nines := strings.Repeat("0", n), strings.Repeat("9", n)
	if low == zeros && top == nines {
		return repeated{class{{'0', '9'}}, max(least, 0), n}
	}
	var out choice
	if low == zeros && least <= 0 {
		out = append(out, sequence{})
	}
	first, last := rune(low[0]), rune(top[0])
	if first == last {
		return append(out, sequence{literal(first), digitsWithin(low[1:], top[1:], least-1)})
	}
	if low[1:] != zeros[1:] {
		out = append(out, sequence{literal(first), digitsWithin(low[1:], nines[1:], least-1)})
		first++
	}
	if top[1:] != nines[1:] {
		out = append(out, sequence{literal(last), digitsWithin(zeros[1:], top[1:], least-1)})
		last--
	}
	if first <= last {
		out = append(out, sequence{class{{first, last}}, digitsWithin(zeros[1:], nines[1:], least-1)})
	}
	return out
}

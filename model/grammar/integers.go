package grammar

import (
	"math/big"
	"slices"
	"strings"
)

// maxDigits is the most digits of an integer.
const maxDigits = 16

// integersWithin returns the expression of the integers from low to top. One of them may be nil for no limit but that of digits.
func integersWithin(low, top *big.Int) expression {
	limit := new(big.Int).Sub(new(big.Int).Exp(big.NewInt(10), big.NewInt(maxDigits), nil), big.NewInt(1))
	if low == nil {
		low = new(big.Int).Neg(limit)
	}
	if top == nil {
		top = limit
	}
	zero, one := big.NewInt(0), big.NewInt(1)
	var out choice
	if low.Sign() < 0 {
		least := one
		if top.Sign() < 0 {
			least = new(big.Int).Neg(top)
		}
		out = append(out, sequence{literal("-"), naturalsWithin(least, new(big.Int).Neg(low))})
	}
	if top.Sign() >= 0 {
		if low.Sign() < 0 {
			low = zero
		}
		out = append(out, naturalsWithin(low, top))
	}
	return out
}

// naturalsWithin returns the expression of the numbers from low to top, 0 or more, without zeros in front.
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
		out = append(out, digitsWithin(from, to))
	}
	return out
}

// digitsWithin returns the expression of the strings of digits from low to top, which are as long as each other.
func digitsWithin(low, top string) expression {
	if low == "" {
		return sequence{}
	}
	rest := len(low) - 1
	any := repeated{class{{'0', '9'}}, rest, rest}
	l, t := rune(low[0]), rune(top[0])
	if l == t {
		return sequence{literal(l), digitsWithin(low[1:], top[1:])}
	}
	var out choice
	if slices.ContainsFunc([]byte(low[1:]), func(c byte) bool { return c != '0' }) {
		out = append(out, sequence{literal(l), digitsWithin(low[1:], strings.Repeat("9", rest))})
		l++
	}
	last := slices.ContainsFunc([]byte(top[1:]), func(c byte) bool { return c != '9' })
	if last {
		t--
	}
	if l <= t {
		out = append(out, sequence{class{{l, t}}, any})
	}
	if last {
		out = append(out, sequence{literal(t + 1), digitsWithin(strings.Repeat("0", rest), top[1:])})
	}
	return out
}

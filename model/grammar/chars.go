package grammar

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// runeRange is a range of characters, both ends included.
type runeRange struct{ low, top rune }

// anyChar is every character.
var anyChar = class{{0, surrogateLow - 1}, {surrogateTop + 1, unicode.MaxRune}}

// Surrogates are no characters and have no encoding.
const surrogateLow, surrogateTop = 0xD800, 0xDFFF

// tidy returns a class with its ranges sorted, joined and without surrogates.
func (c class) tidy() (out class) {
	c = slices.Clone(c)
	slices.SortFunc(c, func(a, b runeRange) int { return cmp.Compare(a.low, b.low) })
	for _, r := range c {
		if n := len(out); n > 0 && r.low <= out[n-1].top+1 {
			out[n-1].top = max(out[n-1].top, r.top)
			continue
		}
		out = append(out, r)
	}
	return out.without(class{{surrogateLow, surrogateTop}})
}

// not returns all other characters. The class is tidy.
func (c class) not() class { return anyChar.without(c) }

// without returns the characters of a tidy class that are not in another.
func (c class) without(other class) (out class) {
	for _, r := range c {
		for _, o := range other {
			if o.top < r.low || o.low > r.top {
				continue
			}
			if o.low > r.low {
				out = append(out, runeRange{r.low, o.low - 1})
			}
			r.low = o.top + 1
		}
		if r.low <= r.top {
			out = append(out, r)
		}
	}
	return out
}

// encodings returns the encodings in UTF-8 of a range without surrogates, as few sequences of ranges of bytes.
func encodings(r runeRange) (out []byteRanges) {
	for _, most := range []rune{0x7F, 0x7FF, 0xFFFF, unicode.MaxRune} {
		if r.low <= most && r.low <= r.top {
			out = append(out, ofLength(runeRange{r.low, min(r.top, most)})...)
			r.low = max(r.low, most+1)
		}
	}
	return out
}

// ofLength is encodings of characters whose encodings have the same length. Where the last bytes go through less than all of
// their values, the range is divided.
func ofLength(r runeRange) []byteRanges {
	for bits := 6; bits <= 18; bits += 6 { // of the last bytes
		all := rune(1)<<bits - 1
		if r.low&^all == r.top&^all {
			break
		}
		if r.low&all != 0 {
			middle := r.low | all
			return append(ofLength(runeRange{r.low, middle}), ofLength(runeRange{middle + 1, r.top})...)
		}
		if r.top&all != all {
			middle := r.top &^ all
			return append(ofLength(runeRange{r.low, middle - 1}), ofLength(runeRange{middle, r.top})...)
		}
	}
	low, top := utf8.AppendRune(nil, r.low), utf8.AppendRune(nil, r.top)
	out := make(byteRanges, len(low))
	for i := range low {
		out[i] = [2]byte{low[i], top[i]}
	}
	return []byteRanges{out}
}

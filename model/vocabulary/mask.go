package vocabulary

import (
	"iter"
	"math"
	"math/bits"

	"tandem"
)

// A Mask is a set of tokens, a bit for each.
type Mask []uint64

// NewMask returns an empty set for a vocabulary of size tokens.
func NewMask(size int) Mask { return make(Mask, (size+63)/64) }

// Add adds a token.
func (m Mask) Add(t tandem.Token) { m[t>>6] |= 1 << (t & 63) }

// Has reports whether a token is in the set.
func (m Mask) Has(t tandem.Token) bool { return m[t>>6]&(1<<(t&63)) != 0 }

// Size returns the number of tokens in the set.
func (m Mask) Size() (n int) {
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

// All returns the tokens of the set, ascending.
func (m Mask) All() iter.Seq[tandem.Token] {
	return func(yield func(tandem.Token) bool) {
		for i, w := range m {
			for ; w != 0; w &= w - 1 {
				if !yield(tandem.Token(i<<6 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// Restrict sets the logits of tokens outside the set to −Inf. A model may have more or fewer logits than the vocabulary tokens.
func (m Mask) Restrict(logits []float32) {
	none := float32(math.Inf(-1))
	for i := range logits {
		if i>>6 >= len(m) || !m.Has(tandem.Token(i)) {
			logits[i] = none
		}
	}
}

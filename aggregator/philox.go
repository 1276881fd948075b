package aggregator

import (
	"math/bits"

	"tandem"
)

// purpose separates the uses of one seed, so that two draws of an answer share their randomness only where that is
// intended.
type purpose uint32

const (
	purposeShared   purpose = iota << 1 // drafts and targets of the shared coupling, deliberately the same
	purposeDraft                        // speculative coupling: a side's draft
	purposeReject                       // … whether it is rejected
	purposeResidual                     // … what replaces it
	purposeGamma                        // … which side's result is taken
)

// forSide returns p for one side.
func (p purpose) forSide(s tandem.Side) purpose { return p | purpose(s) }

// word returns 64 random bits that depend only on its arguments.
func word(seed uint64, step tandem.Step, t tandem.Token, p purpose) uint64 {
	out := philox([4]uint32{uint32(t), uint32(step), uint32(p), 0}, [2]uint32{uint32(seed), uint32(seed >> 32)})
	return uint64(out[0]) | uint64(out[1])<<32
}

// philox is Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a
// bijection of the counter for each key, good enough that successive counters give independent words.
func philox(ctr [4]uint32, key [2]uint32) [4]uint32 {
	const m0, m1 = 0xD2511F53, 0xCD9E8D57       // multipliers
	const weyl0, weyl1 = 0x9E3779B9, 0xBB67AE85 // added to the key between rounds
	for range 10 {
		hi0, lo0 := bits.Mul32(m0, ctr[0])
		hi1, lo1 := bits.Mul32(m1, ctr[2])
		ctr = [4]uint32{hi1 ^ ctr[1] ^ key[0], lo1, hi0 ^ ctr[3] ^ key[1], lo0}
		key[0] += weyl0
		key[1] += weyl1
	}
	return ctr
}

package aggregator

import (
	"cmp"
	"math"
	"slices"

	"tandem"
)

// Nucleus cuts p, a probability per token of the vocabulary, to the smallest set of tokens whose mass is
// at least topP (ties to the lower id), at most maxSupport of them, and rounds what is left to integers
// that sum to tandem.Mass, none below 1 (DRAGON §7.1 sends the same set). Entries that cannot be probabilities (not
// positive, above 2, NaN) count as 0. If none is left, the result is empty.
func Nucleus(p []float64, topP float64, maxSupport int) tandem.Dist {
	kept := head(p, topP, min(max(maxSupport, 1), tandem.MaxSupport))
	if len(kept) == 0 {
		return tandem.Dist{}
	}
	round(kept)
	slices.SortFunc(kept, func(a, b share) int { return cmp.Compare(a.id, b.id) })
	d := tandem.Dist{IDs: make([]tandem.Token, len(kept)), Weights: make([]uint32, len(kept))}
	for i, s := range kept {
		d.IDs[i], d.Weights[i] = s.id, s.weight
	}
	return d
}

// share is one token of a nucleus in the making.
type share struct {
	id     tandem.Token
	p      float64
	weight uint32
	rest   float64 // what rounding down left
}

// byMass orders shares from the likeliest down, ties to the lower id.
func byMass(a, b share) int {
	if c := cmp.Compare(b.p, a.p); c != 0 {
		return c
	}
	return cmp.Compare(a.id, b.id)
}

// Buckets of head: an eighth of a binade each, from 1 downwards over 128 binades.
const (
	bucketShift = 49
	buckets     = 1024
)

// oneBucket is the number that the bits of 1 begin with.
const oneBucket = 1023 << (52 - bucketShift)

func bucketOf(x float64) int {
	return min(max(oneBucket-int(math.Float64bits(x)>>bucketShift), 0), buckets-1)
}

// leastOf returns the least number in a bucket, or before it. The last one also has all that are smaller.
func leastOf(bucket int) float64 {
	if bucket == buckets-1 {
		return math.SmallestNonzeroFloat64
	}
	return math.Float64frombits(uint64(oneBucket-bucket) << bucketShift)
}

// usual is the bucket of 2⁻¹³. Few nuclei extend below it, and nearly all tokens of a large vocabulary are below it.
const usual = 13 * 8

// head returns the nucleus of p, likeliest first. It sorts only the tokens above a threshold that a histogram of the
// masses gives: a few dozen of a large vocabulary.
func head(p []float64, topP float64, limit int) []share {
	if kept, whole := headFrom(p, topP, limit, usual); whole {
		return kept
	}
	kept, _ := headFrom(p, topP, limit, buckets-1)
	return kept
}

// headFrom returns the part of the nucleus of p that lies in the buckets up to lastBucket, and reports whether that is the
// whole nucleus.
func headFrom(p []float64, topP float64, limit, lastBucket int) (kept []share, whole bool) {
	var mass [buckets]float64
	var count [buckets]int
	least := leastOf(lastBucket)
	for _, x := range p {
		if x >= least && x <= 2 {
			b := bucketOf(x)
			mass[b] += x
			count[b]++
		}
	}
	sum, n, last := 0.0, 0, -1
	for more := true; more; {
		// Sums depend on their order, so a threshold may turn out one bucket short: then take one more.
		for {
			last++
			sum, n = sum+mass[last], n+count[last]
			if more = last < lastBucket; !more || sum >= topP || n >= limit {
				break
			}
		}
		kept, least = make([]share, 0, n), leastOf(last)
		for i, x := range p {
			if x >= least && x <= 2 {
				kept = append(kept, share{id: tandem.Token(i), p: x})
			}
		}
		slices.SortFunc(kept, byMass)
		cum := 0.0
		for i := range kept {
			if cum += kept[i].p; cum >= topP || i+1 == limit {
				return kept[:i+1], true
			}
		}
	}
	return kept, lastBucket == buckets-1
}

// round gives the shares, likeliest first, integer weights in proportion to their mass by the method of
// largest remainders. A share too small for a whole unit gets one, at the expense of the others.
func round(kept []share) {
	mass := 0.0
	for i := len(kept) - 1; i >= 0; i-- { // small ones first: they would be lost in a large sum
		mass += kept[i].p
	}
	big, units := len(kept), float64(tandem.Mass)
	for big > 1 && kept[big-1].p/mass*units < 1 {
		big--
		kept[big].weight = 1
		mass -= kept[big].p
		units--
	}
	left := int(units)
	for i := range kept[:big] {
		s := &kept[i]
		exact := s.p / mass * units
		s.weight = max(1, uint32(exact))
		s.rest = exact - float64(s.weight)
		left -= int(s.weight)
	}
	order := make([]int, big)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(kept[b].rest, kept[a].rest) })
	for i := 0; left > 0; i++ {
		kept[order[i%big]].weight++
		left--
	}
	for i := 0; left < 0; i = (i + 1) % big { // only by float error: take from the likeliest
		if kept[i].weight > 1 {
			kept[i].weight--
			left++
		}
	}
}

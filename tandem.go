// Package tandem defines the terms that every package shares: tokens, sides, steps, distributions, drafts,
// targets and settings. It makes no decisions and does no I/O, so that one page explains what crosses
// between the device and the cloud (DRAGON §2–§4).
package tandem

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// Token is an index into a model's vocabulary. Both sides must use the same vocabulary.
type Token int32

// Side is one of the two ends that answer a question together.
type Side uint8

// The two sides. They run the same code over different documents.
const (
	Device Side = iota
	Cloud
)

// Other returns the opposite side.
func (s Side) Other() Side { return s ^ 1 }

func (s Side) String() string {
	switch s {
	case Device:
		return "device"
	case Cloud:
		return "cloud"
	}
	return fmt.Sprintf("side(%d)", uint8(s))
}

// Step counts the tokens of the answer from 0. A draft or target for step t follows t earlier tokens.
type Step uint32

// Placement says where drafts become targets (DRAGON §4; package pair).
type Placement uint8

const (
	// PlaceMirror aggregates on both sides: each computes the same target from the same two drafts.
	PlaceMirror Placement = iota
	// PlaceDevice aggregates on the device, which sends targets to the cloud.
	PlaceDevice
	// PlaceCloud aggregates in the cloud, which sends targets to the device.
	PlaceCloud
	// PlaceSync aggregates on the device, without drafting ahead: DRAGON's DRDG/TW baseline.
	PlaceSync
	// PlaceGreedy aggregates on one side and hands over to the other when that should save time (DRAGON §5.1).
	PlaceGreedy
)

var placementNames = [...]string{"mirror", "device", "cloud", "sync", "greedy"}

func (p Placement) String() string { return nameOf("placement", placementNames[:], p) }

// ParsePlacement reads a placement's name.
func ParsePlacement(name string) (Placement, error) {
	return parseName[Placement]("placement", placementNames[:], name)
}

// Coupling says how two drafts are made to agree (package aggregator).
type Coupling uint8

const (
	// CouplingShared draws drafts and target from one exponential race keyed by (seed, step, token).
	CouplingShared Coupling = iota
	// CouplingSpeculative is DRAGON's Algorithm 1, with the weights that its proof needs.
	CouplingSpeculative
	// CouplingLeader also draws drafts from one race, and favours those of the side that leads.
	CouplingLeader
)

// FirstLead is the side that leads until one of its drafts is rejected (CouplingLeader).
const FirstLead = Cloud

var couplingNames = [...]string{"shared", "speculative", "leader"}

func (c Coupling) String() string { return nameOf("coupling", couplingNames[:], c) }

// ParseCoupling reads a coupling's name.
func ParseCoupling(name string) (Coupling, error) {
	return parseName[Coupling]("coupling", couplingNames[:], name)
}

// nameOf returns the name of a value of a kind, whose values are numbered like their names.
func nameOf[T ~uint8](kind string, names []string, value T) string {
	if int(value) < len(names) {
		return names[value]
	}
	return fmt.Sprintf("%s(%d)", kind, uint8(value))
}

// parseName returns the value with a name.
func parseName[T ~uint8](kind string, names []string, name string) (T, error) {
	if i := slices.Index(names, name); i >= 0 {
		return T(i), nil
	}
	last := len(names) - 1
	return 0, fmt.Errorf("unknown %s %q: use %s or %s", kind, name, strings.Join(names[:last], ", "), names[last])
}

// Mass is the sum of every Dist's weights: probabilities are integers out of 65,536.
const Mass = 1 << 16

// MaxSupport limits the number of tokens in a Dist, and so the size of a draft on the wire.
const MaxSupport = 1024

// Dist is a next-token distribution cut to its nucleus and rounded to integers that sum to Mass. It is
// exactly what crosses the wire and exactly what drafts are drawn from, so both sides aggregate the same
// integers.
type Dist struct {
	IDs     []Token  // strictly ascending
	Weights []uint32 // parallel to IDs, each in 1..Mass
}

// ErrDist is wrapped by every error of Dist.Check.
var ErrDist = errors.New("malformed distribution")

// Check reports whether d is well formed over a vocabulary of the given size.
func (d Dist) Check(vocab int) error {
	if len(d.IDs) == 0 || len(d.IDs) > MaxSupport || len(d.IDs) != len(d.Weights) {
		return fmt.Errorf("%w: %d ids, %d weights", ErrDist, len(d.IDs), len(d.Weights))
	}
	sum, last := uint64(0), Token(-1)
	for i, id := range d.IDs {
		if id <= last || int(id) >= vocab {
			return fmt.Errorf("%w: id %d after %d in a vocabulary of %d", ErrDist, id, last, vocab)
		}
		if d.Weights[i] == 0 {
			return fmt.Errorf("%w: token %d has no weight", ErrDist, id)
		}
		sum, last = sum+uint64(d.Weights[i]), id
	}
	if sum != Mass {
		return fmt.Errorf("%w: weights sum to %d, not %d", ErrDist, sum, Mass)
	}
	return nil
}

// Weight returns the weight of t out of Mass, 0 when t is outside the nucleus.
func (d Dist) Weight(t Token) uint32 {
	if i, ok := slices.BinarySearch(d.IDs, t); ok {
		return d.Weights[i]
	}
	return 0
}

// Mode returns the likeliest token, the one with the lowest id if several are equally likely.
func (d Dist) Mode() Token {
	best, most := Token(0), uint32(0)
	for i, w := range d.Weights {
		if w > most {
			best, most = d.IDs[i], w
		}
	}
	return best
}

// Fixed is a real number in units of 2^-16. Aggregation weights h cross the wire in it, so that both
// sides derive the same η bit for bit.
type Fixed int32

// FixedOf rounds x to the nearest Fixed, saturating.
func FixedOf(x float64) Fixed {
	const limit = 1 << 14 // |h| beyond this is a constant η anyway
	switch {
	case x > limit:
		x = limit
	case !(x >= -limit): // also NaN
		x = -limit
	}
	if x < 0 {
		return Fixed(x*Mass - 0.5)
	}
	return Fixed(x*Mass + 0.5)
}

// Float returns the value of f.
func (f Fixed) Float() float64 { return float64(f) / Mass }

// Prefix identifies the tokens that come before a step: a 32-bit hash, so that a draft on the wire carries
// all of it. Two sides that hold the same Prefix for a step have, except for one chance in 2^32, agreed on
// the same answer so far.
type Prefix uint32

// NoPrefix is the Prefix of the empty answer.
const NoPrefix Prefix = 0x9e3779b9

// Then returns the Prefix of the tokens of p followed by t.
func (p Prefix) Then(t Token) Prefix {
	hi, lo := bits.Mul64((uint64(p)<<32|uint64(uint32(t)))^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	x := hi ^ lo
	return Prefix(x ^ x>>32)
}

// PrefixOf returns the Prefix of a whole answer.
func PrefixOf(tokens []Token) Prefix {
	p := NoPrefix
	for _, t := range tokens {
		p = p.Then(t)
	}
	return p
}

// CommonPrefix returns how many tokens a and b begin with in common.
func CommonPrefix(a, b []Token) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// AnyVersion is the Version of a hedge: a draft in case the answer continues differently than its side
// expects. Its Prefix says how. It is valid after that Prefix, whatever was rejected before.
const AnyVersion = math.MaxUint32

// Draft is the token that one side proposes for a step, with the distribution it came from (DRAGON §4.1).
type Draft struct {
	Epoch   uint32        // counts re-synchronisations; drafts of another epoch are void
	Step    Step          // the position it proposes a token for
	Version uint32        // how many drafts of its side were rejected in this epoch before it was made
	Prefix  Prefix        // of all tokens before Step, agreed or drafted
	Token   Token         // drawn from Dist
	Dist    Dist          // the side's locally aggregated distribution p^s
	H       Fixed         // the side's aggregation weight h^s: log-sum-exp of its document relevances
	Decode  time.Duration // how long the side took to compute Dist
}

// Target is the token that the pair agreed on for a step.
type Target struct {
	Epoch  uint32
	Step   Step
	Prefix Prefix // of all tokens before Step
	Token  Token
	By     By
}

// By says which sides' drafts equalled the target.
type By uint8

// The four cases of a target's origin.
const (
	ByNeither By = 0
	ByDevice  By = 1
	ByCloud   By = 2
	ByBoth    By = 3
)

// Has reports whether the draft of side s was accepted.
func (b By) Has(s Side) bool { return b&(1<<s) != 0 }

// With returns b with side s marked as accepted.
func (b By) With(s Side) By { return b | 1<<s }

func (b By) String() string {
	return [...]string{"neither", "device", "cloud", "both"}[b&3]
}

// Handover passes aggregation to the other side, from Step on (greedy scheduling, DRAGON §5.1). It carries what only the
// side that aggregated knows, and what both must agree on. Arrays are indexed by Side. The order of the fields is part of the
// wire format, so new fields go to the end.
type Handover struct {
	Epoch    uint32
	Step     Step       // the first step without a target
	Prefix   Prefix     // of all tokens before Step
	Versions [2]uint32  // of both sides' drafts
	Accept   [2]float64 // moving averages of the acceptance rates, each 0 to 1
}

// Milliseconds returns a duration in milliseconds, truncated to microseconds, as every report and interface gives it.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

package specdec

import (
	"fmt"
	"slices"
	"strings"
)

// A Set names the drafters of a side or of a generation. The zero value is Default.
type Set uint8

// The drafters of a Set.
const (
	Off             Set = 1 << iota // none
	WithLookup                      // prompt lookup (PLD)
	WithSAM                         // suffix automaton
	WithNgrams                      // counts of n-grams
	WithCalibration                 // calibration by the prefill's logits
	WithReuse                       // rejected runs
	Branching                       // the automaton drafts a tree, not a chain

	// Default holds the drafters that cost nothing before the answer.
	Default = WithLookup | WithSAM | WithNgrams | WithReuse | Branching
	// All also calibrates.
	All = Default | WithCalibration
)

var setNames = []struct {
	name string
	set  Set
}{
	{"auto", Default}, {"off", Off}, {"all", All},
	{"pld", WithLookup}, {"sam", WithSAM}, {"ngrams", WithNgrams}, {"calibration", WithCalibration}, {"reuse", WithReuse},
}

// SetNames lists what ParseSet takes.
func SetNames() (names []string) {
	for _, n := range setNames {
		names = append(names, n.name)
	}
	return names
}

// ParseSet parses auto, off or all, or names of drafters separated by commas. One drafter alone drafts as published: a
// chain.
func ParseSet(text string) (s Set, err error) {
	parts := strings.Split(text, ",")
	for _, part := range parts {
		i := slices.IndexFunc(setNames, func(n struct {
			name string
			set  Set
		}) bool {
			return n.name == strings.TrimSpace(part)
		})
		switch {
		case i < 0:
			return 0, fmt.Errorf("drafter %q: not known, use %s, or several separated by commas", part, strings.Join(SetNames(), ", "))
		case i < 3 && len(parts) > 1:
			return 0, fmt.Errorf("%q cannot be combined with drafters", part)
		}
		s |= setNames[i].set
	}
	if len(parts) > 1 {
		s |= Branching
	}
	return s, nil
}

// None reports whether the set drafts nothing.
func (s Set) None() bool { return s&Off != 0 }

// Has reports whether the set holds a drafter.
func (s Set) Has(d Set) bool {
	if s == 0 {
		s = Default
	}
	return s&d != 0
}

// Drafters makes the set's drafters for one text, the cheapest first. The calibration among them, if any, must observe the
// prefill. h may be nil.
func (s Set) Drafters(h *History) (list []Drafter, c *Calibration) {
	if s.None() {
		return nil, nil
	}
	if s.Has(WithLookup) {
		list = append(list, &Lookup{})
	}
	if s.Has(WithSAM) {
		list = append(list, &SAM{Tree: s.Has(Branching), History: h})
	}
	if s.Has(WithNgrams) {
		list = append(list, &Ngrams{})
	}
	if s.Has(WithCalibration) {
		c = &Calibration{}
		list = append(list, c)
	}
	if s.Has(WithReuse) {
		list = append(list, &Reuse{}) // extends what the others propose
	}
	return list, c
}

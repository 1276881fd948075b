package specdec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandem/model"
)

// A Set names the drafters of a side or of a generation. The zero value is Default.
type Set uint16

// The drafters of a Set.
const (
	Off             Set = 1 << iota // none
	WithLookup                      // prompt lookup (PLD)
	WithSAM                         // suffix automaton
	WithNgrams                      // counts of n-grams
	WithCalibration                 // calibration by the prefill's logits
	WithReuse                       // rejected runs
	WithRecycle                     // what the model said after the same tokens
	WithHistory                     // the automaton of earlier texts, beside that of the text
	WithForecast                    // forecast embeddings (DS2D)
	Branching                       // the automaton drafts a tree, not a chain

	// Default holds the drafters that take no time before the answer.
	Default = WithLookup | WithSAM | WithNgrams | WithRecycle | WithReuse | Branching
	// All also calibrates. The drafters that need something of the user's, history and forecasts, are named one by one.
	All = Default | WithCalibration
)

var setNames = []setName{
	{"off", Off}, {"auto", Default}, {"all", All},
	{"pld", WithLookup}, {"sam", WithSAM}, {"ngrams", WithNgrams}, {"calibration", WithCalibration}, {"reuse", WithReuse},
	{"recycle", WithRecycle},
	{"history", WithSAM | WithHistory}, {"forecast", WithForecast},
}

type setName struct {
	name string
	set  Set
}

// SetNames lists what ParseSet takes.
func SetNames() (names []string) {
	for _, n := range setNames {
		names = append(names, n.name)
	}
	return names
}

// ParseSet parses off, or names of drafters separated by commas, among them auto and all for several. One drafter alone drafts
// as published: a chain.
func ParseSet(text string) (s Set, err error) {
	parts := strings.Split(text, ",")
	for _, part := range parts {
		i := slices.IndexFunc(setNames, func(n setName) bool { return n.name == strings.TrimSpace(part) })
		switch {
		case i < 0:
			return 0, fmt.Errorf("drafter %q: not known, use %s, or several separated by commas", part, strings.Join(SetNames(), ", "))
		case setNames[i].set == Off && len(parts) > 1:
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

// Resources are what some drafters need beside the text.
type Resources struct {
	History    *History       // of WithHistory
	Embeddings [][]float32    // of WithForecast (Forecast.Embeddings)
	Adapter    *model.Adapter // of their rows
}

// Check returns an error that names the first drafter of a set whose resources are missing.
func (r Resources) Check(s Set) error {
	switch {
	case s.Has(WithHistory) && r.History == nil:
		return errors.New("drafter history: no earlier texts are kept here")
	case s.Has(WithForecast) && r.Embeddings == nil:
		return errors.New("drafter forecast: no forecast embeddings are open here")
	}
	return nil
}

// Drafters makes the set's drafters for one text, the cheapest first; those whose resources are missing are left out. The
// calibration among them, if any, must observe the prefill, and the rows of the forecasts must join the passes.
func (s Set) Drafters(r Resources) (list []Drafter, c *Calibration, f *Forecast) {
	if s.None() {
		return nil, nil, nil
	}
	if s.Has(WithForecast) && r.Embeddings != nil {
		f = &Forecast{Embeddings: r.Embeddings, Adapter: r.Adapter}
		list = append(list, f)
	}
	if s.Has(WithLookup) {
		list = append(list, &Lookup{})
	}
	if s.Has(WithSAM) {
		sam := &SAM{Tree: s.Has(Branching)}
		if s.Has(WithHistory) {
			sam.History = r.History
		}
		list = append(list, sam)
	}
	if s.Has(WithNgrams) {
		list = append(list, &Ngrams{})
	}
	if s.Has(WithRecycle) {
		list = append(list, &Recycle{})
	}
	if s.Has(WithCalibration) {
		c = &Calibration{}
		list = append(list, c)
	}
	if s.Has(WithReuse) {
		list = append(list, &Reuse{}) // extends what the others propose
	}
	return list, c, f
}

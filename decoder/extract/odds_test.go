package extract

import (
	"math"
	"testing"
)

// The sentence is said only where it is surer to be right than the value by more than Bare, and never in place of a list.
func TestJudge(t *testing.T) {
	k := Constants{Value: Curve{Share: 1}, Sentence: Curve{Reader: 1}, Bare: 0.2}
	for _, c := range []struct {
		name     string
		e        Evidence
		sentence bool
		r        float64
	}{
		{"sentence surer by .3", Evidence{None: 0.2, Share: 0.5}, true, math.Log(4)},
		{"by .1 only", Evidence{None: 0.4, Share: 0.5}, false, 0},
		{"value surer", Evidence{None: 0.5, Share: 0.8}, false, math.Log(4)},
		{"a list is wanted", Evidence{None: 0.2, Share: 0.5, Whole: true}, false, 0},
		{"two misspelt words", Evidence{None: 0.5, Share: 0.8, Slips: 2}, false, math.Log(4) - 2*slipCost},
		{"the conversation's document", Evidence{None: 0.5, Share: 0.8, OfLastSource: true}, false, math.Log(4) + lastSourceOdds},
		{"a looked-up value in it", Evidence{None: 0.5, Share: 0.8, Named: true, OfLastSource: true}, false, namedOdds + lastSourceOdds},
		{"a sentence surer only elsewhere", Evidence{None: 0.2, Share: 0.5, OfLastSource: true}, true, math.Log(4) + lastSourceOdds},
		{"a later value that is no answer", Evidence{None: 0.9, Share: 0.1, Later: true}, false, -math.Log(9)},
		{"a later value", Evidence{None: 0.5, Share: 0.8, Later: true}, false, math.Log(4) + laterOdds},
		{"a named line", Evidence{None: 0.5, Share: 0.5, Line: true}, false, namedOdds},
		{"a named line, as a sentence", Evidence{None: 0.2, Share: 0.5, Line: true}, true, namedOdds},
		{"bounded", Evidence{None: 0, Share: 0.5}, true, maxLogOdds},
	} {
		if sentence, r := k.Judge(c.e); sentence != c.sentence || math.Abs(r-c.r) > 1e-9 {
			t.Errorf("%s: sentence %v, %v, want %v, %v", c.name, sentence, r, c.sentence, c.r)
		}
	}
}

// Lead is the distance to the best other passage; a passage alone leads one with the least odds.
func TestLead(t *testing.T) {
	all := []Evidence{{None: 0.5}, {None: 0.2}, {None: 0.8}}
	setLeads(all)
	for i, want := range []float64{-math.Log(4), math.Log(4), -2 * math.Log(4)} {
		if math.Abs(all[i].Lead-want) > 1e-9 {
			t.Errorf("passage %d: lead %v, want %v", i, all[i].Lead, want)
		}
	}
	alone := []Evidence{{None: 0.5}}
	if setLeads(alone); alone[0].Lead != maxLogOdds {
		t.Errorf("alone: lead %v", alone[0].Lead)
	}
}

// A passage that hardly answers has odds like any other.
func TestShareOfNextToNothing(t *testing.T) {
	for _, c := range []struct{ p, none, want float64 }{{.2, .5, .4}, {1e-20, 1, 1}, {1e-300, 1, 1}} {
		if got := shareOf(c.p, c.none); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("a span of %v where none has %v: share %v, want %v", c.p, c.none, got, c.want)
		}
	}
}

// Sides whose curves differ do not take each other for comparable.
func TestRules(t *testing.T) {
	k := DefaultConstants
	k.Value.Share += 1e-6
	if a, b := DefaultConstants.Rules(), k.Rules(); a == b || a != DefaultConstants.Rules() {
		t.Errorf("%s and %s", a, b)
	}
}

package tandem

import (
	"fmt"
	"math"
)

// Settings are what both sides must share to answer a question. They travel with the question (transport.Begin). The order
// of the fields is part of the wire format, so new fields go to the end.
type Settings struct {
	Seed        uint64 // of all randomness of the answer
	Sampling    Sampling
	Placement   Placement
	Coupling    Coupling
	Gamma       uint32  // speculative coupling: how often, out of Mass, the device's result is taken; or AutoGamma
	Nucleus     float64 // probability mass of the distribution that a draft carries
	Support     int     // most tokens in it
	Lookahead   int     // most drafts a side holds beyond the last agreed token; 0 lets the device choose
	MaxTokens   int     // length at which the answer ends
	Documents   int     // passages that each side retrieves
	Contexts    int     // contexts that they are dealt to; 0 for one each
	Weights     string  // how document weights follow the answer, as decoder.ParseWeights reads it; "" for static
	ShareTitles bool    // the device asks for the titles of the cloud's documents
	Want        Want    // what the device asks of the cloud
	PassPlaces  int     // most places of the answer that a pass decodes; below 2 for one
	Grounded    bool    // contexts write only words of the question, function words and spans of their passages (decoder/ground)
	Form        string  // what every answer must be, as grammar.Of reads it, with a line feed at its end; "" for no limit. Such an answer is not grounded
}

// MakePrivate keeps the device's drafts on the device: only the device makes targets, so it sends the cloud the question, the
// agreed tokens and nothing else. All weight is on the cloud's drafts. That rejects fewer of them than a race, and each
// rejected draft costs a round trip here.
func (s *Settings) MakePrivate() {
	s.Placement, s.Coupling, s.Gamma = PlaceDevice, CouplingSpeculative, 0
}

// Sampling says how logits become probabilities (package sample); a side does so before it cuts the nucleus. It is part of
// Settings, so new fields go to the end.
type Sampling struct {
	Temperature   float64 // 0: greedy; 1: the model's own distribution
	TopK          int     // keep the k likeliest tokens; 0: all
	TopP          float64 // keep the smallest set with this share of the mass; 0 or 1: all
	MinP          float64 // keep tokens at least this likely relative to the likeliest; 0: all
	RepeatPenalty float64 // divide positive and multiply negative logits of recent tokens by it, 0.01 to 100; 0 or 1: none
	RepeatLast    int     // how many recent tokens RepeatPenalty looks at; 0: 64; -1: all
}

// Greedy reports whether the likeliest token is always chosen.
func (s Sampling) Greedy() bool { return s.Temperature == 0 }

// Want is what a device asks of the cloud. All but the first are baselines (DRAGON §7.2).
type Want uint8

const (
	WantDrafts Want = iota // drafts, token by token
	WantText               // its passages (DRCG/Text)
	WantKV                 // its passages with their KV caches (DRCG/KV)
	WantAnswer             // a whole answer (DRDG/SW)
)

// HalfGamma is the paper's γ: each side's result is taken with probability ½ (DRAGON §4.3).
const HalfGamma = Mass / 2

// AutoGamma lets the side that aggregates choose γ for each step by what it knows of the link
// (scheduler.Gamma; DRAGON Theorem 4.2). The targets still follow the pair's distribution, but which of its
// samples they are depends on measurements, so a seed no longer fixes the text. If both sides aggregate
// (mirror), neither can choose alone, and AutoGamma means 0: all weight on the cloud's draft. Then one side's
// drafts are nearly always accepted, and the other side already holds them when its own are rejected.
const AutoGamma = math.MaxUint32

// Limits of Settings. A row is one token in a pass; a place is one row per context.
const (
	MaxLookahead  = 64
	MaxPassPlaces = 8
	MaxRows       = 32      // of a pass: one graph of a phone (sd.npu §3.2)
	MaxAnswer     = 1 << 16 // tokens
	MaxDocuments  = 64
	MaxContexts   = 256
)

// Check reports the first setting that is out of range. Sampling and Weights are checked by the packages that apply
// them.
func (s Settings) Check() error {
	switch {
	case !(s.Nucleus > 0 && s.Nucleus <= 1):
		return fmt.Errorf("nucleus %v: want a probability mass above 0 and up to 1", s.Nucleus)
	case s.Support < 1 || s.Support > MaxSupport:
		return fmt.Errorf("support %d: want 1 to %d tokens", s.Support, MaxSupport)
	case s.Lookahead < 0 || s.Lookahead > MaxLookahead:
		return fmt.Errorf("lookahead %d: want 1 to %d drafts, or 0 for as many as a round trip needs", s.Lookahead, MaxLookahead)
	case s.MaxTokens < 1 || s.MaxTokens > MaxAnswer:
		return fmt.Errorf("max-tokens %d: want 1 to %d", s.MaxTokens, MaxAnswer)
	case s.Documents < 0 || s.Documents > MaxDocuments:
		return fmt.Errorf("documents %d: want 0 to %d passages a side", s.Documents, MaxDocuments)
	case s.Contexts < 0 || s.Contexts > MaxContexts:
		return fmt.Errorf("contexts %d: want 1 to %d, or 0 for one for each passage", s.Contexts, MaxContexts)
	case s.PassPlaces < 0 || s.PassPlaces > MaxPassPlaces:
		return fmt.Errorf("ahead %d: want 1 to %d places in a pass", s.PassPlaces, MaxPassPlaces)
	case s.Gamma > Mass && s.Gamma != AutoGamma:
		return fmt.Errorf("gamma %d: want at most %d", s.Gamma, Mass)
	case s.Form != "" && s.Want != WantDrafts:
		return fmt.Errorf("form: only answers by drafts can have one")
	case s.Want > WantAnswer:
		return fmt.Errorf("unknown method %d", s.Want)
	case int(s.Placement) >= len(placementNames) || int(s.Coupling) >= len(couplingNames):
		return fmt.Errorf("unknown placement %v or coupling %v", s.Placement, s.Coupling)
	}
	return nil
}

package node

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/pair"
	"tandem/profiler"
	"tandem/retrieval/passages"
)

// Profile holds what a device knows about delays before an answer. Each answer updates it (DRAGON §5.2).
type Profile struct {
	Decode profiler.DecodeDelay // of this side, by the tokens in all contexts together
	Length int                  // of all contexts at the end of the last answer; 0 if there was none
	RTT    time.Duration        // to the cloud, as last seen; 0 if unknown

	FourRows float64 // what a pass of four rows takes, in passes of one; 0 if unknown
}

// measurements are what an answer shows about delays.
type measurements struct {
	steps    []profiler.Sample // that say something about the next one
	rtt      time.Duration     // as last seen; 0 if unknown
	fourRows float64           // 0 if unknown
}

// observe takes a decoded token. It ignores steps that computed several tokens, or none: they say little about the next one.
func (m *measurements) observe(out decoder.Output) {
	if out.Fed == 1 && out.Length > 0 {
		m.steps = append(m.steps, profiler.Sample{Length: out.Length, Took: out.Took})
	}
}

// zeta is the weight of a measured step in the update of the decoding delay.
const zeta = 0.05

// learn updates the profile with what an answer has measured. Other answers may have updated it since that one began.
func (p *Profile) learn(m measurements) {
	if n := len(m.steps); n > 0 {
		p.Length = m.steps[n-1].Length
	}
	if p.Decode == (profiler.DecodeDelay{}) {
		p.Decode = constant(m.steps)
	} else {
		for _, s := range m.steps {
			p.Decode.Observe(s, zeta)
		}
	}
	p.RTT, p.FourRows = cmp.Or(m.rtt, p.RTT), cmp.Or(m.fourRows, p.FourRows)
}

// constant makes a profile out of the steps of one answer. Its contexts have nearly one length, so they determine a constant and
// no line. It takes the median, which the first step's cold caches do not disturb.
func constant(steps []profiler.Sample) profiler.DecodeDelay {
	if len(steps) == 0 {
		return profiler.DecodeDelay{}
	}
	byTime := slices.SortedFunc(slices.Values(steps), func(a, b profiler.Sample) int { return cmp.Compare(a.Took, b.Took) })
	median := byTime[len(byTime)/2]
	return profiler.DecodeDelay{B: float64(median.Length) * float64(median.Length), C: median.Took.Seconds()}
}

// minLookahead is how many passes let a side go on while the other is a little late.
const minLookahead = 8

// lookahead returns how many drafts keep a side busy while a target is on its way: those of the passes of a round trip, of the
// pass under way and of the one being judged, each of which may give some tokens. The pair is at most as fast as this side, so
// more are not needed. While the round trip or the delay is unknown, there are pair.DefaultLookahead passes.
func (p Profile) lookahead(tokens int) int {
	passes := time.Duration(pair.DefaultLookahead)
	if step := p.Decode.At(p.Length); p.RTT > 0 && step > 0 {
		passes = max(p.RTT/step+2, minLookahead)
	}
	return min(int(min(passes, tandem.MaxLookahead))*tokens, tandem.MaxLookahead)
}

// expensiveRows is how much longer four rows take than one where branches and checks are hardly worth their rows.
const expensiveRows = 1.5

// coupling returns the coupling of one race that is likely to be faster. Where a rejected draft costs a round trip and
// rows are dear, that is the leader's, which rejects the fewest. Where rows are cheap, a side can also decode behind
// its runners-up, and they are easier to foresee if both sides are treated alike (lab rivals). So it is where the costs
// are unknown.
func (p Profile) coupling() tandem.Coupling {
	if step := p.Decode.At(p.Length); p.FourRows >= expensiveRows && step > 0 && p.RTT >= step {
		return tandem.CouplingLeader
	}
	return tandem.CouplingShared
}

// guessedTokens is how many tokens passes with guesses give where the guesses are right. With fewer drafts ahead, a side that
// predicts well waits for the other.
const guessedTokens = 4

// tokensPerPass returns how many tokens a pass may give.
func (l Local) tokensPerPass(s tandem.Settings) int {
	if l.Reader != nil || l.Draft.None() || s.PassPlaces < 2 {
		return 1
	}
	return guessedTokens
}

// Lengths of the dummy documents that a decoder is profiled with, in words, and tokens decoded after each.
var dummyWords = []int{16, 96, 160, 48}

const dummySteps = 6

// Measure is the offline stage of the profile (DRAGON §5.2): it decodes after dummy documents of several lengths and fits
// the line ĉ(t) by least squares. It decodes as many contexts as a question with these settings has. When ctx ends, two
// lengths are enough; before that, Measure returns ctx's error.
func (l Local) Measure(ctx context.Context, s tandem.Settings) (profiler.DecodeDelay, []profiler.Sample, error) {
	var samples []profiler.Sample
	s.MaxTokens = dummySteps + 2
	for i, words := range dummyWords {
		more, err := l.measureSteps(ctx, s, words)
		if err != nil && i >= 2 && ctx.Err() != nil {
			break
		}
		if err != nil {
			return profiler.DecodeDelay{}, samples, fmt.Errorf("profile the decoder: %w", err)
		}
		samples = append(samples, more...)
	}
	fit, err := profiler.Fit(samples)
	return fit, samples, err
}

// measureSteps times decoding steps after dummy documents of the given number of words each.
func (l Local) measureSteps(ctx context.Context, s tandem.Settings, words int) ([]profiler.Sample, error) {
	dummies := make([]passages.Passage, max(s.Documents, 1))
	for i := range dummies {
		dummies[i] = passages.Passage{
			ID: fmt.Sprint(i), Title: fmt.Sprintf("Dummy %d", i),
			Text: strings.TrimSpace(strings.Repeat("the key is here ", (words+3)/4)),
		}
	}
	l.KV, l.Shared = nil, nil // do not keep caches of dummy documents
	d, err := l.answerer(ctx, s, decoder.Request{Question: "Where is the key?", Passages: dummies})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	out, err := d.Next(ctx, 0, nil)
	var samples []profiler.Sample
	steps := dummySteps
	if d, ok := d.(*decoder.Decoder); ok {
		steps = min(steps, d.Room()-1)
	}
	for n := 0; err == nil && n < steps && out.H > tandem.FixedOf(decoder.Mute); n++ { // a span reader's answer may end before
		out, err = d.Next(ctx, n, out.Dist.IDs[:1])
		if err == nil && n > 0 { // the first step also warms the caches
			samples = append(samples, profiler.Sample{Length: out.Length, Took: out.Took})
		}
	}
	return samples, err
}

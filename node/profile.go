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

// Profile is what a device knows about time before an answer, and learns from it (DRAGON §5.2).
type Profile struct {
	Decode profiler.Decode // of this side, over the tokens in the contexts of all rows
	Length int             // of these, at the end of the last answer; 0 when there was none
	RTT    time.Duration   // to the cloud, when last seen; 0 when unknown

	samples []profiler.Sample // of this answer, while Decode is unknown
}

// zeta is the weight of a measured step in the run-time update of the decoding delay.
const zeta = 0.05

// observe updates the profile by a decoded token. Steps that computed several tokens, or none, say little
// about the next one.
func (p *Profile) observe(out decoder.Output) {
	if out.Fed != 1 || out.Length <= 0 {
		return
	}
	p.Length = out.Length
	sample := profiler.Sample{Length: out.Length, Took: out.Took}
	if p.Decode == (profiler.Decode{}) {
		p.samples = append(p.samples, sample)
	} else {
		p.Decode.Observe(sample, zeta)
	}
}

// settle makes a profile out of the answer, if there was none. Its contexts are of nearly one length, so
// they determine no line, but a constant: the median, which the first step's cold caches do not disturb.
func (p *Profile) settle() {
	if n := len(p.samples); n > 0 {
		slices.SortFunc(p.samples, func(a, b profiler.Sample) int { return cmp.Compare(a.Took, b.Took) })
		median := p.samples[n/2]
		p.Decode = profiler.Decode{B: float64(median.Length) * float64(median.Length), C: median.Took.Seconds()}
		p.samples = nil
	}
}

// leastLookahead lets a side run on while the other is late by a few tokens.
const leastLookahead = 8

// lookahead returns how many drafts keep a side busy while a target is on its way: those of a round trip,
// the one being decoded and the one being judged. The pair is at most as fast as this side, so it needs
// no more. It is pair.DefaultLookahead while either figure is unknown.
func (p Profile) lookahead() int {
	step := p.Decode.At(p.Length)
	if p.RTT <= 0 || step <= 0 {
		return pair.DefaultLookahead
	}
	return int(min(max(p.RTT/step+2, leastLookahead), tandem.MaxLookahead))
}

// Lengths of the dummy documents that a decoder is profiled with, in words, and tokens decoded after each.
var dummyWords = []int{16, 96, 160, 48}

const dummySteps = 6

// Measure is the offline stage of the profile: it decodes after dummy documents of several lengths and fits
// the line ĉ(t) by least squares. As many rows are decoded as a question with these settings has. When ctx
// ends, it makes do with two lengths, or returns ctx's error before that.
func (r Reader) Measure(ctx context.Context, s tandem.Settings) (profiler.Decode, []profiler.Sample, error) {
	var samples []profiler.Sample
	s.MaxTokens = dummySteps + 2
	for i, words := range dummyWords {
		more, err := r.measure(ctx, s, words)
		if err != nil && i >= 2 && ctx.Err() != nil {
			break
		}
		if err != nil {
			return profiler.Decode{}, samples, fmt.Errorf("profile the decoder: %w", err)
		}
		samples = append(samples, more...)
	}
	fit, err := profiler.Fit(samples)
	return fit, samples, err
}

// measure decodes after dummy documents of that many words.
func (r Reader) measure(ctx context.Context, s tandem.Settings, words int) ([]profiler.Sample, error) {
	dummies := make([]passages.Passage, max(s.Documents, 1))
	for i := range dummies {
		dummies[i] = passages.Passage{
			ID: fmt.Sprint(i), Title: fmt.Sprintf("Dummy %d", i),
			Text: strings.TrimSpace(strings.Repeat("the key is here ", (words+3)/4)),
		}
	}
	cfg, err := r.DecoderConfig(s)
	if err != nil {
		return nil, err
	}
	cfg.KV = nil // nothing of this is worth keeping
	d, err := decoder.New(ctx, cfg, decoder.Request{Question: "Where is the key?", Passages: dummies})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	out, err := d.Next(ctx, 0, nil)
	var samples []profiler.Sample
	for n := 0; err == nil && n < min(dummySteps, d.Room()-1); n++ {
		out, err = d.Next(ctx, n, out.Dist.IDs[:1])
		if err == nil && n > 0 { // the first step also warms the caches
			samples = append(samples, profiler.Sample{Length: out.Length, Took: out.Took})
		}
	}
	return samples, err
}

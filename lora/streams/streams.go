// Package streams generates several texts at once from one prompt (concurrent token generation: Samsung §3.4, appendix A.1).
// The streams share the keys and values of the prompt. After it, each has its own, with its own mask, sampler and end. One
// forward pass a step serves all of them.
//
// The package knows nothing of devices, documents or what a prompt says.
package streams

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"tandem"
	"tandem/model"
	"tandem/model/sample"
	"tandem/model/tokenizer"
)

// Max is the highest number of streams.
const Max = 16

// Options say how to generate.
type Options struct {
	Params sample.Params // stream i has Params with the seed Seed+i
	Tokens int           // most tokens of a stream; 0 for no limit but the context
	Stop   []string      // strings before which a stream ends
	Min    float64       // leave out streams whose first token is less likely than this share of the likeliest one
}

// A Stream is one of the texts.
type Stream struct {
	Index  int // which of the streams: they differ in their first token, which this is the place of, from 0
	Text   string
	Tokens []tandem.Token // without the end; with tokens that Stop cut off
	Reason sample.Reason

	// LogProb is the sum of the natural logarithms of the tokens' probabilities by the model, the end included if the model
	// ended the text. Counted is how many they are.
	LogProb float64
	Counted int
}

// PerToken returns the mean logarithm of a token's probability.
func (s *Stream) PerToken() float64 { return s.LogProb / float64(max(1, s.Counted)) }

// Stats describe a generation.
type Stats struct {
	PromptTokens, Tokens int // Tokens are of all streams
	Passes               int
	Rows                 int // of all passes after the prompt's
	Prefill, Decode      time.Duration
}

// Generate writes n streams after the sequence and the prompt, which has at least one token. The sequence then also has the
// prompt. Stream i depends on the prompt, the options and i alone: whichever other streams there are, its text is the same,
// and Alone generates it without them. On devices that round by the shape of a pass, it is the same up to rounding.
//
// First tokens differ: they are the likeliest or, with a temperature, draws without replacement. So there may be fewer than n
// streams, if the parameters leave fewer tokens to begin with. A stream that ends leaves the passes to the others.
func Generate(ctx context.Context, seq *model.Seq, prompt []tandem.Token, n int, o Options) ([]Stream, Stats, error) {
	if n < 1 || n > Max {
		return nil, Stats{}, fmt.Errorf("%d streams: want 1 to %d", n, Max)
	}
	which := make([]int, n)
	for i := range which {
		which[i] = i
	}
	return generate(ctx, seq, prompt, which, o)
}

// Alone generates the stream with the given index. It returns nil if there is none.
func Alone(ctx context.Context, seq *model.Seq, prompt []tandem.Token, index int, o Options) (*Stream, Stats, error) {
	if index < 0 || index >= Max {
		return nil, Stats{}, fmt.Errorf("stream %d: want 0 to %d", index, Max-1)
	}
	list, stats, err := generate(ctx, seq, prompt, []int{index}, o)
	if err != nil || len(list) == 0 {
		return nil, stats, err
	}
	return &list[0], stats, nil
}

// generate generates the streams with these indices.
func generate(ctx context.Context, seq *model.Seq, prompt []tandem.Token, which []int, o Options) ([]Stream, Stats, error) {
	stats := Stats{PromptTokens: len(prompt)}
	if len(prompt) == 0 {
		return nil, stats, errors.New("streams: the prompt has no tokens")
	}
	if err := o.Params.Validate(); err != nil {
		return nil, stats, fmt.Errorf("streams: %w", err)
	}
	start := time.Now()
	var memory model.Logits
	logits, err := seq.Model().Prefill(ctx, []model.Input{{Seq: seq, Tokens: prompt}}, &memory)
	if err != nil {
		return nil, stats, fmt.Errorf("streams: %w", err)
	}
	stats.Prefill, stats.Passes = time.Since(start), 1
	all := begin(seq, prompt, logits[0], which, o)
	err = decode(ctx, seq.Model(), all, &memory, &stats)
	stats.Decode = time.Since(start) - stats.Prefill
	out := make([]Stream, len(all))
	for i, r := range all {
		r.Text += r.shown(r.text.Flush(), true)
		out[i] = r.Stream
		stats.Tokens += len(r.Tokens)
	}
	if err != nil {
		return out, stats, fmt.Errorf("streams: %w", err)
	}
	return out, stats, nil
}

// decode decodes a token of every running stream in each pass.
func decode(ctx context.Context, m *model.Model, all []*running, memory *model.Logits, stats *Stats) error {
	var batch []model.Input
	var alive []*running
	for {
		batch, alive = batch[:0], alive[:0]
		for _, r := range all {
			if r.Reason == "" && r.seq.Len() >= m.Config().Context {
				r.Reason = sample.ContextFull
			}
			if r.Reason == "" {
				batch = append(batch, model.Input{Seq: r.seq, Tokens: r.Tokens[len(r.Tokens)-1:]})
				alive = append(alive, r)
			}
		}
		if len(batch) == 0 {
			return nil
		}
		logits, err := m.ForwardInto(ctx, batch, memory)
		if err != nil {
			return err
		}
		stats.Passes++
		stats.Rows += len(batch)
		var wait sync.WaitGroup // sampling a large vocabulary takes as long as a layer or two
		for i, r := range alive[1:] {
			wait.Go(func() { r.next(logits[i+1]) })
		}
		alive[0].next(logits[0])
		wait.Wait()
	}
}

// running is the state of a stream.
type running struct {
	Stream
	o       Options
	seq     *model.Seq
	sampler *sample.Sampler
	text    *tokenizer.Stream
	filter  *sample.StopFilter
	never   []tandem.Token // that the model must not write
}

// begin returns the streams with these indices after their first tokens. logits are those after the prompt.
func begin(seq *model.Seq, prompt []tandem.Token, logits []float32, which []int, o Options) (list []*running) {
	tok := seq.Model().Tokenizer()
	var never []tandem.Token
	if t, ok := tok.Unsupported(); ok {
		never = []tandem.Token{t}
	}
	forbid(logits, never)
	firsts, probabilities := firstTokens(logits, slices.Max(which)+1, o, tok.EOG)
	for _, i := range which {
		if i >= len(firsts) {
			continue
		}
		p := o.Params
		p.Seed += uint64(i)
		sampler, err := sample.New(p, append(slices.Clone(prompt), firsts[i]))
		if err != nil {
			panic(err) // the parameters are valid
		}
		r := &running{Stream: Stream{Index: i}, o: o, seq: seq.Fork(), sampler: sampler, text: tok.Stream(), filter: sample.NewStopFilter(o.Stop), never: never}
		r.LogProb, r.Counted = math.Log(probabilities[i]), 1
		r.take(firsts[i])
		list = append(list, r)
	}
	return list
}

func forbid(logits []float32, tokens []tandem.Token) {
	for _, t := range tokens {
		logits[t] = float32(math.Inf(-1))
	}
}

// firstTokens returns the first tokens of up to n streams, and their probabilities by the model. At temperature 0 they are the
// likeliest, else draws without replacement from the distribution that the parameters make (by the Gumbel-max trick: the
// largest of log p − log(−log u)). Tokens that end a text are not among them, since they would make empty streams.
func firstTokens(logits []float32, n int, o Options, ends func(tandem.Token) bool) (tokens []tandem.Token, probabilities []float64) {
	own := sample.Params{Sampling: tandem.Sampling{Temperature: 1}}.Probabilities(nil, logits, nil)
	choose := own
	if !o.Params.Greedy() {
		p := o.Params
		p.RepeatPenalty = 0 // there is nothing to repeat yet but the prompt, and the streams are to fit it
		choose = p.Probabilities(nil, logits, nil)
	}
	rng := rand.New(rand.NewPCG(o.Params.Seed, 0x57e4a3))
	type key struct {
		token tandem.Token
		size  float64
	}
	var keys []key
	most := 0.0
	for t, p := range choose {
		if p > 0 && !ends(tandem.Token(t)) {
			most = max(most, own[t])
		}
	}
	for t, p := range choose {
		if p == 0 {
			continue
		}
		size := p
		if !o.Params.Greedy() {
			size = math.Log(p) - math.Log(-math.Log(1-rng.Float64()))
		}
		if !ends(tandem.Token(t)) && own[t] >= o.Min*most {
			keys = append(keys, key{tandem.Token(t), size})
		}
	}
	slices.SortStableFunc(keys, func(a, b key) int { return cmp.Compare(b.size, a.size) })
	for _, k := range keys[:min(n, len(keys))] {
		tokens, probabilities = append(tokens, k.token), append(probabilities, own[k.token])
	}
	return tokens, probabilities
}

// next draws a token from the logits after the last one.
func (r *running) next(logits []float32) {
	forbid(logits, r.never)
	t := r.sampler.Next(logits)
	r.LogProb += logProb(logits, t)
	r.Counted++
	if r.seq.Model().Tokenizer().EOG(t) {
		r.Reason = sample.EndOfText
		return
	}
	r.take(t)
}

// take appends a token.
func (r *running) take(t tandem.Token) {
	r.Tokens = append(r.Tokens, t)
	r.Text += r.shown(r.text.Write(t), false)
	if r.Reason == "" && len(r.Tokens) == r.o.Tokens {
		r.Reason = sample.TooLong
	}
}

// shown returns what of a piece can be shown. It ends the stream at a string of Stop.
func (r *running) shown(piece string, last bool) string {
	show, stopped := r.filter.Write(piece)
	if stopped {
		r.Reason = sample.Stopped
	} else if last {
		show += r.filter.Flush()
	}
	return show
}

// logProb returns the logarithm of the probability of a token at temperature 1. Tokens 32 nats below the likeliest together
// have less than 2e-9 of the mass of a vocabulary of 150,000, so their exponentials are not computed.
func logProb(logits []float32, t tandem.Token) float64 {
	top := slices.Max(logits)
	sum := 0.0
	for _, l := range logits {
		if d := l - top; d > -32 {
			sum += math.Exp(float64(d))
		}
	}
	return float64(logits[t]-top) - math.Log(sum)
}

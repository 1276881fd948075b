package engine

import (
	"context"
	"errors"
	"time"

	"tandem"
	"tandem/internal/cputime"
	"tandem/internal/llamacpp"
	"tandem/lora/streams"
	"tandem/model"
)

// StreamOptions say what to measure of streams.
type StreamOptions struct {
	Streams, Runs, Steps, Prompt, Threads int
	Against                               string // the model's file, to open with llama.cpp too; "" for none

	Progress func(format string, args ...any)
}

// StreamReport compares texts written at once with the same texts written one after the other, in turns. Times are in
// milliseconds, medians over all runs. Each text of the second kind computes the prompt again, as without streams.
type StreamReport struct {
	Device  string `json:"device"`
	Clock   string `json:"clock"` // "wall", or "processor": with one thread, since other programs disturb it less
	Streams int    `json:"streams"`
	Prompt  int    `json:"prompt"`
	Tokens  int    `json:"tokens"` // of all texts, the same both ways

	Together float64 `json:"together_ms"`
	Alone    float64 `json:"alone_ms"`
	Faster   float64 `json:"times_faster"` // the median of the ratios run by run
	Least    float64 `json:"times_faster_least"`
	Most     float64 `json:"times_faster_most"`

	Peer      float64 `json:"llama_cpp_ms,omitempty"` // the prompt once, copied to as many sequences, without sampling
	PeerRatio float64 `json:"llama_cpp_to_ours,omitempty"`
}

// MeasureStreams measures what streams save.
func MeasureStreams(ctx context.Context, m *model.Model, o StreamOptions) (r StreamReport, err error) {
	if o.Streams < 1 || o.Streams > streams.Max || o.Runs < 1 || o.Steps < 2 || o.Prompt < 1 || o.Prompt+o.Steps > m.Config().Context {
		return r, errors.New("--streams must be 1 to 16, --runs and --prompt 1 or more, --steps 2 or more, and prompt and steps fit into the model's context")
	}
	r = StreamReport{Device: m.Device(), Clock: "wall", Streams: o.Streams, Prompt: o.Prompt}
	b := &streamBench{m: m, o: o, prompt: anyTokens(m.Config().Vocab, 0, o.Prompt), timer: timer{wall: o.Threads != 1}}
	if _, ok := cputime.Spent(); !ok {
		b.wall = true
	}
	if !b.wall {
		r.Clock = "processor"
	}
	peer := func() (time.Duration, error) { return 0, nil }
	if o.Against != "" {
		p, err := openPeer(o.Against, "cpu", m.Config().Vocab, o.Threads)
		if err != nil {
			return r, err
		}
		defer p.Close()
		peer = func() (time.Duration, error) { return b.peer(p) }
	}
	var together, alone, ratios, peers, peerRatios []float64
	for run := -1; run < o.Runs; run++ {
		o.Progress("streams: run %d of %d", max(run, 0)+1, o.Runs)
		whole, one, tokens, err := b.run(ctx)
		if err != nil {
			return r, err
		}
		took, err := peer()
		if err != nil {
			return r, err
		}
		if run < 0 {
			continue // warms up
		}
		r.Tokens = tokens
		together, alone, ratios = append(together, ms(whole)), append(alone, ms(one)), append(ratios, ms(one)/ms(whole))
		peers, peerRatios = append(peers, ms(took)), append(peerRatios, ms(took)/ms(whole))
	}
	r.Together, _, _ = median(together)
	r.Alone, _, _ = median(alone)
	r.Faster, r.Least, r.Most = median(ratios)
	r.Peer, _, _ = median(peers)
	r.PeerRatio, _, _ = median(peerRatios)
	return r, nil
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

type streamBench struct {
	m      *model.Model
	o      StreamOptions
	prompt []tandem.Token
	timer
}

func (b *streamBench) options() streams.Options { return streams.Options{Tokens: b.o.Steps} }

// run measures the streams together, then one after the other. tokens are those of all streams.
func (b *streamBench) run(ctx context.Context) (together, alone time.Duration, tokens int, err error) {
	var list []streams.Stream
	var stats streams.Stats
	together, err = b.time(func() (err error) {
		list, stats, err = streams.Generate(ctx, b.m.NewSeq(), b.prompt, b.o.Streams, b.options())
		return err
	})
	if err != nil {
		return 0, 0, 0, err
	}
	alone, err = b.time(func() error { return b.alone(ctx, list) })
	return together, alone, stats.Tokens, err
}

// alone generates each of the streams by itself.
func (b *streamBench) alone(ctx context.Context, list []streams.Stream) error {
	for i, want := range list {
		got, _, err := streams.Alone(ctx, b.m.NewSeq(), b.prompt, i, b.options())
		if err != nil {
			return err
		}
		if got == nil || b.m.Rounding() == "" && got.LogProb != want.LogProb {
			return errors.New("a stream differs from the same stream alone")
		}
	}
	return nil
}

// peer decodes as many sequences with llama.cpp.
func (b *streamBench) peer(p *peer) (time.Duration, error) {
	s, err := p.model.NewSession(p.threads, b.o.Prompt+b.o.Steps+1, b.o.Streams)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return b.time(func() error { return b.peerSteps(p, s) })
}

func (b *streamBench) peerSteps(p *peer, s *llamacpp.Session) error {
	if err := p.prefill(s, b.o.Prompt); err != nil {
		return err
	}
	n := b.o.Streams
	for i := 1; i < n; i++ {
		s.Copy(0, int32(i))
	}
	tokens, pos, seqs, want := make([]int32, n), make([]int32, n), make([]int32, n), make([]int8, n)
	for step := range b.o.Steps - 1 { // the prompt gives the first tokens
		for i := range n {
			tokens[i], pos[i], seqs[i], want[i] = int32(anyTokens(p.vocab, step+i, 1)[0]), int32(b.o.Prompt+step), int32(i), 1
		}
		if err := s.Decode(tokens, pos, seqs, want); err != nil {
			return err
		}
	}
	return nil
}

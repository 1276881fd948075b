package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"tandem"
)

// Stats tells how a generation went.
type Stats struct {
	PromptTokens int
	Tokens       int           // generated, without the one that ended the generation
	Prefill      time.Duration // for the prompt
	Decode       time.Duration // for the tokens after the first
	First        time.Duration // from the call to the first token
	Reason       Reason
}

// PrefillRate returns prompt tokens per second, 0 if there was nothing to measure.
func (s Stats) PrefillRate() float64 { return rate(s.PromptTokens, s.Prefill) }

// DecodeRate returns generated tokens per second, not counting the first, which the prefill gives.
func (s Stats) DecodeRate() float64 { return rate(s.Tokens-1, s.Decode) }

func rate(n int, d time.Duration) float64 {
	if n <= 0 || d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// A Reason says why a generation ended.
type Reason string

// The reasons.
const (
	EndOfText   Reason = "the model ended"
	TooLong     Reason = "the limit of tokens was reached"
	ContextFull Reason = "the context is full"
	Stopped     Reason = "stopped by the reader"
)

// ErrStop is what emit returns to end a generation without an error.
var ErrStop = errors.New("stop")

// Generate continues a prompt and hands each token to emit, until the model ends the text (with any of
// its tokenizer's EOGs, which emit does not see), max tokens were generated (0: no limit), the context is
// full, emit returns ErrStop, or something fails: ctx, emit or the model. The statistics are valid in
// every case.
func Generate(ctx context.Context, m *Model, prompt []tandem.Token, s Sampling, max int, emit func(tandem.Token) error) (Stats, error) {
	stats := Stats{PromptTokens: len(prompt)}
	if len(prompt) == 0 {
		return stats, errors.New("generate: the prompt has no tokens")
	}
	sampler, err := NewSampler(s, prompt)
	if err != nil {
		return stats, fmt.Errorf("generate: %w", err)
	}
	start := time.Now()
	unsupported, marks := m.Tokenizer().Unsupported()
	seq, feed := m.NewSeq(), prompt
	for {
		logits, err := m.Forward(ctx, []Row{{Seq: seq, Tokens: feed}})
		var full *ContextError
		if errors.As(err, &full) && seq.Len() > 0 {
			stats.Reason = ContextFull
			return stats, nil
		}
		if err != nil {
			return stats, fmt.Errorf("generate: %w", err)
		}
		took := time.Since(start)
		if stats.Prefill == 0 {
			stats.Prefill = took
		}
		stats.Decode = took - stats.Prefill
		if marks {
			logits[0][unsupported] = float32(math.Inf(-1))
		}
		t := sampler.Next(logits[0])
		if stats.First == 0 {
			stats.First = time.Since(start)
		}
		if m.Tokenizer().EOG(t) {
			stats.Reason = EndOfText
			return stats, nil
		}
		stats.Tokens++
		if err := emit(t); errors.Is(err, ErrStop) {
			stats.Reason = Stopped
			return stats, nil
		} else if err != nil {
			return stats, err
		}
		if stats.Tokens == max {
			stats.Reason = TooLong
			return stats, nil
		}
		feed = []tandem.Token{t}
	}
}

// A StopFilter passes text on as it is generated and ends it before the first of some strings. Text that
// may be the beginning of one is held back until that is decided.
type StopFilter struct {
	stops []string
	held  string
	done  bool
}

// NewStopFilter makes a filter; empty strings are ignored.
func NewStopFilter(stops []string) *StopFilter {
	f := &StopFilter{}
	for _, s := range stops {
		if s != "" {
			f.stops = append(f.stops, s)
		}
	}
	return f
}

// Write takes generated text and returns what can be shown, and whether a stop string was reached. After
// that it returns nothing.
func (f *StopFilter) Write(text string) (show string, stopped bool) {
	if f.done {
		return "", true
	}
	f.held += text
	first := len(f.held)
	for _, s := range f.stops {
		if i := strings.Index(f.held, s); i >= 0 && i < first {
			first, f.done = i, true
		}
	}
	if f.done {
		show, f.held = f.held[:first], ""
		return show, true
	}
	keep := 0
	for _, s := range f.stops {
		for n := min(len(s)-1, len(f.held)); n > keep; n-- {
			if strings.HasSuffix(f.held, s[:n]) {
				keep = n
			}
		}
	}
	cut := len(f.held) - keep
	show, f.held = f.held[:cut], f.held[cut:]
	return show, false
}

// Flush returns the text still held back, at the end of a generation.
func (f *StopFilter) Flush() string {
	show := f.held
	f.held = ""
	return show
}

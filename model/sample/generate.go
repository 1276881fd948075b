package sample

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"tandem"
	"tandem/model"
	"tandem/npu"
)

// Stats tells how a generation went.
type Stats struct {
	PromptTokens int
	Tokens       int           // generated, without the one that ended the generation
	Passes       int           // of the model: one for each token and the prompt, fewer with drafts that are right
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

// Speculator guesses what a generation will say next, so that one pass checks many tokens (DESIGN §4.2:
// speculative decoding). What it guesses decides how fast tokens come, never which.
type Speculator interface {
	// Begin is told the prompt, in its row before it is computed, and may ask for scores along it (Input.Near).
	Begin(m *model.Model, prompt *model.Input) error
	// Draft is told the tokens that came behind the prompt since the last call and returns a tree of at most room tokens that may follow: for each, the index of the one before it, -1
	// behind the last token. None is plain decoding.
	Draft(came []tandem.Token, room int) (tokens []tandem.Token, parents []int)
	// Settle is told what became of the tree. The logits are only lent.
	Settle(Verdict)
}

// Verdict is what the model says to a draft tree.
type Verdict struct {
	Path   []int         // the nodes that were right, each the parent of the next
	Next   tandem.Token  // what follows the last of them
	Logits [][]float32   // behind the token before the tree, then behind each node
	Took   time.Duration // of the pass
}

// Generate continues a prompt and hands each token to emit, until the model ends the text (with any of
// its tokenizer's EOGs, which emit does not see), max tokens were generated (0: no limit), the context is
// full, emit returns ErrStop, or something fails: ctx, emit or the model. The statistics are valid in
// every case.
func Generate(ctx context.Context, m *model.Model, prompt []tandem.Token, s Params, max int, emit func(tandem.Token) error) (Stats, error) {
	return GenerateWith(ctx, m, prompt, s, max, nil, emit)
}

// GenerateWith is Generate with drafts: the same tokens, to the bit of every logit and the same for the same
// seed, since position t of the answer takes the sampler's t-th draw whoever guessed it.
func GenerateWith(ctx context.Context, m *model.Model, prompt []tandem.Token, s Params, max int, spec Speculator, emit func(tandem.Token) error) (Stats, error) {
	stats := Stats{PromptTokens: len(prompt)}
	if len(prompt) == 0 {
		return stats, errors.New("generate: the prompt has no tokens")
	}
	sampler, err := New(s, prompt)
	if err != nil {
		return stats, fmt.Errorf("generate: %w", err)
	}
	g := writing{Stats: &stats, m: m, sampler: sampler, spec: spec, max: max, emit: emit, start: time.Now()}
	g.unsupported, g.marks = m.Tokenizer().Unsupported()
	row := model.Input{Seq: m.NewSeq(), Tokens: prompt}
	if spec != nil {
		if err := spec.Begin(m, &row); err != nil {
			return stats, fmt.Errorf("generate: %w", err)
		}
	}
	var memory model.Logits
	for pass := m.Prefill; ; pass = m.ForwardInto {
		began := time.Now()
		logits, err := pass(ctx, []model.Input{row}, &memory)
		var full *model.ContextError
		if errors.As(err, &full) && row.Seq.Len() > 0 {
			stats.Reason = ContextFull
			return stats, nil
		}
		if err != nil {
			return stats, fmt.Errorf("generate: %w", err)
		}
		took := time.Since(g.start)
		if stats.Prefill == 0 {
			stats.Prefill = took
		}
		stats.Decode = took - stats.Prefill
		stats.Passes++
		path, err := g.walk(row, logits)
		if row.Parents != nil {
			err = errors.Join(err, row.Seq.Keep(path...))
		}
		if spec != nil && row.Parents != nil {
			verdict := Verdict{Path: path[1:], Logits: logits, Took: time.Since(began)}
			for i := range verdict.Path {
				verdict.Path[i]-- // node 0 of the row is the token before the tree
			}
			verdict.Next = g.last
			spec.Settle(verdict)
		}
		if err != nil || stats.Reason != "" {
			return stats, err
		}
		row = g.next(row.Seq)
	}
}

// writing is the state of one GenerateWith.
type writing struct {
	*Stats
	m           *model.Model
	sampler     *Sampler
	spec        Speculator
	max         int
	emit        func(tandem.Token) error
	start       time.Time
	unsupported tandem.Token
	marks       bool
	came        []tandem.Token // that spec has not been told
	last        tandem.Token
}

// walk draws the tokens that a pass decides: the one behind the row, or, in a tree, along the path whose
// nodes are what was drawn. It returns that path.
func (g *writing) walk(row model.Input, logits [][]float32) (path []int, err error) {
	if row.Parents != nil {
		path = []int{0}
	}
	for at := 0; at >= 0 && g.Reason == "" && err == nil; {
		if err = g.draw(logits[at]); err != nil || g.Reason != "" {
			break
		}
		parent := at
		at = -1
		for i := parent + 1; i < len(row.Parents); i++ {
			if row.Parents[i] == parent && row.Tokens[i] == g.last {
				at, path = i, append(path, i)
				break
			}
		}
	}
	return path, err
}

// draw takes the next token from logits and emits it.
func (g *writing) draw(logits []float32) error {
	if g.marks {
		logits[g.unsupported] = float32(math.Inf(-1))
	}
	t := g.sampler.Next(logits)
	g.last = t
	if g.First == 0 {
		g.First = time.Since(g.start)
	}
	if g.m.Tokenizer().EOG(t) {
		g.Reason = EndOfText
		return nil
	}
	g.Tokens++
	if g.spec != nil {
		g.came = append(g.came, t)
	}
	if err := g.emit(t); errors.Is(err, ErrStop) {
		g.Reason = Stopped
	} else if err != nil {
		return err
	} else if g.Tokens == g.max {
		g.Reason = TooLong
	}
	return nil
}

// next is the row of the next pass: the last token, and a draft tree behind it.
func (g *writing) next(seq *model.Seq) model.Input {
	row := model.Input{Seq: seq, Tokens: []tandem.Token{g.last}}
	if g.spec == nil {
		return row
	}
	room := min(npu.MaxTree, g.m.Config().Context-seq.Len()) - 1
	if g.max > 0 {
		room = min(room, g.max-g.Tokens-1) // the last token of all needs no draft
	}
	tokens, parents := g.spec.Draft(g.came, max(room, 0))
	g.came = g.came[:0]
	row.Parents, row.All = []int{-1}, true
	for i := range min(len(tokens), room) {
		row.Tokens, row.Parents = append(row.Tokens, tokens[i]), append(row.Parents, parents[i]+1)
	}
	return row
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

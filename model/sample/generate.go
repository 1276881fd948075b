package sample

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"tandem"
	"tandem/model"
	"tandem/model/grammar"
	"tandem/model/vocabulary"
	"tandem/npu"
)

// Stats describes a generation.
type Stats struct {
	PromptTokens int
	Tokens       int           // generated, without the end-of-text token
	Passes       int           // forward passes: one for each token, fewer with drafts
	Prefill      time.Duration // for the prompt
	Decode       time.Duration // for the tokens after the first
	First        time.Duration // from the call to the first token
	Reason       Reason
}

// PrefillRate returns the prompt tokens per second, or 0 if there is nothing to measure.
func (s Stats) PrefillRate() float64 { return rate(s.PromptTokens, s.Prefill) }

// DecodeRate returns the generated tokens per second. It does not count the first one, which the prefill gives.
func (s Stats) DecodeRate() float64 { return rate(s.Tokens-1, s.Decode) }

func rate(n int, d time.Duration) float64 {
	if n <= 0 || d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// A Reason is why a generation ended.
type Reason string

// The reasons.
const (
	EndOfText   Reason = "the model ended"
	TooLong     Reason = "the limit of tokens was reached"
	ContextFull Reason = "the context is full"
	Stopped     Reason = "stopped by the caller"
)

// ErrStop is returned by emit to end a generation without an error.
var ErrStop = errors.New("stop")

// A Speculator drafts the next tokens of a generation, so that one pass verifies many tokens (speculative decoding,
// Leviathan et al. 2023). Drafts affect how fast tokens are generated, never which ones.
type Speculator interface {
	// Begin receives the prompt before it is computed. It may request scores along the prompt (Input.OnScores).
	Begin(m *model.Model, prompt *model.Input) error
	// Draft receives the tokens generated since the last call. It returns a tree of at most limit tokens that may
	// follow, and for each token the index of its parent, or -1. An empty tree means ordinary decoding.
	Draft(emitted []tandem.Token, limit int) (tokens []tandem.Token, parents []int)
	// Settle receives the result of verifying the tree. The logits are valid only during the call.
	Settle(Verification)
}

// An Embedder is a Speculator whose drafts may have nodes that are embeddings instead of tokens (model.Input.Embeds), such as
// forecasts. These are model.NoToken in the draft and have no children that are tokens. The text never has them.
type Embedder interface {
	// Behind returns embeddings that follow the prompt in its own pass, and their adapter. There may be none.
	Behind() ([][]float32, *model.Adapter)
	// SettleBehind receives the logits of these. They are valid only during the call.
	SettleBehind(logits [][]float32)
	// Embeddings returns the embeddings of the last draft, in its order, and the adapter of their rows, which may be nil.
	Embeddings() ([][]float32, *model.Adapter)
}

// A Verification is the result of verifying a draft tree.
type Verification struct {
	Path   []int         // the nodes that were right, each the parent of the next
	Next   tandem.Token  // the token after the last of them
	Logits [][]float32   // after the token before the tree, then after each node
	Took   time.Duration // the time of the pass
}

// Generate continues a prompt and passes each token to emit. It ends when the model ends the text (with one of the
// tokenizer's EOG tokens, which emit does not see), after max tokens (0: no limit), when the context is full, when
// emit returns ErrStop, or on an error of ctx, emit or the model. The Stats are valid in every case.
func Generate(ctx context.Context, m *model.Model, prompt []tandem.Token, s Params, max int, emit func(tandem.Token) error) (Stats, error) {
	return GenerateWith(ctx, m, prompt, s, max, nil, emit)
}

// GenerateWith is Generate with drafts. They do not change the text: the logits are the same bit for bit, and token t
// of the answer takes the sampler's t-th draw whether or not it was drafted. spec may be nil.
func GenerateWith(ctx context.Context, m *model.Model, prompt []tandem.Token, s Params, max int, spec Speculator, emit func(tandem.Token) error) (Stats, error) {
	return Continue(ctx, m.NewSeq(), prompt, s, max, spec, emit)
}

// Continue is GenerateWith on a sequence, which may have an adapter and tokens before the prompt (Params.Before). The sequence
// forgets what no later token needs (model.Seq.Forget).
func Continue(ctx context.Context, seq *model.Seq, prompt []tandem.Token, s Params, max int, spec Speculator, emit func(tandem.Token) error) (Stats, error) {
	m := seq.Model()
	stats := Stats{PromptTokens: len(prompt)}
	if len(prompt) == 0 {
		return stats, errors.New("generate: the prompt has no tokens")
	}
	sampler, err := New(s, prompt)
	if err != nil {
		return stats, fmt.Errorf("generate: %w", err)
	}
	g := generation{Stats: &stats, m: m, sampler: sampler, spec: spec, max: max, emit: emit, start: time.Now()}
	g.unsupported, g.hasUnsupported = m.Tokenizer().Unsupported()
	if s.Grammar != nil {
		g.grammar = grammar.NewMatcher(s.Grammar, vocabulary.Of(m.Tokenizer()))
		g.derived = g.grammar.Start()
	}
	in := model.Input{Seq: seq, Tokens: prompt}
	if spec != nil {
		if err := spec.Begin(m, &in); err != nil {
			return stats, fmt.Errorf("generate: %w", err)
		}
	}
	var memory model.Logits
	if in, err = readAhead(ctx, in, &memory); err != nil {
		return stats, fmt.Errorf("generate: %w", err)
	}
	in = behind(in, spec)
	for pass := m.Prefill; ; pass = m.ForwardInto {
		began := time.Now()
		logits, err := pass(ctx, []model.Input{in}, &memory)
		var full *model.ContextError
		if errors.As(err, &full) && in.Seq.Len() > 0 {
			stats.Reason = ContextFull
			return stats, nil
		}
		if err != nil {
			return stats, fmt.Errorf("generate: %w", err)
		}
		if err := g.take(in, logits, began); err != nil || stats.Reason != "" {
			return stats, err
		}
		in.Seq.Forget()
		in = g.next(in)
	}
}

// piece is how many tokens of a prompt readAhead reads at once.
const piece = 1024

// readAhead reads all but the last piece of a prompt that fits the context, if the model forgets what its windows have passed:
// so a long prompt never takes the memory of all its keys and values. It returns the rest.
func readAhead(ctx context.Context, in model.Input, memory *model.Logits) (model.Input, error) {
	m := in.Seq.Model()
	if !m.Forgets() || in.Seq.Len()+len(in.Tokens) > m.Config().Context {
		return in, nil
	}
	scores, read := in.OnScores, 0
	if scores != nil {
		in.OnScores = func(i int, s []float32) { scores(read+i, s) }
	}
	for len(in.Tokens) > piece {
		part := in
		part.Tokens = in.Tokens[:piece]
		if _, err := m.Prefill(ctx, []model.Input{part}, memory); err != nil {
			return in, err
		}
		in.Seq.Forget()
		in.Tokens, read = in.Tokens[piece:], read+piece
	}
	return in, nil
}

// behind adds the embeddings that follow the prompt, if the context has room for them.
func behind(in model.Input, spec Speculator) model.Input {
	e, ok := spec.(Embedder)
	if !ok {
		return in
	}
	rows, adapter := e.Behind()
	if len(rows) == 0 || in.Seq.Len()+len(in.Tokens)+len(rows) > in.Seq.Model().Config().Context {
		return in
	}
	in.Embeds, in.EmbedsAdapter = append(make([][]float32, len(in.Tokens)), rows...), adapter
	in.Tokens = slices.Concat(in.Tokens, slices.Repeat([]tandem.Token{model.NoToken}, len(rows)))
	return in
}

// A generation is the state of GenerateWith.
type generation struct {
	*Stats
	m              *model.Model
	sampler        *Sampler
	spec           Speculator
	max            int
	emit           func(tandem.Token) error
	start          time.Time
	unsupported    tandem.Token
	hasUnsupported bool
	grammar        *grammar.Matcher // nil for none
	derived        grammar.State    // of the text
	emitted        []tandem.Token   // that spec does not know yet
	last           tandem.Token
}

// take draws the tokens that a pass decides, keeps them in the sequence and tells spec. The pass began at the given time.
func (g *generation) take(in model.Input, logits [][]float32, began time.Time) error {
	took := time.Since(g.start)
	if g.Prefill == 0 {
		g.Prefill = took
	}
	g.Decode = took - g.Prefill
	g.Passes++
	path, err := g.walk(in, logits)
	if in.Parents == nil {
		if in.Embeds != nil {
			g.spec.(Embedder).SettleBehind(logits[1:])
		}
		return err
	}
	err = errors.Join(err, in.Seq.Keep(path...))
	if g.spec != nil {
		result := Verification{Path: path[1:], Next: g.last, Logits: logits, Took: time.Since(began)}
		for i := range result.Path {
			result.Path[i]-- // node 0 of the input is the token before the tree
		}
		g.spec.Settle(result)
	}
	return err
}

// walk draws the tokens that a pass decides: the one after the input or, for a tree, those along the path of nodes that
// equal the tokens drawn. It returns that path.
func (g *generation) walk(in model.Input, logits [][]float32) (path []int, err error) {
	if in.Parents != nil {
		path = []int{0}
	}
	for at := 0; at >= 0 && g.Reason == "" && err == nil; {
		if err = g.draw(logits[at]); err != nil || g.Reason != "" {
			break
		}
		parent := at
		at = -1
		for i := parent + 1; i < len(in.Parents); i++ {
			if in.Parents[i] == parent && in.Tokens[i] == g.last { // never a NoToken
				at, path = i, append(path, i)
				break
			}
		}
	}
	return path, err
}

// draw draws the next token and emits it.
func (g *generation) draw(logits []float32) error {
	if g.hasUnsupported {
		logits[g.unsupported] = float32(math.Inf(-1))
	}
	if g.grammar != nil {
		allowed, err := g.grammar.Allowed(g.derived)
		if err != nil {
			return fmt.Errorf("generate: %w", err)
		}
		allowed.Restrict(logits)
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
	if err := g.follow(t); err != nil {
		return err
	}
	g.Tokens++
	if g.spec != nil {
		g.emitted = append(g.emitted, t)
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

// follow follows a token in the grammar, if there is one.
func (g *generation) follow(t tandem.Token) error {
	if g.grammar == nil {
		return nil
	}
	piece := g.m.Tokenizer().Piece(t)
	if g.derived = g.grammar.Next(g.derived, piece); g.derived.Lost() {
		return fmt.Errorf("generate: the grammar does not allow %q here, and the model gives nothing else", piece)
	}
	return nil
}

// next returns the input of the next pass: the last token, and a draft tree after it.
func (g *generation) next(before model.Input) model.Input {
	in := model.Input{Seq: before.Seq, Tokens: []tandem.Token{g.last}, PerPass: before.PerPass}
	if g.spec == nil {
		return in
	}
	limit := min(npu.MaxTree, g.m.Config().Context-in.Seq.Len()) - 1
	if g.max > 0 {
		limit = min(limit, g.max-g.Tokens-1) // the last token of all needs no draft
	}
	tokens, parents := g.spec.Draft(g.emitted, max(limit, 0))
	g.emitted = g.emitted[:0]
	in.Parents, in.All = []int{-1}, true
	for i := range min(len(tokens), limit) {
		in.Tokens, in.Parents = append(in.Tokens, tokens[i]), append(in.Parents, parents[i]+1)
	}
	if slices.Contains(in.Tokens, model.NoToken) {
		var rows [][]float32
		rows, in.EmbedsAdapter = g.spec.(Embedder).Embeddings()
		in.Embeds = make([][]float32, len(in.Tokens))
		for i, t := range in.Tokens {
			if t == model.NoToken {
				in.Embeds[i], rows = rows[0], rows[1:]
			}
		}
	}
	return in
}

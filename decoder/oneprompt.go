package decoder

import (
	"fmt"
	"slices"
	"strings"

	"tandem"
	"tandem/decoder/ground"
	"tandem/internal/words"
	"tandem/model/tokenizer"
)

// A OnePrompt is an answer that a model writes by itself from one prompt with all passages, such as a diffusion model. It is not
// safe for concurrent use.
type OnePrompt struct {
	Prompt    []tandem.Token
	Truncated []string // titles of the passages that were shortened to fit

	cite      citer
	tok       *tokenizer.Tokenizer
	maxTokens int

	grounds *ground.Context // what it may write; nil without Config.Grounded
	answer  []tandem.Token  // that states covers
	text    []byte          // of answer
	states  []ground.State  // states[i] follows i tokens
}

// NewOnePrompt prepares to answer from all passages at once. It shortens passages and leaves out old turns like New.
func NewOnePrompt(cfg Config, req Request) (*OnePrompt, error) {
	cfg, err := cfg.defaults()
	if err != nil {
		return nil, fmt.Errorf("decoder: %w", err)
	}
	cfg.Contexts = 1
	prompts, truncated, err := writePrompts(cfg, req, false)
	if err != nil {
		return nil, fmt.Errorf("decoder: %w", err)
	}
	w := &OnePrompt{
		Prompt:    slices.Concat(prompts[0].prefix, prompts[0].rest),
		Truncated: truncated,
		cite:      citer{req.topic(), req.Passages, cfg.Scorer},
		tok:       cfg.Model.Tokenizer(),
		maxTokens: cfg.MaxTokens,
	}
	if cfg.Grounded {
		w.grounds = grounds(w.tok, prompts)[0]
		w.states = []ground.State{w.grounds.Start()}
	}
	return w, nil
}

// Grounded reports whether the answer is limited to the question's words, function words and spans of the passages.
func (w *OnePrompt) Grounded() bool { return w.grounds != nil }

// Limit sets the logits of the tokens that may not follow an answer to −Inf. It is fastest if the answer shares a long
// prefix with that of the last call. Without grounding it does nothing.
func (w *OnePrompt) Limit(answer []tandem.Token, logits []float32) {
	if w.grounds == nil {
		return
	}
	w.follow(answer)
	left := max(0, w.maxTokens-len(answer))
	if ground.Loops(w.text) {
		left = 0
	}
	w.grounds.Allowed(w.states[len(answer)], left).Restrict(logits)
}

// follow makes states those of an answer.
func (w *OnePrompt) follow(answer []tandem.Token) {
	same := tandem.CommonPrefix(answer, w.answer)
	for _, t := range w.answer[same:] {
		w.text = w.text[:len(w.text)-len(w.tok.Piece(t))]
	}
	w.answer, w.states = append(w.answer[:same], answer[same:]...), w.states[:same+1]
	for i, t := range answer[same:] {
		piece := w.tok.Piece(t)
		w.text = append(w.text, piece...)
		w.states = append(w.states, w.grounds.Next(w.states[same+i], piece))
	}
}

// Parts returns the sentences of an answer, in order. A sentence draws on the passages that hold the longest run of its
// words that the question does not have, in equal shares.
func (w *OnePrompt) Parts(answer []tandem.Token) []Part {
	base := w.cite.scorer.Prepare(w.cite.passages)(nil, w.cite.topic)
	var out []Part
	var text []byte
	begins := 0 // where the last part's text does
	end := func(to int) {
		p := &out[len(out)-1]
		said := strings.TrimSpace(string(text[begins:]))
		p.To, p.Weights = to, w.cite.shares(said)
		p.Quotes = w.cite.quotes(*p, said, base)
	}
	for i, t := range answer {
		before := len(text)
		text = append(text, w.tok.Piece(t)...)
		switch start := sentenceStart(text); {
		case len(out) == 0:
			out = append(out, Part{From: i})
		case start > begins && start < len(text):
			whole := text
			text = text[:before]
			end(i)
			text, begins = whole, start
			out = append(out, Part{From: i})
		}
	}
	if len(out) > 0 {
		end(len(answer))
	}
	return out
}

// shares returns each passage's share of a sentence.
func (c citer) shares(said string) []float64 {
	asked := words.Content(c.topic)
	out := make([]float64, len(c.passages))
	longest, n := 0, 0.0
	for i, p := range c.passages {
		from, to := repeated(p.Text, said, asked)
		switch size := to - from; {
		case size == 0 || size < longest:
			continue
		case size > longest:
			clear(out)
			longest, n = size, 0
		}
		out[i], n = 1, n+1
	}
	for i := range out {
		out[i] /= max(n, 1)
	}
	return out
}

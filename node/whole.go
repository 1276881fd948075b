package node

import (
	"context"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/pair"
)

// A Writer writes an answer all by itself. It passes final tokens to emit, in order, and returns why the answer ended.
type Writer func(ctx context.Context, w *decoder.OnePrompt, emit func([]tandem.Token) error) (pair.Reason, error)

// Write answers q alone, from one prompt with all passages that are found, with a model that writes a whole answer, such as a
// diffusion model. If it ends with an error, it returns the answer so far.
func (l Local) Write(ctx context.Context, q Question, s tandem.Settings, write Writer, emit func(Token)) (Answer, error) {
	begun := time.Now()
	q = q.composed()
	found, err := l.search(ctx, q, s)
	if err != nil {
		return Answer{}, err
	}
	cfg, err := l.DecoderConfig(s)
	if err != nil {
		return Answer{}, err
	}
	prompt, err := decoder.NewOnePrompt(cfg, decoder.Request{Question: q.Text, History: q.History, Passages: found})
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Placement: s.Placement, MaxTokens: s.MaxTokens}
	a.Prefill[tandem.Device], a.Read[tandem.Device] = time.Since(begun), len(found)
	if !prompt.Grounded() {
		a.Remarks = append(a.Remarks, "this answer is not held to the documents' words: compare it with them")
	}
	for _, title := range prompt.Truncated {
		a.Remarks = append(a.Remarks, l.shortened(title))
	}
	stream := l.Model.Tokenizer().Stream()
	var written []tandem.Token
	a.Reason, err = write(ctx, prompt, func(tokens []tandem.Token) error {
		for _, id := range tokens {
			t := Token{ID: id, Text: stream.Write(id), By: tandem.ByDevice, Alone: true, At: time.Since(begun)}
			a.Tokens, written = append(a.Tokens, t), append(written, id)
			emit(t)
		}
		return ctx.Err()
	})
	a.Text, a.Took = textOf(a.Tokens, stream), time.Since(begun)
	a.Pair.Steps, a.Pair.Alone = len(a.Tokens), len(a.Tokens)
	l.addSources(&a, prompt.Parts(written), &reading{passages: found, local: l})
	return a, err
}

// addSources adds the documents that the parts of an answer draw on.
func (l Local) addSources(a *Answer, parts []decoder.Part, own *reading) {
	weights := make([]float64, len(own.passages))
	for _, p := range parts {
		for i, w := range p.Weights {
			weights[i] += w * float64(p.To-p.From) / float64(len(a.Tokens))
		}
	}
	a.Documents[tandem.Device] = own.byTitle(0, weights)
	a.Parts = cite(a.Tokens, own.partsOf(parts), nil)
}

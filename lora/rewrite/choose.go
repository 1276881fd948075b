// Package rewrite corrects sentences and changes their tone. It lists candidate texts, and a model with an adapter chooses
// among them. So even a small model, which would lose words if it wrote freely, changes only what it should: a name, a number
// or a correctly spelt word without rivals stays.
//
// A Writer does this to a text: the built-in decoder chooses, and any other model writes by a prompt.
//
//   - To correct a sentence, the decoder chooses a way to write each word (spelling.go). This is a noisy channel: Kernighan,
//     Church and Gale, "A spelling correction program based on a noisy channel model", 1990.
//   - To change the tone of a sentence, it chooses among versions of it (tone.go).
//   - To sum up a message, it chooses the sentence that says what the message is about.
//
// Keeps reports whether a version has the names and numbers of a sentence, for what a larger model wrote.
//
// The lists are English. The recipe in train/choose.py trains the adapters.
package rewrite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"tandem"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/sample"
	"tandem/model/tokenizer"
)

// A way is a way to write a slot. It may be empty.
type way struct {
	Text  string
	Prior float64 // log odds, added to the model's log probability
}

// A slot is a piece of a text without white space, or two that belong together, and the white space before it.
type slot struct {
	Space string
	Ways  []way // the first is the text as it is
}

// lookahead is the number of following slots, unchanged, that are scored together with a way. The adapter was trained
// with the same number.
const lookahead = 3

// start is the prompt before the text, the same that the built-in decoder knows from before a passage.
const start = "Context:"

// choose returns the text with the way of each slot that the model finds likeliest after what was chosen before,
// together with the next slots as they are. seq is empty and gets the text.
func choose(ctx context.Context, seq *model.Seq, slots []slot) (string, error) {
	tok := seq.Model().Tokenizer()
	c := chooser{seq: seq, pending: chat.Encode(tok, start)}
	encode := func(text string) []tandem.Token {
		if text == "" {
			return nil
		}
		return tok.Encode(" "+text, tokenizer.Options{})
	}
	var out strings.Builder
	for i, s := range slots {
		best := s.Ways[0].Text
		if len(s.Ways) > 1 {
			var after []tandem.Token
			for _, next := range slots[i+1 : min(len(slots), i+1+lookahead)] {
				after = append(after, encode(next.Ways[0].Text)...)
			}
			if ends := tok.EOGs(); i+lookahead >= len(slots)-1 && len(ends) > 0 {
				after = append(after, ends[0])
			}
			var lines [][]tandem.Token
			for _, w := range s.Ways {
				lines = append(lines, slices.Concat(encode(w.Text), after))
			}
			sums, err := c.score(ctx, lines)
			if err != nil {
				return "", fmt.Errorf("rewrite: %w", err)
			}
			most := math.Inf(-1)
			for k, w := range s.Ways {
				if x := sums[k] + w.Prior; x > most {
					most, best = x, w.Text
				}
			}
		}
		c.pending = append(c.pending, encode(best)...)
		if best != "" {
			out.WriteString(s.Space + best)
		}
	}
	return out.String(), nil
}

// likeliest returns the text that the model finds likeliest, or "" if there is none. seq is empty and gets the start.
func likeliest(ctx context.Context, seq *model.Seq, texts []string) (string, error) {
	if len(texts) < 2 {
		return strings.Join(texts, ""), nil
	}
	tok := seq.Model().Tokenizer()
	c := chooser{seq: seq, pending: chat.Encode(tok, start)}
	var lines [][]tandem.Token
	for _, t := range texts {
		line := tok.Encode(" "+t, tokenizer.Options{})
		lines = append(lines, append(line, tok.EOGs()[:min(1, len(tok.EOGs()))]...))
	}
	sums, err := c.score(ctx, lines)
	if err != nil {
		return "", fmt.Errorf("rewrite: %w", err)
	}
	return texts[slices.Index(sums, slices.Max(sums))], nil
}

// mainSentence returns the index of the sentence that says what a message is about: the one for which the adapter gives the end
// of the text the highest probability relative to "no support". If the message exceeds the model's context, the rest is read in
// a new sequence, without the text before it. newSeq returns an empty sequence.
func mainSentence(ctx context.Context, newSeq func() *model.Seq, sentences []string) (int, error) {
	seq := newSeq()
	m := seq.Model()
	tok := m.Tokenizer()
	none, ok := tok.Unsupported()
	ends := tok.EOGs()
	if !ok || len(ends) == 0 {
		return 0, errors.New("rewrite: the model has no token for what is not supported")
	}
	begin := chat.Encode(tok, start)
	best, most := 0, math.Inf(-1)
	for i, s := range sentences {
		tokens := tok.Encode(" "+s, tokenizer.Options{})
		tokens = tokens[:min(len(tokens), m.Config().Context-len(begin))]
		if seq.Len()+len(tokens) > m.Config().Context {
			seq = newSeq()
		}
		if seq.Len() == 0 {
			tokens = slices.Concat(begin, tokens)
		}
		logits, err := m.Forward(ctx, []model.Input{{Seq: seq, Tokens: tokens}})
		if err != nil {
			return 0, fmt.Errorf("rewrite: %w", err)
		}
		if x := float64(logits[0][ends[0]] - logits[0][none]); x > most {
			best, most = i, x
		}
	}
	return best, nil
}

// chooser is a sequence with tokens that it does not have yet.
type chooser struct {
	seq     *model.Seq
	pending []tandem.Token
	last    []float32 // log probabilities after the sequence
	memory  model.Logits
}

// score returns the log probability of each continuation.
func (c *chooser) score(ctx context.Context, lines [][]tandem.Token) ([]float64, error) {
	m := c.seq.Model()
	if len(c.pending) > 0 {
		logits, err := m.ForwardInto(ctx, []model.Input{{Seq: c.seq, Tokens: c.pending}}, &c.memory)
		if err != nil {
			return nil, err
		}
		c.last, c.pending = append(c.last[:0], logits[0]...), nil
	}
	sums, batch := make([]float64, len(lines)), []model.Input{}
	for i, line := range lines {
		if len(line) > 0 {
			sums[i] = sample.LogProb(c.last, line[0])
		}
		if len(line) > 1 {
			batch = append(batch, model.Input{Seq: c.seq.Fork(), Tokens: line[:len(line)-1], All: true})
		}
	}
	if len(batch) == 0 {
		return sums, nil
	}
	logits, err := m.ForwardInto(ctx, batch, &c.memory)
	if err != nil {
		return nil, err
	}
	for i, line := range lines {
		for _, t := range line[min(1, len(line)):] {
			sums[i] += sample.LogProb(logits[0], t)
			logits = logits[1:]
		}
	}
	return sums, nil
}

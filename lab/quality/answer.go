// Package quality counts right answers: of each side, of the pair, and of other ways to answer from documents on two sides.
// Documents are indexed, searched and read as a user's would be. The answers are greedy.
package quality

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"tandem"
	"tandem/aggregator"
	"tandem/decoder"
	"tandem/retrieval/passages"
)

// Methods are the ways to answer. The last, given, uses the right answers and is an upper bound.
var Methods = []string{"device", "cloud", "pair", "one-side", "device-context", "cloud-context", "one-context", "sequence-thorough", "sequence-fast", "given"}

// Trial is a question with the passages that each side found for it.
type Trial struct {
	Question
	Sides [2][]passages.Passage
}

// given returns the trial with only those passages that contain what the answer must contain.
func (t Trial) given() Trial {
	for i, found := range t.Sides {
		t.Sides[i] = nil
		for _, p := range found {
			if slices.ContainsFunc(t.Values, func(v string) bool { return holdsWord(p.Title+"\n"+p.Text, v) }) {
				t.Sides[i] = append(t.Sides[i], p)
			}
		}
	}
	return t
}

// PrintWrong prints a wrong answer with the passages that contain the right one.
func (t Trial) PrintWrong(w io.Writer, method, answer string) {
	fmt.Fprintf(w, "%s, %s: %s\n  want %s\n  got  %s\n", t.Kind, method, t.Text, strings.Join(t.Right(), " | "), answer)
	for _, v := range t.Values {
		found := false
		for i, side := range t.Sides {
			for _, p := range side {
				if holdsWord(p.Title+"\n"+p.Text, v) {
					found = true
					fmt.Fprintf(w, "  %v: [%s] %s\n", tandem.Side(i), p.Title, strings.ReplaceAll(p.Text, "\n", " / "))
				}
			}
		}
		if !found {
			fmt.Fprintf(w, "  no retrieved passage contains %q\n", v)
		}
	}
}

// Answerer answers questions in this process.
type Answerer struct{ Config decoder.Config }

// Answer returns the greedy answer to t by a method.
func (a Answerer) Answer(ctx context.Context, t Trial, method string) (string, error) {
	all := slices.Concat(t.Sides[0], t.Sides[1])
	switch method {
	case "device":
		return a.write(ctx, t.Question, t.Sides[:1], 0)
	case "cloud":
		return a.write(ctx, t.Question, t.Sides[1:], 0)
	case "one-side":
		return a.write(ctx, t.Question, [][]passages.Passage{all}, 0)
	case "one-context":
		return a.write(ctx, t.Question, [][]passages.Passage{all}, 1)
	case "device-context":
		return a.write(ctx, t.Question, t.Sides[:1], 1)
	case "cloud-context":
		return a.write(ctx, t.Question, t.Sides[1:], 1)
	case "sequence-thorough":
		return a.sequence(ctx, t, thorough)
	case "sequence-fast":
		return a.sequence(ctx, t, fast)
	case "given":
		t = t.given()
	}
	return a.write(ctx, t.Question, t.Sides[:], 0)
}

// open returns a decoder of one side's passages, grouped into the given number of contexts; 0 for one per passage.
func (a Answerer) open(ctx context.Context, q Question, found []passages.Passage, contexts int) (*decoder.Decoder, error) {
	cfg := a.Config
	cfg.Contexts = contexts
	return decoder.New(ctx, cfg, decoder.Request{Question: q.Text, History: q.node().History, Passages: found})
}

// write answers from the passages of one side, or of two in lock step.
func (a Answerer) write(ctx context.Context, q Question, sides [][]passages.Passage, contexts int) (string, error) {
	var decoders [2]decoder.Producer
	for i, found := range sides {
		d, err := a.open(ctx, q, found, contexts)
		if err != nil {
			return "", err
		}
		defer d.Close()
		decoders[i] = d
	}
	return lockStep(ctx, a.Config, decoders)
}

// lockStep returns the greedy answer of two decoders that agree on each token. The second may be nil.
func lockStep(ctx context.Context, cfg decoder.Config, decoders [2]decoder.Producer) (string, error) {
	tok := cfg.Model.Tokenizer()
	targets, err := decoder.LockStep(ctx, decoders[0], decoders[1], aggregator.Rule{Greedy: true}, tok.EOGs(), cfg.MaxTokens)
	if err != nil {
		return "", err
	}
	var ids []tandem.Token
	for _, t := range targets {
		ids = append(ids, t.Token)
	}
	return strings.TrimSpace(tok.Decode(ids)), nil
}

// unseen is the probability of a token outside a side's nucleus.
const unseen = 1e-4

// sequenceRule says which of two answers is taken, as in RAG-Sequence.
type sequenceRule uint8

const (
	thorough sequenceRule = iota // the answer y with the larger Σ_s η^s p^s(y), with η as it is before the answer
	fast                         // the same with p^s(y) = 0 if side s did not write y, so that no side scores the other's answer
)

// sequence lets each side write an answer alone and returns one of the two: DRDG/SW (DRAGON §7.2).
func (a Answerer) sequence(ctx context.Context, t Trial, rule sequenceRule) (string, error) {
	var texts [2]string
	for i := range t.Sides {
		text, err := a.write(ctx, t.Question, t.Sides[i:i+1], 0)
		if err != nil {
			return "", err
		}
		texts[i] = text
	}
	var best string
	most := math.Inf(-1)
	for i, text := range texts {
		score := math.Inf(-1)
		for j := range t.Sides {
			if rule == fast && texts[j] != text {
				continue
			}
			p, h, err := a.judge(ctx, t.Question, t.Sides[j], text)
			if err != nil {
				return "", err
			}
			score = logSum(score, h+p)
		}
		if i == 0 || score > most {
			best, most = text, score
		}
	}
	return best, nil
}

// judge returns log p^s(answer) for a side, and its h^s before the answer.
func (a Answerer) judge(ctx context.Context, q Question, found []passages.Passage, answer string) (p, h float64, err error) {
	d, err := a.open(ctx, q, found, 0)
	if err != nil {
		return 0, 0, err
	}
	defer d.Close()
	ids := append(answerTokens(a.Config.Model, answer), a.Config.Model.Tokenizer().EOGs()[0])
	for i, id := range ids {
		var last []tandem.Token
		if i > 0 {
			last = ids[i-1 : i]
		}
		out, err := d.Next(ctx, max(i-1, 0), last)
		if err != nil {
			return 0, 0, err
		}
		if i == 0 {
			h = out.H.Float()
		}
		share := unseen
		for k, t := range out.Dist.IDs {
			if t == id {
				share = float64(out.Dist.Weights[k]) / tandem.Mass
			}
		}
		p += math.Log(share)
	}
	return p, h, nil
}

// logSum returns log(e^a + e^b).
func logSum(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

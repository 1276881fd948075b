package spec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"tandem"
	"tandem/model"
)

// Words says who wrote the answers of a measurement. Drafters work better the more an answer resembles its context, and
// the built-in model was trained to copy. References are answers that people wrote about the same contexts.
type Words struct {
	Reference bool    // not the model's own words
	Disagree  float64 // the share of a reference's tokens where the model says another one and so rejects a right draft
}

// ParseWords parses "own", "reference", or "reference:.2" with a share of disagreement.
func ParseWords(text string) (w Words, err error) {
	kind, share, given := strings.Cut(text, ":")
	if given {
		w.Disagree, err = strconv.ParseFloat(share, 64)
	}
	if w.Reference = kind == "reference"; !w.Reference && text != "own" || err != nil || !(w.Disagree >= 0 && w.Disagree <= 1) {
		return w, fmt.Errorf("words %q: use own, reference, or reference:SHARE with the share of its tokens, 0 to 1, where the model says another", text)
	}
	return w, nil
}

func (w Words) String() string {
	switch {
	case !w.Reference:
		return "own"
	case w.Disagree > 0:
		return fmt.Sprintf("reference, %.0f %% other", 100*w.Disagree)
	}
	return "reference"
}

// replay feeds an input's reference to the model, token by token (teacher forcing), and returns in others how many of its
// tokens differ from the model's choice. In the reference of out, a share Disagree of the tokens, drawn with the seed, is
// replaced by the model's choice, or by its second choice where the model agrees. Drafts of the original reference are
// rejected there, as by a model that disagrees that often.
func (w Words) replay(ctx context.Context, m *model.Model, in Input, seed uint64) (out Input, others int, err error) {
	if !w.Reference {
		in.Said = nil
		return in, 0, nil
	}
	seq := m.NewSeq()
	after, err := m.Forward(ctx, []model.Input{{Seq: seq, Tokens: in.Tokens}})
	if err != nil {
		return in, 0, err
	}
	logits, err := m.Forward(ctx, []model.Input{{Seq: seq, Tokens: in.Said, All: true}})
	if err != nil {
		return in, 0, err
	}
	logits = append(after, logits...)
	r := rand.New(rand.NewPCG(seed, uint64(len(in.Said))))
	said := make([]tandem.Token, len(in.Said))
	for i, t := range in.Said {
		first, second := twoLikeliest(m, logits[i])
		if first != t {
			others++
		}
		if said[i] = t; r.Float64() < w.Disagree {
			if said[i] = first; first == t {
				said[i] = second
			}
		}
	}
	in.Said = said
	return in, others, nil
}

// twoLikeliest returns the two likeliest tokens that do not end a text.
func twoLikeliest(m *model.Model, logits []float32) (first, second tandem.Token) {
	first, second = -1, -1
	for i := range logits {
		t := tandem.Token(i)
		switch {
		case m.Tokenizer().EOG(t):
		case first < 0 || logits[i] > logits[first]:
			first, second = t, first
		case second < 0 || logits[i] > logits[second]:
			second = t
		}
	}
	return first, second
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/decoder"
	"tandem/model"
	"tandem/model/chat"
)

// choice is a moment of an answer at which one of the contexts should decide: those that hold what comes
// next, or the two without a document when none does.
type choice struct {
	evidence []decoder.Evidence // of the passages of both sides
	echo     float64            // the scorer's relevance of the question itself
	right    []bool             // which of them hold it
	known    bool               // any does
}

// fit finds the constants of the reader weights with the least log-loss for the right contexts.
func (c *qualityCmd) fit(a *cli.App, q quality, trials []trial) error {
	q.cfg.Weights = decoder.Reader
	if _, ok := q.cfg.Model.Tokenizer().Unsupported(); !ok {
		return errors.New("this model does not say what its passages support: there is nothing to fit")
	}
	bar := progress(a, "questions")
	var choices []choice
	for i, t := range trials {
		bar(i, len(trials))
		more, err := q.choices(a, t)
		if err != nil {
			return fmt.Errorf("%q: %w", t.Question, err)
		}
		choices = append(choices, more...)
	}
	a.Clear()
	best := decoder.Reader.Support
	least := loss(choices, best)
	for step := 1.0; step > 0.005; step /= 2 {
		for better := true; better; {
			better = false
			for k := range 4 {
				for _, by := range []float64{-step, step} {
					s := best
					x := []*float64{&s.Lexical, &s.Reader, &s.Nothing, &s.Echo}[k]
					*x += by
					if l := loss(choices, s); (k == 2 || *x >= 0) && l < least {
						best, least, better = s, l, true
					}
				}
			}
		}
	}
	report := map[string]any{"lexical": best.Lexical, "reader": best.Reader, "nothing": best.Nothing, "echo": best.Echo, "log_loss": least,
		"log_loss_before": loss(choices, decoder.Reader.Support), "choices": len(choices)}
	for _, s := range []struct {
		name string
		of   decoder.Support
	}{{"fitted", best}, {"lexical_alone", decoder.Support{Lexical: 1, Nothing: -100}}} {
		right, refused, invented := hits(choices, s.of)
		report[s.name+"_right"], report[s.name+"_refused"], report[s.name+"_invented"] = right, refused, invented
	}
	return a.JSON(report)
}

// choices reads the evidence where each sentence of the expected answer begins and before its value.
func (q quality) choices(ctx context.Context, t trial) ([]choice, error) {
	var ds [2]*decoder.Decoder
	for i := range ds {
		d, err := q.open(ctx, t.asked, t.sides[i], 0)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		ds[i] = d
	}
	values := t.Values
	if len(values) == 0 {
		values = []string{"unknown"}
	}
	var out []choice
	from := 0
	for _, v := range values {
		at := strings.Index(t.Answer[from:], v)
		if at < 0 {
			return nil, fmt.Errorf("the answer %q lacks %q", t.Answer, v)
		}
		at += from
		first, _, _ := strings.Cut(strings.TrimSpace(t.Answer[from:at]), " ")
		for _, prefix := range []string{strings.TrimSpace(t.Answer[:from]) + " " + first, strings.TrimSpace(t.Answer[:at])} {
			ids := answerTokens(q.cfg.Model, prefix)
			c := choice{}
			for i, d := range ds {
				if _, err := d.Next(ctx, 0, ids); err != nil {
					return nil, err
				}
				evidence, echo := d.Evidence()
				c.evidence, c.echo = append(c.evidence, evidence...), echo
				for _, p := range t.sides[i] {
					right := len(t.Values) > 0 && holdsWord(p.Title+"\n"+p.Text, v)
					c.right, c.known = append(c.right, right), c.known || right
				}
			}
			out = append(out, c)
		}
		from = at + len(v)
		for from < len(t.Answer) && t.Answer[from] != ' ' {
			from++
		}
	}
	return out, nil
}

// answerTokens are the tokens of the beginning of an answer.
func answerTokens(m *model.Model, text string) []tandem.Token {
	tok := m.Tokenizer()
	ids := chat.Encode(tok, " "+strings.TrimSpace(text))
	if bos, ok := tok.BOS(); ok && len(ids) > 0 && ids[0] == bos {
		ids = ids[1:]
	}
	return ids
}

// relevances returns R of the passages and last of the two contexts without one.
func (c choice) relevances(s decoder.Support) []float64 {
	out := make([]float64, 0, len(c.evidence)+1)
	for _, e := range c.evidence {
		out = append(out, s.Lexical*e.Lexical+s.Reader*e.Support)
	}
	return append(out, s.Nothing+s.Echo*c.echo+math.Ln2)
}

// loss is the mean negative log of the right contexts' share.
func loss(choices []choice, s decoder.Support) (sum float64) {
	for _, c := range choices {
		all, right := math.Inf(-1), math.Inf(-1)
		r := c.relevances(s)
		for i, x := range r {
			all = logSum(all, x)
			if i < len(c.right) && c.right[i] || i == len(c.right) && !c.known {
				right = logSum(right, x)
			}
		}
		sum += all - right
	}
	return sum / float64(len(choices))
}

// hits returns how often a right context has the greatest share, how often an answerable choice is refused,
// and how often one that nothing supports is not.
func hits(choices []choice, s decoder.Support) (right, refused, invented float64) {
	known, unknown := 0.0, 0.0
	for _, c := range choices {
		r := c.relevances(s)
		best := 0
		for i, x := range r {
			if x > r[best] {
				best = i
			}
		}
		none := best == len(c.right)
		switch {
		case c.known:
			known++
			if none {
				refused++
			} else if c.right[best] {
				right++
			}
		default:
			unknown++
			if !none {
				invented++
			}
		}
	}
	return right / max(known, 1), refused / max(known, 1), invented / max(unknown, 1)
}

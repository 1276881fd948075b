package quality

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"tandem"
	"tandem/decoder"
	"tandem/model"
	"tandem/model/chat"
)

// choice is a position in an answer at which certain contexts should have the most weight: those whose passages contain
// what comes next or, if none does, the two contexts without a document.
type choice struct {
	evidence []decoder.Evidence // of the passages of both sides
	echo     float64            // the scorer's relevance of the question itself
	right    []bool             // which passages contain what comes next
	known    bool               // some passage does
}

// Constants is the result of Fit.
type Constants struct {
	Lexical float64 `json:"lexical"`
	Support float64 `json:"reader"`
	Nothing float64 `json:"nothing"`
	Echo    float64 `json:"echo"`
	Loss    float64 `json:"log_loss"`
	Before  float64 `json:"log_loss_before"` // of the present constants
	Choices int     `json:"choices"`

	// How often a right context weighs most, and how often an answerable choice is refused, both as shares of the
	// answerable choices; how often an unanswerable one is not refused, as a share of these.
	Right        float64 `json:"fitted_right"`
	Refused      float64 `json:"fitted_refused"`
	Invented     float64 `json:"fitted_invented"`
	LexicalRight float64 `json:"lexical_alone_right"`

	LexicalRefused  float64 `json:"lexical_alone_refused"`
	LexicalInvented float64 `json:"lexical_alone_invented"`
}

// Fit finds the constants of decoder.Supported with the least log-loss for the right contexts, by coordinate descent from
// the present ones.
func (a Answerer) Fit(ctx context.Context, trials []Trial, progress func(done, total int)) (c Constants, err error) {
	a.Config.Weights = decoder.Supported
	if _, ok := a.Config.Model.Tokenizer().Unsupported(); !ok {
		return c, errors.New("this model does not say what its passages support, so there is nothing to fit")
	}
	var choices []choice
	for i, t := range trials {
		progress(i, len(trials))
		more, err := a.choices(ctx, t)
		if err != nil {
			return c, fmt.Errorf("%q: %w", t.Text, err)
		}
		choices = append(choices, more...)
	}
	best, least := descend(choices, decoder.Supported.Constants)
	c = Constants{
		Lexical: best.Lexical, Support: best.Support, Nothing: best.Nothing, Echo: best.Echo,
		Loss: least, Before: loss(choices, decoder.Supported.Constants), Choices: len(choices),
	}
	c.Right, c.Refused, c.Invented = hits(choices, best)
	c.LexicalRight, c.LexicalRefused, c.LexicalInvented = hits(choices, decoder.SupportConstants{Lexical: 1, Nothing: -100})
	return c, nil
}

// descend changes one constant at a time, in steps that halve, as long as the loss falls. All but Nothing stay at 0 or
// above.
func descend(choices []choice, best decoder.SupportConstants) (decoder.SupportConstants, float64) {
	least := loss(choices, best)
	for step := 1.0; step > 0.005; step /= 2 {
		for better := true; better; {
			better = false
			for k := range 4 {
				for _, by := range []float64{-step, step} {
					s := best
					x := []*float64{&s.Lexical, &s.Support, &s.Nothing, &s.Echo}[k]
					*x += by
					if l := loss(choices, s); (k == 2 || *x >= 0) && l < least {
						best, least, better = s, l, true
					}
				}
			}
		}
	}
	return best, least
}

// choices returns the evidence at two points of each sentence of the expected answer: after its first word and before its
// value.
func (a Answerer) choices(ctx context.Context, t Trial) ([]choice, error) {
	var ds [2]*decoder.Decoder
	for i := range ds {
		d, err := a.open(ctx, t.Question, t.Sides[i], 0)
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
			ids := answerTokens(a.Config.Model, prefix)
			c := choice{}
			for i, d := range ds {
				if _, err := d.Next(ctx, 0, ids); err != nil {
					return nil, err
				}
				evidence, echo := d.Evidence()
				c.evidence, c.echo = append(c.evidence, evidence...), echo
				for _, p := range t.Sides[i] {
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

// answerTokens returns the tokens of the beginning of an answer.
func answerTokens(m *model.Model, text string) []tandem.Token {
	tok := m.Tokenizer()
	ids := chat.Encode(tok, " "+strings.TrimSpace(text))
	if bos, ok := tok.BOS(); ok && len(ids) > 0 && ids[0] == bos {
		ids = ids[1:]
	}
	return ids
}

// relevances returns the relevance of each passage and, last, that of the two contexts without a passage together.
func (c choice) relevances(s decoder.SupportConstants) []float64 {
	out := make([]float64, 0, len(c.evidence)+1)
	for _, e := range c.evidence {
		out = append(out, s.Lexical*e.Lexical+s.Support*e.Verdict)
	}
	return append(out, s.Nothing+s.Echo*c.echo+math.Ln2)
}

// loss returns the mean negative log of the right contexts' share.
func loss(choices []choice, s decoder.SupportConstants) (sum float64) {
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

// hits returns how often a right context has the largest share, how often an answerable choice is refused, and how often
// an unanswerable one is not.
func hits(choices []choice, s decoder.SupportConstants) (right, refused, invented float64) {
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

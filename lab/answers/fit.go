package answers

import (
	"context"
	"errors"
	"fmt"

	"tandem/decoder"
	"tandem/decoder/extract"
	"tandem/retrieval/search"
)

// Case is a question of one part with what each retrieved passage of both sides would answer, to fit constants to.
type Case struct {
	Set        string
	Answerable bool
	Choices    []extract.Choice
	Value      []bool // which choices are right with their value
	Sentence   []bool // and which with the sentence around it
}

// Cases reads the questions of a set. Those of several parts are left out.
func Cases(ctx context.Context, c extract.Config, s Set, documents int, o search.Options) (out []Case, err error) {
	for _, w := range s.Worlds {
		l, err := Open(ctx, w, o)
		if err != nil {
			return nil, err
		}
		for _, q := range w.Questions {
			if len(decoder.Clauses(decoder.Request{Question: q.Text, History: q.node().History})) != 1 || len(q.Earlier) > 0 {
				continue
			}
			k, err := l.newCase(ctx, c, q, documents)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("%q: %w", q.Text, err), l.Close())
			}
			k.Set = s.Name
			out = append(out, k)
		}
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (l *Library) newCase(ctx context.Context, c extract.Config, q Question, documents int) (k Case, err error) {
	k.Answerable = q.Answerable()
	for _, x := range []*search.Index{l.Device, l.Cloud} {
		found, err := q.search(ctx, x, documents)
		if err != nil {
			return k, err
		}
		choices, err := c.Choices(q.Text, found)
		if err != nil {
			return k, err
		}
		for _, choice := range choices {
			k.Choices = append(k.Choices, choice)
			k.Value = append(k.Value, k.Answerable && Judge(q, Answer{Text: choice.Value}).Outcome == Right)
			k.Sentence = append(k.Sentence, k.Answerable && Judge(q, Answer{Text: choice.Sentence}).Outcome == Right)
		}
	}
	return k, nil
}

// Fitted is what constants make of the cases of a set: shares of the answerable ones, but Wrong of all and Refused of the
// unanswerable ones.
type Fitted struct {
	Set          string  `json:"set"`
	N            int     `json:"n"`
	Right        float64 `json:"right"`
	Wrong        float64 `json:"wrong"`
	Refused      float64 `json:"refused"`
	unanswerable int
}

// Worth is what a fit maximises: a wrong answer costs more than a right one brings.
func (f Fitted) Worth() float64 { return f.Right - 1.5*f.Wrong + .3*f.Refused }

// Apply returns what constants make of the cases, by set.
func Apply(k extract.Constants, cases []Case) (out []Fitted) {
	at := map[string]int{}
	for _, c := range cases {
		i, ok := at[c.Set]
		if !ok {
			i = len(out)
			at[c.Set], out = i, append(out, Fitted{Set: c.Set})
		}
		f := &out[i]
		f.N++
		if !c.Answerable {
			f.unanswerable++
		}
		switch right, answered := c.outcome(k); {
		case right:
			f.Right++
		case answered:
			f.Wrong++
		case !c.Answerable:
			f.Refused++
		}
	}
	for i := range out {
		f := &out[i]
		f.Right /= max(1, float64(f.N-f.unanswerable))
		f.Wrong /= float64(f.N)
		f.Refused /= max(1, float64(f.unanswerable))
	}
	return out
}

// outcome reports whether the most relevant choice is right, and whether there is one above Nothing.
func (c Case) outcome(k extract.Constants) (right, answered bool) {
	best, top := -1, k.Nothing
	for i, choice := range c.Choices {
		if r := k.Relevance(choice.Evidence); r > top && choice.Value != "" {
			best, top = i, r
		}
	}
	if best < 0 {
		return false, false
	}
	if choice := c.Choices[best]; !choice.Form && choice.Share < k.Sure {
		return c.Sentence[best], true
	}
	return c.Value[best], true
}

// Fit returns the constants that are worth most on the mean of the sets, by coordinate descent from k in steps that halve.
func Fit(k extract.Constants, cases []Case) extract.Constants {
	worth := func(k extract.Constants) (sum float64) {
		all := Apply(k, cases)
		for _, f := range all {
			sum += f.Worth() / float64(len(all))
		}
		return sum
	}
	most := worth(k)
	for step := 1.0; step > 0.04; step /= 2 {
		for better := true; better; {
			better = false
			for i := range 4 {
				for _, by := range []float64{-step, step} {
					n := k
					x := []*float64{&n.Reader, &n.Lexical, &n.Coverage, &n.Nothing}[i]
					*x += by
					if w := worth(n); (i == 3 || *x >= 0) && w > most+1e-9 {
						k, most, better = n, w, true
					}
				}
			}
		}
	}
	return k
}

package answers

import (
	"context"
	"errors"
	"fmt"
	"math"

	"tandem/decoder/extract"
	"tandem/decoder/question"
)

// Case is a question of one part with what each retrieved passage of both sides would answer, to fit constants to.
type Case struct {
	Set           string
	Answerable    bool
	Choices       []extract.Choice
	ValueRight    []bool // which choices are right with their value
	SentenceRight []bool // and which with the sentence around it
}

// Cases reads the questions of a set. Those of several parts are left out.
func Cases(ctx context.Context, c extract.Config, s Set, documents int, o Options) (out []Case, err error) {
	for _, w := range s.Worlds {
		l, err := Open(ctx, w, o)
		if err != nil {
			return nil, err
		}
		for _, q := range w.Questions {
			if !q.hasOnePart() {
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

// hasOnePart reports whether a question neither follows another nor consists of several.
func (q Question) hasOnePart() bool {
	return len(q.Earlier) == 0 && len(question.Asked{Text: q.Text, History: q.node().History}.Clauses()) == 1
}

func (l *Library) newCase(ctx context.Context, c extract.Config, q Question, documents int) (k Case, err error) {
	k.Answerable = q.Answerable()
	for _, x := range []Index{l.Device, l.Cloud} {
		found, err := q.search(ctx, x, documents)
		if err != nil {
			return k, err
		}
		choices, err := c.Choices(ctx, q.Text, found)
		if err != nil {
			return k, err
		}
		for _, choice := range choices {
			k.Choices = append(k.Choices, choice)
			k.ValueRight = append(k.ValueRight, k.Answerable && Judge(q, Answer{Text: choice.Value}).Outcome == Right)
			k.SentenceRight = append(k.SentenceRight, k.Answerable && Judge(q, Answer{Text: choice.Sentence}).Outcome == Right)
		}
	}
	return k, nil
}

// FitResult holds the results of constants on the cases of a set. They are shares of the answerable cases, except Wrong (of
// all cases) and Refused (of the unanswerable ones).
type FitResult struct {
	Set          string  `json:"set"`
	N            int     `json:"n"`
	Right        float64 `json:"right"`
	Wrong        float64 `json:"wrong"`
	Refused      float64 `json:"refused"`
	unanswerable int
}

// Apply returns the results of constants on the cases, by set.
func Apply(k extract.Constants, cases []Case) (out []FitResult) {
	at := map[string]int{}
	for _, c := range cases {
		i, ok := at[c.Set]
		if !ok {
			i = len(out)
			at[c.Set], out = i, append(out, FitResult{Set: c.Set})
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
	top := k.Nothing
	for i, choice := range c.Choices {
		whole, r := k.Judge(choice.Evidence)
		if choice.Value == "" || r <= top {
			continue
		}
		top, answered, right = r, true, c.ValueRight[i]
		if whole {
			right = c.SentenceRight[i]
		}
	}
	return right, answered
}

// Fit returns the constants with the curves that the cases' choices make likeliest, each set having the same weight. Nothing
// and Bare stay as they are: they say what a wrong answer costs.
func Fit(k extract.Constants, cases []Case) extract.Constants {
	k.Value = logistic(cases, func(c Case, i int) bool { return c.ValueRight[i] })
	k.Sentence = logistic(cases, func(c Case, i int) bool { return c.SentenceRight[i] })
	return k
}

// factors is how many weights a curve has.
const factors = 8

// ridge is the strength of the L2 penalty that keeps the weights small when there are few choices: the square of a
// weight counts as much as the loss of this many choices.
const ridge = 1

// logistic fits a curve to the choices by Newton's method; its weights are rounded to three places. A choice weighs as much
// as its set has few.
func logistic(cases []Case, right func(Case, int) bool) extract.Curve {
	count := map[string]int{}
	for _, c := range cases {
		count[c.Set] += len(c.Choices)
	}
	all := 0
	for _, n := range count {
		all += n
	}
	w := [factors]float64{}
	for range 30 {
		gradient, curvature := [factors]float64{}, [factors][factors]float64{}
		for i := range factors {
			gradient[i], curvature[i][i] = -ridge*w[i], ridge
		}
		for _, c := range cases {
			weight := float64(all) / float64(len(count)*max(1, count[c.Set]))
			for i, choice := range c.Choices {
				x, z := choice.Numbers(), 0.0
				for j := range factors {
					z += w[j] * x[j]
				}
				p, y := 1/(1+math.Exp(-z)), 0.0
				if right(c, i) {
					y = 1
				}
				for j := range factors {
					gradient[j] += weight * (y - p) * x[j]
					for l := range factors {
						curvature[j][l] += weight * p * (1 - p) * x[j] * x[l]
					}
				}
			}
		}
		for i, step := range solve(curvature, gradient) {
			w[i] += step
		}
	}
	for i := range w {
		w[i] = math.Round(1000*w[i]) / 1000
	}
	return extract.Curve{Bias: w[0], Reader: w[1], Lead: w[2], Coverage: w[3], Rank: w[4], Share: w[5], Length: w[6], Whole: w[7]}
}

// solve returns x with a·x = b, for a positive definite a, by elimination.
func solve(a [factors][factors]float64, b [factors]float64) (x [factors]float64) {
	for i := range factors {
		for j := i + 1; j < factors; j++ {
			by := a[j][i] / a[i][i]
			for l := i; l < factors; l++ {
				a[j][l] -= by * a[i][l]
			}
			b[j] -= by * b[i]
		}
	}
	for i := factors - 1; i >= 0; i-- {
		x[i] = b[i]
		for j := i + 1; j < factors; j++ {
			x[i] -= a[i][j] * x[j]
		}
		x[i] /= a[i][i]
	}
	return x
}

package answers

import (
	"math/rand/v2"
	"testing"

	"tandem/decoder/extract"
)

// drawn returns cases in which only the reader's probability tells the right passage; what the scorer says is noise.
func drawn(n int) (out []Case) {
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		c := Case{Set: "drawn", Answerable: r.IntN(4) > 0}
		right := r.IntN(4)
		for i := range 4 {
			none := .9 + .09*r.Float64()
			is := c.Answerable && i == right
			if is {
				none = .2 * r.Float64()
			}
			c.Choices = append(c.Choices, extract.Choice{
				Evidence: extract.Evidence{None: none, Lexical: 4 * r.Float64(), Echo: 4, Share: 1}, Value: "x", Sentence: "x",
			})
			c.ValueRight, c.SentenceRight = append(c.ValueRight, is), append(c.SentenceRight, is)
		}
		out = append(out, c)
	}
	return out
}

func TestFitFindsWhatTells(t *testing.T) {
	cases := drawn(400)
	noise := extract.Curve{Reader: .1, Coverage: 3}
	bad := extract.Constants{Value: noise, Sentence: noise, Nothing: -0.6}
	before, k := Apply(bad, cases)[0], Fit(bad, cases)
	after := Apply(k, cases)[0]
	if after.Right <= before.Right || after.Right < .95 || after.Refused < .95 || after.Wrong > .03 {
		t.Errorf("before %+v, after %+v with %+v", before, after, k)
	}
}

func TestApplyCounts(t *testing.T) {
	cases := []Case{
		{Set: "a", Answerable: true, Choices: []extract.Choice{{Evidence: extract.Evidence{None: .01, Share: .9}, Value: "v"}}, ValueRight: []bool{true}, SentenceRight: []bool{false}},
		{Set: "a", Answerable: true, Choices: []extract.Choice{{Evidence: extract.Evidence{None: .01, Share: .1}, Value: "v"}}, ValueRight: []bool{true}, SentenceRight: []bool{false}},
		{Set: "a", Answerable: false, Choices: []extract.Choice{{Evidence: extract.Evidence{None: .99, Share: .9}, Value: "v"}}, ValueRight: []bool{false}, SentenceRight: []bool{false}},
		{Set: "b", Answerable: false, Choices: []extract.Choice{{Evidence: extract.Evidence{None: .01, Share: 1}, Value: "v"}}, ValueRight: []bool{false}, SentenceRight: []bool{false}},
	}
	k := extract.Constants{Value: extract.Curve{Reader: 1, Share: 1}, Sentence: extract.Curve{Reader: 1}, Bare: .05}
	got := Apply(k, cases)
	if len(got) != 2 || got[0].Right != .5 || got[0].Refused != 1 || got[1].Wrong != 1 || got[1].Refused != 0 {
		t.Errorf("made %+v", got)
	}
}

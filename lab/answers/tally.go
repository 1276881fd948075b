package answers

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Rate is a mean with its 95 % confidence interval.
type Rate struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Share is the rate of k of n with Wilson's interval (Wilson 1927; Newcombe 1998, method 3).
func Share(k, n int) Rate {
	if n == 0 {
		return Rate{}
	}
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return Rate{n, p, max(0, middle-half), min(1, middle+half)}
}

// Mean is the mean of values with the interval of the percentile bootstrap. The same seed gives the same interval.
func Mean(values []float64, seed uint64) Rate {
	n := len(values)
	if n == 0 {
		return Rate{}
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	r := rand.New(rand.NewPCG(seed, 0))
	means := make([]float64, 1000)
	for i := range means {
		for range n {
			means[i] += values[r.IntN(n)]
		}
		means[i] /= float64(n)
	}
	slices.Sort(means)
	return Rate{n, sum / float64(n), means[25], means[974]}
}

// Result holds the scores of a method on a set, or on the questions of one kind. The rates of Exact to WronglyUnknown are
// of the answerable questions, RightlyUnknown of the others, Invented and Wrong of all.
type Result struct {
	Set            string          `json:"set"`
	Method         string          `json:"method"`
	Kind           string          `json:"kind,omitempty"` // empty for all
	N              int             `json:"n"`
	Exact          Rate            `json:"exact"`
	Holds          Rate            `json:"holds"`
	F1             Rate            `json:"f1"`
	Sentence       Rate            `json:"sentence"` // of the questions whose sentence is known
	First          Rate            `json:"first"`    // likewise: the sentence was the first that was shown
	Read           Rate            `json:"read"`     // likewise: the sentence was among the passages that were read
	WronglyUnknown Rate            `json:"wrongly_unknown"`
	RightlyUnknown Rate            `json:"rightly_unknown"`
	Invented       Rate            `json:"invented"`       // answers with a word from nowhere, right or wrong
	WrongInvented  Rate            `json:"wrong_invented"` // those of them that do not hold the answer
	Wrong          Rate            `json:"wrong_span"`     // words of the documents that are not the answer
	Doubted        Rate            `json:"doubted"`        // of the right answers: below it stands a sentence that says something else
	Spared         Rate            `json:"spared"`         // of the wrong answers to answerable questions: that sentence holds the answer
	Seconds        float64         `json:"seconds_mean"`
	Median         float64         `json:"seconds_median"`
	Lost           map[Stage]int   `json:"lost"` // where answerable questions were lost whose value is not right
	Words          map[string]int  `json:"invented_words,omitempty"`
	ConfidenceBins []ConfidenceBin `json:"sure,omitempty"`
	Kinds          []Result        `json:"kinds,omitempty"`
}

// A ConfidenceBin says how many answers were right of those that claim a probability between Low and High (calibration).
type ConfidenceBin struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Claim float64 `json:"claim_mean"`
	Right Rate    `json:"right"`
}

// Tally gathers the scores of a method on a set.
type Tally struct {
	set, method string
	all         []scoredAnswer
}

type scoredAnswer struct {
	q     Question
	s     Score
	sure  float64
	took  time.Duration
	stage Stage
}

// NewTally returns an empty tally.
func NewTally(set, method string) *Tally { return &Tally{set: set, method: method} }

// Add counts an answer to a question. stage says where it was lost, if it was.
func (t *Tally) Add(q Question, a Answer, s Score, stage Stage) {
	t.all = append(t.all, scoredAnswer{q, s, a.Confidence, a.Took, stage})
}

// Result sums up, with the kinds of questions if there are several.
func (t *Tally) Result(seed uint64) Result {
	out := t.result(t.all, seed)
	out.ConfidenceBins = confidenceBins(t.all)
	kinds := map[string][]scoredAnswer{}
	for _, a := range t.all {
		kinds[a.q.Kind] = append(kinds[a.q.Kind], a)
	}
	if len(kinds) < 2 {
		return out
	}
	for kind, of := range kinds {
		r := t.result(of, seed)
		r.Kind = kind
		out.Kinds = append(out.Kinds, r)
	}
	slices.SortFunc(out.Kinds, func(a, b Result) int { return cmp.Or(b.N-a.N, cmp.Compare(a.Kind, b.Kind)) })
	return out
}

func (t *Tally) result(of []scoredAnswer, seed uint64) Result {
	answerable := filter(of, func(a scoredAnswer) bool { return a.q.Answerable() })
	unanswerable := filter(of, func(a scoredAnswer) bool { return !a.q.Answerable() })
	known := filter(answerable, func(a scoredAnswer) bool { return a.q.KnowsSentences() })
	holding := filter(answerable, func(a scoredAnswer) bool { return a.s.Holds })
	missed := filter(answerable, func(a scoredAnswer) bool { return a.s.Outcome == Wrong || a.s.Outcome == WrongWords })
	hasOutcome := func(o Outcome) func(scoredAnswer) bool { return func(a scoredAnswer) bool { return a.s.Outcome == o } }
	out := Result{
		Set: t.set, Method: t.method, N: len(of),
		Exact:          share(answerable, func(a scoredAnswer) bool { return a.s.Exact }),
		Holds:          Share(len(holding), len(answerable)),
		Sentence:       share(known, func(a scoredAnswer) bool { return a.s.Sentence }),
		First:          share(known, func(a scoredAnswer) bool { return a.s.First }),
		Read:           share(known, func(a scoredAnswer) bool { return a.s.Read }),
		WronglyUnknown: share(answerable, hasOutcome(SaysUnknown)),
		RightlyUnknown: share(unanswerable, hasOutcome(Right)),
		Invented:       share(of, func(a scoredAnswer) bool { return len(a.s.Invented) > 0 }),
		WrongInvented:  share(of, hasOutcome(WrongWords)),
		Wrong:          share(of, hasOutcome(Wrong)),
		Doubted:        share(holding, func(a scoredAnswer) bool { return a.s.Doubted }),
		Spared:         share(missed, func(a scoredAnswer) bool { return a.s.Spared }),
		Lost:           map[Stage]int{},
		Words:          map[string]int{},
	}
	var f1 []float64
	for _, a := range answerable {
		f1 = append(f1, a.s.F1)
		if a.s.Outcome != Right && a.stage != "" {
			out.Lost[a.stage]++
		}
	}
	out.F1 = Mean(f1, seed)
	for _, a := range of {
		for _, w := range a.s.Invented {
			out.Words[w]++
		}
	}
	out.Seconds, out.Median = meanAndMedianSeconds(of)
	return out
}

// filter returns the answers for which a condition holds.
func filter(of []scoredAnswer, holds func(scoredAnswer) bool) (out []scoredAnswer) {
	for _, a := range of {
		if holds(a) {
			out = append(out, a)
		}
	}
	return out
}

// share returns the share of answers for which a condition holds.
func share(of []scoredAnswer, holds func(scoredAnswer) bool) Rate {
	return Share(len(filter(of, holds)), len(of))
}

// meanAndMedianSeconds returns how long answers took, 0 if there are none.
func meanAndMedianSeconds(of []scoredAnswer) (mean, median float64) {
	if len(of) == 0 {
		return 0, 0
	}
	var took []float64
	sum := 0.0
	for _, a := range of {
		took = append(took, a.took.Seconds())
		sum += a.took.Seconds()
	}
	slices.Sort(took)
	return sum / float64(len(took)), took[len(took)/2]
}

// confidenceBins compares the claimed probabilities with the share of right answers, in four intervals of the claim.
func confidenceBins(of []scoredAnswer) []ConfidenceBin {
	const parts = 4
	var n, right [parts]int
	var claims [parts]float64
	for _, a := range of {
		if a.sure > 0 {
			i := min(int(a.sure*parts), parts-1)
			n[i]++
			if a.s.Outcome == Right {
				right[i]++
			}
			claims[i] += a.sure
		}
	}
	var out []ConfidenceBin
	for i := range parts {
		if n[i] > 0 {
			out = append(out, ConfidenceBin{float64(i) / parts, float64(i+1) / parts, claims[i] / float64(n[i]), Share(right[i], n[i])})
		}
	}
	return out
}

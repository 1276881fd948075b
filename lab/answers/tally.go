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
	Set            string         `json:"set"`
	Method         string         `json:"method"`
	Kind           string         `json:"kind,omitempty"` // empty for all
	N              int            `json:"n"`
	Exact          Rate           `json:"exact"`
	Holds          Rate           `json:"holds"`
	F1             Rate           `json:"f1"`
	Sentence       Rate           `json:"sentence"` // of the questions whose sentence is known
	First          Rate           `json:"first"`    // likewise: the sentence was the first that was shown
	Read           Rate           `json:"read"`     // likewise: the sentence was among the passages that were read
	WronglyUnknown Rate           `json:"wrongly_unknown"`
	RightlyUnknown Rate           `json:"rightly_unknown"`
	Invented       Rate           `json:"invented"`       // answers with a word from nowhere, right or wrong
	WrongInvented  Rate           `json:"wrong_invented"` // those of them that do not hold the answer
	Wrong          Rate           `json:"wrong_span"`     // words of the documents that are not the answer
	Doubted        Rate           `json:"doubted"`        // of the right answers: below it stands a sentence that says something else
	Spared         Rate           `json:"spared"`         // of the wrong answers to answerable questions: that sentence holds the answer
	Seconds        float64        `json:"seconds_mean"`
	Median         float64        `json:"seconds_median"`
	Lost           map[Stage]int  `json:"lost"` // where answerable questions were lost whose value is not right
	Words          map[string]int `json:"invented_words,omitempty"`
	Sure           []Sureness     `json:"sure,omitempty"`
	Kinds          []Result       `json:"kinds,omitempty"`
}

// Sureness says how many answers were right of those that claim a probability between Low and High (calibration).
type Sureness struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Claim float64 `json:"claim_mean"`
	Right Rate    `json:"right"`
}

// Tally gathers the scores of a method on a set.
type Tally struct {
	set, method string
	all         []tallied
}

type tallied struct {
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
	t.all = append(t.all, tallied{q, s, a.Sure, a.Took, stage})
}

// Result sums up, with the kinds of questions if there are several.
func (t *Tally) Result(seed uint64) Result {
	out := t.result(t.all, seed)
	out.Sure = sureness(t.all)
	kinds := map[string][]tallied{}
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

func (t *Tally) result(of []tallied, seed uint64) Result {
	out := Result{Set: t.set, Method: t.method, N: len(of), Lost: map[Stage]int{}, Words: map[string]int{}}
	var answerable, known, exact, holds, sentence, first, read, unknown, refused, invented, wrongInvented, wrong, missed, doubted, spared int
	var f1, took []float64
	for _, a := range of {
		took = append(took, a.took.Seconds())
		invented += count(len(a.s.Invented) > 0)
		for _, w := range a.s.Invented {
			out.Words[w]++
		}
		wrongInvented += count(a.s.Outcome == WrongWords)
		wrong += count(a.s.Outcome == Wrong)
		if !a.q.Answerable() {
			refused += count(a.s.Outcome == Right)
			continue
		}
		answerable++
		exact, holds, unknown = exact+count(a.s.Exact), holds+count(a.s.Holds), unknown+count(a.s.Outcome == SaysUnknown)
		f1 = append(f1, a.s.F1)
		doubted, spared = doubted+count(a.s.Holds && a.s.Doubted), spared+count(a.s.Spared)
		missed += count(a.s.Outcome == Wrong || a.s.Outcome == WrongWords)
		if a.q.KnowsSentences() {
			known, sentence, first, read = known+1, sentence+count(a.s.Sentence), first+count(a.s.First), read+count(a.s.Read)
		}
		if a.s.Outcome != Right && a.stage != "" {
			out.Lost[a.stage]++
		}
	}
	out.Exact, out.Holds, out.F1 = Share(exact, answerable), Share(holds, answerable), Mean(f1, seed)
	out.Sentence, out.First, out.Read = Share(sentence, known), Share(first, known), Share(read, known)
	out.WronglyUnknown, out.RightlyUnknown = Share(unknown, answerable), Share(refused, len(of)-answerable)
	out.Invented, out.WrongInvented, out.Wrong = Share(invented, len(of)), Share(wrongInvented, len(of)), Share(wrong, len(of))
	out.Doubted, out.Spared = Share(doubted, holds), Share(spared, missed)
	if len(took) > 0 {
		sum := 0.0
		for _, s := range took {
			sum += s
		}
		slices.Sort(took)
		out.Seconds, out.Median = sum/float64(len(took)), took[len(took)/2]
	}
	return out
}

// sureness compares the claimed probabilities with the share of right answers, in four intervals of the claim.
func sureness(of []tallied) []Sureness {
	const parts = 4
	var n, right [parts]int
	var claims [parts]float64
	for _, a := range of {
		if a.sure > 0 {
			i := min(int(a.sure*parts), parts-1)
			n[i]++
			right[i] += count(a.s.Outcome == Right)
			claims[i] += a.sure
		}
	}
	var out []Sureness
	for i := range parts {
		if n[i] > 0 {
			out = append(out, Sureness{float64(i) / parts, float64(i+1) / parts, claims[i] / float64(n[i]), Share(right[i], n[i])})
		}
	}
	return out
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

package quality

import (
	"slices"
	"strings"

	"tandem/internal/refusal"
	"tandem/lab/answers"
)

// Result holds the scores of a method on a set of questions, as means.
type Result struct {
	Set     string  `json:"set"`
	Method  string  `json:"method"`
	Weights string  `json:"weights"`
	N       int     `json:"n"`
	Exact   float64 `json:"exact_match"`
	F1      float64 `json:"f1"`
	Holds   float64 `json:"holds"`
	Refused float64 `json:"refused"`
}

// Mean turns the counts into means.
func (r Result) Mean() Result {
	n := float64(r.N)
	r.Exact, r.F1, r.Holds, r.Refused = r.Exact/n, r.F1/n, r.Holds/n, r.Refused/n
	return r
}

// Add counts an answer and reports whether it is right.
func (r *Result) Add(q Question, answer string) bool {
	r.N++
	right, overlap := false, 0.0
	for _, gold := range q.Right() {
		if q.Kind == "xquad" {
			right = right || slices.Equal(answers.Normal(gold), answers.Normal(answer))
		} else {
			right = right || gold == answer
		}
		overlap = max(overlap, answers.F1(answer, gold))
	}
	if refusal.In(answer) {
		r.Refused++
		right = right || len(q.Values) == 0
	}
	if right {
		r.Exact++
	}
	r.F1 += overlap
	if len(q.Values) > 0 && holds(answer, q.Values) || len(q.Values) == 0 && refusal.In(answer) {
		r.Holds++
	}
	return right
}

// holds reports whether text contains every value, not as a part of a longer word or number. Without values, it reports
// whether text says "unknown".
func holds(text string, values []string) bool {
	if len(values) == 0 {
		return strings.Contains(text, "unknown")
	}
	for _, v := range values {
		if !holdsWord(text, v) {
			return false
		}
	}
	return true
}

func holdsWord(text, value string) bool {
	for at := 0; at <= len(text); {
		i := strings.Index(text[at:], value)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(value)
		if (from == 0 || !wordByte(text[from-1])) && (to == len(text) || !wordByte(text[to])) {
			return true
		}
		at = from + 1
	}
	return false
}

// wordByte reports whether b is part of a word: a letter, a digit or any byte above ASCII.
func wordByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

package answers

import (
	"math"
	"slices"
	"testing"
)

func TestJudge(t *testing.T) {
	fact := Question{Text: "When does the museum open?", Answers: []string{"9:30"}, Parts: []Part{{Answers: []string{"9:30"}, Sentence: "The museum opens at 9:30."}}}
	two := Question{Text: "When does it open and close?", Answers: []string{"9:30; 17:00"}, Parts: []Part{{Answers: []string{"9:30"}}, {Answers: []string{"17:00", "5 pm"}}}}
	why := Question{Kind: "why", Text: "Why?", Answers: []string{"because it rains"}, Parts: []Part{{Answers: []string{"because it rains"}, Sentence: "As it rains, it is closed."}}}
	yes := Question{Text: "Is it open?", YesNo: true, Answers: []string{"no"}, Parts: []Part{{Answers: []string{"no"}, Sentence: "It is closed."}}}
	nobody := Question{Text: "Who owns it?"}
	read := []string{"Museum\nThe museum opens at 9:30. It closes at 17:00.", "Cafe\nThe cafe opens at 8:00."}
	for _, c := range []struct {
		q      Question
		answer Answer
		want   Score
	}{
		{fact, Answer{Text: "9:30", Read: read}, Score{Exact: true, Holds: true, F1: 1, Read: true}},
		{fact, Answer{Text: "The museum opens at 9:30.", Read: read}, Score{Holds: true, F1: 2. / 5, Sentence: true, Read: true}},
		{fact, Answer{Text: "9:30", Shown: read[:1], Read: read}, Score{Exact: true, Holds: true, F1: 1, Sentence: true, Read: true}},
		{fact, Answer{Text: "8:00", Shown: read[1:], Read: read[1:]}, Score{Outcome: Wrong}},
		{fact, Answer{Text: "19:30", Read: read}, Score{Outcome: WrongWords, Invented: []string{"19:30"}, Read: true}},
		{fact, Answer{Text: "It opens at 9:30, Tuesdays.", Read: read}, Score{Holds: true, F1: 1. / 3, Sentence: true, Read: true, Invented: []string{"Tuesdays"}}},
		{fact, Answer{Text: "That is unknown.", Unknown: true, Read: read}, Score{Outcome: SaysUnknown, Read: true}},
		{fact, Answer{}, Score{Outcome: SaysUnknown}},
		{two, Answer{Text: "It opens at 9:30 and closes at 17:00.", Read: read}, Score{Holds: true, F1: 0.4}},
		{two, Answer{Text: "It opens at 9:30.", Read: read}, Score{Outcome: Wrong, F1: 1. / 3}},
		{two, Answer{Text: "9:30 17:00", Read: read}, Score{Exact: true, Holds: true, F1: 1}},
		{why, Answer{Text: "As it rains, it is closed.", Read: []string{"As it rains, it is closed."}}, Score{Holds: true, F1: 2. * 2 / (6 + 3), Sentence: true, Read: true}},
		{yes, Answer{Text: "No, it is closed.", Read: []string{"It is closed."}}, Score{Holds: true, F1: 2. / 5, Sentence: true, Read: true}},
		{yes, Answer{Text: "It is closed.", Read: []string{"It is closed."}}, Score{Holds: true, Sentence: true, Read: true}},
		{yes, Answer{Text: "It is no museum."}, Score{F1: 2. / 5, Outcome: WrongWords, Invented: []string{"museum"}}},
		{nobody, Answer{Text: "The owner is unknown.", Unknown: true}, Score{Invented: []string{"owner"}}},
		{Question{Text: "And now?", Earlier: []Turn{{"Who is the owner?", "Unknown."}}}, Answer{Text: "The owner is unknown.", Unknown: true}, Score{}},
		{nobody, Answer{}, Score{}},
		{nobody, Answer{Text: "The museum", Read: read}, Score{Outcome: Wrong}},
	} {
		got := Judge(c.q, c.answer)
		if math.Abs(got.F1-c.want.F1) > 1e-12 || !slices.Equal(got.Invented, c.want.Invented) {
			t.Errorf("%q to %q: F1 %v, invented %q; want %v, %q", c.answer.Text, c.q.Text, got.F1, got.Invented, c.want.F1, c.want.Invented)
		}
		got.F1, got.Invented, c.want.F1, c.want.Invented = 0, nil, 0, nil
		if got.Exact != c.want.Exact || got.Holds != c.want.Holds || got.Sentence != c.want.Sentence || got.Read != c.want.Read || got.Outcome != c.want.Outcome {
			t.Errorf("%q to %q: %+v, want %+v", c.answer.Text, c.q.Text, got, c.want)
		}
	}
}

// Newcombe 1998, Table I, method 3.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}, {20, 20, 0.8389, 1}} {
		if r := Share(c.k, c.n); math.Abs(r.Low-c.low) > 5e-5 || math.Abs(r.High-c.high) > 5e-5 || r.N != c.n {
			t.Errorf("%d of %d: %+v, want %v to %v", c.k, c.n, r, c.low, c.high)
		}
	}
	if r := Share(0, 0); r != (Rate{}) {
		t.Errorf("none of none: %+v", r)
	}
}

func TestMean(t *testing.T) {
	values := make([]float64, 400) // half 0, half 1: the mean's standard error is 0.025
	for i := range values {
		values[i] = float64(i % 2)
	}
	r := Mean(values, 1)
	if r.Mean != 0.5 || math.Abs(r.Low-0.451) > 0.01 || math.Abs(r.High-0.549) > 0.01 {
		t.Errorf("%+v", r)
	}
	if again := Mean(values, 1); again != r {
		t.Errorf("the same seed gives %+v and %+v", r, again)
	}
	if r := Mean(nil, 1); r != (Rate{}) {
		t.Errorf("of nothing: %+v", r)
	}
}

func TestTally(t *testing.T) {
	fact := Question{Kind: "fact", Parts: []Part{{Answers: []string{"x"}, Sentence: "x."}}}
	nobody := Question{Kind: "unanswerable"}
	tally := NewTally("set", "method")
	for _, c := range []struct {
		q     Question
		s     Score
		stage Stage
		sure  float64
	}{
		{fact, Score{Holds: true, Exact: true, F1: 1, Sentence: true, Read: true}, LostInReading, 1},
		{fact, Score{Holds: true, Invented: []string{"y"}}, LostInRetrieval, 0.3},
		{fact, Score{Outcome: SaysUnknown}, LostInRetrieval, 0},
		{fact, Score{Outcome: WrongWords, Invented: []string{"y", "z"}, Read: true}, LostInReading, 0.4},
		{nobody, Score{}, "", 0},
		{nobody, Score{Outcome: Wrong}, "", 0.9},
	} {
		tally.Add(c.q, Answer{Confidence: c.sure}, c.s, c.stage)
	}
	r := tally.Result(1)
	for name, c := range map[string]struct {
		got  Rate
		n    int
		mean float64
	}{
		"exact": {r.Exact, 4, 0.25}, "holds": {r.Holds, 4, 0.5}, "F1": {r.F1, 4, 0.25}, "sentence": {r.Sentence, 4, 0.25}, "read": {r.Read, 4, 0.5},
		"wrongly unknown": {r.WronglyUnknown, 4, 0.25}, "rightly unknown": {r.RightlyUnknown, 2, 0.5},
		"invented": {r.Invented, 6, 2. / 6}, "wrong and invented": {r.WrongInvented, 6, 1. / 6}, "wrong": {r.Wrong, 6, 1. / 6},
	} {
		if c.got.N != c.n || math.Abs(c.got.Mean-c.mean) > 1e-12 {
			t.Errorf("%s: %+v, want %v of %d", name, c.got, c.mean, c.n)
		}
	}
	if r.Words["y"] != 2 || r.Words["z"] != 1 || r.Lost[LostInReading] != 1 || r.Lost[LostInRetrieval] != 1 {
		t.Errorf("invented %v, lost %v", r.Words, r.Lost)
	}
	want := []ConfidenceBin{{0.25, 0.5, 0.35, Share(1, 2)}, {0.75, 1, 0.95, Share(1, 2)}}
	if len(r.ConfidenceBins) != 2 || math.Abs(r.ConfidenceBins[0].Claim-0.35) > 1e-12 || math.Abs(r.ConfidenceBins[1].Claim-0.95) > 1e-12 || r.ConfidenceBins[0].Right != want[0].Right || r.ConfidenceBins[1].Right != want[1].Right {
		t.Errorf("claims %+v, want %+v", r.ConfidenceBins, want)
	}
	if len(r.Kinds) != 2 || r.Kinds[0].Kind != "fact" || r.Kinds[1].N != 2 {
		t.Errorf("kinds %+v", r.Kinds)
	}
}

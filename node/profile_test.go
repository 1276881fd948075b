package node

import (
	"context"
	"errors"
	"testing"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu/native"
	"tandem/pair"
	"tandem/profiler"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// Lookahead covers a round trip, within bounds, and is the default while the round trip or the decoding
// delay is unknown.
func TestLookahead(t *testing.T) {
	const ms = time.Millisecond
	per := func(d time.Duration) profiler.DecodeDelay { return profiler.DecodeDelay{C: d.Seconds()} }
	for _, c := range []struct {
		p    Profile
		want int
	}{
		{Profile{}, pair.DefaultLookahead},
		{Profile{Decode: per(10 * ms)}, pair.DefaultLookahead},
		{Profile{RTT: 300 * ms}, pair.DefaultLookahead},
		{Profile{Decode: per(10 * ms), RTT: 300 * ms}, 32},
		{Profile{Decode: per(10 * ms), RTT: 1 * ms}, minLookahead},
		{Profile{Decode: per(1 * ms), RTT: 300 * ms}, tandem.MaxLookahead},
		{Profile{Decode: per(1), RTT: time.Hour}, tandem.MaxLookahead},
		{Profile{Decode: profiler.DecodeDelay{A: 0.1, B: 10}, Length: 2, RTT: 300 * ms}, 17}, // 10 ms a token of context
	} {
		if got, several := c.p.lookahead(1), c.p.lookahead(4); got != c.want || several != min(4*c.want, tandem.MaxLookahead) {
			t.Errorf("%+v: %d, want %d", c.p, got, c.want)
		}
	}
}

// The coupling is chosen by what rows and round trips cost, and only where it is asked for.
func TestCouplingIsChosen(t *testing.T) {
	const ms = time.Millisecond
	step := profiler.DecodeDelay{C: (30 * ms).Seconds()}
	for _, c := range []struct {
		p    Profile
		want tandem.Coupling
	}{
		{Profile{}, tandem.CouplingShared},
		{Profile{Decode: step, RTT: 100 * ms}, tandem.CouplingShared},
		{Profile{Decode: step, RTT: 100 * ms, FourRows: 1.1}, tandem.CouplingShared},
		{Profile{Decode: step, RTT: 10 * ms, FourRows: 3}, tandem.CouplingShared},
		{Profile{RTT: 100 * ms, FourRows: 3}, tandem.CouplingShared},
		{Profile{Decode: step, RTT: 100 * ms, FourRows: 3}, tandem.CouplingLeader},
	} {
		if got := c.p.coupling(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.p, got, c.want)
		}
	}
}

// A profile follows the measured delays of an answer (DRAGON §5.2), and only of steps that say something.
func TestProfileObserves(t *testing.T) {
	p := Profile{Decode: profiler.DecodeDelay{A: 0.001 * 200 * 200, B: 200 * 200, C: 0.01}} // 1 ms a token
	before := p
	var m measurements
	for _, out := range []decoder.Output{{Took: time.Second, Fed: 0, Length: 300}, {Took: time.Second, Fed: 7, Length: 300}, {Took: time.Second, Fed: 1}} {
		m.observe(out)
	}
	if p.learn(m); p != before {
		t.Errorf("steps that say nothing made %+v of %+v", p, before)
	}
	for n := range 400 {
		length := 300 + n%50
		m.observe(decoder.Output{Took: 10*time.Millisecond + time.Duration(length)*2*time.Millisecond, Fed: 1, Length: length})
	}
	p.learn(m)
	if got := p.Decode.At(250); got < 505*time.Millisecond || got > 515*time.Millisecond {
		t.Errorf("ĉ(250) = %v, want about 510 ms", got)
	}
	if p.Length == 0 || p.Decode.C != 0.01 {
		t.Errorf("length %d, constant %v", p.Length, p.Decode.C)
	}
}

// Without a profile the answer makes one: a constant that the slow first step does not disturb, from which
// the next answer goes on.
func TestProfileSettles(t *testing.T) {
	var p Profile
	p.learn(measurements{})
	if p.lookahead(1) != pair.DefaultLookahead || p.Decode != (profiler.DecodeDelay{}) {
		t.Errorf("nothing made %+v", p)
	}
	var first, second measurements
	for n := range 30 {
		took := 10 * time.Millisecond
		if n == 0 {
			took = time.Second
		}
		first.observe(decoder.Output{Took: took, Fed: 1, Length: 400 + n})
	}
	p.learn(first)
	if p.Decode.At(400) != 10*time.Millisecond {
		t.Errorf("ĉ(400) = %v, want 10 ms", p.Decode.At(400))
	}
	second.observe(decoder.Output{Took: 20 * time.Millisecond, Fed: 1, Length: 400})
	p.learn(second)
	if got := p.Decode.At(400); got < 10*time.Millisecond || got > 12*time.Millisecond {
		t.Errorf("a step of 20 ms made it %v", got)
	}
}

func tinyReader(t *testing.T) Local {
	t.Helper()
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Context: 1536}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return Local{Model: m, Scorer: search.Lexical()}
}

// Measure decodes after documents of several lengths with as many rows as a question has, and keeps nothing of them.
func TestMeasure(t *testing.T) {
	r := tinyReader(t)
	r.Shared, r.Memory = decoder.NewShared(1<<30), new(model.Memory)
	s := tandem.Settings{Documents: 2, Nucleus: 0.8, Support: 64, MaxTokens: 32}
	fit, samples, err := r.Measure(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Memory.Bytes(); n != 0 || r.Memory.Most() == 0 {
		t.Errorf("%d bytes of the documents stay, of at most %d", n, r.Memory.Most())
	}
	lengths := map[int]bool{}
	for _, s := range samples {
		if s.Took <= 0 || s.Length <= 0 {
			t.Errorf("sample %+v", s)
		}
		lengths[s.Length] = true
	}
	if len(samples) < 12 || len(lengths) < 8 || fit.B <= 0 {
		t.Errorf("%d samples of %d lengths: %+v", len(samples), len(lengths), fit)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := r.Measure(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// asks is a searcher that finds nothing: the first time it asks another question before, and then fails.
type asks struct {
	ask   func(context.Context) error
	asked bool
}

var errLost = errors.New("the documents are lost")

func (a *asks) Search(ctx context.Context, _ passages.Query, _ int) ([]passages.Passage, error) {
	if a.asked {
		return nil, nil
	}
	a.asked = true
	if err := a.ask(ctx); err != nil {
		return nil, err
	}
	return nil, errLost
}

// What an answer shows stays known when another ends that began before it.
func TestAnswersLearnTogether(t *testing.T) {
	d := &Device{Local: tinyReader(t)}
	ask := func(ctx context.Context) error {
		_, err := d.Ask(ctx, Question{Text: "What is the way?"}, tandem.Settings{
			Sampling: tandem.Sampling{Temperature: 1, TopP: 1, RepeatPenalty: 1}, Nucleus: 0.8, Support: 64, MaxTokens: 12, Documents: 2,
		}, func(Token) {})
		return err
	}
	d.Local.Documents = &asks{ask: ask}
	if err := ask(t.Context()); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	if d.Profile.Decode == (profiler.DecodeDelay{}) || d.Profile.Length == 0 {
		t.Errorf("what is known is %+v", d.Profile)
	}
}

package model

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem"
	"tandem/models"
	"tandem/npu/phone/plan"
)

// A simulated phone computes the same bits, with bounded memory too, and counts what its NPU does.
func TestPhoneSameBits(t *testing.T) {
	logits := func(opt Options) ([]float32, *Model) {
		m, err := OpenBytes("reader", models.Reader, opt)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		out, err := m.Forward(context.Background(), []Input{{Seq: m.NewSeq(), Tokens: []tandem.Token{1, 2, 3, 4, 5}}})
		if err != nil {
			t.Fatal(err)
		}
		return out[0], m
	}
	want, plain := logits(Options{Threads: 1})
	if _, ok := plain.Phone(); ok {
		t.Error("a phone without being asked for")
	}
	for _, opt := range []Options{{Threads: 1, Phone: "sm8750"}, {Threads: 1, Phone: "sm8650/mllm", Memory: 3 << 20}} {
		got, m := logits(opt)
		if !slices.Equal(got, want) {
			t.Errorf("%+v: other logits", opt)
		}
		s, ok := m.Phone()
		if !ok || s.Runs == 0 || s.Busy == 0 || !strings.Contains(m.Device(), "simulated") {
			t.Errorf("%+v: %+v on %s", opt, s, m.Device())
		}
	}
	if _, err := OpenBytes("reader", models.Reader, Options{Phone: "nokia"}); err == nil || !strings.Contains(err.Error(), "want one of") {
		t.Errorf("an unknown chip: %v", err)
	}
}

func phone(t *testing.T, opt Options) *Model {
	t.Helper()
	opt.Threads = 1
	m, err := OpenBytes("reader", models.Reader, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// prompts are rows of the given lengths.
func prompts(m *Model, lengths ...int) (rows []Input) {
	for i, n := range lengths {
		tokens := make([]tandem.Token, n)
		for j := range tokens {
			tokens[j] = tandem.Token((7*j + 31*i) % 500)
		}
		rows = append(rows, Input{Seq: m.NewSeq(), Tokens: tokens})
	}
	return rows
}

// Whatever the strategy, a phone's prefill of several rows gives the bits of plain ones and leaves the same keys and
// values behind; every strategy but to load at the end hides some loading; and it takes as long as was planned.
func TestPrefillSwitchesAsPlanned(t *testing.T) {
	ctx, lengths := context.Background(), []int{150, 40, 230, 7}
	plain := phone(t, Options{})
	rows := prompts(plain, lengths...)
	want, err := plain.Prefill(ctx, rows, new(Logits))
	if err != nil {
		t.Fatal(err)
	}
	next := func(rows []Input) (out []Input) {
		for _, r := range rows {
			out = append(out, Input{Seq: r.Seq, Tokens: []tandem.Token{3}})
		}
		return out
	}
	wantNext, err := plain.Forward(ctx, next(rows))
	if err != nil {
		t.Fatal(err)
	}
	waits := map[plan.Strategy]time.Duration{}
	for _, s := range plan.Strategies {
		m := phone(t, Options{Phone: "sm8750", Switching: s.String()})
		rows := prompts(m, lengths...)
		c := m.change(rows, 427)
		if err := c.begin(ctx); err != nil { // what is there before the clock starts
			t.Fatal(err)
		}
		before, _ := m.Phone()
		got, err := m.Prefill(ctx, rows, new(Logits))
		if err != nil {
			t.Fatal(err)
		}
		after, _ := m.Phone()
		gotNext, err := m.Forward(ctx, next(rows))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, want, bitEqual) || !slices.EqualFunc(gotNext, wantNext, bitEqual) {
			t.Errorf("%v: other logits", s)
		}
		did, p := after.Sub(before), c.problem(427, 230)
		layers := len(p.Blocks)
		waits[s] = did.Waiting
		// Beside the plan: the heads of each chunk with wanted logits, and attention to other than half the context.
		planned := p.Simulate(c.plan).Total()
		if did.Busy < planned || did.Busy > planned*105/100+2*time.Millisecond {
			t.Errorf("%v: it took %v, planned %v", s, did.Busy, planned)
		}
		last, _ := m.Phone()
		if s == plan.Resident {
			if did.Switches != 0 {
				t.Errorf("%v: %+v", s, did)
			}
		} else if did.Switches < layers || last.Sub(after).Switches > 0 {
			t.Errorf("%v: %d loads for %d layers, %d when decoding", s, did.Switches, layers, last.Sub(after).Switches)
		}
	}
	for s, wait := range waits {
		if s != plan.Synchronous && wait >= waits[plan.Synchronous] || wait < waits[plan.Resident] {
			t.Errorf("%v waits %v, synchronous %v, resident %v", s, wait, waits[plan.Synchronous], waits[plan.Resident])
		}
		if s != plan.Resident && wait < waits[plan.Progressive] {
			t.Errorf("%v waits %v, progressive %v", s, wait, waits[plan.Progressive])
		}
	}
}

// Where the graphs for decoding are loaded, a short prompt and a large draft go through them, without a load.
func TestShortPromptsStay(t *testing.T) {
	ctx := context.Background()
	m := phone(t, Options{Phone: "sm8750"})
	rows := prompts(m, 150)
	if _, err := m.Prefill(ctx, rows, new(Logits)); err != nil {
		t.Fatal(err)
	}
	before, _ := m.Phone()
	if _, err := m.Prefill(ctx, prompts(m, 60), new(Logits)); err != nil {
		t.Fatal(err)
	}
	rows[0].Tokens = rows[0].Tokens[:40]
	if _, err := m.Forward(ctx, rows); err != nil {
		t.Fatal(err)
	}
	if after, _ := m.Phone(); after.Switches != before.Switches {
		t.Errorf("%d loads", after.Switches-before.Switches)
	}
	if _, err := m.Prefill(ctx, prompts(m, 500, 500, 500, 500), new(Logits)); err != nil {
		t.Fatal(err)
	}
	if after, _ := m.Phone(); after.Switches == before.Switches {
		t.Error("a long prompt goes through the graphs for decoding")
	}
}

func TestSwitchingOptions(t *testing.T) {
	for _, c := range []struct {
		opt  Options
		want string
	}{
		{Options{Phone: "sm8750", Switching: "sometimes"}, "want one of"},
		{Options{Phone: "sm8750", Switching: "optimal"}, "want one of"},
		{Options{Switching: "greedy"}, "simulated phone"},
		{Options{Phone: "sm8750", Memory: 3 << 20, Switching: "greedy"}, "no bound"},
	} {
		if _, err := OpenBytes("reader", models.Reader, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.opt, err)
		}
	}
	if got := phone(t, Options{Phone: "sm8750", Memory: 3 << 20}).Switching(); got != "" {
		t.Errorf("staged weights are switched: %s", got)
	}
	// A graph for fewer rows is kept where it saves time: with the stack qnn a tile costs the same however few of its
	// rows are in use, with mllm the host has work for each.
	for chip, want := range map[string][]int{"sm8750": {32, 128}, "sm8750/mllm": {1, 8, 32, 128}} {
		var got []int
		for _, p := range phone(t, Options{Phone: chip}).programs {
			got = append(got, p.chunk)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: programs for %v rows, want %v", chip, got, want)
		}
	}
}

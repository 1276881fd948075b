package phone

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/models"
	"tandem/npu"
	"tandem/npu/phone/plan"
)

// opened opens a device and, by calling on, a model on it. The model closes the device when the test
// ends.
func opened(t *testing.T, opt Options, on func(npu.Device) (*model.Model, error)) (*model.Model, *Device) {
	t.Helper()
	d, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	m, err := on(d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m, d
}

func openBytes(t *testing.T, b []byte, opt Options) (*model.Model, *Device) {
	t.Helper()
	return opened(t, opt, func(d npu.Device) (*model.Model, error) { return model.OpenBytes("test", b, d) })
}

func openFile(t *testing.T, path string, opt Options) (*model.Model, *Device) {
	t.Helper()
	return opened(t, opt, func(d npu.Device) (*model.Model, error) { return model.Open(path, d) })
}

// openDecoder opens the built-in model with one thread.
func openDecoder(t *testing.T, opt Options) (*model.Model, *Device) {
	t.Helper()
	opt.Threads = 1
	return openBytes(t, models.Decoder, opt)
}

// recorder is a Device that remembers a model's programs.
type recorder struct {
	*Device
	programs []*npu.Programs
}

func (r *recorder) Traits() npu.Traits {
	t := r.Device.Traits()
	t.Scheduler = r
	return t
}

func (r *recorder) Keep(all []*npu.Programs) []*npu.Programs {
	r.programs = r.Device.Keep(all)
	return r.programs
}

// openRecorder opens the built-in model on a recorder.
func openRecorder(t *testing.T, opt Options) (*model.Model, *recorder) {
	t.Helper()
	opt.Threads = 1
	r := &recorder{}
	m, _ := opened(t, opt, func(d npu.Device) (*model.Model, error) {
		r.Device = d.(*Device)
		return model.OpenBytes("reader", models.Decoder, r)
	})
	return m, r
}

func TestUnknownDevices(t *testing.T) {
	for _, c := range []struct {
		opt  Options
		want string
	}{
		{Options{Device: "abacus"}, "abacus"},
		{Options{Device: "cuda"}, "unknown device"},
		{Options{Device: "ggml"}, "unknown device"},
		{Options{Device: "native:2"}, "unknown device"},
		{Options{Device: "ggml:nosuch"}, "ggml"},
		{Options{Threads: -1}, "-1 threads"},
		{Options{Chip: "nokia"}, "use one of"},
		{Options{Memory: -1}, "budget"},
	} {
		if _, err := Open(c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.opt, err)
		}
	}
}

func TestNative(t *testing.T) {
	for _, name := range []string{"", "native", "auto"} {
		d, err := Open(Options{Device: name, Threads: 1, Weights: 1 << 50}) // more than fits on any GPU
		if err != nil || !strings.HasPrefix(d.Name(), "native") {
			t.Errorf("%q: %v, %v", name, d, err)
		}
		d.Close()
	}
}

// A simulated phone computes the same bits, even with bounded memory, and counts the work of its
// NPU.
func TestPhoneSameBits(t *testing.T) {
	logits := func(opt Options) ([]float32, *Device) {
		m, d := openDecoder(t, opt)
		out, err := m.Forward(context.Background(), []model.Input{{Seq: m.NewSeq(), Tokens: []tandem.Token{1, 2, 3, 4, 5}}})
		if err != nil {
			t.Fatal(err)
		}
		return out[0], d
	}
	want, plain := logits(Options{})
	if _, ok := plain.Stats(); ok {
		t.Error("the NPU is simulated without being requested")
	}
	if _, ok := plain.Memory(); ok {
		t.Error("memory is bounded without being requested")
	}
	for _, opt := range []Options{{Chip: "sm8750"}, {Chip: "sm8650/mllm", Memory: 3 << 20}} {
		got, d := logits(opt)
		if !slices.Equal(got, want) {
			t.Errorf("%+v: different logits", opt)
		}
		s, ok := d.Stats()
		if !ok || s.Runs == 0 || s.Busy == 0 || !strings.Contains(d.Name(), "simulated") {
			t.Errorf("%+v: %+v on %s", opt, s, d.Name())
		}
	}
}

// prompts returns inputs of the given lengths.
func prompts(m *model.Model, lengths ...int) (rows []model.Input) {
	for i, n := range lengths {
		tokens := make([]tandem.Token, n)
		for j := range tokens {
			tokens[j] = tandem.Token((7*j + 31*i) % 500)
		}
		rows = append(rows, model.Input{Seq: m.NewSeq(), Tokens: tokens})
	}
	return rows
}

// With any strategy, a phone's prefill of several sequences gives the same bits as a plain one and
// leaves the same keys and values. It takes as long as planned. Every strategy except loading at
// the end hides some of the loading.
func TestPrefillSwitchesAsPlanned(t *testing.T) {
	ctx, lengths := context.Background(), []int{150, 40, 230, 7}
	plain, _ := openDecoder(t, Options{})
	rows := prompts(plain, lengths...)
	want, err := plain.Prefill(ctx, rows, new(model.Logits))
	if err != nil {
		t.Fatal(err)
	}
	next := func(rows []model.Input) (out []model.Input) {
		for _, r := range rows {
			out = append(out, model.Input{Seq: r.Seq, Tokens: []tandem.Token{3}})
		}
		return out
	}
	wantNext, err := plain.Forward(ctx, next(rows))
	if err != nil {
		t.Fatal(err)
	}
	waits := map[plan.Strategy]time.Duration{}
	for _, s := range plan.Strategies {
		m, d := openRecorder(t, Options{Chip: "sm8750", Switching: s.String()})
		rows := prompts(m, lengths...)
		// The graphs that the pass starts with are loaded before the clock starts.
		schedule, err := d.Schedule(ctx, d.programs, npu.Pass{Tokens: 427, Longest: 230, Decodes: len(rows)})
		if err != nil {
			t.Fatal(err)
		}
		c := schedule.(*switchSchedule)
		before, _ := d.Stats()
		got, err := m.Prefill(ctx, rows, new(model.Logits))
		if err != nil {
			t.Fatal(err)
		}
		after, _ := d.Stats()
		gotNext, err := m.Forward(ctx, next(rows))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, want, slices.Equal[[]float32]) || !slices.EqualFunc(gotNext, wantNext, slices.Equal[[]float32]) {
			t.Errorf("%v: different logits", s)
		}
		did, p := after.Sub(before), c.problem(427, 230)
		layers := len(p.Blocks)
		waits[s] = did.Waiting
		// The plan ignores the head of chunks whose logits are requested, and assumes attention to
		// half the context.
		planned := p.Simulate(c.plan).Total()
		if did.Busy < planned || did.Busy > planned*105/100+2*time.Millisecond {
			t.Errorf("%v: took %v, planned %v", s, did.Busy, planned)
		}
		last, _ := d.Stats()
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

// If the graphs for decoding are loaded, they compute a short prompt and a large draft without
// another load.
func TestShortPromptsStay(t *testing.T) {
	ctx := context.Background()
	m, d := openDecoder(t, Options{Chip: "sm8750"})
	rows := prompts(m, 150)
	if _, err := m.Prefill(ctx, rows, new(model.Logits)); err != nil {
		t.Fatal(err)
	}
	before, _ := d.Stats()
	if _, err := m.Prefill(ctx, prompts(m, 60), new(model.Logits)); err != nil {
		t.Fatal(err)
	}
	rows[0].Tokens = rows[0].Tokens[:40]
	if _, err := m.Forward(ctx, rows); err != nil {
		t.Fatal(err)
	}
	if after, _ := d.Stats(); after.Switches != before.Switches {
		t.Errorf("%d loads", after.Switches-before.Switches)
	}
	if _, err := m.Prefill(ctx, prompts(m, 500, 500, 500, 500), new(model.Logits)); err != nil {
		t.Fatal(err)
	}
	if after, _ := d.Stats(); after.Switches == before.Switches {
		t.Error("the graphs for decoding computed a long prompt")
	}
}

func TestSwitchingOptions(t *testing.T) {
	for _, c := range []struct {
		opt  Options
		want string
	}{
		{Options{Chip: "sm8750", Switching: "sometimes"}, "use one of"},
		{Options{Chip: "sm8750", Switching: "optimal"}, "use one of"},
		{Options{Switching: "greedy"}, "simulated phone"},
		{Options{Chip: "sm8750", Memory: 3 << 20, Switching: "greedy"}, "without a memory limit"},
	} {
		if _, err := Open(c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.opt, err)
		}
	}
	if _, d := openDecoder(t, Options{Chip: "sm8750", Memory: 3 << 20}); d.Switching() != "" {
		t.Errorf("graphs with staged weights are switched: %s", d.Switching())
	}
	// A graph for fewer rows is kept if it saves time. With the stack qnn a tile costs the same for
	// any number of rows; with mllm the host does work for each row.
	for chip, want := range map[string][]int{"sm8750": {32, 128}, "sm8750/mllm": {1, 8, 32, 128}} {
		var got []int
		_, d := openRecorder(t, Options{Chip: chip})
		for _, p := range d.programs {
			got = append(got, p.Chunk)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: programs for %v rows, want %v", chip, got, want)
		}
	}
}

// A simulated phone, and one with bounded memory, compute sequences with adapters as native does.
func TestAdaptersOnAPhone(t *testing.T) {
	b := tinymodel.GGUF(tinymodel.Spec{Type: npu.Q8_0, Dim: 128, FF: 256, Layers: 3})
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var want [][]float32
	for _, opt := range []Options{{}, {Chip: "sm8750"}, {Memory: 1 << 17}} {
		d, err := Open(opt)
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.Open(path, d)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		w := model.Change{Weight: "blk.1.attn_q.weight", Rank: 2, A: make([]float32, 2*128), B: make([]float32, 2*128)}
		for i := range w.A {
			w.A[i], w.B[i] = float32(i%5)-2, float32(i%7)-3
		}
		list, err := m.Mount(model.Inputs, model.Delta{Name: "a", Changes: []model.Change{w}})
		if err != nil {
			t.Fatal(err)
		}
		var tokens []tandem.Token
		for i := range 40 {
			tokens = append(tokens, tandem.Token(i))
		}
		got, err := m.Prefill(t.Context(), []model.Input{{Seq: m.NewSeqWith(list[0]), Tokens: tokens}, {Seq: m.NewSeq(), Tokens: tokens}}, new(model.Logits))
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) || slices.Equal(got[0], got[1]) {
			t.Errorf("%+v: the logits differ from native's", opt)
		}
	}
}

// With drafts on, the prompt's change of graphs ends at the graph that verifies them, and all passes of the answer stay on it:
// those of one row, too. It has as many rows as the expected tokens pay for. The logits are those of native.
func TestDraftsStayOnOneGraph(t *testing.T) {
	m, d := openDecoder(t, Options{Chip: "sm8650/mllm", Unpaced: true})
	native, _ := openDecoder(t, Options{})
	for _, c := range []struct {
		what    string
		perPass func(rows int) float64
		rows    int
	}{
		{"every row right", func(rows int) float64 { return float64(rows) }, 32},
		{"none right", func(int) float64 { return 1 }, 1},
	} {
		seq, want := m.NewSeq(), native.NewSeq()
		prompt := make([]tandem.Token, 200)
		if _, err := m.Prefill(t.Context(), []model.Input{{Seq: seq, Tokens: prompt, PerPass: c.perPass}}, new(model.Logits)); err != nil {
			t.Fatal(err)
		}
		if _, err := native.Forward(t.Context(), []model.Input{{Seq: want, Tokens: prompt}}); err != nil {
			t.Fatal(err)
		}
		if d.VerifyRows() != c.rows {
			t.Errorf("%s: the graph for decoding has %d rows, want %d", c.what, d.VerifyRows(), c.rows)
		}
		before, _ := d.Stats()
		for _, g := range before.Graphs {
			if decoded := g.Rows - g.Prompt; c.rows == 32 && decoded != 0 {
				t.Errorf("%s: %d rows of a prompt on graphs of %d count as decoded", c.what, decoded, g.Size)
			}
		}
		for range 3 {
			got, err := m.Forward(t.Context(), []model.Input{{Seq: seq, Tokens: []tandem.Token{7}, PerPass: c.perPass}})
			if err != nil {
				t.Fatal(err)
			}
			same, err := native.Forward(t.Context(), []model.Input{{Seq: want, Tokens: []tandem.Token{7}}})
			if err != nil || !slices.Equal(got[0], same[0]) {
				t.Fatalf("%s: other logits than native's (%v)", c.what, err)
			}
		}
		after, _ := d.Stats()
		if s := after.Sub(before); s.Switches != 0 || len(s.Graphs) != 1 || s.Graphs[0].Size != c.rows || s.Graphs[0].Prompt != 0 {
			t.Errorf("%s: %d loads, graphs %+v; want none, and %d rows", c.what, s.Switches, s.Graphs, c.rows)
		}
	}
}

// Package engine measures the speed of a model on this machine: prefill and decoding, of one sequence or several at once, by
// our engine and, in turns, by llama.cpp or ik_llama.cpp on the same file, device and threads. It also measures how fast the
// device reads its memory, since decoding reads all weights once per step.
package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem"
	"tandem/internal/cputime"
	"tandem/model"
	"tandem/npu"
)

// Options say what to measure.
type Options struct {
	Rows    []int // numbers of sequences to decode at once
	Runs    int   // runs of each test
	Prompt  int   // tokens of the prompt
	Steps   int   // tokens to decode of each sequence
	Threads int

	Against string // a model file to open with llama.cpp too; "" measures our engine only
	Program string // ik_llama.cpp's llama-batched-bench, to open the file with instead of llama.cpp; "" for none
	Busy    bool   // keep another process busy meanwhile
	// Processor measures the CPU time of this process instead of wall time, so that other programs disturb a run with
	// one thread less. Result.OfLimit is then not measured.
	Processor bool

	Progress func(format string, args ...any)
	Remark   func(format string, args ...any)
}

// Check returns an error if the options are out of range.
func (o Options) Check() error {
	if o.Runs < 1 || o.Steps < 1 || o.Prompt < 0 || slices.ContainsFunc(o.Rows, func(n int) bool { return n < 1 || n > 128 }) {
		return errors.New("--runs and --steps must be 1 or more, --prompt 0 or more, --rows 1 to 128")
	}
	return nil
}

// clock returns a clock that runs from now on.
func (o Options) clock() func() time.Duration {
	if o.Processor {
		return func() time.Duration {
			t, _ := cputime.Spent()
			return t
		}
	}
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// Report is the result of a measurement.
type Report struct {
	Results []Result `json:"rows"`
	Device  string   `json:"device"`
	Against string   `json:"against"`
	Variant string   `json:"against_variant,omitempty"` // of the peer's library for processors, such as "zen4"
	Busy    bool     `json:"busy"`
	Clock   string   `json:"clock,omitempty"` // "processor" if the seconds are the processor's
	Bytes   int      `json:"bytes_per_step"`  // weights that a step of decoding reads

	// Rate is the bytes per second that the device reads, the median around our runs; 0 if it cannot be measured.
	Rate      float64 `json:"bytes_per_second,omitempty"`
	RateLeast float64 `json:"bytes_per_second_least,omitempty"`
	RateMost  float64 `json:"bytes_per_second_most,omitempty"`
}

// Result is the result of one test. Speeds are in tokens per second: the median of the runs, the least and the most.
type Result struct {
	Test        string  `json:"test"`
	Type        string  `json:"type"` // of the weights
	Ours        float64 `json:"ours"`
	Least       float64 `json:"least"`
	Most        float64 `json:"most"`
	Theirs      float64 `json:"theirs,omitempty"`
	TheirsLeast float64 `json:"theirs_least,omitempty"`
	TheirsMost  float64 `json:"theirs_most,omitempty"`
	Ratio       float64 `json:"ratio,omitempty"`    // median of ours by theirs, run by run
	OfLimit     float64 `json:"of_limit,omitempty"` // bytes of weights read per second, by what the device can read
}

// Measure measures the model as the options say.
func Measure(ctx context.Context, m *model.Model, o Options) (Report, error) {
	if _, ok := cputime.Spent(); o.Processor && (o.Threads != 1 || !m.Processor() || !ok) {
		return Report{}, errors.New("--processor-time needs --threads 1, this machine's processor and a Unix system")
	}
	now := o.clock()
	engines := []engine{&ours{m: m, now: now, logits: m.NewLogits()}}
	report := Report{Device: m.Device(), Busy: o.Busy}
	if o.Processor {
		report.Clock = "processor"
	}
	if o.Against != "" && o.Program == "" {
		p, err := openPeer(o.Against, ggmlName(m), m.Config().Vocab, o.Threads)
		if err != nil {
			return report, err
		}
		defer p.Close()
		p.now = now
		engines, report.Against = append(engines, p), "llama.cpp"
		if ggmlName(m) == "cpu" {
			report.Variant = p.variant
		}
	}
	if o.Program != "" {
		engines, report.Against = append(engines, program{o.Program, o.Against, o.Threads, o.Processor}), "ik_llama.cpp"
	}
	limit := memoryOf(m, o)
	defer limit.close()
	if o.Busy {
		stop, err := startBusy()
		if err != nil {
			return report, err
		}
		defer stop()
	}
	var types string
	report.Bytes, types = weightsPerStep(m)
	if err := o.runTests(ctx, engines, limit, types, &report); err != nil {
		return report, err
	}
	if len(limit.seen) > 0 {
		report.Rate, report.RateLeast, report.RateMost = median(limit.seen)
	}
	return report, nil
}

// runTests adds the result of each test, with weights of the given types.
func (o Options) runTests(ctx context.Context, engines []engine, limit *memory, types string, report *Report) error {
	tests := o.tests()
	for i, t := range tests {
		r, err := o.run(ctx, t, engines, limit, func(run int) {
			o.Progress("test %d of %d, %s: run %d of %d", i+1, len(tests), t.name, max(run, 0)+1, o.Runs)
		})
		if err != nil {
			return err
		}
		report.Results = append(report.Results, t.result(types, r, report.Bytes))
	}
	return nil
}

// An engine is ours, llama.cpp or ik_llama.cpp.
type engine interface {
	// measure runs a test once and returns tokens per second.
	measure(ctx context.Context, t test, prompt, steps int) (float64, error)
}

// test is one thing to measure.
type test struct {
	name  string
	rows  int // sequences; 0 for prefill
	after int // positions before
}

func (o Options) tests() []test {
	tests := []test{{name: fmt.Sprintf("prefill %d", o.Prompt)}}
	for _, n := range o.Rows {
		for _, after := range []int{0, o.Prompt} {
			name := fmt.Sprintf("decode after %d", after)
			if n > 1 {
				name = fmt.Sprintf("decode %d rows after %d", n, after)
			}
			tests = append(tests, test{name, n, after})
		}
	}
	return tests
}

// runs holds the measurements of one test.
type runs struct {
	speeds [][]float64 // tokens/s, by engine and run
	rates  []float64   // bytes/s that the device read, the mean of before and after each of our runs
}

// pause lets spinning threads go to sleep between the runs of two engines. With one thread there are none, and a processor
// that has rested is slow at first.
const pause = 250 * time.Millisecond

// run measures a test. The engines take turns; the first run of each does not count. Other programs share the memory, so
// the rate of memory is measured before and after each of our runs of decoding.
func (o Options) run(ctx context.Context, t test, engines []engine, limit *memory, progress func(run int)) (runs, error) {
	r := runs{speeds: make([][]float64, len(engines))}
	for run := -1; run < o.Runs; run++ {
		for i, e := range engines {
			progress(run)
			if _, fresh := e.(program); fresh && run < 0 {
				continue // it is started for each run
			}
			steps := o.Steps
			if run < 0 {
				steps = 1
			}
			speed, rate := 0.0, 0.0
			err := limit.around(t.rows > 0 && i == 0 && run >= 0, &rate, func() (err error) {
				speed, err = repeat(run >= 0, func() (float64, error) { return e.measure(ctx, t, o.Prompt, steps) })
				return err
			})
			if err != nil {
				return r, err
			}
			if rate > 0 {
				r.rates = append(r.rates, rate)
			}
			if run >= 0 {
				r.speeds[i] = append(r.speeds[i], speed)
			}
			if len(engines) > 1 && o.Threads != 1 {
				time.Sleep(pause)
			}
		}
	}
	return r, nil
}

// enough is the shortest time of a run. Shorter runs depend more on how fast the processor wakes up than on the engine.
const enough = 100 * time.Millisecond

// repeat measures the speed of the same work once or, if a run counts, until it has taken enough time.
func repeat(counts bool, measure func() (float64, error)) (float64, error) {
	begun, n, inverse := time.Now(), 0, 0.0
	for n == 0 || counts && time.Since(begun) < enough {
		speed, err := measure()
		if err != nil {
			return 0, err
		}
		n, inverse = n+1, inverse+1/speed
	}
	return float64(n) / inverse, nil
}

// result sums up the runs of a test, whose steps read the given bytes of weights.
func (t test) result(types string, m runs, bytes int) Result {
	r, ours := Result{Test: t.name, Type: types}, m.speeds[0]
	if len(m.rates) > 0 {
		shares := make([]float64, len(m.rates))
		for i, rate := range m.rates {
			shares[i] = ours[i] / float64(t.rows) * float64(bytes) / rate
		}
		r.OfLimit, _, _ = median(shares)
	}
	if len(m.speeds) > 1 {
		theirs, ratios := m.speeds[1], make([]float64, len(ours))
		for i := range ratios {
			ratios[i] = ours[i] / theirs[i]
		}
		r.Ratio, _, _ = median(ratios)
		r.Theirs, r.TheirsLeast, r.TheirsMost = median(theirs)
	}
	r.Ours, r.Least, r.Most = median(ours)
	return r
}

// median sorts s and returns its median, least and most values.
func median(s []float64) (middle, least, most float64) {
	slices.Sort(s)
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2, s[0], s[n-1]
}

// ours is the engine of package model.
type ours struct {
	m      *model.Model
	now    func() time.Duration
	prompt *model.Seq // computed once; decoding forks it
	logits *model.Logits
}

// after returns a sequence of n tokens.
func (e *ours) after(ctx context.Context, n int) (*model.Seq, error) {
	if e.prompt == nil || e.prompt.Len() != n {
		e.prompt = e.m.NewSeq()
		if n > 0 {
			if _, err := e.m.ForwardInto(ctx, []model.Input{{Seq: e.prompt, Tokens: anyTokens(e.m.Config().Vocab, 0, n)}}, e.logits); err != nil {
				return nil, err
			}
		}
	}
	return e.prompt, nil
}

func (e *ours) measure(ctx context.Context, t test, prompt, steps int) (float64, error) {
	m := e.m
	if t.rows == 0 {
		e.prompt = nil
		begun := e.now()
		_, err := e.after(ctx, prompt)
		return float64(prompt) / (e.now() - begun).Seconds(), err
	}
	base, err := e.after(ctx, t.after)
	if err != nil {
		return 0, err
	}
	batch := make([]model.Input, t.rows)
	for i := range batch {
		batch[i].Seq = base.Fork()
	}
	return timeSteps(t, steps, e.now, func(step int) error {
		for i := range batch {
			batch[i].Tokens = anyTokens(m.Config().Vocab, step+i, 1)
		}
		_, err := m.ForwardInto(ctx, batch, e.logits)
		return err
	})
}

// timeSteps returns the tokens per second of the steps, after one step that does not count.
func timeSteps(t test, steps int, now func() time.Duration, f func(step int) error) (float64, error) {
	if err := f(0); err != nil {
		return 0, err
	}
	begun := now()
	for step := 1; step <= steps; step++ {
		if err := f(step); err != nil {
			return 0, err
		}
	}
	return float64(steps*t.rows) / (now() - begun).Seconds(), nil
}

// anyTokens returns n tokens that do not repeat for a while, different for each from.
func anyTokens(vocab, from, n int) []tandem.Token {
	t := make([]tandem.Token, n)
	for i := range t {
		t[i] = tandem.Token(((from+i)*89 + 17) % vocab)
	}
	return t
}

// weightsPerStep returns the bytes of all matrices that a step of decoding reads, and their types. Of a mixture it reads the
// experts that a token goes through.
func weightsPerStep(m *model.Model) (bytes int, types string) {
	var names []string
	var count func(g *npu.Graph) int
	count = func(g *npu.Graph) (bytes int) {
		for _, n := range g.Nodes {
			switch n.Op {
			case npu.OpMatMul:
				bytes += len(n.Weight.Data)
				if name := n.Weight.Type.String(); !slices.Contains(names, name) {
					names = append(names, name)
				}
			case npu.OpExperts:
				bytes += n.Experts.TopK * count(n.Experts.Graphs[0])
			}
		}
		return bytes
	}
	for _, g := range m.Graphs(1) {
		bytes += count(g)
	}
	return bytes, strings.Join(names, "+")
}

// busyScript counts until the process whose id it is given has ended.
const busyScript = `while kill -0 "$0" 2>/dev/null; do i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; done`

// startBusy starts a process that never sleeps.
func startBusy() (stop func(), err error) {
	cmd := exec.Command("sh", "-c", busyScript, strconv.Itoa(os.Getpid()))
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("--busy needs a shell: %w", err)
	}
	return func() {
		cmd.Process.Kill()
		cmd.Wait()
	}, nil
}

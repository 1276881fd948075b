package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/model"
	"tandem/npu"
)

type engineCmd struct {
	cli.ModelFlags `group:"Model:"`
	Rows           []int  `help:"Numbers of sequences that are decoded at once." default:"1,4,16"`
	Runs           int    `help:"How often each is measured." default:"5"`
	Prompt         int    `help:"Tokens of the prompt; 0 for 512, or fewer where the model's context is small." default:"0"`
	Steps          int    `help:"Tokens to decode of each sequence." default:"64"`
	Against        string `help:"Measure another engine in turns, on the same file and threads: llama.cpp." placeholder:"ENGINE"`
	Busy           bool   `help:"Measure beside another process that never rests."`
	File           string `arg:"" optional:"" type:"path" help:"With --json: the file that the rows go to; without it, standard output."`
}

func (c *engineCmd) Help() string {
	return `Examples:
  lab models random random.gguf && lab engine --model random.gguf
  lab engine --rows 1,8 --runs 9 --json rows.json
  TANDEM_LLAMA_PATH=bins/linux-x64 lab engine --model random.gguf --threads 2 --against llama.cpp
  lab engine --model random.gguf --against llama.cpp --busy
  TANDEM_GGML_PATH=bins/linux-x64-cuda TANDEM_LLAMA_PATH=bins/linux-x64-cuda lab engine --model random.gguf --device ggml:cuda0 --rows 1,8,64 --against llama.cpp

Prefill: one prompt from nothing. Decode: tokens one by one, after nothing and after the prompt; with several rows, so many sequences side by side that share
the prompt. Each figure is the median, least and most of the runs, which take turns. Decoding reads all weights once a step: "of limit" is its speed by the rate at
which the device reads its memory, measured before and after each run; on a GPU by products with one large F16 matrix. "ratio" is the median of ours by theirs, run by
run; both compute on the device that --device names. Other programs at work make all figures worse.`
}

// engineTest is one thing to measure, in tokens per second.
type engineTest struct {
	name  string
	rows  int // sequences; 0 for prefill
	after int // positions before
}

// engineRow is the result of one test. Speeds are tokens/s, medians.
type engineRow struct {
	Test        string  `json:"test"`
	Type        string  `json:"type"`
	Ours        float64 `json:"ours"`
	Least       float64 `json:"least"`
	Most        float64 `json:"most"`
	Theirs      float64 `json:"theirs,omitempty"`
	TheirsLeast float64 `json:"theirs_least,omitempty"`
	TheirsMost  float64 `json:"theirs_most,omitempty"`
	Ratio       float64 `json:"ratio,omitempty"`    // the median of ours by theirs, run by run
	OfLimit     float64 `json:"of_limit,omitempty"` // bytes of weights read per second, by what the device can
}

// measurer is an engine that can be measured.
type measurer interface {
	// measure runs a test once and returns tokens per second.
	measure(ctx context.Context, t engineTest, prompt, steps int) (float64, error)
}

func (c *engineCmd) check(a *cli.App) error {
	switch {
	case c.Runs < 1 || c.Steps < 1 || c.Prompt < 0 || slices.ContainsFunc(c.Rows, func(n int) bool { return n < 1 || n > 128 }):
		return fmt.Errorf("--runs and --steps must be 1 or more, --prompt 0 or more, --rows 1 to 128")
	case c.Against != "" && c.Against != "llama.cpp":
		return fmt.Errorf("--against %s: not known, use llama.cpp", c.Against)
	}
	return a.CheckJSONFile(c.File)
}

func (c *engineCmd) Run(a *cli.App) error {
	if err := c.check(a); err != nil {
		return err
	}
	m, err := c.ModelFlags.Open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := c.fit(a, m.Config().Context); err != nil {
		return err
	}
	threads := c.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	engines := []measurer{&ours{m: m}}
	if c.Against != "" {
		peer, err := openPeer(c.Model, ggmlName(m), m.Config().Vocab, threads)
		if err != nil {
			return err
		}
		defer peer.Close()
		engines = append(engines, peer)
	}
	bytes, types := weightsPerStep(m)
	limit := readerOf(a, m, threads)
	defer limit.close()
	if c.Busy {
		stop, err := startBusy()
		if err != nil {
			return err
		}
		defer stop()
	}
	tests := engineTests(c.Rows, c.Prompt)
	measured, err := c.measure(a, engines, tests, limit)
	if err != nil {
		return err
	}
	report := engineReport{Device: m.Device(), Against: c.Against, Busy: c.Busy, Bytes: bytes}
	for i, t := range tests {
		report.Rows = append(report.Rows, t.row(types, measured[i], bytes))
	}
	if len(limit.seen) > 0 {
		report.Rate, report.RateLeast, report.RateMost = median(limit.seen)
	}
	return c.report(a, report)
}

// usualPrompt is the length of the prompt where none is asked for.
const usualPrompt = 512

// fit chooses the prompt's length if that is left open, and checks that all fits into the model's context.
func (c *engineCmd) fit(a *cli.App, context int) error {
	open := c.Prompt == 0
	if open {
		c.Prompt = max(1, min(usualPrompt, context-c.Steps-1))
	}
	if c.Prompt+c.Steps+1 > context {
		return fmt.Errorf("--prompt %d and --steps %d exceed the model's context of %d", c.Prompt, c.Steps, context)
	}
	if open && c.Prompt < usualPrompt {
		a.Remark("The model's context of %d holds a prompt of %d tokens beside --steps %d.", context, c.Prompt, c.Steps)
	}
	return nil
}

// engineReport is what the command prints.
type engineReport struct {
	Rows    []engineRow `json:"rows"`
	Device  string      `json:"device"`
	Against string      `json:"against"`
	Busy    bool        `json:"busy"`
	Bytes   int         `json:"bytes_per_step"`             // of weights
	Rate    float64     `json:"bytes_per_second,omitempty"` // that the device reads, the median around our runs; 0 if it has no room for that

	RateLeast float64 `json:"bytes_per_second_least,omitempty"`
	RateMost  float64 `json:"bytes_per_second_most,omitempty"`
}

func (c *engineCmd) report(a *cli.App, r engineReport) error {
	if a.Globals.JSON {
		return a.JSONTo(c.File, r)
	}
	r.print(a.Out)
	return nil
}

// runs are what was measured of one test.
type runs struct {
	speeds [][]float64 // tokens/s, by engine and run
	rates  []float64   // bytes/s that the device read before and after our runs, the mean of both
}

// measure returns the runs of each test. Engines take turns, and after each turn a pause lets threads that
// wait for more work go to sleep. One run before the first is not counted. Memory is shared with whoever else
// runs on the machine, so limit, where there is one, is asked before and after each of our runs of decoding.
func (c *engineCmd) measure(a *cli.App, engines []measurer, tests []engineTest, limit *reader) ([]runs, error) {
	measured := make([]runs, len(tests))
	for i, t := range tests {
		m := &measured[i]
		m.speeds = make([][]float64, len(engines))
		for run := -1; run < c.Runs; run++ {
			for j, e := range engines {
				a.Progress("test %d of %d, %s: run %d of %d", i+1, len(tests), t.name, max(run, 0)+1, c.Runs)
				steps := c.Steps
				if run < 0 {
					steps = 1
				}
				v, rate := 0.0, 0.0
				err := limit.around(t.rows > 0 && j == 0 && run >= 0, &rate, func() (err error) {
					v, err = e.measure(a, t, c.Prompt, steps)
					return err
				})
				if err != nil {
					return nil, err
				}
				if rate > 0 {
					m.rates = append(m.rates, rate)
				}
				if run >= 0 {
					m.speeds[j] = append(m.speeds[j], v)
				}
				if len(engines) > 1 {
					time.Sleep(enginePause)
				}
			}
		}
	}
	a.Clear()
	return measured, nil
}

const enginePause = 250 * time.Millisecond

// row sums up the runs of a test, ours before theirs. A step reads so many bytes of weights.
func (t engineTest) row(types string, m runs, bytes int) engineRow {
	r, ours := engineRow{Test: t.name, Type: types}, m.speeds[0]
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

// median returns the middle of s, of an even number the mean of both, and the least and the most; it sorts s.
func median(s []float64) (middle, least, most float64) {
	slices.Sort(s)
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2, s[0], s[n-1]
}

func (r engineReport) print(w io.Writer) {
	fmt.Fprintf(w, "%s, %s\n%.1f MB of weights a step", r.Device, r.Rows[0].Type, float64(r.Bytes)/1e6)
	if r.Rate > 0 {
		fmt.Fprintf(w, "; the device reads %.1f GB/s (%.1f to %.1f)", r.Rate/1e9, r.RateLeast/1e9, r.RateMost/1e9)
	}
	fmt.Fprintf(w, "\n\n%-26s %9s %17s", "test", "tokens/s", "least to most")
	if r.Against != "" {
		fmt.Fprintf(w, " %10s %17s %6s", r.Against, "least to most", "ratio")
	}
	if r.Rate > 0 {
		fmt.Fprintf(w, " %9s", "of limit")
	}
	fmt.Fprintln(w)
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%-26s %9.1f %17s", row.Test, row.Ours, fmt.Sprintf("%.1f to %.1f", row.Least, row.Most))
		if r.Against != "" {
			fmt.Fprintf(w, " %10.1f %17s %6.2f", row.Theirs, fmt.Sprintf("%.1f to %.1f", row.TheirsLeast, row.TheirsMost), row.Ratio)
		}
		if row.OfLimit > 0 {
			fmt.Fprintf(w, " %7.0f %%", 100*row.OfLimit)
		}
		fmt.Fprintln(w)
	}
}

func engineTests(rows []int, prompt int) []engineTest {
	tests := []engineTest{{name: fmt.Sprintf("prefill %d", prompt)}}
	for _, n := range rows {
		for _, after := range []int{0, prompt} {
			name := fmt.Sprintf("decode after %d", after)
			if n > 1 {
				name = fmt.Sprintf("decode %d rows after %d", n, after)
			}
			tests = append(tests, engineTest{name, n, after})
		}
	}
	return tests
}

// ours is the engine of this program.
type ours struct {
	m      *model.Model
	prompt *model.Seq // that decoding goes on from, computed once
	logits model.Logits
}

// after returns a sequence of n tokens.
func (e *ours) after(ctx context.Context, n int) (*model.Seq, error) {
	if e.prompt == nil || e.prompt.Len() != n {
		e.prompt = e.m.NewSeq()
		if n > 0 {
			if _, err := e.m.ForwardInto(ctx, []model.Input{{Seq: e.prompt, Tokens: anyTokens(e.m.Config().Vocab, 0, n)}}, &e.logits); err != nil {
				return nil, err
			}
		}
	}
	return e.prompt, nil
}

func (e *ours) measure(ctx context.Context, t engineTest, prompt, steps int) (float64, error) {
	m := e.m
	if t.rows == 0 {
		e.prompt = nil
		begun := time.Now()
		_, err := e.after(ctx, prompt)
		return float64(prompt) / time.Since(begun).Seconds(), err
	}
	base, err := e.after(ctx, t.after)
	if err != nil {
		return 0, err
	}
	batch := make([]model.Input, t.rows)
	for i := range batch {
		batch[i].Seq = base.Fork()
	}
	return timeSteps(t, steps, func(step int) error {
		for i := range batch {
			batch[i].Tokens = anyTokens(m.Config().Vocab, step+i, 1)
		}
		_, err := m.ForwardInto(ctx, batch, &e.logits)
		return err
	})
}

// timeSteps returns the tokens per second of so many steps, after one that is not counted.
func timeSteps(t engineTest, steps int, f func(step int) error) (float64, error) {
	if err := f(0); err != nil {
		return 0, err
	}
	begun := time.Now()
	for step := 1; step <= steps; step++ {
		if err := f(step); err != nil {
			return 0, err
		}
	}
	return float64(steps*t.rows) / time.Since(begun).Seconds(), nil
}

// anyTokens returns n tokens that do not repeat soon.
func anyTokens(vocab, from, n int) []tandem.Token {
	t := make([]tandem.Token, n)
	for i := range t {
		t[i] = tandem.Token(((from+i)*89 + 17) % vocab)
	}
	return t
}

// weightsPerStep returns the bytes of all matrices that one step of decoding multiplies by, and their
// types.
func weightsPerStep(m *model.Model) (bytes int, types string) {
	seen := map[npu.DType]bool{}
	var names []string
	for _, g := range m.Graphs(1) {
		for _, n := range g.Nodes {
			if n.Op == npu.OpMatMul {
				bytes += len(n.Weight.Data)
				if !seen[n.Weight.Type] {
					seen[n.Weight.Type] = true
					names = append(names, n.Weight.Type.String())
				}
			}
		}
	}
	return bytes, strings.Join(names, "+")
}

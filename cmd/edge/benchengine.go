package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem"
	"tandem/internal/cli"
	"tandem/model"
	"tandem/npu"
)

type benchEngine struct {
	cli.ModelFlags `group:"Model"`
	Rows           []int `help:"Numbers of sequences that are decoded at once." default:"1,4,16"`
	Runs           int   `help:"How often each is measured." default:"5"`
	Prompt         int   `help:"Tokens of the prompt." default:"512"`
	Steps          int   `help:"Tokens to decode of each sequence." default:"64"`
}

func (c *benchEngine) Help() string {
	return `Examples:
  edge models random random.gguf && edge bench engine --model random.gguf
  edge bench engine --rows 1,8 --runs 9 --json

Prefill: one prompt from nothing. Decode: tokens one by one, after nothing and after the prompt; with several rows, so many sequences side by side. Each figure is
the median, least and most of the runs, which take turns. Decoding reads all weights once a step: "of limit" is its speed by the rate at which this machine reads
memory, measured before. Other programs at work make all figures worse.`
}

// engineTest is one thing to measure, in tokens per second.
type engineTest struct {
	name  string
	rows  int // sequences; 0 for prefill
	after int // positions before
}

// engineRow is the result of one test.
type engineRow struct {
	Test    string  `json:"test"`
	Type    string  `json:"type"`
	Ours    float64 `json:"ours"` // tokens/s, the median
	Least   float64 `json:"least"`
	Most    float64 `json:"most"`
	OfLimit float64 `json:"of_limit,omitempty"` // bytes of weights read per second, by what this machine can
}

func (c *benchEngine) Run(a *cli.App) error {
	if c.Runs < 1 || c.Steps < 1 || c.Prompt < 1 || slices.ContainsFunc(c.Rows, func(n int) bool { return n < 1 || n > 128 }) {
		return fmt.Errorf("--runs, --prompt and --steps must be 1 or more, --rows 1 to 128")
	}
	m, err := c.ModelFlags.Open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	if limit := m.Config().Context; c.Prompt+c.Steps > limit {
		return fmt.Errorf("--prompt %d and --steps %d exceed the model's context of %d", c.Prompt, c.Steps, limit)
	}
	threads := c.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	bytes, types := weightsPerStep(m)
	rate := readRate(threads)
	tests := engineTests(c.Rows, c.Prompt)
	speeds := make([][]float64, len(tests))
	for run := range c.Runs {
		for i, t := range tests {
			a.Progress("run %d of %d: %s", run+1, c.Runs, t.name)
			v, err := t.measure(a, m, c.Prompt, c.Steps)
			if err != nil {
				return err
			}
			speeds[i] = append(speeds[i], v)
		}
	}
	a.Clear()
	rows := make([]engineRow, len(tests))
	for i, t := range tests {
		s := speeds[i]
		slices.Sort(s)
		rows[i] = engineRow{Test: t.name, Type: types, Ours: s[len(s)/2], Least: s[0], Most: s[len(s)-1]}
		if t.rows > 0 {
			rows[i].OfLimit = rows[i].Ours / float64(t.rows) * float64(bytes) / rate
		}
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"rows": rows, "device": m.Device(), "bytes_per_step": bytes, "bytes_per_second": rate})
	}
	printEngine(a.Out, m.Device(), bytes, rate, rows)
	return nil
}

func printEngine(w io.Writer, device string, bytes int, rate float64, rows []engineRow) {
	fmt.Fprintf(w, "%s, %s\n%.1f MB of weights a step; this machine reads %.1f GB/s\n\n", device, rows[0].Type, float64(bytes)/1e6, rate/1e9)
	fmt.Fprintf(w, "%-28s %10s %19s %9s\n", "test", "tokens/s", "least to most", "of limit")
	for _, r := range rows {
		limit := ""
		if r.OfLimit > 0 {
			limit = fmt.Sprintf("%.0f %%", 100*r.OfLimit)
		}
		fmt.Fprintf(w, "%-28s %10.1f %19s %9s\n", r.Test, r.Ours, fmt.Sprintf("%.1f to %.1f", r.Least, r.Most), limit)
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

// measure runs the test once and returns tokens per second.
func (t engineTest) measure(ctx context.Context, m *model.Model, prompt, steps int) (float64, error) {
	base := m.NewSeq()
	if t.rows == 0 {
		begun := time.Now()
		_, err := m.Forward(ctx, []model.Row{{Seq: base, Tokens: anyTokens(m, 0, prompt)}})
		return float64(prompt) / time.Since(begun).Seconds(), err
	}
	if t.after > 0 {
		if _, err := m.Forward(ctx, []model.Row{{Seq: base, Tokens: anyTokens(m, 0, t.after)}}); err != nil {
			return 0, err
		}
	}
	batch := make([]model.Row, t.rows)
	for i := range batch {
		batch[i].Seq = base.Fork()
	}
	begun := time.Now()
	for step := range steps {
		for i := range batch {
			batch[i].Tokens = anyTokens(m, step+i, 1)
		}
		if _, err := m.Forward(ctx, batch); err != nil {
			return 0, err
		}
	}
	return float64(steps*t.rows) / time.Since(begun).Seconds(), nil
}

// anyTokens returns n tokens that do not repeat soon.
func anyTokens(m *model.Model, from, n int) []tandem.Token {
	t := make([]tandem.Token, n)
	for i := range t {
		t[i] = tandem.Token(((from+i)*89 + 17) % m.Config().Vocab)
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

// readRate measures how many bytes a second so many threads read together, the best of some passes over
// more than any cache holds.
func readRate(threads int) float64 {
	const words = 32 << 20 // 256 MB
	data := make([]uint64, words)
	for i := 0; i < words; i += 512 { // touch every page
		data[i] = 1
	}
	best := 0.0
	var sink [1024]uint64
	for range 5 {
		var wg sync.WaitGroup
		begun := time.Now()
		for t := range threads {
			wg.Go(func() { sink[t%len(sink)] += sum(data[t*words/threads : (t+1)*words/threads]) })
		}
		wg.Wait()
		best = max(best, 8*words/time.Since(begun).Seconds())
	}
	runtime.KeepAlive(sink)
	return best
}

func sum(x []uint64) uint64 {
	var a, b, c, d uint64
	for ; len(x) >= 8; x = x[8:] {
		a, b, c, d = a+x[0]+x[4], b+x[1]+x[5], c+x[2]+x[6], d+x[3]+x[7]
	}
	return a + b + c + d
}

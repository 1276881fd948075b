package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/internal/meter"
	"tandem/model"
	"tandem/model/tokenizer"
	"tandem/npu"
	"tandem/npu/native"
)

type cacheCmd struct {
	Model    string `short:"m" help:"GGUF file, or its name in the models folder. Default: the built-in decoder." placeholder:"FILE"`
	Threads  int    `help:"Threads to compute with; 0 for all cores." default:"0"`
	KVType   string `name:"kv-type" help:"Measure one type only, f16 or q8_0, so that the peak of the memory is of that type alone. Default: both." enum:",f16,q8_0" default:"" placeholder:"TYPE"`
	Contexts []int  `help:"Positions to decode after." default:"256,480"`
	Steps    int    `help:"Tokens to decode in each run." default:"32"`
	Runs     int    `help:"Runs of each test." default:"5"`
	OfThread bool   `name:"processor-time" help:"Measure the processor's time instead of the clock's, for a machine that is busy with other programs. Needs --threads 1."`
	Text     string `help:"Text to measure perplexity on." type:"existingfile" placeholder:"FILE"`
	Tokens   int    `help:"Tokens of the text." default:"8192"`
	Window   int    `help:"Tokens of a window, which is read at once." default:"512"`
}

func (c *cacheCmd) Help() string {
	return `Examples:
  lab cache
  lab cache --text wiki.test.raw
  lab models random random.gguf && lab cache --model random.gguf --contexts 512,4096,16384
  lab cache --model random.gguf --kv-type q8_0 --contexts 32000 --runs 1

It opens the model twice on the native device, with keys and values as F16 and as Q8_0 (--kv-type). For each number of positions it prints the megabytes of a sequence, and the speed of reading the last 128 positions and of decoding behind them; the two take turns, and a figure is the median of the runs. The peak is the most memory that the program had, weights included. With --text it prints the perplexity of each.`
}

// cacheRow is what was measured of one type after one number of positions.
type cacheRow struct {
	Type      string  `json:"type"`
	Positions int     `json:"positions"`
	Bytes     int64   `json:"bytes"`
	Prefill   float64 `json:"prefill"` // tokens/s of the last positions
	Decode    float64 `json:"decode"`  // tokens/s
}

type cacheReport struct {
	Model      string             `json:"model"`
	Device     string             `json:"device"`
	Rows       []cacheRow         `json:"rows"`
	Perplexity map[string]float64 `json:"perplexity,omitempty"`
	Peak       int64              `json:"peak"` // bytes
}

// lastRead is how many positions are read with a cache behind them.
const lastRead = 128

func (c *cacheCmd) Run(a *cli.App) error {
	if c.Steps < 1 || c.Runs < 1 || c.Tokens < 2 || c.Window < 2 || len(c.Contexts) == 0 {
		return errors.New("--steps and --runs must be at least 1, --tokens and --window 2, and --contexts must have a number")
	}
	if c.OfThread {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	now, err := c.clock()
	if err != nil {
		return err
	}
	path, err := modelcmd.Find(a, c.Model)
	if err != nil {
		return err
	}
	var opened []*model.Model
	for _, t := range c.types() {
		m, err := openOn(native.New(c.Threads), path, model.KVCache(t))
		if err != nil {
			return err
		}
		defer m.Close()
		opened = append(opened, m)
	}
	report := cacheReport{Model: opened[0].Config().Name, Device: opened[0].Device()}
	for _, n := range c.Contexts {
		if n <= lastRead || n+c.Steps > opened[0].Config().Context {
			return fmt.Errorf("--contexts %d: use more than %d, and with --steps %d at most the model's context of %d", n, lastRead, c.Steps, opened[0].Config().Context)
		}
		a.Progress("%d positions", n)
		rows, err := c.measure(a, opened, n, now)
		if err != nil {
			return err
		}
		report.Rows = append(report.Rows, rows...)
	}
	if c.Text != "" {
		if report.Perplexity, err = c.perplexities(a, opened); err != nil {
			return err
		}
	}
	report.Peak, _ = meter.PeakMemory()
	a.Clear()
	if a.Globals.JSON {
		return a.JSON(report)
	}
	printCache(a, report)
	return nil
}

// types returns the types to measure.
func (c *cacheCmd) types() []npu.CacheType {
	all := []npu.CacheType{npu.CacheF16, npu.CacheQ8_0}
	return slices.DeleteFunc(all, func(t npu.CacheType) bool { return c.KVType != "" && t.String() != c.KVType })
}

// clock returns the clock that the flags choose, the machine's or that of this thread's work.
func (c *cacheCmd) clock() (now func() time.Duration, err error) {
	if !c.OfThread {
		begun := time.Now()
		return func() time.Duration { return time.Since(begun) }, nil
	}
	if _, ok := meter.ThreadTime(); c.Threads != 1 || !ok {
		return nil, errors.New("--processor-time needs --threads 1, and a system that tells a thread's processor time")
	}
	return func() time.Duration { t, _ := meter.ThreadTime(); return t }, nil
}

// measure reads n positions with each model, then in turns reads the last ones again and decodes after them.
func (c *cacheCmd) measure(ctx context.Context, opened []*model.Model, n int, now func() time.Duration) ([]cacheRow, error) {
	tokens := make([]tandem.Token, n)
	for i := range tokens {
		tokens[i] = tandem.Token((i*89 + 17) % 256)
	}
	var rows []cacheRow
	var seqs []*model.Seq
	var into model.Logits
	for _, m := range opened {
		s := m.NewSeq()
		if _, err := m.ForwardInto(ctx, []model.Input{{Seq: s, Tokens: tokens}}, &into); err != nil {
			return nil, err
		}
		seqs, rows = append(seqs, s), append(rows, cacheRow{Type: m.Config().KV.String(), Positions: n, Bytes: s.Bytes()})
	}
	prefills, decodes := make([][]float64, len(opened)), make([][]float64, len(opened))
	for range c.Runs {
		for i, m := range opened {
			s := seqs[i]
			s.Truncate(n - lastRead)
			begun := now()
			if _, err := m.ForwardInto(ctx, []model.Input{{Seq: s, Tokens: tokens[n-lastRead:]}}, &into); err != nil {
				return nil, err
			}
			prefills[i] = append(prefills[i], lastRead/(now()-begun).Seconds())
			begun = now()
			for j := range c.Steps {
				if _, err := m.ForwardInto(ctx, []model.Input{{Seq: s, Tokens: tokens[j : j+1]}}, &into); err != nil {
					return nil, err
				}
			}
			decodes[i] = append(decodes[i], float64(c.Steps)/(now()-begun).Seconds())
		}
	}
	for i := range rows {
		slices.Sort(prefills[i])
		slices.Sort(decodes[i])
		rows[i].Prefill, rows[i].Decode = prefills[i][c.Runs/2], decodes[i][c.Runs/2]
	}
	return rows, nil
}

// perplexities returns the perplexity of the text by type.
func (c *cacheCmd) perplexities(a *cli.App, opened []*model.Model) (map[string]float64, error) {
	text, err := os.ReadFile(c.Text)
	if err != nil {
		return nil, err
	}
	text = text[:min(len(text), 16*c.Tokens)] // enough for as many tokens
	tokens := opened[0].Tokenizer().Encode(string(text), tokenizer.Options{})
	tokens = tokens[:min(len(tokens), c.Tokens)]
	out := map[string]float64{}
	for _, m := range opened {
		t := m.Config().KV.String()
		a.Progress("perplexity with %s", t)
		if out[t], err = m.Perplexity(a, tokens, c.Window); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func printCache(a *cli.App, r cacheReport) {
	fmt.Fprintf(a.Out, "%s, %s\n\n%10s %6s %10s %18s %18s\n", r.Model, r.Device, "positions", "type", "MB", "read, tokens/s", "decode, tokens/s")
	for _, row := range r.Rows {
		fmt.Fprintf(a.Out, "%10d %6s %10.2f %18.1f %18.1f\n", row.Positions, row.Type, float64(row.Bytes)/1e6, row.Prefill, row.Decode)
	}
	fmt.Fprintf(a.Out, "\npeak: %.1f MB\n", float64(r.Peak)/1e6)
	for _, t := range slices.Sorted(maps.Keys(r.Perplexity)) {
		fmt.Fprintf(a.Out, "perplexity with %s: %.4f\n", t, r.Perplexity[t])
	}
}

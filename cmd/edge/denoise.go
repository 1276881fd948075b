package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/decoder"
	"tandem/dllm"
	"tandem/model"
	"tandem/model/sample"
	"tandem/node"
	"tandem/npu/phone"
	"tandem/pair"
)

// denoiseFlags say how a diffusion model fills its answer.
type denoiseFlags struct {
	ShowDenoising bool    `help:"Show a diffusion model's answer as it settles, step by step." hidden:""`
	Denoise       string  `help:"How a diffusion model works: full (all techniques), or vanilla, prefix-kv, fast-dllm, dual-cache, parallel, +mbsd, +sts, +sls, +scr, to compare." default:"full" placeholder:"METHOD" hidden:""`
	Block         int     `help:"Tokens that a diffusion model decides together." default:"32" hidden:""`
	Visible       float32 `help:"Confidence from which a token is context for others." default:"0.7" hidden:""`
	Stable        float32 `help:"Confidence from which a token is final." default:"0.9" hidden:""`
	Trigger       int     `help:"A pass looks ahead into the next block once no more tokens than this are undecided; 0 for never." default:"4" hidden:""`
	Refresh       int     `help:"Tokens that may still change and that a second path computes again during each pass; 0 for none." default:"2" hidden:""`
}

// given returns the flags that were given.
func (f denoiseFlags) given() []string {
	return namesOf(
		namedFlag{"--show-denoising", f.ShowDenoising}, namedFlag{"--denoise", f.Denoise != "full"}, namedFlag{"--block", f.Block != dllm.DefaultBlock},
		namedFlag{"--visible", f.Visible != dllm.DefaultVisible}, namedFlag{"--stable", f.Stable != dllm.DefaultStable},
		namedFlag{"--trigger", f.Trigger != dllm.DefaultTrigger}, namedFlag{"--refresh", f.Refresh != dllm.DefaultRefresh})
}

// unused returns an error that names the flags which only a diffusion model has.
func (f denoiseFlags) unused(arch string) error {
	given := f.given()
	if len(given) == 0 {
		return nil
	}
	return fmt.Errorf("%s: only for diffusion models (llada, dream), and this one is %s: leave it out", strings.Join(given, ", "), arch)
}

// technique returns the method that the flags ask for.
func (f denoiseFlags) technique() (dllm.Method, error) {
	m, err := dllm.FindMethod(f.Denoise)
	if err != nil {
		return m, fmt.Errorf("--denoise: %w", err)
	}
	if m.Block > 0 {
		m.Block = f.Block
	}
	if m.Visible < m.Stable {
		m.Visible, m.Stable = f.Visible, f.Stable
	}
	if m.Trigger > 0 {
		m.Trigger = f.Trigger
	}
	if m.Refresh > 0 {
		m.Refresh = f.Refresh
	}
	switch {
	case f.Block < 1 || f.Block > 512:
		return m, fmt.Errorf("--block %d: want 1 to 512", f.Block)
	case !(f.Visible > 0 && f.Stable >= f.Visible && f.Stable <= 1):
		return m, fmt.Errorf("--visible %v and --stable %v: want 0 < visible ≤ stable ≤ 1", f.Visible, f.Stable)
	case f.Trigger < 0 || f.Trigger > 512 || f.Refresh < 0 || f.Refresh > 512:
		return m, fmt.Errorf("--trigger %d and --refresh %d: want 0 to 512", f.Trigger, f.Refresh)
	}
	return m, nil
}

// autoregressive returns the flags that make sense only where tokens come one after the other.
func (f samplingFlags) autoregressive() []string {
	return namesOf(namedFlag{"--top-k", f.TopK != 0}, namedFlag{"--top-p", f.TopP != 1}, namedFlag{"--min-p", f.MinP != 0},
		namedFlag{"--repeat-penalty", f.RepeatPenalty != 1}, namedFlag{"--repeat-last", f.RepeatLast != sample.DefaultRepeatLast})
}

// noUse is the error about flags that a diffusion model has no use for.
func noUse(m *model.Model, given []string) error {
	if len(given) == 0 {
		return nil
	}
	return fmt.Errorf("%s: not for a diffusion model (this one is %s), which fills its answer in any order: leave out what does not apply",
		strings.Join(given, ", "), m.Config().Arch)
}

// helpers returns the flags that add drafters or adapters, which a diffusion model cannot use.
func helpers(d modelcmd.DraftFlags, l modelcmd.LoraFlags) []string {
	return namesOf(namedFlag{"--draft", d.Draft != "auto"}, namedFlag{"--forecast", d.Forecast != ""}, namedFlag{"--lora", len(l.Lora) > 0})
}

// denoise answers with a diffusion model.
func (c *runCmd) denoise(a *cli.App, m *model.Model, device *phone.Device, prompt string, sampling sample.Params) error {
	if err := noUse(m, slices.Concat(c.autoregressive(), helpers(c.DraftFlags, c.LoraFlags))); err != nil {
		return err
	}
	method, err := c.technique()
	if err != nil {
		return err
	}
	tokens, err := c.tokens(m, prompt)
	if err != nil {
		return err
	}
	costs, err := measurePasses(a, m, device)
	if err != nil {
		return err
	}
	w := &denoised{app: a, m: m, live: c.ShowDenoising, quiet: a.Globals.JSON, stream: m.Tokenizer().Stream().Write, filter: sample.NewStopFilter(c.Stop)}
	stats, err := w.generate(a, tokens, dllm.Options{Method: method, Costs: costs, MaxTokens: c.MaxTokens, Temperature: sampling.Temperature, Seed: sampling.Seed})
	if !a.Globals.JSON && (err == nil || w.text != "") {
		fmt.Fprintln(a.Out) // also behind a text that was interrupted
	}
	if err != nil {
		return err
	}
	rows, logits := stats.Rows()
	if a.Globals.JSON {
		return a.JSON(map[string]any{
			"text": w.text, "seed": sampling.Seed, "prompt_tokens": len(tokens), "tokens": stats.Tokens, "method": c.Denoise,
			"ttft_ms": tandem.Milliseconds(stats.First), "wall_ms": tandem.Milliseconds(stats.All), "forwards": len(stats.Passes), "rows": rows, "logit_rows": logits,
			"finish": finished(finish(w.filter, stats)),
		})
	}
	c.remarkCut(a, finish(w.filter, stats), m)
	sparse := 0
	for _, p := range stats.Passes {
		sparse += p.SparseRows
	}
	c.printSpeed(a, c.SoC,
		fmt.Sprintf("%d tokens in %d passes · %.0f tokens/s · prompt of %d · first final after %v · seed %d",
			stats.Tokens, len(stats.Passes), float64(stats.Tokens)/max(stats.All.Seconds(), 1e-9), len(tokens), stats.First.Round(time.Millisecond), sampling.Seed),
		fmt.Sprintf("%d rows, %d of them refreshed by the second path · logits of %d rows", rows, sparse, logits))
	return nil
}

// maxMeasured is the most rows of a pass whose time is measured.
const maxMeasured = 128

// measurePasses measures how long passes take, by which the window looks ahead; on a simulated phone by its clock, so that a seed's text
// is the same each time. On a processor the time grows with every row, so there is nothing to gain, and it returns nil.
func measurePasses(a *cli.App, m *model.Model, device *phone.Device) ([]float64, error) {
	var clock func() time.Duration
	if _, simulated := device.Stats(); simulated {
		clock = func() time.Duration {
			s, _ := device.Stats()
			return s.Busy
		}
	} else if m.Processor() {
		return nil, nil
	}
	return dllm.Measure(a, m, maxMeasured, 0, clock)
}

// finish says why the answer ended, in the words of sample.Reason.
func finish(f *sample.StopFilter, s dllm.Stats) sample.Reason {
	if f.Stopped() {
		return sample.Stopped
	}
	switch s.Ended {
	case dllm.StopToken:
		return sample.EndOfText
	case dllm.Interrupted:
		return sample.Stopped
	}
	return sample.TooLong
}

// denoised shows an answer as it is written.
type denoised struct {
	app    *cli.App
	m      *model.Model
	live   bool // show every step; the text comes at the end
	quiet  bool // print no text
	stream func(tandem.Token) string
	filter *sample.StopFilter
	text   string
}

// generate writes an answer. A text of --stop ends it without an error.
func (w *denoised) generate(ctx context.Context, prompt []tandem.Token, o dllm.Options) (dllm.Stats, error) {
	o.Write = func(tokens []tandem.Token) error {
		for _, t := range tokens {
			piece, stop := w.filter.Write(w.stream(t))
			w.show(piece)
			if stop {
				return sample.ErrStop
			}
		}
		return nil
	}
	if w.live {
		o.Step = w.step
	}
	stats, err := dllm.Generate(ctx, w.m, prompt, o)
	if errors.Is(err, sample.ErrStop) {
		err = nil
	}
	w.app.Clear()
	if err == nil {
		w.show(w.filter.Flush())
	}
	if w.live && !w.quiet {
		fmt.Fprint(w.app.Out, cli.StripControls(w.text))
	}
	return stats, err
}

// show adds final text and, unless the steps are shown, prints it.
func (w *denoised) show(piece string) {
	w.text += piece
	if !w.live && !w.quiet {
		fmt.Fprint(w.app.Out, cli.StripControls(piece))
	}
}

// step shows the answer as it is now: on a terminal on one line, which is drawn again, elsewhere on a line for each step.
func (w *denoised) step(_ dllm.Pass, answer []dllm.Cell) {
	f, ok := w.app.Aside.(*os.File)
	if ok && cli.IsTerminal(f) {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width < 20 {
			width = 80
		}
		w.app.Progress("%s", settling(w.m, answer, width-1))
		return
	}
	fmt.Fprintln(w.app.Aside, settling(w.m, answer, 0))
}

// settling returns an answer as one line: undecided tokens are dots, and those that may still change are in brackets. Only
// the last size bytes up to the last token that is not a mask and a few masks are kept, unless size is 0.
func settling(m *model.Model, answer []dllm.Cell, size int) string {
	mask := m.Config().Mask
	last := 0
	for i, c := range answer {
		if c.Token != mask {
			last = i + 1
		}
	}
	var parts []string
	for _, c := range answer[:min(last+4, len(answer))] {
		text := strings.ToValidUTF8(string(m.Tokenizer().Piece(c.Token)), "?")
		switch {
		case c.Token == mask:
			text = "·"
		case m.Tokenizer().IsControl(c.Token):
			text = "¶"
		case c.Status != dllm.Stable:
			text = "[" + text + "]"
		}
		parts = append(parts, cli.Escape(strings.ReplaceAll(text, "\n", "¶")))
	}
	if size > 0 {
		n := len(parts)
		for left := size; n > 0 && left >= len(parts[n-1]); n-- {
			left -= len(parts[n-1])
		}
		parts = slices.Delete(parts, 0, n)
	}
	return strings.ReplaceAll(strings.Join(parts, ""), "][", "")
}

// denoising is how a session's diffusion model works.
type denoising struct {
	method dllm.Method

	mu       sync.Mutex // guards the fields below
	costs    []float64  // of passes, if measured
	measured bool
}

// denoises reports whether answers are denoised in whole blocks: by a diffusion model that answers alone. In a pair it gives
// one token after the other, since both sides agree on each.
func (s *session) denoises() bool { return s.model.Config().Diffusion && s.flags.alone() }

// alone reports whether no cloud is to be asked.
func (f answerFlags) alone() bool { return f.LocalOnly || f.Side == "device" }

// checkDiffusion refuses the flags of an answer that make no sense for a diffusion model.
func (f answerFlags) checkDiffusion(m *model.Model) error {
	given := helpers(f.drafts(), f.LoraFlags)
	if f.Method != "tandem" {
		given = append(given, "--method")
	}
	if !f.alone() {
		if own := f.denoiseFlags.given(); len(own) > 0 {
			return fmt.Errorf("%s: for a diffusion model that answers alone: add --side device", strings.Join(own, ", "))
		}
		return noUse(m, given)
	}
	return noUse(m, slices.Concat(f.autoregressive(), given))
}

// denoise answers a question with a diffusion model from the device's passages, all in one prompt.
func (s *session) denoise(ctx context.Context, q node.Question, settings tandem.Settings, emit func(node.Token)) (node.Answer, error) {
	costs, err := s.passCosts()
	if err != nil {
		return node.Answer{}, err
	}
	write := func(ctx context.Context, w *decoder.OnePrompt, emit func([]tandem.Token) error) (pair.Reason, error) {
		o := dllm.Options{Method: s.denoising.method, Costs: costs, MaxTokens: settings.MaxTokens, Temperature: settings.Sampling.Temperature, Seed: settings.Seed}
		o.Write = emit
		if w.Grounded() {
			o.Limit = w.Limit
		}
		if s.flags.ShowDenoising {
			o.Step = (&denoised{app: s.app, m: s.model}).step
			defer s.app.Clear()
		}
		stats, err := dllm.Generate(ctx, s.model, w.Prompt, o)
		if stats.Ended == dllm.StopToken {
			return pair.ReasonStop, err
		}
		return pair.ReasonLength, err
	}
	return s.device.Local.Write(ctx, q, settings, write, emit)
}

// passCosts returns the times of passes of the session's model, which are measured once.
func (s *session) passCosts() ([]float64, error) {
	d := &s.denoising
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.measured {
		return d.costs, nil
	}
	var err error
	d.costs, err = measurePasses(s.app, s.model, s.phone)
	d.measured = err == nil
	return d.costs, err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/grammar"
	"tandem/model/sample"
	"tandem/model/tokenizer"
	"tandem/npu/phone"
	"tandem/pair"
	"tandem/specdec"
)

type runCmd struct {
	Words []string `arg:"" name:"prompt" optional:"" help:"The prompt. Default, and for a last argument \"-\": standard input."`
	textFlags
	showFlags           `group:"Output:"`
	modelcmd.ModelFlags `group:"Model:"`
	modelcmd.LoraFlags  `group:"Model:"`
	modelcmd.DraftFlags `group:"Model:"`
	samplingFlags       `group:"Sampling:"`
	Raw                 bool     `help:"Continue the prompt as it is, without the chat template."`
	System              string   `help:"System message."`
	Stop                []string `help:"Stop before this text; may be repeated." sep:"none"`
	formFlags           `group:"Sampling:"`
	SoC                 string `name:"soc" help:"Write at the simulated pace of a phone's NPU, as with ask." placeholder:"CHIP"`
	denoiseFlags        `group:"Diffusion models:"`

	history *specdec.History
}

func (c *runCmd) Help() string {
	return `Examples:
  edge run --model qwen2.5-0.5b-instruct-q4_k_m.gguf "Write a haiku about harbours."
  edge run --model qwen2.5-0.5b-instruct-q4_k_m.gguf
  edge run --model stories260K.gguf --raw "Once upon a time"
  edge run --draft all --stats "Summarize:" - < report.txt
  edge run --model qwen2.5-0.5b-instruct-q4_k_m --lora polite --lora summary=0.5 "Where is my parcel?"
  edge run --model qwen2.5:1.5b --json-schema invoice.json "What are the number and the total?" - < invoice.txt
  edge run --model llada-8b-q4_0.gguf --show-denoising "Name three harbours."
  echo "Translate to French: good morning" | edge run --model m.gguf --temperature 0.7 --seed 1

On a terminal and without a prompt, run talks with you: each answer sees what was said before. Ctrl-C stops an answer, and Ctrl-D ends.

--json-schema lets the model write only JSON that fits a schema, and --grammar only what a grammar in llama.cpp's form (GBNF) derives, such as: root ::= "yes" | "no". They take a file or the text itself; --json-schema '{}' is for any JSON object. The text is only cut if it comes to --max-tokens.

A diffusion model (llada, dream) fills its answer in blocks; --show-denoising shows how it settles. With such a model, flags for drafts and for token-by-token sampling are errors.

Names of control tokens in the prompt and in --system, such as <|im_end|>, are read as plain text, so that a file in the prompt cannot pose as the system. --raw gives no such protection.`
}

func (c *runCmd) Run(a *cli.App) (err error) {
	if c.Quiet {
		a.Hush()
	}
	if c.Model == "" && len(c.Words) > 0 && modelcmd.NamesModel(a, c.Words[0]) { // as after the run of other programs
		return fmt.Errorf("%s is the name of a model: edge run --model %s \"…\"; for a prompt that begins so: edge run --prompt \"…\"", c.Words[0], c.Words[0])
	}
	var prompt string
	talks := c.talks(a)
	if !talks {
		if prompt, err = c.text(a, "prompt", c.Words); err != nil {
			return err
		}
	}
	sampling, err := c.sampling()
	if err = errors.Join(err, checkMaxTokens(c.MaxTokens)); err != nil {
		return cli.Usage(err)
	}
	form, err := c.form()
	if err == nil && form != "" {
		sampling.Grammar, err = grammar.Of(form)
	}
	if err != nil {
		return err
	}
	c.Chip = c.SoC
	m, device, err := c.OpenWithDevice(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if c.Model == "" {
		a.Remark("The built-in model is made for answers from documents (edge ask). For other text, take a larger one: edge models pull qwen2.5:0.5b, then --model qwen2.5:0.5b")
	}
	if len(c.Words) > 0 && !endsInDash(c.Words) && inputWaits() {
		a.Remark("Standard input is not read, since there is a prompt. To add it to the prompt, end that with: -")
	}
	if m.Config().Diffusion && len(c.Lora) > 0 {
		return fmt.Errorf("--lora: %s is a diffusion model, and adapters are only for models that write token by token: leave it out", m.Config().Name)
	}
	if m.Config().Diffusion && sampling.Grammar != nil {
		return fmt.Errorf("--grammar and --json-schema: %s is a diffusion model, and these are only for models that write token by token: leave them out", m.Config().Name)
	}
	if m.Config().Diffusion {
		if talks {
			if prompt, err = c.text(a, "prompt", c.Words); err != nil {
				return err
			}
		}
		return c.denoise(a, m, device, prompt, sampling)
	}
	if err := c.denoiseFlags.unused(m.Config().Arch); err != nil {
		return err
	}
	if talks {
		return c.converse(a, m, device, sampling)
	}
	return c.write(a, m, device, prompt, sampling)
}

// write answers with a model that writes token by token.
func (c *runCmd) write(a *cli.App, m *model.Model, device *phone.Device, prompt string, sampling sample.Params) error {
	adapter, err := c.MountAdapter(a, m)
	if err != nil {
		return err
	}
	tokens, err := c.tokens(m, prompt)
	if err != nil {
		return err
	}
	spec, err := c.speculator(a, m)
	if err != nil {
		return err
	}
	text, answer, stats, err := c.stream(a, a, m.NewSeqWith(adapter), tokens, sampling, spec)
	if !a.Globals.JSON && (err == nil || text != "") {
		fmt.Fprintln(a.Out) // also behind a text that was interrupted
	}
	if err != nil {
		return err
	}
	if err := c.remember(tokens, answer); err != nil {
		return err
	}
	if a.Globals.JSON {
		out := map[string]any{
			"text": text, "seed": sampling.Seed, "prompt_tokens": stats.PromptTokens, "tokens": stats.Tokens,
			"ttft_ms": tandem.Milliseconds(stats.First), "prefill_tokens_per_second": stats.PrefillRate(), "tokens_per_second": stats.DecodeRate(),
			"finish": finished(stats.Reason),
		}
		if adapter != nil {
			out["adapter"] = adapter.Name()
		}
		if spec != nil {
			out["passes"], out["drafts"], out["accept_length"] = stats.Passes, spec.Stats(), spec.Stats().AcceptLength()
		}
		return a.JSON(out)
	}
	c.printSummary(a, m, device, stats, sampling.Seed, spec)
	return nil
}

// remarkCut says that a text has not come to its end, if so, and why.
func (c *runCmd) remarkCut(a *cli.App, reason sample.Reason, m *model.Model) {
	switch reason {
	case sample.ContextFull:
		a.Remark("%s", a.Faint(fmt.Sprintf("cut: the model's context of %d tokens is full", m.Config().Context)))
	case sample.TooLong:
		a.Remark("%s", a.Faint(fmt.Sprintf("cut after %d tokens; --max-tokens allows more", c.MaxTokens)))
	}
}

// finished says why a text ended, in the words of ask --json.
func finished(r sample.Reason) string {
	switch r {
	case sample.TooLong, sample.ContextFull:
		return pair.ReasonLength.String()
	}
	return pair.ReasonStop.String()
}

// stream continues the prompt. It prints the text as it comes, unless JSON is asked for, and returns it with its tokens.
func (c *runCmd) stream(ctx context.Context, a *cli.App, seq *model.Seq, prompt []tandem.Token, sampling sample.Params, spec *specdec.Speculator) (text string, answer []tandem.Token, stats sample.Stats, err error) {
	pieces, filter := seq.Model().Tokenizer().Stream(), sample.NewStopFilter(c.Stop)
	if c.Model != "" { // which may take long
		a.Progress("reading")
		defer a.Clear()
	}
	var lead sample.LeadingSpace
	if c.Raw || sampling.Grammar != nil {
		lead.Keep()
	}
	show := func(piece string) {
		piece = lead.Cut(piece)
		if piece != "" && text == "" {
			a.Clear()
		}
		text += piece
		if !a.Globals.JSON {
			fmt.Fprint(a.Out, cli.StripControls(piece))
		}
	}
	var drafts sample.Speculator // nil, not a nil pointer
	if spec != nil {
		drafts = spec
	}
	stats, err = sample.Continue(ctx, seq, prompt, sampling, c.MaxTokens, drafts, func(t tandem.Token) error {
		answer = append(answer, t)
		piece, stopped := filter.Write(pieces.Write(t))
		show(piece)
		if stopped {
			return sample.ErrStop
		}
		return nil
	})
	if err == nil && stats.Reason != sample.Stopped {
		piece, _ := filter.Write(pieces.Flush())
		show(piece + filter.Flush())
	}
	return text, answer, stats, err
}

// printSummary says whether the text was cut, and prints what the flags ask for. spec is nil without drafts.
func (c *runCmd) printSummary(a *cli.App, m *model.Model, device *phone.Device, stats sample.Stats, seed uint64, spec *specdec.Speculator) {
	c.remarkCut(a, stats.Reason, m)
	c.printSpeed(a, c.SoC, fmt.Sprintf("%d tokens · %.0f tokens/s · prompt of %d at %.0f tokens/s · first after %v · seed %d",
		stats.Tokens, stats.DecodeRate(), stats.PromptTokens, stats.PrefillRate(), stats.First.Round(time.Millisecond), seed))
	if m, ok := device.Memory(); ok && !c.Quiet {
		fmt.Fprintln(a.Aside, a.Faint(fmt.Sprintf("weights: at most %.1f MB mapped in %d mappings · %d transfers of together %.1f MB · waited %v for them",
			float64(m.Peak)/(1<<20), m.Mappings, m.Transfers, float64(m.TransferBytes)/(1<<20), m.Stall.Round(time.Millisecond))))
	}
	if spec != nil && c.Stats {
		printDrafts(a, spec.Stats())
	}
}

// tokens returns the prompt in the form that the model expects, if it fits.
func (c *runCmd) tokens(m *model.Model, prompt string) ([]tandem.Token, error) {
	tokens, err := c.encode(m, prompt)
	if err == nil && len(tokens) > m.Config().Context {
		return nil, tooLong(m, len(tokens))
	}
	return tokens, err
}

// tooLong is the error about a prompt that does not fit in the context.
func tooLong(m *model.Model, tokens int) error {
	return fmt.Errorf("the prompt has %d tokens, and %s takes %d: shorten it, or choose a model with a longer context (--model)", tokens, m.Config().Name, m.Config().Context)
}

// encode returns the tokens of the prompt. Its text may come from a file; only the template marks whose turn it is.
func (c *runCmd) encode(m *model.Model, prompt string) ([]tandem.Token, error) {
	if c.Raw {
		return raw(m.Tokenizer(), prompt), nil
	}
	return c.render(m, []chat.Message{{Role: "user", Content: m.Template().Escape(m.Tokenizer(), prompt)}})
}

// render returns the tokens of a conversation, in the form that the model expects. Its texts are escaped.
func (c *runCmd) render(m *model.Model, said []chat.Message) ([]tandem.Token, error) {
	tok, template := m.Tokenizer(), m.Template()
	before, after, err := template.Split(template.Escape(tok, c.System), said)
	if err != nil {
		return nil, err
	}
	return chat.Encode(tok, before+after), nil
}

// raw returns the tokens of a text that is to be continued: with the token that begins a text, if the model requires
// it, and without one that ends it.
func raw(tok *tokenizer.Tokenizer, text string) []tandem.Token {
	tokens := tok.Encode(text, tokenizer.Options{})
	if bos, ok := tok.BOS(); ok && tok.AddsBOS() {
		tokens = append([]tandem.Token{bos}, tokens...)
	}
	return tokens
}

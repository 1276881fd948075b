package phone

import (
	"math"
	"slices"
	"testing"

	"tandem/lab/spec"
	"tandem/model"
	"tandem/model/tokenizer"
	"tandem/models"
	"tandem/npu/phone"
)

// Every row of a simulated phone's answers adds up, says what it is, and has the same tokens as the others. A phone
// repeats a record exactly: one answer on it has the passes that were recorded.
func TestExecuted(t *testing.T) {
	x := Executed{Of: "reader", SoCs: []string{"sm8550/mllm", "sm8750/qnn"}, Shapes: []string{"Qwen2.5-1.5B"}, Variants: ExecutedVariants, MaxTokens: 24, History: t.TempDir()}
	x.Open = func(opt phone.Options, more ...model.Option) (*model.Model, *phone.Device, error) {
		opt.Threads = 1
		d, err := phone.Open(opt)
		if err != nil {
			return nil, nil, err
		}
		m, err := model.OpenBytes("reader", models.Decoder, d, more...)
		return m, d, err
	}
	m, _, err := x.Open(phone.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	prompts, err := spec.Prompts("reply", "")
	if err != nil {
		t.Fatal(err)
	}
	encode := func(text string) spec.Input {
		return spec.Input{Tokens: m.Tokenizer().Encode(text, tokenizer.Options{AddSpecial: true})}
	}
	in := encode(prompts[0].Context + "\nReply:")
	in.Said = m.Tokenizer().Encode(" "+prompts[0].Answer, tokenizer.Options{})
	for _, words := range []spec.Words{{}, {Reference: true, Disagree: .3}} {
		x.Tasks = append(x.Tasks, ExecutedTask{Task: "summary", Words: words, Inputs: []spec.Input{in}})
	}
	rows, err := x.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * 2 * len(ExecutedVariants); len(rows) != want {
		t.Fatalf("%d rows, want %d", len(rows), want)
	}
	fitted := 0
	for _, r := range rows {
		sum := r.Switch + r.Calibration + r.Decoding + r.Drafting
		if r.Tokens < 2 || math.Abs(sum-r.TokenMs*float64(r.Tokens)) > 1e-6*sum || r.Joules <= 0 || r.Prefill <= 0 || r.Calibration < 0 || r.Worst != r.Whole {
			t.Errorf("%+v", r)
		}
		if r.Variant != "CPU" && math.Abs(r.Valid+r.Wasted+r.Underutilised-1) > 1e-9 || r.Valid < 0 || r.Wasted < 0 || r.Underutilised < 0 {
			t.Errorf("%s: shares %v, %v, %v", r.Variant, r.Valid, r.Wasted, r.Underutilised)
		}
		if predicted := r.Variant == "CPU" || r.Variant == "EAGLE"; predicted != (r.Kind == KindPredicted) || r.Acceptance != "reader" || r.CostsOf != "Qwen2.5-1.5B" {
			t.Errorf("%s is %s of %s and %s", r.Variant, r.Kind, r.Acceptance, r.CostsOf)
		}
		if r.Kind == KindFitted {
			fitted++
		}
		passes := 0
		for _, n := range r.Drafts {
			passes += n
		}
		if len(r.Drafts) > 0 && passes != r.Passes {
			t.Errorf("%s: %d passes with drafts counted, %d in all", r.Variant, passes, r.Passes)
		}
		if r.Disagreement.Known != (r.Words != "own") {
			t.Errorf("%s words: disagreement %v", r.Words, r.Disagreement)
		}
	}
	x.History = t.TempDir()                                                               // nobody has answered before
	x.Prompt, x.Tasks, x.Variants, x.SoCs = 900, x.Tasks[1:], []string{"+SD"}, x.SoCs[:1] // more than the decoder's context holds
	long, err := x.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(rows, func(r ExecutedRow) bool { return r.Variant == "+SD" && r.Words != "own" })
	if short, r := rows[i], long[0]; r.Prompt != 900 || r.Read != len(in.Tokens) || short.Prompt != short.Read || r.Passes != short.Passes || r.Accept != short.Accept || r.Prefill < 2*short.Prefill {
		t.Errorf("with a longer prompt %+v, without %+v", r, short)
	}
	if fitted != 4 { // NPU and +G of Qwen2.5-1.5B on sm8550/mllm, in each words
		t.Errorf("%d fitted rows, want 4", fitted)
	}
}

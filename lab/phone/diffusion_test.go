package phone

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"tandem"
	"tandem/dllm"
	"tandem/internal/tinymodel"
	"tandem/lab/report"
	"tandem/model"
	"tandem/model/sample"
	"tandem/model/tokenizer"
	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/phone/sim"
)

// A model that writes token by token takes a pass for each, and is judged as the others are.
func TestDiffusionNextToTokenByToken(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Arch: "llama", Seed: 3, Gain: 3, Context: 128}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	d := Diffusion{Inputs: []DiffusionInput{{Prompt: []tandem.Token{5, 6, 7}}}}
	free, err := d.Autoregressive(t.Context(), m, "tiny", 12)
	if err != nil || free.Exact.Known || free.Forwards < 1 || free.Forwards > 13 || free.Rows != free.Forwards+2 || free.WallMs.Value <= 0 {
		t.Errorf("%+v, %v", free, err)
	}
	var said []tandem.Token
	if _, err := sample.Generate(t.Context(), m, d.Inputs[0].Prompt, sample.Params{}, 12, func(t tandem.Token) error { said = append(said, t); return nil }); err != nil {
		t.Fatal(err)
	}
	d.Inputs = append(d.Inputs, d.Inputs[0])
	d.Inputs[0].Answer, d.Inputs[1].Answer = strings.TrimSpace(m.Tokenizer().Decode(said)), "something else"
	if judged, err := d.Autoregressive(t.Context(), m, "tiny", 12); err != nil || judged.Exact != report.Is(.5) || judged.Forwards != free.Forwards {
		t.Errorf("%+v, %v", judged, err)
	}
}

// All lines are measured; techniques that cannot change a text do not; staging waits no longer than paging.
func TestDiffusion(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Arch: "llada", Seed: 3, Gain: 3}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	prompt := m.Tokenizer().Encode("The mill", tokenizer.Options{AddSpecial: true})
	d := Diffusion{Model: m, Name: "tiny", SoCs: []string{"sm8750/llada"}, Inputs: []DiffusionInput{{prompt, ""}, {append([]tandem.Token{5}, prompt...), "no such answer"}}}
	rows, err := d.Run(t.Context(), DiffusionMethods(), 40, nil)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]DiffusionResult{}
	for _, r := range rows {
		by[r.Method] = r
		if r.Forwards < 1 || r.Forwards > 40 || r.LogitRows > r.Rows || r.SimMs["sm8750"] <= 0 || r.SimMs["sm8750-cpu"] <= 0 || r.Exact != report.Is(0) || r.WallMs.Known == (r.Method == "+somr") {
			t.Errorf("%+v", r)
		}
	}
	if len(by) != len(dllm.Methods)+1 || by["vanilla"].Forwards != 40 || by["prefix-kv"].Forwards != 40 {
		t.Errorf("%d lines, %+v", len(by), by["vanilla"])
	}
	if a, b := by["parallel"], by["+somr"]; a.Forwards != b.Forwards || a.SimMs["sm8750"] <= b.SimMs["sm8750"] {
		t.Errorf("with staging %+v, with paging %+v", b, a)
	}
	if a, b := by["+sts"], by["+sls"]; a.Forwards != b.Forwards || a.Rows != b.Rows || a.LogitRows <= b.LogitRows {
		t.Errorf("skipping logits: %+v, without %+v", b, a)
	}
	// Where the processor computes logits, skipping some saves more than on the NPU.
	if a, b := by["+sts"].SimMs, by["+sls"].SimMs; a["sm8750"]-b["sm8750"] >= a["sm8750-logits"]-b["sm8750-logits"] {
		t.Errorf("skipping logits: %v, without %v", b, a)
	}
	figures, err := d.Trace(t.Context(), dllm.Full(), 40)
	if err != nil || len(figures) != 2 || !bytes.Contains(figures[1].SVG, []byte("simulated")) {
		t.Errorf("%d figures, %v", len(figures), err)
	}
	if _, err := (Diffusion{Model: m}).Run(t.Context(), DiffusionMethods(), 4, nil); err == nil {
		t.Error("without inputs it succeeds")
	}
}

// The model that the recipe makes for tests answers, one token a pass, and all of llada.cpp's techniques together bring its
// answers in fewer passes than Fast-dLLM, of which each computes fewer rows.
func TestDenoisingReader(t *testing.T) {
	m, err := model.Open("../../models/testdata/denoise.gguf", native.New(0))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	d := Diffusion{Model: m, Name: "test", Inputs: denoised(t, m, "../../models/testdata/denoise.jsonl", 20)}
	var methods []DiffusionMethod
	for _, name := range []string{"prefix-kv", "fast-dllm", "+mbsd", "+scr"} {
		method, err := dllm.FindMethod(name)
		if err != nil {
			t.Fatal(err)
		}
		methods = append(methods, DiffusionMethod{Name: name, Method: method})
	}
	rows, err := d.Run(t.Context(), methods, 32, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		t.Logf("%s: %.1f passes, %.0f rows, %.2f right", r.Method, r.Forwards, r.Rows, r.Exact.Value)
	}
	slow, fast, all := rows[0], rows[1], rows[3]
	if slow.Exact.Value < .5 || fast.Exact.Value < .4 || all.Exact.Value < .3 {
		t.Errorf("the answers are worse than they were")
	}
	if all.Forwards > .75*fast.Forwards || all.Rows >= fast.Rows || slow.Forwards != 32 {
		t.Errorf("too many passes or rows")
	}
}

// denoised reads questions and answers.
func denoised(t *testing.T, m *model.Model, path string, most int) (all []DiffusionInput) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var in struct{ Prompt, Answer string }
		if err := json.Unmarshal([]byte(line), &in); err != nil {
			t.Fatal(err)
		}
		if all = append(all, DiffusionInput{m.Tokenizer().Encode(in.Prompt, tokenizer.Options{AddSpecial: true}), in.Answer}); len(all) == most {
			break
		}
	}
	return all
}

// A step takes as long as the longer path. The second path reads the weights, too: with one row it takes about as long as the
// first.
func TestDiffusionPhone(t *testing.T) {
	c, err := sim.Find("sm8750/llada")
	if err != nil {
		t.Fatal(err)
	}
	s, err := shapeIn("LLaDA-8B", npu.Q4_0)
	if err != nil {
		t.Fatal(err)
	}
	x := newDiffusionPhone(c, s)
	p := dllm.Pass{Rows: 32, Logits: 16, Sees: 160}
	alone := x.step(p, Staging)
	p.SparseRows, p.SparseLogits = 1, 1
	one, oneRow := x.step(p, Staging), x.sparse(p)
	p.SparseRows, p.SparseLogits = 64, 64
	if many := x.step(p, Staging); one > alone*6/5 || one != max(alone, x.dense(p).CPU+oneRow) || many != x.dense(p).CPU+x.sparse(p) || many <= alone {
		t.Errorf("alone %v, with one row %v, with 64 %v", alone, one, many)
	}
	p.SparseRows, p.Logits = 0, 0
	if without := x.step(p, Staging); without >= alone {
		t.Errorf("without logits %v, with 16 %v", without, alone)
	}
	if a, b := x.step(p, Paging), x.step(p, Staging); a <= b {
		t.Errorf("paged %v, staged %v", a, b)
	}
	far := p
	far.SparseRows, far.Sees = 4, 2048
	near := far
	near.Sees = 64
	if x.sparse(far) <= x.sparse(near) || x.onProcessor(far) <= x.onProcessor(near) {
		t.Errorf("the processor's attention costs nothing: %v and %v for 2048 slots, %v and %v for 64", x.sparse(far), x.onProcessor(far), x.sparse(near), x.onProcessor(near))
	}
	if costs, err := DiffusionCosts("sm8750/llada", 70); err != nil || len(costs) != 70 || costs[32] < costs[31] || costs[30] > 1.1*costs[16] {
		t.Errorf("%v, %v", costs, err)
	}
	if ms, err := AutoregressiveMs("sm8750/llada", 100, 10); err != nil || ms <= 0 {
		t.Errorf("%v, %v", ms, err)
	}
	if !strings.HasPrefix(DiffusionVariants()[0].Name, "full, ") {
		t.Error("variants have no names")
	}
}

package spec

import (
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/dllm"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu/native"
	"tandem/specdec"
)

func tinyOf(t *testing.T, arch string, words ...string) *model.Model {
	t.Helper()
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Arch: arch, Seed: 3, Gain: 3, Context: 128, Words: words}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// A draft begins with what the diffusion model finds likeliest after the text, within a block, at its edge and after a rewind.
func TestBlockDraftsBeginWithTheLikeliest(t *testing.T) {
	for _, arch := range []string{"llada", "dream"} {
		m := tinyOf(t, arch)
		prompt, answer := []tandem.Token{7, 8, 9, 10, 11}, []tandem.Token(nil)
		for i := range 70 {
			answer = append(answer, tandem.Token(i*37%200))
		}
		b := &blockDrafts{m: m}
		b.Committed(prompt)
		drafted := 0
		for _, n := range []int{0, 3, 31, 32, 33, 64, 70, 40, 12} {
			if n < len(b.answer) {
				b.Rewind(len(prompt) + n)
			} else {
				b.Committed(answer[len(b.answer):n])
			}
			tree := specdec.NewTree(40, nil)
			b.Propose(tree)
			if b.err != nil {
				t.Fatal(b.err)
			}
			p, seq := dllm.NewPasses(m), m.NewSeq()
			logits, err := p.Prefill(t.Context(), []model.Input{{Seq: seq, Tokens: prompt}}, new(model.Logits))
			if err == nil && n > 0 {
				logits, err = p.ForwardInto(t.Context(), []model.Input{{Seq: seq, Tokens: answer[:n]}}, new(model.Logits))
			}
			if err != nil {
				t.Fatal(err)
			}
			want, sure := likeliestOf(logits[0])
			if len(tree.Nodes) == 0 {
				if sure >= minBlock && !m.Tokenizer().EOG(want) {
					t.Errorf("%s after %d tokens: no draft, want %d with %.2f", arch, n, want, sure)
				}
				continue
			}
			drafted += len(tree.Nodes)
			if tree.Nodes[0].Token != want || n+len(tree.Nodes) > (n/dllm.DefaultBlock+1)*dllm.DefaultBlock {
				t.Errorf("%s after %d tokens: %d tokens beginning with %d, want %d", arch, n, len(tree.Nodes), tree.Nodes[0].Token, want)
			}
		}
		if drafted == 0 {
			t.Errorf("%s: nothing was ever drafted", arch)
		}
	}
}

// Drafts of blocks change no answer, and a denoiser that cannot draft is refused by name.
func TestBlocks(t *testing.T) {
	s := Experiment{Model: tinyOf(t, "llama", "it"), Denoiser: tinyOf(t, "llada", "it"), Costs: slices.Repeat(specdec.Costs{1}, 64), History: t.TempDir(), MaxTokens: 40, Rows: 32}
	inputs := []Input{{Tokens: []tandem.Token{1, 2, 3, 4, 5}}}
	rows, err := s.Run(t.Context(), "own", inputs, []string{Blocks}, nil)
	if err != nil || len(rows) != 1 || rows[0].DrafterMs <= 0 {
		t.Errorf("%+v, %v", rows, err)
	}
	for want, d := range map[string]*model.Model{"no diffusion model is given": nil, "is not a diffusion model": s.Model, "another vocabulary": tinyOf(t, "llada", "on")} {
		s.Denoiser = d
		if _, err := s.Run(t.Context(), "own", inputs, []string{Blocks}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

package dllm

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/npu/native"
)

// following computes from nothing what follows an answer of a prompt: all rows in one pass without a cache.
func following(t *testing.T, m *model.Model, prompt, answer []tandem.Token) []float32 {
	t.Helper()
	c, n := m.Config(), len(answer)
	total := min(n/DefaultBlock*DefaultBlock+DefaultBlock, c.Context-len(prompt))
	asked := len(prompt) + n
	if c.Shifted {
		asked--
	}
	var rows []model.DenoiseRow
	for i, token := range prompt {
		rows = append(rows, model.DenoiseRow{Position: i, Token: token, Sees: len(prompt), Logits: i == asked})
		if c.CausalPrompt {
			rows[i].Sees = i + 1
		}
	}
	for i := range total {
		token := c.Mask
		if i < n {
			token = answer[i]
		}
		end := min(i/DefaultBlock*DefaultBlock+DefaultBlock, total)
		rows = append(rows, model.DenoiseRow{Position: len(prompt) + i, Token: token, Sees: len(prompt) + end, Logits: len(prompt)+i == asked})
	}
	out, err := m.Denoise(t.Context(), m.NewSeq(), rows, new(model.Logits))
	if err != nil {
		t.Fatal(err)
	}
	out[0][c.Mask] = float32(math.Inf(-1))
	return out[0]
}

// ofKind returns a random model of an architecture, with or without a prompt whose rows see those before only.
func ofKind(t *testing.T, kind string) *model.Model {
	t.Helper()
	arch, causal, _ := strings.Cut(kind, " ")
	meta, tensors := tinymodel.Parts(tinymodel.Spec{Arch: arch, Seed: 3, Gain: 3, Context: 256})
	if causal != "" {
		meta = append(meta, gguf.KV{Key: "tandem.causal_prompt", Value: true})
	}
	var b bytes.Buffer
	if err := gguf.Write(&b, meta, tensors); err != nil {
		t.Fatal(err)
	}
	m, err := model.OpenBytes("tiny", b.Bytes(), native.New(1))
	if err != nil || m.Config().CausalPrompt != (causal != "") {
		t.Fatalf("%s: %v", kind, err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// What follows an answer is the same to the bit as computed from nothing, whatever was appended, rolled back and interrupted
// before: within a block, at its edges, and over several.
func TestPassesDependOnTheTextAlone(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1
	}
	for _, arch := range []string{"llada", "dream", "dream with a causal prompt"} {
		m := ofKind(t, arch)
		for seed := range seeds {
			rng := rand.New(rand.NewPCG(seed, 1))
			before := prompt(1 + rng.IntN(40))
			p, seq := NewPasses(m), m.NewSeq()
			out, err := p.Prefill(t.Context(), []model.Input{{Seq: seq, Tokens: before}}, new(model.Logits))
			if err != nil {
				t.Fatal(err)
			}
			var answer []tandem.Token
			if want := following(t, m, before, nil); !slices.Equal(out[0], want) {
				t.Fatalf("%s seed %d: after the prompt: not what is computed from nothing", arch, seed)
			}
			for range 40 {
				switch rng.IntN(5) {
				case 0:
					answer = answer[:rng.IntN(len(answer)+1)]
					seq.Truncate(len(before) + len(answer))
					continue
				case 1: // to an edge
					if n := len(answer) / DefaultBlock * DefaultBlock; n > 0 {
						answer = answer[:n-rng.IntN(2)]
						seq.Truncate(len(before) + len(answer))
					}
				}
				var more []tandem.Token
				for range 1 + rng.IntN(40) {
					more = append(more, tandem.Token(rng.IntN(200)))
				}
				if len(answer)+len(more) > 100 {
					continue
				}
				all := rng.IntN(2) == 0
				if rng.IntN(3) == 0 { // an interrupted call changes nothing
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					if _, err := p.ForwardInto(ctx, []model.Input{{Seq: seq, Tokens: more, All: all}}, new(model.Logits)); err == nil {
						t.Fatal("a cancelled pass succeeded")
					}
					if seq.Len() != len(before)+len(answer) {
						t.Fatalf("a cancelled pass left %d positions, want %d", seq.Len(), len(before)+len(answer))
					}
				}
				out, err := p.ForwardInto(t.Context(), []model.Input{{Seq: seq, Tokens: more, All: all}}, new(model.Logits))
				if err != nil {
					t.Fatal(err)
				}
				at := len(answer)
				answer = append(answer, more...)
				if !all {
					at = len(answer) - 1
				}
				for i, got := range out {
					if want := following(t, m, before, answer[:at+i+1]); !slices.Equal(got, want) {
						t.Fatalf("%s seed %d: after %d tokens of prompt and %d of answer: not what is computed from nothing", arch, seed, len(before), at+i+1)
					}
				}
			}
		}
	}
}

// What cannot be computed is an error that leaves the sequence as it is.
func TestPassesRefuse(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Arch: "llada", Context: 16}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	p, seq := NewPasses(m), m.NewSeq()
	forward := func(in model.Input) error {
		_, err := p.ForwardInto(t.Context(), []model.Input{in}, new(model.Logits))
		return err
	}
	if forward(model.Input{Seq: seq, Tokens: prompt(1)}) == nil {
		t.Error("an answer without a prompt was taken")
	}
	if _, err := p.Prefill(t.Context(), []model.Input{{Seq: seq, Tokens: prompt(8)}}, new(model.Logits)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Prefill(t.Context(), []model.Input{{Seq: seq, Tokens: prompt(2)}}, new(model.Logits)); err == nil {
		t.Error("a second prompt was taken")
	}
	if forward(model.Input{Seq: seq, Tokens: prompt(2), Parents: []int{-1, -1}}) == nil {
		t.Error("a draft tree was taken")
	}
	if err := forward(model.Input{Seq: seq, Tokens: prompt(8)}); err == nil || seq.Len() != 8 {
		t.Errorf("an answer that leaves no room: %v, %d positions", err, seq.Len())
	}
	if err := forward(model.Input{Seq: seq, Tokens: prompt(7)}); err != nil || seq.Len() != 15 {
		t.Errorf("the last token: %v, %d positions", err, seq.Len())
	}
}

// BenchmarkPasses measures what it costs to check a chain of tokens: 1, 2, 4 and 8 of them after a prompt of 128, each with what
// follows it. An autoregressive model computes a chain in one pass, a diffusion model a block for each token.
func BenchmarkPasses(b *testing.B) {
	for _, arch := range []string{"llama", "llada", "dream"} {
		m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Arch: arch, Layers: 6, Dim: 256, FF: 512}), native.New(1))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { m.Close() })
		for _, n := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("%s/%d", arch, n), func(b *testing.B) { benchmarkChain(b, m, n) })
		}
	}
}

// benchmarkChain appends n tokens to a prompt and takes them back.
func benchmarkChain(b *testing.B, m *model.Model, n int) {
	prompt := make([]tandem.Token, 128)
	for i := range prompt {
		prompt[i] = tandem.Token(40 + i%60)
	}
	seq, forward, logits := m.NewSeq(), m.ForwardInto, new(model.Logits)
	begin := forward
	if m.Config().Diffusion {
		p := NewPasses(m)
		begin, forward = p.Prefill, p.ForwardInto
	}
	if _, err := begin(b.Context(), []model.Input{{Seq: seq, Tokens: prompt}}, logits); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := forward(b.Context(), []model.Input{{Seq: seq, Tokens: prompt[:n], All: true}}, logits); err != nil {
			b.Fatal(err)
		}
		seq.Truncate(len(prompt))
	}
}

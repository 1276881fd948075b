package model

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/reference"
)

// diffusionModel opens a random model whose rows attend both ways.
func diffusionModel(t testing.TB, spec tinymodel.Spec, d npu.Device) *Model {
	t.Helper()
	m, err := OpenBytes("tiny", tinymodel.GGUF(spec), d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// clone returns a second sequence with the same positions in memory of its own.
func clone(s *Seq) *Seq {
	c := s.m.NewSeq()
	c.Grow(s.Len())
	c.CopyFrom(s, 0, s.Len())
	return c
}

// denoiseRows returns n rows from a position on, with random tokens and all logits.
func denoiseRows(r *rand.Rand, from, n, sees int) (rows []DenoiseRow) {
	for i := range n {
		rows = append(rows, DenoiseRow{Position: from + i, Token: tandem.Token(r.IntN(250)), Sees: sees, Logits: true})
	}
	return rows
}

func denoise(t testing.TB, m *Model, s *Seq, rows []DenoiseRow) (out [][]float32) {
	t.Helper()
	var into Logits
	logits, err := m.Denoise(t.Context(), s, rows, &into)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range logits {
		out = append(out, slices.Clone(l))
	}
	return out
}

func equal(a, b [][]float32) bool { return slices.EqualFunc(a, b, slices.Equal[[]float32]) }

var diffusionSpecs = []tinymodel.Spec{
	{Arch: "llada", Seed: 1}, {Arch: "dream", Seed: 2}, {Arch: "llada", Seed: 3, Layers: 3, Heads: 2, HeadDim: 32, Untied: true, Type: npu.Q8_0},
	{Arch: "dream", Seed: 4, Heads: 8, KVHeads: 2, HeadDim: 16, Type: npu.Q4_0},
}

// Native agrees with the plain reference.
func TestDenoiseAgreesWithReference(t *testing.T) {
	for _, spec := range diffusionSpecs {
		bound := float32(1e-3)
		if spec.Type != npu.F32 { // native quantises activations, too
			bound = .3
		}
		r := rand.New(rand.NewPCG(spec.Seed, 1))
		m, ref := diffusionModel(t, spec, native.New(2)), diffusionModel(t, spec, reference.New())
		rows := denoiseRows(r, 0, 45, 45)
		for i := range rows {
			rows[i].Sees = 17 + min(28, i/17*28) // two blocks
		}
		got, want := denoise(t, m, m.NewSeq(), rows), denoise(t, ref, ref.NewSeq(), rows)
		for i := range want {
			for j := range want[i] {
				if d := got[i][j] - want[i][j]; d > bound || d < -bound {
					t.Fatalf("%+v: row %d, token %d: %v, want %v", spec, i, j, got[i][j], want[i][j])
				}
			}
		}
	}
}

// A row's results depend only on what it sees: not on other rows, chunks or threads, nor on whether its block is
// computed in one pass or row by row over what was there.
func TestDenoiseIsExact(t *testing.T) {
	for _, spec := range diffusionSpecs {
		r := rand.New(rand.NewPCG(spec.Seed, 2))
		m := diffusionModel(t, spec, native.New(2))
		for _, n := range []int{1, 7, 32, 33, 150, 300} { // above 128 in several chunks
			rows := denoiseRows(r, 0, n, n)
			s := m.NewSeq()
			want := denoise(t, m, s, rows)
			if s.Len() != n || len(want) != n {
				t.Fatalf("%d rows: %d logits, length %d", n, len(want), s.Len())
			}
			// Threads.
			m1 := diffusionModel(t, spec, native.New(1))
			if !equal(denoise(t, m1, m1.NewSeq(), rows), want) {
				t.Errorf("%+v: %d rows: threads matter", spec, n)
			}
			// Computed again in place, all rows or with fewer logits: the same bits.
			if !equal(denoise(t, m, s, rows), want) {
				t.Errorf("%+v: %d rows: computing again matters", spec, n)
			}
			some := slices.Clone(rows)
			var those [][]float32
			for i := range some {
				if some[i].Logits = i%3 == 1; some[i].Logits {
					those = append(those, want[i])
				}
			}
			if !equal(denoise(t, m, s, some), those) {
				t.Errorf("%+v: %d rows: choosing logits matters", spec, n)
			}
			// Another block behind it, in the same pass or after it.
			more := append(slices.Clone(rows), denoiseRows(r, n, 20, n+20)...)
			together := denoise(t, m, m.NewSeq(), more)
			apart := append(slices.Clone(want), denoise(t, m, s, more[n:])...)
			if !equal(together, apart) {
				t.Errorf("%+v: %d rows: the next block matters", spec, n)
			}
		}
	}
}

// A row that sees what the whole pass saw gets the same bits when it is computed again alone, in place: a sparse refresh
// of unchanged rows changes nothing, and one of all rows is a full computation.
func TestSparseDenoiseOfAllRowsIsDense(t *testing.T) {
	spec := diffusionSpecs[0]
	r := rand.New(rand.NewPCG(5, 2))
	m := diffusionModel(t, spec, native.New(1))
	rows := denoiseRows(r, 0, 60, 60)
	s := m.NewSeq()
	blocks := slices.Clone(rows) // block by block
	for i := range blocks {
		blocks[i].Sees = 20 * (i/20 + 1)
	}
	denoise(t, m, s, blocks)
	refreshed := clone(s)
	got := denoise(t, m, refreshed, rows)
	fresh := m.NewSeq()
	if !equal(got, denoise(t, m, fresh, rows)) {
		t.Error("a refresh of all rows is not a full computation")
	}
	next := denoiseRows(r, 60, 8, 68)
	if !equal(denoise(t, m, refreshed, next), denoise(t, m, fresh, next)) {
		t.Error("the caches differ after a refresh of all rows")
	}
	if equal(denoise(t, m, s, next), denoise(t, m, fresh, next)) {
		t.Error("the refresh of a clone changed the original, or what rows see does not matter")
	}
	// Copying the slots of the refreshed sequence gives its cache.
	s.CopyFrom(refreshed, 0, 60)
	if !equal(denoise(t, m, s, next), denoise(t, m, fresh, next)) {
		t.Error("copied slots differ")
	}
	if a := []DenoiseRow{rows[3], rows[17], rows[40]}; !equal(denoise(t, m, s, a), [][]float32{got[3], got[17], got[40]}) {
		// Only if the others' keys and values are the same below each layer: they are, since nothing changed.
		t.Error("some rows computed again differ")
	}
}

func TestDenoiseChecksRows(t *testing.T) {
	m := diffusionModel(t, tinymodel.Spec{Arch: "llada", Context: 64}, native.New(1))
	r := rand.New(rand.NewPCG(1, 2))
	s := m.NewSeq()
	denoise(t, m, s, denoiseRows(r, 0, 10, 10))
	other := diffusionModel(t, tinymodel.Spec{Arch: "llada"}, native.New(1))
	for name, c := range map[string]struct {
		seq  *Seq
		rows []DenoiseRow
		want string
	}{
		"none":       {s, nil, "no rows"},
		"foreign":    {other.NewSeq(), denoiseRows(r, 0, 1, 1), "another model"},
		"gap":        {s, denoiseRows(r, 11, 2, 13), "without a gap"},
		"gap inside": {s, []DenoiseRow{{Position: 3, Sees: 4}, {Position: 11, Sees: 12}}, "without a gap"},
		"order":      {s, []DenoiseRow{{Position: 3, Sees: 4}, {Position: 3, Sees: 4}}, "ascend"},
		"negative":   {s, []DenoiseRow{{Position: -1, Sees: 4}}, "ascend"},
		"blind":      {s, []DenoiseRow{{Position: 3, Sees: 3}}, "sees 3 slots"},
		"beyond":     {s, []DenoiseRow{{Position: 3, Sees: 11}}, "sees 11 slots"},
		"token":      {s, []DenoiseRow{{Position: 3, Sees: 4, Token: 9999}}, "vocabulary"},
		"context":    {s, denoiseRows(r, 10, 60, 70), "context of 64"},
		"shared":     {s.Fork(), denoiseRows(r, 3, 1, 10), "copy the positions"},
	} {
		if _, err := m.Denoise(t.Context(), c.seq, c.rows, new(Logits)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if s.Len() != 10 {
			t.Fatalf("%s: the sequence has %d positions", name, s.Len())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Denoise(ctx, clone(s), denoiseRows(r, 10, 4, 14), new(Logits)); err == nil {
		t.Error("a cancelled pass succeeds")
	}
	if _, err := OpenBytes("tiny", withoutMask(t), native.New(1)); err == nil || !strings.Contains(err.Error(), "mask_token_id") {
		t.Errorf("without a mask token: %v", err)
	}
	plain := diffusionModel(t, tinymodel.Spec{}, native.New(1))
	if _, err := plain.Denoise(t.Context(), plain.NewSeq(), denoiseRows(r, 0, 1, 1), new(Logits)); err == nil || !strings.Contains(err.Error(), "not a diffusion model") {
		t.Errorf("an autoregressive model: %v", err)
	}
}

// llama.cpp writes for LLaDA that logits are not shifted, and nothing for Dream, whose logits are.
func TestShiftedLogits(t *testing.T) {
	const key = "diffusion.shift_logits"
	for _, c := range []struct {
		arch  string
		value any
		want  bool
	}{{"llada", nil, false}, {"llada", false, false}, {"dream", nil, true}, {"dream", true, true}, {"dream", false, false}} {
		meta, tensors := tinymodel.Parts(tinymodel.Spec{Arch: c.arch})
		meta = slices.DeleteFunc(meta, func(kv gguf.KV) bool { return kv.Key == key })
		if c.value != nil {
			meta = append(meta, gguf.KV{Key: key, Value: c.value})
		}
		var b bytes.Buffer
		if err := gguf.Write(&b, meta, tensors); err != nil {
			t.Fatal(err)
		}
		m, err := OpenBytes("tiny", b.Bytes(), native.New(1))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Config().Shifted; got != c.want {
			t.Errorf("%s with %v: shifted is %v", c.arch, c.value, got)
		}
		m.Close()
	}
}

func TestMixtureOfExpertsIsRefused(t *testing.T) {
	meta, tensors := tinymodel.Parts(tinymodel.Spec{Arch: "llada"})
	for i := range meta {
		if meta[i].Key == "general.architecture" {
			meta[i].Value = "llada-moe"
		}
	}
	var b bytes.Buffer
	if err := gguf.Write(&b, meta, tensors); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBytes("tiny", b.Bytes(), native.New(1)); err == nil || !strings.Contains(err.Error(), `"llada-moe"`) || !strings.Contains(err.Error(), "mixture of experts") {
		t.Errorf("llada-moe: %v", err)
	}
}

// withoutMask is a diffusion model's file without a mask token.
func withoutMask(t *testing.T) []byte {
	meta, tensors := tinymodel.Parts(tinymodel.Spec{Arch: "llada"})
	meta = slices.DeleteFunc(meta, func(kv gguf.KV) bool { return kv.Key == "tokenizer.ggml.mask_token_id" })
	var b bytes.Buffer
	if err := gguf.Write(&b, meta, tensors); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// liveStory denoises blocks, computes some of their rows again in place and in a copy, and returns all logits.
func liveStory(t *testing.T, m *Model) (all [][]float32) {
	r := rand.New(rand.NewPCG(7, 7))
	s := m.NewSeq()
	first := denoiseRows(r, 0, 70, 70)
	all = append(all, denoise(t, m, s, first)...)
	first = append(denoiseRows(r, 60, 10, 70), denoiseRows(r, 70, 32, 102)...) // other tokens in ten rows, and the next block
	all = append(all, denoise(t, m, s, first)...)
	second := clone(s)
	sparse := []DenoiseRow{{Position: 3, Token: 9, Sees: 70, Logits: true}, {Position: 40, Token: 7, Sees: 70, Logits: true}}
	all = append(all, denoise(t, m, second, sparse)...)
	all = append(all, denoise(t, m, s, first[10:])...)
	s.CopyFrom(second, 3, 4)
	s.CopyFrom(second, 40, 41)
	all = append(all, denoise(t, m, s, first[10:])...)
	s.Truncate(80)
	all = append(all, denoise(t, m, s, denoiseRows(r, 80, 5, 85))...)
	return append(all, denoise(t, m, s, denoiseRows(r, 85, 150, 235))...) // more than a chunk
}

// grouped is a device that prefers several layers in a program.
type grouped struct {
	npu.Device
	layers int
}

func (d grouped) Traits() npu.Traits {
	t := d.Device.Traits()
	t.LayersAtOnce = d.layers
	return t
}

// Rows that need several chunks are computed layer by layer, whatever the device prefers.
func TestDenoiseOnGroupedLayers(t *testing.T) {
	spec := tinymodel.Spec{Arch: "llada", Layers: 3, Type: npu.Q8_0}
	want := liveStory(t, diffusionModel(t, spec, native.New(1)))
	for _, layers := range []int{2, 3, math.MaxInt} {
		if !equal(liveStory(t, diffusionModel(t, spec, grouped{native.New(1), layers})), want) {
			t.Errorf("%d layers at once: the logits differ", layers)
		}
	}
}

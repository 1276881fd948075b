package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/reference"
)

var allParts = []string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}

// someDelta returns random changes of parts of the model's layers.
func someDelta(m *Model, name string, seed uint64, rank int, parts ...string) Delta {
	r := rand.New(rand.NewPCG(seed, 0xada))
	d := Delta{Name: name}
	for layer := range m.config.Layers {
		for _, part := range parts {
			w := m.tensors.found[fmt.Sprintf("blk.%d.%s.weight", layer, part)]
			if w == nil {
				continue
			}
			c := Change{Weight: w.Name, Rank: rank}
			for range rank * w.Cols {
				c.A = append(c.A, float32(r.NormFloat64()/math.Sqrt(float64(w.Cols))))
			}
			for range rank * w.Rows {
				c.B = append(c.B, float32(0.5*r.NormFloat64()))
			}
			d.Changes = append(d.Changes, c)
		}
	}
	return d
}

func mount(t testing.TB, m *Model, how Approach, deltas ...Delta) []*Adapter {
	t.Helper()
	list, err := m.Mount(how, deltas...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// logitsWith returns the logits after the tokens with an adapter.
func logitsWith(t testing.TB, m *Model, a *Adapter, tokens ...tandem.Token) [][]float32 {
	t.Helper()
	out, err := m.Forward(context.Background(), []Input{{Seq: m.NewSeqWith(a), Tokens: tokens, All: true}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A sequence that was computed with one adapter, or with none, is never read for another: its keys and values differ.
func TestCacheOfOneAdapterIsNeverUsedForAnother(t *testing.T) {
	m := variant(t, tinymodel.Spec{}, 1, 8)
	same := someDelta(m, "first", 1, 4, allParts...)
	list := mount(t, m, Inputs, same, someDelta(m, "second", 2, 4, allParts...), someDelta(m, "first", 1, 4, "attn_q"))
	again := mount(t, m, Inputs, same)[0]
	all := append([]*Adapter{nil}, list...)
	tokens := []tandem.Token{1, 2, 3}
	for i, wrote := range all {
		seq := m.NewSeqWith(wrote)
		if _, err := m.Forward(context.Background(), []Input{{Seq: seq, Tokens: tokens}}); err != nil {
			t.Fatal(err)
		}
		if fork := seq.Fork(); fork.Adapter() != wrote {
			t.Error("a fork has another adapter")
		}
		var saved bytes.Buffer
		if _, err := seq.WriteTo(&saved); err != nil {
			t.Fatal(err)
		}
		for j, reads := range all {
			got, err := m.ReadSeqWith(bytes.NewReader(saved.Bytes()), reads)
			switch {
			case i == j && (err != nil || got.Adapter() != reads):
				t.Errorf("adapter %d does not read what it wrote: %v", i, err)
			case i != j && !errors.Is(err, errSaved):
				t.Errorf("adapter %d reads what %d wrote: error %v", j, i, err)
			}
		}
		if i == 1 {
			if _, err := m.ReadSeqWith(bytes.NewReader(saved.Bytes()), again); err != nil {
				t.Errorf("the same factors, mounted again: %v", err)
			}
		}
	}
}

// In a pass over sequences with different adapters of several ranks, targets and mounts, or none, each sequence gets the same
// logits as alone, to the bit, for any chunks and threads.
func TestMixedPassEqualsPassesAlone(t *testing.T) {
	for _, spec := range []tinymodel.Spec{{Type: npu.Q8_0, Dim: 96, FF: 160}, {Type: npu.F32, Arch: "qwen2", Dim: 64, FF: 96}, {Type: npu.F16, Arch: "opt", Dim: 64, FF: 96}} {
		t.Run(fmt.Sprintf("%s %v", spec.Arch, spec.Type), func(t *testing.T) {
			alone := variant(t, spec, 1, 1)
			some := []*Model{variant(t, spec, 1, 5), variant(t, spec, 2, 1, 8, 32)}
			adapters := func(m *Model) []*Adapter {
				list := mount(t, m, Inputs, someDelta(m, "a", 1, 4, allParts...), someDelta(m, "b", 2, 17, "attn_q", "attn_v"))
				list = append(list, mount(t, m, Inputs, someDelta(m, "c", 3, 1, "ffn_up", "ffn_down"))...)
				return append(list, nil, mount(t, m, Graphs, someDelta(m, "d", 4, 3, allParts...))[0])
			}
			of := map[*Model][]*Adapter{alone: adapters(alone), some[0]: adapters(some[0]), some[1]: adapters(some[1])}
			rapid.Check(t, func(t *rapid.T) {
				m := some[rapid.IntRange(0, 1).Draw(t, "model")]
				var inputs, single []Input
				for range rapid.IntRange(1, 6).Draw(t, "sequences") {
					which := rapid.IntRange(0, 4).Draw(t, "adapter")
					in := Input{Seq: m.NewSeqWith(of[m][which]), All: rapid.Bool().Draw(t, "all")}
					for range rapid.IntRange(1, 7).Draw(t, "tokens") {
						in.Tokens = append(in.Tokens, tandem.Token(rapid.IntRange(0, 255).Draw(t, "token")))
					}
					inputs = append(inputs, in)
					in.Seq = alone.NewSeqWith(of[alone][which])
					single = append(single, in)
				}
				got, err := m.Forward(context.Background(), inputs)
				if err != nil {
					t.Fatal(err)
				}
				for i, in := range single {
					want, err := alone.Forward(context.Background(), []Input{in})
					if err != nil {
						t.Fatal(err)
					}
					for j := range want {
						if !bitEqual(got[j], want[j]) {
							t.Fatalf("input %d, logits %d: the bits differ from a pass alone", i, j)
						}
					}
					got = got[len(want):]
				}
			})
		})
	}
}

// The approaches compute the same adapters, up to rounding, and leave rows without one as they are. The first rows of a
// masked pass may be any adapter's.
func TestApproachesAgree(t *testing.T) {
	for i, d := range []npu.Device{native.New(1), reference.New(), native.New(1)} {
		spec, most := tinymodel.Spec{Dim: 64, FF: 96}, 1e-3
		if i == 2 { // inputs have 8 bits, others 16; these adapters move logits by 12
			spec.Type, most = npu.Q8_0, 0.5
		}
		f, err := gguf.Parse("test", tinymodel.GGUF(spec))
		if err != nil {
			t.Fatal(err)
		}
		m, err := load(f, d, []int{1, 8})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		deltas := []Delta{someDelta(m, "a", 1, 4, allParts...), someDelta(m, "b", 2, 9, "attn_q", "attn_v"), someDelta(m, "c", 3, 2, "ffn_gate")}
		tokens := []tandem.Token{5, 9, 200, 31, 7}
		base := logitsWith(t, m, nil, tokens...)
		inputs := mount(t, m, Inputs, deltas...)
		for _, how := range Approaches {
			list := mount(t, m, how, deltas...)
			for i, a := range list {
				want := logitsWith(t, m, inputs[i], tokens...)
				if farther(want, base) < 0.01 {
					t.Fatal("the adapter changes nothing, so this test proves nothing")
				}
				if off := farther(logitsWith(t, m, a, tokens...), want); off > most {
					t.Errorf("%s, %v: adapter %d is off by %.3g", d.Name(), how, i, off)
				}
			}
			// Together with a sequence without an adapter.
			in := []Input{{Seq: m.NewSeqWith(list[1]), Tokens: tokens}, {Seq: m.NewSeq(), Tokens: tokens}, {Seq: m.NewSeqWith(list[0]), Tokens: tokens}}
			got, err := m.Forward(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			last := len(base) - 1
			for i, want := range [][]float32{logitsWith(t, m, inputs[1], tokens...)[last], base[last], logitsWith(t, m, inputs[0], tokens...)[last]} {
				if off := farther(got[i:i+1], [][]float32{want}); off > most {
					t.Errorf("%s, %v, mixed: input %d is off by %.3g", d.Name(), how, i, off)
				}
			}
		}
	}
}

// farther returns the largest difference.
func farther(a, b [][]float32) (off float64) {
	for i := range a {
		for j := range a[i] {
			off = max(off, math.Abs(float64(a[i][j])-float64(b[i][j])))
		}
	}
	return off
}

// Factors as inputs give the logits of a model with B·A added to its weights, computed in float64.
func TestAdapterEqualsMergedWeights(t *testing.T) {
	spec := tinymodel.Spec{Arch: "opt", Layers: 2, Dim: 64, Heads: 4, FF: 96, Context: 64, Seed: 3}
	m := variant(t, spec, 1, 8)
	d := someDelta(m, "a", 5, 6, allParts...)
	a := mount(t, m, Inputs, d)[0]
	merged := newPlainOPT(t, spec)
	for _, c := range d.Changes {
		w := merged.w[c.Weight]
		cols := len(c.A) / c.Rank
		rows := len(c.B) / c.Rank
		for o := range rows {
			for i := range cols {
				for r := range c.Rank {
					w[o*cols+i] += float64(c.A[r*cols+i]) * float64(c.B[r*rows+o])
				}
			}
		}
	}
	tokens := []int{7, 99, 250, 3, 3, 18}
	var ours []tandem.Token
	for _, v := range tokens {
		ours = append(ours, tandem.Token(v))
	}
	got, base := logitsWith(t, m, a, ours...), logitsWith(t, m, nil, ours...)
	for pos, want := range merged.logits(tokens) {
		var scale, off, change float64
		for i, v := range want {
			scale, off, change = max(scale, math.Abs(v)), max(off, math.Abs(v-float64(got[pos][i]))), max(change, math.Abs(v-float64(base[pos][i])))
		}
		if off > 2e-3*scale || change < 0.05*scale { // factors are rounded to 11 bits, keys and values too
			t.Errorf("position %d: off by %.2g of the largest logit; the adapter changes it by %.2g", pos, off/scale, change/scale)
		}
	}
}

// A damaged or foreign delta is refused by the name of its tensor, and nothing is mounted.
func TestDeltasAreChecked(t *testing.T) {
	m := variant(t, tinymodel.Spec{}, 1, 8)
	good := someDelta(m, "good", 1, 2, "attn_q")
	change := func(f func(c *Change)) Delta {
		c := good.Changes[1]
		c.A, c.B = slices.Clone(c.A), slices.Clone(c.B)
		f(&c)
		return Delta{Name: "bad", Changes: []Change{good.Changes[0], c}}
	}
	name := good.Changes[1].Weight
	for what, c := range map[string]struct {
		d    Delta
		want string
	}{
		"NaN":          {change(func(c *Change) { c.B[3] = float32(math.NaN()) }), name + ".lora_b"},
		"too large":    {change(func(c *Change) { c.A[0] = 1e6 }), name + ".lora_a"},
		"rank 0":       {change(func(c *Change) { c.Rank, c.A, c.B = 0, nil, nil }), name},
		"short":        {change(func(c *Change) { c.A = c.A[1:] }), name},
		"other weight": {change(func(c *Change) { c.Weight = "blk.9.attn_q.weight" }), "blk.9.attn_q.weight"},
		"a norm":       {change(func(c *Change) { c.Weight = "blk.0.attn_norm.weight" }), "blk.0.attn_norm.weight"},
		"the head":     {change(func(c *Change) { c.Weight = "token_embd.weight" }), "token_embd.weight"},
		"twice":        {change(func(c *Change) { c.Weight = good.Changes[0].Weight }), good.Changes[0].Weight},
		"empty":        {Delta{Name: "bad"}, "nothing"},
	} {
		for _, how := range Approaches {
			list, err := m.Mount(how, good, c.d)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "bad") || list != nil {
				t.Errorf("%s, %v: error %v", what, how, err)
			}
		}
	}
	many := slices.Repeat([]Delta{good}, 1000)
	if _, err := m.Mount(Masked, many...); err == nil || !strings.Contains(err.Error(), "inputs") {
		t.Errorf("a thousand adapters in one graph: error %v", err)
	}
	list := mount(t, m, Inputs, many...)
	if got, want := logitsWith(t, m, list[999], 1, 2), logitsWith(t, m, list[0], 1, 2); farther(got, want) != 0 {
		t.Error("the last of a thousand adapters differs from the first, its equal")
	}
	other := variant(t, tinymodel.Spec{Seed: 1}, 1, 8)
	if _, err := other.Forward(context.Background(), []Input{{Seq: other.NewSeqWith(list[0]), Tokens: []tandem.Token{1}}}); err == nil {
		t.Error("an adapter of another model is used")
	}
}

// On ggml's devices, sequences with adapters of several ranks, more of them than the device holds, and none, have the logits
// of native except for rounding, together and one after the other.
func TestAdaptersOnGGML(t *testing.T) {
	for _, info := range needGGML(t) {
		t.Run(info.Name, func(t *testing.T) {
			b := tinymodel.GGUF(tinymodel.Spec{Dim: 256, FF: 512})
			var all [2][][]float32
			for i, device := range []string{"native", "ggml:" + info.Name} {
				d := npu.Device(native.New(1))
				if i == 1 {
					d.Close()
					d = openDevice(t, device)
				}
				m, err := OpenBytes("tiny", b, d)
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				var deltas []Delta
				for j := range 10 {
					deltas = append(deltas, someDelta(m, fmt.Sprint(j), uint64(j), 1+3*j, allParts[:1+j%7]...))
				}
				list := append(mount(t, m, Inputs, deltas...), nil)
				var inputs []Input
				for j, a := range list {
					inputs = append(inputs, Input{Seq: m.NewSeqWith(a), Tokens: pattern(5 + j)})
				}
				all[i] = append(all[i], forward(t, m, inputs...)...)
				for j := range inputs {
					inputs[j].Tokens = pattern(1)
					all[i] = append(all[i], forward(t, m, inputs[j])...)
				}
			}
			for i, want := range all[0] {
				scale := deviation(want)
				off := 0.0
				for j := range want {
					off = max(off, math.Abs(float64(all[1][i][j]-want[j]))/scale)
				}
				if off > gpuBound {
					t.Errorf("logits %d are off by %.2g of their deviation", i, off)
				}
			}
		})
	}
}

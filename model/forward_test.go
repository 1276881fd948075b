package model

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/native"
)

// variant opens the model of a Spec with the given number of threads and chunk sizes.
func variant(t testing.TB, s tinymodel.Spec, threads int, chunks ...int) *Model {
	t.Helper()
	return opened(t, tinymodel.GGUF(s), threads, chunks)
}

// variantQ80 is variant with keys and values in Q8_0.
func variantQ80(t testing.TB, s tinymodel.Spec, threads int, chunks ...int) *Model {
	t.Helper()
	return opened(t, tinymodel.GGUF(s), threads, chunks, KVCache(npu.CacheQ8_0))
}

// opened opens a file as variant does: to write one takes longer than to open it several times.
func opened(t testing.TB, file []byte, threads int, chunks []int, more ...Option) *Model {
	t.Helper()
	f, err := gguf.Parse("test", file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := load(f, native.New(threads), chunks, more...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func bitEqual(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// The logits of a sequence depend only on its tokens, to the bit. They do not depend on how the tokens are divided among
// calls, on other sequences in the call, on chunk sizes and threads, or on forks and truncations.
func TestLogitsDependOnTokensAlone(t *testing.T) {
	for _, spec := range []tinymodel.Spec{
		{Type: npu.Q8_0, Layers: 2, Dim: 128, FF: 256},
		{Type: npu.Q4_K, Layers: 1, Dim: 256, FF: 256, Arch: "qwen2"},
		{Type: npu.Q5_K, Layers: 1, Dim: 256, FF: 256},
		{Type: npu.Q6_K, Layers: 1, Dim: 256, FF: 512},
		{Type: npu.Q4_0, Layers: 1, Dim: 96, FF: 160, HeadDim: 24},
		{Type: npu.F16, Layers: 2, Dim: 64, FF: 96, HeadDim: 24, Untied: true},
		{Type: npu.BF16, Layers: 1, Dim: 64, FF: 96},
		{Type: npu.F32, Layers: 1, Dim: 64, FF: 96, Arch: "qwen2"},
		{Type: npu.Q8_0, Layers: 2, Dim: 64, FF: 96, Arch: "opt"},
		{Type: npu.Q8_0, Layers: 2, Dim: 64, FF: 96, Arch: "qwen3"},
		{Type: npu.F32, Layers: 4, Dim: 32, FF: 32, Arch: "smollm3"},
		{Type: npu.Q8_0, Layers: 2, Dim: 64, FF: 96, Arch: "gemma2", Window: 5},
		{Type: npu.F16, Layers: 6, Dim: 32, FF: 32, Arch: "gemma3", Window: 3},
		{Type: npu.Q8_0, Layers: 1, Dim: 64, FF: 96, Arch: "phi3"},
		{Type: npu.Q8_0, Layers: 1, Dim: 64, FF: 96, Arch: "mistral3", YaRN: 64},
		{Type: npu.Q8_0, Layers: 2, Dim: 64, FF: 96, Arch: "qwen3moe"},
		{Type: npu.F32, Layers: 1, Dim: 64, FF: 64, Arch: "olmoe"},
		{Type: npu.Q8_0, Layers: 2, Dim: 64, FF: 64, Arch: "gpt-oss", Window: 3},
		{Type: npu.Q8_0, Layers: 3, Dim: 64, FF: 96, Arch: "lfm2"},
	} {
		t.Run(fmt.Sprintf("%v", spec.Type), func(t *testing.T) {
			file := tinymodel.GGUF(spec)
			reference := opened(t, file, 1, []int{1}) // one row at a time, one thread
			models := []*Model{opened(t, file, 1, []int{1, 8}), opened(t, file, 3, []int{5}), opened(t, file, 2, chunkSizes)}
			rapid.Check(t, func(t *rapid.T) {
				m := models[rapid.IntRange(0, len(models)-1).Draw(t, "model")]
				checkIndependence(t, reference, m)
			})
		})
	}
}

// So they do where keys and values are in Q8_0.
func TestLogitsDependOnTokensAloneInQ80(t *testing.T) {
	for _, spec := range []tinymodel.Spec{
		{Type: npu.Q8_0, Layers: 2, Dim: 128, FF: 160},
		{Type: npu.Q8_0, Layers: 2, Dim: 64, FF: 96, HeadDim: 96, Arch: "gemma2", Window: 5},
		{Type: npu.Q8_0, Layers: 2, Dim: 128, FF: 64, Arch: "lfm2"},
	} {
		t.Run(spec.Arch, func(t *testing.T) {
			file, q80 := tinymodel.GGUF(spec), KVCache(npu.CacheQ8_0)
			reference := opened(t, file, 1, []int{1}, q80)
			models := []*Model{opened(t, file, 1, []int{1, 8}, q80), opened(t, file, 2, chunkSizes, q80)}
			rapid.Check(t, func(t *rapid.T) {
				checkIndependence(t, reference, models[rapid.IntRange(0, 1).Draw(t, "model")])
			})
		})
	}
}

// A walker is a sequence that grows at random, with its tokens.
type walker struct {
	seq    *Seq
	tokens []tandem.Token
}

func checkIndependence(t *rapid.T, reference, m *Model) {
	walkers := []*walker{{seq: m.NewSeq()}, {seq: m.NewSeq()}}
	type result struct {
		tokens []tandem.Token
		logits []float32
	}
	var results []result
	var memory Logits
	for range rapid.IntRange(1, 6).Draw(t, "steps") {
		// Fork or truncate one.
		w := walkers[rapid.IntRange(0, len(walkers)-1).Draw(t, "walker")]
		switch rapid.IntRange(0, 3).Draw(t, "action") {
		case 0:
			walkers = append(walkers, &walker{w.seq.Fork(), slices.Clone(w.tokens)})
		case 1:
			n := rapid.IntRange(0, len(w.tokens)).Draw(t, "keep")
			w.seq.Truncate(n)
			w.tokens = w.tokens[:n]
		}
		// Extend some in one call.
		var rows []Input
		var grown []*walker
		for _, w := range walkers {
			n := rapid.IntRange(0, 90).Draw(t, "grow") / 9
			if len(rows) == 0 {
				n = max(n, 1)
			}
			if n == 0 {
				continue
			}
			var more []tandem.Token
			for range n {
				more = append(more, tandem.Token(rapid.IntRange(0, 3).Draw(t, "token")))
			}
			rows = append(rows, Input{Seq: w.seq, Tokens: more, All: rapid.Bool().Draw(t, "all")})
			grown = append(grown, w)
		}
		// Logits of Forward never change. Those of ForwardInto change with the next call, so clone them.
		logits, err := m.Forward(context.Background(), rows)
		if rapid.Bool().Draw(t, "into") {
			for _, w := range grown {
				w.seq.Truncate(len(w.tokens))
			}
			logits, err = m.ForwardInto(context.Background(), rows, &memory)
			logits = slices.Clone(logits)
			for i := range logits {
				logits[i] = slices.Clone(logits[i])
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range grown {
			first := len(rows[i].Tokens) - 1
			if rows[i].All {
				first = 0
			}
			for at := first; at < len(rows[i].Tokens); at++ {
				results = append(results, result{append(slices.Clone(w.tokens), rows[i].Tokens[:at+1]...), logits[0]})
				logits = logits[1:]
			}
			w.tokens = append(slices.Clone(w.tokens), rows[i].Tokens...)
			if w.seq.Len() != len(w.tokens) {
				t.Fatalf("length %d, want %d", w.seq.Len(), len(w.tokens))
			}
		}
		if len(logits) != 0 {
			t.Fatalf("%d logits more than expected", len(logits))
		}
	}
	// Longest first: a reference pass over a sequence gives the logits of all its prefixes.
	slices.SortFunc(results, func(a, b result) int { return len(b.tokens) - len(a.tokens) })
	known := map[string][]float32{}
	for _, r := range results {
		want, ok := known[fmt.Sprint(r.tokens)]
		if !ok {
			all, err := reference.Forward(context.Background(), []Input{{Seq: reference.NewSeq(), Tokens: r.tokens, All: true}})
			if err != nil {
				t.Fatal(err)
			}
			for i := range all {
				known[fmt.Sprint(r.tokens[:i+1])] = all[i]
			}
			want = all[len(all)-1]
		}
		if !bitEqual(r.logits, want) {
			t.Fatalf("after %v the logits are %v…, want %v…", r.tokens, r.logits[:4], want[:4])
		}
	}
}

// The logits are the same bits on every processor and with every set of kernels: they match the hashes below, which
// change only if the definition of the arithmetic does.
func TestGoldenLogits(t *testing.T) {
	want := map[string]string{
		"llama F32":  "ce9c2d5423fd",
		"llama F16":  "d2f1ed7b04d3",
		"llama Q4_0": "5ad772d249f9",
		"llama Q8_0": "f55543011fc5",
		"llama Q4_K": "30f5f9caab14",
		"llama Q5_K": "cbddc977530c",
		"llama Q6_K": "a071d343f342",
		"llama BF16": "cd4e23437eb5",
		"qwen2 F32":  "616cb9c91978",
		"qwen2 F16":  "b24cefaa485a",
		"qwen2 Q4_0": "8f7a3da746ae",
		"qwen2 Q8_0": "ad37ff04a177",
		"qwen2 Q4_K": "b247e9595579",
		"qwen2 Q5_K": "a35e4ea0c298",
		"qwen2 Q6_K": "9625bfb49db0",
		"qwen2 BF16": "aa1bf9ef5c24",
	}
	h := sha256.New()
	for _, arch := range []string{"llama", "qwen2"} {
		for _, typ := range npu.DTypes {
			// The file, too, is made by operations that every processor rounds alike.
			m := openTiny(t, tinymodel.Spec{Arch: arch, Type: typ, Dim: 256, FF: 256, Layers: 1, Seed: 9, Factors: arch == "llama"})
			h.Reset()
			for _, row := range forward(t, m, Input{Seq: m.NewSeq(), Tokens: pattern(40), All: true}) {
				if err := binary.Write(h, binary.LittleEndian, row); err != nil {
					t.Fatal(err)
				}
			}
			name := fmt.Sprintf("%s %v", arch, typ)
			if got := fmt.Sprintf("%x", h.Sum(nil)[:6]); got != want[name] {
				t.Errorf("%q: %q,", name, got)
			}
		}
	}
}

// Weights of 16 bits give the same logits as their values in F32, to the bit.
func TestWidenedWeightsGiveTheSame(t *testing.T) {
	for _, typ := range []npu.DType{npu.F16, npu.BF16} {
		meta, tensors := tinymodel.Parts(tinymodel.Spec{Type: typ, Dim: 256, FF: 256, Seed: 4})
		m := openParts(t, meta, tensors)
		for i, old := range tensors {
			tensors[i] = retype(t, old, npu.F32)
		}
		wide := openParts(t, meta, tensors)
		for _, n := range []int{1, 7} {
			a := forward(t, m, Input{Seq: m.NewSeq(), Tokens: pattern(n), All: true})
			b := forward(t, wide, Input{Seq: wide.NewSeq(), Tokens: pattern(n), All: true})
			for i := range a {
				if !bitEqual(a[i], b[i]) {
					t.Fatalf("%v: logits %d of %d differ from those of the widened weights", typ, i, n)
				}
			}
		}
	}
}

// counting is a context that is cancelled after left calls of Err.
type counting struct {
	context.Context
	left int
}

func (c *counting) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestPreemptionBetweenLayersLeavesNoTrace(t *testing.T) {
	spec := tinymodel.Spec{Layers: 3}
	m := variant(t, spec, 1, 4)
	a, b := m.NewSeq(), m.NewSeq()
	forward(t, m, Input{Seq: a, Tokens: pattern(6)}, Input{Seq: b, Tokens: pattern(3)})
	fork := a.Fork()
	rows := []Input{{Seq: a, Tokens: pattern(5)}, {Seq: b, Tokens: pattern(4)}, {Seq: fork, Tokens: pattern(2)}}
	looks := 0
	for ; ; looks++ {
		_, err := m.Forward(&counting{context.Background(), looks}, rows)
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if a.Len() != 6 || b.Len() != 3 || fork.Len() != 6 {
			t.Fatalf("cancelled after %d checks: lengths %d, %d, %d, want 6, 3, 6", looks, a.Len(), b.Len(), fork.Len())
		}
		for _, s := range []*Seq{a, b, fork} { // unchanged, to the bit
			n := s.Len()
			got := forward(t, m, Input{Seq: s, Tokens: pattern(1)})
			fresh := m.NewSeq()
			want := forward(t, m, Input{Seq: fresh, Tokens: append(pattern(n), 17)})
			if !bitEqual(got[0], want[0]) {
				t.Fatalf("cancelled after %d checks: the sequence of %d tokens changed", looks, n)
			}
			s.Truncate(n)
		}
	}
	// The context is checked at the start, then before each of three layers in each of three chunks (11 tokens), and
	// before the head in chunks whose logits are needed.
	if looks < 1+3*3+1 {
		t.Errorf("the context was checked only %d times", looks)
	}
}

func TestForwardRefuses(t *testing.T) {
	m := openTiny(t, tinymodel.Spec{Context: 16})
	other := openTiny(t, tinymodel.Spec{})
	s := m.NewSeq()
	forward(t, m, Input{Seq: s, Tokens: pattern(10)})
	for _, c := range []struct {
		rows []Input
		want string
	}{
		{[]Input{{Seq: s}}, "input 0: no tokens"},
		{[]Input{{Tokens: pattern(1)}}, "belongs to another model"},
		{[]Input{{Seq: other.NewSeq(), Tokens: pattern(1)}}, "belongs to another model"},
		{[]Input{{Seq: s, Tokens: pattern(1)}, {Seq: s, Tokens: pattern(1)}}, "inputs 0 and 1 append to the same sequence"},
		{[]Input{{Seq: s, Tokens: pattern(7)}}, "10 positions and 7 more exceed the model's context of 16"},
		{[]Input{{Seq: s, Tokens: []tandem.Token{-1}}}, "token -1 is outside the vocabulary"},
		{[]Input{{Seq: m.NewSeq(), Tokens: pattern(1)}, {Seq: s, Tokens: []tandem.Token{1 << 20}}}, "input 1: token 1048576 is outside the vocabulary"},
	} {
		_, err := m.Forward(context.Background(), c.rows)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
		if s.Len() != 10 {
			t.Fatalf("%q changed the length to %d", c.want, s.Len())
		}
	}
	var ce *ContextError
	if _, err := m.Forward(context.Background(), []Input{{Seq: s, Tokens: pattern(7)}}); !errors.As(err, &ce) {
		t.Errorf("error %v, want a ContextError", err)
	}
	if logits, err := m.Forward(context.Background(), nil); err != nil || logits != nil {
		t.Errorf("no inputs: got %v, %v, want nil, nil", logits, err)
	}
}

// Goroutines can share a model and a prefix.
func TestForwardFromSeveralGoroutines(t *testing.T) {
	m := variant(t, tinymodel.Spec{Type: npu.Q8_0, Dim: 128, FF: 512}, 2, chunkSizes...)
	prefix := m.NewSeq()
	forward(t, m, Input{Seq: prefix, Tokens: pattern(30)})
	want := forward(t, m, Input{Seq: prefix.Fork(), Tokens: pattern(40), All: true})
	var wg sync.WaitGroup
	for range 4 {
		s := prefix.Fork()
		wg.Go(func() {
			for range 5 {
				got, err := m.Forward(context.Background(), []Input{{Seq: s, Tokens: pattern(40), All: true}})
				if err != nil {
					t.Error(err)
					return
				}
				for i := range got {
					if !bitEqual(got[i], want[i]) {
						t.Errorf("logits %d differ", i)
						return
					}
				}
				s.Truncate(30)
				s = s.Fork()
			}
		})
	}
	wg.Wait()
}

func openParts(t testing.TB, meta []gguf.KV, tensors []npu.Tensor) *Model {
	t.Helper()
	m, err := OpenBytes("parts", encode(t, meta, tensors), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

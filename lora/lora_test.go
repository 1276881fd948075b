package lora

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/llamacpp"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/quant"
)

// open opens a small random model.
func open(t testing.TB, spec tinymodel.Spec) *model.Model {
	t.Helper()
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(spec), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// A shape is a product of a layer, as GGUF and the hub name it.
type shape struct {
	part, module string
	in, out      int
}

func shapes(c model.Config) []shape {
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	return []shape{{"attn_q", "self_attn.q_proj", c.Dim, q}, {"attn_k", "self_attn.k_proj", c.Dim, kv}, {"attn_v", "self_attn.v_proj", c.Dim, kv},
		{"attn_output", "self_attn.o_proj", q, c.Dim}, {"ffn_gate", "mlp.gate_proj", c.Dim, c.FF}, {"ffn_up", "mlp.up_proj", c.Dim, c.FF},
		{"ffn_down", "mlp.down_proj", c.FF, c.Dim}}
}

func random(r *rand.Rand, n int, spread float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(spread * r.NormFloat64())
	}
	return v
}

func bytesOf(typ npu.DType, v []float32) []byte {
	b := make([]byte, len(v)*typ.BlockBytes())
	if err := quant.Quantize(typ, b, v); err != nil {
		panic(err)
	}
	return b
}

// ggufFile returns an adapter as llama.cpp's converter writes it.
func ggufFile(c model.Config, seed uint64, rank int, alpha float32, typ npu.DType) []byte {
	r := rand.New(rand.NewPCG(seed, 5))
	meta := []gguf.KV{{Key: "general.architecture", Value: c.Arch}, {Key: keyType, Value: "adapter"}, {Key: keyKind, Value: "lora"}, {Key: keyAlpha, Value: alpha}}
	var infos []gguf.TensorInfo
	var data [][]byte
	for layer := range c.Layers {
		for _, s := range shapes(c) {
			name := fmt.Sprintf("blk.%d.%s.weight", layer, s.part)
			infos = append(infos, gguf.TensorInfo{Name: name + ".lora_a", Type: typ, Shape: []uint64{uint64(s.in), uint64(rank)}},
				gguf.TensorInfo{Name: name + ".lora_b", Type: typ, Shape: []uint64{uint64(rank), uint64(s.out)}})
			data = append(data, bytesOf(typ, random(r, rank*s.in, 1/math.Sqrt(float64(s.in)))), bytesOf(typ, random(r, rank*s.out, 0.3)))
		}
	}
	var out bytes.Buffer
	w, err := gguf.NewWriter(&out, meta, infos)
	if err != nil {
		panic(err)
	}
	for _, b := range data {
		if _, err := w.Write(b); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// safetensors writes a file.
func safetensors(tensors map[string][]float32, shapes map[string][]int) []byte {
	header, at := map[string]any{}, 0
	var data []byte
	for name, v := range tensors {
		header[name] = map[string]any{"dtype": "F32", "shape": shapes[name], "data_offsets": []int{at, at + 4*len(v)}}
		data, at = append(data, bytesOf(npu.F32, v)...), at+4*len(v)
	}
	text, _ := json.Marshal(header)
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), data...)
}

// peftFile returns random factors as PEFT saves them; ranks may depend on the module.
func peftFile(c model.Config, seed uint64, rank func(module string) int) (map[string][]float32, map[string][]int) {
	r := rand.New(rand.NewPCG(seed, 6))
	tensors, sizes := map[string][]float32{}, map[string][]int{}
	for layer := range c.Layers {
		for _, s := range shapes(c) {
			module := fmt.Sprintf("model.layers.%d.%s", layer, s.module)
			n := rank(module)
			if n == 0 {
				continue
			}
			a, b := "base_model.model."+module+".lora_A.weight", "base_model.model."+module+".lora_B.weight"
			tensors[a], sizes[a] = random(r, n*s.in, 1/math.Sqrt(float64(s.in))), []int{n, s.in}
			tensors[b], sizes[b] = random(r, n*s.out, 0.3), []int{s.out, n}
		}
	}
	return tensors, sizes
}

func logits(t testing.TB, m *model.Model, a *model.Adapter) []float32 {
	t.Helper()
	out, err := m.Forward(context.Background(), []model.Input{{Seq: m.NewSeqWith(a), Tokens: []tandem.Token{4, 99, 201, 3, 77}}})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func mountOne(t testing.TB, m *model.Model, list ...Scaled) *model.Adapter {
	t.Helper()
	out, err := Mount(m, model.Inputs, list)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func off(a, b []float32) (d float64) {
	for i := range a {
		d = max(d, math.Abs(float64(a[i]-b[i])))
	}
	return d
}

func deviation(x []float32) float64 {
	var s, s2 float64
	for _, v := range x {
		s, s2 = s+float64(v), s2+float64(v)*float64(v)
	}
	n := float64(len(x))
	return math.Sqrt(s2/n - s/n*s/n)
}

// With the same adapter files, of several ranks and types, scales and sums, logits agree with llama.cpp's.
func TestAgreesWithLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	for _, spec := range []tinymodel.Spec{{Dim: 128, FF: 256, Seed: 1}, {Arch: "qwen2", Dim: 128, FF: 256, Seed: 2}} {
		dir := t.TempDir()
		write := func(name string, b []byte) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		base := write("base.gguf", tinymodel.GGUF(spec))
		ours, err := model.Open(base, native.New(1))
		if err != nil {
			t.Fatal(err)
		}
		defer ours.Close()
		theirs, err := lib.Open(base, false)
		if err != nil {
			t.Fatal(err)
		}
		defer theirs.Close()
		c := ours.Config()
		files := []string{write("a.gguf", ggufFile(c, 1, 4, 8, npu.F16)), write("b.gguf", ggufFile(c, 2, 16, 16, npu.F32)), write("c.gguf", ggufFile(c, 3, 64, 0, npu.F16))}
		var adapters []*Adapter
		var others []*llamacpp.Adapter
		for _, path := range files {
			a, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			b, err := theirs.Adapter(path)
			if err != nil {
				t.Fatal(err)
			}
			adapters, others = append(adapters, a), append(others, b)
		}
		// What add stores is the same adapter for llama.cpp too.
		var stored bytes.Buffer
		if err := adapters[1].Write(&stored, ours); err != nil {
			t.Fatal(err)
		}
		again, err := theirs.Adapter(write("again.gguf", stored.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		adapters, others = append(adapters, adapters[1]), append(others, again)
		ids, tokens := make([]int32, 24), make([]tandem.Token, 24)
		for i := range ids {
			ids[i] = int32((i*89 + 17) % 256)
			tokens[i] = tandem.Token(ids[i])
		}
		plain, err := theirs.Logits(ids)
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range []map[int]float32{{0: 1}, {1: 0.5}, {2: -0.25}, {3: 1}, {0: 0.7, 1: 1, 2: 0.1}} {
			var mine []Scaled
			var other []*llamacpp.Adapter
			var scales []float32
			for i, s := range use {
				mine, other, scales = append(mine, Scaled{adapters[i], float64(s)}), append(other, others[i]), append(scales, s)
			}
			want, err := theirs.LogitsWith(ids, other, scales)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ours.Forward(context.Background(), []model.Input{{Seq: ours.NewSeqWith(mountOne(t, ours, mine...)), Tokens: tokens, All: true}})
			if err != nil {
				t.Fatal(err)
			}
			worst, change := 0.0, math.Inf(1)
			for pos := range got {
				scale := deviation(want[pos])
				worst, change = max(worst, off(got[pos], want[pos])/scale), min(change, off(plain[pos], want[pos])/scale)
			}
			if worst > 0.02 || change < 0.2 { // both round factors of 32 bits to 16, or what they multiply
				t.Errorf("%s %v: logits differ by %.2g of their deviation; the adapters change them by %.2g", spec.Arch, use, worst, change)
			}
		}
	}
}

// An adapter of PEFT is that of the same numbers in GGUF, whose queries and keys llama stores in another order; rank and
// alpha patterns and rsLoRA set the scales.
func TestPEFT(t *testing.T) {
	for _, arch := range []string{"llama", "qwen2"} {
		m := open(t, tinymodel.Spec{Arch: arch})
		c := m.Config()
		tensors, sizes := peftFile(c, 3, func(module string) int {
			if strings.HasSuffix(module, "1.mlp.up_proj") {
				return 5
			}
			return 4
		})
		for name, v := range map[string]struct {
			config string
			scale  func(weight string) float64
		}{
			"plain":    {`"r":4,"lora_alpha":8`, func(string) float64 { return 8.0 / 4 }},
			"rsLoRA":   {`"r":4,"lora_alpha":8,"use_rslora":true`, func(string) float64 { return 8.0 / 2 }},
			"patterns": {`"r":4,"lora_alpha":8,"alpha_pattern":{"q_proj":2,"layers.0.self_attn.v_proj":4}`, nil},
		} {
			config := `{"peft_type":"LORA","rank_pattern":{"layers\\.1\\.mlp\\.up_proj":5},` + v.config + `}`
			a, err := readPEFT("adapter", []byte(config), safetensors(tensors, sizes))
			if err != nil {
				t.Fatal(err)
			}
			if low, high := a.Ranks(); low != 4 || high != 5 || len(a.Factors) != 7*c.Layers {
				t.Errorf("%s: ranks %d to %d in %d products", name, low, high, len(a.Factors))
			}
			for _, f := range a.Factors {
				want := 8.0 / float64(f.Rank)
				switch {
				case name == "rsLoRA":
					want = 8 / math.Sqrt(float64(f.Rank))
				case name == "patterns" && strings.Contains(f.Weight, "attn_q"):
					want = 2.0 / 4
				case name == "patterns" && f.Weight == "blk.0.attn_v.weight":
					want = 4.0 / 4
				}
				if f.Scale != float32(want) {
					t.Errorf("%s: %s has scale %v, want %v", name, f.Weight, f.Scale, want)
				}
			}
			// Merged into the weights in the hub's order, row by row, it gives the same logits.
			got, want := logits(t, m, mountOne(t, m, Scaled{a, 1})), logits(t, merged(t, arch, a, c), nil)
			if d := off(got, want) / deviation(want); d > 0.02 { // factors have 11 bits, and scales of 4 make the change large
				t.Errorf("%s %s: off by %.2g of the logits' deviation from merged weights", arch, name, d)
			}
			var stored bytes.Buffer
			if err := a.Write(&stored, m); err != nil {
				t.Fatal(err)
			}
			back, err := ReadGGUF("back", stored.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if d := off(logits(t, m, mountOne(t, m, Scaled{back, 1})), got) / deviation(want); d > 0.01 || back.Base != m.Fingerprint() {
				t.Errorf("%s %s: written and read, off by %.2g", arch, name, d)
			}
		}
	}
}

// merged returns a model with B·A in its weights.
func merged(t *testing.T, arch string, a *Adapter, c model.Config) *model.Model {
	meta, tensors := tinymodel.Parts(tinymodel.Spec{Arch: arch})
	for i := range tensors {
		w := &tensors[i]
		at := slices.IndexFunc(a.Factors, func(f Factors) bool { return f.Weight == w.Name })
		if at < 0 {
			continue
		}
		f := a.Factors[at]
		v := make([]float32, w.Rows*w.Cols)
		if err := quant.Dequantize(w.Type, v, w.Data); err != nil {
			t.Fatal(err)
		}
		for row := range w.Rows {
			from := row
			if arch == "llama" && rotated(w.Name) { // llama.cpp's converter: reshape(heads, 2, size/2).swapaxes(1, 2)
				head, i := row/c.HeadDim, row%c.HeadDim
				from = head*c.HeadDim + i%2*(c.HeadDim/2) + i/2
			}
			for col := range w.Cols {
				for r := range f.Rank {
					v[row*w.Cols+col] += f.Scale * f.B[from*f.Rank+r] * f.A[r*f.In+col]
				}
			}
		}
		w.Type, w.Data = npu.F32, bytesOf(npu.F32, v)
	}
	var out bytes.Buffer
	if err := gguf.Write(&out, meta, tensors); err != nil {
		t.Fatal(err)
	}
	m, err := model.OpenBytes("merged", out.Bytes(), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// With scale 0 an adapter is the base, bit for bit; a sum is the adapters' order aside the same, and its parts add up.
func TestSums(t *testing.T) {
	m := open(t, tinymodel.Spec{Type: npu.Q8_0})
	c := m.Config()
	read := func(seed uint64, rank int) *Adapter {
		a, err := ReadGGUF(fmt.Sprint("a", seed), ggufFile(c, seed, rank, 4, npu.F16))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	one, two := read(1, 4), read(2, 9)
	base := logits(t, m, nil)
	if a := mountOne(t, m, Scaled{one, 0}); a != nil || !slices.Equal(logits(t, m, a), base) {
		t.Errorf("scale 0 gives %v", a)
	}
	if !slices.Equal(logits(t, m, mountOne(t, m, Scaled{one, 1}, Scaled{two, 0})), logits(t, m, mountOne(t, m, Scaled{one, 1}))) {
		t.Error("a part of scale 0 changes the bits")
	}
	if a := mountOne(t, m, Scaled{one, 1}, Scaled{two, 0.5}); a.Name() != "a1+a2=0.5" || a.Rank() != 13 {
		t.Errorf("the sum is %q of rank %d", a.Name(), a.Rank())
	}
	twice, half := logits(t, m, mountOne(t, m, Scaled{one, 0.5}, Scaled{one, 0.5})), logits(t, m, mountOne(t, m, Scaled{one, 1}))
	if d := off(twice, half) / deviation(half); d > 0.03 { // they differ where an input is rounded to the other side
		t.Errorf("two halves are off by %.2g from the whole", d)
	}
	if _, err := sum(m, Scaled{one, math.NaN()}); err == nil {
		t.Error("scale NaN is accepted")
	}
	// Adapters of ranks 4 to 64 share one graph.
	list, err := Mount(m, model.Inputs, []Scaled{{read(3, 4), 1}}, []Scaled{{read(4, 16), 1}}, []Scaled{{read(5, 64), 1}}, []Scaled{{one, 0}})
	if err != nil || len(list) != 4 || list[3] != nil {
		t.Fatal(list, err)
	}
}

// Errors name the tensor or key at fault.
func TestRefusals(t *testing.T) {
	m := open(t, tinymodel.Spec{})
	c := m.Config()
	tensors, sizes := peftFile(c, 3, func(string) int { return 4 })
	good := safetensors(tensors, sizes)
	first := "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"
	with := func(name string, v []float32, shape ...int) []byte {
		t2, s2 := map[string][]float32{}, map[string][]int{}
		for k := range tensors {
			t2[k], s2[k] = tensors[k], sizes[k]
		}
		if v == nil {
			delete(t2, name)
		} else {
			t2[name], s2[name] = v, shape
		}
		return safetensors(t2, s2)
	}
	bad := slices.Clone(tensors[first])
	bad[7] = float32(math.NaN())
	for what, x := range map[string]struct {
		config, want string
		tensors      []byte
	}{
		"modules_to_save": {`"modules_to_save":["lm_head"]`, "lm_head", good},
		"DoRA":            {`"use_dora":true`, "use_dora", good},
		"bias":            {`"bias":"all"`, "bias", good},
		"fan_in_fan_out":  {`"fan_in_fan_out":true`, "fan_in_fan_out", good},
		"PiSSA":           {`"init_lora_weights":"pissa_niter_16"`, "init_lora_weights", good},
		"OLoRA":           {`"init_lora_weights":"olora"`, "init_lora_weights", good},
		"CorDA":           {`"init_lora_weights":"corda"`, "init_lora_weights", good},
		"LoftQ":           {`"init_lora_weights":"loftq"`, "init_lora_weights", good},
		"activated":       {`"alora_invocation_tokens":[1,2]`, "alora_invocation_tokens", good},
		"layers twice":    {`"layer_replication":[[0,1],[0,2]]`, "layer_replication", good},
		"other method":    {`"peft_type":"IA3"`, "IA3", good},
		"tokens":          {`"trainable_token_indices":[1]`, "trainable_token_indices", good},
		"rank":            {`"r":8`, "rank 4", good},
		"pattern":         {`"rank_pattern":{"(":4}`, "pattern", good},
		"long pattern":    {`"rank_pattern":{"` + strings.Repeat("a", 257) + `":4}`, "more than 256 bytes", good},
		"much repeated":   {`"rank_pattern":{` + strings.Repeat(`"`+strings.Repeat(".{1000}", 30)+`":4,`, 5) + `"a":4}`, "repeat too much", good},
		"NaN":             {``, first, with(first, bad, 4, c.Dim)},
		"rank 0":          {``, first, with(first, []float32{}, 0, c.Dim)},
		"no partner":      {``, "lora_B", with(first, nil)},
		"embedding":       {``, "lora_embedding_A", with("base_model.model.model.embed_tokens.lora_embedding_A", []float32{1}, 1, 1)},
		"magnitude":       {``, "lora_magnitude_vector", with("base_model.model.model.layers.0.self_attn.q_proj.lora_magnitude_vector", []float32{1}, 1)},
		"head":            {``, "lm_head", with("base_model.model.lm_head.lora_A.weight", make([]float32, 4*c.Dim), 4, c.Dim)},
		"truncated":       {``, "truncated", good[:len(good)-5]},
		"no JSON":         {`x`, "adapter_config.json", good},
	} {
		config := `{"peft_type":"LORA","r":4,"lora_alpha":8`
		if x.config != "" {
			config += "," + x.config
		}
		if _, err := readPEFT("adapter", []byte(config+"}"), x.tensors); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: error %v, want one with %q", what, err, x.want)
		}
	}
	for _, plain := range []string{`true`, `false`, `"gaussian"`, `"eva"`, `"orthogonal"`, `null`} { // of the factors alone
		config := `{"peft_type":"LORA","r":4,"lora_alpha":8,"alora_invocation_tokens":null,"layer_replication":null,"init_lora_weights":` + plain + "}"
		if _, err := readPEFT("adapter", []byte(config), good); err != nil {
			t.Errorf("init_lora_weights %s: %v", plain, err)
		}
	}
	file := ggufFile(c, 1, 4, 8, npu.F16)
	if _, err := ReadGGUF("f", file[:len(file)-100]); err == nil {
		t.Error("a truncated file is read")
	}
	if _, err := ReadGGUF("f", tinymodel.GGUF(tinymodel.Spec{})); err == nil || !strings.Contains(err.Error(), "--model") {
		t.Errorf("a model as an adapter: error %v", err)
	}
	a, err := ReadGGUF("f", file)
	if err != nil {
		t.Fatal(err)
	}
	for what, spec := range map[string]tinymodel.Spec{"architecture": {Arch: "qwen2"}, "blk.0.attn_k.weight": {Dim: 96}, "blk.1.attn_k.weight": {Layers: 1}} {
		if _, err := Mount(open(t, spec), model.Inputs, []Scaled{{a, 1}}); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("for another model: error %v, want one with %q", err, what)
		}
	}
	var stored bytes.Buffer
	if err := a.Write(&stored, m); err != nil {
		t.Fatal(err)
	}
	if a, err = ReadGGUF("f", stored.Bytes()); err != nil {
		t.Fatal(err)
	}
	if _, err := Mount(open(t, tinymodel.Spec{Seed: 9}), model.Inputs, []Scaled{{a, 1}}); err == nil || !strings.Contains(err.Error(), "fingerprint") {
		t.Errorf("for a model of the same shape: error %v", err)
	}
}

func FuzzGGUF(f *testing.F) {
	c := model.Config{Arch: "llama", Layers: 1, Dim: 4, Heads: 1, KVHeads: 1, HeadDim: 4, FF: 4}
	f.Add(ggufFile(c, 1, 2, 4, npu.F16))
	f.Add(ggufFile(c, 1, 1, 0, npu.F32))
	m := open(f, tinymodel.Spec{Layers: 1})
	if a, err := ReadGGUF("seed", ggufFile(m.Config(), 1, 1, 1, npu.F16)); err == nil {
		a.Forecast = [][]float32{make([]float32, m.Config().Dim)}
		var b bytes.Buffer
		if err := a.Write(&b, m); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := ReadGGUF("fuzz", b); err == nil {
			sound(t, a)
		}
	})
}

func FuzzPEFT(f *testing.F) {
	c := model.Config{Arch: "llama", Layers: 1, Dim: 4, Heads: 1, KVHeads: 1, HeadDim: 4, FF: 4}
	tensors, sizes := peftFile(c, 1, func(string) int { return 2 })
	f.Add([]byte(`{"peft_type":"LORA","r":2,"lora_alpha":4,"rank_pattern":{},"alpha_pattern":{"q_proj":3}}`), safetensors(tensors, sizes))
	f.Add([]byte(`{"peft_type":"LORA","rank_pattern":{"up_proj":2}}`), []byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, config, tensors []byte) {
		if a, err := readPEFT("fuzz", config, tensors); err == nil {
			sound(t, a)
		}
	})
}

// sound checks what callers rely on.
func sound(t *testing.T, a *Adapter) {
	for _, f := range a.Factors {
		if f.Rank < 1 || f.Rank > model.MaxRank || len(f.A) != f.Rank*f.In || len(f.B) != f.Rank*f.Out || adaptable(f.Weight) != nil {
			t.Fatalf("%s: rank %d of %d×%d with %d and %d numbers", f.Weight, f.Rank, f.Out, f.In, len(f.A), len(f.B))
		}
		for _, v := range append(append([]float32{f.Scale}, f.A...), f.B...) {
			if v != v || math.IsInf(float64(v), 0) {
				t.Fatal("a factor that is no number")
			}
		}
	}
	for _, row := range a.Forecast {
		if len(a.Forecast) > maxForecast || len(row) != len(a.Forecast[0]) || len(row) == 0 {
			t.Fatalf("%d forecast embeddings, one of %d numbers", len(a.Forecast), len(row))
		}
	}
	a.Parts()
	a.Ranks()
}

// Forecast embeddings are read with the factors of their rows, checked, and written again.
func TestForecastEmbeddings(t *testing.T) {
	m := open(t, tinymodel.Spec{})
	a, err := ReadGGUF("forecast", ggufFile(m.Config(), 1, 4, 4, npu.F16))
	if err != nil || a.Forecast != nil {
		t.Fatal(a, err)
	}
	row := func(n int, v float32) []float32 {
		r := make([]float32, n)
		r[0] = v
		return r
	}
	dim := m.Config().Dim
	for _, c := range []struct {
		rows [][]float32
		want string
	}{
		{[][]float32{row(dim, 1), row(dim, 2)}, ""},
		{[][]float32{row(dim/2, 1)}, "another model"},
		{make([][]float32, 9), "want 1 to 8"},
		{[][]float32{row(dim, float32(math.Inf(1)))}, "damaged"},
	} {
		for i := range c.rows {
			if c.rows[i] == nil {
				c.rows[i] = row(dim, 1)
			}
		}
		a.Forecast = c.rows
		var b bytes.Buffer
		if err := a.Write(&b, m); err != nil {
			if c.want == "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("write: %v, want %q", err, c.want)
			}
			continue
		}
		got, err := ReadGGUF("forecast", b.Bytes())
		if err == nil {
			err = got.check(m)
		}
		switch {
		case c.want == "" && (err != nil || len(got.Forecast) != 2 || !slices.Equal(got.Forecast[1], c.rows[1])):
			t.Errorf("%v: %v", got, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

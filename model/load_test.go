package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tandem/internal/tinymodel"
	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/quant"
)

func encode(t testing.TB, meta []gguf.KV, tensors []npu.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := gguf.Write(&b, meta, tensors); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// retype returns the tensor with its values in another type.
func retype(t testing.TB, old npu.Tensor, typ npu.DType) npu.Tensor {
	t.Helper()
	v := make([]float32, old.Rows*old.Cols)
	if err := quant.Dequantize(old.Type, v, old.Data); err != nil {
		t.Fatal(err)
	}
	out := npu.Tensor{Name: old.Name, Type: typ, Rows: old.Rows, Cols: old.Cols, Data: make([]byte, typ.RowBytes(len(v)))}
	if err := quant.Quantize(typ, out.Data, v); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOpenRefuses(t *testing.T) {
	set := func(key string, value any) func([]gguf.KV, []npu.Tensor) ([]gguf.KV, []npu.Tensor) {
		return func(meta []gguf.KV, tensors []npu.Tensor) ([]gguf.KV, []npu.Tensor) {
			meta = slices.DeleteFunc(meta, func(kv gguf.KV) bool { return kv.Key == key })
			if value != nil {
				meta = append(meta, gguf.KV{Key: key, Value: value})
			}
			return meta, tensors
		}
	}
	drop := func(name string) func([]gguf.KV, []npu.Tensor) ([]gguf.KV, []npu.Tensor) {
		return func(meta []gguf.KV, tensors []npu.Tensor) ([]gguf.KV, []npu.Tensor) {
			return meta, slices.DeleteFunc(tensors, func(t npu.Tensor) bool { return t.Name == name })
		}
	}
	extra := func(t npu.Tensor) func([]gguf.KV, []npu.Tensor) ([]gguf.KV, []npu.Tensor) {
		return func(meta []gguf.KV, tensors []npu.Tensor) ([]gguf.KV, []npu.Tensor) {
			return meta, append(tensors, t)
		}
	}
	vector := func(name string, n int) npu.Tensor {
		return npu.Tensor{Name: name, Type: npu.F32, Rows: 1, Cols: n, Data: make([]byte, 4*n)}
	}
	for _, c := range []struct {
		name string
		bend func([]gguf.KV, []npu.Tensor) ([]gguf.KV, []npu.Tensor)
		want []string
	}{
		{"no architecture", set("general.architecture", nil), []string{"general.architecture"}},
		{"another architecture", set("general.architecture", "starcoder2"), []string{`"starcoder2"`, "olmoe, opt, phi3, qwen2, qwen3"}},
		{"a recurrent architecture", set("general.architecture", "mamba"), []string{`"mamba"`, "cannot be rolled back"}},
		{"no layers", set("llama.block_count", nil), []string{"llama.block_count is missing"}},
		{"zero layers", set("llama.block_count", uint32(0)), []string{"llama.block_count is 0"}},
		{"too many layers", set("llama.block_count", uint64(1)<<40), []string{"llama.block_count is 1099511627776"}},
		{"more layers than tensors", set("llama.block_count", uint32(3)), []string{`"blk.2.attn_norm.weight"`}},
		{"fewer layers than tensors", set("llama.block_count", uint32(1)), []string{`"blk.1.attn_norm.weight"`, "1 layers"}},
		{"text for a number", set("llama.embedding_length", "64"), []string{"llama.embedding_length is string"}},
		{"heads by layer", set("llama.attention.head_count", []uint32{4, 4}), []string{"llama.attention.head_count", "not one whole number"}},
		{"layers without heads", set("llama.attention.head_count_kv", []uint32{2, 0}), []string{"llama.attention.head_count_kv", "layer 1 has 0 heads", "only lfm2", "use another model"}},
		{"heads that do not divide", set("llama.attention.head_count_kv", uint32(3)), []string{"4 heads cannot share 3"}},
		{"epsilon", set("llama.attention.layer_norm_rms_epsilon", float32(0)), []string{"layer_norm_rms_epsilon is 0"}},
		{"odd rope", set("llama.rope.dimension_count", uint32(3)), []string{"rope.dimension_count is 3"}},
		{"wide rope", set("llama.rope.dimension_count", uint32(32)), []string{"rope.dimension_count is 32", "at most the head's 16"}},
		{"rope of half a head", set("llama.rope.dimension_count", uint32(8)), []string{"rope.dimension_count is 8", "whole heads, of 16"}},
		{"unknown scaling", set("llama.rope.scaling.type", "su"), []string{`"su" is not supported`}},
		{"LongRoPE by name", set("llama.rope.scaling.type", "longrope"), []string{"llama.rope.scaling.type", "LongRoPE", "architecture phi3 only", "use another model"}},
		{"LongRoPE by tensor", extra(vector("rope_factors_short.weight", 8)), []string{"rope_factors_short.weight", "LongRoPE", "architecture phi3 only", "use another model"}},
		{"experts", set("llama.expert_count", uint32(8)), []string{"expert_used_count is missing"}},
		{"value length", set("llama.attention.value_length", uint32(8)), []string{"value_length is 8 and key_length 16"}},
		{"no embedding", drop("token_embd.weight"), []string{`"token_embd.weight"`}},
		{"no norm", drop("blk.1.ffn_norm.weight"), []string{`"blk.1.ffn_norm.weight"`}},
		{"a foreign tensor", extra(vector("blk.0.attn_q_norm.weight", 16)), []string{`unexpected tensor "blk.0.attn_q_norm.weight"`}},
		{"a bias of another size", extra(vector("blk.0.attn_q.bias", 32)), []string{`"blk.0.attn_q.bias" is 1×32`, "1×64"}},
		{"rope factors of zero", extra(vector("rope_freqs.weight", 8)), []string{"rope_freqs.weight: factor 0 is 0"}},
		{"another width", set("llama.feed_forward_length", uint32(256)), []string{`"blk.0.ffn_gate.weight" is 128×64, but the metadata requires 256×64`}},
		{"another vocabulary", set("tokenizer.ggml.tokens", []string{"a"}), []string{"token"}},
	} {
		meta, tensors := c.bend(tinymodel.Parts(tinymodel.Spec{}))
		m, err := OpenBytes("bent.gguf", encode(t, meta, tensors), native.New(1))
		if err == nil {
			m.Close()
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range append(c.want, "bent.gguf") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q, want %q", c.name, err, want)
			}
		}
	}
}

func TestConfigAndFingerprint(t *testing.T) {
	spec := tinymodel.Spec{Arch: "qwen2", Linear: 2, HeadDim: 24, Context: 99}
	c := openTiny(t, spec).Config()
	if c.Arch != "qwen2" || c.Layers != 2 || c.Dim != 64 || c.Heads != 4 || c.KVHeads != 2 || c.HeadDim != 24 || c.FF != 128 ||
		c.Context != 99 || c.Vocab != 258 || c.Rope.Pairing != npu.HalfSplit || c.Rope.Linear != 2 || c.Rope.Dims != 24 {
		t.Errorf("config %+v", c)
	}
	seen := map[[32]byte]string{}
	for name, s := range map[string]tinymodel.Spec{
		"plain": {}, "seed": {Seed: 1}, "base": {RopeBase: 5000}, "type": {Type: npu.F16}, "context": {Context: 100}, "words": {Words: []string{"ab"}},
	} {
		sum := openTiny(t, s).Fingerprint()
		if other, ok := seen[sum]; ok {
			t.Errorf("%s and %s have the same fingerprint", name, other)
		}
		seen[sum] = name
		if again := openTiny(t, s).Fingerprint(); again != sum {
			t.Errorf("%s: the fingerprint changed on opening the file again", name)
		}
	}
}

// Models that differ only in a tensor of a type that is only read have different fingerprints. All other models keep the
// fingerprints that they have always had, so that stored KV caches stay valid.
func TestFingerprintOfReadOnlyTypes(t *testing.T) {
	open := func(typ npu.DType, fill byte) *Model {
		meta, tensors := tinymodel.Parts(tinymodel.Spec{Type: npu.Q8_0})
		for i := range tensors {
			if w := &tensors[i]; w.Name == "blk.0.attn_q.weight" {
				w.Type, w.Data = typ, bytes.Repeat([]byte{fill}, w.Rows*typ.RowBytes(w.Cols))
			}
		}
		m, err := OpenBytes("tiny", encode(t, meta, tensors), native.New(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m
	}
	for _, typ := range []npu.DType{npu.Q5_0, npu.Q5_1, npu.IQ4_NL} {
		one, other, again := open(typ, 1), open(typ, 2), open(typ, 1)
		if one.Fingerprint() == other.Fingerprint() {
			t.Errorf("type %d: two models that differ have the same fingerprint", typ)
		}
		if one.Fingerprint() != again.Fingerprint() {
			t.Errorf("type %d: the fingerprint changed on opening the file again", typ)
		}
	}
	for typ, want := range map[npu.DType]string{npu.F32: "053d0fa7fc0f9586", npu.Q8_0: "17c997599d94a5b5"} {
		if got := fmt.Sprintf("%x", openTiny(t, tinymodel.Spec{Type: typ}).Fingerprint())[:16]; got != want {
			t.Errorf("%v: fingerprint %s, want %s", typ, got, want)
		}
	}
}

// Embedded bytes may have any alignment.
func TestUnalignedFile(t *testing.T) {
	for _, typ := range []npu.DType{npu.F32, npu.F16, npu.BF16, npu.Q8_0} {
		b := tinymodel.GGUF(tinymodel.Spec{Type: typ})
		shifted := append(make([]byte, 1, len(b)+1), b...)[1:]
		m, err := OpenBytes("shifted", shifted, native.New(1))
		if err != nil {
			t.Fatal(err)
		}
		straight := openTiny(t, tinymodel.Spec{Type: typ})
		for _, n := range []int{1, 3} {
			got, want := forward(t, m, Input{Seq: m.NewSeq(), Tokens: pattern(n)}), forward(t, straight, Input{Seq: straight.NewSeq(), Tokens: pattern(n)})
			if !bitEqual(got[0], want[0]) {
				t.Errorf("%v: an unaligned file gives different logits", typ)
			}
		}
		m.Close()
	}
}

func TestGraphsPrint(t *testing.T) {
	m := openTiny(t, tinymodel.Spec{Arch: "qwen2"})
	graphs := m.Graphs(8)
	if len(graphs) != 4 {
		t.Fatalf("%d graphs, want 4", len(graphs))
	}
	for _, want := range []string{"graph layer 1, 8 rows", "half-split", `attention`, "blk.1.attn_q.bias", "swiglu"} {
		if text := graphs[2].String(); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// The keys for linear rope scaling have the same meaning as in llama.cpp.
func TestRopeScaling(t *testing.T) {
	const kind, factor, old = "llama.rope.scaling.type", "llama.rope.scaling.factor", "llama.rope.scale_linear"
	for _, c := range []struct {
		said []gguf.KV
		want float64
	}{
		{nil, 1},
		{[]gguf.KV{{Key: factor, Value: float32(4)}}, 4},
		{[]gguf.KV{{Key: old, Value: float32(2)}}, 2},
		{[]gguf.KV{{Key: factor, Value: float32(4)}, {Key: old, Value: float32(2)}}, 4},
		{[]gguf.KV{{Key: factor, Value: float32(0)}}, 1},
		{[]gguf.KV{{Key: kind, Value: "linear"}}, 1},
		{[]gguf.KV{{Key: kind, Value: "linear"}, {Key: factor, Value: float32(4)}}, 4},
		{[]gguf.KV{{Key: kind, Value: "linear"}, {Key: old, Value: float32(2)}}, 2},
		{[]gguf.KV{{Key: kind, Value: "none"}, {Key: factor, Value: float32(4)}, {Key: old, Value: float32(2)}}, 1},
	} {
		meta, tensors := tinymodel.Parts(tinymodel.Spec{})
		m, err := OpenBytes("scaled.gguf", encode(t, append(meta, c.said...), tensors), native.New(1))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Config().Rope.Linear; got != c.want {
			t.Errorf("%v: factor %v, want %v", c.said, got, c.want)
		}
		m.Close()
	}
}

// A header alone says what the whole file says, for every architecture and type, and is refused for the same reasons.
func TestCheckOfAHeader(t *testing.T) {
	for _, arch := range Architectures() {
		b := tinymodel.GGUF(tinymodel.Spec{Arch: arch, Type: npu.Q8_0, Factors: arch == "llama" || arch == "phi3"})
		found := false
		for n := 1 << 10; n < len(b) && !found; n += 1 << 10 {
			f, err := gguf.ParseHeader("tiny", b[:n], int64(len(b)))
			if errors.Is(err, io.ErrUnexpectedEOF) {
				continue
			}
			if err == nil {
				err = Check(f)
			}
			if err != nil {
				t.Errorf("%s: %d bytes of %d: %v", arch, n, len(b), err)
			}
			found = true
		}
		if !found {
			t.Errorf("%s: its header never ended", arch)
		}
	}
	meta, tensors := tinymodel.Parts(tinymodel.Spec{})
	b := encode(t, meta, tensors[:len(tensors)-1])
	f, err := gguf.ParseHeader("tiny", b[:32<<10], int64(len(b)))
	if err == nil {
		err = Check(f)
	}
	if err == nil || !strings.Contains(err.Error(), tensors[len(tensors)-1].Name) {
		t.Errorf("without %s: error %v", tensors[len(tensors)-1].Name, err)
	}
	if _, err := gguf.ParseHeader("tiny", b[:32<<10], int64(len(b)-5)); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("cut short: error %v", err)
	}
}

// A context that a file only claims takes no memory: that of learned positions must be there, and without them it is bounded.
func TestClaimedContext(t *testing.T) {
	for arch, want := range map[string]string{"bert": `"position_embd.weight" is 512×64`, "nomic-bert": "context_length is 16777216"} {
		meta, tensors := tinymodel.Parts(tinymodel.Spec{Arch: arch})
		for i := range meta {
			if meta[i].Key == arch+".context_length" {
				meta[i].Value = uint32(maxContext)
			}
		}
		b := encode(t, meta, tensors)
		whole, err := gguf.Parse("tiny", b)
		if err != nil {
			t.Fatal(err)
		}
		header, err := gguf.ParseHeader("tiny", b, int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []*gguf.File{whole, header} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := Check(f)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want one with %q", arch, err, want)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
				t.Errorf("%s: refusing the file took %d MB", arch, took>>20)
			}
		}
	}
}

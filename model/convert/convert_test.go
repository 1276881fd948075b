package convert

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/llamacpp"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/native"
)

func byteSpellings() (list []string) {
	next := rune(256)
	for b := range rune(256) {
		if b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE {
			list = append(list, string(b))
		} else {
			list, next = append(list, string(next)), next+1
		}
	}
	return list
}

func scheme(t testing.TB, name string) Scheme {
	t.Helper()
	if name == "" {
		return Scheme{}
	}
	s, err := ParseScheme(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ours returns package model's logits after every token.
func ours(t testing.TB, path string, ids []int) [][]float32 {
	t.Helper()
	m, err := model.Open(path, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	tokens := make([]tandem.Token, len(ids))
	for i, id := range ids {
		tokens[i] = tandem.Token(id)
	}
	out, err := m.Forward(context.Background(), []model.Input{{Seq: m.NewSeq(), Tokens: tokens, All: true}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// apart returns the largest difference relative to the standard deviation of a position's logits.
func apart(got [][]float32, want func(pos, i int) float64) (worst float64) {
	for pos := range got {
		var off, square float64
		for i, v := range got[pos] {
			off, square = max(off, math.Abs(float64(v)-want(pos, i))), square+want(pos, i)*want(pos, i)
		}
		worst = max(worst, off/math.Sqrt(square/float64(len(got[pos]))))
	}
	return worst
}

// A converted model computes the same as the definition of its architecture does with the original weights, and as
// llama.cpp does with the converted file.
func TestConvertedModelsMatchTheirDefinition(t *testing.T) {
	llama3 := map[string]any{"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 512.0}
	for _, c := range []struct {
		name, kind, typ, to string
		files               int
		bend                map[string]any
		bound               float64 // for the rounding of the F16 cache and of the weights
	}{
		{"llama", "llama", "F32", "", 1, nil, 3e-3},
		{"llama in three files", "llama", "BF16", "", 3, nil, 3e-3},
		{"llama with biases", "llama", "F32", "", 1, map[string]any{"attention_bias": true}, 3e-3},
		{"llama 3 scaling", "llama", "F32", "", 1, map[string]any{"rope_scaling": llama3}, 3e-3},
		{"llama linear scaling", "llama", "F32", "f32", 1, map[string]any{"rope_scaling": map[string]any{"rope_type": "linear", "factor": 2.0}}, 3e-3},
		{"llama to q8_0", "llama", "F16", "q8_0", 1, nil, 0.15},
		{"qwen2", "qwen2", "BF16", "", 1, nil, 3e-3},
		{"qwen2 to f16", "qwen2", "F32", "f16", 2, nil, 2e-2},
		{"qwen3", "qwen3", "BF16", "", 1, nil, 3e-3},
		{"smollm3", "smollm3", "BF16", "", 1, nil, 3e-3},
		{"granite", "granite", "BF16", "", 1, nil, 3e-3},
		{"opt", "opt", "F16", "", 1, nil, 3e-3},
		{"opt to q8_0", "opt", "F32", "q8_0", 2, nil, 0.15},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newHF(c.kind, c.typ, c.bend)
			dir, out := m.write(t, c.files), filepath.Join(t.TempDir(), "out.gguf")
			if _, err := Convert(t.Context(), dir, out, Options{Scheme: scheme(t, c.to)}); err != nil {
				t.Fatal(err)
			}
			ids := make([]int, 40)
			for i := range ids {
				ids[i] = (i*89 + 17) % 256
			}
			want := m.logits(ids)
			got := ours(t, out, ids)
			off := apart(got, func(pos, i int) float64 { return want[pos][i] })
			t.Logf("off by %.2g of the logits' size", off)
			if off > c.bound {
				t.Errorf("logits differ by %.2g of their deviation, want at most %.2g", off, c.bound)
			}
			if c.kind != "opt" { // llama.cpp does not support OPT
				compareWithLlamaCpp(t, out, ids, got, max(0.06, c.bound))
			}
		})
	}
}

func compareWithLlamaCpp(t *testing.T, path string, ids []int, got [][]float32, bound float64) {
	lib, err := llamacpp.Load()
	if err != nil {
		t.Logf("not compared with llama.cpp: %v", err)
		return
	}
	peer, err := lib.Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	tokens := make([]int32, len(ids))
	for i, id := range ids {
		tokens[i] = int32(id)
	}
	want, err := peer.Logits(tokens)
	if err != nil {
		t.Fatal(err)
	}
	if off := apart(got, func(pos, i int) float64 { return float64(want[pos][i]) }); off > bound {
		t.Errorf("logits differ from llama.cpp's by %.2g of their deviation, want at most %.2g", off, bound)
	}
}

func TestMetadataOfConvertedFiles(t *testing.T) {
	dir, out := newHF("qwen2", "BF16", nil).write(t, 1), filepath.Join(t.TempDir(), "out.gguf")
	var last Progress
	r, err := Convert(t.Context(), dir, out, Options{Scheme: scheme(t, "q4_0"), Progress: func(p Progress) { last = p }})
	if err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for key, want := range map[string]any{
		"general.architecture": "qwen2", "general.file_type": uint32(2), "general.quantization_version": uint32(2), "qwen2.context_length": uint32(64),
		"tokenizer.ggml.pre": "qwen2", "tokenizer.ggml.bos_token_id": uint32(256), "tokenizer.ggml.eos_token_id": uint32(257),
		"tokenizer.ggml.add_bos_token": true, "tokenizer.chat_template": "{{ messages }}",
	} {
		if got, _ := f.Value(key); got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	if last.Done != last.Total || last.Total != r.Values || r.Tensors != len(f.Tensors) {
		t.Errorf("progress %+v, report %+v", last, r)
	}
	if info, _ := os.Stat(out); info.Size() != r.Bytes {
		t.Errorf("the file has %d bytes, but the report says %d", info.Size(), r.Bytes)
	}
	// 64 columns are not a block of 256, so the tied embedding becomes Q8_0 instead of Q6_K.
	for _, info := range f.Tensors {
		want := npu.Q4_0
		switch {
		case len(info.Shape) == 1:
			want = npu.F32
		case info.Name == "token_embd.weight":
			want = npu.Q8_0
		}
		if info.Type != want {
			t.Errorf("%s is %v, want %v", info.Name, info.Type, want)
		}
	}
}

// A model in the hub's cache is called after its repository, not after the commit: Phi-3's tokenizer depends on that name.
func TestNameOfConvertedFiles(t *testing.T) {
	root := t.TempDir()
	for at, want := range map[string]string{
		"models--microsoft--Phi-3-mini-4k-instruct/snapshots/0123456789abcdef0123456789abcdef01234567": "Phi-3-mini-4k-instruct",
		"models--o--a--b/snapshots/0123": "a--b", "models--a--b/other": "other", "snapshots/mine": "mine",
	} {
		dir := filepath.Join(root, filepath.FromSlash(at))
		if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(newHF("qwen2", "F32", nil).write(t, 1), dir); err != nil {
			t.Fatal(err)
		}
		out := dir + ".gguf"
		if _, err := Convert(t.Context(), dir, out, Options{}); err != nil {
			t.Fatal(err)
		}
		f, err := gguf.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := f.Meta.String("general.name"); got != want {
			t.Errorf("the model in %s is called %q, want %q", at, got, want)
		}
		f.Close()
	}
}

func TestConvertRefuses(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		bend       map[string]any
		damage     func(dir string, m *hfModel)
		want       string
	}{
		{"another architecture", "llama", map[string]any{"model_type": "mamba"}, nil, `model_type "mamba" is not supported`},
		{"dynamic scaling", "qwen2", map[string]any{"rope_scaling": map[string]any{"rope_type": "dynamic", "factor": 4.0}}, nil, `type "dynamic" is not supported`},
		{"yarn without a factor", "qwen2", map[string]any{"rope_scaling": map[string]any{"rope_type": "yarn"}}, nil, "yarn with factor 0"},
		{"SmolLM3 with other layers", "smollm3", map[string]any{"no_rope_layers": []int{1, 0, 1, 0}}, nil, "no_rope_layers: layer 1"},
		{"SmolLM3 with another interval", "smollm3", map[string]any{"no_rope_layer_interval": 3}, nil, "no_rope_layer_interval 3"},
		{"Qwen3 without its norms", "qwen2", map[string]any{"model_type": "qwen3", "head_dim": 16}, nil, `"model.layers.0.self_attn.q_norm.weight" is missing`},
		{"Granite with no residual", "granite", map[string]any{"residual_multiplier": 0.0}, nil, "must be positive"},
		{"gelu", "llama", map[string]any{"hidden_act": "gelu"}, nil, `hidden_act "gelu"`},
		{"OPT-350M", "opt", map[string]any{"word_embed_proj_dim": 32}, nil, "OPT-350M"},
		{"post-norm", "opt", map[string]any{"do_layer_norm_before": false}, nil, "do_layer_norm_before"},
		{"no heads", "llama", map[string]any{"num_attention_heads": 0}, nil, "is 0"},
		{"wrong width", "llama", map[string]any{"intermediate_size": 97}, nil, `"model.layers.0.mlp.gate_proj.weight" has shape [96 64], but the configuration requires [97 64]`},
		{"more layers", "llama", map[string]any{"num_hidden_layers": 1000000}, nil, `"model.layers.2.input_layernorm.weight" is missing`},
		{"fewer layers", "llama", map[string]any{"num_hidden_layers": 1}, nil, `unexpected tensor "model.layers.1.input_layernorm.weight" in a llama model`},
		{"a small vocabulary", "llama", map[string]any{"vocab_size": 255}, nil, "ids up to 260, but the model has only 255"},
		{"no configuration", "llama", nil, func(dir string, _ *hfModel) { os.Remove(filepath.Join(dir, "config.json")) }, "no config.json"},
		{"no tokenizer", "llama", nil, func(dir string, _ *hfModel) { os.Remove(filepath.Join(dir, "tokenizer.json")) }, "neither tokenizer.json nor vocab.json"},
		{"no weights", "llama", nil, func(dir string, _ *hfModel) { os.Remove(filepath.Join(dir, "model.safetensors")) }, "0 .safetensors files"},
		{"PyTorch", "llama", nil, func(dir string, _ *hfModel) {
			os.Rename(filepath.Join(dir, "model.safetensors"), filepath.Join(dir, "pytorch_model.bin"))
		}, "pytorch_model.bin"},
		{"truncated", "llama", nil, func(dir string, _ *hfModel) { os.Truncate(filepath.Join(dir, "model.safetensors"), 30000) }, "truncated"},
		{"a file is missing", "llama", nil, func(dir string, m *hfModel) {
			os.Remove(filepath.Join(dir, "model.safetensors"))
			os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), []byte(`{"weight_map":{"a":"model-1.safetensors"}}`), 0o644)
		}, "model-1.safetensors is missing"},
		{"a file elsewhere", "llama", nil, func(dir string, m *hfModel) {
			os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), []byte(`{"weight_map":{"a":"../x.safetensors"}}`), 0o644)
		}, "the index names the file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newHF(c.kind, "F16", c.bend)
			dir, folder := m.write(t, 1), t.TempDir()
			if c.damage != nil {
				c.damage(dir, m)
			}
			_, err := Convert(t.Context(), dir, filepath.Join(folder, "out.gguf"), Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if left, _ := os.ReadDir(folder); len(left) > 0 {
				t.Errorf("%s was left", left[0].Name())
			}
		})
	}
}

// Convert never overwrites a file, and leaves nothing behind when it is cancelled or fails.
func TestNothingPartialIsLeft(t *testing.T) {
	m := newHF("llama", "F32", nil)
	m.w["model.norm.weight"][3] = math.Inf(1)
	m.w["lm_head.weight"][70] = math.NaN()
	dir, folder := m.write(t, 1), t.TempDir()
	out := filepath.Join(folder, "out.gguf")
	_, err := Convert(t.Context(), dir, out, Options{Scheme: scheme(t, "q4_0")})
	if err == nil || !strings.Contains(err.Error(), `tensor "output.weight": row 1: value NaN`) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Convert(ctx, dir, out, Options{Progress: func(Progress) { cancel() }}); err == nil {
		t.Error("Convert continued after it was cancelled")
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("%s was left", left[0].Name())
	}
	os.WriteFile(out, []byte("mine"), 0o644)
	if _, err := Convert(t.Context(), dir, out, Options{}); err == nil || !strings.Contains(err.Error(), "already exists: choose another name") {
		t.Errorf("error %v", err)
	}
	if b, _ := os.ReadFile(out); string(b) != "mine" {
		t.Error("the existing file was overwritten")
	}
}

func FuzzSafetensors(f *testing.F) {
	f.Add(safetensors(f, map[string]any{"a": map[string]any{"dtype": "F16", "shape": []int{2, 3}, "data_offsets": []int{0, 12}},
		"b": map[string]any{"dtype": "I64", "shape": []int{}, "data_offsets": []int{12, 20}}}, make([]byte, 20)))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		tensors, err := Safetensors("fuzz", b)
		if err != nil {
			return
		}
		for name, s := range tensors {
			n := 1
			for _, d := range s.Shape {
				n *= int(d)
			}
			if s.Type != notFloat && n*s.Type.BlockBytes() != len(s.Data) {
				t.Fatal(fmt.Sprint(name, s))
			}
		}
	})
}

// The bound on sizes also holds for the rows of all heads together.
func TestConfigOfTooManyHeads(t *testing.T) {
	b := `{"model_type":"llama","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":4096,"head_dim":1048576,"intermediate_size":96,"vocab_size":300,"max_position_embeddings":64}`
	if c, err := parseHFConfig([]byte(b)); err == nil || !strings.Contains(err.Error(), "4096 heads of 1048576 elements") {
		t.Errorf("error %v for %d rows of queries", err, c.Heads*c.HeadDim)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"model_type":"llama","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"intermediate_size":96,"vocab_size":300,"max_position_embeddings":64,
		"rope_scaling":{"rope_type":"llama3","factor":4,"low_freq_factor":1,"high_freq_factor":4,"original_max_position_embeddings":512}}`))
	f.Add([]byte(`{"model_type":"opt","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"ffn_dim":96,"vocab_size":300,"max_position_embeddings":64,"activation_function":"relu"}`))
	for kind := range familyConfigs {
		b, err := json.Marshal(newFamily(kind, "F32", nil).config)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseHFConfig(b)
		if err != nil {
			return
		}
		c.meta("x")
		c.ropeFactors()
		p := plan{config: c, shards: &shards{}, used: map[string]bool{}}
		if _, err := p.tensors(); err == nil {
			t.Fatal("tensors succeeded without any stored tensor")
		}
	})
}

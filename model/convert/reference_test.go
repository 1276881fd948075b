package convert

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tandem/npu/quant"
)

// An hfModel is a small model of random weights in the hub's layout, with a forward pass in float64 that
// follows the published definition of its architecture and knows nothing of GGUF.
type hfModel struct {
	config map[string]any
	shapes map[string][]int
	w      map[string][]float64
	typ    string // safetensors' dtype

	raw     map[string][]byte    // tensors of bytes
	experts map[string][]float64 // rows of all experts' matrices, where the files store them otherwise

	dim, layers, heads, kv, size, ff, vocab, positions int
}

const (
	tinyVocab = 300
	tinyDim   = 64
)

// newHF returns a model of the given kind: "llama", "qwen2", "qwen3", "smollm3", "granite" or "opt".
func newHF(kind, typ string, bend map[string]any) *hfModel {
	m := &hfModel{dim: tinyDim, layers: 2, heads: 4, kv: 2, size: 16, ff: 96, vocab: tinyVocab, positions: 64, typ: typ,
		shapes: map[string][]int{}, w: map[string][]float64{}}
	m.config = map[string]any{"model_type": kind, "hidden_size": m.dim, "num_hidden_layers": m.layers, "num_attention_heads": m.heads,
		"vocab_size": m.vocab, "max_position_embeddings": m.positions, "eos_token_id": []int{257}, "bos_token_id": 256}
	if kind == "opt" {
		m.kv = m.heads
		m.config["ffn_dim"], m.config["activation_function"], m.config["word_embed_proj_dim"] = m.ff, "relu", m.dim
	} else {
		m.config["num_key_value_heads"], m.config["intermediate_size"], m.config["hidden_act"] = m.kv, m.ff, "silu"
		m.config["rms_norm_eps"], m.config["rope_theta"], m.config["tie_word_embeddings"] = 1e-5, 5000.0, kind != "llama"
	}
	switch kind {
	case "qwen3":
		m.size = 32 // not the width over the heads
		m.config["head_dim"] = m.size
	case "granite":
		m.config["embedding_multiplier"], m.config["residual_multiplier"] = 3.0, 0.4
		m.config["attention_multiplier"], m.config["logits_scaling"] = 0.1, 5.0
	case "smollm3":
		m.layers = 4 // the last does not rotate
		m.config["num_hidden_layers"] = m.layers
	}
	for k, v := range bend {
		m.config[k] = v
	}
	r := rand.New(rand.NewPCG(uint64(len(kind)), 3))
	add := func(name string, mean, spread float64, shape ...int) {
		n := 1
		for _, d := range shape {
			n *= d
		}
		x := make([]float64, n)
		for i := range x {
			// Round to the type, so that the reference has the same weights.
			x[i] = m.round(mean + spread*r.NormFloat64())
		}
		m.shapes[name], m.w[name] = shape, x
	}
	linear := func(name string, rows, cols int, bias bool) {
		add(name+".weight", 0, 1/math.Sqrt(float64(cols)), rows, cols)
		if bias {
			add(name+".bias", 0, 0.3, rows)
		}
	}
	norm := func(name string, bias bool) {
		add(name+".weight", 1, 0.1, m.dim)
		if bias {
			add(name+".bias", 0, 0.1, m.dim)
		}
	}
	q, kv := m.heads*m.size, m.kv*m.size
	if kind == "opt" {
		root := "model.decoder."
		add(root+"embed_tokens.weight", 0, 0.5, m.vocab, m.dim)
		add(root+"embed_positions.weight", 0, 0.3, m.positions+2, m.dim)
		for i := range m.layers {
			b := fmt.Sprintf("%slayers.%d.", root, i)
			norm(b+"self_attn_layer_norm", true)
			for _, p := range []string{"q_proj", "k_proj", "v_proj", "out_proj"} {
				linear(b+"self_attn."+p, m.dim, m.dim, true)
			}
			norm(b+"final_layer_norm", true)
			linear(b+"fc1", m.ff, m.dim, true)
			linear(b+"fc2", m.dim, m.ff, true)
		}
		norm(root+"final_layer_norm", true)
		return m
	}
	bias := kind == "qwen2" || bend["attention_bias"] == true
	add("model.embed_tokens.weight", 0, 0.5, m.vocab, m.dim)
	for i := range m.layers {
		b := fmt.Sprintf("model.layers.%d.", i)
		norm(b+"input_layernorm", false)
		linear(b+"self_attn.q_proj", q, m.dim, bias)
		linear(b+"self_attn.k_proj", kv, m.dim, bias)
		linear(b+"self_attn.v_proj", kv, m.dim, bias)
		linear(b+"self_attn.o_proj", m.dim, q, bend["attention_bias"] == true)
		if kind == "qwen3" {
			add(b+"self_attn.q_norm.weight", 1, 0.3, m.size)
			add(b+"self_attn.k_norm.weight", 1, 0.3, m.size)
		}
		norm(b+"post_attention_layernorm", false)
		linear(b+"mlp.gate_proj", m.ff, m.dim, false)
		linear(b+"mlp.up_proj", m.ff, m.dim, false)
		linear(b+"mlp.down_proj", m.dim, m.ff, false)
	}
	norm("model.norm", false)
	if kind == "llama" {
		linear("lm_head", m.vocab, m.dim, false)
	}
	return m
}

func (m *hfModel) round(v float64) float64 {
	switch m.typ {
	case "F16":
		return float64(quant.F16ToF32(quant.F32ToF16(float32(v))))
	case "BF16":
		return float64(quant.BF16ToF32(quant.F32ToBF16(float32(v))))
	}
	return float64(float32(v))
}

// tinyTokenizer returns a byte-level tokenizer.json with the 256 bytes, two control tokens and a few merges.
func tinyTokenizer() map[string]any {
	vocab := map[string]int{}
	for i, b := range byteSpellings() {
		vocab[b] = i
	}
	merges := []any{"t h", []string{"th", "e"}, "i n"}
	for i, text := range []string{"th", "the", "in"} {
		vocab[text] = 258 + i
	}
	return map[string]any{
		"added_tokens": []any{map[string]any{"id": 256, "content": "<s>", "special": true}, map[string]any{"id": 257, "content": "</s>", "special": true}},
		"pre_tokenizer": map[string]any{"type": "Sequence", "pretokenizers": []any{
			map[string]any{"type": "Split", "pattern": map[string]any{"Regex": qwenStages[3:]}, "behavior": "Isolated", "invert": false},
			map[string]any{"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}}},
		"model": map[string]any{"type": "BPE", "vocab": vocab, "merges": merges},
	}
}

// write writes the model to a new folder, with the weights in the given number of files.
func (m *hfModel) write(t testing.TB, files int) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, v any) {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("config.json", m.config)
	put("tokenizer.json", tinyTokenizer())
	put("tokenizer_config.json", map[string]any{"bos_token": "<s>", "eos_token": map[string]any{"content": "</s>"}, "add_bos_token": true, "chat_template": "{{ messages }}"})
	var names []string
	for name := range m.w {
		names = append(names, name)
	}
	for name := range m.raw {
		names = append(names, name)
	}
	slices.Sort(names)
	where := map[string]string{}
	for i := range files {
		file := "model.safetensors"
		if files > 1 {
			file = fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, files)
		}
		header, data := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, []byte(nil)
		for j := i; j < len(names); j += files {
			name := names[j]
			where[name] = file
			from, typ := len(data), m.typ
			if b := m.raw[name]; b != nil {
				data, typ = append(data, b...), "U8"
			}
			for _, v := range m.w[name] {
				switch m.typ {
				case "F16":
					data = binary.LittleEndian.AppendUint16(data, quant.F32ToF16(float32(v)))
				case "BF16":
					data = binary.LittleEndian.AppendUint16(data, quant.F32ToBF16(float32(v)))
				default:
					data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
				}
			}
			header[name] = map[string]any{"dtype": typ, "shape": m.shapes[name], "data_offsets": []int{from, len(data)}}
		}
		if err := os.WriteFile(filepath.Join(dir, file), safetensors(t, header, data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if files > 1 {
		put("model.safetensors.index.json", map[string]any{"metadata": map[string]any{}, "weight_map": where})
	}
	return dir
}

func safetensors(t testing.TB, header map[string]any, data []byte) []byte {
	t.Helper()
	h, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h...), data...)
}

func (m *hfModel) linear(x []float64, name string) []float64 {
	w, bias := m.w[name+".weight"], m.w[name+".bias"]
	y := make([]float64, len(w)/len(x))
	for i := range y {
		for j, v := range x {
			y[i] += w[i*len(x)+j] * v
		}
		if bias != nil {
			y[i] += bias[i]
		}
	}
	return y
}

// norm is LayerNorm if there is a bias, otherwise RMSNorm.
func (m *hfModel) norm(x []float64, name string) []float64 {
	bias := m.w[name+".bias"]
	mean, square := 0.0, 0.0
	for _, v := range x {
		if bias != nil {
			mean += v / float64(len(x))
		}
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / float64(len(x))
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = (v - mean) / math.Sqrt(square+1e-5) * m.w[name+".weight"][i]
		if bias != nil {
			y[i] += bias[i]
		}
	}
	return y
}

// rotate is Hugging Face's rotary embedding, which pairs element i of a head with element i + size/2.
func (m *hfModel) rotate(x []float64, position int) {
	half := m.size / 2
	for head := 0; head < len(x); head += m.size {
		for i := range half {
			f := m.frequency(i)
			s, c := math.Sincos(float64(position) * f)
			a, b := x[head+i], x[head+i+half]
			x[head+i], x[head+i+half] = a*c-b*s, b*c+a*s
		}
	}
}

// frequency returns the angle per position of pair i, scaled as in Hugging Face's code (llama3: Grattafiori et al. 2024;
// linear: positions are divided by the factor).
func (m *hfModel) frequency(i int) float64 {
	f := math.Pow(m.config["rope_theta"].(float64), -2*float64(i)/float64(m.size))
	s, ok := m.config["rope_scaling"].(map[string]any)
	if !ok {
		return f
	}
	factor := s["factor"].(float64)
	if s["rope_type"] == "linear" {
		return f / factor
	}
	low, high, old := s["low_freq_factor"].(float64), s["high_freq_factor"].(float64), s["original_max_position_embeddings"].(float64)
	switch wave := 2 * math.Pi / f; {
	case wave > old/low:
		return f / factor
	case wave < old/high:
		return f
	default:
		smooth := (old/wave - low) / (high - low)
		return (1-smooth)*f/factor + smooth*f
	}
}

func (m *hfModel) logits(tokens []int) [][]float64 {
	opt := m.config["model_type"] == "opt"
	root, names := "model.", []string{"input_layernorm", "self_attn.o_proj", "post_attention_layernorm", "norm"}
	if opt {
		root, names = "model.decoder.", []string{"self_attn_layer_norm", "self_attn.out_proj", "final_layer_norm", "final_layer_norm"}
	}
	embedding := m.w[root+"embed_tokens.weight"]
	x := make([][]float64, len(tokens))
	for i, id := range tokens {
		x[i] = scaled(slices.Clone(embedding[id*m.dim:][:m.dim]), m.factor("embedding_multiplier", 1))
		if opt {
			sum(x[i], m.w[root+"embed_positions.weight"][(i+2)*m.dim:][:m.dim])
		}
	}
	for l := range m.layers {
		b := fmt.Sprintf("%slayers.%d.", root, l)
		var keys, values [][]float64
		for i := range x {
			h := m.norm(x[i], b+names[0])
			q, k := m.linear(h, b+"self_attn.q_proj"), m.linear(h, b+"self_attn.k_proj")
			for at := 0; at < len(q) && m.w[b+"self_attn.q_norm.weight"] != nil; at += m.size {
				copy(q[at:], m.norm(q[at:at+m.size], b+"self_attn.q_norm"))
				if at < len(k) {
					copy(k[at:], m.norm(k[at:at+m.size], b+"self_attn.k_norm"))
				}
			}
			if !opt && (m.config["model_type"] != "smollm3" || l%4 != 3) {
				m.rotate(q, i)
				m.rotate(k, i)
			}
			keys, values = append(keys, k), append(values, m.linear(h, b+"self_attn.v_proj"))
			sum(x[i], scaled(m.linear(m.attend(q, keys, values), b+names[1]), m.factor("residual_multiplier", 1)))
			h = m.norm(x[i], b+names[2])
			if opt {
				h = m.linear(h, b+"fc1")
				for j := range h {
					h[j] = max(0, h[j])
				}
				sum(x[i], m.linear(h, b+"fc2"))
				continue
			}
			gate, up := m.linear(h, b+"mlp.gate_proj"), m.linear(h, b+"mlp.up_proj")
			for j, g := range gate {
				up[j] *= g / (1 + math.Exp(-g))
			}
			sum(x[i], scaled(m.linear(up, b+"mlp.down_proj"), m.factor("residual_multiplier", 1)))
		}
	}
	for i := range x {
		h := scaled(m.norm(x[i], root+names[3]), 1/m.factor("logits_scaling", 1))
		if m.w["lm_head.weight"] != nil {
			x[i] = m.linear(h, "lm_head")
		} else {
			m.w["tied.weight"] = embedding
			x[i] = m.linear(h, "tied")
		}
	}
	delete(m.w, "tied.weight")
	return x
}

func (m *hfModel) attend(q []float64, keys, values [][]float64) []float64 {
	out := make([]float64, len(q))
	for head := range m.heads {
		from := head / (m.heads / m.kv) * m.size
		scores, total := make([]float64, len(keys)), 0.0
		for j := range keys {
			for k := range m.size {
				scores[j] += q[head*m.size+k] * keys[j][from+k]
			}
			scores[j] = math.Exp(scores[j] * m.factor("attention_multiplier", 1/math.Sqrt(float64(m.size))))
			total += scores[j]
		}
		for j := range scores {
			for k := range m.size {
				out[head*m.size+k] += scores[j] / total * values[j][from+k]
			}
		}
	}
	return out
}

// factor returns a number of the configuration, or another one if it has none.
func (m *hfModel) factor(key string, otherwise float64) float64 {
	if f, ok := m.config[key].(float64); ok {
		return f
	}
	return otherwise
}

func scaled(x []float64, by float64) []float64 {
	for i := range x {
		x[i] *= by
	}
	return x
}

func sum(x, y []float64) {
	for i := range x {
		x[i] += y[i]
	}
}

package convert

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/model/gguf"
	"tandem/npu"
)

// newFamily returns a model of a kind that newHF does not know: "gemma", "gemma2", "gemma3_text", "phi3", "gpt_oss",
// "olmo2", "lfm2" or "ministral3".
func newFamily(kind, typ string, bend map[string]any) *hfModel {
	m := &hfModel{dim: tinyDim, layers: 4, heads: 4, kv: 2, size: 16, ff: 96, vocab: tinyVocab, positions: 64, typ: typ,
		shapes: map[string][]int{}, w: map[string][]float64{}, raw: map[string][]byte{}, experts: map[string][]float64{}}
	m.config = map[string]any{"model_type": kind, "hidden_size": m.dim, "num_attention_heads": m.heads, "num_key_value_heads": m.kv, "vocab_size": m.vocab,
		"max_position_embeddings": m.positions, "intermediate_size": m.ff, "rms_norm_eps": 1e-5, "rope_theta": 5000.0, "hidden_act": "silu",
		"tie_word_embeddings": false, "eos_token_id": 257, "bos_token_id": 256}
	for k, v := range familyConfigs[kind] {
		m.config[k] = v
	}
	for k, v := range bend {
		m.config[k] = v
	}
	if n, ok := m.config["head_dim"].(int); ok {
		m.size = n
	}
	if kind == "gemma3_text" {
		m.layers = 6
	}
	m.config["num_hidden_layers"] = m.layers
	b := &builder{m, rand.New(rand.NewPCG(uint64(len(kind)), 5))}
	b.add("model.embed_tokens.weight", 0, 0.5, m.vocab, m.dim)
	for l := range m.layers {
		b.layer(kind, fmt.Sprintf("model.layers.%d.", l), l)
	}
	b.norm(map[bool]string{true: "model.embedding_norm", false: "model.norm"}[kind == "lfm2"], m.dim)
	if m.config["tie_word_embeddings"] == false {
		b.linear("lm_head", m.vocab, m.dim, false)
	}
	return m
}

// familyConfigs are what configurations of a kind have besides the sizes.
var familyConfigs = map[string]map[string]any{
	"gemma": {"head_dim": 32, "hidden_act": "gelu", "tie_word_embeddings": true},
	"gemma2": {"head_dim": 32, "hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 32, "attn_logit_softcapping": 4.0, "final_logit_softcapping": 3.0,
		"sliding_window": 12, "tie_word_embeddings": true},
	"gemma3_text": {"head_dim": 32, "hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 32, "sliding_window": 12, "rope_local_base_freq": 300.0,
		"tie_word_embeddings": true, "rope_scaling": map[string]any{"rope_type": "linear", "factor": 2.0}},
	"phi3": {"partial_rotary_factor": 0.5},
	"gpt_oss": {"head_dim": 16, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 12, "swiglu_limit": 7.0, "rope_scaling": map[string]any{
		"rope_type": "yarn", "factor": 8.0, "beta_fast": 4.0, "beta_slow": 1.0, "original_max_position_embeddings": 16}},
	"olmo2": {},
	"lfm2": {"block_ff_dim": 144, "block_multiple_of": 32, "block_auto_adjust_ff_dim": true, "conv_L_cache": 3, "norm_eps": 1e-5,
		"layer_types": []string{"conv", "full_attention", "conv", "full_attention"}, "tie_word_embeddings": true},
	"ministral3": {"rope_parameters": map[string]any{"rope_type": "yarn", "rope_theta": 5000.0, "factor": 4.0, "beta_fast": 4.0, "beta_slow": 1.0,
		"original_max_position_embeddings": 16, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}},
}

// builder draws weights.
type builder struct {
	*hfModel
	r *rand.Rand
}

func (b *builder) add(name string, mean, spread float64, shape ...int) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = b.round(mean + spread*b.r.NormFloat64())
	}
	b.shapes[name], b.w[name] = shape, x
}

func (b *builder) linear(name string, rows, cols int, bias bool) {
	b.add(name+".weight", 0, 1/math.Sqrt(float64(cols)), rows, cols)
	if bias {
		b.add(name+".bias", 0, 0.3, rows)
	}
}

// norm adds weights near 1, which Gemma's files store less 1.
func (b *builder) norm(name string, n int) { b.add(name+".weight", 1-b.plus(), 0.1, n) }

func (b *builder) layer(kind, p string, l int) {
	q, kv, biased := b.heads*b.size, b.kv*b.size, kind == "gpt_oss"
	before, output := "input_layernorm", "self_attn.o_proj"
	if kind == "lfm2" {
		before, output = "operator_norm", "self_attn.out_proj"
	}
	if kind != "olmo2" {
		b.norm(p+before, b.dim)
	}
	switch {
	case b.convolves(l):
		b.add(p+"conv.conv.weight", 0, 0.6, b.dim, 1, 3)
		b.linear(p+"conv.in_proj", 3*b.dim, b.dim, false)
		b.linear(p+"conv.out_proj", b.dim, b.dim, false)
	case kind == "phi3":
		b.linear(p+"self_attn.qkv_proj", q+2*kv, b.dim, false)
		b.linear(p+output, b.dim, q, false)
	default:
		for i, name := range []string{"q_proj", "k_proj", "v_proj"} {
			b.linear(p+"self_attn."+name, []int{q, kv, kv}[i], b.dim, biased)
		}
		b.linear(p+output, b.dim, q, biased)
	}
	switch kind {
	case "gemma3_text":
		b.norm(p+"self_attn.q_norm", b.size)
		b.norm(p+"self_attn.k_norm", b.size)
	case "olmo2":
		b.norm(p+"self_attn.q_norm", q)
		b.norm(p+"self_attn.k_norm", kv)
	case "lfm2":
		if !b.convolves(l) {
			b.norm(p+"self_attn.q_layernorm", b.size)
			b.norm(p+"self_attn.k_layernorm", b.size)
		}
	case "gpt_oss":
		b.add(p+"self_attn.sinks", 0, 1, b.heads)
	}
	if kind == "lfm2" {
		b.norm(p+"ffn_norm", b.dim)
	} else {
		b.norm(p+"post_attention_layernorm", b.dim)
	}
	if kind == "gemma2" || kind == "gemma3_text" {
		b.norm(p+"pre_feedforward_layernorm", b.dim)
	}
	if kind == "gemma2" || kind == "gemma3_text" || kind == "olmo2" {
		b.norm(p+"post_feedforward_layernorm", b.dim)
	}
	b.feed(kind, p)
}

func (b *builder) feed(kind, p string) {
	switch kind {
	case "phi3":
		b.linear(p+"mlp.gate_up_proj", 2*b.ff, b.dim, false)
		b.linear(p+"mlp.down_proj", b.dim, b.ff, false)
	case "lfm2":
		b.linear(p+"feed_forward.w1", b.ff, b.dim, false)
		b.linear(p+"feed_forward.w3", b.ff, b.dim, false)
		b.linear(p+"feed_forward.w2", b.dim, b.ff, false)
	case "gpt_oss":
		b.linear(p+"mlp.router", 4, b.dim, true)
		b.mixture(p+"mlp.experts.gate_up_proj", 4, 2*b.ff, b.dim)
		b.mixture(p+"mlp.experts.down_proj", 4, b.dim, b.ff)
	default:
		b.linear(p+"mlp.gate_proj", b.ff, b.dim, false)
		b.linear(p+"mlp.up_proj", b.ff, b.dim, false)
		b.linear(p+"mlp.down_proj", b.dim, b.ff, false)
	}
}

// mixture adds the matrices of n experts, with rows and columns exchanged or, if the configuration names a
// quantisation, as MXFP4.
func (b *builder) mixture(name string, n, rows, cols int) {
	b.add(name+"_bias", 0, 0.3, n, rows)
	values := make([]float64, n*rows*cols)
	b.experts[name] = values
	if b.config["quantization_config"] == nil {
		stored := make([]float64, len(values))
		for i := range values {
			values[i] = b.round(b.r.NormFloat64() / math.Sqrt(float64(cols)))
			e, row, col := i/(rows*cols), i/cols%rows, i%cols
			stored[(e*cols+col)*rows+row] = values[i]
		}
		b.shapes[name], b.w[name] = []int{n, cols, rows}, stored
		return
	}
	fours := []float64{0, .5, 1, 1.5, 2, 3, 4, 6, 0, -.5, -1, -1.5, -2, -3, -4, -6} // FP4, by its bits
	blocks, scales := make([]byte, len(values)/2), make([]byte, len(values)/32)
	for i := range scales {
		scales[i] = byte(121 + b.r.IntN(2))
	}
	for i := range values {
		code := byte(b.r.IntN(16))
		values[i] = fours[code] * math.Pow(2, float64(scales[i/32])-127)
		blocks[i/2] |= code << (4 * (i % 2))
	}
	b.raw[name+"_blocks"], b.shapes[name+"_blocks"] = blocks, []int{n, rows, cols / 32, 16}
	b.raw[name+"_scales"], b.shapes[name+"_scales"] = scales, []int{n, rows, cols / 32}
}

func (m *hfModel) kind() string { return m.config["model_type"].(string) }

// plus is what a norm adds to its stored weights.
func (m *hfModel) plus() float64 {
	if strings.HasPrefix(m.kind(), "gemma") {
		return 1
	}
	return 0
}

func (m *hfModel) convolves(l int) bool {
	types, _ := m.config["layer_types"].([]string)
	return m.kind() == "lfm2" && types[l] == "conv"
}

// windows reports whether a layer attends to the last positions only.
func (m *hfModel) windows(l int) bool {
	switch m.kind() {
	case "gemma2", "gpt_oss":
		return l%2 == 0
	case "gemma3_text":
		return l%6 != 5
	}
	return false
}

// rms is RMSNorm of each n neighbours.
func (m *hfModel) rms(x []float64, name string, n int) []float64 {
	y := make([]float64, len(x))
	for at := 0; at < len(x); at += n {
		square := 0.0
		for _, v := range x[at : at+n] {
			square += v * v / float64(n)
		}
		for i := range n {
			y[at+i] = x[at+i] / math.Sqrt(square+1e-5) * (m.plus() + m.w[name+".weight"][i])
		}
	}
	return y
}

// familyLogits follows the published definitions: Gemma Team 2024 and 2025, Abdin et al. 2024, OpenAI 2025, Walsh et al. 2025,
// Liquid AI 2025, Mistral AI 2025.
func (m *hfModel) familyLogits(tokens []int) [][]float64 {
	kind, embedding := m.kind(), m.w["model.embed_tokens.weight"]
	x := make([][]float64, len(tokens))
	for i, id := range tokens {
		x[i] = slices.Clone(embedding[id*m.dim:][:m.dim])
		if m.plus() == 1 {
			scaled(x[i], math.Sqrt(float64(m.dim)))
		}
	}
	for l := range m.layers {
		p := fmt.Sprintf("model.layers.%d.", l)
		for i, y := range m.mix(x, p, l) {
			if kind == "gemma2" || kind == "gemma3_text" || kind == "olmo2" {
				y = m.rms(y, p+"post_attention_layernorm", m.dim)
			}
			sum(x[i], y)
		}
		for i := range x {
			h := x[i]
			switch kind {
			case "olmo2":
			case "lfm2":
				h = m.rms(h, p+"ffn_norm", m.dim)
			case "gemma2", "gemma3_text":
				h = m.rms(h, p+"pre_feedforward_layernorm", m.dim)
			default:
				h = m.rms(h, p+"post_attention_layernorm", m.dim)
			}
			y := m.fed(h, p)
			if kind == "gemma2" || kind == "gemma3_text" || kind == "olmo2" {
				y = m.rms(y, p+"post_feedforward_layernorm", m.dim)
			}
			sum(x[i], y)
		}
	}
	for i := range x {
		if kind == "lfm2" {
			x[i] = m.rms(x[i], "model.embedding_norm", m.dim)
		} else {
			x[i] = m.rms(x[i], "model.norm", m.dim)
		}
		head := m.w["lm_head.weight"]
		if head == nil {
			head = embedding
		}
		x[i] = times(head, x[i])
		if limit, ok := m.config["final_logit_softcapping"].(float64); ok {
			for j, v := range x[i] {
				x[i][j] = limit * math.Tanh(v/limit)
			}
		}
	}
	return x
}

func times(w, x []float64) []float64 {
	y := make([]float64, len(w)/len(x))
	for i := range y {
		for j, v := range x {
			y[i] += w[i*len(x)+j] * v
		}
	}
	return y
}

// mix is what attention, or a convolution, gives for each row.
func (m *hfModel) mix(x [][]float64, p string, l int) (out [][]float64) {
	var keys, values, gated [][]float64
	q, kv := m.heads*m.size, m.kv*m.size
	for i := range x {
		h := x[i]
		switch m.kind() {
		case "olmo2":
		case "lfm2":
			h = m.rms(h, p+"operator_norm", m.dim)
		default:
			h = m.rms(h, p+"input_layernorm", m.dim)
		}
		if m.convolves(l) {
			parts := m.linear(h, p+"conv.in_proj")
			b, c, in := parts[:m.dim], parts[m.dim:2*m.dim], parts[2*m.dim:]
			for j := range in {
				in[j] *= b[j]
			}
			gated = append(gated, in)
			y := make([]float64, m.dim)
			for j := range y {
				for k := range 3 {
					if at := i - 2 + k; at >= 0 {
						y[j] += m.w[p+"conv.conv.weight"][3*j+k] * gated[at][j]
					}
				}
				y[j] *= c[j]
			}
			out = append(out, m.linear(y, p+"conv.out_proj"))
			continue
		}
		var query, key, value []float64
		if m.kind() == "phi3" {
			all := m.linear(h, p+"self_attn.qkv_proj")
			query, key, value = all[:q], all[q:q+kv], all[q+kv:]
		} else {
			query, key, value = m.linear(h, p+"self_attn.q_proj"), m.linear(h, p+"self_attn.k_proj"), m.linear(h, p+"self_attn.v_proj")
		}
		switch m.kind() {
		case "gemma3_text":
			query, key = m.rms(query, p+"self_attn.q_norm", m.size), m.rms(key, p+"self_attn.k_norm", m.size)
		case "olmo2":
			query, key = m.rms(query, p+"self_attn.q_norm", q), m.rms(key, p+"self_attn.k_norm", kv)
		case "lfm2":
			query, key = m.rms(query, p+"self_attn.q_layernorm", m.size), m.rms(key, p+"self_attn.k_layernorm", m.size)
		}
		m.turn(query, i, l)
		m.turn(key, i, l)
		if r, ok := m.config["rope_parameters"].(map[string]any); ok && r["llama_4_scaling_beta"] != nil {
			scaled(query, 1+r["llama_4_scaling_beta"].(float64)*math.Log(1+math.Floor(float64(i)/16)))
		}
		keys, values = append(keys, key), append(values, value)
		y := m.look(query, keys, values, p, l)
		if m.kind() == "lfm2" {
			out = append(out, m.linear(y, p+"self_attn.out_proj"))
		} else {
			out = append(out, m.linear(y, p+"self_attn.o_proj"))
		}
	}
	return out
}

// look is attention with windows, limits of scores and sinks.
func (m *hfModel) look(q []float64, keys, values [][]float64, p string, l int) []float64 {
	first := 0
	if m.windows(l) {
		first = max(0, len(keys)-m.config["sliding_window"].(int))
	}
	limit, limited := m.config["attn_logit_softcapping"].(float64)
	out := make([]float64, len(q))
	for head := range m.heads {
		from, total := head/(m.heads/m.kv)*m.size, 0.0
		if sinks := m.w[p+"self_attn.sinks"]; sinks != nil {
			total = math.Exp(sinks[head])
		}
		weights := make([]float64, len(keys))
		for j := first; j < len(keys); j++ {
			score := 0.0
			for k := range m.size {
				score += q[head*m.size+k] * keys[j][from+k] / math.Sqrt(float64(m.size))
			}
			if limited {
				score = limit * math.Tanh(score/limit)
			}
			weights[j] = math.Exp(score)
			total += weights[j]
		}
		for j := first; j < len(keys); j++ {
			for k := range m.size {
				out[head*m.size+k] += weights[j] / total * values[j][from+k]
			}
		}
	}
	return out
}

// turn rotates the heads of x.
func (m *hfModel) turn(x []float64, position, l int) {
	dims, base, by := m.size, m.config["rope_theta"].(float64), 1.0
	if part, ok := m.config["partial_rotary_factor"].(float64); ok {
		dims = int(part * float64(m.size))
	}
	frequency := func(i int) float64 { return math.Pow(base, -2*float64(i)/float64(dims)) }
	s, _ := m.config["rope_scaling"].(map[string]any)
	if s == nil {
		s, _ = m.config["rope_parameters"].(map[string]any)
	}
	plain := frequency
	switch s["rope_type"] {
	case "linear":
		if m.kind() == "gemma3_text" && m.windows(l) {
			base = m.config["rope_local_base_freq"].(float64)
			break
		}
		frequency = func(i int) float64 { return plain(i) / s["factor"].(float64) }
	case "yarn":
		factor, first := s["factor"].(float64), float64(s["original_max_position_embeddings"].(int))
		pair := func(turns float64) float64 {
			return float64(dims) * math.Log(first/(turns*2*math.Pi)) / (2 * math.Log(base))
		}
		low, high := max(0, math.Floor(pair(s["beta_fast"].(float64)))), min(float64(dims-1), math.Ceil(pair(s["beta_slow"].(float64))))
		frequency = func(i int) float64 {
			ramp := min(1, max(0, (float64(i)-low)/(high-low)))
			return plain(i)/factor*ramp + plain(i)*(1-ramp)
		}
		if s["mscale"] == nil {
			by = 0.1*math.Log(factor) + 1
		}
	case "longrope":
		first := float64(m.config["original_max_position_embeddings"].(int))
		by = math.Sqrt(1 + math.Log(float64(m.config["max_position_embeddings"].(int))/first)/math.Log(first))
		frequency = func(i int) float64 { return plain(i) / s["short_factor"].([]float64)[i] }
	}
	for head := 0; head < len(x); head += m.size {
		for i := range dims / 2 {
			sin, cos := math.Sincos(float64(position) * frequency(i))
			a, b := x[head+i], x[head+i+dims/2]
			x[head+i], x[head+i+dims/2] = by*(a*cos-b*sin), by*(b*cos+a*sin)
		}
	}
}

// fed is the feed-forward layer.
func (m *hfModel) fed(h []float64, p string) []float64 {
	silu := func(v float64) float64 { return v / (1 + math.Exp(-v)) }
	switch m.kind() {
	case "gpt_oss":
		return m.mixed(h, p+"mlp.")
	case "phi3":
		all := m.linear(h, p+"mlp.gate_up_proj")
		for i := range m.ff {
			all[i] = silu(all[i]) * all[m.ff+i]
		}
		return m.linear(all[:m.ff], p+"mlp.down_proj")
	case "lfm2":
		gate, up := m.linear(h, p+"feed_forward.w1"), m.linear(h, p+"feed_forward.w3")
		for i := range up {
			up[i] *= silu(gate[i])
		}
		return m.linear(up, p+"feed_forward.w2")
	}
	gate, up := m.linear(h, p+"mlp.gate_proj"), m.linear(h, p+"mlp.up_proj")
	for i, g := range gate {
		if m.plus() == 1 {
			up[i] *= 0.5 * g * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(g+0.044715*g*g*g)))
		} else {
			up[i] *= silu(g)
		}
	}
	return m.linear(up, p+"mlp.down_proj")
}

// mixed is gpt-oss's mixture of experts.
func (m *hfModel) mixed(h []float64, p string) []float64 {
	scores := m.linear(h, p+"router")
	best := []int{0, 1, 2, 3}
	slices.SortFunc(best, func(a, b int) int { return int(math.Copysign(1, scores[b]-scores[a])) })
	best = best[:2]
	total, out := math.Exp(scores[best[0]])+math.Exp(scores[best[1]]), make([]float64, m.dim)
	for _, e := range best {
		both := times(m.experts[p+"experts.gate_up_proj"][e*2*m.ff*m.dim:][:2*m.ff*m.dim], h)
		sum(both, m.w[p+"experts.gate_up_proj_bias"][e*2*m.ff:][:2*m.ff])
		y := make([]float64, m.ff)
		for i := range y {
			gate, up := min(both[2*i], 7), max(-7, min(both[2*i+1], 7))
			y[i] = gate / (1 + math.Exp(-1.702*gate)) * (up + 1)
		}
		y = times(m.experts[p+"experts.down_proj"][e*m.dim*m.ff:][:m.dim*m.ff], y)
		sum(y, m.w[p+"experts.down_proj_bias"][e*m.dim:][:m.dim])
		sum(out, scaled(y, math.Exp(scores[e])/total))
	}
	return out
}

// Converted files of these kinds compute what the definitions say, and llama.cpp computes the same of them.
func TestFamiliesMatchTheirDefinition(t *testing.T) {
	long := map[string]any{"max_position_embeddings": 512, "original_max_position_embeddings": 256, "rope_scaling": map[string]any{"type": "longrope", "rope_type": "longrope",
		"short_factor": []float64{1, 1.2, 1.5, 2}, "long_factor": []float64{1, 2, 4, 8}}}
	for _, c := range []struct {
		name, kind, typ, to string
		bend                map[string]any
		nested              string // the type of the whole that the model is part of
		bound               float64
		peer                float64 // the bound of llama.cpp's difference, which rounds inputs differently and so may choose other experts
	}{
		{"gemma", "gemma", "BF16", "", nil, "", 4e-3, 0.08},
		{"gemma2", "gemma2", "BF16", "", nil, "", 4e-3, 0.08},
		{"gemma2 to q8_0", "gemma2", "BF16", "q8_0", nil, "", 0.15, 0.15},
		{"gemma3", "gemma3_text", "BF16", "", nil, "", 4e-3, 0.08},
		{"gemma3 with vision", "gemma3_text", "F32", "", nil, "gemma3", 4e-3, 0.08},
		{"phi3", "phi3", "BF16", "", nil, "", 4e-3, 0.08},
		{"phi3, LongRoPE", "phi3", "F16", "", long, "", 4e-3, 0.08},
		{"gpt-oss in 16 bits", "gpt_oss", "BF16", "", nil, "", 4e-3, 0.08},
		{"gpt-oss in MXFP4", "gpt_oss", "BF16", "", map[string]any{"quantization_config": map[string]any{"quant_method": "mxfp4"}}, "", 0.15, 0.6},
		{"olmo2", "olmo2", "F32", "", nil, "", 6e-3, 0.08},
		{"lfm2", "lfm2", "BF16", "", nil, "", 4e-3, 0.08},
		{"ministral3", "ministral3", "BF16", "", nil, "", 4e-3, 0.08},
		{"mistral3 with vision", "ministral3", "BF16", "", nil, "mistral3", 4e-3, 0.08},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newFamily(c.kind, c.typ, c.bend)
			ids := make([]int, 40)
			for i := range ids {
				ids[i] = (i*89 + 17) % 256
			}
			want := m.familyLogits(ids)
			m.inside(c.nested)
			dir, out := m.write(t, 1), filepath.Join(t.TempDir(), "out.gguf")
			if _, err := Convert(t.Context(), dir, out, Options{Scheme: scheme(t, c.to)}); err != nil {
				t.Fatal(err)
			}
			got := ours(t, out, ids)
			off := apart(got, func(pos, i int) float64 { return want[pos][i] })
			t.Logf("off by %.2g of the logits' size", off)
			if !(off <= c.bound) {
				t.Errorf("logits differ by %.2g of their deviation, want at most %.2g", off, c.bound)
			}
			compareWithLlamaCpp(t, out, ids, got, c.peer)
		})
	}
}

// Quantising a model with experts in MXFP4 keeps them. Other types that devices do not know are converted if that is allowed.
func TestQuantizeKeepsMXFP4(t *testing.T) {
	m := newFamily("gpt_oss", "BF16", map[string]any{"quantization_config": map[string]any{"quant_method": "mxfp4"}})
	in := filepath.Join(t.TempDir(), "in.gguf")
	if _, err := Convert(t.Context(), m.write(t, 1), in, Options{}); err != nil {
		t.Fatal(err)
	}
	ids := []int{1, 20, 33, 4, 50}
	want := m.familyLogits(ids)
	f := quantizeTo(t, in, Options{Scheme: scheme(t, "q8_0")})
	if off := apart(ours(t, f.Name, ids), func(pos, i int) float64 { return want[pos][i] }); !(off < 0.15) {
		t.Errorf("off by %.2g", off)
	}
	for _, info := range f.Tensors {
		expert := strings.Contains(info.Name, "_exps.weight")
		if expert != (info.Type == npu.MXFP4) || strings.HasSuffix(info.Name, "attn_q.weight") && info.Type != npu.Q8_0 {
			t.Errorf("%s is %v", info.Name, gguf.DTypeName(info.Type))
		}
	}
	five := npu.Tensor{Name: "blk.0.ffn_up.weight", Type: npu.Q5_1, Rows: 2, Cols: 32, Data: make([]byte, 48)}
	five.Data[2], five.Data[3] = 0, 0x3C // a shift of 1, and no scale
	in = file(t, []gguf.KV{{Key: "general.architecture", Value: "llama"}}, []npu.Tensor{five})
	if _, err := Quantize(t.Context(), in, filepath.Join(t.TempDir(), "out.gguf"), Options{Scheme: scheme(t, "q8_0")}); err == nil || !strings.Contains(err.Error(), "is already Q5_1") {
		t.Errorf("%v", err)
	}
	got, err := quantizeTo(t, in, Options{Scheme: scheme(t, "f32"), Requantize: true}).Tensor("blk.0.ffn_up.weight")
	if err != nil {
		t.Fatal(err)
	}
	if v := values(t, got); v[0] != 1 || v[31] != 1 || v[32] != 0 {
		t.Errorf("%v", v)
	}
}

// inside makes the model the text part of a larger one.
func (m *hfModel) inside(kind string) {
	if kind == "" {
		return
	}
	text := m.config
	m.config = map[string]any{"model_type": kind, "text_config": text, "vision_config": map[string]any{"hidden_size": 32}}
	for _, key := range []string{"eos_token_id", "bos_token_id", "tie_word_embeddings"} {
		m.config[key] = text[key]
	}
	prefix := "language_model."
	for _, name := range slices.Collect(maps.Keys(m.shapes)) {
		if m.w[name] != nil {
			m.w[prefix+name], m.shapes[prefix+name] = m.w[name], m.shapes[name]
			delete(m.w, name)
		}
	}
	m.w["vision_tower.patch.weight"], m.shapes["vision_tower.patch.weight"] = []float64{1, 2}, []int{1, 2}
	m.w["multi_modal_projector.x.weight"], m.shapes["multi_modal_projector.x.weight"] = []float64{1, 2}, []int{1, 2}
}

// What a file of the architecture cannot say, and tensors that do not fit, are refused by name.
func TestFamiliesRefuse(t *testing.T) {
	mx := map[string]any{"quant_method": "mxfp4"}
	yarn := func(key string, v any) map[string]any {
		return map[string]any{"rope_parameters": map[string]any{"rope_type": "yarn", "rope_theta": 5000.0, "factor": 4.0, key: v}}
	}
	for _, c := range []struct {
		name, kind string
		bend       map[string]any
		damage     func(m *hfModel)
		want       string
	}{
		{"gemma4", "gemma", map[string]any{"model_type": "gemma4"}, nil, `model_type "gemma4" is not supported: use one of gemma, gemma2`},
		{"olmo3", "olmo2", map[string]any{"model_type": "olmo3"}, nil, `model_type "olmo3" is not supported`},
		{"another gate", "gemma2", map[string]any{"hidden_activation": "gelu"}, nil, `hidden_activation "gelu"`},
		{"another scale", "gemma2", map[string]any{"query_pre_attn_scalar": 64}, nil, "query_pre_attn_scalar 64 is not supported: in this architecture's files it is 32"},
		{"no limits", "gemma2", map[string]any{"attn_logit_softcapping": nil}, nil, "without attn_logit_softcapping"},
		{"other windows", "gemma3_text", map[string]any{"sliding_window_pattern": 3}, nil, "sliding_window_pattern 3"},
		{"other layers", "gemma3_text", map[string]any{"layer_types": []string{"full_attention"}}, nil, "layer_types: layer 0"},
		{"limits in Gemma 3", "gemma3_text", map[string]any{"attn_logit_softcapping": 30.0}, nil, "attn_logit_softcapping 30"},
		{"an encoder", "gemma3_text", map[string]any{"use_bidirectional_attention": true}, nil, "use_bidirectional_attention"},
		{"a norm's shape", "gemma3_text", nil, func(m *hfModel) { m.shapes["model.layers.1.self_attn.q_norm.weight"] = []int{2, 16} },
			`"model.layers.1.self_attn.q_norm.weight" has shape [2 16], but the configuration requires [32]`},
		{"phi3 with yarn", "phi3", map[string]any{"rope_scaling": map[string]any{"type": "yarn"}}, nil, `type "yarn" is not supported with Phi-3`},
		{"few factors", "phi3", map[string]any{"original_max_position_embeddings": 16, "rope_scaling": map[string]any{"type": "su", "short_factor": []float64{1}}}, nil, "1 and 0 factors, but heads have 4"},
		{"half a pair", "phi3", map[string]any{"partial_rotary_factor": 0.2}, nil, "rotates 3 elements"},
		{"a fused matrix", "phi3", nil, func(m *hfModel) { m.shapes["model.layers.0.self_attn.qkv_proj.weight"] = []int{64, 128} },
			`qkv_proj.weight" has shape [64 128], but the configuration requires [128 64]`},
		{"too few experts", "gpt_oss", map[string]any{"num_experts_per_tok": 5}, nil, "5 of 4 experts"},
		{"another limit", "gpt_oss", map[string]any{"swiglu_limit": 5.0}, nil, "swiglu_limit 5"},
		{"experts' shape", "gpt_oss", nil, func(m *hfModel) { m.shapes["model.layers.2.mlp.experts.down_proj"] = []int{4, 64, 96} },
			`experts.down_proj" has shape [4 64 96], but the configuration requires [4 96 64]`},
		{"blocks' shape", "gpt_oss", map[string]any{"quantization_config": mx}, func(m *hfModel) { m.shapes["model.layers.2.mlp.experts.down_proj_blocks"] = []int{4, 64, 48} },
			`down_proj_blocks" has shape [4 64 48]`},
		{"no scales", "gpt_oss", map[string]any{"quantization_config": mx}, func(m *hfModel) { delete(m.raw, "model.layers.2.mlp.experts.down_proj_scales") },
			`down_proj_scales" is missing`},
		{"a convolution's shape", "lfm2", map[string]any{"conv_L_cache": 4}, nil, `conv.conv.weight" has shape [64 1 3], but the configuration requires [64 1 4]`},
		{"an unknown layer", "lfm2", map[string]any{"layer_types": []string{"conv"}}, nil, "does not say of layer 1"},
		{"no attention", "lfm2", map[string]any{"layer_types": []string{"conv", "conv", "conv", "conv"}}, nil, "none of which attends"},
		{"a convolution's bias", "lfm2", map[string]any{"conv_bias": true}, nil, "conv_bias true"},
		{"mscale", "ministral3", yarn("mscale", 0.7), nil, "mscale 0.7"},
		{"turns", "ministral3", yarn("beta_fast", -1.0), nil, "invalid parameters of yarn"},
		{"no queries' norm", "olmo2", nil, func(m *hfModel) { delete(m.w, "model.layers.0.self_attn.q_norm.weight") }, `self_attn.q_norm.weight" is missing`},
	} {
		t.Run(c.name, func(t *testing.T) {
			bend := map[string]any{}
			for k, v := range c.bend {
				if k != "model_type" && k != "conv_L_cache" && k != "layer_types" {
					bend[k] = v
				}
			}
			m := newFamily(c.kind, "BF16", bend)
			for k, v := range c.bend {
				m.config[k] = v
			}
			if c.damage != nil {
				c.damage(m)
			}
			_, err := Convert(t.Context(), m.write(t, 1), filepath.Join(t.TempDir(), "out.gguf"), Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

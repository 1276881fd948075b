package model

import (
	"math"

	"tandem/npu"
)

// Gemma (Gemma Team 2024, §2): Llama's layers with a GELU gate, and the embedding times √Dim. Gemma 2 (§2) adds norms
// behind attention and behind the feed-forward layer, limits scores and logits by tanh, and lets every other layer attend
// to a window. Gemma 3 (2025, §2) has norms of each head's queries and keys instead of the limit of scores, and five layers
// with a window and a rotation of their own between two without.
func init() {
	embed := func(b *block) npu.Value { return b.Scale(b.tokens(), float32(math.Sqrt(float64(b.config.Dim)))) }
	one := denseLayer{normAttention: "attn_norm", normFeed: "ffn_norm", gelu: true}
	two := one
	two.postAttention, two.postFeed = "post_attention_norm", "post_ffw_norm"
	three := two
	three.normHeads = eachHead
	three.rope = func(b *block) *npu.Rope {
		if c := b.config; c.window > 0 && c.windowed(b.index) {
			return &c.localRope
		}
		return &b.config.Rope
	}
	for name, a := range map[string]struct {
		layer  denseLayer
		config func(r *metaReader, c *Config)
	}{
		"gemma":  {one, func(*metaReader, *Config) {}},
		"gemma2": {two, gemma2Config},
		"gemma3": {three, gemma3Config},
	} {
		register(architecture{
			name: name,
			config: func(r *metaReader, c *Config) {
				c.Eps = r.epsilon("attention.layer_norm_rms_epsilon")
				c.Rope = r.rope(npu.HalfSplit, c.HeadDim)
				a.config(r, c)
			},
			embed: embed,
			layer: a.layer.layer,
			norm:  (*block).rmsNorm,
		})
	}
}

func gemma2Config(r *metaReader, c *Config) {
	c.caps.scores, c.caps.logits = 50, 30
	if v := r.factor("attn_logit_softcapping"); v != 0 {
		c.caps.scores = v
	}
	if v := r.factor("final_logit_softcapping"); v != 0 {
		c.caps.logits = v
	}
	c.window = r.size("attention.sliding_window", 1, maxContext, 4096)
	c.windowed = func(layer int) bool { return layer%2 == 0 }
	if c.Layers == 46 { // 27B divides by the width of a head in the residual stream
		c.scales.attention = float32(1 / math.Sqrt(float64(c.Dim)/float64(c.Heads)))
	}
}

func gemma3Config(r *metaReader, c *Config) {
	c.caps.logits = r.factor("final_logit_softcapping")
	if _, ok := r.file.Value(r.arch + "attention.sliding_window"); ok {
		c.window = r.size("attention.sliding_window", 1, maxContext, 0)
	}
	c.windowed = func(layer int) bool { return layer%6 < 5 }
	c.localRope = c.Rope
	c.localRope.Linear, c.localRope.Base, c.localRope.Factors, c.localRope.Magnitude = 1, r.number("rope.freq_base_swa", 10000), nil, 0
	if c.Layers == 62 { // 27B
		c.scales.attention = float32(1 / math.Sqrt(float64(c.Dim)/float64(c.Heads)))
	}
}

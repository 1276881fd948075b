package convert

import "fmt"

func init() {
	families["olmo2"] = &family{
		arch:   "olmo2",
		config: readLlama,
		meta:   llamaMeta,
		tensors: func(p *plan) {
			c := p.config
			q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
			p.take("token_embd.weight", "model.embed_tokens.weight", c.Vocab, c.Hidden)
			p.ropeFactors()
			for i := 0; i < int(c.Layers) && p.err == nil; i++ {
				to, from := fmt.Sprintf("blk.%d.", i), fmt.Sprintf("model.layers.%d.", i)
				p.attention(to, from+"self_attn.", "o_proj", q, kv)
				p.take(to+"attn_q_norm.weight", from+"self_attn.q_norm.weight", q)
				p.take(to+"attn_k_norm.weight", from+"self_attn.k_norm.weight", kv)
				p.take(to+"post_attention_norm.weight", from+"post_attention_layernorm.weight", c.Hidden)
				p.feed(to, from)
				p.take(to+"post_ffw_norm.weight", from+"post_feedforward_layernorm.weight", c.Hidden)
			}
			p.take("output_norm.weight", "model.norm.weight", c.Hidden)
			p.output()
		},
	}
}

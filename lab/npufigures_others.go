package lab

import (
	"fmt"

	"tandem/npu"
	"tandem/npu/sim"
)

// samsungShape is a stand-in for the paper's 1B model, whose configuration is not published: Llama-3.2-1B
// with a narrower feed-forward layer, so that it has the 0.9 billion parameters of 1800 MB in 16 bits.
func samsungShape() sim.Shape {
	return sim.Shape{Name: "1B", Layers: 16, Dim: 2048, FF: 4800, Heads: 32, KVHeads: 8, HeadDim: 64, Vocab: 128256,
		Type: npu.Q4_0, HeadType: npu.Q8_0}
}

// Chunks of Samsung's prefill graphs and the rank of their adapters are not published.
const (
	samsungChunk = 128
	loraRank     = 32
)

// samsung are Tables 1, 2, 3, 5 and 10: a 1B model with INT4 weights on the Galaxy S24.
func (v *validator) samsung() {
	c, s := v.costs("sm8650/qnn"), samsungShape()
	if v.err != nil {
		return
	}
	const stand = "the model's shape, the chunk (128) and the rank (32) are not published"
	token := func(s sim.Shape, rows int) float64 { return msOf(pass(c, s, rows, 512, true).Time()) }
	first := func(s sim.Shape) float64 { return msOf(pass(c, s, samsungChunk, samsungChunk, false).Time()) }
	size := func(s sim.Shape) float64 {
		b := int64(0)
		for _, g := range s.Blocks(1, true) {
			b += c.Bytes(g)
		}
		return float64(b) / 1e6
	}
	adapted, masked := s, s
	adapted.LoRA, adapted.Adapters = loraRank, 1
	masked.LoRA, masked.Adapters = loraRank, 2

	v.is("Samsung Table 9: INT4 model", "MB", 600, size(s), stand)
	v.is("Samsung Table 1: base model, 2 graphs", "MB", 718, size(s), stand+"; graphs share weights")
	v.is("Samsung Table 1: LoRA weight sharing, 4 graphs", "MB", 1100, 2*size(adapted)-size(s), stand)
	for _, t := range []struct {
		name  string
		ms    float64
		shape sim.Shape
		first bool
	}{
		{"Table 1: first token, base", 45, s, true},
		{"Table 1: generation, base", 22, s, false},
		{"Table 1: first token, LoRA weight sharing", 45, s, true},
		{"Table 1: generation, LoRA weight sharing", 22, s, false},
		{"Table 2: prefill, base", 45, s, true},
		{"Table 2: prefill, masking", 75, masked, true},
		{"Table 2: prefill, LoRA as input", 52, adapted, true},
		{"Table 2: generation, base", 22, s, false},
		{"Table 2: generation, masking", 30, masked, false},
		{"Table 2: generation, LoRA as input", 25, adapted, false},
	} {
		predicted := token(t.shape, 1)
		if t.first {
			predicted = first(t.shape)
		}
		v.is("Samsung "+t.name, "ms", t.ms, predicted, stand)
	}
	v.is("Samsung Table 2: size, masking", "MB", 894, size(masked), stand)
	v.is("Samsung Table 2: size, LoRA as input", "MB", 686, size(s), "adapters are inputs; "+stand)

	v.is("Samsung Table 3: prefill", "ms", 40, first(s), stand)
	v.is("Samsung Table 3: a step of 1 stream", "ms", 23, token(s, 1), stand)
	v.is("Samsung Table 3: a step of 8 streams", "ms", 23, token(s, 8), stand)
	v.is("Samsung Table 3: 8 answers one after the other", "ms", 174, first(s)+8*token(s, 1), "the published sum, 23 × 8 + 40, is 224")
	v.is("Samsung Table 3: 8 answers in 8 streams", "ms", 63, first(s)+token(s, 8), stand)

	v.is("Samsung Table 5: peak memory", "MB", 967, size(adapted)+s.HeadParameters()*2/1e6, "weights, one adapter and an embedding in 16 bits; "+stand)
	v.fitted("Samsung Table 5: load time", "ms", 624.1, msOf(c.LoadTime(2, int64(1e6*size(s)))), "two graphs over one set of weights")
	v.is("Samsung Table 5: first token", "ms", 155.9, first(adapted), "the prompt's length is not published; one chunk of 128 predicted")
	v.is("Samsung Table 5: token", "ms", 24.19, token(adapted, 1), stand)
	v.is("Samsung Table 5: rate", "tokens/s", 41.32, 1000/token(adapted, 1), stand)

	v.is("Samsung Table 10: first token, scalar folding", "ms", 45.8, first(s), stand)
	v.fitted("Samsung Table 10: generation, scalar folding", "ms", 19.385, token(s, 1), stand)
	unfolded := func(rows int) float64 { // one multiplication by a constant for each head's scores, layer by layer
		return msOf(c.Op)*float64(s.Layers*s.Heads) + float64(s.Layers*s.Heads*rows*512)/c.Vector*1000
	}
	v.is("Samsung Table 10: first token, without scalar folding", "ms", 47.3, first(s)+unfolded(samsungChunk), "one more operator for each head")
	v.is("Samsung Table 10: generation, without scalar folding", "ms", 20.51, token(s, 1)+unfolded(1), "one more operator for each head")
	split := msOf(c.Op) * float64(s.Layers*(2*s.Heads+2*s.KVHeads))
	v.is("Samsung Table 10: first token, LoRA-B split", "ms", 45.9, first(s)+split, "one more operator for each head's projections")
	v.is("Samsung Table 10: generation, LoRA-B split", "ms", 19.45, token(s, 1)+split, "one more operator for each head's projections")
	turned := func(context int) float64 { // every key is moved once
		return float64(s.Layers*context*s.KVHeads*s.HeadDim) / c.Vector * 1000
	}
	v.is("Samsung Table 10: first token, K untransposed", "ms", 52, first(s)+turned(samsungChunk), "the keys pass through the vector unit once")
	v.is("Samsung Table 10: generation, K untransposed", "ms", 23, token(s, 1)+turned(512), "the keys of 512 positions pass through the vector unit once")
}

// samsungScaled is Table 6: a 3B model on the Galaxy S25, with and without speculative decoding. Tokens
// for each inference are the best of Table 7, which the simulator takes as given.
func (v *validator) samsungScaled() {
	c, s := v.costs("sm8750/qnn"), v.shape("Llama-3.2-3B", npu.Q4_0, npu.Q8_0)
	if v.err != nil {
		return
	}
	const stand = "shape taken from Llama-3.2-3B, chunks of 256: neither is published"
	chunk := msOf(pass(c, s, 256, 256, false).Time())
	one, tree := msOf(pass(c, s, 1, 512, true).Time()), msOf(pass(c, s, 32, 512, true).Time())
	weights := float64(0)
	for _, g := range s.Blocks(1, true) {
		weights += float64(c.Bytes(g)) / 1e6
	}
	for i, t := range []struct {
		use                            string
		prefill, without, with, mb, ms float64
		tokens                         float64
		chunks                         float64
	}{
		{"Correction", 208.72, 50.17, 22.3, 2463.44, 1507.96, 2.27, 1},
		{"Composer", 209.57, 53.23, 28.57, 2468.51, 1499, 1.72, 1},
		{"Style", 209.34, 50.42, 25.21, 2465.42, 1534.27, 1.96, 1},
		{"Health", 210.7, 51.92, 28.77, 2468.52, 1551.98, 1.54, 1},
		{"Summarization", 797.22, 52.91, 24.12, 2486.98, 1576.78, 1.8, 4},
		{"Natural Language", 209.8, 51.87, 23.64, 2480.09, 1547.54, 0, 1},
		{"ST Energy", 210.77, 52.76, 33.48, 2486.3, 1487.4, 1.45, 1},
		{"AI Brief", 404.88, 52.85, 37.75, 2484.68, 1509.68, 1.57, 2},
	} {
		name := "Samsung Table 6, " + t.use + ": "
		v.is(name+"prefill", "ms", t.prefill, t.chunks*chunk, fmt.Sprintf("%s; %.0f chunks by the ratio to the others", stand, t.chunks))
		if i == 0 {
			v.fitted(name+"token without DS2D", "ms", t.without, one, stand)
		} else {
			v.is(name+"token without DS2D", "ms", t.without, one, stand)
		}
		if t.tokens > 0 {
			v.is(name+"token with DS2D", "ms", t.with, tree/t.tokens, fmt.Sprintf("%.2f tokens for each inference of 32 rows (Table 7)", t.tokens))
			v.is(name+"rate with DS2D", "tokens/s", 1000/t.with, 1000*t.tokens/tree, "the published rate is the inverse of the time")
		} else {
			v.open(name+"token with DS2D", "ms", t.with, "Table 7 has no column of this name")
		}
		v.is(name+"peak memory", "MB", t.mb, weights+2*s.HeadParameters()/1e6, "weights and an embedding in 16 bits; "+stand)
		v.is(name+"initialisation", "ms", t.ms, msOf(c.LoadTime(2, int64(1e6*weights))), "with the load rate of the 1B model on the S24")
	}
}

// llada are the numbers in llada.cpp's text; those of its tables are not in the text at hand.
func (v *validator) llada() {
	c := v.costs("sm8750/llada")
	d, l := v.shape("LLaDA-8B", npu.Q4_0, npu.Q4_0), v.shape("Llama-3.1-8B", npu.Q4_0, npu.Q4_0)
	if v.err != nil {
		return
	}
	const answer, window = 128, 64
	commits := 4.0 // tokens a step
	step := msOf(pass(c, d, window, 256, false).Time())
	block := msOf(c.CPUProducts(32, d.Parameters(), d.Parameters()*4.5/8))
	const note = "4 tokens committed a step assumed, a window of 64; staging of weights beyond the address window not counted"
	v.within("llada.cpp, abstract: LLaDA-8B over the CPU with prefix KV", "×", 17, 42, answer*block/(answer/commits*step), note)
	ar := msOf(pass(c, l, 1, 256, true).Time())
	v.within("llada.cpp §1: LLaDA-8B over Llama-3-8B, 128 tokens, up to", "×", 1, 3.9, answer*ar/(answer/commits*step), note)
	q := c.Product(32, d.FF, d.Dim, 0).Seconds() / c.Product(4, d.FF, d.Dim, 0).Seconds()
	v.is("llada.cpp §2.2, Figure 3(a): a product of 32 rows over one of 4, nearly constant", "×", 1, q, "one tile")
	fits := 0.0
	if float64(c.Window) < d.LayerParameters()*4.5/8 {
		fits = 1
	}
	v.is("llada.cpp §5.6: all weights at once fail to map on SM8750 (1: fail)", "", 1, fits, "layers in Q4_0 against one session's window")
	sessions := func(parameters float64) float64 { return float64(int(parameters*4.5/8)/int(c.Window) + 1) }
	v.is("llama.cpp: sessions for an 8B model", "", 2, sessions(l.LayerParameters()), "layers in Q4_0")
	v.is("llama.cpp: sessions for a 20B model", "", 4, sessions(20.9e9), "all weights at 4.5 bits; the experts' own type is smaller")
	v.open("llada.cpp Tables 2, 6, 7; Figures 3, 5, 11 to 14", "", 0, "their numbers are not in the text at hand")
	v.figures[len(v.figures)-1].Published = Number{}
}

// engines are other published measurements.
func (v *validator) engines() {
	hex, gen3, elite := v.costs("sm8750/hexagon"), v.costs("sm8650/qnn"), v.costs("sm8750/qnn")
	if v.err != nil {
		return
	}
	rate := func(c sim.Costs, s sim.Shape, context int) float64 {
		return 1000 / msOf(pass(c, s, 1, context, true).Time())
	}
	reading := func(c sim.Costs, s sim.Shape, prompt, chunk int) float64 {
		return float64(prompt) / prefill(c, s, prompt, chunk).Time().Seconds()
	}
	one := v.shape("Llama-3.2-1B", npu.Q4_0, npu.Q4_0)
	v.fitted("llama.cpp Hexagon v79: Llama-3.2-1B Q4_0, prompt 128", "tokens/s", 169.42, reading(hex, one, 128, 128), "")
	v.fitted("llama.cpp Hexagon v79: Llama-3.2-1B Q4_0, generation 64", "tokens/s", 51.54, rate(hex, one, 64), "")
	v.is("llama.cpp Hexagon v79: Llama-3.2-1B Q4_0, load", "ms", 617.94, msOf(hex.LoadTime(1, int64(one.Parameters()*4.5/8))), "the load rate is Samsung's")
	v.is("llama.cpp Hexagon v79: Llama-3.2-1B Q4_0, prompt 11", "tokens/s", 136.21, 11/pass(hex, one, 11, 11, false).Time().Seconds(), "the staircase takes 11 rows for 32")

	three, eight := v.shape("SmallThinker-3B", npu.Q4_0, npu.Q8_0), v.shape("Llama-3.1-8B", npu.Q4_0, npu.Q8_0)
	v.fitted("PowerServe 8 Gen 3: SmallThinker-3B, prefill", "tokens/s", 975, reading(gen3, three, 1536, 128), "prompt and chunk are not published: 1536, 128")
	v.is("PowerServe 8 Gen 3: SmallThinker-3B, decode", "tokens/s", 19.71, rate(gen3, three, 1536), "")
	v.fitted("PowerServe 8 Elite: SmallThinker-3B, prefill", "tokens/s", 1052.63, reading(elite, three, 1536, 128), "")
	v.is("PowerServe 8 Elite: SmallThinker-3B, decode", "tokens/s", 20.90, rate(elite, three, 1536), "")
	v.is("PowerServe 8 Elite: Llama-3.1-8B, prefill", "tokens/s", 509.09, reading(elite, eight, 1536, 128), "")
	v.is("PowerServe 8 Elite: Llama-3.1-8B, decode", "tokens/s", 12.48, rate(elite, eight, 1536), "")
	for _, t := range []struct {
		model string
		rate  float64
	}{{"Llama-3.2-1B", 29}, {"Qwen2.5-0.5B", 130}, {"Qwen3-0.6B", 70}, {"SmolLM2-135M", 254}, {"granite-3.3-2B", 17}} {
		v.is("ExecuTorch QNN 2.37 SM8750: "+t.model+", decode", "tokens/s", t.rate, rate(elite, v.shape(t.model, npu.Q8_0, npu.Q8_0), 128), "8-bit weights (16a8w)")
	}
}

package phone

import (
	"fmt"

	"tandem/npu"
	"tandem/npu/phone/sim"
)

// samsungShape stands in for the paper's 1B model, whose configuration is not published. It is Llama-3.2-1B with a narrower
// feed-forward layer, so that it has 0.9 billion parameters: 1800 MB in 16 bits.
func samsungShape() sim.Shape {
	return sim.Shape{Name: "1B", Layers: 16, Dim: 2048, FF: 4800, Heads: 32, KVHeads: 8, HeadDim: 64, Vocab: 128256,
		Type: npu.Q4_0, HeadType: npu.Q8_0}
}

// Chunks of Samsung's prefill graphs and the rank of their adapters are not published.
const (
	samsungChunk = 128
	loraRank     = 32
)

// samsungNote goes with all predictions for that model.
const samsungNote = "the model's shape, the chunk (128) and the rank (32) are not published"

// sessionNote goes with predictions of the first load.
const sessionNote = "without the start of the session, which no switch of graphs takes"

// samsungModel is Samsung's 1B model with INT4 weights on the Galaxy S24.
type samsungModel struct{ c sim.Costs }

// token is the time of a step, in ms.
func (m samsungModel) token(s sim.Shape, rows int) float64 {
	return msOf(decodePass(m.c, s, rows, 512).Time())
}

// first is the time of the pass over the first chunk, in ms.
func (m samsungModel) first(s sim.Shape) float64 {
	return msOf(prefillPass(m.c, s, samsungChunk, samsungChunk).Time())
}

// size is the size of its graphs, in MB.
func (m samsungModel) size(s sim.Shape) float64 {
	b := int64(0)
	for _, g := range s.Blocks(1, 1) {
		b += m.c.Bytes(g)
	}
	return float64(b) / 1e6
}

// loading is how long its two graphs take to load, in ms.
func (m samsungModel) loading() float64 {
	return msOf(m.c.LoadTime(2, int64(1e6*m.size(samsungShape()))))
}

// withAdapters adds n adapters to each projection of attention.
func withAdapters(s sim.Shape, n int) sim.Shape {
	s.LoRA, s.Adapters = loraRank, n
	return s
}

func (v *validator) samsung() {
	m := samsungModel{v.costs("sm8650/qnn")}
	if v.err != nil {
		return
	}
	v.samsungAdapters(m)
	v.samsungAnswers(m)
	v.samsungGraphs(m)
}

// samsungAdapters adds Tables 1, 2 and 9: ways to hold several adapters.
func (v *validator) samsungAdapters(m samsungModel) {
	s := samsungShape()
	adapted, masked := withAdapters(s, 1), withAdapters(s, 2)
	const stand = samsungNote
	v.addOne(Given, "Samsung Table 9: FP16 model", "MB", 1800, 2*s.Parameters()/1e6, "the shape was chosen for it")
	v.predicted("Samsung Table 9: INT4 model", "MB", 600, m.size(s), stand)
	v.predicted("Samsung Table 9: adapters of 4 tasks", "MB", 120, 4*(m.size(adapted)-m.size(s)), stand)
	v.predicted("Samsung Table 1: base model, 2 graphs", "MB", 718, m.size(s), stand+"; graphs share weights")
	v.predicted("Samsung Table 1: LoRA weight sharing, 4 graphs", "MB", 1100, 2*m.size(adapted)-m.size(s), stand)
	const repeats = "Table 1 has the number too"
	v.repeated("Samsung Table 2: size, base", "MB", 718, m.size(s), repeats)
	v.repeated("Samsung Table 2: prefill, base", "ms", 45, m.first(s), repeats)
	v.repeated("Samsung Table 2: generation, base", "ms", 22, m.token(s, 1), repeats)
	for _, t := range []struct {
		name          string
		ms, predicted float64
	}{
		{"Table 1: first token, base", 45, m.first(s)},
		{"Table 1: generation, base", 22, m.token(s, 1)},
		{"Table 1: first token, LoRA weight sharing", 45, m.first(s)},
		{"Table 1: generation, LoRA weight sharing", 22, m.token(s, 1)},
		{"Table 2: prefill, masking", 75, m.first(masked)},
		{"Table 2: prefill, LoRA as input", 52, m.first(adapted)},
		{"Table 2: generation, masking", 30, m.token(masked, 1)},
		{"Table 2: generation, LoRA as input", 25, m.token(adapted, 1)},
	} {
		v.predicted("Samsung "+t.name, "ms", t.ms, t.predicted, stand)
	}
	v.predicted("Samsung Table 2: size, masking", "MB", 894, m.size(masked), stand)
	v.predicted("Samsung Table 2: size, LoRA as input", "MB", 686, m.size(s), "adapters are inputs; "+stand)
}

// samsungAnswers adds Tables 3 and 5: whole answers.
func (v *validator) samsungAnswers(m samsungModel) {
	s := samsungShape()
	adapted := withAdapters(s, 1)
	const stand = samsungNote
	after, streams := m.first(s)+8*m.token(s, 1), m.first(s)+m.token(s, 8)
	v.predicted("Samsung Table 3: prefill", "ms", 40, m.first(s), stand)
	v.predicted("Samsung Table 3: a step of 1 stream", "ms", 23, m.token(s, 1), stand)
	v.predicted("Samsung Table 3: a step of 8 streams", "ms", 23, m.token(s, 8), stand)
	v.predicted("Samsung Table 3: 8 answers one after the other", "ms", 174, after, "the published sum, 23 × 8 + 40, is 224")
	v.predicted("Samsung Table 3: 8 answers in 8 streams", "ms", 63, streams, stand)
	v.predicted("Samsung, abstract: 8 answers in 8 streams, times faster", "×", 6, after/streams, "published as up to 6; Table 3's own numbers make 2.8 or 3.6")

	v.predicted("Samsung Table 5: peak memory", "MB", 967, m.size(adapted)+s.HeadParameters()*2/1e6, "weights, one adapter and an embedding in 16 bits; "+stand)
	v.predicted("Samsung Table 5: load time", "ms", 624.1, m.loading(), "two graphs over one set of weights; "+sessionNote)
	v.predicted("Samsung Table 5: first token", "ms", 155.9, m.first(adapted), "the prompt's length is not published; one chunk of 128 predicted")
	v.predicted("Samsung Table 5: token", "ms", 24.19, m.token(adapted, 1), stand)
	v.repeated("Samsung Table 5: rate", "tokens/s", 41.32, 1000/m.token(adapted, 1), "the inverse of the time")
	v.predicted("Samsung Table 5: total", "s", 2.85, (m.first(adapted)+summaryTokens*m.token(adapted, 1))/1000,
		"an answer of 100 tokens, its length is not published; loading, if it counts, would be 0.62 s more")
	v.open("Samsung, abstract: better in memory and latency overall, highest (lowest 4)", "×", 6, "the text does not say than what")
}

// samsungGraphs adds Table 10: rewritten graphs. Its lines on composite and transposed graphs repeat the first.
func (v *validator) samsungGraphs(m samsungModel) {
	s, c := samsungShape(), m.c
	adapted := withAdapters(s, 1)
	const table, repeats = "Samsung Table 10: ", "the number of scalar folding"
	v.predicted(table+"first token, scalar folding", "ms", 45.8, m.first(s), samsungNote)
	v.fitted(table+"generation, scalar folding", "ms", 19.385, m.token(s, 1), samsungNote)
	unfolded := func(rows int) float64 { // one multiplication by a constant for each head's scores, layer by layer
		return msOf(c.Op)*float64(s.Layers*s.Heads) + float64(s.Layers*s.Heads*rows*512)/c.Vector*1000
	}
	v.fitted(table+"first token, what scalar folding saves", "ms", 1.5, unfolded(samsungChunk), "47.3 - 45.8: one more operator for each head")
	v.fitted(table+"generation, what scalar folding saves", "ms", 1.125, unfolded(1), "20.51 - 19.385: one more operator for each head")
	const sum = "the sum of scalar folding and what it saves"
	v.repeated(table+"first token, without scalar folding", "ms", 47.3, m.first(s)+unfolded(samsungChunk), sum)
	v.repeated(table+"generation, without scalar folding", "ms", 20.51, m.token(s, 1)+unfolded(1), sum)
	split := msOf(c.Op) * float64(s.Layers*(2*s.Heads+2*s.KVHeads))
	v.predicted(table+"first token, LoRA-B split", "ms", 45.9, m.first(adapted)+split, "with an adapter; one more operator for each head's projections")
	v.predicted(table+"generation, LoRA-B split", "ms", 19.45, m.token(adapted, 1)+split, "with an adapter; one more operator for each head's projections")
	v.predicted(table+"first token, LoRA-B composite", "ms", 45.8, m.first(adapted), "with an adapter; "+samsungNote)
	v.predicted(table+"generation, LoRA-B composite", "ms", 19.385, m.token(adapted, 1), "with an adapter; "+samsungNote)
	turned := func(context int) float64 { // every key is moved once
		return float64(s.Layers*context*s.KVHeads*s.HeadDim) / c.Vector * 1000
	}
	v.predicted(table+"first token, K untransposed", "ms", 52, m.first(s)+turned(samsungChunk), "the keys pass through the vector unit once")
	v.predicted(table+"generation, K untransposed", "ms", 23, m.token(s, 1)+turned(512), "the keys of 512 positions pass through the vector unit once")
	v.repeated(table+"first token, K transposed", "ms", 45.8, m.first(s), repeats)
	v.repeated(table+"generation, K transposed", "ms", 19.385, m.token(s, 1), repeats)
}

// useCase is a line of Samsung's Table 6, with the best value of the corresponding column of Table 7.
type useCase struct {
	name               string
	prefill            float64 // ms
	without, with      float64 // ms a token, without and with DS2D
	rate, ds2dRate     float64 // tokens/s
	mb, init           float64 // peak memory, initialisation in ms
	tokens, tokensRate float64 // Table 7: tokens for each inference, tokens/s
	chunks             float64 // of the prompt, by the ratio of prefills
}

var useCases = []useCase{
	{"Correction", 208.72, 50.17, 22.3, 19.93, 44.84, 2463.44, 1507.96, 2.27, 49.6, 1},
	{"Composer", 209.57, 53.23, 28.57, 18.79, 35.00, 2468.51, 1499, 1.72, 40.35, 1},
	{"Style", 209.34, 50.42, 25.21, 19.83, 39.67, 2465.42, 1534.27, 1.96, 44.47, 1},
	{"Health", 210.7, 51.92, 28.77, 19.26, 34.76, 2468.52, 1551.98, 1.54, 36.05, 1},
	{"Summarization", 797.22, 52.91, 24.12, 18.90, 41.46, 2486.98, 1576.78, 1.8, 41.34, 4},
	{"Natural Language", 209.8, 51.87, 23.64, 19.28, 42.30, 2480.09, 1547.54, 1.63, 37.32, 1}, // Table 7: Gallery
	{"ST Energy", 210.77, 52.76, 33.48, 18.95, 29.87, 2486.3, 1487.4, 1.45, 33.88, 1},
	{"AI Brief", 404.88, 52.85, 37.75, 18.92, 26.49, 2484.68, 1509.68, 1.57, 36.46, 2},
}

// samsungScaled adds Tables 6 and 7: a 3B model on the Galaxy S25, with and without speculative decoding. The simulator takes
// the tokens for each inference from Table 7, where they are best. It has one number each for a chunk of the prompt, a pass with
// and without DS2D, the memory and the initialisation, so only the first case is compared.
func (v *validator) samsungScaled() {
	c, s := v.costs("sm8750/qnn"), v.shape("Llama-3.2-3B", npu.Q4_0, npu.Q8_0)
	if v.err != nil {
		return
	}
	const stand = "shape taken from Llama-3.2-3B, chunks of 256: neither is published"
	chunk := msOf(prefillPass(c, s, 256, 256).Time())
	one, tree := msOf(decodePass(c, s, 1, 512).Time()), msOf(decodePass(c, s, 32, 512).Time())
	weights, most := float64(0), 0.0
	for _, g := range s.Blocks(1, 1) {
		weights += float64(c.Bytes(g)) / 1e6
	}
	small := samsungModel{v.costs("sm8650/qnn")}.loading()
	v.fitted("Samsung Tables 5 and 6: initialisation of the 3B model for Correction less loading of the 1B model", "ms", 1507.96-624.1,
		msOf(c.LoadTime(2, int64(1e6*weights)))-small, "of two phones; "+sessionNote)
	kind, plain := Compared, FittedTo // the cases after the first repeat its numbers
	for _, t := range useCases {
		name := "Samsung Table 6, " + t.name + ": "
		v.addOne(kind, name+"prefill", "ms", t.prefill, t.chunks*chunk, fmt.Sprintf("%s; %.0f chunks by the ratio to the others", stand, t.chunks))
		v.addOne(plain, name+"token without DS2D", "ms", t.without, one, "fitted to Correction, the same for all; "+stand)
		v.repeated(name+"rate without DS2D", "tokens/s", t.rate, 1000/one, "the inverse of the time")
		passes := fmt.Sprintf("%.2f tokens for each inference of 32 rows (Table 7)", t.tokens)
		if t.name == "Natural Language" {
			passes += " of the column Gallery, which stands in its place"
		}
		v.addOne(kind, name+"token with DS2D", "ms", t.with, tree/t.tokens, passes)
		v.repeated(name+"rate with DS2D", "tokens/s", t.ds2dRate, 1000*t.tokens/tree, "the inverse of the time")
		v.addOne(kind, name+"peak memory", "MB", t.mb, weights+2*s.HeadParameters()/1e6, "weights and an embedding in 16 bits; "+stand)
		v.addOne(kind, name+"initialisation", "ms", t.init, msOf(c.LoadTime(2, int64(1e6*weights))), "two graphs over one set of weights; "+sessionNote)
		v.repeated("Samsung Table 7, "+t.name+": best rate", "tokens/s", t.tokensRate, 1000*t.tokens/tree, passes)
		most = max(most, one*t.tokens/tree)
		kind, plain = Repeated, Repeated
	}
	v.predicted("Samsung, abstract: DS2D, times faster, highest", "×", 2.3, most, "the best tokens for each inference of Table 7")
	v.add(PublishedFigure{Figure: "Samsung Table 7: the other branchings", Kind: Open, Note: "tokens for each inference are the model's; the pass takes the same time for all"})
}

// diffusion is LLaDA-8B and Llama-3-8B on a chip with llada.cpp's kernels, for answers of 128 tokens.
type diffusion struct {
	c    sim.Costs
	d, l sim.Shape
}

// Assumptions about llada.cpp's answers, whose numbers of steps are not published.
const (
	diffusionCommits = 4.0 // tokens a step
	diffusionWindow  = 64  // rows
	diffusionNote    = "4 tokens committed a step and a window of 64 assumed; staging of weights beyond the address window not counted"
)

func (v *validator) diffusion(soc string) diffusion {
	return diffusion{v.costs(soc + "/llada"), v.shape("LLaDA-8B", npu.Q4_0, npu.Q4_0), v.shape("Llama-3.1-8B", npu.Q4_0, npu.Q4_0)}
}

// token is the time of a token of LLaDA, in ms.
func (x diffusion) token() float64 {
	return msOf(prefillPass(x.c, x.d, diffusionWindow, 256).Time()) / diffusionCommits
}

// llama is the time of a token of Llama, in ms.
func (x diffusion) llama() float64 { return msOf(decodePass(x.c, x.l, 1, 256).Time()) }

// cpu is the time of a token of LLaDA on the CPU, which commits one token a step, in ms.
func (x diffusion) cpu() float64 {
	return msOf(x.c.CPUProducts(32, x.d.Parameters(), x.d.Parameters()*4.5/8))
}

// llada adds the numbers in llada.cpp's text and its statements on what is faster. The numbers of its tables are not in the
// text at hand.
func (v *validator) llada() {
	gen3, elite, gen5 := v.diffusion("sm8650"), v.diffusion("sm8750"), v.diffusion("sm8850")
	if v.err != nil {
		return
	}
	var faster []float64
	for _, x := range []diffusion{gen3, elite, gen5} {
		faster = append(faster, x.cpu()/x.token())
	}
	v.predictedEnds("llada.cpp, abstract: LLaDA-8B over the CPU with prefix KV", "×", 17, 42, faster, "over three chips; "+diffusionNote)
	v.predicted("llada.cpp §1: LLaDA-8B over Llama-3-8B, 128 tokens, SM8750, up to", "×", 3.9, elite.llama()/elite.token(), diffusionNote)
	for _, s := range []struct {
		chip, side, note string
		x                diffusion
	}{
		{"SM8650", "above", "published as still slower; the chips' files differ too little for that", gen3},
		{"SM8750", "below", "published as faster", elite},
		{"SM8850", "below", "published as faster; the paper attends on its CPU there, the simulation does not", gen5},
	} {
		v.bound("llada.cpp §5.2: time of LLaDA-8B over Llama-3-8B, 128 tokens, "+s.chip, "×", s.side, 1, s.x.token()/s.x.llama(), s.note+"; "+diffusionNote)
	}
	const newer = "published in words: newer chips are generally faster"
	v.bound("llada.cpp §5.2: time of LLaDA-8B, SM8650 over SM8750", "×", "above", 1, gen3.token()/elite.token(), newer)
	v.bound("llada.cpp §5.2: time of LLaDA-8B, SM8750 over SM8850", "×", "above", 1, elite.token()/gen5.token(), newer+"; sm8850 has sm8750's matrix unit, and its own stream rate")
	power := decodePass(elite.c, elite.l, 1, 256)
	v.bound("llada.cpp §5.7: average power of Llama-3-8B, NPU over CPU", "×", "above", 1, power.Joules(elite.c)/power.Time().Seconds()/elite.c.CPUWatts,
		"the NPU's power is fitted to sd.npu's energy of a request, the CPU's is another measurement")
	v.lladaRules(elite.c, elite.d)
	v.open("llada.cpp §5.4: latency that skipping logits saves in some cases, more than", "%", 10, "which positions are stable is the model's doing")
	v.notAtHand("llada.cpp Tables 2, 6, 7; Figures 3, 5, 11 to 14")
}

// lladaRules adds statements that follow from a rule or a parameter of the simulator.
func (v *validator) lladaRules(c sim.Costs, d sim.Shape) {
	product := func(rows int) float64 { return c.Product(rows, d.FF, d.Dim, 0).Seconds() }
	v.addOne(Given, "llada.cpp §2.2, Figure 3(a): a product of 32 rows over one of 4, nearly constant", "×", 1, product(32)/product(4), "one tile")
	fits := 0.0
	if float64(c.Window) < d.LayerParameters()*4.5/8 {
		fits = 1
	}
	v.addOne(Given, "llada.cpp §5.6: all weights at once fail to map on SM8750 (1: fail)", "", 1, fits, "layers in Q4_0 against one session's window")
}

// engines adds measurements that engines publish.
func (v *validator) engines() {
	hex, gen3, elite := v.costs("sm8750/hexagon"), v.costs("sm8650/qnn"), v.costs("sm8750/qnn")
	if v.err != nil {
		return
	}
	rate := func(c sim.Costs, s sim.Shape, context int) float64 {
		return 1000 / msOf(decodePass(c, s, 1, context).Time())
	}
	reading := func(c sim.Costs, s sim.Shape, prompt, chunk int) float64 {
		return float64(prompt) / prefill(c, s, prompt, chunk).Time().Seconds()
	}
	one := v.shape("Llama-3.2-1B", npu.Q4_0, npu.Q4_0)
	v.fitted("llama.cpp Hexagon v79: Llama-3.2-1B Q4_0, prompt 128", "tokens/s", 169.42, reading(hex, one, 128, 128), "")
	v.fitted("llama.cpp Hexagon v79: Llama-3.2-1B Q4_0, generation 64", "tokens/s", 51.54, rate(hex, one, 64), "")
	v.fitted("llama.cpp Hexagon v79: Llama-3.2-1B Q4_0, load", "ms", 617.94, msOf(hex.LoadTime(1, int64(one.Parameters()*4.5/8))), "")
	v.predicted("llama.cpp Hexagon v79: Llama-3.2-1B Q4_0, prompt 11", "tokens/s", 136.21, 11/prefillPass(hex, one, 11, 11).Time().Seconds(), "rows are taken singly, as for the prompt of 128")

	v.hexagons(hex)
	sessions := func(parameters float64) float64 { return float64(int(parameters*4.5/8)/int(hex.Window) + 1) }
	v.predicted("llama.cpp: sessions for an 8B model", "", 2, sessions(v.shape("Llama-3.1-8B", npu.Q4_0, npu.Q4_0).LayerParameters()), "layers in Q4_0")
	v.predicted("llama.cpp: sessions for a 20B model", "", 4, sessions(20.9e9), "all weights at 4.5 bits; the experts' own type is smaller")
	v.open("llama.cpp's rival backend, 8 Elite: gemma4 E2B Q4_0, prompt 500", "tokens/s", 1438, "the model's shape is not at hand, and the backend is none of the stacks")

	three, eight := v.shape("SmallThinker-3B", npu.Q4_0, npu.Q8_0), v.shape("Llama-3.1-8B", npu.Q4_0, npu.Q8_0)
	v.fitted("PowerServe 8 Gen 3: SmallThinker-3B, prefill", "tokens/s", 975, reading(gen3, three, 1536, 128), "prompt and chunk are not published: 1536, 128")
	v.predicted("PowerServe 8 Gen 3: SmallThinker-3B, decode", "tokens/s", 19.71, rate(gen3, three, 1536), "")
	v.fitted("PowerServe 8 Elite: SmallThinker-3B, prefill", "tokens/s", 1052.63, reading(elite, three, 1536, 128), "")
	v.predicted("PowerServe 8 Elite: SmallThinker-3B, decode", "tokens/s", 20.90, rate(elite, three, 1536), "")
	v.predicted("PowerServe 8 Elite: Llama-3.1-8B, prefill", "tokens/s", 509.09, reading(elite, eight, 1536, 128), "")
	v.predicted("PowerServe 8 Elite: Llama-3.1-8B, decode", "tokens/s", 12.48, rate(elite, eight, 1536), "")
	const drafts = "tokens accepted and drafted for each pass are not published"
	v.open("PowerServe 8 Gen 3: SmallThinker-3B, speculative", "tokens/s", 38.75, drafts)
	v.open("PowerServe 8 Elite: SmallThinker-3B, speculative (0.5B draft)", "tokens/s", 43.25, drafts)
	v.open("PowerServe 8 Elite: Llama-3.1-8B, speculative (1B draft)", "tokens/s", 22.83, drafts)
	for _, t := range []struct {
		model string
		rate  float64
	}{{"Llama-3.2-1B", 29}, {"Qwen2.5-0.5B", 130}, {"Qwen3-0.6B", 70}, {"SmolLM2-135M", 254}, {"granite-3.3-2B", 17}} {
		v.predicted("ExecuTorch QNN 2.37 SM8750: "+t.model+", decode", "tokens/s", t.rate, rate(elite, v.shape(t.model, npu.Q8_0, npu.Q8_0), 128), "8-bit weights (16a8w)")
	}
}

// hexagons adds measurements of llama.cpp's Hexagon backend from its issues and pull requests.
func (v *validator) hexagons(elite sim.Costs) {
	gen5 := v.costs("sm8850/hexagon")
	if v.err != nil {
		return
	}
	rate := func(s sim.Shape, context int) float64 { return 1000 / msOf(decodePass(gen5, s, 1, context).Time()) }
	reading := func(s sim.Shape) float64 { return 256 / prefillPass(gen5, s, 256, 256).Time().Seconds() }
	one, eight := v.shape("Llama-3.2-1B", npu.Q4_0, npu.Q4_0), v.shape("Llama-3.1-8B", npu.Q4_0, npu.Q4_0)
	const pr = "llama.cpp pull request 22334, Hexagon v81: "
	v.fitted(pr+"Llama-3.2-1B Q4_0, prompt 256", "tokens/s", 889.54, reading(one), "")
	v.fitted(pr+"Llama-3.2-1B Q4_0, generation", "tokens/s", 64.56, rate(one, 256), "")
	v.predicted(pr+"Llama-3.1-8B Q4_0, prompt 256", "tokens/s", 148.73, reading(eight), "")
	v.fitted(pr+"Llama-3.1-8B Q4_0, generation", "tokens/s", 13.32, rate(eight, 256), "")
	v.predicted("llama.cpp pull request 21554, Hexagon v81: Qwen3-0.6B Q4_0, generation", "tokens/s", 84.98, rate(v.shape("Qwen3-0.6B", npu.Q4_0, npu.Q4_0), 204), "")
	v.predicted("llama.cpp issue 27677, Hexagon v81: Qwen3-8B Q4_K_M, generation 16", "tokens/s", 6.66, rate(v.shape("Qwen3-8B", npu.Q4_K, npu.Q6_K), 16), "")
	v.predicted("llama.cpp issue 18139, Hexagon v79: a product of 64 rows with 4096 × 4096 in Q8_0", "ms", 4.957, msOf(elite.Product(64, 4096, 4096, 4096*4096*17/16)), "")
	v.open("llama.cpp pull request 27642, SM8850: Qwen3.5-9B on QNN (on ggml's backend 8.1)", "tokens/s", 14.1, "the model's layers are not all attention, and of no shape at hand")
}

// mnn adds MNN's measurements of one model, to which the CPU's parameters are fitted.
func (v *validator) mnn() {
	c, s := v.costs("sm8750"), v.shape("Qwen3-0.6B", npu.Q4_0, npu.Q4_0)
	if v.err != nil {
		return
	}
	const bits = 4.25 / 8 // 4 bits and a scale for 64 weights
	v.fitted("MNN pull request 4633, SM8750: Qwen3-0.6B on the CPU, prompt 512", "tokens/s", 336, 512/c.CPUProducts(512, s.LayerParameters(), bits*s.Parameters()).Seconds(), "the layers' products")
	v.fitted("MNN pull request 4633, SM8750: Qwen3-0.6B on the CPU, generation 128", "tokens/s", 94.3, 1/c.CPUProducts(1, s.Parameters(), bits*s.Parameters()).Seconds(), "")
	v.open("MNN pull request 4633, SM8750: Qwen3-0.6B on its Hexagon backend, prompt 512 (generation 128: 68.5)", "tokens/s", 2667, "the backend is none of the stacks")
}

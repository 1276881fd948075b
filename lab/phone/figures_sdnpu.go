package phone

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"tandem/lab/report"
	"tandem/npu"
	"tandem/npu/phone/plan"
	"tandem/npu/phone/sim"
)

// phones are those of CoordGen and sd.npu, with the chip and the stack that simulate them.
var phones = []struct{ name, soc string }{{"Redmi K60 Pro", "sm8550/mllm"}, {"Redmi K70 Pro", "sm8650/mllm"}, {"OnePlus 13", "sm8750/mllm"}}

// request is what both papers measure: a model on a phone reads summaryPrompt tokens and writes summaryTokens.
type request struct {
	c    sim.Costs
	s    sim.Shape
	lags map[lagOf]float64 // shared by all requests, so that each switch is planned once
}

// lagOf identifies a switch of graphs.
type lagOf struct {
	soc, stack, model string
	strategy          plan.Strategy
	chunks            int
}

func (v *validator) request(soc, model string) request {
	if v.lags == nil {
		v.lags = map[lagOf]float64{}
	}
	return request{v.costs(soc), v.shape(model, npu.Q8_0, npu.Q8_0), v.lags}
}

// step is the time of a pass, in ms.
func (q request) step(rows, context int) float64 {
	return msOf(decodePass(q.c, q.s, rows, context).Time())
}

// reading is the time of the prefill, in ms.
func (q request) reading() float64 {
	return msOf(prefill(q.c, q.s, summaryPrompt, prefillChunk).Time())
}

// lag is what the switch of graphs adds to a prefill, in ms.
func (q request) lag(strategy plan.Strategy, chunks int) float64 {
	of := lagOf{q.c.SoC, q.c.Stack, q.s.Name, strategy, chunks}
	if ms, ok := q.lags[of]; ok {
		return ms
	}
	p := problemOf(q.c, q.s, ablationBlocks, chunks, prefillChunk, decodeChunk)
	q.lags[of] = msOf(p.Simulate(p.Plan(strategy)).Total() - p.Prefill())
	return q.lags[of]
}

// cpuStep is the time to decode a token on the CPU with INT8 weights, in ms.
func (q request) cpuStep() float64 {
	return msOf(q.c.CPUProducts(1, q.s.Parameters(), q.s.Parameters()))
}

// summaryChunks is the number of chunks of the prompt.
const summaryChunks = (summaryPrompt + prefillChunk - 1) / prefillChunk

// calibrationPerToken is calibration's time in ms, spread over the answer.
const calibrationPerToken = calibrationMs * summaryPrompt / summaryTokens

// perToken is the time of a token in ms: by a variant of sd.npu's Table 3, or on the "CPU". What is added to the prefill, by
// the switch of graphs and by calibration, is spread over the answer.
func (q request) perToken(variant string, accept float64) float64 {
	if variant == "CPU" {
		return q.cpuStep()
	}
	strategy := plan.Synchronous
	if variant != "NPU" && variant != "+SD" {
		strategy = plan.Progressive
	}
	rows, drafting, calibration := decodeChunk, 0.0, 0.0
	switch variant {
	case "NPU", "+G":
		rows = 1
	case "all":
		drafting, calibration = draftingMs, calibrationPerToken
	}
	return (q.step(rows, summaryPrompt)+drafting)/accept + q.lag(strategy, summaryChunks)/summaryTokens + calibration
}

// joules is the energy of the request. Switching graphs takes none.
func (q request) joules(variant string, accept float64) float64 {
	sum := prefill(q.c, q.s, summaryPrompt, prefillChunk)
	if variant == "CPU" {
		sum.CPU += time.Duration(summaryTokens * q.cpuStep() * float64(time.Millisecond))
		return sum.Joules(q.c)
	}
	rows, drafting := decodeChunk, time.Duration(0)
	switch variant {
	case "NPU", "+G":
		rows = 1
	case "all":
		drafting = draftingMs * time.Millisecond
		sum.CPU += summaryPrompt * calibrationMs * time.Millisecond
	}
	one := decodePass(q.c, q.s, rows, summaryPrompt)
	steps := summaryTokens / accept
	sum.NPU += time.Duration(steps * float64(one.NPU))
	sum.CPU += time.Duration(steps * float64(one.CPU+drafting))
	return sum.Joules(q.c)
}

// anywhere adds a figure whose text names no phone. It counts for the phone with the largest error.
func (v *validator) anywhere(figure, unit string, published float64, note string, predict func(request) float64) {
	worst := PublishedFigure{Figure: figure, Unit: unit, Kind: Compared, Published: report.Is(published)}
	var all []string
	for _, p := range phones {
		f := worst
		f.Predicted = report.Is(predict(v.request(p.soc, "Qwen2.5-1.5B")))
		all = append(all, fmt.Sprintf("%s %.3g", p.name, f.Predicted.Value))
		if !worst.Predicted.Known || math.Abs(f.relativeError().Value) > math.Abs(worst.relativeError().Value) {
			worst.Predicted = f.Predicted
		}
	}
	worst.Note = "no phone is named, the farthest counts: " + strings.Join(all, ", ")
	if note != "" {
		worst.Note = note + "; " + worst.Note
	}
	v.add(worst)
}

// draftLengths adds the papers' numbers on passes of few and many rows.
func (v *validator) draftLengths() {
	q, elite := v.request("sm8650/mllm", "Qwen2.5-1.5B"), v.request("sm8750/mllm", "Qwen2.5-1.5B")
	if v.err != nil {
		return
	}
	v.fitted("CoordGen §2.1: prefill on the OnePlus 13, more than", "tokens/s", 1000,
		prefillChunk/prefillPass(elite.c, elite.s, prefillChunk, prefillChunk).Time().Seconds(), "")
	const context = 256
	const unnamed = "Figure 5's text names the phone, Figure 6's does not"
	v.fitted("CoordGen §2.3, Figure 6: draft of 1, Redmi K70 Pro", "ms/token", 51.1, q.step(1, context), unnamed)
	v.fitted("CoordGen §2.3, Figure 6: draft of 32, Redmi K70 Pro", "ms/token", 5.7, q.step(32, context)/32, unnamed)
	v.bound("CoordGen §2.3, Figure 5: prefill on a graph of 32, Redmi K70 Pro", "ms/token", "below", 8, q.step(32, context)/32, "the fitted draft of 32 is as many rows")
	v.predicted("CoordGen §2.3, Figure 5: decoding on the graph of 32, accept length 4.2, Redmi K70 Pro", "ms/token", 160, q.step(32, context)/4.2,
		"the published number fits a graph of 128 rows; the text says 32")
	v.anywhere("sd.npu §3.1, Figure 3: decoding on the graph of prefill, times slower", "×", 8, "published as up to 8; graphs of 256 rows and of 1 (§3)",
		func(q request) float64 { return q.step(256, context) / q.step(1, context) })
	v.anywhere("sd.npu §3.2, Figure 7: a pass of 32 rows over one of 1, nearly constant", "×", 1, "CoordGen's 5.7 and 51.1 ms a token make 3.57",
		func(q request) float64 { return q.step(32, context) / q.step(1, context) })
	v.anywhere("CoordGen §1: throughput of drafts of 8 over that of 64", "×", .5, "published as 50 % lower",
		func(q request) float64 { return (8 / q.step(8, context)) / (64 / q.step(64, context)) })
	v.anywhere("CoordGen §1: length that verification is best with", "rows", 64, "predicted: up to where a product costs the same",
		func(q request) float64 { return float64(q.c.Saturation(q.c.WeightBits)) })
	v.anywhere("sd.npu §5.1, Figure 5: least length that saturates the NPU", "rows", 32, "predicted: up to where a product costs the same",
		func(q request) float64 { return float64(q.c.Saturation(q.c.WeightBits)) })
	v.open("CoordGen Table 1, sd.npu Table 1: NPU of the Snapdragon 8 Gen 3", "TOPS", 73, "a peak; the simulator holds what its stacks reach, a tenth of that")
}

// switching adds the papers' numbers on changing from prefill's graphs to decoding's.
func (v *validator) switching() {
	const lengths = "answers of 100 tokens, the figure's are not given"
	v.anywhere("sd.npu §3.1, Figure 4: share of switching in decoding, context of 1K", "%", 29, lengths, func(q request) float64 {
		lag := q.lag(plan.Synchronous, 1024/prefillChunk)
		return 100 * lag / (lag + summaryTokens*q.step(1, 1024))
	})
	v.anywhere("CoordGen §1: delay of end-to-end latency by switching, Qwen2.5-1.5B", "%", 94.9, "1500 tokens read, 100 written: the text does not say of which request", func(q request) float64 {
		return 100 * q.lag(plan.Synchronous, summaryChunks) / (q.reading() + summaryTokens*q.step(1, summaryPrompt))
	})
	hidden, least := 1.0, ""
	for _, phone := range phones {
		for _, model := range switchingShapes {
			q := v.request(phone.soc, model)
			p := problemOf(q.c, q.s, 2, summaryChunks, prefillChunk, decodeChunk)
			if h := p.Simulate(p.Plan(plan.Progressive)).Hidden(); h < hidden {
				hidden, least = h, model+" on the "+phone.name
			}
		}
	}
	v.predicted("sd.npu §5.1: two blocks hide the switch, share hidden", "%", 100, 100*hidden,
		"published in words: two blocks suffice for all models and phones; predicted for the least, "+cmp.Or(least, "none"))
}

// decodingShares adds the papers' shares of decoding in a request.
func (v *validator) decodingShares() {
	q := v.request("sm8750/mllm", "Qwen2.5-1.5B")
	if v.err != nil {
		return
	}
	const lengths = "1500 tokens read and 100 written: no lengths were given"
	thousand := func(n int) float64 { return prefill(q.c, q.s, n, prefillChunk).Time().Seconds() }
	v.predicted("CoordGen §1: prefill of a context of 1 to 2 thousand tokens", "s", 2, thousand(summaryPrompt),
		fmt.Sprintf("for 1500 tokens on the OnePlus 13; 1000 take %.1f s, 2000 %.1f s", thousand(1000), thousand(2000)))

	onCPU := summaryTokens * q.cpuStep()
	share := 100 * onCPU / (onCPU + q.reading())
	v.predicted("CoordGen §2.1: share of decoding in summaries, decoding on the CPU, OnePlus 13", "%", 87.2, share, "INT8 weights; "+lengths)
	v.predicted("CoordGen §2.1: the same for question answering", "%", 90.2, share, lengths)
	v.predicted("CoordGen §1: share of decoding over all tasks", "%", 73.5, share, lengths)
	v.bound("CoordGen §2.1: decoding on the NPU over decoding on the CPU, OnePlus 13", "×", "above", 1, q.step(1, summaryPrompt)/q.cpuStep(),
		"published in words: no advantage, often slower")

	var shares, faster []float64
	for _, model := range switchingShapes {
		q := v.request("sm8750/mllm", model)
		decoding := summaryTokens * q.step(1, summaryPrompt)
		shares = append(shares, 100*decoding/(decoding+q.reading()+q.lag(plan.Synchronous, summaryChunks)))
		lengths, _ := table4[0].of(model)
		faster = append(faster, q.step(1, summaryPrompt)/(q.step(decodeChunk, summaryPrompt)/lengths.all))
	}
	v.predictedEnds("sd.npu §5.4, Figure 14: share of decoding, mllm(NPU), OnePlus 13", "%", 67, 74, shares, lengths)
	v.predictedEnds("sd.npu §5.4, Figure 14: decoding by sd.npu, OnePlus 13, times faster", "×", 5.25, 8.15, faster, acceptNote)
	const whose = "a parameter of the simulation of sd.npu"
	v.addOne(Given, "sd.npu §5.4: calibration, about", "ms/token", 2, calibrationMs, whose)
	v.addOne(Given, "sd.npu §5.4: drafting, less than", "ms/step", 3, draftingMs, whose)
}

// acceptNote goes with predictions from accept lengths.
const acceptNote = "with the accept lengths of Table 4, those of relatives for Qwen2.5-0.5B and Llama-3.2-3B"

// ratios returns the cost of row divided by that of over, for each phone, model and task that counts accepts.
func (v *validator) ratios(cost func(q request, row string, accept float64) float64, row, over string, counts func(phone, model, task string) bool) (out []float64) {
	for _, phone := range phones {
		for _, model := range switchingShapes {
			q := v.request(phone.soc, model)
			if v.err != nil {
				return nil
			}
			for _, t := range table4 {
				if !counts(phone.name, model, t.task) {
					continue
				}
				lengths, _ := t.of(model)
				out = append(out, cost(q, row, lengths.by(row))/cost(q, over, lengths.by(over)))
			}
		}
	}
	return out
}

// speedups adds the ranges of sd.npu §5.2, which CoordGen §4.2 repeats.
func (v *validator) speedups() {
	every := func(_, _, _ string) bool { return true }
	summary := func(_, _, task string) bool { return task == "summary" }
	k70 := func(phone, _, _ string) bool { return phone == "Redmi K70 Pro" }
	for _, r := range []struct {
		what, over string
		low, high  float64
		counts     func(phone, model, task string) bool
	}{
		{"over mllm(NPU)", "NPU", 1.14, 3.81, every},
		{"over mllm(CPU)", "CPU", 1.06, 1.78, every},
		{"over mllm(NPU), summaries", "NPU", 1.41, 3.80, summary},
		{"over mllm(CPU), summaries", "CPU", 1.24, 1.61, summary},
		{"over mllm(NPU), Redmi K70 Pro", "NPU", 1.14, 2.91, k70},
		{"over mllm(CPU), Redmi K70 Pro", "CPU", 1.13, 1.64, k70},
		{"over NG+", "+SD", 1.11, 2.53, every},
	} {
		v.predictedEnds("sd.npu §5.2: times faster "+r.what, "×", r.low, r.high, v.ratios(request.perToken, r.over, "all", r.counts), acceptNote+"; 1500 tokens read and 100 written")
	}
	const eagle = "the drafter's passes for each step are not published, and the papers' own numbers are estimates (CoordGen §4.1)"
	v.open("sd.npu §5.2: times faster than SpecInfer, highest (lowest 1.09)", "×", 1.80, eagle)
	v.open("sd.npu §5.2: SpecInfer on the CPU, highest (lowest 0.56)", "×", 1.18, eagle)
	v.open("sd.npu §5.2: NG+ on the CPU, highest (lowest 0.92)", "×", 1.13, "on the CPU the length of each draft counts, which is not published")
	v.notAtHand("sd.npu Figures 2, 11 to 14, beyond what the text says of them")
}

// energy adds the numbers of sd.npu §5.2, which CoordGen §4.2 repeats.
func (v *validator) energy() {
	gen2, elite := v.request("sm8550/mllm", "Qwen2.5-1.5B"), v.request("sm8750/mllm", "Qwen2.5-1.5B")
	if v.err != nil {
		return
	}
	accept := table4[0].qwen.all
	const order = "the text calls the OnePlus 13 the hungrier, but gives the smaller number first, in the order OnePlus 13, K60 Pro"
	v.fitted("sd.npu §5.2: energy of a request, Redmi K60 Pro", "J", 56.52, gen2.joules("all", accept), order+"; taken in that order")
	v.fitted("sd.npu §5.2: energy of a request, OnePlus 13", "J", 53.85, elite.joules("all", accept), "")
	v.bound("sd.npu §5.2: energy of a request, OnePlus 13 over Redmi K60 Pro", "×", "above", 1, elite.joules("all", accept)/gen2.joules("all", accept), order)

	measured := func(phone string) bool { return phone != "Redmi K70 Pro" } // §5.1: it has no root access
	every := func(phone, _, _ string) bool { return measured(phone) }
	large := func(phone, model, _ string) bool { return measured(phone) && model == "Llama-3.2-3B" }
	small := func(phone, model, _ string) bool { return measured(phone) && model == "Qwen2.5-0.5B" }
	for _, r := range []struct {
		what, over string
		low, high  float64
		counts     func(phone, model, task string) bool
	}{
		{"than mllm(NPU)", "NPU", 1.35, 4.18, every},
		{"than mllm(CPU)", "CPU", 1.11, 2.50, every},
		{"than NG+", "+SD", 1.07, 3.07, every},
		{"than mllm(NPU), Llama-3.2-3B", "NPU", 1.42, 1.85, large},
		{"than mllm(NPU), Qwen2.5-0.5B", "NPU", 1.40, 3.50, small},
	} {
		v.predictedEnds("sd.npu §5.2: times less energy "+r.what, "×", r.low, r.high, v.ratios(request.joules, r.over, "all", r.counts), acceptNote+"; 1500 tokens read and 100 written; calibration's 2 ms a token of the prompt, on the CPU at its full power, take more than drafts save")
	}
	v.predictedEnds("sd.npu §5.2: times less energy by NG+ than mllm(NPU), Qwen2.5-0.5B", "×", 1.17, 1.54, v.ratios(request.joules, "NPU", "+SD", small), acceptNote)
	v.open("sd.npu §5.2: times less energy than SpecInfer, highest (lowest 1.77)", "×", 4.71, "as its times")
}

// peakMemory adds the numbers of sd.npu §5.3, which CoordGen §4.3 repeats.
func (v *validator) peakMemory() {
	q := v.shape("Qwen2.5-1.5B", npu.Q8_0, npu.Q8_0)
	if v.err != nil {
		return
	}
	const not = "INT8 products and an embedding in 32 bits; activations and the host's structures are not modelled"
	embedding := 4 * q.HeadParameters()
	weights := (q.Parameters() + embedding) / 1e9
	v.predictedRange("sd.npu §5.3: peak memory of mllm(NPU), Qwen2.5-1.5B", "GB", 3.05, 3.12, weights, not)
	v.predicted("sd.npu §5.3: peak memory of sd.npu, Qwen2.5-1.5B", "GB", 3.14, weights, not+", nor calibration's")
	v.bound("sd.npu §5.3: peak memory of mllm(CPU), Qwen2.5-1.5B", "GB", "above", 6, weights+q.Parameters()/1e9, "a second set of INT8 weights; "+not)
	v.open("sd.npu §5.3: memory that sd.npu adds, below", "MB", 500, "calibration's structures are the host's, which is not modelled")
	var drafters []float64
	for _, model := range switchingShapes {
		s := v.shape(model, npu.Q8_0, npu.Q8_0)
		drafters = append(drafters, (s.LayerParameters()/float64(s.Layers)+s.HeadParameters())/1e9)
	}
	v.predictedEnds("sd.npu §5.3: memory that SpecInfer's drafter adds", "GB", .84, 1.22, drafters, "one layer and a head (CoordGen §4.1), INT8")
}

// drafting adds the papers' numbers on drafts. They depend on the model and the text, not on the chip: what was measured here
// with another model is given for comparison.
func (v *validator) drafting(l *AcceptLengths) {
	if l == nil {
		l = &AcceptLengths{}
	}
	note := fmt.Sprintf("measured with %s on %d summaries, not with the paper's model", l.Of, l.Inputs)
	for _, f := range []struct {
		figure, unit  string
		published, is float64
	}{
		{"sd.npu Table 4: accept length, summary, PLD, Qwen2.5-1.5B", "tokens", 2.53, l.PLD},
		{"sd.npu Table 4: accept length, summary, SAM, Qwen2.5-1.5B", "tokens", table4[0].qwen.sam, l.SAM},
		{"sd.npu Table 4: accept length, summary, SAM with all, Qwen2.5-1.5B", "tokens", table4[0].qwen.all, l.All},
		{"sd.npu §3.2, Figure 6: rows of a pass that are wasted", "%", 22, 100 * l.Wasted},
		{"sd.npu §3.2, Figure 6: rows of a pass without a draft", "%", 75, 100 * l.Underutilised},
		{"sd.npu Table 2: rejections of which a part can be reused", "%", 38.5, 100 * l.Reusable},
	} {
		if f.is == 0 {
			v.open(f.figure, f.unit, f.published, "drafting was not measured in this run")
			continue
		}
		v.addOne(Measured, f.figure, f.unit, f.published, f.is, note)
	}
	const counted = "what is measured here counts rows of passes, not the lengths of drafts"
	v.open("sd.npu §3.2, Figure 5: drafts below 32 tokens, more than", "%", 90, counted)
	v.open("sd.npu §1: drafts below 8 tokens, more than", "%", 75, counted)
	v.open("sd.npu §4.4: wasted and padded computation turned into valid", "%", 70.5, "accept lengths of at most 5.47 make 17 % of 32 rows valid: the text does not say what it counts")
	v.add(PublishedFigure{Figure: "sd.npu Table 4: the other models, tasks and methods", Kind: Open, Note: "accept lengths are a model's; lab spec measures them for a model at hand"})
}

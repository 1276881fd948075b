package lab

import (
	"math"
	"time"

	"tandem/npu"
	"tandem/npu/plan"
	"tandem/npu/sim"
)

// Figure is one published number beside what the simulator says.
type PublishedFigure struct {
	Figure    string `json:"figure"` // where it stands, and what it is
	Unit      string `json:"unit"`
	Published Number `json:"published"`
	Upper     Number `json:"published_to,omitzero"` // where a range was published
	Predicted Number `json:"predicted"`             // null: not predicted, see Note
	Fitted    bool   `json:"fitted"`                // a parameter was chosen so that this holds
	Error     Number `json:"error,omitzero"`        // relative, 0 inside a range; only of predictions
	Note      string `json:"note,omitempty"`
}

// Assumptions behind requests whose lengths the papers do not give.
const (
	summaryPrompt  = 1500 // tokens: CoordGen §1 speaks of 1 to 2 thousand
	prefillChunk   = 256  // CoordGen §3.2
	decodeChunk    = 32   // CoordGen §3.2
	ablationBlocks = 6    // CoordGen §3.2, Figure 8; sd.npu §5.1 takes 2
	summaryTokens  = 100
)

// validator collects figures and keeps the first error.
type validator struct {
	figures []PublishedFigure
	err     error
}

func (v *validator) costs(name string) sim.Costs {
	c, err := sim.Find(name)
	if v.err == nil {
		v.err = err
	}
	return c
}

func (v *validator) shape(name string, layers, head npu.DType) sim.Shape {
	s, err := sim.FindShape(name)
	if v.err == nil {
		v.err = err
	}
	s.Type, s.HeadType = layers, head
	return s
}

func (v *validator) add(f PublishedFigure) {
	if f.Predicted.Known && !f.Fitted {
		low, high := f.Published.Value, f.Published.Value
		if f.Upper.Known {
			high = f.Upper.Value
		}
		e := 0.0
		switch p := f.Predicted.Value; {
		case p < low:
			e = p/low - 1
		case p > high:
			e = p/high - 1
		}
		f.Error = Is(math.Round(e*1e4) / 1e4)
	}
	v.figures = append(v.figures, f)
}

// is adds one figure.
func (v *validator) is(figure, unit string, published, predicted float64, note string) {
	v.add(PublishedFigure{Figure: figure, Unit: unit, Published: Is(published), Predicted: Is(predicted), Note: note})
}

// within adds a figure of which a range was published.
func (v *validator) within(figure, unit string, low, high, predicted float64, note string) {
	v.add(PublishedFigure{Figure: figure, Unit: unit, Published: Is(low), Upper: Is(high), Predicted: Is(predicted), Note: note})
}

// fitted adds a figure that a parameter was fitted to.
func (v *validator) fitted(figure, unit string, published, predicted float64, note string) {
	v.add(PublishedFigure{Figure: figure, Unit: unit, Published: Is(published), Predicted: Is(predicted), Fitted: true, Note: note})
}

// open adds a figure without a prediction.
func (v *validator) open(figure, unit string, published float64, why string) {
	v.add(PublishedFigure{Figure: figure, Unit: unit, Published: Is(published), Note: why})
}

// msOf is a duration as a plain number of milliseconds.
func msOf(d time.Duration) float64 { return d.Seconds() * 1000 }

// pass is one run of the whole model on chunk rows.
func pass(c sim.Costs, s sim.Shape, chunk, context int, all bool) sim.Cost {
	return c.Graphs(s.Blocks(chunk, all), context)
}

// prefill is the whole prompt in chunks.
func prefill(c sim.Costs, s sim.Shape, prompt, chunk int) (sum sim.Cost) {
	for at := 0; at < prompt; at += chunk {
		sum = sum.Plus(pass(c, s, chunk, min(at+chunk, prompt), false))
	}
	return sum
}

// Problem is a model's prefill and switch as the planner wants it: see SwitchProblem.
func Problem(c sim.Costs, s sim.Shape, blocks, chunks, large, small int) plan.Problem {
	one, two := s.Blocks(large, false), s.Blocks(small, true)
	return SwitchProblem(c, one[:s.Layers], two[:s.Layers], two[s.Layers], blocks, chunks)
}

// SwitchProblem cuts a model's layers into blocks of about the same number, as model.Cut does: one and two are
// the layers' graphs G¹ and G². A block is loaded as one graph.
//
// Decoding's head, which computes every row, is loaded with the last block. Prefill's computes the last row
// when all chunks are through, whatever the plan, and is counted in none.
func SwitchProblem(c sim.Costs, one, two []*npu.Graph, head *npu.Graph, blocks, chunks int) plan.Problem {
	large, small := one[0].Chunk, two[0].Chunk
	p := plan.Uniform(blocks, chunks, (large+small-1)/small, plan.Block{})
	context := large * chunks / 2 // on average
	for j := range p.Blocks {
		from, to := j*len(one)/blocks, (j+1)*len(one)/blocks
		graphs := two[from:to:to]
		b := &p.Blocks[j]
		b.Large, b.Small = c.Graphs(one[from:to], context).Time(), c.Graphs(graphs, context).Time()
		if j == blocks-1 {
			graphs = append(graphs, head)
		}
		var bytes int64
		for _, g := range graphs {
			bytes += c.Bytes(g)
		}
		b.Load = c.LoadTime(1, bytes)
	}
	return p
}

// Validate compares the simulator with every figure of the papers' text and tables that it has a word on.
func Validate() ([]PublishedFigure, error) {
	var v validator
	v.ablation()
	v.coordgen()
	v.samsung()
	v.samsungScaled()
	v.llada()
	v.engines()
	return v.figures, v.err
}

// coordgen are the numbers in the text of sd.npu and CoordGen.
func (v *validator) coordgen() {
	gen3, elite, gen2 := v.costs("sm8650/mllm"), v.costs("sm8750/mllm"), v.costs("sm8550/mllm")
	q := v.shape("Qwen2.5-1.5B", npu.Q8_0, npu.Q8_0)
	if v.err != nil {
		return
	}
	step := func(c sim.Costs, rows int) float64 { return msOf(pass(c, q, rows, summaryPrompt, true).Time()) }
	short := func(rows int) float64 { return msOf(pass(gen3, q, rows, 256, true).Time()) }

	v.fitted("CoordGen §2.3, Figure 6: draft of 1, Redmi K70 Pro", "ms/token", 51.1, short(1), "")
	v.fitted("CoordGen §2.3, Figure 6: draft of 32, Redmi K70 Pro", "ms/token", 5.7, short(32)/32, "")
	v.within("CoordGen §2.3, Figure 5: prefill on a graph of 32", "ms/token", 0, 8, short(32)/32, "published as less than 8")
	v.is("CoordGen §2.3, Figure 5: decoding on the graph of 32, accept length 4.2", "ms/token", 160, short(32)/4.2,
		"the published number fits a graph of 128 rows; the text says 32")
	v.is("sd.npu §3.1, Figure 3: decoding on the graph of prefill, times slower", "×", 8, short(128)/short(8),
		"published as up to 8; graphs of 128 and 8 rows taken, of which the text names none")
	p := Problem(gen2, q, ablationBlocks, 4, prefillChunk, decodeChunk)
	switching := msOf(p.Simulate(p.Plan(plan.Synchronous)).Total() - p.Prefill())
	v.is("sd.npu §3.1, Figure 4: share of switching in decoding, context of 1K", "%", 29,
		100*switching/(switching+summaryTokens*step(gen2, 1)), "with answers as long as those of summaries, 100 tokens; the figure's are not given")
	two := Problem(gen2, q, 2, (summaryPrompt+prefillChunk-1)/prefillChunk, prefillChunk, decodeChunk)
	v.is("sd.npu §5.1: two blocks hide the switch, share hidden", "%", 100, 100*two.Simulate(two.Plan(plan.Progressive)).Hidden(), "published in words: two blocks suffice")
	v.open("CoordGen §1: delay of end-to-end latency by switching, Qwen2.5-1.5B", "%", 94.9, "the text does not say of which request, nor whether of its prefill or all of it")
	v.within("CoordGen §1: prefill of a context of 1500 tokens", "s", 1, 2, prefill(elite, q, summaryPrompt, prefillChunk).Time().Seconds(),
		"published: 2 s for 1 to 2 thousand")
	v.fitted("CoordGen §2.1: prefill on the OnePlus 13, more than", "tokens/s", 1000,
		prefillChunk/pass(elite, q, prefillChunk, prefillChunk, false).Time().Seconds(), "")
	reading := msOf(prefill(elite, q, summaryPrompt, prefillChunk).Time())
	pe := Problem(elite, q, ablationBlocks, (summaryPrompt+prefillChunk-1)/prefillChunk, prefillChunk, decodeChunk)
	lag := msOf(pe.Simulate(pe.Plan(plan.Synchronous)).Total() - pe.Prefill())
	decoding := summaryTokens * step(elite, 1)
	v.within("sd.npu §5.4, Figure 14: share of decoding, mllm(NPU), OnePlus 13", "%", 67, 74, 100*decoding/(decoding+reading+lag), "prompt and answer as above")
	v.within("sd.npu §5.4, Figure 14: decoding by sd.npu, times faster", "×", 5.25, 8.15, step(elite, 1)/(step(elite, decodeChunk)/4.21), "three models were published, Qwen2.5-1.5B is predicted with its accept length 4.21")
	onCPU := summaryTokens * msOf(elite.CPUProducts(1, q.Parameters(), q.Parameters()))
	v.is("CoordGen §2.1: share of decoding in summaries, decoding on the CPU, OnePlus 13", "%", 87.2, 100*onCPU/(onCPU+reading), "INT8 weights; prompt and answer as above")
	v.is("CoordGen §2.1: the same for question answering", "%", 90.2, 100*onCPU/(onCPU+reading), "the same lengths: none were given")
	v.is("CoordGen §1: share of decoding over all tasks", "%", 73.5, 100*onCPU/(onCPU+reading), "the same lengths: none were given")

	request := func(c sim.Costs) float64 { // sd.npu answers
		sum := prefill(c, q, summaryPrompt, prefillChunk)
		sum.CPU += summaryPrompt * 2 * time.Millisecond // calibration: 2 ms a token (§5.4)
		one := pass(c, q, decodeChunk, summaryPrompt, true)
		steps := summaryTokens / 4.21
		sum.NPU += time.Duration(steps * float64(one.NPU))
		sum.CPU += time.Duration(steps * float64(one.CPU+3*time.Millisecond)) // drafting: 3 ms (§5.4)
		return sum.Joules(c)
	}
	v.fitted("sd.npu §5.2: energy of a request, Redmi K60 Pro", "J", 56.52, request(gen2), "the text names the OnePlus 13 as the hungrier, but the smaller number first; taken in the order of the devices in the sentence's end")
	v.is("sd.npu §5.2: energy of a request, OnePlus 13", "J", 53.85, request(elite), "")
	v.is("sd.npu §5.3: peak memory of mllm(NPU), Qwen2.5-1.5B", "GB", 3.05, (q.Parameters()+4*q.HeadParameters()/1)/1e9,
		"INT8 products and an embedding in 32 bits; activations and the CPU's copies are not modelled")
}

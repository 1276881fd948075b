package phone

import (
	"math"
	"slices"
	"strings"
	"time"

	"tandem/lab/report"
	"tandem/npu"
	"tandem/npu/phone/sim"
)

// FigureKind says what a published figure can tell about the simulator.
type FigureKind string

// Kinds of figures. Only the first counts as a prediction with an error.
const (
	Compared FigureKind = "compared" // predicted, and nothing was fitted to it
	FittedTo FigureKind = "fitted"   // a parameter was chosen so that it holds
	Bound    FigureKind = "bound"    // published on one side only: it holds or not
	Given    FigureKind = "given"    // follows from the simulator's rules or parameters, whatever else is wrong
	Repeated FigureKind = "repeated" // the same number as another, or its inverse
	Measured FigureKind = "measured" // by drafting on this machine with another model, not predicted by the simulator
	Open     FigureKind = "open"     // not predicted, see Note
)

// PublishedFigure is a published number with the simulator's prediction.
type PublishedFigure struct {
	Figure    string        `json:"figure"` // where it is published and what it is; begins with its source
	Unit      string        `json:"unit"`
	Kind      FigureKind    `json:"kind"`
	Published report.Number `json:"published"`              // null: not in the texts at hand
	Upper     report.Number `json:"published_to,omitzero"`  // the upper end, where a range was published
	Side      string        `json:"published_on,omitempty"` // of bounds: "above" or "below" Published
	Predicted report.Number `json:"predicted"`              // null: not predicted, see Note
	Fitted    bool          `json:"fitted"`                 // Kind is "fitted"
	Error     report.Number `json:"error,omitzero"`         // relative, 0 inside a range; of the kinds compared, repeated and measured
	Holds     *bool         `json:"holds,omitempty"`        // of bounds
	Note      string        `json:"note,omitempty"`
}

// Assumptions where the papers do not state the lengths of a request.
const (
	summaryPrompt  = 1500 // tokens: CoordGen §1 says 1 to 2 thousand
	prefillChunk   = 256  // CoordGen §3.2
	decodeChunk    = 32   // CoordGen §3.2
	ablationBlocks = 6    // CoordGen §3.2, Figure 8; sd.npu §5.1 uses 2
	summaryTokens  = 100
)

// validator collects figures. It keeps the first error.
type validator struct {
	files   sim.Files
	lags    map[lagOf]float64
	figures []PublishedFigure
	err     error
}

// addAll adds figures until the first error.
func (v *validator) addAll(groups ...func()) error {
	for _, add := range groups {
		if add(); v.err != nil {
			return v.err
		}
	}
	return nil
}

func (v *validator) costs(name string) sim.Costs {
	c, err := v.files.Find(name)
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

// add completes a figure and appends it.
func (v *validator) add(f PublishedFigure) {
	switch f.Kind {
	case Compared, Repeated, Measured:
		f.Error = f.relativeError()
	case Bound:
		holds := f.Predicted.Value > f.Published.Value == (f.Side == "above")
		f.Holds = &holds
	}
	f.Fitted = f.Kind == FittedTo
	v.figures = append(v.figures, f)
}

// relativeError is the prediction's relative error, 0 within a range.
func (f PublishedFigure) relativeError() report.Number {
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
	return report.Is(math.Round(e*1e4) / 1e4)
}

// addOne adds a figure of the given kind with one published number and a prediction.
func (v *validator) addOne(kind FigureKind, figure, unit string, published, predicted float64, note string) {
	v.add(PublishedFigure{Figure: figure, Unit: unit, Kind: kind, Published: report.Is(published), Predicted: report.Is(predicted), Note: note})
}

// predicted adds a figure that the simulator predicts.
func (v *validator) predicted(figure, unit string, published, predicted float64, note string) {
	v.addOne(Compared, figure, unit, published, predicted, note)
}

// fitted adds a figure that a parameter was fitted to.
func (v *validator) fitted(figure, unit string, published, predicted float64, note string) {
	v.addOne(FittedTo, figure, unit, published, predicted, note)
}

// repeated adds a figure that repeats another.
func (v *validator) repeated(figure, unit string, published, predicted float64, note string) {
	v.addOne(Repeated, figure, unit, published, predicted, note)
}

// predictedRange adds a figure for which a range was published.
func (v *validator) predictedRange(figure, unit string, low, high, predicted float64, note string) {
	v.add(PublishedFigure{Figure: figure, Unit: unit, Kind: Compared, Published: report.Is(low), Upper: report.Is(high), Predicted: report.Is(predicted), Note: note})
}

// predictedEnds adds the lowest and the highest of a range over several phones, models or tasks as two figures. One figure would say
// little: a wide range holds almost any prediction.
func (v *validator) predictedEnds(figure, unit string, low, high float64, predicted []float64, note string) {
	if v.err == nil && len(predicted) > 0 {
		v.predicted(figure+", lowest", unit, low, slices.Min(predicted), note)
		v.predicted(figure+", highest", unit, high, slices.Max(predicted), note)
	}
}

// bound adds a figure that is published as above or below a number.
func (v *validator) bound(figure, unit, side string, published, predicted float64, note string) {
	v.add(PublishedFigure{Figure: figure, Unit: unit, Kind: Bound, Side: side, Published: report.Is(published), Predicted: report.Is(predicted), Note: note})
}

// open adds a figure without a prediction.
func (v *validator) open(figure, unit string, published float64, why string) {
	v.add(PublishedFigure{Figure: figure, Unit: unit, Kind: Open, Published: report.Is(published), Note: why})
}

// notAtHand adds figures whose numbers are not in the texts at hand.
func (v *validator) notAtHand(figures string) {
	v.add(PublishedFigure{Figure: figures, Kind: Open, Note: "their numbers are not in the text at hand"})
}

// msOf returns a duration in milliseconds.
func msOf(d time.Duration) float64 { return d.Seconds() * 1000 }

// prefillPass is the cost of one run of the whole model on rows of a prompt, with the logits of the last.
func prefillPass(c sim.Costs, s sim.Shape, rows, context int) sim.Cost {
	return passOf(c, oneLayer(s).Blocks(rows, 1), s.Layers, context)
}

// decodePass is the cost of one run of the whole model on rows, with the logits of each.
func decodePass(c sim.Costs, s sim.Shape, rows, context int) sim.Cost {
	return passOf(c, oneLayer(s).Blocks(rows, rows), s.Layers, context)
}

func oneLayer(s sim.Shape) sim.Shape {
	s.Layers = 1
	return s
}

// passOf is the cost of a pass through the first block as many times as there are layers, which all cost the same, and through
// the second.
func passOf(c sim.Costs, blocks []*npu.Graph, layers, context int) sim.Cost {
	layer := c.Graph(blocks[0], context)
	n := time.Duration(layers)
	return sim.Cost{NPU: n * layer.NPU, CPU: n * layer.CPU, Weights: int64(layers) * layer.Weights}.Plus(c.Graph(blocks[1], context))
}

// prefill is the cost of reading a prompt in chunks.
func prefill(c sim.Costs, s sim.Shape, prompt, chunk int) (sum sim.Cost) {
	for at := 0; at < prompt; at += chunk {
		sum = sum.Plus(prefillPass(c, s, chunk, min(at+chunk, prompt)))
	}
	return sum
}

// validate compares the simulator with published figures: the numbers on time, energy, memory and drafts in the texts of
// CoordGen, sd.npu, Samsung's paper and llada.cpp, and those of some engines. Figures without a prediction are listed with the
// reason. Accuracies, and numbers that abstracts repeat, are left out. measured, if not nil, is compared with the papers'
// accept lengths.
func validate(files sim.Files, measured *AcceptLengths) ([]PublishedFigure, error) {
	v := validator{files: files}
	if err := v.addAll(v.ablation, v.draftLengths, v.switching, v.decodingShares, v.speedups, v.energy, v.peakMemory,
		v.samsung, v.samsungScaled, v.llada, v.engines, v.mnn); err != nil {
		return nil, err
	}
	v.drafting(measured)
	return v.figures, v.err
}

// Sources are the publications. A figure's name begins with its source.
var Sources = []string{"sd.npu", "CoordGen", "Samsung", "llada.cpp", "llama.cpp", "PowerServe", "ExecuTorch", "MNN"}

// SourceErrors sums up the figures of one source.
type SourceErrors struct {
	Source   string        `json:"source"`   // or "all"
	Compared int           `json:"compared"` // figures that the next four fields describe
	Within10 int           `json:"within_10_percent"`
	Within25 int           `json:"within_25_percent"`
	Median   report.Number `json:"median_error"`
	Worst    report.Number `json:"worst_error"`

	Fitted   int `json:"fitted"`
	Bounds   int `json:"bounds"`
	Broken   int `json:"bounds_broken"` // of these, how many the simulator contradicts
	Given    int `json:"given"`
	Repeated int `json:"repeated"`
	Measured int `json:"measured"`
	Open     int `json:"open"`
}

// summarise sums up the errors by source. The last is for all sources.
func summarise(figures []PublishedFigure) (sums []SourceErrors) {
	for _, source := range Sources {
		sums = append(sums, summary(source, figures, func(f PublishedFigure) bool { return strings.HasPrefix(f.Figure, source) }))
	}
	return append(sums, summary("all", figures, func(PublishedFigure) bool { return true }))
}

func summary(source string, figures []PublishedFigure, counts func(PublishedFigure) bool) SourceErrors {
	s := SourceErrors{Source: source}
	var errs []float64
	for _, f := range figures {
		if !counts(f) {
			continue
		}
		switch f.Kind {
		case Compared:
			errs = append(errs, math.Abs(f.Error.Value))
		case FittedTo:
			s.Fitted++
		case Bound:
			s.Bounds++
			if !*f.Holds {
				s.Broken++
			}
		case Given:
			s.Given++
		case Repeated:
			s.Repeated++
		case Measured:
			s.Measured++
		case Open:
			s.Open++
		}
	}
	for _, e := range errs {
		if e <= .1 {
			s.Within10++
		}
		if e <= .25 {
			s.Within25++
		}
	}
	if s.Compared = len(errs); s.Compared > 0 {
		s.Median, s.Worst = report.Is(report.Quantile(errs, .5)), report.Is(report.Quantile(errs, 1))
	}
	return s
}

package spec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/internal/meter"
	"tandem/lab/chart"
	"tandem/lab/report"
	"tandem/model"
	"tandem/model/sample"
	"tandem/specdec"
)

// Result is what one way of drafting gave on the inputs of one task.
type Result struct {
	Task   string `json:"task"`
	Method string `json:"method"`
	Model  string `json:"model"` // that gives acceptance: it wrote the answers, or reads those of Words
	Words  string `json:"words"` // whose the answers are: see Words
	// Others is the share of a reference's tokens that the model would have said differently.
	Others report.Number `json:"disagreement,omitzero"`
	Inputs int           `json:"inputs"`
	Tokens int           `json:"tokens"` // of all answers
	// AcceptLength, the shares and the drafter's time are those of passes of 32 rows: sd.npu's decoding graph.
	AcceptLength  float64 `json:"accept_length"` // tokens a pass
	Valid         float64 `json:"valid"`
	Wasted        float64 `json:"wasted"`
	Underutilised float64 `json:"underutilised"`
	DrafterMs     float64 `json:"drafter_ms"` // a pass
	// Ratio is plain decoding's time divided by the time with drafts whose length the costs choose; MinRatio is the worst
	// input's. A pass takes what the cost table says, drafting what it was measured to take.
	Ratio    float64 `json:"ratio"`
	MinRatio float64 `json:"min_ratio"`
	Chosen   float64 `json:"chosen_accept_length"` // with such lengths
	ChosenMs float64 `json:"chosen_drafter_ms"`    // the drafter's time then
	CostsOf  string  `json:"costs_of"`             // the model whose passes the costs are
	// Published is the Ratio of a peer as its authors run it, with drafts of one fixed length: the best length for the task, in
	// passes of PublishedRows. The peer's other figures use this project's choice of lengths.
	Published     report.Number `json:"published_ratio,omitzero"`
	PublishedRows int           `json:"published_rows,omitempty"`
	// OwnRatio is Ratio by the passes of Model itself, where CostsOf is another; else it is missing.
	OwnRatio report.Number `json:"own_ratio,omitzero"`
	// Prefill is the prompts' time divided by plain decoding's.
	Prefill   float64       `json:"prefill_ratio"`
	Cases     specdec.Cases `json:"reuse_cases"`
	Simulated bool          `json:"simulated,omitempty"`
}

// Methods are the ways of drafting that Experiment knows, in the order of its results.
var Methods = []string{"plain", "pld", "pld+calibration", "pld+reuse", "pld+both", "sam", "sam+calibration", "sam+reuse", "sam+both", "auto", "all", "auto+history", "all+history", "ngram-simple (llama.cpp)", "ngram-map-k (llama.cpp)", "ngram-cache (llama.cpp)", "eagle (simulated)"}

// Blocks is the method that drafts with Experiment.Denoiser.
const Blocks = "blocks"

// EagleLength is the accept length that CoordGen §4.1 assumes for EAGLE. EagleDepth is how many passes its drafter takes for a draft,
// one after the other: the depth of EAGLE-2's trees (Li et al. 2024). CoordGen does not say what it counted.
const (
	EagleLength = 5.5
	EagleDepth  = 6
)

// Input is a prompt.
type Input struct {
	Tokens []tandem.Token
	Cut    bool           // it was longer than the context allows
	Said   []tandem.Token // the answer, if its words are not the model's own (see Words)
}

// Experiment measures ways of drafting on the inputs of a task.
type Experiment struct {
	Model           *model.Model
	Name            string         // of the model, for the results
	Costs           specdec.Costs  // of a pass, in seconds
	CostsOf         string         // the model that they were measured with
	Own             specdec.Costs  // of the model's own passes, where Costs are another's; nil for none
	Eagle           float64        // what a pass of the simulated EAGLE's drafter takes, as a share of a pass of one row (EagleShare)
	Forecast        [][]float32    // embeddings, for ForecastMethods
	ForecastAdapter *model.Adapter // of their rows
	Denoiser        *model.Model   // a diffusion model of the same vocabulary, for Blocks; nil for none
	History         string         // folder for histories of earlier answers, which "auto+history" and "all+history" use
	MaxTokens       int
	Rows            int // of a pass [32]
	Sampling        sample.Params
	Words           Words // of the answers; a reference must be there
}

// Replayed returns the inputs with the answers that Words asks for, and the share of the references' tokens for which the model
// would have chosen another token.
func (s Experiment) Replayed(ctx context.Context, inputs []Input) (out []Input, share report.Number, err error) {
	others, all := 0, 0
	for i, in := range inputs {
		in.Said = in.Said[:min(len(in.Said), s.MaxTokens)]
		if s.Words.Reference && len(in.Said) == 0 {
			continue // nobody wrote one
		}
		in, n, err := s.Words.replay(ctx, s.Model, in, uint64(i))
		if err != nil {
			return nil, share, err
		}
		out, others, all = append(out, in), others+n, all+len(in.Said)
	}
	if len(out) == 0 {
		return nil, share, errors.New("no input has a reference: leave out --words")
	}
	if s.Words.Reference {
		share = report.Is(float64(others) / float64(all))
	}
	return out, share, nil
}

// checkDenoiser reports whether the denoiser's blocks can be drafts.
func (s Experiment) checkDenoiser() error {
	switch d := s.Denoiser; {
	case d == nil:
		return fmt.Errorf("method %s: no diffusion model is given", Blocks)
	case !d.Config().Diffusion:
		return fmt.Errorf("method %s: %s is not a diffusion model", Blocks, d.Config().Name)
	case d.Tokenizer().Fingerprint() != s.Model.Tokenizer().Fingerprint():
		return fmt.Errorf("method %s: %s has another vocabulary than %s", Blocks, d.Config().Name, s.Model.Config().Name)
	}
	return nil
}

// EagleShare returns the weights of EAGLE's drafter, one layer and the head (CoordGen §4.1), as a share of the model's
// weights. Decoding time is proportional to the weights that are read.
func EagleShare(c model.Config) float64 {
	layer, head := products(c)
	return float64(layer+head) / float64(ModelWeights(c))
}

// ModelWeights returns the number of weights that a model's products read: all but norms, and without the embedding if
// the head is a separate matrix.
func ModelWeights(c model.Config) int {
	layer, head := products(c)
	return c.Layers*layer + head
}

// products are the numbers of weights in the products of a layer and of the head.
func products(c model.Config) (layer, head int) {
	return c.Dim*(2*c.Heads+2*c.KVHeads)*c.HeadDim + 3*c.Dim*c.FF, c.Dim * c.Vocab
}

// methodRun collects what one method does over the inputs.
type methodRun struct {
	name    string
	prefill time.Duration
	runs    []*costedRun // indexed by fixedRows, byCosts, byOwnCosts
	lengths []*costedRun // of a peer, by publishedRows
}

// publishedRows are the rows of a peer's passes as its authors run it, of which the best counts.
var publishedRows = []int{2, 4, 6, 8, 12, 16, 24, 32}

// published are the methods of others whose drafts have one length.
func published(method string) bool {
	return method == "pld" || method == "sam" || strings.Contains(method, "llama.cpp")
}

// best returns a peer's run of the best length.
func (m *methodRun) best() *costedRun {
	return slices.MaxFunc(m.lengths, func(a, b *costedRun) int { return cmp.Compare(a.ratio(), b.ratio()) })
}

// costedRun collects one method's answers with one way to choose the length of drafts.
type costedRun struct {
	costs      specdec.Costs // of passes; nil for none
	rows       int           // of a pass at most
	chosen     bool          // the costs choose how many
	acceptance specdec.Acceptance
	history    *specdec.History
	stats      specdec.Stats
	plain      float64 // seconds by the costs
	spent      float64
	worst      float64
}

// ratio is plain decoding's time divided by the method's.
func (r *costedRun) ratio() float64 { return r.plain / r.spent }

// The ways to choose the length of drafts.
const (
	fixedRows  = iota // passes of all rows
	byCosts           // Experiment.Costs
	byOwnCosts        // Experiment.Own, if there are any
)

// threadTime returns the clock of this goroutine's thread, so that other programs do not count as drafting; nil if there is none.
// Reading it takes longer than some drafts do, so the clock leaves its own readings out.
func threadTime() func() time.Duration {
	if _, ok := meter.ThreadTime(); !ok {
		return nil
	}
	gaps := make([]time.Duration, 101)
	for i := range gaps {
		from, _ := meter.ThreadTime()
		to, _ := meter.ThreadTime()
		gaps[i] = to - from
	}
	slices.Sort(gaps)
	reading, excluded, last := gaps[len(gaps)/2], time.Duration(0), time.Duration(0)
	return func() time.Duration {
		t, _ := meter.ThreadTime()
		excluded += min(reading, t-excluded-last) // it never goes back
		last = t - excluded
		return last
	}
}

// newRun prepares a method.
func (s Experiment) newRun(task, name string) (*methodRun, error) {
	m := &methodRun{name: name}
	choosers := []specdec.Costs{fixedRows: nil, byCosts: s.Costs}
	if s.Own != nil {
		choosers = append(choosers, s.Own)
	}
	if published(name) {
		for _, rows := range publishedRows {
			m.lengths = append(m.lengths, &costedRun{costs: s.Costs, rows: rows, worst: math.Inf(1)})
		}
	}
	for i, costs := range choosers {
		r := &costedRun{costs: costs, rows: s.Rows, chosen: costs != nil, worst: math.Inf(1)}
		if sets[name]&specdec.WithHistory != 0 {
			h, err := specdec.OpenHistory(s.History, fmt.Sprintf("%s-%s-%d", task, strings.ReplaceAll(name, "+", "-"), i), specdec.DefaultHistory)
			if err != nil {
				return nil, err
			}
			r.history = h
		}
		m.runs = append(m.runs, r)
	}
	return m, nil
}

// Run measures the methods on the inputs, one after the other. It compares every answer with plain decoding's: a
// difference is an error.
func (s Experiment) Run(ctx context.Context, task string, inputs []Input, methods []string, progress report.Progress) ([]Result, error) {
	if slices.Contains(methods, Blocks) {
		if err := s.checkDenoiser(); err != nil {
			return nil, err
		}
	}
	runs := make([]*methodRun, len(methods))
	for i, name := range methods {
		r, err := s.newRun(task, name)
		if err != nil {
			return nil, err
		}
		runs[i] = r
	}
	inputs, others, err := s.Replayed(ctx, inputs)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread() // for threadTime
	defer runtime.UnlockOSThread()
	var plainPrefill time.Duration
	tokens := 0
	for i, in := range inputs {
		// Once to warm up, twice for the prefill's time.
		want, stats, err := s.generate(ctx, in, nil)
		if err != nil {
			return nil, err
		}
		_, again, err := s.generate(ctx, in, nil)
		if err != nil {
			return nil, err
		}
		plainPrefill += min(stats.Prefill, again.Prefill)
		tokens += len(want)
		for j, r := range runs {
			if err := r.input(ctx, s, in, want); err != nil {
				return nil, fmt.Errorf("%s, input %d, %s: %w", task, i+1, r.name, err)
			}
			if progress != nil {
				progress(i*len(runs)+j+1, len(inputs)*len(runs))
			}
		}
	}
	all := Result{Task: task, Model: s.Name, Words: s.Words.String(), Others: others, Inputs: len(inputs), Tokens: tokens, CostsOf: s.CostsOf}
	var results []Result
	for _, r := range runs {
		results = append(results, r.result(all, plainPrefill))
	}
	return results, nil
}

// result returns a method's result. all holds what the results of all methods have in common, and plainPrefill is the time of
// the prompts with plain decoding.
func (m *methodRun) result(all Result, plainPrefill time.Duration) Result {
	r, fixed, chosen := all, m.runs[fixedRows].stats, m.runs[byCosts]
	r.Method, r.Simulated = m.name, strings.Contains(m.name, "simulated")
	r.AcceptLength, r.DrafterMs, r.Cases = fixed.AcceptLength(), fixed.DraftingPerStep().Seconds()*1e3, fixed.Cases
	r.Valid, r.Wasted, r.Underutilised = fixed.Shares()
	r.Ratio, r.MinRatio = chosen.ratio(), chosen.worst
	r.Chosen, r.ChosenMs = chosen.stats.AcceptLength(), chosen.stats.DraftingPerStep().Seconds()*1e3
	if len(m.runs) > byOwnCosts {
		r.OwnRatio = report.Is(m.runs[byOwnCosts].ratio())
	}
	if len(m.lengths) > 0 {
		best := m.best()
		r.Published, r.PublishedRows = report.Is(best.ratio()), best.rows
	}
	r.Prefill = m.prefill.Seconds() / plainPrefill.Seconds()
	return r
}

func (s Experiment) generate(ctx context.Context, in Input, spec sample.Speculator) (out []tandem.Token, stats sample.Stats, err error) {
	params, most := s.Sampling, s.MaxTokens
	if len(in.Said) > 0 {
		params.Replay, most = in.Said, min(most, len(in.Said))
	}
	stats, err = sample.GenerateWith(ctx, s.Model, in.Tokens, params, most, spec, func(t tandem.Token) error {
		out = append(out, t)
		return nil
	})
	return out, stats, err
}

// sets are the methods that are sets of drafters, as edge names them, also with a history of earlier answers.
var sets = map[string]specdec.Set{"auto": specdec.Default, "all": specdec.All, "auto+history": specdec.Default | specdec.WithHistory, "all+history": specdec.All | specdec.WithHistory,
	"forecast": specdec.WithForecast, "auto+forecast": specdec.Default | specdec.WithForecast}

// ForecastMethods are those that need Experiment.Forecast: forecast embeddings by themselves, and beside the default drafters.
var ForecastMethods = []string{"forecast", "auto+forecast"}

// drafters makes a method's drafters for one answer.
func (r *methodRun) drafters(s Experiment, history *specdec.History, truth []tandem.Token) (d []specdec.Drafter, c *specdec.Calibration, f *specdec.Forecast) {
	if set := sets[r.name]; set != 0 {
		return set.Drafters(specdec.Resources{History: history, Embeddings: s.Forecast, Adapter: s.ForecastAdapter})
	}
	base, extra, _ := strings.Cut(r.name, "+")
	switch base {
	case Blocks:
		d = append(d, &blockDrafts{m: s.Denoiser})
	case "pld":
		d = append(d, &specdec.Lookup{})
	case "sam":
		d = append(d, &specdec.SAM{})
	case "ngram-simple (llama.cpp)":
		d = append(d, &ngramSimple{})
	case "ngram-map-k (llama.cpp)":
		d = append(d, &ngramMap{})
	case "ngram-cache (llama.cpp)":
		d = append(d, &ngramCache{})
	case "eagle (simulated)":
		d = append(d, specdec.NewEagle(truth, EagleLength, EagleDepth))
	}
	if extra == "calibration" || extra == "both" {
		c = &specdec.Calibration{}
		d = append(d, c)
	}
	if extra == "reuse" || extra == "both" {
		d = append(d, &specdec.Reuse{})
	}
	return d, c, nil
}

// input runs the method on one input: with passes of all rows, then with lengths that costs choose, then with each fixed length.
func (r *methodRun) input(ctx context.Context, s Experiment, in Input, want []tandem.Token) error {
	for i, run := range slices.Concat(r.runs, r.lengths) {
		drafters, calibration, forecast := r.drafters(s, run.history, want)
		spec := &specdec.Speculator{Drafters: drafters, Calibration: calibration, Forecast: forecast, Acceptance: &run.acceptance, Rows: run.rows, Clock: threadTime()}
		account := &passes{Speculator: spec, costs: run.costs}
		if run.chosen {
			spec.Chooser = &specdec.Chooser{Costs: run.costs}
		}
		got, stats, err := s.generate(ctx, in, account)
		if err != nil {
			return err
		}
		if !slices.Equal(got, want) {
			return errors.New("the answer differs from plain decoding's")
		}
		if len(drafters) > 0 {
			if b, ok := drafters[0].(*blockDrafts); ok && b.err != nil {
				return b.err
			}
		}
		if i == fixedRows {
			r.prefill += stats.Prefill
		}
		run.add(spec.Stats(), account.spent, r.name, s.Eagle)
		if run.history != nil {
			if err := run.history.Add("answer", got, time.Now()); err != nil {
				return err
			}
		}
	}
	return nil
}

// add counts an answer whose passes took spent seconds.
func (r *costedRun) add(st specdec.Stats, spent float64, method string, eagle float64) {
	r.stats = r.stats.Plus(st)
	if r.costs == nil || st.Tokens == 0 {
		return
	}
	switch {
	case method == "plain": // drafts nothing
	case strings.Contains(method, "simulated"):
		spent += float64(EagleDepth*st.Passes) * r.costs.At(1) * eagle
	default:
		spent += st.Drafting.Seconds()
	}
	plain := float64(st.Tokens) * r.costs.At(1)
	r.plain, r.spent, r.worst = r.plain+plain, r.spent+spent, min(r.worst, plain/spent)
}

// passes adds up what passes cost.
type passes struct {
	*specdec.Speculator
	costs specdec.Costs
	spent float64
}

func (p *passes) Settle(v sample.Verdict) {
	if p.costs != nil {
		p.spent += p.costs.At(len(v.Logits))
	}
	p.Speculator.Settle(v)
}

// Figure draws the accept lengths, and says in its note which model they are of.
func Figure(results []Result) report.Figure {
	bars := chart.Bars{Title: "Accept length: tokens that one pass of 32 rows gives", X: "tokens a pass",
		Note: "EAGLE is simulated."}
	if len(results) > 0 && results[0].Model != "" {
		bars.Note = "Answers by " + results[0].Model + ", equal to plain decoding's. " + bars.Note
	}
	for _, r := range results {
		if len(bars.Groups) == 0 || bars.Groups[len(bars.Groups)-1].Name != r.Task {
			bars.Groups = append(bars.Groups, chart.Group{Name: r.Task})
		}
		g := &bars.Groups[len(bars.Groups)-1]
		color := 0
		switch {
		case strings.HasPrefix(r.Method, "sam"):
			color = 1
		case r.Method == "all":
			color = 2
		case r.Simulated:
			color = 3
		}
		g.Bars = append(g.Bars, chart.Bar{Name: r.Method, Value: r.AcceptLength, Color: color})
	}
	return report.Figure{Name: "spec", SVG: bars.SVG()}
}

// Findings names, for each task, the method with the best ratio where that is not "all", by the costs and by the
// model's own.
func Findings(results []Result) (out []string) {
	var tasks []string
	for _, r := range results {
		if !slices.Contains(tasks, r.Task) {
			tasks = append(tasks, r.Task)
		}
	}
	for _, task := range tasks {
		of := slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return r.Task != task || r.Simulated })
		if len(of) == 0 {
			continue
		}
		out = append(out, beaten(of, func(r Result) report.Number { return report.Is(r.Ratio) }, of[0].CostsOf)...)
		out = append(out, beaten(of, func(r Result) report.Number { return r.OwnRatio }, of[0].Model)...)
	}
	return out
}

// beaten says which method beats "all", if one does.
func beaten(results []Result, ratio func(Result) report.Number, whose string) []string {
	at := slices.IndexFunc(results, func(r Result) bool { return r.Method == "all" })
	if at < 0 || !ratio(results[at]).Known {
		return nil
	}
	all := results[at]
	best := slices.MaxFunc(results, func(a, b Result) int { return cmp.Compare(ratio(a).Value, ratio(b).Value) })
	if ratio(best).Value <= ratio(all).Value {
		return nil
	}
	return []string{fmt.Sprintf("%s, by the passes of %s: all (%.2f) is slower than %s (%.2f), %d inputs.", all.Task, whose, ratio(all).Value, best.Method, ratio(best).Value, all.Inputs)}
}

package phone

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/lab/report"
	"tandem/lab/spec"
	"tandem/model"
	"tandem/model/sample"
	"tandem/npu"
	"tandem/npu/phone"
	"tandem/specdec"
)

// recordedTask is a task's answers, by input, and what was drafted for them in each way.
type recordedTask struct {
	answers []map[string]*recordedAnswer // by draftings and rows, see key
	layers  int                          // of the model
	others  report.Number
}

// recordedAnswer is an answer with the trees that its passes verified.
type recordedAnswer struct {
	prompt      []tandem.Token // on a phone
	read        int            // tokens of it that the model read
	said        []tandem.Token // with the token that ends the text, if the model ended it
	most        int            // tokens that it could have had
	trees       []draftTree
	stats       specdec.Stats
	calibrates  bool
	calibrating time.Duration // measured, without products
	perPass     [decodeChunk + 1]float64
}

// draftTree is what one pass verified after the last token.
type draftTree struct {
	tokens  []tandem.Token
	parents []int
}

// draftings are the ways to draft, and the rows of the passes that are recorded. The first drafts nothing.
var draftings = []struct {
	name string
	rows []int
}{{"plain", []int{1}}, {"sam", []int{decodeChunk}}, {"pld", []int{decodeChunk}}, {"eagle", []int{decodeChunk}}, {"all", []int{decodeChunk}},
	{"all+history", []int{decodeChunk}}, {"auto", []int{8, decodeChunk}}, {"auto+history", []int{8, decodeChunk}}}

func draftKey(name string, rows int) string { return fmt.Sprintf("%s/%d", name, rows) }

// draftingOf names the drafting of each variant with a fixed graph.
var draftingOf = map[string]string{"NPU": "plain/1", "+G": "plain/1", "+SD": "sam/32", "+G+SD": "sam/32", "PLD": "pld/32", "EAGLE": "eagle/32", "all": "all/32", "all+history": "all+history/32"}

// choosingDrafts names the drafting of each variant that chooses its graph by itself.
var choosingDrafts = map[string]string{"ours": "auto", "ours+history": "auto+history"}

// write writes a task's answers in every way to draft.
func (x Executed) write(ctx context.Context, task ExecutedTask) (w recordedTask, err error) {
	m, _, err := x.Open(phone.Options{})
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	w.layers = m.Config().Layers
	inputs, others, err := spec.Experiment{Model: m, Words: task.Words, MaxTokens: x.MaxTokens}.Replayed(ctx, task.Inputs)
	if err != nil {
		return w, err
	}
	w.others = others
	w.answers = make([]map[string]*recordedAnswer, len(inputs))
	for i := range w.answers {
		w.answers[i] = map[string]*recordedAnswer{}
	}
	for _, d := range draftings {
		for _, rows := range d.rows {
			key := draftKey(d.name, rows)
			h, err := specdec.OpenHistory(x.History, fmt.Sprintf("%s-%d-%s-%v-%.0f", strings.ReplaceAll(d.name, "+", "-"), rows, task.Task, task.Words.Reference, 100*task.Words.Disagree), specdec.DefaultHistory)
			if err != nil {
				return w, err
			}
			rate := &specdec.Acceptance{}
			for i, in := range inputs {
				a, err := recordAnswer(ctx, m, in, drafter(d.name, rows, h, w.answers[i]["plain/1"], rate), x.MaxTokens)
				if err != nil {
					return w, fmt.Errorf("%s, input %d: %w", key, i+1, err)
				}
				if plain := w.answers[i]["plain/1"]; plain != nil && !slices.Equal(a.said, plain.said) {
					return w, fmt.Errorf("%s, input %d: the answer differs from plain decoding's", key, i+1)
				}
				if err := h.Add("answer", a.said, time.Now()); err != nil {
					return w, err
				}
				a.lengthen(inputs, i, x.Prompt)
				w.answers[i][key] = a
			}
		}
	}
	return w, nil
}

// staticPass is the time of a pass that a Chooser knows when drafts are recorded: the same for all rows, as of one graph.
const staticPass = .02 // seconds

// drafter returns what drafts in one of the ways; nil for plain decoding. The suffix automaton by itself also reads earlier
// answers, as published. Our default set has a Chooser, as live answers have.
func drafter(name string, rows int, h *specdec.History, plain *recordedAnswer, rate *specdec.Acceptance) *specdec.Speculator {
	s := &specdec.Speculator{Acceptance: rate, Rows: rows}
	switch name {
	case "plain":
		return nil
	case "sam":
		s.Drafters = []specdec.Drafter{&specdec.SAM{History: h}}
	case "pld":
		s.Drafters = []specdec.Drafter{&specdec.Lookup{}}
	case "eagle":
		s.Drafters = []specdec.Drafter{specdec.NewEagle(plain.said, spec.EagleLength, spec.EagleDepth)}
	default:
		set := specdec.All
		if strings.HasPrefix(name, "auto") {
			set = specdec.Default
			s.Chooser = &specdec.Chooser{Costs: slices.Repeat(specdec.Costs{staticPass}, rows)}
		}
		if strings.HasSuffix(name, "+history") {
			set |= specdec.WithHistory
		}
		s.Drafters, s.Calibration, _ = set.Drafters(specdec.Resources{History: h})
	}
	return s
}

// recordAnswer writes an answer and records its trees.
func recordAnswer(ctx context.Context, m *model.Model, in spec.Input, s *specdec.Speculator, most int) (*recordedAnswer, error) {
	if len(in.Said) > 0 {
		most = min(most, len(in.Said))
	}
	a, params := &recordedAnswer{prompt: in.Tokens, read: len(in.Tokens), most: most}, sample.Params{Replay: in.Said}
	var spec sample.Speculator
	if s != nil {
		spec = &recordingDrafter{s, a}
		a.calibrates = s.Calibration != nil
		for rows := range a.perPass {
			a.perPass[rows] = s.Acceptance.PerPass(rows)
		}
	}
	stats, err := sample.GenerateWith(ctx, m, in.Tokens, params, most, spec, func(t tandem.Token) error {
		a.said = append(a.said, t)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(a.said) == 0 {
		return nil, errors.New("the model says nothing")
	}
	if stats.Reason == sample.EndOfText {
		a.said = append(a.said, m.Tokenizer().EOGs()[0])
	}
	if a.stats = (specdec.Stats{Passes: len(a.said) - 1, Tokens: len(a.said) - 1, Valid: len(a.said) - 1}); s != nil {
		a.stats = s.Stats()
	}
	return a, nil
}

// lengthen makes the prompt of input i at least n tokens long with the inputs after it, and then those from the first on. The
// part of calibration that was measured grows with it.
func (a *recordedAnswer) lengthen(inputs []spec.Input, i, n int) {
	if len(a.prompt) >= n {
		return
	}
	a.prompt = slices.Clone(a.prompt)
	for next := i + 1; len(a.prompt) < n; next++ {
		more := inputs[next%len(inputs)].Tokens
		a.prompt = append(a.prompt, more[:min(len(more), n-len(a.prompt))]...)
	}
	a.calibrating = a.calibrating * time.Duration(n) / time.Duration(a.read)
}

// recordingDrafter records what a Speculator drafts.
type recordingDrafter struct {
	*specdec.Speculator
	a *recordedAnswer
}

// Begin implements sample.Speculator.
func (r *recordingDrafter) Begin(m *model.Model, prompt *model.Input) error {
	err := r.Speculator.Begin(m, prompt)
	if inner := prompt.OnScores; inner != nil {
		prompt.OnScores = func(i int, scores []float32) {
			began := time.Now()
			inner(i, scores)
			r.a.calibrating += time.Since(began)
		}
	}
	return err
}

// Draft implements sample.Speculator.
func (r *recordingDrafter) Draft(emitted []tandem.Token, limit int) ([]tandem.Token, []int) {
	tokens, parents := r.Speculator.Draft(emitted, limit)
	r.a.trees = append(r.a.trees, draftTree{slices.Clone(tokens), slices.Clone(parents)})
	return tokens, parents
}

// repeatOn lets a phone repeat an answer. A variant without a fixed way to draft chooses its graph by what passes gave before,
// and takes the trees that were recorded for as many rows.
func repeatOn(ctx context.Context, m *model.Model, d *phone.Device, ways map[string]*recordedAnswer, variant string) (r executedRun, err error) {
	began, _ := d.Stats()
	script := &scriptedDrafter{ways: ways, way: draftingOf[variant], chooses: choosingDrafts[variant], device: d}
	plain := ways["plain/1"]
	var spec sample.Speculator
	if script.way != "plain/1" {
		spec = script
	}
	first := true
	_, err = sample.GenerateWith(ctx, m, plain.prompt, sample.Params{Replay: plain.said}, plain.most, spec, func(tandem.Token) error {
		if first {
			read, _ := d.Stats()
			r.prefill, first = read.Sub(began), false
			began = read
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	ended, _ := d.Stats()
	r.decoding, r.recordedAnswer = ended.Sub(began), plain
	if spec != nil && script.answer != nil { // else the first token was the last
		r.recordedAnswer = script.answer
	}
	runs := 0
	for _, g := range r.decoding.Graphs {
		if g.Runs > runs {
			r.graph, runs = g.Size, g.Runs
		}
	}
	return r, nil
}

// scriptedDrafter drafts what was recorded.
type scriptedDrafter struct {
	ways    map[string]*recordedAnswer
	way     string // empty: chosen by the device's graph
	chooses string // then, of which drafters
	device  *phone.Device
	answer  *recordedAnswer
	next    int
}

// Begin implements sample.Speculator.
func (s *scriptedDrafter) Begin(m *model.Model, prompt *model.Input) error {
	a := s.ways[s.way]
	if s.way == "" {
		before := s.ways[draftKey(s.chooses, decodeChunk)].perPass
		prompt.PerPass = func(rows int) float64 { return before[min(rows, decodeChunk)] }
		return nil
	}
	s.answer = a
	prompt.PerPass = func(rows int) float64 { return float64(rows) } // the papers' graph of 32 rows, whatever passes give
	if !a.calibrates {
		return nil
	}
	var c specdec.Calibration
	head, err := m.PartialHead(c.Begin(prompt.Tokens))
	prompt.Head, prompt.OnScores = head, func(int, []float32) {}
	return err
}

// Draft implements sample.Speculator.
func (s *scriptedDrafter) Draft([]tandem.Token, int) ([]tandem.Token, []int) {
	if s.answer == nil {
		if s.answer = s.ways[draftKey(s.chooses, s.device.VerifyRows())]; s.answer == nil {
			s.answer = s.ways["plain/1"]
		}
	}
	if s.next >= len(s.answer.trees) {
		return nil, nil
	}
	t := s.answer.trees[s.next]
	s.next++
	return t.tokens, t.parents
}

// Settle implements sample.Speculator.
func (s *scriptedDrafter) Settle(sample.Verification) {}

// nullDevice is a device that computes nothing. A simulated phone on it makes all decisions of its runtime and charges the
// chip's costs.
type nullDevice struct{}

// Name implements npu.Device.
func (nullDevice) Name() string { return "nothing" }

// Compile implements npu.Device.
func (nullDevice) Compile(g *npu.Graph) (npu.Program, error) { return nullProgram{g}, nil }

// Close implements npu.Device.
func (nullDevice) Close() error { return nil }

// Traits implements npu.Device.
func (nullDevice) Traits() npu.Traits { return npu.Traits{} }

type nullProgram struct{ g *npu.Graph }

// Graph implements npu.Program.
func (p nullProgram) Graph() *npu.Graph { return p.g }

// Run implements npu.Program.
func (nullProgram) Run(npu.Args) error { return nil }

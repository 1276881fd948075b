package specdec

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"tandem"
	"tandem/model"
	"tandem/model/sample"
	"tandem/npu"
)

// A Speculator implements sample.Speculator with a list of drafters. It serves one generation at a time. Acceptance
// carries over to the next.
type Speculator struct {
	Drafters    []Drafter    // a Reuse must be last: it extends what the others propose
	Calibration *Calibration // the one among Drafters, which observes the prefill; may be nil
	Forecast    *Forecast    // the one among Drafters, whose rows join the pass; may be nil
	Chooser     *Chooser     // chooses how many rows to verify; nil means as many as Rows allows
	Rows        int          // the most rows of a pass, the first included; 0 means 32, as in sd.npu
	Acceptance  *Acceptance  // nil means to trust the drafters' own probabilities
	// PerPass returns the expected tokens of a pass, by which devices choose their graph for decoding
	// (model.Input.PerPass); nil for Acceptance.PerPass.
	PerPass func(rows int) float64
	// Clock times drafting; nil for WallTime.
	Clock func() time.Duration

	stats         Stats
	panel         Panel
	tree          *Tree // the panel's, once it has drafted
	verified      []int
	forecastRows  int           // rows of forecasts in the last draft
	draftTime     float64       // seconds that the last draft took
	settleTime    time.Duration // what the drafters took of the last verdict, which counts as part of the next draft
	ownAcceptance Acceptance    // if Acceptance is nil
}

// Stats counts the rows of all passes by their outcome (sd.npu §3.2). The shape of a graph is fixed, so a pass computes a
// multiple of Speculator.Rows.
type Stats struct {
	Passes        int           `json:"passes"`
	Tokens        int           `json:"tokens"`              // that the passes generated
	Valid         int           `json:"valid"`               // rows with a token that became text, the first of each pass too
	Wasted        int           `json:"wasted"`              // rows that were rejected
	Underutilised int           `json:"underutilised"`       // rows that held no draft
	Forecasts     int           `json:"forecasts,omitempty"` // rows that forecast the next draft
	Drafting      time.Duration `json:"drafting_ns"`
	Cases         Cases         `json:"cases"` // of rejections, if a Reuse is among the drafters
}

// AcceptLength returns the mean number of tokens per pass.
func (s Stats) AcceptLength() float64 { return float64(s.Tokens) / float64(max(1, s.Passes)) }

// Shares returns the shares of valid, wasted and underutilised rows.
func (s Stats) Shares() (valid, wasted, underutilised float64) {
	all := float64(max(1, s.Valid+s.Wasted+s.Underutilised))
	return float64(s.Valid) / all, float64(s.Wasted) / all, float64(s.Underutilised) / all
}

// Plus returns the sums of the counts of s and o.
func (s Stats) Plus(o Stats) Stats {
	return Stats{s.Passes + o.Passes, s.Tokens + o.Tokens, s.Valid + o.Valid, s.Wasted + o.Wasted, s.Underutilised + o.Underutilised, s.Forecasts + o.Forecasts,
		s.Drafting + o.Drafting, Cases{s.Cases.Missing + o.Cases.Missing, s.Cases.Synonym + o.Cases.Synonym, s.Cases.Redundant + o.Cases.Redundant}}
}

// DraftingPerStep returns the mean time of drafting per pass.
func (s Stats) DraftingPerStep() time.Duration { return s.Drafting / time.Duration(max(1, s.Passes)) }

// Stats returns the counts so far.
func (s *Speculator) Stats() Stats {
	out := s.stats
	for _, d := range s.Drafters {
		if r, ok := d.(*Reuse); ok {
			out.Cases = r.Cases()
		}
	}
	return out
}

// Begin implements sample.Speculator. The drafters read the prompt here, so that the first draft costs no more than
// the others.
func (s *Speculator) Begin(m *model.Model, prompt *model.Input) error {
	s.tree, s.settleTime = nil, 0
	if s.Forecast != nil {
		if err := s.Forecast.Check(m); err != nil {
			return err
		}
	}
	if len(s.Drafters) > maxDrafters {
		return fmt.Errorf("%d drafters: want at most %d", len(s.Drafters), maxDrafters)
	}
	if s.Chooser != nil {
		s.Chooser.begin(s.acceptance().proven)
	}
	if s.Calibration != nil {
		head, err := m.PartialHead(s.Calibration.Begin(prompt.Tokens, commonTokens(m.Config().Vocab)...))
		if err != nil {
			return fmt.Errorf("calibrate drafts: %w", err)
		}
		prompt.Head, prompt.OnScores = head, s.Calibration.Observe
	}
	if prompt.PerPass = s.PerPass; s.PerPass == nil && len(s.Drafters) > 0 {
		prompt.PerPass = s.acceptance().PerPass
	}
	clock := s.Clock
	if clock == nil {
		clock = WallTime
	}
	s.panel.Begin(s.Drafters, s.acceptance(), prompt.Tokens, clock)
	return nil
}

// commonTokens returns tokens that occur in any text: in byte-pair vocabularies they are the 256 bytes and the first merges.
func commonTokens(vocabulary int) (tokens []tandem.Token) {
	for t := 0; t < min(512, vocabulary/16); t++ {
		tokens = append(tokens, tandem.Token(t))
	}
	return tokens
}

// Draft implements sample.Speculator.
func (s *Speculator) Draft(emitted []tandem.Token, limit int) (tokens []tandem.Token, parents []int) {
	start := s.panel.now()
	if s.tree != nil && s.Acceptance != nil {
		s.Acceptance.Learn(s.tree, emitted)
	}
	s.panel.Append(emitted)
	limit = max(0, min(limit, cmp.Or(s.Rows, 32)-1))
	var after []int // nodes with forecasts
	s.verified, after = s.choose(limit)
	tokens, parents = s.tree.Draft(s.verified)
	if s.forecastRows = 0; s.Forecast != nil {
		s.forecastRows = len(after) * s.Forecast.depth()
		tokens, parents = s.Forecast.Attach(tokens, parents, s.verified, after)
	}
	took := s.panel.now() - start + s.settleTime
	s.stats.Drafting += took
	if s.draftTime = took.Seconds(); !s.panel.anyDrafted() {
		s.draftTime = 0 // deciding not to draft takes time in any case, which must not count against drafts
	}
	return tokens, parents
}

// choose lets the drafters draft. It returns the nodes to verify, at most limit rows with the forecasts after some of them.
func (s *Speculator) choose(limit int) (nodes, after []int) {
	tree, rows := s.panel.Draft(poolSize, limit, s.Acceptance, s.Chooser)
	s.tree = tree
	if s.Forecast != nil && s.Chooser == nil {
		return s.Forecast.plan(tree, limit+1)
	}
	if nodes, _ = tree.Best(rows); s.Forecast == nil || !s.panel.drafted[0] {
		return nodes, nil
	}
	return nodes, s.Forecast.ChooseNodes(tree, nodes, limit, s.Chooser)
}

// acceptance returns what keeps the worth of the drafters.
func (s *Speculator) acceptance() *Acceptance {
	if s.Acceptance != nil {
		return s.Acceptance
	}
	return &s.ownAcceptance
}

// Embeddings implements sample.Embedder.
func (s *Speculator) Embeddings() ([][]float32, *model.Adapter) {
	if s.Forecast == nil {
		return nil, nil
	}
	return s.Forecast.Embeds(), s.Forecast.Adapter
}

// Behind implements sample.Embedder: forecasts after the prompt, so that the first pass has a draft to verify.
func (s *Speculator) Behind() ([][]float32, *model.Adapter) {
	if s.Forecast == nil || s.acceptance().worth[0].gaveWay() {
		return nil, nil
	}
	return s.Forecast.Embeddings[:s.Forecast.depth()], s.Forecast.Adapter
}

// SettleBehind implements sample.Embedder.
func (s *Speculator) SettleBehind(logits [][]float32) { s.Forecast.begin(logits) }

// Settle implements sample.Speculator.
func (s *Speculator) Settle(v sample.Verification) {
	rows := 1 + len(s.verified) + s.forecastRows
	tile := cmp.Or(s.Rows, 32)
	s.stats.Passes++
	s.stats.Tokens += len(v.Path) + 1
	s.stats.Valid += len(v.Path) + 1
	s.stats.Wasted += len(s.verified) - len(v.Path)
	s.stats.Forecasts += s.forecastRows
	s.stats.Underutilised += (rows+tile-1)/tile*tile - rows
	if s.Chooser != nil {
		s.Chooser.observe(rows, v.Took)
		s.Chooser.settle(rows-1, len(v.Path)+1, s.draftTime)
		if s.Chooser.overBudget {
			s.Chooser.learnFromHeld(s.tree.first() == v.Next)
		}
		s.acceptance().proven = s.Chooser.proven
	}
	logitsAfter := func(node int) []float32 { // row 0 is that of the token before the tree
		if node < 0 {
			return v.Logits[0]
		}
		i, _ := slices.BinarySearch(s.verified, node)
		return v.Logits[i+1]
	}
	verdict := &Verdict{Tree: s.tree, Verified: s.verified,
		Likeliest: func(node int) tandem.Token { return likeliest(logitsAfter(node)) },
		Next:      func(node, n int) []Likely { return topOf(logitsAfter(node), n) },
	}
	if s.forecastRows > 0 {
		verdict.Forecasts = func(i int) []float32 { return v.Logits[1+len(s.verified)+i] }
	}
	for _, i := range v.Path {
		verdict.Path = append(verdict.Path, s.verified[i])
		verdict.Emitted = append(verdict.Emitted, s.tree.Nodes[s.verified[i]].Token)
	}
	verdict.Emitted = append(verdict.Emitted, v.Next)
	s.settleTime = s.panel.Settle(verdict)
}

// Measure measures the Costs of a model, for about as long as budget. It times passes of several numbers of rows in
// turns after a short text, and takes the fastest of each: other work on the machine only makes passes slower.
func Measure(ctx context.Context, m *model.Model, budget time.Duration) (Costs, error) {
	start := time.Now()
	seq := m.NewSeq()
	if _, err := m.Forward(ctx, []model.Input{{Seq: seq, Tokens: make([]tandem.Token, min(64, m.Config().Context/4))}}); err != nil {
		return nil, fmt.Errorf("measure passes: %w", err)
	}
	times := map[int]time.Duration{}
	var memory model.Logits // reused, as in a generation
	for round := 0; round < 2 || round < 12 && time.Since(start) < budget; round++ {
		for _, rows := range []int{1, 2, 4, 6, 8, 12, 16, 24, 32} {
			if seq.Len()+rows > m.Config().Context {
				break
			}
			row := model.Input{Seq: seq, Tokens: make([]tandem.Token, rows), Parents: make([]int, rows), All: true}
			for i := range row.Parents {
				row.Parents[i] = i - 1
			}
			at := time.Now()
			if _, err := m.ForwardInto(ctx, []model.Input{row}, &memory); err != nil {
				return nil, fmt.Errorf("measure passes: %w", err)
			}
			if took := time.Since(at); times[rows] == 0 || took < times[rows] {
				times[rows] = took
			}
		}
	}
	return Interpolate(times, npu.MaxTree), nil
}

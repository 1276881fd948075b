package specdec

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tandem"
	"tandem/model"
	"tandem/model/sample"
	"tandem/npu"
)

// Speculator drafts for sample.GenerateWith with the drafters that it is given. It serves one generation at a
// time; Acceptance goes on from one to the next.
type Speculator struct {
	Drafters    []Drafter    // Reuse last: it appends to what the others propose
	Calibration *Calibration // one of Drafters, which sees the prefill; may be nil
	Chooser     *Chooser     // nil: as many rows as Rows allows
	Rows        int          // of a pass at most, the first included [32, as sd.npu's decoding graph]
	Acceptance  *Acceptance  // nil: drafters' own beliefs

	stats    Stats
	tree     *Tree
	verified []int
	took     float64 // seconds of the last drafting
	draftS   float64 // of drafting that proposed, smoothed
}

// Stats tells what became of the rows of all passes (sd.npu §3.2). A pass computes Tile rows, or a multiple:
// a graph's shape is fixed.
type Stats struct {
	Passes        int           `json:"passes"`
	Tokens        int           `json:"tokens"` // that they gave
	Valid         int           `json:"valid"`  // rows whose token became part of the text, the first of each pass included
	Wasted        int           `json:"wasted"` // rows that were rejected
	Underutilised int           `json:"underutilised"`
	Drafting      time.Duration `json:"drafting_ns"`
	Cases         Cases         `json:"cases"` // of rejections, where Reuse is among the drafters
}

// AcceptLength is how many tokens a pass gave.
func (s Stats) AcceptLength() float64 { return float64(s.Tokens) / float64(max(1, s.Passes)) }

// Shares returns the shares of rows that were valid, wasted and underutilised.
func (s Stats) Shares() (valid, wasted, underutilised float64) {
	all := float64(max(1, s.Valid+s.Wasted+s.Underutilised))
	return float64(s.Valid) / all, float64(s.Wasted) / all, float64(s.Underutilised) / all
}

// Plus adds the counts of two answers.
func (s Stats) Plus(o Stats) Stats {
	return Stats{s.Passes + o.Passes, s.Tokens + o.Tokens, s.Valid + o.Valid, s.Wasted + o.Wasted, s.Underutilised + o.Underutilised, s.Drafting + o.Drafting,
		Cases{s.Cases.Missing + o.Cases.Missing, s.Cases.Synonym + o.Cases.Synonym, s.Cases.Redundant + o.Cases.Redundant}}
}

// DraftingPerStep is the mean time of drafting.
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

// Begin implements sample.Speculator: the drafters take in the prompt, and its own tokens are scored along it. That is
// part of reading a prompt, so that the first draft costs no more than others.
func (s *Speculator) Begin(m *model.Model, prompt *model.Input) error {
	s.tree = nil
	if s.draftS == 0 {
		s.draftS = firstDraft
	}
	if s.Chooser != nil {
		s.Chooser.Reset()
	}
	if s.Calibration != nil {
		among, err := m.Among(s.Calibration.Among(prompt.Tokens, common(m.Config().Vocab)...))
		if err != nil {
			return fmt.Errorf("calibrate drafts: %w", err)
		}
		prompt.Among, prompt.Near = among, s.Calibration.See
	}
	for _, d := range s.Drafters {
		d.Committed(prompt.Tokens)
	}
	return nil
}

// common are tokens that any text may say: byte-pair vocabularies have them first, behind their 256 bytes.
func common(vocabulary int) (tokens []tandem.Token) {
	for t := 0; t < min(512, vocabulary/16); t++ {
		tokens = append(tokens, tandem.Token(t))
	}
	return tokens
}

// firstDraft is what drafting is taken to cost until it was measured, in seconds.
const firstDraft = 1e-4

// poolSize is how many guesses compete for the rows of a pass.
const poolSize = 160

// Draft implements sample.Speculator.
func (s *Speculator) Draft(came []tandem.Token, room int) (tokens []tandem.Token, parents []int) {
	start := time.Now()
	if s.tree != nil && s.Acceptance != nil {
		s.Acceptance.Learn(s.tree, came)
	}
	for _, d := range s.Drafters {
		d.Committed(came)
	}
	s.tree = NewTree(poolSize, s.Acceptance)
	if s.Chooser == nil || s.Chooser.Afford(s.draftS) {
		for _, d := range s.Drafters {
			d.Propose(s.tree)
		}
	}
	room = min(room, or(s.Rows, 32)-1)
	_, chances := s.tree.Best(room)
	rows := len(chances)
	if s.Chooser != nil {
		rows = s.Chooser.Rows(chances, s.draftS)
	}
	s.verified, _ = s.tree.Best(rows)
	index := make(map[int]int, len(s.verified))
	for i, n := range s.verified {
		index[n] = i
		tokens = append(tokens, s.tree.Nodes[n].Token)
		parent := -1
		if p := s.tree.Nodes[n].Parent; p >= 0 {
			parent = index[p]
		}
		parents = append(parents, parent)
	}
	took := time.Since(start)
	s.stats.Drafting += took
	if s.took = took.Seconds(); len(s.tree.Nodes) > 0 {
		s.draftS += (min(s.took, 4*s.draftS+1e-4) - s.draftS) / 8 // a pause of the machine is not drafting
	}
	return tokens, parents
}

// Settle implements sample.Speculator.
func (s *Speculator) Settle(v sample.Verdict) {
	rows := 1 + len(s.verified)
	tile := or(s.Rows, 32)
	s.stats.Passes++
	s.stats.Tokens += len(v.Path) + 1
	s.stats.Valid += len(v.Path) + 1
	s.stats.Wasted += rows - len(v.Path) - 1
	s.stats.Underutilised += (rows+tile-1)/tile*tile - rows
	if s.Chooser != nil {
		s.Chooser.Observe(rows, v.Took)
		s.Chooser.Settle(rows-1, len(v.Path)+1, s.took)
	}
	verdict := &Verdict{Tree: s.tree, Verified: s.verified, Likeliest: func(node int) tandem.Token {
		i, _ := slices.BinarySearch(s.verified, node) // nodes ascend; -1 is the row before them
		if node < 0 {
			return likeliest(v.Logits[0])
		}
		return likeliest(v.Logits[i+1])
	}}
	for _, i := range v.Path {
		verdict.Path = append(verdict.Path, s.verified[i])
		verdict.Came = append(verdict.Came, s.tree.Nodes[s.verified[i]].Token)
	}
	verdict.Came = append(verdict.Came, v.Next)
	for _, d := range s.Drafters {
		d.Settle(verdict)
	}
}

func likeliest(logits []float32) tandem.Token {
	best := 0
	for i, l := range logits {
		if l > logits[best] {
			best = i
		}
	}
	return tandem.Token(best)
}

// Measure times passes of some numbers of rows on a model, for about budget, behind a text of some tokens. Numbers
// of rows take turns, and the fastest run of each counts: others at work make runs slower, never faster.
func Measure(ctx context.Context, m *model.Model, budget time.Duration) (Costs, error) {
	start := time.Now()
	seq := m.NewSeq()
	if _, err := m.Forward(ctx, []model.Input{{Seq: seq, Tokens: make([]tandem.Token, min(64, m.Config().Context/4))}}); err != nil {
		return nil, fmt.Errorf("measure passes: %w", err)
	}
	times := map[int]time.Duration{}
	var memory model.Logits // as a generation reuses its own
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

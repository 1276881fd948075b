package spec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/internal/meter"
	"tandem/lab/report"
	"tandem/model/sample"
	"tandem/specdec"
)

// methodRun collects what one method does over the inputs.
type methodRun struct {
	name    string
	prefill time.Duration
	runs    []*costedRun // indexed by fixedRows, byCosts, byOwnCosts
	lengths []*costedRun // of a peer, by publishedRows
}

// best returns a peer's run of the best length.
func (m *methodRun) best() *costedRun {
	return slices.MaxFunc(m.lengths, func(a, b *costedRun) int { return cmp.Compare(a.ratio(), b.ratio()) })
}

// measure runs the method on one input: with passes of all rows, then with lengths that costs choose, then with each fixed length.
func (r *methodRun) measure(ctx context.Context, s Experiment, in Input, want []tandem.Token) error {
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

func (p *passes) Settle(v sample.Verification) {
	if p.costs != nil {
		p.spent += p.costs.At(len(v.Logits))
	}
	p.Speculator.Settle(v)
}

// The ways to choose the length of drafts.
const (
	fixedRows  = iota // passes of all rows
	byCosts           // Experiment.Costs
	byOwnCosts        // Experiment.Own, if there are any
)

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
		if drafterSets[name]&specdec.WithHistory != 0 {
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

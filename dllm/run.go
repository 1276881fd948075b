package dllm

import (
	"context"
	"errors"
	"time"

	"tandem"
)

// A Denoiser computes rows of one sequence. Compute and Refresh run at the same time, on different goroutines; Merge runs
// alone. An error leaves the prefix, up to the End of the last Merge, as it was.
type Denoiser interface {
	// Compute computes rows in the cache and returns a guess for each row with Logits, in order.
	Compute(ctx context.Context, rows []Row) ([]Guess, error)
	// Refresh does so outside the cache, from the prefix as it was after the last Merge.
	Refresh(ctx context.Context, rows []Row) ([]Guess, error)
	// Merge brings what Refresh computed into the cache. See the action Merge.
	Merge(settled, end int) error
}

// A Pass is what one step of a generation computed.
type Pass struct {
	Rows   int `json:"rows"`   // of the dense path
	Logits int `json:"logits"` // of Rows, those with logits
	Sees   int `json:"sees"`   // slots that the pass reads

	SparseRows   int `json:"sparse_rows"`   // of the second path
	SparseLogits int `json:"sparse_logits"` // of SparseRows

	Took       time.Duration `json:"took_ns"`        // the dense path
	SparseTook time.Duration `json:"sparse_took_ns"` // the second path
	Step       time.Duration `json:"step_ns"`        // both

	Invisible, Visible, Stable, Drafts int // positions of the answer after the step; drafts are invisible too
}

// Stats sums up a generation.
type Stats struct {
	Tokens     int // written
	Passes     []Pass
	Ended      EndReason
	First, All time.Duration // until the first token was final, and until the end
}

// Rows returns the rows of all passes of both paths, and those with logits.
func (s *Stats) Rows() (rows, logits int) {
	for _, p := range s.Passes {
		rows, logits = rows+p.Rows+p.SparseRows, logits+p.Logits+p.SparseLogits
	}
	return rows, logits
}

// An Observer sees a generation. Its fields may be nil.
type Observer struct {
	Write func([]tandem.Token) error  // final tokens, in order; an error ends the generation
	Step  func(p Pass, answer []Cell) // after each step
}

// Run carries out a generation until it is over. When ctx is cancelled or Write fails it writes what is decided
// and returns the error. The Stats are valid in every case.
func Run(ctx context.Context, cfg Config, d Denoiser, observer Observer) (stats Stats, err error) {
	m, err := New(cfg)
	if err != nil {
		return stats, err
	}
	r := runner{m: m, d: d, observer: observer, stats: &stats, began: time.Now()}
	defer func() { stats.All = time.Since(r.began) }()
	actions := m.Step(Begin{})
	for len(actions) > 0 {
		events, err := r.carryOut(ctx, actions)
		if err != nil {
			for _, a := range m.Step(Interrupt{}) {
				err = errors.Join(err, r.write(a))
			}
			stats.Ended = Interrupted
			return stats, err
		}
		actions = nil
		for _, e := range events {
			actions = append(actions, m.Step(e)...)
		}
	}
	return stats, nil
}

// A runner is the state of Run.
type runner struct {
	m        *Machine
	d        Denoiser
	observer Observer
	stats    *Stats
	began    time.Time
	pending  *Pass // whose results the machine has not taken yet
}

// carryOut does what the machine asks for and returns the results.
func (r *runner) carryOut(ctx context.Context, actions []Action) (events []Event, err error) {
	var dense, sparse []Row
	for _, a := range actions {
		switch a := a.(type) {
		case Compute:
			dense = a.Rows
		case Refresh:
			sparse = a.Rows
		case Merge:
			if err := r.d.Merge(a.Settled, a.End); err != nil {
				return nil, err
			}
			r.reportStep()
		case Write:
			if err := r.write(a); err != nil {
				return nil, err
			}
		case Finish:
			r.stats.Ended = a.Reason
		}
	}
	if dense == nil {
		return nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.runPaths(ctx, dense, sparse)
}

// write passes final tokens on.
func (r *runner) write(a Action) error {
	w, ok := a.(Write)
	if !ok {
		return nil
	}
	if r.stats.First == 0 {
		r.stats.First = time.Since(r.began)
	}
	r.stats.Tokens += len(w.Tokens)
	if r.observer.Write == nil {
		return nil
	}
	return r.observer.Write(w.Tokens)
}

// runPaths runs both paths at once.
func (r *runner) runPaths(ctx context.Context, dense, sparse []Row) ([]Event, error) {
	p := Pass{Rows: len(dense), Logits: logitRows(dense), SparseRows: len(sparse), SparseLogits: logitRows(sparse)}
	for _, row := range dense {
		p.Sees = max(p.Sees, row.Sees)
	}
	began := time.Now()
	var revised []Guess
	second := make(chan error, 1)
	if len(sparse) > 0 {
		go func() {
			var err error
			revised, err = r.d.Refresh(ctx, sparse)
			p.SparseTook = time.Since(began)
			second <- err
		}()
	} else {
		second <- nil
	}
	guesses, err := r.d.Compute(ctx, dense)
	p.Took = time.Since(began)
	if err := errors.Join(err, <-second); err != nil {
		return nil, err
	}
	p.Step = time.Since(began)
	r.pending = &p
	events := []Event{Computed{guesses}}
	if len(sparse) > 0 {
		events = append(events, Refreshed{revised})
	}
	return events, nil
}

// reportStep reports the step that the machine has just taken.
func (r *runner) reportStep() {
	cells := r.m.Cells()
	p := r.pending
	for _, c := range cells {
		switch {
		case c.Status == Stable:
			p.Stable++
		case c.Status == Visible:
			p.Visible++
		default:
			p.Invisible++
			if c.Draft {
				p.Drafts++
			}
		}
	}
	r.stats.Passes = append(r.stats.Passes, *p)
	if r.observer.Step != nil {
		r.observer.Step(*p, cells)
	}
}

// logitRows counts the rows with logits.
func logitRows(rows []Row) int {
	n := 0
	for _, r := range rows {
		if r.Logits {
			n++
		}
	}
	return n
}

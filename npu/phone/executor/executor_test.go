package executor

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem/npu/phone/plan"
)

// timed is a machine that takes as long as its problem says, and checks the calls.
type timed struct {
	t       *testing.T
	p       plan.Problem
	failAt  int // the computation that fails, or −1
	failing int // the block whose load fails, or −1

	mu      sync.Mutex
	loading int // the block that is being loaded, or −1
	small   []bool
	steps   int
}

var errBroken = errors.New("broken")

func newTimed(t *testing.T, p plan.Problem) *timed {
	return &timed{t: t, p: p, failAt: -1, failing: -1, loading: -1, small: make([]bool, len(p.Blocks))}
}

func (m *timed) Compute(ctx context.Context, block, chunk int, small bool) error {
	m.mu.Lock()
	n := len(m.p.Blocks)
	if block != m.steps%n || chunk != m.steps/n {
		m.t.Errorf("step %d is block %d of chunk %d", m.steps, block, chunk)
	}
	if m.loading == block || m.small[block] != small {
		m.t.Errorf("block %d computes with G²=%v, want %v; block %d is loading", block, small, m.small[block], m.loading)
	}
	if m.steps == m.failAt {
		m.mu.Unlock()
		return errBroken
	}
	m.steps++
	m.mu.Unlock()
	time.Sleep(m.p.Compute(block, chunk, small))
	return nil
}

func (m *timed) Load(ctx context.Context, block int) error {
	m.mu.Lock()
	if m.loading >= 0 || m.small[block] {
		m.t.Errorf("block %d is loaded twice, or while block %d is loading", block, m.loading)
	}
	m.loading = block
	m.mu.Unlock()
	time.Sleep(m.p.Blocks[block].Load)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.loading, m.small[block] = -1, true
	if m.failing == block {
		return errBroken
	}
	return nil
}

func problem() plan.Problem {
	p := plan.Uniform(5, 3, 2, plan.Block{Load: 37 * time.Millisecond, Large: 10 * time.Millisecond, Small: 6 * time.Millisecond})
	for j := range p.Blocks { // no two events at once
		p.Blocks[j].Load += time.Duration(j) * 131 * time.Microsecond
		p.Blocks[j].Large += time.Duration(j) * 17 * time.Microsecond
	}
	return p
}

// In virtual time, Run produces the same spans as Simulate.
func TestRunEqualsSimulation(t *testing.T) {
	p := problem()
	for _, s := range append(slices.Clone(plan.Strategies), plan.Optimal) {
		synctest.Test(t, func(t *testing.T) {
			pl := p.Plan(s)
			got, err := Run(context.Background(), pl, len(p.Blocks), len(p.Runs), newTimed(t, p))
			if err != nil {
				t.Fatal(err)
			}
			want := p.Simulate(pl)
			order := func(a, b plan.Span) int {
				if a.Load != b.Load {
					return map[bool]int{true: 1, false: -1}[a.Load]
				}
				return int(a.Start - b.Start)
			}
			slices.SortStableFunc(got.Spans, order)
			slices.SortStableFunc(want.Spans, order)
			if !slices.Equal(got.Spans, want.Spans) || got.Total() != want.Total() || got.Stall != want.Stall {
				t.Errorf("%v:\n%v stall %v\n%v stall %v", s, got.Spans, got.Stall, want.Spans, want.Stall)
			}
		})
	}
}

func TestRunEndsWithTheFirstError(t *testing.T) {
	p := problem()
	for _, c := range []struct{ compute, load int }{{0, -1}, {7, -1}, {14, -1}, {-1, 4}, {-1, 0}} {
		synctest.Test(t, func(t *testing.T) {
			m := newTimed(t, p)
			m.failAt, m.failing = c.compute, c.load
			if _, err := Run(context.Background(), p.Plan(plan.Progressive), len(p.Blocks), len(p.Runs), m); !errors.Is(err, errBroken) {
				t.Errorf("%+v: %v", c, err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 55*time.Millisecond)
		defer cancel()
		if _, err := Run(ctx, p.Plan(plan.Synchronous), len(p.Blocks), len(p.Runs), newTimed(t, p)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

package batch

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// Whatever comes and goes: each row of a job is in one pass, in order, jobs that stay end, no pass has too many rows, and
// no two passes run at once.
func TestSchedulerGivesEachRowOnce(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		limit := 1 + rng.IntN(40)
		s := NewScheduler(Config{MaxRows: limit, Stretch: 1 + rng.Float64()*3})
		left := map[uint64]Job{}
		running := false
		next := uint64(0)
		play := func(e Event) {
			pass := s.Step(e)
			if len(pass) == 0 {
				return
			}
			if running {
				t.Fatal("two passes at once")
			}
			running = true
			rows, once := 0, map[uint64]bool{}
			for _, g := range pass {
				j, ok := left[g.ID]
				if !ok || once[g.ID] || g.Rows < 1 || g.Rows > j.Rows || j.Whole && g.Rows != j.Rows {
					t.Fatalf("seed %d: %+v of %+v", seed, g, j)
				}
				once[g.ID] = true
				if rows += g.Rows; j.Rows == g.Rows {
					delete(left, g.ID)
				} else {
					j.Rows -= g.Rows
					left[g.ID] = j
				}
			}
			if rows > limit && len(pass) > 1 {
				t.Fatalf("seed %d: %d rows of %d", seed, rows, limit)
			}
		}
		passed := func() {
			running = false
			play(Passed{time.Duration(1+rng.IntN(100)) * time.Millisecond})
		}
		for range 60 {
			switch n := rng.IntN(5); {
			case n < 2:
				next++
				j := Job{ID: next, Owner: fmt.Sprint(rng.IntN(4)), Rows: 1 + rng.IntN(60), Prompt: rng.IntN(2) == 0}
				if !j.Prompt {
					j.Rows, j.Whole = 1+j.Rows%12, rng.IntN(3) == 0
				}
				left[j.ID] = j
				play(Arrived{j})
			case n == 2 && next > 0:
				id := 1 + rng.Uint64N(next)
				delete(left, id)
				play(Left{id})
			case running:
				passed()
			}
		}
		for range 4000 {
			if !running {
				break
			}
			passed()
		}
		if len(left) > 0 {
			t.Fatalf("seed %d: rows of %v are never computed", seed, left)
		}
	}
}

// An owner of many jobs does not keep another waiting, and while next tokens keep coming prompts are computed too, in
// pieces that prolong each pass by no more than Stretch allows.
func TestSchedulerTakesTurns(t *testing.T) {
	s := NewScheduler(Config{MaxRows: 32})
	id := uint64(0)
	add := func(owner string, rows int, prompt bool) (uint64, []Grant) {
		id++
		return id, s.Step(Arrived{Job{ID: id, Owner: owner, Rows: rows, Prompt: prompt}})
	}
	for range 100 {
		add("greedy", 4, false)
	}
	modest, _ := add("modest", 4, false)
	prompt, _ := add("greedy", 1000, true)
	got := map[uint64]int{}
	for i := range 3 {
		for _, g := range s.Step(Passed{time.Second}) {
			got[g.ID] += g.Rows
		}
		if i == 1 && got[modest] != 4 {
			t.Errorf("the other owner waits: %v", got)
		}
	}
	if got[prompt] != 0 {
		t.Errorf("a prompt has %d rows, though next tokens fill the passes", got[prompt])
	}

	s = NewScheduler(Config{MaxRows: 256, Stretch: 2})
	for _, rows := range []int{1, 16, 1, 16} { // a pass takes 10 ms, and 1 ms for each row
		add("a", rows, false)
		s.Step(Passed{time.Duration(10+rows) * time.Millisecond})
	}
	add("a", 1, false)
	add("a", 5, false)
	add("b", 1000, true)
	rows := 0
	for _, g := range s.Step(Passed{11 * time.Millisecond}) {
		rows += g.Rows
	}
	if rows != 5+15 { // 5 rows take 15 ms; twice the time is 20 rows
		t.Errorf("a pass of %d rows: want 20", rows)
	}
}

// Without measured passes, or with passes of one size only, the estimate is a line with a positive slope.
func TestCosts(t *testing.T) {
	var c costs
	for _, seconds := range []float64{0, 0.01, 0.01} {
		if c.observe(4, seconds); c.at(8) < c.at(4) || c.within(c.at(100)) < 99 {
			t.Errorf("%+v: 4 rows take %v, 8 take %v; %d in the time of 100", c, c.at(4), c.at(8), c.within(c.at(100)))
		}
	}
}

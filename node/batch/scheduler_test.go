package batch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Whatever comes and goes: each row of a job is in one pass, in order, no job is in two passes at once, jobs that stay
// end, and no pass has too many rows.
func TestSchedulerGivesEachRowOnce(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		limit, atOnce := 1+rng.IntN(40), 1+rng.IntN(3)
		s := NewScheduler(Config{MaxRows: limit, AtOnce: atOnce, Stretch: 1 + rng.Float64()*3})
		left := map[uint64]Job{}
		running := []Pass{}
		next, now := uint64(0), time.Duration(0)
		play := func(e Event) {
			now += time.Duration(rng.IntN(50)) * time.Millisecond
			for _, pass := range s.Step(now, e) {
				if running = append(running, pass); len(running) > atOnce {
					t.Fatalf("%d passes at once", len(running))
				}
				rows, once := 0, map[uint64]bool{}
				for _, r := range running[:len(running)-1] {
					for _, g := range r.Grants {
						once[g.ID] = true
					}
				}
				for _, g := range pass.Grants {
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
				if rows > limit && len(pass.Grants) > 1 {
					t.Fatalf("seed %d: %d rows of %d", seed, rows, limit)
				}
			}
		}
		passed := func() {
			i := rng.IntN(len(running))
			id := running[i].ID
			running = slices.Delete(running, i, i+1)
			play(Passed{ID: id, Took: time.Duration(1+rng.IntN(100)) * time.Millisecond})
		}
		for range 60 {
			switch n := rng.IntN(5); {
			case n < 2:
				next++
				j := Job{ID: next, Owner: fmt.Sprint(rng.IntN(4)), Rows: 1 + rng.IntN(60), Prompt: rng.IntN(2) == 0}
				if !j.Prompt {
					j.Rows, j.Whole = 1+j.Rows%12, rng.IntN(3) == 0
					j.Slack = time.Duration(rng.IntN(3)*rng.IntN(200)) * time.Millisecond
				}
				left[j.ID] = j
				play(Arrived{j})
			case n == 2 && next > 0:
				id := 1 + rng.Uint64N(next)
				delete(left, id)
				play(Left{id})
			case len(running) > 0:
				passed()
			}
		}
		for range 4000 {
			if len(running) == 0 {
				break
			}
			passed()
		}
		if len(left) > 0 {
			t.Fatalf("seed %d: rows of %v are never computed", seed, left)
		}
	}
}

// player gives a scheduler jobs, and ends its passes.
type player struct {
	*Scheduler
	id  uint64
	now time.Duration
	run []Pass
}

func (p *player) add(j Job) uint64 {
	p.id++
	j.ID = p.id
	p.run = append(p.run, p.Step(p.now, Arrived{j})...)
	return p.id
}

// pass ends the pass that began first, and returns the rows of each job in the one that begins then.
func (p *player) pass(took time.Duration) map[uint64]int {
	first := p.run[0]
	p.now += took
	begin := p.Step(p.now, Passed{ID: first.ID, Took: took})
	p.run = append(p.run[1:], begin...)
	rows := map[uint64]int{}
	for _, b := range begin {
		for _, g := range b.Grants {
			rows[g.ID] += g.Rows
		}
	}
	return rows
}

// learn shows a scheduler that a pass takes 10 ms, and 1 ms for each row.
func (p *player) learn() {
	for _, rows := range []int{1, 16, 32, 64} {
		p.add(Job{Owner: "a", Rows: rows})
		p.pass(time.Duration(10+rows) * time.Millisecond)
	}
}

func sum(rows map[uint64]int) (n int) {
	for _, r := range rows {
		n += r
	}
	return n
}

// An owner of many jobs does not keep another waiting, and while next tokens keep coming prompts are computed too, in
// pieces that prolong each pass by no more than Stretch allows.
func TestSchedulerTakesTurns(t *testing.T) {
	p := player{Scheduler: NewScheduler(Config{MaxRows: 32})}
	for range 100 {
		p.add(Job{Owner: "greedy", Rows: 4})
	}
	modest := p.add(Job{Owner: "modest", Rows: 4})
	prompt := p.add(Job{Owner: "greedy", Rows: 1000, Prompt: true})
	first, second := p.pass(time.Second), p.pass(time.Second)
	if first[modest]+second[modest] != 4 {
		t.Errorf("the other owner waits: %v, %v", first, second)
	}
	if first[prompt]+second[prompt] != 0 {
		t.Errorf("a prompt has rows, though next tokens fill the passes: %v, %v", first, second)
	}

	p = player{Scheduler: NewScheduler(Config{MaxRows: 256, Stretch: 2})}
	p.learn()
	p.add(Job{Owner: "a", Rows: 1})
	p.add(Job{Owner: "a", Rows: 5})
	p.add(Job{Owner: "b", Rows: 1000, Prompt: true})
	if rows := sum(p.pass(11 * time.Millisecond)); rows != 5+15 { // 5 rows take 15 ms; twice the time is 20 rows
		t.Errorf("a pass of %d rows: want 20", rows)
	}
}

// A row that nobody needs yet waits while others fill the passes, and no longer than it may. Where nothing else waits
// it does not.
func TestSchedulerLetsRowsWait(t *testing.T) {
	p := player{Scheduler: NewScheduler(Config{MaxRows: 16, Stretch: 1})}
	for range 4 {
		p.add(Job{Owner: "b", Rows: 16})
		p.pass(20 * time.Millisecond)
	}
	p.add(Job{Owner: "b", Rows: 16})
	patient := p.add(Job{Owner: "a", Rows: 4, Slack: 100 * time.Millisecond})
	for i, want := range []int{0, 0, 4} { // it is due after 100 ms, so the pass that begins after 60 ms has it
		p.add(Job{Owner: "b", Rows: 16})
		if got := p.pass(20 * time.Millisecond)[patient]; got != want {
			t.Errorf("pass %d has %d rows of it, want %d", i, got, want)
		}
	}
	p = player{Scheduler: NewScheduler(Config{})}
	p.learn()
	if p.add(Job{Owner: "a", Rows: 4, Slack: time.Hour}); len(p.run) != 1 {
		t.Error("an idle scheduler lets a row wait")
	}
}

// A second pass begins beside the first, with other jobs.
func TestSchedulerRunsPassesAtOnce(t *testing.T) {
	p := player{Scheduler: NewScheduler(Config{AtOnce: 2, MaxRows: 8})}
	for range 3 {
		p.add(Job{Owner: "a", Rows: 8})
	}
	if len(p.run) != 2 || p.run[0].Grants[0].ID == p.run[1].Grants[0].ID {
		t.Fatalf("%v run, want two passes of two jobs", p.run)
	}
	if got := p.pass(time.Millisecond); got[3] != 8 {
		t.Errorf("%v begin, want the third job", got)
	}
}

// The table of costs interpolates what was measured, and follows when it changes.
func TestCosts(t *testing.T) {
	c := costs{limit: 64}
	if n := c.maxRows(c.table.At(5) * 2); n != 10 {
		t.Errorf("before any pass, %d rows in twice the time of 5", n)
	}
	c.observe(8, 10*time.Millisecond)
	c.observe(64, 38*time.Millisecond)
	if at, n := c.table.At(36), c.maxRows(.024); math.Abs(at-.024) > 1e-9 || n != 36 {
		t.Errorf("36 rows take %v s, and in 24 ms there are %d", at, n)
	}
	for range 100 {
		c.observe(64, 20*time.Millisecond)
	}
	if at := c.table.At(64); math.Abs(at-.02) > 1e-4 {
		t.Errorf("64 rows take %v s after 100 passes of 20 ms", at)
	}
	for rows := 1; rows <= 300; rows++ {
		if up := roundUp(rows); up < rows || float64(up) > 1.25*float64(rows) || roundUp(up) != up {
			t.Errorf("%d rows count as %d", rows, up)
		}
	}
}

// Rows that join the pass of others cost them time. The more answers share a pass, the more of a pass does one token more of
// each cost: alone little where passes wait for weights, among many nearly as much as the token before.
func TestSharedRowsHaveAPrice(t *testing.T) {
	took := func(rows int) time.Duration { return 10*time.Millisecond + time.Duration(rows)*time.Millisecond/2 }
	more := map[int]float64{} // what the second token costs, in passes with one
	for _, answers := range []int{1, 4, 30} {
		p := player{Scheduler: NewScheduler(Config{})}
		if p.Costs(4, 8) != nil {
			t.Error("costs before any pass")
		}
		for rows := 1; rows <= 128; rows++ {
			p.costs.observe(rows, took(rows))
		}
		for range 60 {
			for i := range answers {
				p.add(Job{Owner: fmt.Sprint(i), Rows: 4})
			}
			for len(p.run) > 0 {
				p.pass(took(min(4*answers, 128)))
			}
		}
		costs := p.Costs(4, 8)
		if len(costs) != 8 || !slices.IsSorted(costs) {
			t.Fatalf("%d answers: costs %v", answers, costs)
		}
		more[answers] = (costs[1] - costs[0]) / costs[0]
	}
	if alone, some, many := more[1], more[4], more[30]; alone < .1 || alone > .25 || some < .3 || some > .55 || many < .8 || many > 1.01 {
		t.Errorf("a second token costs %.2f of a pass alone, %.2f beside 3, %.2f beside 29: want 2/12, 8/18 and nearly 1", alone, some, many)
	}
}

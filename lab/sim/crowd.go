package sim

import (
	"context"
	"fmt"
	"math"
	"time"

	"tandem"
	"tandem/node/batch"
	"tandem/pair"
	"tandem/pair/pairtest"
	"tandem/specdec"
)

// Crowd simulates many devices that ask one cloud at once. Each answer uses the machines of package pair, and batches use the
// scheduler of node/batch, as in the live programs. The devices have no documents, so the answers are the cloud's drafts.
type Crowd struct {
	Devices  int
	Each     int // questions of a device, one after the other
	Places   int // answers at once; others wait, first come, first served
	Batch    bool
	Config   batch.Config  // of the batch
	Costs    specdec.Costs // what passes take if nothing else is computed; passes at the same time share the speed
	Contexts int           // of an answer: the rows of a token
	Question int           // tokens that each context reads behind what is kept of its passage
	Tokens   int           // of an answer
	RTT      time.Duration
}

// CrowdOutcome is what became of a Crowd.
type CrowdOutcome struct {
	Took         time.Duration
	Answers      int
	Tokens       int
	First, Gaps  []time.Duration // to the first token of an answer, and between two
	Passes, Rows int
}

// Run plays until every device has its answers.
func (c Crowd) Run(ctx context.Context) (CrowdOutcome, error) {
	w := &crowd{Crowd: c, clock: new(pairtest.Clock), jobs: map[uint64]*crowdJob{}, free: c.Places}
	w.engine.crowd = w
	if c.Batch {
		w.scheduler = batch.NewScheduler(c.Config)
	}
	for i := range c.Devices {
		w.clock.After(0, func() { w.ask(fmt.Sprint("device ", i), c.Each) })
	}
	for n := 0; w.clock.Next(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return w.out, context.Cause(ctx)
		}
		if w.err != nil {
			return w.out, w.err
		}
	}
	if w.out.Answers != c.Devices*c.Each {
		return w.out, fmt.Errorf("sim: %d of %d answers ended", w.out.Answers, c.Devices*c.Each)
	}
	w.out.Took = w.clock.Now
	return w.out, nil
}

// crowd is a Crowd being played.
type crowd struct {
	Crowd
	clock     *pairtest.Clock
	engine    engine
	scheduler *batch.Scheduler // nil if each answer computes its own passes
	jobs      map[uint64]*crowdJob
	last      uint64 // job
	free      int    // places
	waiting   []func()
	out       CrowdOutcome
	err       error
}

// crowdJob is rows that somebody waits for.
type crowdJob struct {
	rows int // that no pass has had
	end  func()
}

// ask lets a device ask some questions, one after the other.
func (w *crowd) ask(device string, questions int) {
	if questions == 0 {
		return
	}
	asked := w.clock.Now
	begin := func() {
		w.compute(batch.Job{Owner: device, Rows: w.Contexts * w.Question, Prompt: true}, func() { w.answer(device, asked, questions) })
	}
	w.clock.After(w.RTT/2, func() {
		if w.free == 0 {
			w.waiting = append(w.waiting, begin)
			return
		}
		w.free--
		begin()
	})
}

// leave gives a place to whoever waits first.
func (w *crowd) leave() {
	if len(w.waiting) == 0 {
		w.free++
		return
	}
	next := w.waiting[0]
	w.waiting = w.waiting[1:]
	next()
}

// answer plays an answer whose prompts the cloud has read.
func (w *crowd) answer(name string, asked time.Duration, questions int) {
	cfg := pair.Config{Settings: tandem.Settings{MaxTokens: w.Tokens}}
	x := &pairtest.World{Clock: w.clock, Source: pairtest.Record{tandem.ByBoth}}
	for side := range x.Ends {
		x.Ends[side] = pairtest.NewEnd(cfg, tandem.Side(side), pairtest.Every(0))
	}
	device, cloud := x.Ends[tandem.Device], x.Ends[tandem.Cloud]
	var running uint64
	cloud.Begin = func(_ pair.Decode, end func()) {
		w.drop(running)
		running = w.compute(batch.Job{Owner: name, Rows: w.Contexts, Slack: cloud.Slack()}, end)
	}
	over := false
	x.Send = func(from *pairtest.End, e pair.Event) {
		w.clock.After(w.RTT/2, func() {
			if !over {
				x.Step(x.Ends[from.Side.Other()], e)
			}
		})
	}
	last := asked
	x.Emitted = func(e *pairtest.End, _ pair.Emit) {
		if e != device {
			return
		}
		if w.out.Tokens++; last == asked {
			w.out.First = append(w.out.First, w.clock.Now-last)
		} else {
			w.out.Gaps = append(w.out.Gaps, w.clock.Now-last)
		}
		last = w.clock.Now
	}
	x.Flush = func(*pairtest.End) {
		if w.err == nil {
			w.err = x.Err
		}
		if device.Reason == nil || over {
			return
		}
		over = true
		w.out.Answers++
		w.clock.After(w.RTT/2, func() { w.drop(running); w.leave() })
		w.ask(name, questions-1)
	}
	x.Step(cloud, pair.Measured{RTT: w.RTT}, pair.Start{})
	w.clock.After(w.RTT/2, func() { x.Step(device, pair.Measured{RTT: w.RTT}, pair.Start{}, pair.PeerReady{}) })
}

// compute begins to compute rows, and calls end when all are computed.
func (w *crowd) compute(j batch.Job, end func()) (id uint64) {
	w.last++
	j.ID = w.last
	w.jobs[j.ID] = &crowdJob{j.Rows, end}
	if w.scheduler != nil {
		w.begin(batch.Arrived{Job: j})
	} else {
		w.engine.run(j.Rows, func() { w.computed(batch.Grant{ID: j.ID, Rows: j.Rows}) })
	}
	return j.ID
}

// drop withdraws a job that has not ended.
func (w *crowd) drop(id uint64) {
	if w.jobs[id] == nil {
		return
	}
	delete(w.jobs, id)
	if w.scheduler != nil {
		w.begin(batch.Left{ID: id})
	}
}

// begin passes e to the scheduler and begins the passes that follow.
func (w *crowd) begin(e batch.Event) {
	for _, p := range w.scheduler.Step(w.clock.Now, e) {
		rows, since := 0, w.clock.Now
		for _, g := range p.Grants {
			rows += g.Rows
		}
		w.engine.run(rows, func() {
			for _, g := range p.Grants {
				w.computed(g)
			}
			w.begin(batch.Passed{ID: p.ID, Took: w.clock.Now - since})
		})
	}
}

// computed takes rows that a pass computed.
func (w *crowd) computed(g batch.Grant) {
	j := w.jobs[g.ID]
	if j == nil { // withdrawn meanwhile
		return
	}
	if j.rows -= g.Rows; j.rows == 0 {
		delete(w.jobs, g.ID)
		j.end()
	}
}

// engine computes passes, which share its speed.
type engine struct {
	*crowd
	passes []*enginePass
	at     time.Duration // when left was right
	plan   int           // the latest
}

type enginePass struct {
	left float64 // seconds of the whole engine
	end  func()
}

// run begins a pass, and calls end when it has ended.
func (e *engine) run(rows int, end func()) {
	e.out.Passes++
	e.out.Rows += rows
	e.catchUp()
	e.passes = append(e.passes, &enginePass{e.Costs.At(rows), end})
	e.await()
}

// catchUp takes the time that has passed from what is left of each pass.
func (e *engine) catchUp() {
	for _, p := range e.passes {
		p.left -= (e.clock.Now - e.at).Seconds() / float64(len(e.passes))
	}
	e.at = e.clock.Now
}

// await plans the end of the pass that ends first.
func (e *engine) await() {
	e.plan++
	if len(e.passes) == 0 {
		return
	}
	first := math.Inf(1)
	for _, p := range e.passes {
		first = min(first, p.left)
	}
	plan := e.plan
	e.clock.After(time.Duration(math.Ceil(max(0, first)*float64(len(e.passes))*float64(time.Second))), func() {
		if plan == e.plan {
			e.finish()
		}
	})
}

// finish ends the passes of which nothing is left.
func (e *engine) finish() {
	e.catchUp()
	var ended []*enginePass
	left := e.passes[:0]
	for _, p := range e.passes {
		if p.left <= 1e-12 {
			ended = append(ended, p)
		} else {
			left = append(left, p)
		}
	}
	clear(e.passes[len(left):])
	e.passes = left
	e.await()
	for _, p := range ended {
		p.end()
	}
}

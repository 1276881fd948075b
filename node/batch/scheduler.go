package batch

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Config bounds the passes of a Scheduler. Zero fields have defaults.
type Config struct {
	// MaxRows is the most rows of a pass, 128 by default. A job that cannot be cut may exceed it; then it is alone.
	MaxRows int
	// AtOnce is how many passes run at the same time, 1 by default.
	AtOnce int
	// Stretch is how much longer pieces of prompts may make a pass that also has next tokens, 2 by default: the time of
	// the pass is at most Stretch times what it would be without them. It bounds the time between two tokens while other
	// answers begin. Next tokens that nobody needs yet have what room is left.
	Stretch float64
}

// minPrompt is the number of rows of prompts that a pass may have at any stretch, so that prompts are never starved.
const minPrompt = 8

func (c Config) defaults() Config {
	if c.MaxRows < 1 {
		c.MaxRows = 128
	}
	c.AtOnce = max(c.AtOnce, 1)
	if c.Stretch < 1 {
		c.Stretch = 2
	}
	return c
}

// A Job is rows that somebody waits for.
type Job struct {
	ID     uint64
	Owner  string // of several owners each has its turn
	Share  int    // of its owner, relative to those of others; 0 for EqualShare
	Rows   int    // at least 1
	Prompt bool   // part of a prompt, which may wait for next tokens
	Whole  bool   // in one pass or not at all
	// Slack is how long it is until somebody needs the outcome. Next tokens that have time for it wait for a later pass.
	Slack time.Duration
}

// A Grant is a part of a job in a pass: its next Rows rows.
type Grant struct {
	ID   uint64
	Rows int
}

// An Event is something that a Scheduler must know: Arrived, Left or Passed.
type Event interface{ event() }

// Arrived brings a job.
type Arrived struct{ Job Job }

// Left withdraws a job. The rows of a pass that runs stay in it.
type Left struct{ ID uint64 }

// Passed ends a pass that runs, and says how long it took.
type Passed struct {
	ID     uint64
	Took   time.Duration
	Broken bool // it was broken off or failed: its time says nothing of other passes
}

func (Arrived) event() {}
func (Left) event()    {}
func (Passed) event()  {}

// A Pass is rows to compute together.
type Pass struct {
	ID     uint64
	Grants []Grant
}

func (p Pass) rows() (n int) {
	for _, g := range p.Grants {
		n += g.Rows
	}
	return n
}

// Scheduler says which rows the next passes compute.
type Scheduler struct {
	cfg     Config
	classes [3]ring // next tokens, prompts, next tokens that can wait
	running map[uint64]Pass
	last    uint64 // pass
	costs   costs
	sharing float64 // jobs in a pass or waiting for one, for each pass at once: a mean in which the latest count most
}

// NewScheduler returns a Scheduler without jobs.
func NewScheduler(cfg Config) *Scheduler {
	cfg = cfg.defaults()
	return &Scheduler{cfg: cfg, running: map[uint64]Pass{}, costs: costs{limit: cfg.MaxRows}}
}

// Step returns the passes that begin with e, which happens at a time since some moment. The rows of a job come in order: it is in
// one pass at a time, once.
func (s *Scheduler) Step(now time.Duration, e Event) (begin []Pass) {
	switch e := e.(type) {
	case Arrived:
		s.add(now, e.Job)
	case Left:
		s.drop(e.ID)
	case Passed:
		if !e.Broken {
			s.costs.observe(s.running[e.ID].rows(), e.Took)
		}
		s.share()
		delete(s.running, e.ID)
	}
	for len(s.running) < s.cfg.AtOnce {
		p := s.next(now)
		if len(p.Grants) == 0 {
			break
		}
		s.running[p.ID] = p
		begin = append(begin, p)
	}
	return begin
}

// share observes how many jobs share the passes, those of a pass that ends now too.
func (s *Scheduler) share() {
	jobs := map[uint64]bool{}
	for _, p := range s.running {
		for _, g := range p.Grants {
			jobs[g.ID] = true
		}
	}
	for i := range s.classes {
		for _, o := range s.classes[i].owners {
			for _, j := range o.jobs {
				jobs[j.ID] = true
			}
		}
	}
	s.sharing += (float64(len(jobs))/float64(s.cfg.AtOnce) - s.sharing) / recent
}

// Costs returns the times of passes over 1 to n tokens of an answer with this number of contexts, in seconds, or nil if no pass
// was measured. Rows that join a pass of others seem to cost nothing, but all who share it wait for them. So an answer pays for
// its rows as if each of the others took as many.
func (s *Scheduler) Costs(contexts, n int) []float64 {
	if len(s.costs.table) == 0 {
		return nil
	}
	out := make([]float64, n)
	for i := range out {
		rows := float64((i+1)*contexts) * max(1, s.sharing)
		out[i] = s.costs.table.At(int(math.Ceil(rows)))
	}
	return out
}

// next returns a pass, which has no rows if none can begin.
func (s *Scheduler) next(now time.Duration) Pass {
	s.promote(now)
	p := filling{taken: map[uint64]bool{}}
	for _, r := range s.running {
		for _, g := range r.Grants {
			p.taken[g.ID] = true
		}
	}
	s.classes[urgent].grant(&p, s.cfg.MaxRows)
	limit := p.rows + s.room(p.rows)
	s.classes[prompt].grant(&p, limit)
	s.classes[deferrable].grant(&p, limit)
	s.last++
	return Pass{s.last, p.grants}
}

// Classes of jobs.
const (
	urgent = iota
	prompt
	deferrable
)

// add adds a job to its class.
func (s *Scheduler) add(now time.Duration, j Job) {
	class := urgent
	switch {
	case j.Prompt:
		class = prompt
	case j.Slack > 0:
		class = deferrable
	}
	s.classes[class].add(queued{j, now + j.Slack})
}

// promote makes those urgent that would come too late if they missed two passes: the next, and the one that may begin just before.
func (s *Scheduler) promote(now time.Duration) {
	for _, j := range s.classes[deferrable].remove(func(j queued) bool { return j.due <= now+2*s.costs.mean }) {
		s.classes[urgent].add(j)
	}
}

// Waiting returns how many jobs wait for rows.
func (s *Scheduler) Waiting() (jobs int) {
	for i := range s.classes {
		for _, o := range s.classes[i].owners {
			jobs += len(o.jobs)
		}
	}
	return jobs
}

// drop withdraws a job, without beginning a pass.
func (s *Scheduler) drop(id uint64) {
	for i := range s.classes {
		s.classes[i].remove(func(j queued) bool { return j.ID == id })
	}
}

// room returns how many rows fit a pass beside some rows of next tokens.
func (s *Scheduler) room(rows int) int {
	room := s.cfg.MaxRows - rows
	if rows > 0 {
		room = min(room, max(minPrompt, s.costs.maxRows(s.cfg.Stretch*s.costs.table.At(rows))-rows))
	}
	return room
}

// A ring holds jobs by owner. Owners take turns: with each turn an owner may spend quantum rows more, times its share, and what
// it does not spend while it has jobs it keeps.
type ring struct {
	owners []*owner // those with jobs; the first has the next turn
}

type owner struct {
	name   string
	jobs   []queued // first come, first served
	credit int      // rows
	share  int
}

// quantum is the number of rows that a turn is worth, for a share of 1.
const quantum = 2

// EqualShare is the share of an owner whom nobody prefers.
const EqualShare = 4

// queued is a job that waits.
type queued struct {
	Job
	due time.Duration // when somebody needs it
}

func (r *ring) add(j queued) {
	i := slices.IndexFunc(r.owners, func(o *owner) bool { return o.name == j.Owner })
	if i < 0 {
		i = len(r.owners)
		r.owners = append(r.owners, &owner{name: j.Owner, share: cmp.Or(max(j.Share, 0), EqualShare)})
	}
	r.owners[i].jobs = append(r.owners[i].jobs, j)
}

// remove removes jobs and returns them.
func (r *ring) remove(match func(queued) bool) (out []queued) {
	for _, o := range r.owners {
		o.jobs = slices.DeleteFunc(o.jobs, func(j queued) bool {
			matches := match(j)
			if matches {
				out = append(out, j)
			}
			return matches
		})
	}
	r.owners = slices.DeleteFunc(r.owners, func(o *owner) bool { return len(o.jobs) == 0 })
	return out
}

// filling is a pass to which rows are added.
type filling struct {
	grants []Grant
	rows   int
	taken  map[uint64]bool // jobs of which it takes no more: they are in another pass, or there is no room
}

// add adds rows of a job.
func (p *filling) add(id uint64, rows int) {
	p.rows += rows
	for i := range p.grants {
		if p.grants[i].ID == id {
			p.grants[i].Rows += rows
			return
		}
	}
	p.grants = append(p.grants, Grant{id, rows})
}

// grant adds rows of waiting jobs to a pass until it has limit rows.
func (r *ring) grant(p *filling, limit int) {
	for len(r.owners) > 0 && p.rows < limit {
		// One round of turns. It ends the pass if no owner can add anything, however much credit it has.
		stuck := true
		for range len(r.owners) {
			o := r.owners[0]
			o.credit += quantum * o.share
			stuck = o.turn(p, limit) && stuck
			r.owners = r.owners[1:]
			if len(o.jobs) > 0 {
				r.owners = append(r.owners, o)
			}
			if p.rows >= limit {
				break // the next pass goes on with the owner after this one
			}
		}
		if stuck {
			return
		}
	}
}

// turn adds what an owner has credit for. It reports whether the owner can add nothing, with more credit either.
func (o *owner) turn(p *filling, limit int) (stuck bool) {
	stuck = o.credit > 0
	for p.rows < limit && o.credit > 0 {
		i := slices.IndexFunc(o.jobs, func(j queued) bool { return !p.taken[j.ID] })
		if i < 0 {
			break
		}
		n, waits := o.jobs[i].part(o.credit, limit-p.rows, p.rows == 0)
		if waits {
			return false // for credit, which the next round brings
		}
		if n == 0 {
			p.taken[o.jobs[i].ID] = true
			continue
		}
		stuck = false
		p.add(o.jobs[i].ID, n)
		o.credit -= n
		if o.jobs[i].Rows -= n; o.jobs[i].Rows == 0 {
			o.jobs = slices.Delete(o.jobs, i, i+1)
		}
	}
	return stuck
}

// part returns how many rows of j fit a pass with so much room, bought with credit. A whole job that does not fit any
// pass gets an empty one for itself. If j waits for credit, n is 0.
func (j Job) part(credit, room int, empty bool) (n int, waits bool) {
	if !j.Whole {
		return min(j.Rows, credit, room), false
	}
	switch {
	case j.Rows > room && !empty:
		return 0, false
	case j.Rows > credit && !(empty && j.Rows > room):
		return 0, true
	}
	return j.Rows, false
}

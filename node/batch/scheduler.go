package batch

import (
	"cmp"
	"slices"
	"time"
)

// Config bounds the passes of a Scheduler. Zero fields have defaults.
type Config struct {
	// MaxRows is the most rows of a pass, 128 by default. A job that cannot be cut may exceed it; then it is alone.
	MaxRows int
	// Stretch is how much longer pieces of prompts may make a pass that also has next tokens, 2 by default: the time of
	// the pass is at most Stretch times what it would be without them. It bounds the time between two tokens while other
	// answers begin.
	Stretch float64
}

// LeastPrompt is the number of rows of prompts that a pass may have at any stretch, so that prompts are never starved.
const LeastPrompt = 8

func (c Config) defaults() Config {
	if c.MaxRows < 1 {
		c.MaxRows = 128
	}
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

// Passed ends the pass that runs, and says how long it took.
type Passed struct{ Took time.Duration }

func (Arrived) event() {}
func (Left) event()    {}
func (Passed) event()  {}

// Scheduler says which rows the next pass computes. One pass runs at a time.
type Scheduler struct {
	cfg     Config
	classes [2]ring // next tokens, prompts
	running int     // rows of the pass that runs; 0 for none
	costs   costs
}

// NewScheduler returns a Scheduler without jobs.
func NewScheduler(cfg Config) *Scheduler { return &Scheduler{cfg: cfg.defaults()} }

// Step returns the pass that begins with e, or nothing: while a pass runs, no other begins. Jobs of a pass are in it once.
// The rows of a job come in order.
func (s *Scheduler) Step(e Event) []Grant {
	switch e := e.(type) {
	case Arrived:
		s.class(e.Job.Prompt).add(e.Job)
	case Left:
		s.drop(e.ID)
	case Passed:
		s.costs.observe(s.running, e.Took.Seconds())
		s.running = 0
	}
	if s.running > 0 {
		return nil
	}
	grants, rows := s.class(false).grant(nil, 0, s.cfg.MaxRows)
	if room := s.room(rows); room > 0 {
		grants, rows = s.class(true).grant(grants, rows, rows+room)
	}
	s.running = rows
	return grants
}

// Waiting returns how many jobs wait for rows, and how many rows they wait for.
func (s *Scheduler) Waiting() (jobs, rows int) {
	for i := range s.classes {
		for _, o := range s.classes[i].owners {
			for _, j := range o.jobs {
				jobs, rows = jobs+1, rows+j.Rows
			}
		}
	}
	return jobs, rows
}

// drop withdraws a job, without beginning a pass.
func (s *Scheduler) drop(id uint64) {
	for i := range s.classes {
		s.classes[i].drop(id)
	}
}

func (s *Scheduler) class(prompt bool) *ring {
	if prompt {
		return &s.classes[1]
	}
	return &s.classes[0]
}

// room returns how many rows of prompts fit a pass that has some rows of next tokens.
func (s *Scheduler) room(rows int) int {
	room := s.cfg.MaxRows - rows
	if rows > 0 {
		room = min(room, max(LeastPrompt, s.costs.within(s.cfg.Stretch*s.costs.at(rows))-rows))
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
	jobs   []Job // first come, first served
	credit int   // rows
	share  int
}

// quantum is the number of rows that a turn is worth, for a share of 1.
const quantum = 2

// EqualShare is the share of an owner whom nobody prefers.
const EqualShare = 4

func (r *ring) add(j Job) {
	i := slices.IndexFunc(r.owners, func(o *owner) bool { return o.name == j.Owner })
	if i < 0 {
		i = len(r.owners)
		r.owners = append(r.owners, &owner{name: j.Owner, share: cmp.Or(max(j.Share, 0), EqualShare)})
	}
	r.owners[i].jobs = append(r.owners[i].jobs, j)
}

func (r *ring) drop(id uint64) {
	for _, o := range r.owners {
		o.jobs = slices.DeleteFunc(o.jobs, func(j Job) bool { return j.ID == id })
	}
	r.owners = slices.DeleteFunc(r.owners, func(o *owner) bool { return len(o.jobs) == 0 })
}

// grant appends rows of waiting jobs to a pass until it has limit rows. It returns the pass and its rows.
func (r *ring) grant(pass []Grant, rows, limit int) ([]Grant, int) {
	full := map[uint64]bool{} // jobs that are in the pass with all that fits
	for len(r.owners) > 0 && rows < limit {
		// One round of turns. It ends the pass if no owner can add anything, however much credit it has.
		stuck := true
		for range len(r.owners) {
			o := r.owners[0]
			o.credit += quantum * o.share
			stuck = stuck && o.credit > 0
			for rows < limit && o.credit > 0 {
				i := slices.IndexFunc(o.jobs, func(j Job) bool { return !full[j.ID] })
				if i < 0 {
					break
				}
				n, waits := o.jobs[i].part(o.credit, limit-rows, rows == 0)
				if waits {
					stuck = false // for credit, which the next round brings
					break
				}
				if n == 0 {
					full[o.jobs[i].ID] = true // there is no room for it in this pass
					continue
				}
				stuck = false
				pass, rows = merge(pass, Grant{o.jobs[i].ID, n}), rows+n
				o.credit -= n
				if o.jobs[i].Rows -= n; o.jobs[i].Rows == 0 {
					o.jobs = slices.Delete(o.jobs, i, i+1)
				}
			}
			r.owners = r.owners[1:]
			if len(o.jobs) > 0 {
				r.owners = append(r.owners, o)
			}
			if rows >= limit {
				break // the next pass goes on with the owner after this one
			}
		}
		if stuck {
			break
		}
	}
	return pass, rows
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

// merge appends g to a pass, or adds it to the grant of the same job.
func merge(pass []Grant, g Grant) []Grant {
	for i := range pass {
		if pass[i].ID == g.ID {
			pass[i].Rows += g.Rows
			return pass
		}
	}
	return append(pass, g)
}

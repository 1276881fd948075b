// Package pairtest simulates the surroundings of the two machines of a pair: decoders and links in virtual time. The tests of
// package pair use it, and so does the simulator (package lab/sim), which has its own wire. Links, Random and Answer are for
// tests only.
package pairtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"tandem"
	"tandem/pair"
)

// World plays a device and a cloud, each a machine of package pair with a simulated decoder. It is not safe for
// concurrent use.
type World struct {
	*Clock // several worlds may share one
	Source Source
	Ends   [2]*End // indexed by tandem.Side
	Err    error   // why the world came to an end: the source failed, or a machine asked for the impossible

	// Send takes a message on its way to the other side, where Step will be told it as this event. Flush comes after all
	// messages of one step.
	Send  func(from *End, e pair.Event)
	Flush func(from *End)

	// Guess returns what side's decoder guesses after some tokens of the answer, and whether it guesses at all. Without
	// it decoders do not guess.
	Guess func(side tandem.Side, answer []tandem.Token) (tandem.Token, bool)

	// preemption says what became of a decode that was superseded; without it, nothing but the truncation.
	preemption func() preemption

	// Observers; nil for none.
	Emitted   func(e *End, a pair.Emit)
	Noted     func(e *End, a pair.Note)
	Decoded   func(e *End, step tandem.Step)
	Preempted func(e *End, step tandem.Step)
}

// preemption is what became of a decode that was superseded.
type preemption uint8

const (
	truncated preemption = iota // the answer was truncated, no more
	untouched                   // nothing was done
	completed                   // all was done
	answered                    // all was done, and the result still comes
)

// anyPreemption draws what becomes of superseded decodes.
func anyPreemption(rng *rand.Rand) func() preemption {
	return func() preemption { return preemption(rng.IntN(4)) }
}

// End is a machine and the simulated decoder behind it.
type End struct {
	*pair.Machine
	Side   tandem.Side
	Config pair.Config
	Delay  func(step tandem.Step) time.Duration // how long a pass takes
	Begin  func(job pair.Decode, end func())    // begins a pass, instead of Delay, and calls end when it has ended; nil for none
	Dead   bool                                 // hears nothing
	Emits  []pair.Emit
	At     []time.Duration // when each was emitted
	Reason *pair.Reason    // of the end; nil before
	Notes  map[pair.NoteKind]int
	Since  time.Duration // when the running decode began

	kv      []tandem.Token
	running pair.Decode
}

// NewEnd returns a side whose passes take delay.
func NewEnd(cfg pair.Config, side tandem.Side, delay func(tandem.Step) time.Duration) *End {
	cfg.Self = side
	return &End{Machine: pair.New(cfg), Side: side, Config: cfg, Delay: delay, Notes: map[pair.NoteKind]int{}}
}

// Every is the same delay at every step.
func Every(d time.Duration) func(tandem.Step) time.Duration {
	return func(tandem.Step) time.Duration { return d }
}

// Tokens returns the tokens that the side emitted.
func (e *End) Tokens() []tandem.Token {
	out := make([]tandem.Token, len(e.Emits))
	for i, a := range e.Emits {
		out[i] = a.Token
	}
	return out
}

// Step tells a machine what happened, all of it at once, and carries out its actions.
func (w *World) Step(to *End, events ...pair.Event) {
	if to.Dead {
		return
	}
	for _, a := range to.Machine.Step(events...) {
		switch a := a.(type) {
		case pair.Decode:
			w.decode(to, a)
		case pair.SendDraft:
			w.Send(to, pair.PeerDraft(a))
		case pair.SendTarget:
			w.Send(to, pair.PeerTarget(a))
		case pair.SendSync:
			w.Send(to, pair.PeerSync(a))
		case pair.SendNeedSync:
			w.Send(to, pair.PeerNeedSync{})
		case pair.SendHandover:
			w.Send(to, pair.PeerHandover(a))
		case pair.Emit:
			to.Emits, to.At = append(to.Emits, a), append(to.At, w.Now)
			if w.Emitted != nil {
				w.Emitted(to, a)
			}
		case pair.Finish:
			to.Reason = &a.Reason
		case pair.Note:
			to.Notes[a.Kind]++
			if w.Noted != nil {
				w.Noted(to, a)
			}
		}
	}
	if w.Flush != nil {
		w.Flush(to)
	}
}

// decode puts the decoder to work on job, preempting what runs.
func (w *World) decode(e *End, job pair.Decode) {
	if e.running.ID != 0 {
		w.preempt(e)
	}
	e.running, e.Since = job, w.Now
	if e.Begin != nil {
		e.Begin(job, func() { w.decoded(e, job) })
		return
	}
	w.After(max(e.Delay(job.Step()), 0), func() { w.decoded(e, job) })
}

// decoded ends a pass, unless it was superseded.
func (w *World) decoded(e *End, job pair.Decode) {
	if e.running.ID != job.ID {
		return
	}
	e.running = pair.Decode{}
	w.apply(e, job.Pass, true)
	if w.Err != nil {
		return
	}
	done, err := w.result(e, job, w.Now-e.Since)
	if err != nil {
		w.Err = err
		return
	}
	if w.Decoded != nil {
		w.Decoded(e, job.Step())
	}
	w.Step(e, done)
}

// preempt ends the running decode, with what effect it had.
func (w *World) preempt(e *End) {
	old, how := e.running, truncated
	if w.preemption != nil {
		how = w.preemption()
	}
	if how != untouched {
		w.apply(e, old.Pass, how != truncated)
	}
	if how == answered {
		x, err := w.Source.After(e.Side, e.kv)
		if err != nil {
			w.Err = err
		}
		w.After(0, func() { w.Step(e, pair.Decoded{ID: old.ID, Dist: x.Dist, H: x.H}) })
	}
	if w.Preempted != nil {
		w.Preempted(e, old.Step())
	}
}

// apply truncates the decoder's answer and, with all, appends to it.
func (w *World) apply(e *End, p tandem.Pass, all bool) {
	if p.Keep > len(e.kv) || len(p.Append) == 0 && p.Keep > 0 {
		w.Err = fmt.Errorf("%v: decode keeps %d of %d tokens and appends %d", e.Side, p.Keep, len(e.kv), len(p.Append))
		return
	}
	e.kv = e.kv[:p.Keep]
	if all {
		e.kv = append(slices.Clip(e.kv), p.Append...)
	}
}

// result is what the decoder answers once it holds the tokens of job. Further contexts take no further time, as on a
// device that waits for its weights.
func (w *World) result(e *End, job pair.Decode, took time.Duration) (out pair.Decoded, err error) {
	behind := func(answer []tandem.Token) tandem.Continuation {
		l, failed := w.Source.After(e.Side, answer)
		if failed != nil && err == nil {
			err = failed
		}
		f := tandem.Continuation{Dist: l.Dist, H: l.H}
		if len(answer) > 0 {
			f.Token = answer[len(answer)-1]
		}
		return f
	}
	asked := behind(e.kv)
	out = pair.Decoded{ID: job.ID, Dist: asked.Dist, H: asked.H, Took: took}
	branches := make([][]tandem.Token, len(job.Branches))
	for i, b := range job.Branches {
		before := e.kv[:len(e.kv)-b.Back]
		if b.After > 0 {
			before = branches[b.After-1]
		}
		branches[i] = append(slices.Clone(before), b.Token)
		f := behind(branches[i])
		f.After = b.After
		out.Branches = append(out.Branches, f)
	}
	text := slices.Clone(e.kv)
	for i := range len(job.Drafts) + job.Guess {
		var t tandem.Token
		if i < len(job.Drafts) {
			t = job.Drafts[i]
		} else if t, err = w.guess(e.Side, text, err); t < 0 {
			break
		}
		text = append(text, t)
		f := behind(text)
		f.After = i
		out.Guessed = append(out.Guessed, f)
	}
	return out, err
}

// guess returns a side's guess after some tokens, -1 for none.
func (w *World) guess(side tandem.Side, answer []tandem.Token, err error) (tandem.Token, error) {
	if w.Guess == nil || err != nil {
		return -1, err
	}
	if t, ok := w.Guess(side, answer); ok {
		return t, nil
	}
	return -1, nil
}

// Draft returns what side will draft after some tokens of the answer: a decoder's right guess.
func (w *World) Draft(side tandem.Side, answer []tandem.Token) (tandem.Token, error) {
	l, err := w.Source.After(side, answer)
	if err != nil {
		return 0, err
	}
	return w.Ends[side].Config.Rule().Draft(side, tandem.Step(len(answer)), l.Dist), nil
}

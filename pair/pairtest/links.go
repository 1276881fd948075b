package pairtest

import (
	"math/rand/v2"
	"time"

	"tandem"
	"tandem/pair"
)

// Link is one direction. Drafts and targets travel as datagrams: they may be lost, and then come late, with a later
// message; they may come twice or out of order. The rest keeps its order.
type Link struct {
	Delay, Jitter time.Duration
	Loss, Twice   float64 // probabilities

	stream time.Duration // arrival of the latest ordered message
}

// Links joins the two sides of a World by two Links, which may break and come back.
type Links struct {
	*World
	Rand  *rand.Rand
	Links [2]Link // indexed by the sender

	// Tamper may change a message on its way; nil drops it.
	Tamper func(from tandem.Side, e pair.Event) pair.Event

	down bool
	cuts int // what was sent before the latest cut is lost
}

// NewLinks returns a world of two sides whose passes take a millisecond, over links without delay. Two in three of its
// decoders' guesses are right, and whatever a superseded decode may have done happens.
func NewLinks(cfg pair.Config, source Source, seed uint64) *Links {
	w := &Links{World: &World{Clock: new(Clock), Source: source}, Rand: rand.New(rand.NewPCG(seed, 99))}
	for s := range w.Ends {
		w.Ends[s] = NewEnd(cfg, tandem.Side(s), Every(time.Millisecond))
	}
	w.World.Send = w.send
	w.World.preemption = anyPreemption(w.Rand)
	w.World.Guess = func(side tandem.Side, answer []tandem.Token) (tandem.Token, bool) {
		t := tandem.Token(1)
		if w.Rand.IntN(3) > 0 {
			t, w.Err = w.Draft(side, answer)
		}
		return t, true
	}
	return w
}

// Open starts both sides; the cloud is ready after a while.
func (w *Links) Open(alone bool, ready time.Duration) {
	if w.Ends[0].Config.Placement == tandem.PlaceGreedy {
		w.After(0, func() { w.Measure(500) })
	}
	w.After(0, func() { w.Step(w.Ends[tandem.Device], pair.Start{Alone: alone}) })
	w.After(ready/2, func() { w.Step(w.Ends[tandem.Cloud], pair.Start{}) })
	w.After(ready, func() { w.Step(w.Ends[tandem.Device], pair.PeerReady{}) })
}

// Measure tells both sides the round-trip time now and then, with errors. The first time is at once.
func (w *Links) Measure(times int) {
	for _, e := range w.Ends {
		rtt := w.Links[0].Delay + w.Links[1].Delay
		w.Step(e, pair.Measured{RTT: rtt/2 + time.Duration(w.Rand.Int64N(int64(rtt)+1))})
	}
	if times > 1 {
		w.After(20*time.Millisecond, func() { w.Measure(times - 1) })
	}
}

// Cut breaks the link: what is on its way is lost, and so is what is sent until Mend.
func (w *Links) Cut() {
	w.down = true
	w.cuts++
	w.Links[0].stream, w.Links[1].stream = 0, 0
}

// Mend makes the link work again.
func (w *Links) Mend() { w.down = false }

func (w *Links) send(from *End, e pair.Event) {
	switch e.(type) {
	case pair.PeerDraft, pair.PeerTarget:
		w.datagram(from.Side, e)
	default:
		w.stream(from.Side, e)
	}
}

func (w *Links) datagram(from tandem.Side, e pair.Event) {
	l := &w.Links[from]
	d := l.Delay
	if l.Jitter > 0 {
		d += time.Duration(w.Rand.Int64N(int64(l.Jitter)))
	}
	for w.Rand.Float64() < l.Loss {
		d += 5*time.Millisecond + l.Delay/2
	}
	w.deliver(from, d, e)
	if w.Rand.Float64() < l.Twice {
		w.deliver(from, d+time.Duration(w.Rand.Int64N(int64(20*time.Millisecond))), e)
	}
}

func (w *Links) stream(from tandem.Side, e pair.Event) {
	l := &w.Links[from]
	at := w.Now + l.Delay
	if l.Jitter > 0 {
		at += time.Duration(w.Rand.Int64N(int64(l.Jitter)))
	}
	for w.Rand.Float64() < l.Loss {
		at += 3*l.Delay + 10*time.Millisecond
	}
	l.stream = max(at, l.stream)
	w.deliver(from, l.stream-w.Now, e)
	if w.Rand.Float64() < l.Twice {
		w.deliver(from, l.stream-w.Now+time.Duration(w.Rand.Int64N(int64(50*time.Millisecond))), e)
	}
}

func (w *Links) deliver(from tandem.Side, d time.Duration, e pair.Event) {
	if w.Tamper != nil {
		if e = w.Tamper(from, e); e == nil {
			return
		}
	}
	cuts := w.cuts
	if w.down {
		return
	}
	w.After(d, func() {
		if cuts == w.cuts && !w.down {
			w.Step(w.Ends[from.Other()], e)
		}
	})
}

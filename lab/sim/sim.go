package sim

import (
	"context"
	"fmt"
	"time"

	"tandem"
	"tandem/netem"
	"tandem/node/presence"
	"tandem/pair"
	"tandem/pair/pairtest"
)

// Setting describes an answer to play. Arrays are indexed by tandem.Side; of links, by the sender.
type Setting struct {
	Pair   pair.Config // of both sides; Self is filled in
	Source pairtest.Source
	Decode [2]Delay
	Begin  [2]time.Duration // when a side has read its documents and may draft
	Link   [2]netem.Config
	Wire   Wire
	Alone  bool               // no cloud: the device's drafts are the answer
	Warm   bool               // the device knows that the cloud has begun: no Ready travels
	Guess  float64            // share of the decoders' guesses that are right; 0 for no guesses
	Trace  func(at Happening) // called with what happens, in order; nil for none
	// Patience, if it is not zero, makes the device continue alone while it hears nothing of the cloud, and take the cloud
	// back afterwards, as a live one does. Without it the device waits forever.
	Patience presence.Patience
}

// Delay is how long a side takes for the distribution after n tokens of the answer.
type Delay func(n int) time.Duration

// Every is the same delay at every step.
func Every(d time.Duration) Delay { return func(int) time.Duration { return d } }

// Outcome is a played answer.
type Outcome struct {
	Tokens []Token
	Took   time.Duration // until the device had finished
	Pair   [2]pair.Stats
	Wire   [2]Traffic // sent by each side
}

// Token is one token of the answer, as the device shows it.
type Token struct {
	ID    tandem.Token
	By    tandem.By
	Alone bool
	At    time.Duration
}

// IDs returns the tokens of the answer.
func (o Outcome) IDs() []tandem.Token {
	ids := make([]tandem.Token, len(o.Tokens))
	for i, t := range o.Tokens {
		ids[i] = t.ID
	}
	return ids
}

// Gaps returns the times between tokens, the first counted from start.
func (o Outcome) Gaps(start time.Duration) []time.Duration {
	gaps := make([]time.Duration, len(o.Tokens))
	for i, t := range o.Tokens {
		gaps[i], start = t.At-start, t.At
	}
	return gaps
}

// Happening is an interval or an instant of a played answer, for timelines.
type Happening struct {
	Kind     Kind
	Side     tandem.Side // whose decoder, or the sender
	From, To time.Duration
	Step     tandem.Step
	By       tandem.By     // of a target
	RTT      time.Duration // of a measurement
}

// Kind is the kind of a Happening.
type Kind uint8

// What happens.
const (
	Decoding  Kind = iota // a decoder worked, and Side's draft of Step came of it
	Preempted             // a decoder worked for nothing
	Draft                 // a draft travelled
	Target                // a target travelled
	Handover              // a hand-over travelled
	Agreed                // the device emitted a token
	Rejected              // Side's draft of Step was rejected, as the device saw it
	Measured              // a round trip was measured by Side
)

var kindNames = [...]string{"decoding", "preempted", "draft", "target", "handover", "agreed", "rejected", "measured"}

func (k Kind) String() string { return kindNames[k] }

// An answer that makes no progress is ended.
const (
	maxTime   = 6 * time.Hour
	maxEvents = 20_000_000
)

// world is an answer being played.
type world struct {
	Setting
	pairtest.World
	ports [2]*port
	cloud *presence.Machine // as the device sees it; nil without patience
}

// Run plays one answer.
func Run(ctx context.Context, s Setting) (Outcome, error) {
	w := &world{Setting: s, World: pairtest.World{Clock: new(pairtest.Clock), Source: s.Source}}
	w.World.Send = func(from *pairtest.End, e pair.Event) { w.ports[from.Side].send(e) }
	w.World.Flush = func(from *pairtest.End) { w.ports[from.Side].carrier.flush() }
	if s.Guess > 0 {
		w.World.Guess = w.guess
	}
	w.observe()
	for side := range w.Ends {
		link, err := netem.NewLink(s.Link[side])
		if err != nil {
			return Outcome{}, err
		}
		delay := s.Decode[side]
		w.Ends[side] = pairtest.NewEnd(s.Pair, tandem.Side(side), func(step tandem.Step) time.Duration { return delay(int(step)) })
		w.ports[side] = w.newPort(w.Ends[side], link)
	}
	w.start()
	device := w.Ends[tandem.Device]
	for n := 0; device.Reason == nil && w.Err == nil && w.Next(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return Outcome{}, context.Cause(ctx)
		}
		if n > maxEvents || w.Now > maxTime {
			return Outcome{}, fmt.Errorf("sim: no end after %v and %d tokens", w.Now, len(device.Emits))
		}
	}
	if w.Err == nil && device.Reason == nil {
		w.Err = fmt.Errorf("sim: the answer stalls after %v and %d tokens", w.Now, len(device.Emits))
	}
	return w.outcome(), w.Err
}

// observe traces what the machines do.
func (w *world) observe() {
	w.Emitted = func(e *pairtest.End, a pair.Emit) {
		if e.Side == tandem.Device {
			if !a.Alone {
				w.stepPresence(presence.Agreed)
			}
			w.trace(Happening{Kind: Agreed, From: w.Now, To: w.Now, Step: a.Step, By: a.By})
		}
	}
	w.Noted = func(e *pairtest.End, a pair.Note) {
		if a.Kind == pair.NoteRejected && e.Side == tandem.Device {
			w.trace(Happening{Kind: Rejected, Side: a.Side, From: w.Now, To: w.Now, Step: a.Step})
		}
	}
	w.Decoded = func(e *pairtest.End, step tandem.Step) {
		w.trace(Happening{Kind: Decoding, Side: e.Side, From: e.Since, To: w.Now, Step: step})
	}
	w.Preempted = func(e *pairtest.End, step tandem.Step) {
		w.trace(Happening{Kind: Preempted, Side: e.Side, From: e.Since, To: w.Now, Step: step})
	}
}

// roundTrip is what a handshake would have measured.
func (s Setting) roundTrip() time.Duration {
	rtt := s.Link[0].Delay + s.Link[1].Delay
	for _, l := range s.Link {
		if l.Trace != nil && len(l.Trace.Points) > 0 {
			rtt += l.Trace.Points[0].Delay
		}
	}
	return rtt
}

func (w *world) start() {
	device, cloud := w.Ends[tandem.Device], w.Ends[tandem.Cloud]
	if !w.Alone {
		if w.Patience != (presence.Patience{}) {
			w.watch()
		}
		for _, p := range w.ports {
			p.echo()
		}
	}
	w.After(w.Begin[tandem.Device], func() {
		w.Step(device, pair.Measured{RTT: w.ports[tandem.Device].rtt})
		w.Step(device, pair.Start{Alone: w.Alone})
		w.stepPresence(presence.Listening)
	})
	if w.Alone {
		return
	}
	w.After(w.Begin[tandem.Cloud], func() {
		w.Step(cloud, pair.Measured{RTT: w.ports[tandem.Cloud].rtt})
		w.Step(cloud, pair.Start{})
		if w.Warm {
			w.ready()
			return
		}
		w.ports[tandem.Cloud].send(pair.PeerReady{})
		w.ports[tandem.Cloud].carrier.flush()
	})
}

func (w *world) outcome() Outcome {
	device := w.Ends[tandem.Device]
	o := Outcome{Took: w.Now}
	for i, a := range device.Emits {
		o.Tokens = append(o.Tokens, Token{a.Token, a.By, a.Alone, device.At[i]})
	}
	for side, p := range w.ports {
		o.Pair[side], o.Wire[side] = w.Ends[side].Stats(), p.traffic
		o.Wire[side].Repeats = p.carrier.repeats()
	}
	return o
}

// nobody is a token that no side drafts.
const nobody tandem.Token = 1 << 20

// guess is a decoder's guess behind some tokens: right as often as the setting says, and the same whenever it is asked
// for.
func (w *world) guess(side tandem.Side, answer []tandem.Token) (tandem.Token, bool) {
	x := (uint64(tandem.PrefixOf(answer)) ^ w.Pair.Seed ^ uint64(side)<<32) * 0x9e3779b97f4a7c15
	if float64(x>>11)/(1<<53) >= w.Setting.Guess {
		return nobody, true
	}
	t, err := w.Draft(side, answer)
	if err != nil {
		w.Err = err
	}
	return t, true
}

func (w *world) trace(h Happening) {
	if w.Trace != nil {
		w.Trace(h)
	}
}

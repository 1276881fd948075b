package sim

import (
	"container/heap"
	"context"
	"fmt"
	"slices"
	"time"

	"tandem"
	"tandem/netem"
	"tandem/node/presence"
	"tandem/pair"
)

// Setting is one answer to be played. Arrays are indexed by tandem.Side; of links, by the sender.
type Setting struct {
	Pair   pair.Config // of both sides; Self is filled in
	Source Source
	Decode [2]Delay
	Begin  [2]time.Duration // when a side has read its documents and may draft
	Link   [2]netem.Config
	Wire   Wire
	Alone  bool               // no cloud: the device's drafts are the answer
	Warm   bool               // the device knows that the cloud has begun: no Ready travels
	Guess  float64            // how often a decoder's guess of its side's next draft is right, where Pair.Contexts has room for guesses; 0 for no guesses
	Trace  func(at Happening) // told what happens, in order; nil for nobody
	// Patience, if there is any, makes the device go on alone while nothing is heard of the cloud and take it
	// back afterwards, as a live one does; else it waits for ever.
	Patience presence.Patience
}

// Delay is how long a side takes for the distribution after n tokens of the answer.
type Delay func(n int) time.Duration

// Every is the same delay at every step.
func Every(d time.Duration) Delay { return func(int) time.Duration { return d } }

// Outcome is an answer that was played.
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
	Decoding  Kind = iota // a decoder worked; Side's draft of Step came of it
	Preempted             // a decoder worked in vain
	Draft                 // a draft travelled
	Target                // a target travelled
	Handover              // a hand-over travelled
	Agreed                // the device emitted a token
	Rejected              // Side's draft of Step was rejected, as the device saw it
	Measured              // a round trip was measured by Side
)

var kindNames = [...]string{"decoding", "preempted", "draft", "target", "handover", "agreed", "rejected", "measured"}

func (k Kind) String() string { return kindNames[k] }

// An answer that goes nowhere is ended.
const (
	maxTime   = 6 * time.Hour
	maxEvents = 20_000_000
)

// world is an answer being played.
type world struct {
	Setting
	now   time.Duration
	queue events
	seq   int
	ends  [2]*end
	cloud *presence.Machine // as the device sees it; nil without patience
	err   error
}

// end is a machine with its decoder and its end of the wire.
type end struct {
	*pair.Machine
	side     tandem.Side
	kv       []tandem.Token
	running  pair.Decode
	since    time.Duration // when it began
	wire     port
	emits    []Token
	finished bool
}

// Run plays one answer.
func Run(ctx context.Context, s Setting) (Outcome, error) {
	w := &world{Setting: s}
	for side := range w.ends {
		cfg := s.Pair
		cfg.Self = tandem.Side(side)
		link, err := netem.NewLink(s.Link[side])
		if err != nil {
			return Outcome{}, err
		}
		w.ends[side] = &end{Machine: pair.New(cfg), side: cfg.Self, wire: newPort(link, s.roundTrip())}
	}
	w.start()
	for n := 0; len(w.queue) > 0 && w.err == nil && !w.ends[tandem.Device].finished; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return Outcome{}, context.Cause(ctx)
		}
		if n > maxEvents || w.now > maxTime {
			return Outcome{}, fmt.Errorf("sim: no end after %v and %d tokens", w.now, len(w.ends[tandem.Device].emits))
		}
		e := heap.Pop(&w.queue).(event)
		w.now = e.at
		e.do()
	}
	if device := w.ends[tandem.Device]; w.err == nil && !device.finished {
		w.err = fmt.Errorf("sim: the answer stalls after %v and %d tokens", w.now, len(device.emits))
	}
	return w.outcome(), w.err
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
	device, cloud := w.ends[tandem.Device], w.ends[tandem.Cloud]
	if !w.Alone && w.Patience != (presence.Patience{}) {
		w.watch()
	}
	w.after(w.Begin[tandem.Device], func() {
		w.step(device, pair.Measured{RTT: device.wire.rtt})
		w.step(device, pair.Start{Alone: w.Alone})
		w.stepPresence(presence.Listening)
	})
	if w.Alone {
		return
	}
	w.after(w.Begin[tandem.Cloud], func() {
		w.step(cloud, pair.Measured{RTT: cloud.wire.rtt})
		w.step(cloud, pair.Start{})
		if w.Warm {
			w.ready()
			return
		}
		w.send(cloud, pair.PeerReady{}, controlSize)
		w.flush(cloud)
	})
}

func (w *world) outcome() Outcome {
	device := w.ends[tandem.Device]
	o := Outcome{Tokens: device.emits, Took: w.now}
	for s, e := range w.ends {
		o.Pair[s], o.Wire[s] = e.Stats(), e.wire.traffic
	}
	return o
}

// step steps a machine and carries out its actions.
func (w *world) step(to *end, e pair.Event) {
	for _, a := range to.Step(e) {
		switch a := a.(type) {
		case pair.Decode:
			w.decode(to, a)
		case pair.SendDraft:
			w.send(to, pair.PeerDraft(a), draftSize(a.Draft))
		case pair.SendTarget:
			w.send(to, pair.PeerTarget(a), targetSize)
		case pair.SendSync:
			w.send(to, pair.PeerSync(a), controlSize+3*len(a.Tokens))
		case pair.SendNeedSync:
			w.send(to, pair.PeerNeedSync{}, controlSize)
		case pair.SendHandover:
			w.send(to, pair.PeerHandover(a), controlSize)
		case pair.Emit:
			to.emits = append(to.emits, Token{a.Token, a.By, a.Alone, w.now})
			if to.side == tandem.Device {
				if !a.Alone {
					w.stepPresence(presence.Moved)
				}
				w.trace(Happening{Kind: Agreed, From: w.now, To: w.now, Step: a.Step, By: a.By})
			}
		case pair.Finish:
			to.finished = true
		case pair.Note:
			if a.Kind == pair.NoteRejected && to.side == tandem.Device {
				w.trace(Happening{Kind: Rejected, Side: a.Side, From: w.now, To: w.now, Step: a.Step})
			}
		}
	}
	w.flush(to)
}

// decode puts the decoder to work on job; what it was at is preempted and has had no effect.
func (w *world) decode(e *end, job pair.Decode) {
	if job.Keep > len(e.kv) {
		w.err = fmt.Errorf("sim: %v: decode %d keeps %d of %d tokens", e.side, job.ID, job.Keep, len(e.kv))
		return
	}
	if e.running.ID != 0 {
		w.trace(Happening{Kind: Preempted, Side: e.side, From: e.since, To: w.now, Step: e.running.Step()})
	}
	e.kv = e.kv[:job.Keep]
	e.running, e.since = job, w.now
	took := max(w.Decode[e.side](int(job.Step())), 0)
	w.after(took, func() {
		if e.running.ID != job.ID {
			return
		}
		e.running = pair.Decode{}
		e.kv = append(e.kv, job.Append...)
		out, err := w.Source.After(e.side, e.kv)
		if err != nil {
			w.err = err
			return
		}
		also, chain, err := w.further(e, job)
		if err != nil {
			w.err = err
			return
		}
		w.trace(Happening{Kind: Decoding, Side: e.side, From: w.now - took, To: w.now, Step: job.Step()})
		w.step(e, pair.Decoded{ID: job.ID, Dist: out.Dist, H: out.H, Took: took, Also: also, Guessed: chain})
	})
}

// further decodes what a job takes beside the context wanted, in no further time: as on a device that waits for its
// weights.
func (w *world) further(e *end, job pair.Decode) (also, chain []tandem.Further, err error) {
	behind := func(answer []tandem.Token) (tandem.Further, error) {
		l, err := w.Source.After(e.side, answer)
		return tandem.Further{Token: answer[len(answer)-1], Dist: l.Dist, H: l.H}, err
	}
	for _, t := range job.Also {
		f, err := behind(append(slices.Clone(e.kv[:len(e.kv)-1]), t))
		if err != nil {
			return nil, nil, err
		}
		also = append(also, f)
	}
	text := slices.Clone(e.kv)
	for i := range len(job.Drafts) + job.Guess {
		t := nobody
		if i < len(job.Drafts) {
			t = job.Drafts[i]
		} else if w.Guess == 0 {
			break
		} else if w.guesses(e.side, text) {
			l, err := w.Source.After(e.side, text)
			if err != nil {
				return nil, nil, err
			}
			rule := w.Pair.Rule()
			t = rule.Draft(e.side, tandem.Step(len(text)), l.Dist)
		}
		text = append(text, t)
		f, err := behind(text)
		if err != nil {
			return nil, nil, err
		}
		chain = append(chain, f)
	}
	return also, chain, nil
}

// nobody says this token.
const nobody tandem.Token = 1 << 20

// guesses reports whether a side's guess behind some tokens is right: the same whenever it is asked for.
func (w *world) guesses(side tandem.Side, answer []tandem.Token) bool {
	x := (uint64(tandem.PrefixOf(answer)) ^ w.Pair.Seed ^ uint64(side)<<32) * 0x9e3779b97f4a7c15
	return float64(x>>11)/(1<<53) < w.Guess
}

func (w *world) trace(h Happening) {
	if w.Trace != nil {
		w.Trace(h)
	}
}

func (w *world) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.queue, event{w.now + d, w.seq, do})
}

// event is something that will happen.
type event struct {
	at  time.Duration
	seq int // among equals, as they were planned
	do  func()
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	old := *q
	x := old[len(old)-1]
	old[len(old)-1] = event{}
	*q = old[:len(old)-1]
	return x
}

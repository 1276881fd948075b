package pair

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tandem"
	"tandem/scheduler"
)

// script turns bytes into events, so that a fuzzer can send a machine anything.
type script struct{ b []byte }

func (s *script) byte() byte {
	if len(s.b) == 0 {
		return 0
	}
	x := s.b[0]
	s.b = s.b[1:]
	return x
}

// near returns a number that is mostly what the machine expects, sometimes close to it, and sometimes absurd.
func (s *script) near(x uint32) uint32 {
	switch b := s.byte(); {
	case b < 224:
		return x
	case b < 248:
		return x + uint32(b%32) - 8
	default:
		return math.MaxUint32 - uint32(b%4)
	}
}

// dist is mostly a distribution over few tokens, so that the two sides often agree.
func (s *script) dist() tandem.Dist {
	var d tandem.Dist
	odd := s.byte()%8 == 0
	n, left := 1+int(s.byte()%3), uint32(tandem.Mass)
	for i := range n {
		w := left
		if i < n-1 {
			w = 1 + uint32(s.byte())*128
		}
		left -= w
		d.IDs = append(d.IDs, tandem.Token(8*i)+tandem.Token(s.byte()/192))
		d.Weights = append(d.Weights, w)
		if odd {
			d.IDs[i] += tandem.Token(s.byte()%24) - 8 // not always ascending or positive
		}
	}
	if odd && s.byte()%2 == 0 {
		d.Weights = d.Weights[1:]
	}
	return d
}

func (s *script) tokens() (out []tandem.Token) {
	for range s.byte() % 6 {
		out = append(out, tandem.Token(int8(s.byte())%24))
	}
	return out
}

func (s *script) event(m *Machine) Event {
	switch { // soon together, where most can happen
	case m.state == idle && s.byte()%2 == 0:
		return Start{Alone: s.byte()%4 == 0}
	case m.state == stopped && s.byte()%4 == 0:
		return PeerSync{Epoch: m.epoch + 1, Tokens: slices.Clone(m.answer)}
	case m.state != together && s.byte()%8 == 0:
		return PeerReady{}
	}
	prefix := m.prefix
	if d, ok := m.own.Last(); ok && s.byte()%8 == 0 {
		prefix = d.Prefix.Then(d.Token)
	} else if s.byte()%16 == 0 {
		prefix++
	}
	switch s.byte() % 24 {
	case 0:
		return Start{Alone: s.byte()%2 == 0}
	case 1:
		return PeerReady{}
	case 2:
		return PeerLost{}
	case 3:
		return PeerNeedSync{}
	case 4:
		return PeerSync{Epoch: s.near(m.epoch + 1), Tokens: s.tokens()}
	case 5, 6, 7:
		return s.decoded(m)
	case 16:
		h := tandem.Handover{
			Epoch: s.near(m.epoch), Step: tandem.Step(s.near(uint32(m.front()))), Prefix: prefix, Versions: m.versions(),
			Accept: [2]float64{float64(s.byte()) / 200, math.NaN()},
		}
		if s.byte()%4 > 0 {
			h.Accept[1] = 0.5
		}
		h.Versions[1] = s.near(h.Versions[1])
		return PeerHandover{h}
	case 17:
		return Measured{RTT: time.Duration(int32(s.near(50000))) * time.Microsecond}
	case 9, 10, 11:
		x := tandem.Target{
			Epoch: s.near(m.epoch), Step: tandem.Step(s.near(uint32(m.front()))), Prefix: prefix,
			Token: tandem.Token(int8(s.byte()) % 24), By: tandem.By(s.byte() % 5),
		}
		if own, ok := m.own.Front(); ok && s.byte()%4 > 0 {
			x.Token, x.By = own.Token, tandem.ByBoth
		}
		return PeerTarget{x}
	default:
		step := m.front()
		if last, ok := m.peer.Last(); ok && s.byte()%4 > 0 {
			step, prefix = last.Step+1, last.Prefix.Then(last.Token) // it drafts ahead
		}
		dist := s.dist()
		d := tandem.Draft{
			Epoch: s.near(m.epoch), Step: tandem.Step(s.near(uint32(step))), Version: s.near(m.peer.Version()),
			Prefix: prefix, Dist: dist, H: tandem.Fixed(s.near(0)),
		}
		if dist.Check(24) == nil && s.byte()%16 > 0 {
			d.Token = m.rule.Draft(m.cfg.Self.Other(), d.Step, dist)
		}
		if s.byte()%4 == 0 {
			d.Version = tandem.AnyVersion // a hedge
		}
		return PeerDraft{d}
	}
}

// decoded is the end of a pass, mostly of the one under way. In addition to the distribution that was asked for it holds
// some of the hedges, checks and guesses, and sometimes others.
func (s *script) decoded(m *Machine) Event {
	d := Decoded{ID: uint64(s.near(uint32(m.running.ID))), Dist: s.dist(), H: tandem.Fixed(s.near(0)), Took: 30 * time.Millisecond}
	if s.byte()%8 == 0 {
		d.Took = time.Duration(s.byte()) * time.Millisecond
	}
	for _, b := range m.running.Branches {
		if s.byte()%8 > 0 {
			d.Branches = append(d.Branches, tandem.Continuation{Token: b.Token + tandem.Token(s.byte()/250), After: b.After + int(s.byte()/250), Dist: s.dist(), H: tandem.Fixed(s.near(0))})
		}
	}
	before := d.Dist
	for i := range int(s.byte() % 5) {
		t := tandem.Token(int8(s.byte()) % 24)
		switch {
		case s.byte()%8 == 0 || before.Check(24) != nil:
		case i < len(m.running.Drafts):
			t = m.running.Drafts[i]
		default: // as it will be drafted
			t = m.rule.Draft(m.cfg.Self, m.running.step+tandem.Step(i), before)
		}
		before = s.dist()
		d.Guessed = append(d.Guessed, tandem.Continuation{Token: t, After: int(int32(s.near(uint32(len(d.Guessed))))), Dist: before, H: tandem.Fixed(s.near(0))})
	}
	return d
}

// toAndFro hands over after every step.
type toAndFro struct{}

func (toAndFro) Aggregator(now tandem.Side, _ scheduler.Estimate, _ scheduler.Moment) tandem.Side {
	return now.Other()
}

// listen checks what must hold for a machine whatever happens: no panic, bounded memory, Emit in order of steps (on the
// device each exactly once), one Finish at the end, and no Decode beyond what the decoder holds.
type listen struct {
	m     *Machine
	steps int
	epoch uint32
	ended bool
	kv    int // tokens that the decoder holds for certain
	id    uint64
	next  int // after the Decode under way
}

func (l *listen) step(t testing.TB, e Event) {
	if d, ok := e.(Decoded); ok && d.ID == l.id && l.id != 0 {
		l.kv, l.id = l.next, 0
	}
	for _, a := range l.m.Step(e) {
		if n, ok := a.(Note); ok && n.Kind == NoteDropped {
			continue
		}
		if l.ended {
			if sync, ok := e.(PeerSync); !ok || l.m.device() || sync.Epoch <= l.epoch {
				t.Fatalf("%T%+v after the end", a, a)
			}
			l.ended = false
		}
		switch a := a.(type) {
		case Emit:
			if l.m.device() && int(a.Step) != l.steps {
				t.Fatalf("step %d after %d", a.Step, l.steps)
			}
			l.steps++
		case Finish:
			l.ended = true
		case Decode:
			if a.Keep > l.kv || a.Keep > 0 && len(a.Append) == 0 || a.ID <= l.id {
				t.Fatalf("decode %+v when %d tokens are certain", a, l.kv)
			}
			back := 1
			for i, b := range a.Branches {
				if back = max(back, b.Back); b.After > i || (b.After == 0) != (b.Back > 0) || b.Back > len(a.Append) {
					t.Fatalf("decode %+v: branch %d continues nothing", a, i)
				}
			}
			if n := back + len(a.Branches) + len(a.Drafts) + a.Guess; n > max(1, l.m.cfg.PassPlaces, l.m.cfg.PassRows) {
				t.Fatalf("decode %+v: %d contexts of %d", a, n, l.m.cfg.PassPlaces)
			}
			l.kv, l.next, l.id = a.Keep, a.Keep+len(a.Append), a.ID
		case SendSync:
			if a.Epoch <= l.epoch {
				t.Fatalf("epoch %d after %d", a.Epoch, l.epoch)
			}
		}
	}
	l.epoch = l.m.epoch
	if err := l.m.CheckBounds(); err != nil {
		t.Fatal(err)
	}
	if len(l.m.answer) > l.m.cfg.MaxTokens {
		t.Fatalf("an answer of %d tokens", len(l.m.answer))
	}
	if valid, wasted, empty := l.m.Stats().Rows(); min(valid, wasted, empty, l.m.stats.Guessed, l.m.stats.Wasted) < 0 {
		t.Fatalf("negative counts in %+v", l.m.Stats())
	}
}

func playBytes(t testing.TB, b []byte) Stats {
	s := &script{b}
	cfg := Config{
		Self: tandem.Side(s.byte() % 2),
		Settings: tandem.Settings{
			Placement: tandem.Placement(s.byte() % 5), Coupling: tandem.Coupling(s.byte() % 3), MaxTokens: 12,
			Lookahead: int(s.byte() % 9), Gamma: tandem.HalfGamma, PassPlaces: int(s.byte() % (tandem.MaxPassPlaces + 2)),
		},
		PassRows: int(s.byte()%4) * 11,
		Stop:     []tandem.Token{7},
		Vocab:    24,
	}
	cfg.Sampling.Temperature = float64(s.byte() % 2)
	cfg.Switch = scheduler.Policy{Horizon: int(s.byte()%2) * scheduler.DefaultHorizon}
	if s.byte()%8 == 0 {
		cfg.Switch = toAndFro{}
	}
	l := &listen{m: New(cfg)}
	for len(s.b) > 0 {
		l.step(t, s.event(l.m))
	}
	return l.m.Stats()
}

func FuzzMachine(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		b := make([]byte, 400)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { playBytes(t, b) })
}

// The fuzz target on random bytes. It must meet every way to decode ahead.
func TestAnyEvents(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var met Stats
	for range 10000 {
		b := make([]byte, 30+rng.IntN(1500))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		s := playBytes(t, b)
		met.Hedged, met.Checked, met.Guessed, met.Hedges = met.Hedged+s.Hedged, met.Checked+s.Checked, met.Guessed+s.Guessed, met.Hedges+s.Hedges
		met.OfHedges, met.OfChecks, met.OfGuesses = met.OfHedges+s.OfHedges, met.OfChecks+s.OfChecks, met.OfGuesses+s.OfGuesses
	}
	t.Logf("%d contexts behind runners-up, %d behind drafts, %d behind guesses; %d, %d and %d of them became drafts; %d hedges taken",
		met.Hedged, met.Checked, met.Guessed, met.OfHedges, met.OfChecks, met.OfGuesses, met.Hedges)
	if min(met.Hedged, met.Checked, met.Guessed, met.OfHedges, met.OfChecks, met.OfGuesses, met.Hedges) < 20 {
		t.Error("some of them hardly ever")
	}
}

package pair

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tandem"
	"tandem/profiler"
)

// script turns bytes into events: a fuzzer's way to say anything to a machine.
type script struct{ b []byte }

func (s *script) byte() byte {
	if len(s.b) == 0 {
		return 0
	}
	x := s.b[0]
	s.b = s.b[1:]
	return x
}

// small is mostly near what the machine expects, sometimes absurd.
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
		h := Handover{
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

// decoded is the end of a pass, mostly of the one under way. Beside the distribution that was asked for it brings some
// of the hedges, checks and guesses, and sometimes what nobody asked for.
func (s *script) decoded(m *Machine) Event {
	d := Decoded{ID: uint64(s.near(uint32(m.running.ID))), Dist: s.dist(), H: tandem.Fixed(s.near(0)), Took: 30 * time.Millisecond}
	if s.byte()%8 == 0 {
		d.Took = time.Duration(s.byte()) * time.Millisecond
	}
	for _, t := range m.running.Also {
		if s.byte()%3 > 0 {
			d.Also = append(d.Also, tandem.Further{Token: t + tandem.Token(s.byte()/250), Dist: s.dist(), H: tandem.Fixed(s.near(0))})
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
		d.Guessed = append(d.Guessed, tandem.Further{Token: t, Dist: before, H: tandem.Fixed(s.near(0))})
	}
	return d
}

// listen checks what holds for a machine whatever it is told: no panic, bounded memory, Emit in order of
// steps (on the device each exactly once), one Finish at the end, Decode within what the decoder holds.
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
			if n := 1 + len(a.Also) + len(a.Drafts) + a.Guess; n > max(1, l.m.cfg.Contexts) {
				t.Fatalf("decode %+v: %d contexts of %d", a, n, l.m.cfg.Contexts)
			}
			l.kv, l.next, l.id = a.Keep, a.Keep+len(a.Append), a.ID
		case SendSync:
			if a.Epoch <= l.epoch {
				t.Fatalf("epoch %d after %d", a.Epoch, l.epoch)
			}
		}
	}
	l.epoch = l.m.epoch
	limit := 2 * l.m.cfg.Lookahead
	if l.m.own.Len() > l.m.cfg.Lookahead || l.m.peer.Len() > limit || l.m.targets.Len() > limit {
		t.Fatalf("queues of %d, %d and %d", l.m.own.Len(), l.m.peer.Len(), l.m.targets.Len())
	}
	if l.m.hedges.Len() > limit*tandem.MaxContexts || len(l.m.ahead.known) > mostKnown {
		t.Fatalf("%d hedges and %d distributions kept", l.m.hedges.Len(), len(l.m.ahead.known))
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
	l := &listen{m: New(Config{
		Settings: tandem.Settings{Placement: tandem.Placement(s.byte() % 5), Coupling: tandem.Coupling(s.byte() % 2), MaxTokens: 12, Lookahead: int(s.byte() % 9), Gamma: tandem.HalfGamma, Contexts: int(s.byte() % (tandem.MaxContexts + 2))},
		Self:     tandem.Side(s.byte() % 2),
		Greedy:   s.byte()%2 == 0,
		Stop:     []tandem.Token{7},
		Vocab:    24,
		Horizon:  int(s.byte()%2) * DefaultHorizon,
		Random:   s.byte()%8 == 0,
	})}
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

// Random bytes at random places of random lengths: the fuzz target without a fuzzer. It comes by every way to look ahead.
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

// junk is a message that an honest peer could not send now, or could only send twice.
func junk(rng *rand.Rand, e Event, epoch uint32) Event {
	switch e := e.(type) {
	case PeerDraft:
		switch d := e.Draft; rng.IntN(6) {
		case 0:
			d.Epoch--
			return PeerDraft{d}
		case 1:
			d.Step += 1000
			return PeerDraft{d}
		case 2:
			d.Dist.Weights = slices.Clone(d.Dist.Weights)
			d.Dist.Weights[0]++
			return PeerDraft{d}
		case 3:
			d.Dist.IDs = nil
			return PeerDraft{d}
		case 4:
			d.Version += math.MaxUint32 / 2
			return PeerDraft{d}
		}
	case PeerTarget:
		switch x := e.Target; rng.IntN(3) {
		case 0:
			x.Epoch--
			return PeerTarget{x}
		case 1:
			x.Step += 1000
			return PeerTarget{x}
		case 2:
			x.Token = -1
			return PeerTarget{x}
		}
	case PeerHandover:
		switch h := e.Handover; rng.IntN(3) {
		case 0:
			h.Epoch--
			return PeerHandover{h}
		case 1:
			h.Step += 1000
			return PeerHandover{h}
		case 2:
			h.Accept[0] = math.NaN()
			return PeerHandover{h}
		}
	case PeerSync:
		return PeerSync{Epoch: epoch, Tokens: []tandem.Token{-5}}
	}
	return e
}

// Junk between the messages changes nothing in the text.
func TestJunkIsIgnored(t *testing.T) {
	dropped := 0
	for seed := range uint64(300) {
		c := newTrial(seed + 2e6)
		want := tokens(reference(c.cfg, c.model))
		for _, p := range placements {
			w := c.world(t, p)
			w.tamper = func(from tandem.Side, e Event) Event {
				for range w.rng.IntN(3) {
					x := junk(w.rng, e, w.ends[from].epoch)
					w.after(time.Duration(w.rng.IntN(100))*time.Millisecond, func() {
						if to := w.ends[from.Other()]; to.epoch == w.ends[from].epoch { // before, what is far cannot be told
							w.tell(to, x)
						}
					})
				}
				return e
			}
			w.open(false, 0)
			w.run(true)
			for _, e := range w.ends {
				if got := tokens(e.emits); !slices.Equal(got, want) {
					t.Fatalf("seed %d, %v: %v says %v, want %v", seed, p, e.side, got, want)
				}
				dropped += e.Stats().Dropped
				if e.Stats().Divergences > 0 {
					t.Fatalf("seed %d, %v: junk counted as divergence", seed, p)
				}
			}
		}
	}
	if dropped < 1000 {
		t.Errorf("only %d messages dropped", dropped)
	}
}

// Contradictory messages make the pair begin again, as often as they come, without a change in the text.
func TestDivergence(t *testing.T) {
	diverged := 0
	for seed := range uint64(300) {
		c := newTrial(seed + 3e6)
		want := tokens(reference(c.cfg, c.model))
		for _, p := range placements {
			name := fmt.Sprintf("seed %d, %v", seed, p)
			w := c.world(t, p)
			w.links[0].twice, w.links[1].twice = 0, 0
			w.tamper = func(from tandem.Side, e Event) Event {
				if w.rng.IntN(12) > 0 {
					return e
				}
				switch x := e.(type) {
				case PeerDraft:
					if w.rng.IntN(2) == 0 {
						x.Prefix ^= 1
					} else {
						x.Token++
					}
					return x
				case PeerTarget:
					if w.rng.IntN(2) == 0 {
						x.Prefix ^= 1
					} else {
						x.By ^= 1 << from.Other()
					}
					return x
				case PeerHandover:
					if w.rng.IntN(2) == 0 {
						x.Prefix ^= 1
					} else {
						x.Versions[w.rng.IntN(2)]++
					}
					return x
				}
				return e
			}
			w.open(false, 0)
			w.run(false)
			device := w.ends[tandem.Device]
			checkReason(t, name, device, c.cfg)
			for _, e := range w.ends {
				diverged += e.Stats().Divergences
			}
			if device.notes[NoteDistrust] > 0 {
				continue // too often at one step: not the pair's text any more
			}
			if got := tokens(device.emits); !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", name, got, want)
			}
		}
	}
	if diverged < 1000 {
		t.Errorf("only %d divergences", diverged)
	}
}

// A cloud that never tells the truth costs the device a few epochs, no more.
func TestDistrust(t *testing.T) {
	c := newTrial(11)
	c.cfg.Stop, c.cfg.MaxTokens = nil, 30
	for _, p := range placements {
		w := c.world(t, p)
		w.tamper = func(from tandem.Side, e Event) Event {
			switch x := e.(type) {
			case PeerDraft:
				if from == tandem.Cloud {
					x.Token++
				}
				return x
			case PeerTarget:
				if from == tandem.Cloud {
					x.Prefix++
				}
				return x
			case PeerHandover:
				if from == tandem.Cloud {
					x.Prefix++
				}
				return x
			}
			return e
		}
		w.open(false, 0)
		w.run(false)
		s := w.ends[tandem.Device].Stats()
		if s.Steps != 30 || s.Alone != 30 || s.Divergences != maxStrikes+1 || s.Epoch != maxStrikes+1 {
			t.Errorf("%v: %+v", p, s)
		}
	}
}

// A cloud that floods the device with hedges, of steps far ahead, of wrong versions, for prefixes that never come, of
// distributions that are none, or false ones for the prefix that does come, costs it no memory beyond the bounds and
// changes no token. What no honest side sends is counted.
func TestHedgeFlood(t *testing.T) {
	dropped, diverged := 0, 0
	for seed := range uint64(100) {
		c := newTrial(seed + 4e6)
		c.cfg.Contexts = 2 + int(seed%(tandem.MaxContexts-1))
		want := tokens(reference(c.cfg, c.model))
		for _, p := range placements {
			name := fmt.Sprintf("seed %d, %v", seed, p)
			w := c.world(t, p)
			w.tamper = func(from tandem.Side, e Event) Event {
				d, ok := e.(PeerDraft)
				if !ok || from != tandem.Cloud {
					return e
				}
				device := w.ends[tandem.Device]
				for range 40 {
					w.tell(device, falseHedge(w.rng, d, device))
					checkBounds(t, name, device)
				}
				return e
			}
			w.open(false, 0)
			w.run(false)
			device := w.ends[tandem.Device]
			checkReason(t, name, device, c.cfg)
			s := device.Stats()
			dropped, diverged = dropped+s.Dropped, diverged+s.Divergences
			if device.notes[NoteDistrust] > 0 {
				continue // caught in lies too often: it goes on alone
			}
			if got := tokens(device.emits); !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", name, got, want)
			}
		}
	}
	if dropped < 1000 || diverged < 10 {
		t.Errorf("only %d messages dropped, %d divergences: the flood is too mild", dropped, diverged)
	}
}

// falseHedge is a hedge that no honest side sends, made of a draft.
func falseHedge(rng *rand.Rand, e PeerDraft, to *end) Event {
	d := e.Draft
	d.Version = tandem.AnyVersion
	switch rng.IntN(6) {
	case 0:
		d.Step = to.front() + 1000
	case 1:
		d.Step = math.MaxUint32
	case 2: // a version that none of a few rejections makes
		d.Version = math.MaxUint32 - 1 - uint32(rng.IntN(1000))
	case 3: // for what never comes
		d.Step, d.Prefix = to.front()+tandem.Step(rng.IntN(2*to.cfg.Lookahead)), tandem.Prefix(rng.Uint32())
	case 4:
		d.Dist = tandem.Dist{IDs: []tandem.Token{3, 3}, Weights: []uint32{1, 1}}
	case 5: // a token that its distribution does not draw, for what is agreed
		d.Step, d.Prefix, d.Token = to.front(), to.prefix, (d.Token+1)%24
	}
	return PeerDraft{d}
}

// checkBounds fails if a machine keeps more than it may.
func checkBounds(t *testing.T, name string, e *end) {
	t.Helper()
	limit := 2 * e.cfg.Lookahead
	if e.own.Len() > e.cfg.Lookahead || e.peer.Len() > limit || e.hedges.Len() > limit*tandem.MaxContexts || len(e.ahead.known) > mostKnown {
		t.Fatalf("%s: %d and %d drafts, %d hedges, %d distributions kept", name, e.own.Len(), e.peer.Len(), e.hedges.Len(), len(e.ahead.known))
	}
}

// A side that takes no hedges refuses them.
func TestHedgesUnasked(t *testing.T) {
	c := newTrial(12)
	c.cfg.Contexts, c.cfg.Stop = 1, nil
	for _, p := range []tandem.Placement{tandem.PlaceMirror, tandem.PlaceDevice} {
		w := c.world(t, p)
		w.tamper = func(from tandem.Side, e Event) Event {
			if d, ok := e.(PeerDraft); ok && from == tandem.Cloud {
				d.Version = tandem.AnyVersion
				w.tell(w.ends[tandem.Device], d)
			}
			return e
		}
		w.open(false, 0)
		w.run(false)
		device := w.ends[tandem.Device]
		if s := device.Stats(); s.Dropped == 0 || s.Hedges > 0 || s.Divergences > 0 || !slices.Equal(tokens(device.emits), tokens(reference(c.cfg, c.model))) {
			t.Errorf("%v: %+v", p, s)
		}
	}
}

// Hedging adds a bounded number of drafts to what crosses: at most two for each pass, each behind a token of the
// sender's race, and none where there is no room for further contexts.
func TestHedgesSentAreBounded(t *testing.T) {
	for _, contexts := range []int{1, 2, 3, tandem.MaxContexts} {
		w := newWorld(t, Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, MaxTokens: 200, Contexts: contexts}}, sharingModel(3, 0.8), 3)
		w.guesses = false
		for s := range w.ends {
			w.ends[s].decode = func() time.Duration { return 30 * time.Millisecond }
			w.links[s].delay = 150 * time.Millisecond
		}
		sent, passes := 0, 0
		w.tamper = func(from tandem.Side, e Event) Event {
			if d, ok := e.(PeerDraft); ok && d.Version == tandem.AnyVersion {
				sent++
			}
			return e
		}
		w.open(false, 0)
		w.run(false)
		used := 0
		for _, e := range w.ends {
			passes, used = passes+e.Stats().Passes, used+e.Stats().Hedges
		}
		most := passes * min(contexts-1, profiler.Ranks-1)
		t.Logf("%d contexts: %d passes, %d hedges sent, %d used", contexts, passes, sent, used)
		if sent > most || contexts > 1 && sent == 0 {
			t.Errorf("%d contexts: %d hedges in %d passes, at most %d", contexts, sent, passes, most)
		}
	}
}

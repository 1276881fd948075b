package hostile

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"tandem"
	"tandem/node"
	"tandem/transport"
)

// A trap is what a cloud does to a device that trusts it enough to ask. Without before, it exchanges hellos; the device has
// asked when it springs. A trap may end at any time: the connection stays until the device has its answer.
type trap struct {
	name   string
	before func(qc *quic.Conn) bool // instead of the hello; reports whether it came to pass
	spring func(c caught)
}

// caught is a device's connection and the stream of its question.
type caught struct {
	ctx context.Context
	qc  *quic.Conn
	s   *quic.Stream
	r   *rand.Rand
}

// send sends a control message on the stream.
func (c caught) send(seq uint64, code byte, m any) {
	c.s.Write(onStream(seq, message(code, body(m))))
}

// datagram sends a datagram of the exchange.
func (c caught) datagram(rest ...byte) {
	c.qc.SendDatagram(append(binary.AppendUvarint(nil, uint64(c.s.StreamID())), rest...))
}

var ready = transport.Ready{Documents: 2}

// traps are by hostile clouds that do not keep to the form. Those that do are in deceits.
var traps = []trap{
	{name: "it hangs up", before: func(qc *quic.Conn) bool { return qc.CloseWithError(7, "\x1b[31mboo\x1b[0m\u202e") == nil }},
	{name: "it says nothing", before: func(*quic.Conn) bool { return true }},
	{name: "its hello is noise", before: func(qc *quic.Conn) bool {
		s, err := qc.AcceptStream(qc.Context())
		if err == nil {
			s.Write(onStream(0, message(codeHello, slices.Repeat([]byte{0xdd}, 300))))
		}
		return err == nil
	}},
	{name: "its hello never ends", before: func(qc *quic.Conn) bool {
		s, err := qc.AcceptStream(qc.Context())
		if err != nil {
			return false
		}
		s.Write(binary.AppendUvarint(nil, 1<<40))
		s.SetWriteDeadline(time.Now().Add(5 * time.Second))
		for err == nil {
			_, err = s.Write(make([]byte, 1<<16))
		}
		return true
	}},
	{name: "it takes the question and is silent", spring: func(caught) {}},
	{name: "it is ready and silent", spring: func(c caught) {
		c.send(0, codeReady, ready)
	}},
	{name: "its limit is below zero", spring: func(c caught) {
		c.send(0, codeReady, transport.Ready{Documents: 2, MaxTokens: math.MinInt32})
	}},
	{name: "it ends the exchange", spring: func(c caught) { c.s.Close() }},
	{name: "it resets the exchange", spring: func(c caught) {
		c.send(0, codeReady, ready)
		c.s.CancelWrite(9)
		c.s.CancelRead(9)
	}},
	{name: "it fails with escapes for a terminal", spring: func(c caught) {
		c.send(0, codeFail, transport.Fail{Text: "\x1b]52;c;cm0gLXJmIC8=\a\x9b31m\u202eboo\r\n"})
	}},
	{name: "it sends noise on the stream", spring: func(c caught) {
		c.s.Write(random(c.r, 5000))
	}},
	{name: "it sends frames of noise", spring: func(c caught) {
		c.send(0, codeReady, ready)
		for i := range 50 {
			c.s.Write(onStream(uint64(i+1), random(c.r, 1+c.r.IntN(60))))
		}
	}},
	{name: "it sends datagrams of noise", spring: func(c caught) {
		c.send(0, codeReady, ready)
		for range 50 {
			c.datagram(random(c.r, 1+c.r.IntN(200))...)
		}
	}},
	{name: "it says what only a device may say", spring: func(c caught) {
		c.send(0, codeReady, ready)
		c.send(1, codeSync, transport.Sync{Epoch: 9, Tokens: make([]tandem.Token, 1000)})
	}},
	{name: "it unpacks to a lot", spring: func(c caught) {
		for i := range 200 {
			c.s.Write(onStream(uint64(i), bomb(codeSources)))
		}
	}},
	{name: "it nests deeply", spring: func(c caught) {
		c.s.Write(onStream(0, deep(codeSources, 100_000)))
	}},
	{name: "it says for ever that it is busy", spring: func(c caught) {
		for c.ctx.Err() == nil && c.qc.Context().Err() == nil {
			b := binary.AppendUvarint([]byte{0, 2}, uint64(c.s.StreamID()))
			c.qc.SendDatagram(binary.AppendUvarint(binary.AppendUvarint(b, 1<<16), 36000))
			wait(c.ctx, 10*time.Millisecond)
		}
	}},
	{name: "it answers echoes that nobody sent", spring: func(c caught) {
		for i := range 2000 {
			c.qc.SendDatagram(binary.AppendUvarint([]byte{0, 1}, uint64(i)<<40))
		}
	}},
	{name: "it opens streams to the device", spring: func(c caught) {
		for range 100 {
			if s, err := c.qc.OpenStream(); err == nil {
				s.Write(onStream(0, begin(settings(1))))
			}
		}
	}},
	{name: "it needs the beginning again and again", spring: func(c caught) {
		c.send(0, codeReady, ready)
		for i := range 500 {
			c.s.Write(onStream(uint64(i+1), message(codeNeedSync, []byte{0x90})))
		}
	}},
	{name: "it sends sources and pieces that nobody wants", spring: func(c caught) {
		c.send(0, codeReady, ready)
		c.send(1, codeSources, transport.Sources{Parts: []transport.Part{{H: 1e300, Quotes: []transport.Quote{{Text: "x", From: 5, To: -5}}}}})
		c.send(2, codePiece, transport.Piece{})
		c.send(3, codePassages, transport.Passages{})
	}},
}

// listenRaw starts a cloud that springs a trap on each device. stop reports how often.
func listenRaw(t *testing.T, k key, s sides, x trap, r *rand.Rand) (address string, stop func() int) {
	t.Helper()
	l, err := quic.ListenAddr("127.0.0.1:0", k.tls(talk), config())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	sprung := make(chan int, 1)
	go func() {
		n := 0
		for {
			qc, err := l.Accept(ctx)
			if err != nil {
				sprung <- n
				return
			}
			if x.take(ctx, s, qc, r) {
				n++
			}
		}
	}()
	return l.Addr().String(), func() int {
		cancel()
		l.Close()
		return <-sprung
	}
}

// take plays a cloud until the question has come, and springs the trap. It reports whether that came to pass.
func (x trap) take(ctx context.Context, s sides, qc *quic.Conn, r *rand.Rand) bool {
	if x.before != nil {
		return x.before(qc)
	}
	hello, err := qc.AcceptStream(ctx)
	if err != nil {
		return false
	}
	h := s.hello(tandem.Cloud)
	h.Version = transport.ProtocolVersion
	hello.Write(onStream(0, message(codeHello, body(h))))
	hello.Close()
	asked, err := qc.AcceptStream(ctx)
	if err != nil {
		return false
	}
	asked.SetReadDeadline(time.Now().Add(5 * time.Second))
	asked.Read(make([]byte, 64<<10))
	asked.SetReadDeadline(time.Time{})
	x.spring(caught{ctx, qc, asked, r})
	return true
}

// hasty gives a cloud up soon, so that the tests are short.
var hasty = node.Patience{Join: 400 * time.Millisecond, Silent: 300 * time.Millisecond, Slow: 400 * time.Millisecond, Busy: 400 * time.Millisecond}

// falls lets an honest device ask a hostile cloud. It must get an answer that ends, and say nothing that a terminal obeys.
func (s sides) falls(t *testing.T, name string, place tandem.Placement, patience node.Patience, id transport.Identity, cloud transport.ID, address string) []tandem.Token {
	t.Helper()
	d := s.device(id, cloud, address)
	d.Patience = patience
	defer d.Close()
	ctx, end := context.WithTimeout(t.Context(), atMost)
	defer end()
	ids, a, err := ask(ctx, d, 1, place)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, text := range append(slices.Clone(a.Remarks), titles(a)...) {
		if !printable(text) {
			t.Errorf("%s: the device says %q", name, text)
		}
	}
	return ids
}

func titles(a node.Answer) (all []string) {
	for _, d := range a.Documents {
		for _, s := range d {
			all = append(all, s.Title)
		}
	}
	for _, p := range a.Parts {
		for _, q := range p.Quotes {
			all = append(all, q.Title)
		}
	}
	return all
}

// A cloud that does not keep to the form costs a device some time, and nothing else: it answers what it would alone.
func TestClouds(t *testing.T) {
	s := newSides(t)
	id, err := transport.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	k, alone := newKey(t), s.alone(t, 1)
	check := leftovers(t)
	rounds(t, func(r *rand.Rand) {
		var all sync.WaitGroup // most of the time they wait
		for _, x := range traps {
			dice := fork(r)
			all.Go(func() {
				patience, caught := hasty, 0
				for range 4 { // on a busy machine it may take long to be caught
					start := time.Now()
					address, stop := listenRaw(t, k, s, x, dice)
					if got := s.falls(t, x.name, tandem.PlaceMirror, patience, id, k.id, address); !slices.Equal(got, alone) {
						t.Errorf("%s: the device answers %v, alone %v", x.name, got, alone)
					}
					t.Logf("%s: answered after %v", x.name, time.Since(start).Round(time.Millisecond))
					if caught = stop(); caught > 0 {
						break
					}
					patience = node.Patience{Join: 5 * patience.Join, Silent: 5 * patience.Silent, Slow: 5 * patience.Slow, Busy: 5 * patience.Busy}
				}
				if caught == 0 {
					t.Errorf("%s: no device was caught, so this is no test", x.name)
				}
			})
		}
		all.Wait()
	})
	check()
}

// A deceit is what a cloud that keeps to the form sends after the device has begun an epoch. What it drafts may decide words,
// which is the cloud's to do; the device must end all the same.
type deceit struct {
	name    string
	place   tandem.Placement
	decides bool // it does decide the words
	do      func(ctx context.Context, l lie)
}

// lie is what a deceit works with.
type lie struct {
	*transport.Exchange
	epoch  uint32
	prefix tandem.Prefix
	step   tandem.Step // the first of the epoch
	vocab  int
	*rand.Rand
}

func (l lie) token() tandem.Token { return tandem.Token(l.IntN(l.vocab)) }

// draft is a draft that fits.
func (l *lie) draft(h tandem.Fixed) tandem.Draft {
	token := l.token()
	d := tandem.Draft{Epoch: l.epoch, Step: l.step, Prefix: l.prefix, Token: token, Dist: dist(token), H: h}
	l.step, l.prefix = l.step+1, l.prefix.Then(token)
	return d
}

var deceits = []deceit{
	{name: "drafts with all the weight that there is", decides: true, do: func(ctx context.Context, l lie) {
		for range 12 {
			l.Send(l.draft(math.MaxInt32))
		}
	}},
	{name: "drafts with no weight at all", do: func(ctx context.Context, l lie) {
		for range 12 {
			l.Send(l.draft(math.MinInt32))
		}
	}},
	{name: "drafts that contradict the answer", do: func(ctx context.Context, l lie) {
		for range 500 {
			token := l.token()
			l.Send(tandem.Draft{
				Epoch: l.epoch + uint32(l.IntN(3)), Step: tandem.Step(l.IntN(15)), Version: uint32(l.IntN(3)), Prefix: tandem.Prefix(l.Uint32()),
				Token: token, Dist: dist(token),
			})
		}
	}},
	{name: "hedges without end", do: func(ctx context.Context, l lie) {
		for range 2000 {
			token := l.token()
			l.Send(tandem.Draft{
				Epoch: l.epoch, Step: tandem.Step(l.IntN(12)), Version: tandem.AnyVersion, Prefix: tandem.Prefix(l.Uint32()), Token: token, Dist: dist(token),
			})
		}
	}},
	{name: "targets where it makes none", do: func(ctx context.Context, l lie) {
		for step := range 200 {
			l.Send(tandem.Target{Epoch: l.epoch, Step: tandem.Step(step), Prefix: l.prefix, Token: l.token(), By: tandem.ByCloud})
		}
	}},
	{name: "targets from nowhere", place: tandem.PlaceCloud, do: func(ctx context.Context, l lie) {
		for range 200 {
			l.Send(tandem.Target{Epoch: l.epoch, Step: tandem.Step(l.Uint32()), Prefix: tandem.Prefix(l.Uint32()), Token: l.token(), By: tandem.ByBoth})
		}
	}},
	{name: "hand-overs back and forth", place: tandem.PlaceGreedy, do: func(ctx context.Context, l lie) {
		for i := range 200 {
			l.Send(tandem.Handover{Epoch: l.epoch, Step: l.step + tandem.Step(i%3), Prefix: l.prefix, Accept: [2]float64{0, 1}})
		}
	}},
	{name: "one token in a while", decides: true, do: func(ctx context.Context, l lie) {
		for ctx.Err() == nil && l.Send(l.draft(math.MaxInt32)) == nil {
			wait(ctx, 300*time.Millisecond)
		}
	}},
	{name: "sources with forged titles", do: func(ctx context.Context, l lie) {
		var list transport.Sources
		for range transport.MaxSources {
			list.Sources = append(list.Sources, transport.Source{Title: strings.Repeat("\x1b[8m", 200) + "\u202e", Weight: 1. / transport.MaxSources})
		}
		for range 12 {
			l.Send(l.draft(math.MaxInt32), list)
		}
		l.Send(transport.End{Reason: "\x1b[2J"})
	}},
}

// deceive serves devices on a listener until it is closed.
func (s sides) deceive(ctx context.Context, listener *transport.Listener, d deceit, r *rand.Rand) {
	for {
		conn, err := listener.Accept(ctx)
		if err != nil {
			return
		}
		for {
			link, _, err := conn.Accept(ctx)
			if err != nil {
				break
			}
			link.Send(ready)
			for {
				m, err := link.Receive(ctx)
				if err != nil {
					break
				}
				if m, ok := m.(transport.Sync); ok {
					vocab := s[tandem.Cloud].Model.Tokenizer().Size()
					d.do(ctx, lie{link, m.Epoch, tandem.PrefixOf(m.Tokens), tandem.Step(len(m.Tokens)), vocab, r})
				}
			}
		}
	}
}

// A cloud that keeps to the form and means no good cannot hold a device up, or make it say what a terminal obeys.
func TestDeceits(t *testing.T) {
	s := newSides(t)
	id, err := transport.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	alone := s.alone(t, 1)
	check := leftovers(t)
	rounds(t, func(r *rand.Rand) {
		var all sync.WaitGroup
		for _, d := range deceits {
			own, err := transport.Ephemeral()
			if err != nil {
				t.Fatal(err)
			}
			l, err := transport.Listen("127.0.0.1:0", transport.ServerConfig{Identity: own, Peers: transport.NewPeers(id.ID), Hello: s.hello(tandem.Cloud), Log: quiet()})
			if err != nil {
				t.Fatal(err)
			}
			dice := fork(r)
			all.Go(func() {
				ctx, end := context.WithCancel(t.Context())
				served := make(chan struct{})
				go func() {
					defer close(served)
					s.deceive(ctx, l, d, dice)
				}()
				start, patience := time.Now(), hasty
				if d.decides {
					patience = patient
				}
				got := s.falls(t, d.name, d.place, patience, id, own.ID, l.Addr().String())
				if d.decides && slices.Equal(got, alone) {
					t.Errorf("%s: it decided nothing, so this is no test", d.name)
				}
				t.Logf("%s: answered after %v", d.name, time.Since(start).Round(time.Millisecond))
				end()
				l.Close()
				<-served
			})
		}
		all.Wait()
	})
	check()
}

package sim

import (
	"fmt"
	"slices"
	"time"

	"tandem"
	"tandem/netem"
	"tandem/node/presence"
	"tandem/pair"
)

// Wire is how messages are kept safe from loss.
type Wire uint8

const (
	// Repeat is what transport does: each datagram repeats all messages not yet acknowledged that fit, so
	// the next message repairs a loss; when there is none, all is repeated once after copyAfter, then by a timer.
	Repeat Wire = iota
	// Stream is a QUIC stream: a lost packet is sent again once three later ones or 9/8 of a round trip tell
	// that it is missing, or else a probe timeout (RFC 9002); what comes after it waits.
	Stream
)

var wireNames = [...]string{"repeated datagrams", "stream"}

func (w Wire) String() string {
	if int(w) < len(wireNames) {
		return wireNames[w]
	}
	return fmt.Sprintf("wire(%d)", uint8(w))
}

// Sizes on the wire, in bytes.
const (
	packetOverhead = 70   // IP, UDP, QUIC short header, datagram frame, AEAD tag
	packetRoom     = 1150 // for messages
	controlSize    = 48
	targetSize     = 20
)

// draftSize is about what transport's frame of d takes.
func draftSize(d tandem.Draft) int { return 16 + 3*len(d.Dist.IDs) }

const (
	ackDelay = 25 * time.Millisecond // RFC 9000's default max_ack_delay, and transport's
	minProbe = time.Millisecond

	copyAfter = 35 * time.Millisecond // transport's, too
)

// Traffic counts what a side sent.
type Traffic struct {
	Packets, Lost int
	Bytes         int
	Messages      int
	Repeats       int // messages sent again
}

// port is one side's end of the wire: sender of its messages and receiver of the other's.
type port struct {
	link    *netem.Link
	rtt     time.Duration // smoothed; the handshake measured the first
	traffic Traffic

	// sender
	next    int // number of the next message
	packet  int // number of the next packet
	carried int // number of the last packet with messages
	flights []flight
	probe   time.Duration // when the timer fires, if armed
	armed   bool
	backoff int

	// receiver
	expect  int
	early   map[int]pair.Event
	highest int // packet number heard
	owed    bool
	ackAt   time.Duration // at the latest
	unacked int           // packets since the last acknowledgement
	heard   time.Duration // when the packet that owes it came
	heardAt time.Duration // send time echoed, for the round trip
}

// flight is a message not yet acknowledged.
type flight struct {
	number int
	event  pair.Event
	size   int
	packet int // that carried it last, -1 before the first
	sent   time.Duration
	tries  int
}

// datagram is a packet on its way.
type datagram struct {
	number  int
	sent    time.Duration
	flights []flight
	expect  int   // acknowledges all messages before it
	beyond  []int // and these
	highest int   // packet heard last
	echo    time.Duration
	held    time.Duration // how long the acknowledgement was kept
	acks    bool
}

func newPort(link *netem.Link, rtt time.Duration) port {
	return port{link: link, rtt: rtt, early: map[int]pair.Event{}}
}

// send queues a message; flush lets it go.
func (w *world) send(from *end, e pair.Event, size int) {
	p := &from.wire
	p.flights = append(p.flights, flight{number: p.next, event: e, size: size, packet: -1})
	p.next++
	p.traffic.Messages++
}

// flush sends what has not been sent, and whatever rides along.
func (w *world) flush(from *end) {
	p := &from.wire
	for slices.ContainsFunc(p.flights, func(f flight) bool { return f.packet < 0 }) {
		w.transmit(from, w.Wire == Repeat)
	}
}

// transmit sends a packet: messages never sent or marked lost first, then, with repeat, the oldest.
func (w *world) transmit(from *end, repeat bool) {
	p, room := &from.wire, packetRoom
	d := datagram{number: p.packet, sent: w.now, acks: p.owed, expect: p.expect, highest: p.highest, echo: p.heardAt, held: w.now - p.heard}
	p.packet++
	carry := func(fresh bool) {
		for i := range p.flights {
			f := &p.flights[i]
			if (f.packet < 0) != fresh || f.packet == d.number || f.size > room && room < packetRoom {
				continue
			}
			room -= f.size
			if f.tries++; f.tries > 1 {
				p.traffic.Repeats++
			}
			f.packet, f.sent = d.number, w.now
			d.flights = append(d.flights, *f)
		}
	}
	carry(true)
	if len(d.flights) > 0 && w.Wire == Repeat {
		w.after(copyAfter, func() {
			if p.carried == d.number && len(p.flights) > 0 {
				w.transmit(from, true)
			}
		})
	}
	if repeat {
		carry(false)
	}
	for n := range p.early {
		d.beyond = append(d.beyond, n)
	}
	p.owed, p.unacked = false, 0
	if len(d.flights) > 0 {
		p.carried = d.number
		w.arm(from, p.timeout())
	}
	size := packetOverhead + packetRoom - room
	p.traffic.Packets++
	p.traffic.Bytes += size
	arrivals := p.link.Step(w.now, size, nil)
	if len(arrivals) == 0 {
		p.traffic.Lost++
	}
	to := w.ends[from.side.Other()]
	for i, at := range arrivals {
		if i == 0 {
			w.travelled(from.side, d, at)
		}
		w.after(at-w.now, func() { w.arrive(to, d) })
	}
}

// travelled traces the messages that a packet carries for the first time.
func (w *world) travelled(from tandem.Side, d datagram, at time.Duration) {
	if w.Trace == nil {
		return
	}
	for _, f := range d.flights {
		if f.tries > 1 {
			continue
		}
		h := Happening{Side: from, From: f.sent, To: at}
		switch e := f.event.(type) {
		case pair.PeerDraft:
			h.Kind, h.Step = Draft, e.Step
		case pair.PeerTarget:
			h.Kind, h.Step, h.By = Target, e.Step, e.By
		case pair.PeerHandover:
			h.Kind, h.Step = Handover, e.Step
		default:
			continue
		}
		w.trace(h)
	}
}

// timeout is how long the sender waits for an acknowledgement before it sends again.
func (p *port) timeout() time.Duration {
	return max(p.rtt+p.rtt/4+2*ackDelay, minProbe) << min(p.backoff, 6)
}

// arm sets the timer to fire after d, if nothing is acknowledged before.
func (w *world) arm(e *end, d time.Duration) {
	p := &e.wire
	at := w.now + d
	p.probe, p.armed = at, true
	w.after(d, func() {
		if p.armed && p.probe == at {
			p.armed = false
			w.expire(e)
		}
	})
}

// expire sends everything again.
func (w *world) expire(e *end) {
	p := &e.wire
	if len(p.flights) == 0 {
		return
	}
	p.backoff++
	for i := range p.flights {
		p.flights[i].packet = -1
	}
	w.transmit(e, false)
	w.flush(e)
}

// arrive takes a packet.
func (w *world) arrive(to *end, d datagram) {
	p := &to.wire
	if to.side == tandem.Device {
		w.stepPresence(presence.Heard)
	}
	if d.acks {
		w.acknowledged(to, d)
	}
	if len(d.flights) == 0 {
		return
	}
	if d.number >= p.highest {
		p.highest, p.heard, p.heardAt = d.number, w.now, d.sent
	}
	p.unacked++
	if !p.owed {
		p.owed, p.ackAt = true, w.now+ackDelay
		w.after(ackDelay, func() {
			if p.owed && w.now >= p.ackAt {
				w.transmit(to, false)
			}
		})
	}
	for _, f := range d.flights {
		if _, dup := p.early[f.number]; !dup && f.number >= p.expect {
			p.early[f.number] = f.event
		}
	}
	for {
		e, ok := p.early[p.expect]
		if !ok {
			break
		}
		delete(p.early, p.expect)
		p.expect++
		if _, ok := e.(pair.PeerReady); ok {
			w.ready()
		} else {
			w.step(to, e)
		}
	}
	if p.owed && p.unacked >= 2 && w.Wire == Stream {
		w.transmit(to, false)
	}
}

// acknowledged forgets what the other side has, measures, and finds what a stream lost.
func (w *world) acknowledged(e *end, d datagram) {
	p := &e.wire
	if sample := w.now - d.echo - d.held; d.echo > 0 && sample >= 0 {
		p.rtt += (sample - p.rtt) / 8
		w.trace(Happening{Kind: Measured, Side: e.side, From: w.now, To: w.now, RTT: sample})
		w.step(e, pair.Measured{RTT: p.rtt})
	}
	before := len(p.flights)
	p.flights = slices.DeleteFunc(p.flights, func(f flight) bool {
		return f.packet >= 0 && (f.number < d.expect || slices.Contains(d.beyond, f.number))
	})
	if len(p.flights) < before {
		p.backoff = 0
	}
	if len(p.flights) == 0 {
		p.armed = false
		return
	}
	if w.Wire == Stream {
		w.detect(e, d.highest)
	}
}

// detect marks messages lost by RFC 9002 §6.1, given the latest packet that the other side heard.
func (w *world) detect(e *end, highest int) {
	p := &e.wire
	late := p.rtt + p.rtt/8
	for i := range p.flights {
		f := &p.flights[i]
		if f.packet < 0 || f.packet >= highest {
			continue
		}
		if f.packet <= highest-3 || w.now-f.sent >= late {
			f.packet = -1
		} else if wait := f.sent + late - w.now; !p.armed || p.probe > w.now+wait {
			number, packet := f.number, f.packet
			w.after(wait, func() { w.missing(e, number, packet) })
		}
	}
	w.flush(e)
}

// missing sends a message again that was last carried by packet and is still not acknowledged.
func (w *world) missing(e *end, number, packet int) {
	for i := range e.wire.flights {
		if f := &e.wire.flights[i]; f.number == number && f.packet == packet {
			f.packet = -1
		}
	}
	w.flush(e)
}

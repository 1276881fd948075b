package sim

import (
	"slices"
	"time"
)

// ackDelay is RFC 9000's default max_ack_delay.
const (
	ackDelay = 25 * time.Millisecond
	minProbe = time.Millisecond
)

// stream models a QUIC stream as sender and receiver: acknowledgements, loss detection and probe timeouts of RFC 9002,
// and messages that wait for those before them.
type stream struct {
	*port

	// sender
	packet  int // number of the next packet
	flights []flight
	probe   time.Duration // when the timer fires, if armed
	armed   bool
	backoff int
	again   int

	// receiver
	expect  int
	early   map[int]bool
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
	size   int
	packet int // that carried it last, -1 before the first
	sent   time.Duration
	tries  int
}

// packet is one on its way.
type packet struct {
	number  int
	sent    time.Duration
	carries []int // messages
	expect  int   // acknowledges all messages before it
	beyond  []int // and these
	highest int   // packet heard last
	echo    time.Duration
	held    time.Duration // how long the acknowledgement was kept
	acks    bool
}

func newStream(p *port) *stream { return &stream{port: p, early: map[int]bool{}} }

func (s *stream) push(number, size int) {
	s.flights = append(s.flights, flight{number: number, size: size, packet: -1})
}

func (s *stream) repeats() int { return s.again }

func (s *stream) flush() {
	for slices.ContainsFunc(s.flights, func(f flight) bool { return f.packet < 0 }) {
		s.send()
	}
}

// send sends a packet with the messages never sent or marked lost that fit, and with an acknowledgement if one is owed.
func (s *stream) send() {
	room := packetRoom
	d := packet{number: s.packet, sent: s.w.Now, acks: s.owed, expect: s.expect, highest: s.highest, echo: s.heardAt, held: s.w.Now - s.heard}
	s.packet++
	var fresh []int
	for i := range s.flights {
		f := &s.flights[i]
		if f.packet >= 0 || f.size > room && room < packetRoom {
			continue
		}
		room -= f.size
		if f.tries++; f.tries > 1 {
			s.again++
		} else {
			fresh = append(fresh, f.number)
		}
		f.packet, f.sent = d.number, s.w.Now
		d.carries = append(d.carries, f.number)
	}
	for n := range s.early {
		d.beyond = append(d.beyond, n)
	}
	s.owed, s.unacked = false, 0
	if len(d.carries) > 0 {
		s.arm(max(s.rtt+s.rtt/4+2*ackDelay, minProbe) << min(s.backoff, 6))
	}
	to := s.peer().carrier.(*stream)
	s.transmit(packetRoom-room, fresh, func() { to.arrive(d) })
}

// arm sets the timer to fire after d, if nothing is acknowledged before.
func (s *stream) arm(d time.Duration) {
	at := s.w.Now + d
	s.probe, s.armed = at, true
	s.w.After(d, func() {
		if s.armed && s.probe == at {
			s.armed = false
			s.expire()
		}
	})
}

// expire sends everything again.
func (s *stream) expire() {
	if len(s.flights) == 0 {
		return
	}
	s.backoff++
	for i := range s.flights {
		s.flights[i].packet = -1
	}
	s.flush()
}

// arrive takes a packet.
func (s *stream) arrive(d packet) {
	if d.acks {
		s.acknowledged(d)
	}
	if len(d.carries) == 0 {
		return
	}
	if d.number >= s.highest {
		s.highest, s.heard, s.heardAt = d.number, s.w.Now, d.sent
	}
	s.unacked++
	if !s.owed {
		s.owed, s.ackAt = true, s.w.Now+ackDelay
		s.w.After(ackDelay, func() {
			if s.owed && s.w.Now >= s.ackAt {
				s.send()
			}
		})
	}
	for _, n := range d.carries {
		if n >= s.expect {
			s.early[n] = true
		}
	}
	first := s.expect
	for s.early[s.expect] {
		delete(s.early, s.expect)
		s.expect++
	}
	s.receive(first, s.expect-first)
	if s.owed && s.unacked >= 2 {
		s.send()
	}
}

// acknowledged forgets what the other side has, measures, and finds what was lost.
func (s *stream) acknowledged(d packet) {
	if sample := s.w.Now - d.echo - d.held; d.echo > 0 && sample >= 0 {
		s.measured(sample, 8)
	}
	before := len(s.flights)
	s.flights = slices.DeleteFunc(s.flights, func(f flight) bool {
		return f.packet >= 0 && (f.number < d.expect || slices.Contains(d.beyond, f.number))
	})
	if len(s.flights) < before {
		s.backoff = 0
	}
	if len(s.flights) == 0 {
		s.armed = false
		return
	}
	s.detect(d.highest)
}

// detect marks messages lost by RFC 9002 §6.1, given the latest packet that the other side heard.
func (s *stream) detect(highest int) {
	late := s.rtt + s.rtt/8
	for i := range s.flights {
		f := &s.flights[i]
		if f.packet < 0 || f.packet >= highest {
			continue
		}
		if f.packet <= highest-3 || s.w.Now-f.sent >= late {
			f.packet = -1
		} else if wait := f.sent + late - s.w.Now; !s.armed || s.probe > s.w.Now+wait {
			number, packet := f.number, f.packet
			s.w.After(wait, func() { s.missing(number, packet) })
		}
	}
	s.flush()
}

// missing sends a message again that was last carried by packet and is still not acknowledged.
func (s *stream) missing(number, packet int) {
	for i := range s.flights {
		if f := &s.flights[i]; f.number == number && f.packet == packet {
			f.packet = -1
		}
	}
	s.flush()
}

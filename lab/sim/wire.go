package sim

import (
	"fmt"
	"time"

	"tandem"
	"tandem/netem"
	"tandem/node/presence"
	"tandem/pair"
	"tandem/pair/pairtest"
	"tandem/transport/reliable"
)

// Wire is how messages are kept safe from loss.
type Wire uint8

const (
	// Repeat is what transport does: its own code (package reliable) runs here.
	Repeat Wire = iota
	// Stream is a QUIC stream: a lost packet is sent again once three later ones or 9/8 of a round trip tell
	// that it is missing, or else a probe timeout (RFC 9002). What comes after it waits.
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
	packetOverhead = 70 // IP, UDP, QUIC short header, datagram frame, AEAD tag
	packetRoom     = reliable.DatagramSize
	controlSize    = 48
	targetSize     = 20
)

// sizeOf is about what transport's frame of a message takes.
func sizeOf(e pair.Event) int {
	switch e := e.(type) {
	case pair.PeerDraft:
		return 16 + 3*len(e.Dist.IDs)
	case pair.PeerTarget:
		return targetSize
	case pair.PeerSync:
		return controlSize + 3*len(e.Tokens)
	}
	return controlSize
}

// Traffic counts what a side sent.
type Traffic struct {
	Packets, Lost int
	Bytes         int
	Messages      int
	Repeats       int // messages sent again
}

// port is one side's end of the wire.
type port struct {
	w       *world
	end     *pairtest.End
	link    *netem.Link
	rtt     time.Duration // smoothed; the handshake measured the first
	traffic Traffic
	sent    []pair.Event // all messages, by number
	carrier carrier
}

// carrier keeps the messages of one side safe from loss.
type carrier interface {
	push(number, size int) // takes a message to send
	flush()                // sends what is due
	repeats() int          // messages sent again so far
}

func (w *world) newPort(end *pairtest.End, link *netem.Link) *port {
	p := &port{w: w, end: end, link: link, rtt: w.roundTrip()}
	if w.Wire == Stream {
		p.carrier = newStream(p)
	} else {
		p.carrier = &repeater{port: p}
	}
	return p
}

// peer is the other side's end.
func (p *port) peer() *port { return p.w.ports[p.end.Side.Other()] }

// send queues a message; flush lets it go.
func (p *port) send(e pair.Event) {
	p.sent = append(p.sent, e)
	p.traffic.Messages++
	p.carrier.push(len(p.sent)-1, sizeOf(e))
}

// transmit sends a packet that carries some bytes, and the messages of these numbers for the first time. Arrive is
// called for each copy that gets through.
func (p *port) transmit(size int, fresh []int, arrive func()) {
	p.traffic.Packets++
	p.traffic.Bytes += packetOverhead + size
	arrivals := p.link.Step(p.w.Now, packetOverhead+size, nil)
	if len(arrivals) == 0 {
		p.traffic.Lost++
	}
	for i, at := range arrivals {
		if i == 0 {
			p.travelled(fresh, at)
		}
		p.w.After(at-p.w.Now, func() {
			if p.end.Side == tandem.Cloud {
				p.w.stepPresence(presence.Heard)
			}
			arrive()
		})
	}
}

// travelled traces messages on their first way.
func (p *port) travelled(fresh []int, at time.Duration) {
	if p.w.Trace == nil {
		return
	}
	for _, n := range fresh {
		h := Happening{Side: p.end.Side, From: p.w.Now, To: at}
		switch e := p.sent[n].(type) {
		case pair.PeerDraft:
			h.Kind, h.Step = Draft, e.Step
		case pair.PeerTarget:
			h.Kind, h.Step, h.By = Target, e.Step, e.By
		case pair.PeerHandover:
			h.Kind, h.Step = Handover, e.Step
		default:
			continue
		}
		p.w.trace(h)
	}
}

// receive tells this side n messages of the other side that arrived together, from the one of that number on.
func (p *port) receive(number, n int) {
	var events []pair.Event
	for _, e := range p.peer().sent[number : number+n] {
		if _, ok := e.(pair.PeerReady); ok {
			p.step(events)
			events = nil
			p.w.ready()
			continue
		}
		events = append(events, e)
	}
	p.step(events)
}

// step passes events, if there are any, to this side's machine.
func (p *port) step(events []pair.Event) {
	if len(events) > 0 {
		p.w.Step(p.end, events...)
	}
}

// measured takes a round-trip time.
func (p *port) measured(sample time.Duration, smoothing int) {
	p.rtt += (sample - p.rtt) / time.Duration(smoothing)
	p.w.trace(Happening{Kind: Measured, Side: p.end.Side, From: p.w.Now, To: p.w.Now, RTT: sample})
	p.w.Step(p.end, pair.Measured{RTT: p.rtt})
}

// echoSize is what an echo takes in a packet.
const echoSize = 3

// echo asks the other side for a sign of life, now and then, as transport does. It measures the round trip, and tells
// the device that the cloud is there.
func (p *port) echo() {
	p.w.After(reliable.EchoEvery, p.echo)
	began := p.w.Now
	for _, at := range p.link.Step(p.w.Now, packetOverhead+echoSize, nil) {
		p.w.After(at-p.w.Now, func() {
			for _, at := range p.peer().link.Step(p.w.Now, packetOverhead+echoSize, nil) {
				p.w.After(at-p.w.Now, func() {
					if p.end.Side == tandem.Device {
						p.w.stepPresence(presence.Heard)
					}
					if p.w.Wire == Repeat { // a stream has the times of its acknowledgements
						p.measured(p.w.Now-began, reliable.EchoSmoothing)
					}
				})
			}
		})
	}
}

// repeater is transport's way to carry messages.
type repeater struct {
	*port
	flow    reliable.Flow
	packed  int           // messages that were in a datagram
	taken   int           // messages received
	planned time.Duration // when the next flush is due, 0 for never
}

func (r *repeater) push(number, size int) {
	// What no datagram holds goes by stream, and takes about a packet, too.
	size = min(size, reliable.FrameRoom(packetRoom))
	r.flow.Push(uint64(number), make([]byte, size))
}

func (r *repeater) repeats() int { return r.flow.Stats().Repeats }

// clock is virtual time as reliable takes it.
func (w *world) clock() time.Time { return time.Unix(1, 0).Add(w.Now) }

func (r *repeater) flush() {
	for {
		unsent := r.flow.Stats().Unsent
		b := r.flow.Pack(0, r.w.clock(), r.rtt, packetRoom)
		if b == nil {
			break
		}
		var fresh []int
		for range unsent - r.flow.Stats().Unsent {
			fresh = append(fresh, r.packed)
			r.packed++
		}
		to := r.peer().carrier.(*repeater)
		r.transmit(len(b), fresh, func() { to.arrive(b[1:]) })
	}
	at := r.flow.Deadline(r.w.clock(), r.rtt)
	if at.IsZero() {
		r.planned = 0
		return
	}
	if due := r.w.Now + at.Sub(r.w.clock()); due != r.planned {
		r.planned = due
		r.w.After(due-r.w.Now, func() {
			if r.planned == due {
				r.planned = 0
				r.flush()
			}
		})
	}
}

// arrive takes a datagram without its exchange's number.
func (r *repeater) arrive(b []byte) {
	if err := r.flow.Receive(b, r.w.clock(), true); err != nil {
		r.w.Err = fmt.Errorf("sim: %v: %w", r.end.Side, err)
		return
	}
	first := r.taken
	for _, ok := r.flow.Take(); ok; _, ok = r.flow.Take() {
		r.taken++
	}
	r.receive(first, r.taken-first)
	r.flush()
}

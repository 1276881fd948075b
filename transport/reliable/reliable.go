// Package reliable delivers messages over datagrams, each once and in order. It is pure: it reads no clock and does no
// I/O, so the live connection (package transport) and the simulator (package lab/sim) drive the same code.
package reliable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"
)

const (
	// Window is how many messages after a missing one are kept.
	Window = 512

	// DatagramSize is the size of a datagram in bytes until the path is known to take another.
	DatagramSize = 1150

	// EchoEvery is how often a side asks for an echo while an exchange is open.
	EchoEvery = 250 * time.Millisecond

	// EchoSmoothing is the approximate number of echoes over which the round-trip time is averaged.
	EchoSmoothing = 4

	earlyBytes = 2 << 20               // most bytes of messages kept ahead of a missing one
	ackDelay   = 25 * time.Millisecond // how long an acknowledgement waits for a message to travel with
	maxResend  = time.Second
	copyAfter  = 12 * time.Millisecond // after this silence a sender repeats itself once
)

// Flow carries the messages of one exchange over datagrams: it sends those of its own side and receives those of the
// peer. The zero value is ready to use.
//
// Each datagram holds the new messages, repeats as many unacknowledged ones as fit, oldest first, and acknowledges the
// messages that have arrived. So the next message repairs a loss. A message is repeated in the four datagrams after its
// first, then in the 8th, the 16th and so on. With many messages in flight, repeating all of them each time would fill
// the congestion window and, under loss, stop all progress. When no new message comes, all unacknowledged ones are
// repeated once, shortly after the last new one, and then by a timer. Messages that travel on the stream share the
// numbering, so order is kept across both.
type Flow struct {
	// sender
	flights  []flight  // sent or to be sent, not acknowledged, by ascending number
	fresh    int       // flights never sent
	packed   int       // datagrams so far that held flights
	lastSent time.Time // the last of them
	backoff  int       // consecutive timer repeats
	spare    bool      // the last datagram held new messages: they may be repeated after copyAfter

	// receiver
	next  uint64            // number of the first message not delivered
	early map[uint64][]byte // messages ahead of it
	held  int               // bytes in early
	owed  bool              // an acknowledgement is due at ackAt
	ackAt time.Time

	repeats int // messages sent again
	resends int // datagrams sent because of the timer
}

// Message is a message with its number.
type Message struct {
	Seq   uint64
	Frame []byte
}

type flight struct {
	Message
	sent  bool
	first int // which datagram held it first
}

// Stats counts what a Flow has sent.
type Stats struct {
	Datagrams int // that held messages
	Repeats   int // messages sent again
	Resends   int // datagrams sent because no acknowledgement came
	Unsent    int // messages that wait for their first datagram
}

// Stats returns the counts so far.
func (f *Flow) Stats() Stats {
	return Stats{Datagrams: f.packed, Repeats: f.repeats, Resends: f.resends, Unsent: f.fresh}
}

// Expect sets the number of the first message of the peer. It is 0 unless earlier ones came some other way.
func (f *Flow) Expect(seq uint64) { f.next = seq }

// Discard drops the messages that arrived ahead of a missing one.
func (f *Flow) Discard() { f.early, f.held = nil, 0 }

// Push adds a message to be sent. Numbers must ascend.
func (f *Flow) Push(seq uint64, frame []byte) {
	f.flights = append(f.flights, flight{Message: Message{seq, frame}})
	f.fresh++
}

// Span returns the number of messages from the oldest unacknowledged one to seq.
func (f *Flow) Span(seq uint64) uint64 {
	if len(f.flights) == 0 {
		return 0
	}
	return seq - f.flights[0].Seq
}

// Withdraw removes all unacknowledged messages and returns them, for the stream to carry.
func (f *Flow) Withdraw() (all []Message) {
	for _, m := range f.flights {
		all = append(all, m.Message)
	}
	f.flights, f.fresh, f.backoff = nil, 0, 0
	return all
}

// resendAfter returns the timer's delay: a little more than an acknowledgement can take, doubled with each repeat.
func (f *Flow) resendAfter(rtt time.Duration) time.Duration {
	d := rtt + rtt/4 + 2*ackDelay
	return min(d<<min(f.backoff, 10), max(maxResend, 2*rtt))
}

// Deadline returns when Pack must be called next, or the zero time if nothing is waiting.
func (f *Flow) Deadline(now time.Time, rtt time.Duration) time.Time {
	switch {
	case f.fresh > 0:
		return now
	case len(f.flights) > 0:
		at := f.lastSent.Add(f.resendAfter(rtt))
		if f.spare {
			if again := f.lastSent.Add(copyAfter); again.Before(at) {
				at = again
			}
		}
		if f.owed && f.ackAt.Before(at) {
			return f.ackAt
		}
		return at
	case f.owed:
		return f.ackAt
	}
	return time.Time{}
}

// Pack returns the next datagram of at most limit bytes: the exchange's id, acknowledgements and messages. It returns nil
// when nothing is due. No frame may be longer than FrameRoom(limit).
func (f *Flow) Pack(id uint64, now time.Time, rtt time.Duration, limit int) []byte {
	due := f.Deadline(now, rtt)
	if due.IsZero() || now.Before(due) {
		return nil
	}
	timer := f.fresh == 0 && len(f.flights) > 0 && !now.Before(f.lastSent.Add(f.resendAfter(rtt)))
	again := f.fresh == 0 && f.spare && len(f.flights) > 0 && !now.Before(f.lastSent.Add(copyAfter))
	carry := f.fresh > 0 || timer || again // otherwise only an acknowledgement is due
	buf := binary.AppendUvarint(nil, id)
	buf = binary.AppendUvarint(buf, f.next)
	buf = binary.AppendUvarint(buf, f.bitmap())
	var chosen []int
	var newest int
	if carry {
		chosen, newest = f.choose(limit-len(buf), timer || again)
	}
	after := uint64(0)
	for _, i := range chosen {
		m := &f.flights[i]
		buf = binary.AppendUvarint(buf, m.Seq-after)
		buf = binary.AppendUvarint(buf, uint64(len(m.Frame)))
		buf = append(buf, m.Frame...)
		after = m.Seq + 1
		if m.sent {
			f.repeats++
		} else {
			m.sent, m.first = true, f.packed
		}
	}
	f.fresh -= newest
	f.owed = false
	if len(chosen) > 0 {
		f.packed++
		f.lastSent, f.spare = now, newest > 0
		if timer {
			f.backoff++
			f.resends++
		}
	}
	return buf
}

// choose picks the flights for a datagram with room for that many bytes, new ones first. Of the others it picks those
// whose turn it is, or all. The indices that it returns ascend.
func (f *Flow) choose(room int, all bool) (chosen []int, fresh int) {
	take := func(i int) bool {
		m := f.flights[i]
		size := uvarintLen(m.Seq) + uvarintLen(uint64(len(m.Frame))) + len(m.Frame)
		if size > room {
			return false
		}
		room -= size
		chosen = append(chosen, i)
		return true
	}
	old := len(f.flights) - f.fresh
	for i := old; i < len(f.flights) && take(i); i++ {
		fresh++
	}
	for i := range old {
		if (all || repeats(f.packed-f.flights[i].first)) && !take(i) {
			break
		}
	}
	slices.Sort(chosen)
	return chosen, fresh
}

// repeats reports whether a message is repeated in the nth datagram after its first.
func repeats(n int) bool { return n <= 4 || n&(n-1) == 0 }

// FrameRoom is the size of the largest frame that is sure to fit a datagram of limit bytes.
func FrameRoom(limit int) int { return limit - 5*binary.MaxVarintLen64 }

// bitmap returns which of the 64 messages after the first missing one have arrived.
func (f *Flow) bitmap() (m uint64) {
	for seq := range f.early {
		if i := seq - f.next - 1; i < 64 {
			m |= 1 << i
		}
	}
	return m
}

// Receive takes a datagram without its exchange id. When accept is false, because the application reads too slowly, only
// the acknowledgements count, and the peer repeats the messages later.
func (f *Flow) Receive(b []byte, now time.Time, accept bool) error {
	var fields [2]uint64
	for i := range fields {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return errors.New("malformed datagram")
		}
		fields[i], b = v, b[n:]
	}
	f.acknowledged(fields[0], fields[1])
	for seq := uint64(0); len(b) > 0; seq++ {
		gap, n := binary.Uvarint(b)
		if n <= 0 || gap > 1<<62 {
			return errors.New("malformed datagram")
		}
		size, k := binary.Uvarint(b[n:])
		if k <= 0 || size > uint64(len(b)-n-k) {
			return errors.New("malformed datagram")
		}
		frame := b[n+k:][:size]
		seq, b = seq+gap, b[n+k+int(size):]
		if !accept {
			continue
		}
		f.owe(now.Add(ackDelay)) // also for duplicates: our acknowledgement was lost
		if seq >= f.next+Window {
			continue // a later repeat will do
		}
		if err := f.Insert(seq, slices.Clone(frame)); err != nil {
			return err
		}
	}
	return nil
}

func (f *Flow) owe(at time.Time) {
	if !f.owed || at.Before(f.ackAt) {
		f.owed, f.ackAt = true, at
	}
}

// acknowledged removes the messages that the peer has: all before next, and those after it that the bitmap marks.
func (f *Flow) acknowledged(next, bitmap uint64) {
	before := len(f.flights)
	f.flights = slices.DeleteFunc(f.flights, func(m flight) bool {
		if !m.sent {
			return false
		}
		i := m.Seq - next - 1
		return m.Seq < next || i < 64 && bitmap>>i&1 == 1
	})
	if len(f.flights) < before {
		f.backoff = 0
	}
}

// Insert stores a message of the peer, from a datagram or from the stream. It ignores one that it already has.
func (f *Flow) Insert(seq uint64, frame []byte) error {
	if seq >= f.next+Window {
		return fmt.Errorf("message %d while %d is missing", seq, f.next)
	}
	if _, dup := f.early[seq]; dup || seq < f.next {
		return nil
	}
	if f.held+len(frame) > earlyBytes {
		return fmt.Errorf("more than %d bytes of messages while %d is missing", earlyBytes, f.next)
	}
	if f.early == nil {
		f.early = map[uint64][]byte{}
	}
	f.early[seq], f.held = frame, f.held+len(frame)
	return nil
}

// Take returns the next message in order, if it has arrived.
func (f *Flow) Take() (frame []byte, ok bool) {
	if frame, ok = f.early[f.next]; ok {
		delete(f.early, f.next)
		f.held -= len(frame)
		f.next++
	}
	return frame, ok
}

func uvarintLen(v uint64) int { return max(1, (bits.Len64(v)+6)/7) }

package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"
)

const (
	window      = 512                   // how far messages may arrive ahead of a missing one
	earlyBytes  = 2 << 20               // and how much of them is kept
	ackDelay    = 25 * time.Millisecond // the next message of ours mostly comes first
	maxResend   = time.Second
	copyAfter   = 12 * time.Millisecond // a sender that says nothing new for so long repeats itself once, unasked
	maxDatagram = 1150                  // bytes of a datagram until the path says otherwise
)

// fast gives the messages of one exchange reliability and order over datagrams: a pure state machine, one
// for each side, that acts as sender of its own messages and receiver of the peer's.
//
// Each datagram repeats messages not yet acknowledged that fit, new ones first and then the oldest, and
// acknowledges what arrived: the next message repairs a loss. A message rides in the four datagrams after
// its first, then in the 8th, the 16th and so on: with many messages on their way, repeating all of them
// each time would fill the congestion window, and under loss bring everything to a halt. Only when there is
// no next message a timer repeats whatever is not acknowledged, and, since a decoder's next message mostly comes
// too late to go unnoticed, once shortly after the last new one. Messages that travelled on the stream share
// the numbering, so order holds across both ways.
type fast struct {
	// sender
	flights  []flight  // sent or to be sent, not acknowledged, by ascending number
	fresh    int       // flights never sent
	packed   int       // datagrams so far that held flights
	lastSent time.Time // the last of them
	backoff  int       // consecutive timer repeats
	spare    bool      // the last datagram with messages had new ones: it may be repeated by copyAfter

	// receiver
	next  uint64            // number of the first message not delivered
	early map[uint64][]byte // messages ahead of it
	held  int               // bytes in early
	owed  bool              // an acknowledgement is due at ackAt
	ackAt time.Time

	repeats int // frames sent again
	resends int // of these, datagrams sent because of the timer
}

type flight struct {
	seq   uint64
	frame []byte
	sent  bool
	first int // which datagram held it first
}

// push adds a message to be sent. Numbers must ascend.
func (f *fast) push(seq uint64, frame []byte) {
	f.flights = append(f.flights, flight{seq: seq, frame: frame})
	f.fresh++
}

// span is how many messages lie from the oldest unacknowledged one to seq.
func (f *fast) span(seq uint64) uint64 {
	if len(f.flights) == 0 {
		return 0
	}
	return seq - f.flights[0].seq
}

// withdraw gives up on datagrams for all unacknowledged messages, for the stream to carry them.
func (f *fast) withdraw() []flight {
	all := f.flights
	f.flights, f.fresh, f.backoff = nil, 0, 0
	return all
}

// resendAfter is the timer's delay: a little more than the acknowledgement can take, doubling.
func (f *fast) resendAfter(rtt time.Duration) time.Duration {
	d := rtt + rtt/4 + 2*ackDelay
	return min(d<<min(f.backoff, 10), max(maxResend, 2*rtt))
}

// deadline is when pack must be called next; the zero time when nothing waits.
func (f *fast) deadline(now time.Time, rtt time.Duration) time.Time {
	switch {
	case f.fresh > 0:
		return now
	case len(f.flights) > 0:
		at := f.lastSent.Add(f.resendAfter(rtt))
		if f.spare {
			at = earlier(at, f.lastSent.Add(copyAfter))
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

// pack returns the next datagram of at most limit bytes: the exchange's id, what was received, and messages.
// It returns nil when nothing is due. No frame may be longer than frameRoom(limit).
func (f *fast) pack(id uint64, now time.Time, rtt time.Duration, limit int) []byte {
	due := f.deadline(now, rtt)
	if due.IsZero() || now.Before(due) {
		return nil
	}
	timer := f.fresh == 0 && len(f.flights) > 0 && !now.Before(f.lastSent.Add(f.resendAfter(rtt)))
	again := f.fresh == 0 && f.spare && len(f.flights) > 0 && !now.Before(f.lastSent.Add(copyAfter))
	carry := f.fresh > 0 || timer || again // else only an acknowledgement is due
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
		buf = binary.AppendUvarint(buf, m.seq-after)
		buf = binary.AppendUvarint(buf, uint64(len(m.frame)))
		buf = append(buf, m.frame...)
		after = m.seq + 1
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

// choose picks the flights for a datagram with that much room, new ones first; their indices ascend. Of the
// others it takes those whose turn it is, or all.
func (f *fast) choose(room int, all bool) (chosen []int, fresh int) {
	take := func(i int) bool {
		m := f.flights[i]
		size := uvarintLen(m.seq) + uvarintLen(uint64(len(m.frame))) + len(m.frame)
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

// repeats reports whether a message rides again in the nth datagram after its first.
func repeats(n int) bool { return n <= 4 || n&(n-1) == 0 }

// frameRoom is the size of the largest frame that surely fits a datagram of limit bytes.
func frameRoom(limit int) int { return limit - 5*binary.MaxVarintLen64 }

// bitmap tells which of the 64 messages after the first missing one have arrived.
func (f *fast) bitmap() (m uint64) {
	for seq := range f.early {
		if i := seq - f.next - 1; i < 64 {
			m |= 1 << i
		}
	}
	return m
}

// receive takes a datagram without its exchange id. When accept is false the messages are left to the
// peer's repetition, because the application is behind with reading; acknowledgements count all the same.
func (f *fast) receive(b []byte, now time.Time, accept bool) error {
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
		if seq >= f.next+window {
			continue // a later repetition will do
		}
		if err := f.insert(seq, slices.Clone(frame)); err != nil {
			return err
		}
	}
	return nil
}

func (f *fast) owe(at time.Time) {
	if !f.owed || at.Before(f.ackAt) {
		f.owed, f.ackAt = true, at
	}
}

// acknowledged removes what the peer has: all before next, and the bitmap's after it.
func (f *fast) acknowledged(next, bitmap uint64) {
	before := len(f.flights)
	f.flights = slices.DeleteFunc(f.flights, func(m flight) bool {
		if !m.sent {
			return false
		}
		i := m.seq - next - 1
		return m.seq < next || i < 64 && bitmap>>i&1 == 1
	})
	if len(f.flights) < before {
		f.backoff = 0
	}
}

// insert takes a message of the peer, from a datagram or from the stream.
func (f *fast) insert(seq uint64, frame []byte) error {
	if seq >= f.next+window {
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

// take returns the next message in order, if it is there.
func (f *fast) take() (frame []byte, ok bool) {
	if frame, ok = f.early[f.next]; ok {
		delete(f.early, f.next)
		f.held -= len(frame)
		f.next++
	}
	return frame, ok
}

func uvarintLen(v uint64) int { return max(1, (bits.Len64(v)+6)/7) }

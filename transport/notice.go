package transport

import (
	"encoding/binary"
	"time"
)

// Busy says that the cloud has no place for the exchange yet. It is no message of the flow: it may be lost, and comes again.
type Busy struct {
	Before int           // how many questions wait for a place before this one
	About  time.Duration // when the cloud expects to have a place, from now; 0 if it cannot tell
}

// Leaving says that the cloud is about to end, and that the exchange should move to another replica. Like Busy, it is no
// message of the flow.
type Leaving struct{}

// Kinds of notices. A notice is a datagram in the form of an answer to an echo, but with another number at its end, so a peer
// of an earlier version ignores it.
const (
	noticeBusy    = 2 // how many questions wait before this one, and for how many tenths of a second
	noticeLeaving = 3 // a 0
)

// Bounds on what a peer may claim, and the unit of time.
const (
	maxBefore = 1 << 16
	maxAbout  = time.Hour
	tenth     = time.Second / 10
)

// notices are those to send, by exchange.
type notices struct {
	busy    map[uint64]Busy
	leaving map[uint64]bool
}

// take appends the datagrams of all notices to out, and forgets the notices.
func (n *notices) take(out [][]byte) [][]byte {
	for id, b := range n.busy {
		out = append(out, appendBusy(nil, id, b))
	}
	for id := range n.leaving {
		out = append(out, appendLeaving(nil, id))
	}
	*n = notices{}
	return out
}

// SendBusy tells the peer that opened the exchange how many questions wait before it, and how long that may take, 0 if nobody
// knows. The peer receives that as Busy. Where datagrams are refused, it learns nothing.
func (x *Exchange) SendBusy(before int, about time.Duration) {
	x.notify(func(n *notices) {
		if n.busy == nil {
			n.busy = map[uint64]Busy{}
		}
		n.busy[x.id] = Busy{before, about}
	})
}

// SendLeaving tells the peer that opened the exchange that this side is about to end. The peer receives that as
// Leaving. It may be lost, so it is worth repeating.
func (x *Exchange) SendLeaving() {
	x.notify(func(n *notices) {
		if n.leaving == nil {
			n.leaving = map[uint64]bool{}
		}
		n.leaving[x.id] = true
	})
}

// notify adds a notice to those to send. Only the side that did not open the exchange sends notices, and none over a Pipe.
func (x *Exchange) notify(add func(*notices)) {
	if x.conn == nil || x.opener {
		return
	}
	l := &x.conn.link
	l.mu.Lock()
	add(&l.notices)
	l.mu.Unlock()
	signal(x.conn.wake)
}

// noticed takes a notice: Busy or Leaving.
func (x *Exchange) noticed(m Message) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.opener && !x.ended && x.recvErr == nil && !x.full() {
		x.add(m, 32)
	}
}

// appendBusy appends the datagram of a Busy.
func appendBusy(out []byte, exchange uint64, b Busy) []byte {
	out = binary.AppendUvarint(append(out, echoID, noticeBusy), exchange)
	out = binary.AppendUvarint(out, uint64(max(0, min(b.Before, maxBefore))))
	return binary.AppendUvarint(out, uint64(max(0, min(b.About, maxAbout))/tenth))
}

// appendLeaving appends the datagram of a Leaving.
func appendLeaving(out []byte, exchange uint64) []byte {
	return append(binary.AppendUvarint(append(out, echoID, noticeLeaving), exchange), 0)
}

// readNotice reads a notice without the id of echoes. The message is nil if b is none.
func readNotice(b []byte) (exchange uint64, m Message) {
	if len(b) == 0 || b[0] != noticeBusy && b[0] != noticeLeaving {
		return 0, nil // an echo
	}
	switch kind, numbers := b[0], uvarints(b[1:]); {
	case kind == noticeBusy && len(numbers) == 3 && numbers[1] <= maxBefore && numbers[2] <= uint64(maxAbout/tenth):
		return numbers[0], Busy{int(numbers[1]), time.Duration(numbers[2]) * tenth}
	case kind == noticeLeaving && len(numbers) == 2 && numbers[1] == 0:
		return numbers[0], Leaving{}
	}
	return 0, nil
}

// uvarints reads the numbers that b consists of, and returns nil if b consists of anything else. It stops after four numbers,
// more than any notice has.
func uvarints(b []byte) (numbers []uint64) {
	for len(b) > 0 && len(numbers) < 4 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil
		}
		numbers, b = append(numbers, v), b[n:]
	}
	return numbers
}

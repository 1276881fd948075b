package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Large data (KV caches) shares the path with drafts and would fill the queues that drafts wait in. Neither priorities nor
// datagrams prevent that. So it is sent in pieces, within a window that shrinks as soon as a queue builds up (LEDBAT,
// RFC 6817). A piece may take longer than the least delay seen plus the path's own jitter, by bulkTarget or by a quarter
// of that least delay, whichever is more. On an idle path the window starts as QUIC's does and doubles with each round
// trip until a queue appears.
const (
	pieceSize   = 2 << 10
	firstWindow = 12 << 10
	bulkTarget  = 25 * time.Millisecond
	// The current delay is the least of the most recent pieces' delays, which leaves jitter out. A third of the window's
	// pieces count as recent, within these bounds.
	minRecent, maxRecent = 4, 16
)

// bulkFlow decides how much data may be in flight. It is a pure state machine.
type bulkFlow struct {
	window   float64 // bytes
	sent     []sentPiece
	flying   int             // bytes in sent
	base     time.Duration   // least delay seen; 0 before the first
	recent   []time.Duration // delays of the most recent pieces
	smooth   time.Duration   // mean of the last delays
	jitter   time.Duration   // twice their mean distance from smooth
	steady   bool            // the window no longer doubles
	shrinkAt time.Time       // when the window may shrink again
}

type sentPiece struct {
	bytes int
	at    time.Time
}

// room reports whether another piece may be sent.
func (b *bulkFlow) room() bool {
	if b.window == 0 {
		b.window = firstWindow
	}
	return b.flying == 0 || b.flying+pieceSize <= int(b.window)
}

func (b *bulkFlow) send(n int, now time.Time) {
	b.sent = append(b.sent, sentPiece{n, now})
	b.flying += n
}

// acknowledge records that n more bytes have arrived.
func (b *bulkFlow) acknowledge(n int, now time.Time) error {
	for n > 0 && len(b.sent) > 0 {
		p := b.sent[0]
		if p.bytes > n {
			break
		}
		b.sent, b.flying, n = b.sent[1:], b.flying-p.bytes, n-p.bytes
		b.adapt(p.bytes, now.Sub(p.at), now)
	}
	if n != 0 {
		return fmt.Errorf("%d bytes acknowledged that were not sent as a piece", n)
	}
	return nil
}

// adapt changes the window after a piece whose acknowledgement took delay.
func (b *bulkFlow) adapt(n int, delay time.Duration, now time.Time) {
	if b.base == 0 || delay < b.base {
		b.base = delay
	}
	if b.smooth == 0 {
		b.smooth = delay
	}
	above := delay - b.smooth
	b.smooth += above / 8
	if above > 0 && !b.steady { // more likely a queue that the doubling window has built
		above = 0
	}
	b.jitter += (2*max(above, -above) - b.jitter) / 8
	b.recent = append(b.recent, delay)
	if most := min(max(int(b.window)/pieceSize/3, minRecent), maxRecent); len(b.recent) > most {
		b.recent = b.recent[len(b.recent)-most:]
	}
	least := delay
	for _, d := range b.recent {
		least = min(least, d)
	}
	queue, target := max(0, least-b.base-b.jitter), max(bulkTarget, b.base/4)
	switch {
	case !b.steady && queue <= target/2:
		b.window += float64(n) // doubles with each round trip
	case queue > target && now.After(b.shrinkAt):
		// The pieces in flight still show the old queue, so shrink only once per round trip.
		b.steady, b.shrinkAt = true, now.Add(delay)
		b.window *= max(0.5, b.base.Seconds()/least.Seconds())
	case !b.steady: // perhaps jitter: keep the window until a queue is certain
	default:
		off := 1 - queue.Seconds()/target.Seconds()
		b.window += 2 * off * float64(n) * pieceSize / b.window
	}
	b.window = max(b.window, pieceSize)
}

// Channel is the part of an Exchange that SendBulk and ReceiveBulk use.
type Channel interface {
	Send(...Message) error
	Receive(context.Context) (Message, error)
}

// SendBulk sends data in pieces to a peer that calls ReceiveBulk, and returns when all of it has arrived. It slows down
// when it would delay other traffic on the path. No other message may arrive on the exchange meanwhile.
func SendBulk(ctx context.Context, x Channel, data []byte) error {
	var b bulkFlow
	got := 0
	for at := 0; got < len(data); {
		for at < len(data) && b.room() {
			n := min(pieceSize, len(data)-at)
			if err := x.Send(Piece{Data: data[at : at+n]}); err != nil {
				return err
			}
			b.send(n, time.Now())
			at += n
		}
		m, err := x.Receive(ctx)
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case Got:
			if err := b.acknowledge(m.Bytes-got, time.Now()); err != nil {
				return fmt.Errorf("transport: %w", err)
			}
			got = m.Bytes
		case End:
			return fmt.Errorf("transport: after %d of %d bytes: %w", got, len(data), io.ErrClosedPipe)
		default:
			return fmt.Errorf("transport: %T during a bulk transfer", m)
		}
	}
	return nil
}

// ReceiveBulk receives n bytes that the peer sends with SendBulk. It allocates memory only as they arrive.
func ReceiveBulk(ctx context.Context, x Channel, n int) ([]byte, error) {
	if n < 0 || n > MaxBulk {
		return nil, fmt.Errorf("transport: a bulk transfer of %d bytes, at most %d allowed", n, MaxBulk)
	}
	var data []byte
	for len(data) < n {
		m, err := x.Receive(ctx)
		if err != nil {
			return nil, err
		}
		switch m := m.(type) {
		case Piece:
			if len(m.Data) == 0 || len(data)+len(m.Data) > n {
				return nil, fmt.Errorf("transport: a piece of %d bytes after %d of %d", len(m.Data), len(data), n)
			}
			data = append(data, m.Data...)
			if err := x.Send(Got{Bytes: len(data)}); err != nil {
				return nil, err
			}
		case Fail:
			return nil, errors.New("transport: the peer gave up: " + m.Text)
		default:
			return nil, fmt.Errorf("transport: %T during a bulk transfer", m)
		}
	}
	return data, nil
}

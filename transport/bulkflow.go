package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Large data (KV caches) shares the path with drafts, and would fill the queues that drafts wait in: neither priorities nor
// datagrams prevent that. So it goes in pieces, within a window that shrinks as soon as a queue builds up (LEDBAT,
// RFC 6817). A piece may take bulkTarget longer than the least delay seen plus the path's own jitter, or a quarter of that
// least delay if that is more. On an idle path the window begins as QUIC's does and doubles with each round trip until
// there is a queue.
const (
	pieceSize   = 2 << 10
	firstWindow = 12 << 10
	bulkTarget  = 25 * time.Millisecond
	// The present delay is the least of the last pieces', so that jitter does not count: of a third as many as are on
	// their way, within these bounds.
	leastRecent, mostRecent = 4, 16
)

// bulkFlow decides how much may be on its way. It is a pure state machine.
type bulkFlow struct {
	window   float64 // bytes
	sent     []sentPiece
	flying   int           // bytes in sent
	base     time.Duration // least delay seen; 0 before the first
	recent   []time.Duration
	smooth   time.Duration // mean of the last delays
	jitter   time.Duration // twice their mean distance from smooth
	steady   bool          // the window no longer doubles
	slackens time.Time
}

type sentPiece struct {
	bytes int
	at    time.Time
}

// room reports whether a piece may go.
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
	if above > 0 && !b.steady { // more likely a queue, which the doubling builds
		above = 0
	}
	b.jitter += (2*max(above, -above) - b.jitter) / 8
	b.recent = append(b.recent, delay)
	if most := min(max(int(b.window)/pieceSize/3, leastRecent), mostRecent); len(b.recent) > most {
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
	case queue > target && now.After(b.slackens):
		// What is on its way still shows the queue, so shrink only once in a round trip.
		b.steady, b.slackens = true, now.Add(delay)
		b.window *= max(0.5, b.base.Seconds()/least.Seconds())
	case !b.steady: // may be jitter: keep the window until there is a queue for certain
	default:
		off := 1 - queue.Seconds()/target.Seconds()
		b.window += 2 * off * float64(n) * pieceSize / b.window
	}
	b.window = max(b.window, pieceSize)
}

// Channel is what SendBulk and ReceiveBulk need of an Exchange.
type Channel interface {
	Send(...Message) error
	Receive(context.Context) (Message, error)
}

// SendBulk sends data in pieces to a peer that calls ReceiveBulk, and returns when all of it has arrived. It slows down
// when it would delay other traffic on the path. Nothing else may be received meanwhile.
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
			return fmt.Errorf("transport: %T amid a bulk transfer", m)
		}
	}
	return nil
}

// ReceiveBulk receives n bytes that the peer sends with SendBulk. It allocates memory only as they arrive.
func ReceiveBulk(ctx context.Context, x Channel, n int) ([]byte, error) {
	if n < 0 || n > MaxBulk {
		return nil, fmt.Errorf("transport: a bulk of %d bytes, at most %d allowed", n, MaxBulk)
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
			return nil, fmt.Errorf("transport: %T amid a bulk transfer", m)
		}
	}
	return data, nil
}

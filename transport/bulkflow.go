package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Large things (KV caches) share the path with drafts, and neither priorities nor datagrams keep them from
// filling the queue in front of them. So they go in pieces by a window of their own that gives way as soon as
// a queue builds up: the delay of a piece beyond the least that was seen, and beyond what the path wavers by
// itself, may be bulkTarget, or a quarter of that least delay if that is more (LEDBAT, RFC 6817). On an idle
// path the window doubles with each round trip until then, beginning with what QUIC begins with.
const (
	pieceSize   = 2 << 10
	firstWindow = 12 << 10
	bulkTarget  = 25 * time.Millisecond
	// The least delay of the last pieces counts as the present one, so that jitter does not: of a third of those
	// that are on their way, within these bounds.
	leastRecent, mostRecent = 4, 16
)

// bulkFlow decides how much may be on its way: a pure state machine, told what is sent and acknowledged, when.
type bulkFlow struct {
	window   float64 // bytes
	sent     []sentPiece
	flying   int           // bytes in sent
	base     time.Duration // least delay seen; 0 before the first
	recent   []time.Duration
	smooth   time.Duration // mean of the last delays
	jitter   time.Duration // twice how far they lie from it on average
	steady   bool          // the beginning is over
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

// acknowledge takes the news that n more bytes have arrived.
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

// adapt changes the window after a piece that took this long, there and back.
func (b *bulkFlow) adapt(n int, delay time.Duration, now time.Time) {
	if b.base == 0 || delay < b.base {
		b.base = delay
	}
	if b.smooth == 0 {
		b.smooth = delay
	}
	above := delay - b.smooth
	b.smooth += above / 8
	if above > 0 && !b.steady { // as likely the queue, which the doubling builds
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
		// What is on its way still shows the queue: slacken once for a round trip.
		b.steady, b.slackens = true, now.Add(delay)
		b.window *= max(0.5, b.base.Seconds()/least.Seconds())
	case !b.steady: // may be jitter: neither more nor less until there is a queue for sure
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

// SendBulk sends data in pieces to a peer that calls ReceiveBulk, and returns when all of it has arrived. It
// holds back when it would delay what else is on the path. Nothing else may be received meanwhile.
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

// ReceiveBulk takes n bytes that the peer sends with SendBulk. Memory is taken as they arrive.
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

package transport

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"tandem"
	"tandem/transport/reliable"
)

const (
	fastLimit   = 256     // control messages up to this size ride in datagrams
	inboxLimit  = 256     // messages that may wait for Receive before the peer is slowed down
	inboxBytes  = 1 << 20 // and their bytes, decoded
	outboxLimit = 4 << 20 // bytes waiting for the stream before Send fails
)

// ErrClosed is the error of an Exchange or Conn that this side has closed.
var ErrClosed = errors.New("transport: closed")

// ErrBacklog is the error of Send when too much waits for a peer that does not read.
var ErrBacklog = errors.New("transport: the peer does not read")

// Exchange carries the messages of one answer in both directions, each once and in order. Its methods may be called from
// several goroutines. Messages go out in the order of the Send calls.
type Exchange struct {
	id     uint64
	conn   *Conn        // nil in a Pipe
	stream *quic.Stream // nil in a Pipe
	peer   *Exchange    // only in a Pipe
	opener bool         // this side opened the exchange

	order   sync.Mutex // held by Send, before mu: frames are numbered as they are written
	writer  frameWriter
	reader  frameReader
	mu      sync.Mutex
	seq     uint64 // of the next message to send
	flow    reliable.Flow
	inbox   []delivery
	unread  int           // bytes of the messages in inbox
	longest int           // most tokens of a Sync
	recvErr error         // returned once inbox is empty: why no more messages will come
	sendErr error         // why no more messages can be sent
	outbox  [][]byte      // frames for the stream, each with its length and number
	waiting int           // bytes in outbox
	ended   bool          // Close was called: the stream ends after outbox
	arrived chan struct{} // capacity 1: inbox or recvErr changed
	drained chan struct{} // capacity 1: inbox has room again
	queued  chan struct{} // capacity 1: outbox or ended changed
}

// delivery is a message that waits for Receive.
type delivery struct {
	message Message
	size    int // approximate, in bytes
}

// add puts a message into the inbox. The caller holds x.mu.
func (x *Exchange) add(m Message, size int) {
	x.inbox = append(x.inbox, delivery{m, size})
	x.unread += size
	signal(x.arrived)
}

// full reports whether the peer must wait for Receive. The caller holds x.mu.
func (x *Exchange) full() bool { return len(x.inbox) >= inboxLimit || x.unread >= inboxBytes }

func newExchange(vocab int) *Exchange {
	return &Exchange{
		writer:  frameWriter{vocab: vocab},
		reader:  frameReader{vocab: vocab},
		longest: tandem.MaxAnswer,
		arrived: make(chan struct{}, 1),
		drained: make(chan struct{}, 1),
		queued:  make(chan struct{}, 1),
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Pipe returns the two ends of an exchange without a network, for a vocabulary of vocab tokens; a is the device's end.
// Messages are encoded, decoded and limited as on the wire, and arrive at once. It is for tests.
func Pipe(vocab int) (a, b *Exchange) {
	a, b = newExchange(vocab), newExchange(vocab)
	a.peer, b.peer, a.opener = b, a, true
	return a, b
}

// Send queues messages and returns without waiting for the network. Short messages of one call share datagrams, if they
// fit. Send fails when a message is malformed or exceeds its limits (the messages before it are still sent), when either
// side has closed, or with ErrBacklog.
func (x *Exchange) Send(messages ...Message) error {
	x.order.Lock()
	defer x.order.Unlock()
	x.mu.Lock()
	err := x.sendErr
	x.mu.Unlock()
	if err != nil {
		return err
	}
	if x.peer == nil {
		x.mu.Lock() // until all are queued, so that no datagram is packed before
		defer x.mu.Unlock()
	}
	for _, m := range messages {
		frame, err := x.writer.frame(m)
		if err != nil {
			return fmt.Errorf("transport: send: %w", err)
		}
		if x.peer != nil {
			err = x.peer.arrive(frame)
		} else {
			err = x.route(m, frame)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// route chooses the way of a frame: drafts, targets and short messages by datagram, others by stream. The caller
// holds x.mu.
func (x *Exchange) route(m Message, frame []byte) error {
	limit := fastLimit
	switch m.(type) {
	case tandem.Draft:
		limit = maxControl
		x.conn.countDraft(len(frame))
	case tandem.Target:
		limit = maxControl
	}
	if x.sendErr != nil {
		return x.sendErr
	}
	if x.waiting+len(frame) > outboxLimit {
		x.fail(ErrBacklog)
		return ErrBacklog
	}
	seq := x.seq
	x.seq++
	if len(frame) > min(limit, x.conn.frameRoom()) {
		x.enqueue(seq, frame)
	} else {
		x.flow.Push(seq, frame)
		signal(x.conn.wake)
	}
	if x.flow.Span(x.seq) >= reliable.Window/2 {
		x.withdraw()
	}
	return nil
}

// enqueue hands a frame to the stream. The caller holds x.mu.
func (x *Exchange) enqueue(seq uint64, frame []byte) {
	buf := appendStreamFrame(nil, seq, frame)
	x.outbox = append(x.outbox, buf)
	x.waiting += len(buf)
	signal(x.queued)
}

// withdraw moves all unacknowledged datagram messages to the stream. The caller holds x.mu.
func (x *Exchange) withdraw() {
	for _, m := range x.flow.Withdraw() {
		x.enqueue(m.Seq, m.Frame)
	}
}

// arrive takes a frame that the other end of a Pipe sends.
func (x *Exchange) arrive(frame []byte) error {
	m, size, err := x.read(frame)
	if err != nil {
		return fmt.Errorf("transport: send: %w", err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return nil // as on a network, where the peer learns of it later
	}
	if len(x.inbox) >= 1<<16 {
		return ErrBacklog
	}
	x.add(m, size)
	return nil
}

// read decodes the next frame in order, and refuses what the peer must not send.
func (x *Exchange) read(frame []byte) (m Message, size int, err error) {
	if m, err = x.reader.message(frame); err != nil {
		return nil, 0, err
	}
	if !allowed(m, !x.opener) {
		return nil, 0, fmt.Errorf("%T from this side", m)
	}
	if s, ok := m.(Sync); ok && len(s.Tokens) > x.longest {
		return nil, 0, fmt.Errorf("sync of %d, at most %d allowed in this answer", len(s.Tokens), x.longest)
	}
	return m, sizeOf(m, frame), nil
}

// sizeOf returns about how many bytes of memory a message takes. A compressed message may take 200 times its frame.
func sizeOf(m Message, frame []byte) int {
	size := len(frame)
	if frame[0] == kindControl<<5|1 {
		plain, _ := binary.Uvarint(frame[2:])
		size = int(plain)
	}
	if d, ok := m.(tandem.Draft); ok {
		size += 8 * len(d.Dist.IDs)
	}
	return size
}

// Receive returns the next message. The error is io.EOF when the peer has closed the exchange, ErrClosed when this side
// has closed it, or ctx's error; otherwise it says why the connection was lost or the peer's message was refused.
func (x *Exchange) Receive(ctx context.Context) (Message, error) {
	for {
		x.mu.Lock()
		if len(x.inbox) > 0 {
			next := x.inbox[0]
			x.inbox = x.inbox[1:]
			x.unread -= next.size
			if len(x.inbox) > 0 || x.recvErr != nil {
				signal(x.arrived)
			}
			signal(x.drained)
			err := x.deliver() // there is space for more now
			if err != nil {
				x.fail(fmt.Errorf("transport: refused: %w", err))
			}
			x.mu.Unlock()
			if err != nil {
				x.conn.abort(err)
			}
			return next.message, nil
		}
		err := x.recvErr
		x.mu.Unlock()
		if err != nil {
			signal(x.arrived)
			return nil, err
		}
		select {
		case <-x.arrived:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// More reports whether another message has arrived: those of one datagram arrive together.
func (x *Exchange) More() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.inbox) > 0
}

// Close ends the exchange. What this side sent before still arrives; what the peer sends from now on does not.
func (x *Exchange) Close() error {
	x.mu.Lock()
	if x.ended {
		x.mu.Unlock()
		return nil
	}
	x.ended = true
	x.endReceive(ErrClosed)
	if x.sendErr == nil {
		x.sendErr = ErrClosed
		x.withdraw()
	}
	x.inbox, x.unread = nil, 0
	signal(x.queued)
	signal(x.drained)
	peer := x.peer
	x.mu.Unlock()
	if peer != nil {
		peer.mu.Lock()
		peer.endReceive(io.EOF)
		if peer.sendErr == nil {
			peer.sendErr = ErrClosed
		}
		peer.mu.Unlock()
		return nil
	}
	x.stream.CancelRead(streamClosed)
	x.conn.forget(x)
	return nil
}

// endReceive records why no more messages will come. The caller holds x.mu.
func (x *Exchange) endReceive(err error) {
	if x.recvErr == nil {
		x.recvErr = err
	}
	signal(x.arrived)
	signal(x.drained)
}

// fail ends both directions. The caller holds x.mu.
func (x *Exchange) fail(err error) {
	x.endReceive(err)
	if x.sendErr == nil {
		x.sendErr = err
	}
	x.flow.Withdraw()
	x.outbox, x.waiting = nil, 0
	signal(x.queued)
}

// deliver moves the messages that are in order to the inbox while there is space. The others stay encoded, which takes
// little memory. The caller holds x.mu.
func (x *Exchange) deliver() error {
	for !x.full() {
		frame, ok := x.flow.Take()
		if !ok {
			break
		}
		m, size, err := x.read(frame)
		if err != nil {
			x.flow.Discard() // nothing after it matters
			return err
		}
		if _, ok := m.(tandem.Draft); ok {
			x.conn.countPeerDraft(len(frame))
		}
		if x.ended {
			continue
		}
		x.add(m, size)
	}
	return nil
}

// datagram takes a datagram of this exchange. An error means that the peer broke the protocol.
func (x *Exchange) datagram(b []byte, now time.Time) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.flow.Receive(b, now, !x.full()); err != nil {
		return err
	}
	return x.deliver()
}

// readLoop reads messages from the stream until it ends.
func (x *Exchange) readLoop(in *bufio.Reader) {
	for {
		seq, frame, err := readFrame(in, maxControl)
		x.conn.link.heard(time.Now())
		x.mu.Lock()
		if err == nil {
			if err = x.flow.Insert(seq, frame); err == nil {
				err = x.deliver()
			}
			if err != nil {
				x.fail(fmt.Errorf("transport: refused: %w", err))
				x.mu.Unlock()
				x.conn.abort(err)
				return
			}
		}
		if err != nil {
			x.peerEnded(err)
			x.mu.Unlock()
			return
		}
		for x.full() && x.recvErr == nil {
			x.mu.Unlock()
			<-x.drained
			x.mu.Lock()
		}
		x.mu.Unlock()
	}
}

// peerEnded records that the stream has ended. The caller holds x.mu.
func (x *Exchange) peerEnded(err error) {
	var reset *quic.StreamError
	switch {
	case errors.Is(err, io.EOF), errors.As(err, &reset):
		x.endReceive(io.EOF)
		if x.sendErr == nil {
			x.sendErr = ErrClosed
		}
		x.flow.Withdraw() // nobody will read them
	default:
		x.fail(x.conn.endReason(err))
	}
}

// writeLoop feeds the stream until the exchange ends.
func (x *Exchange) writeLoop() {
	defer x.stream.Close()
	for {
		x.mu.Lock()
		out, ended := x.outbox, x.ended || x.sendErr != nil
		x.outbox = nil
		x.mu.Unlock()
		for _, buf := range out {
			if _, err := x.stream.Write(buf); err != nil {
				x.stream.CancelWrite(streamClosed)
				x.mu.Lock()
				if x.sendErr == nil {
					x.sendErr = x.conn.endReason(err)
				}
				x.mu.Unlock()
				return
			}
			x.mu.Lock()
			x.waiting -= len(buf)
			x.mu.Unlock()
		}
		if len(out) > 0 {
			continue
		}
		if ended {
			return
		}
		<-x.queued
	}
}

// appendStreamFrame appends a frame as it stands on a stream: length, number, body.
func appendStreamFrame(buf []byte, seq uint64, frame []byte) []byte {
	number := binary.AppendUvarint(nil, seq)
	buf = binary.AppendUvarint(buf, uint64(len(number)+len(frame)))
	return append(append(buf, number...), frame...)
}

// readFrame reads a frame from a stream: length, number, body. It allocates at most about limit bytes.
func readFrame(in *bufio.Reader, limit int) (seq uint64, frame []byte, err error) {
	size, err := binary.ReadUvarint(in)
	if err != nil {
		return 0, nil, err
	}
	if size > uint64(limit)+binary.MaxVarintLen64 {
		return 0, nil, fmt.Errorf("%w: message of %d bytes, at most %d allowed", errMalformed, size, limit)
	}
	buf := make([]byte, size)
	if _, err := io.ReadFull(in, buf); err != nil {
		return 0, nil, fmt.Errorf("message cut off: %w", err)
	}
	seq, n := binary.Uvarint(buf)
	if n <= 0 || n == len(buf) {
		return 0, nil, fmt.Errorf("%w: message without a body", errMalformed)
	}
	return seq, buf[n:], nil
}

var errMalformed = errors.New("malformed message")

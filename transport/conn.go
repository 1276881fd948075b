package transport

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"tandem/internal/sparing"
	"tandem/transport/reliable"
)

// Error codes with which a connection or stream is closed.
const (
	codeClosed   quic.ApplicationErrorCode = iota // the peer has finished
	codeMismatch                                  // the hellos differ
	codeProtocol                                  // malformed or excessive input
	codeUnknown                                   // the key is not paired
	codeBusy                                      // too many connections
	codePairing                                   // the pairing code was not accepted

	streamClosed quic.StreamErrorCode = 0
)

// ErrLost is wrapped by errors about a connection that broke or that the peer closed.
var ErrLost = errors.New("transport: the link is lost")

// ErrHungUp is wrapped by errors about a connection that the peer closed in order.
var ErrHungUp = fmt.Errorf("%w: closed by the peer", ErrLost)

// RefusedError says why the peer refused this side.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "the peer refused: " + e.Reason }

// NotPairedError says that the peer does not know this side's key.
type NotPairedError struct{ Reason string }

func (e *NotPairedError) Error() string { return e.Reason }

// Conn is a connection to the other side. It carries several exchanges at once.
type Conn struct {
	handshaken
	released chan struct{} // closed after release

	wake        chan struct{}  // capacity 1: something may be due
	ready       chan *Exchange // opened by the peer, not yet accepted
	maxDatagram atomic.Int64   // the most bytes of a datagram; 0 when the peer refuses them
	link        link           // measurements of the path

	mu        sync.Mutex
	exchanges map[uint64]*Exchange
	err       error // why the connection ended
	paths     int   // sockets that Migrate has added
}

// handshaken is what a connection has when its handshake is done.
type handshaken struct {
	qc            *quic.Conn
	peer          ID
	local, remote Hello // an eager Conn gets the remote one later, under its mutex
	log           *slog.Logger
	limits        Limits
	warnings      *warnings
	stillPaired   func() error // returns an error if the peer may no longer open exchanges; nil if it always may
	release       func()       // frees what the connection owns
}

// warnings are what the peers of a listener, or the peer of a dialled connection, can cause. A peer that connects again gets no new
// ones.
type warnings struct {
	refused, ended, aborted sparing.Log // exchanges, and connections
}

// Limits bounds what a peer may use. Zero fields mean the defaults in brackets.
type Limits struct {
	Exchanges int           // open at once on a connection (16)
	Conns     int           // open connections; only for a Listener (64)
	PerKey    int           // open connections of one key; only for a Listener (8)
	Rate      float64       // new connections per second from unverified addresses; only for a Listener (50)
	Idle      time.Duration // silence after which a connection is considered lost (30 s)
	KeepAlive time.Duration // time between pings on an idle connection (10 s)
	// StreamsOnly turns datagrams off, so that everything travels on streams. It is for networks without loss, and for
	// comparison.
	StreamsOnly bool
}

func (l Limits) withDefaults() Limits {
	l.Exchanges = cmp.Or(l.Exchanges, 16)
	l.Conns = cmp.Or(l.Conns, 64)
	l.PerKey = cmp.Or(l.PerKey, 8)
	l.Rate = cmp.Or(l.Rate, 50)
	l.Idle = cmp.Or(l.Idle, 30*time.Second)
	l.KeepAlive = cmp.Or(l.KeepAlive, 10*time.Second)
	return l
}

// newConn starts serving a connection.
func newConn(h handshaken) *Conn {
	c := &Conn{
		handshaken: h, released: make(chan struct{}),
		wake: make(chan struct{}, 1), ready: make(chan *Exchange, h.limits.Exchanges),
		exchanges: map[uint64]*Exchange{},
	}
	c.link.heard(time.Now())
	if s := h.qc.ConnectionState().SupportsDatagrams; s.Remote && s.Local {
		c.maxDatagram.Store(reliable.DatagramSize)
	}
	go c.acceptLoop()
	go c.receiveLoop()
	go c.sendLoop()
	go c.endLoop()
	return c
}

// Open starts an exchange. If it fails although ctx has not ended and Err is nil, begin is at fault and the connection is not.
func (c *Conn) Open(ctx context.Context, begin Begin) (*Exchange, error) {
	frame, err := encodeControl(begin)
	if err != nil {
		return nil, fmt.Errorf("transport: open an exchange: %w", err)
	}
	stream, err := c.qc.OpenStreamSync(ctx)
	if err != nil {
		if ctx.Err() == nil { // QUIC ends the streams before its context, which endLoop waits for
			err = c.ended(err)
		} else {
			err = c.endReason(err)
		}
		return nil, fmt.Errorf("transport: open an exchange: %w", err)
	}
	x := c.exchange(stream)
	x.opener = true
	x.enqueue(0, frame) // the peer learns of the exchange from its stream
	x.seq = 1
	c.enter(x)
	go x.writeLoop()
	go x.readLoop(bufio.NewReader(stream))
	return x, nil
}

// Accept waits for the next exchange that the peer opens.
func (c *Conn) Accept(ctx context.Context) (*Exchange, Begin, error) {
	select {
	case x := <-c.ready:
		m, err := x.Receive(ctx)
		if err != nil {
			return nil, Begin{}, err
		}
		begin, ok := m.(Begin)
		if !ok {
			c.abort(fmt.Errorf("an exchange started with %T", m))
			return nil, Begin{}, c.Err()
		}
		return x, begin, nil
	case <-c.released:
		return nil, Begin{}, c.Err()
	case <-ctx.Done():
		return nil, Begin{}, context.Cause(ctx)
	}
}

// exchange makes the exchange of a stream. Nothing else refers to it until enter.
func (c *Conn) exchange(stream *quic.Stream) *Exchange {
	x := newExchange(c.local.VocabSize)
	x.id, x.conn, x.stream = uint64(stream.StreamID()), c, stream
	return x
}

// begun makes the exchange that the peer opened with begin, a message of size bytes. Begin is message 0 of the exchange, so
// no datagram can bring another one.
func (c *Conn) begun(stream *quic.Stream, begin Begin, size int) *Exchange {
	x := c.exchange(stream)
	x.flow.Expect(1)
	if begin.MaxTokens > 0 {
		x.longest = begin.MaxTokens
	}
	x.add(begin, size)
	return x
}

// enter lets datagrams and the sender find x. From then on x.mu guards it.
func (c *Conn) enter(x *Exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exchanges[x.id] = x
	if c.err != nil {
		x.fail(c.err)
	}
	signal(c.wake)
}

func (c *Conn) forget(x *Exchange) {
	c.mu.Lock()
	delete(c.exchanges, x.id)
	c.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	sent := x.flow.Stats()
	c.link.repeats += sent.Repeats
	c.link.resends += sent.Resends
}

// openExchanges returns the exchanges that are open.
func (c *Conn) openExchanges() []*Exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]*Exchange, 0, len(c.exchanges))
	for _, x := range c.exchanges {
		list = append(list, x)
	}
	return list
}

// acceptLoop takes the streams that the peer opens.
func (c *Conn) acceptLoop() {
	for {
		stream, err := c.qc.AcceptStream(c.qc.Context())
		if err != nil {
			return
		}
		go c.acceptStream(stream)
	}
}

// acceptStream waits for an exchange's Begin and offers the exchange to Accept. It refuses a peer whose key was removed
// after the connection was made.
func (c *Conn) acceptStream(stream *quic.Stream) {
	in := bufio.NewReader(stream)
	stream.SetReadDeadline(time.Now().Add(10 * time.Second))
	seq, frame, err := readFrame(in, maxControl)
	var m Message
	if err == nil {
		m, err = decodeControl(frame)
	}
	begin, ok := m.(Begin)
	if err == nil && (!ok || seq != 0) {
		err = fmt.Errorf("an exchange started with %T", m)
	}
	if err != nil {
		stream.CancelRead(streamClosed)
		stream.CancelWrite(streamClosed)
		c.warnings.refused.Add(c.log, slog.LevelWarn, "exchange refused", "peer", c.peer.Short(), "error", err)
		return
	}
	if c.stillPaired != nil {
		if err := c.stillPaired(); err != nil {
			c.warnings.ended.Add(c.log, slog.LevelWarn, "connection ended", "peer", c.peer.Short(), "error", err)
			c.end(codeUnknown, err.Error(), err)
			return
		}
	}
	stream.SetReadDeadline(time.Time{})
	c.link.heard(time.Now()) // an idle connection is silent until now
	x := c.begun(stream, begin, sizeOf(begin, frame))
	c.enter(x)
	go x.writeLoop()
	go x.readLoop(in)
	select {
	case c.ready <- x:
	case <-c.qc.Context().Done():
	}
}

// receiveLoop hands datagrams to their exchanges.
func (c *Conn) receiveLoop() {
	for {
		b, err := c.qc.ReceiveDatagram(c.qc.Context())
		if err != nil {
			return
		}
		now := time.Now()
		c.link.heard(now)
		id, n := binary.Uvarint(b)
		if n <= 0 {
			c.abort(errors.New("malformed datagram"))
			return
		}
		if id == echoID {
			c.echoed(b[n:], now)
			continue
		}
		x := c.exchangeOf(id)
		if x == nil {
			continue // not begun yet (the peer will repeat it), or already closed
		}
		if err := x.datagram(b[n:], now); err != nil {
			c.abort(err)
			return
		}
		signal(c.wake)
	}
}

// echoed takes an echo or a notice, without the id that they share.
func (c *Conn) echoed(b []byte, now time.Time) {
	if id, m := readNotice(b); m != nil {
		if x := c.exchangeOf(id); x != nil {
			x.noticed(m)
		}
	} else if c.link.echo(b, now) {
		signal(c.wake)
	}
}

// exchangeOf returns the open exchange with an id, or nil.
func (c *Conn) exchangeOf(id uint64) *Exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exchanges[id]
}

// sendLoop sends what is due. SendDatagram may block while the path is congested; messages that arrive meanwhile share the
// next datagram.
func (c *Conn) sendLoop() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-c.wake:
		case <-timer.C:
		case <-c.qc.Context().Done():
			return
		}
		next, err := c.sendDue()
		if err != nil {
			return
		}
		if !next.IsZero() {
			timer.Reset(time.Until(next))
		}
	}
}

// sendDue sends all datagrams that are due and returns when the next will be.
func (c *Conn) sendDue() (next time.Time, err error) {
	if c.maxDatagram.Load() == 0 {
		return time.Time{}, nil
	}
	exchanges := c.openExchanges()
	for _, x := range exchanges {
		for {
			now := time.Now()
			rtt := c.RTT()
			x.mu.Lock()
			b := x.flow.Pack(x.id, now, rtt, int(c.maxDatagram.Load()))
			at := x.flow.Deadline(now, rtt)
			x.mu.Unlock()
			if b == nil {
				next = earlier(next, at)
				break
			}
			if err := c.sendDatagram(b); err != nil {
				return next, err
			}
		}
	}
	for _, b := range c.link.due(time.Now(), len(exchanges) > 0) {
		if err := c.sendDatagram(b); err != nil {
			return next, err
		}
	}
	return earlier(next, c.link.deadline(len(exchanges) > 0)), nil
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// sendDatagram sends b, or learns that the path takes only smaller datagrams.
func (c *Conn) sendDatagram(b []byte) error {
	err := c.qc.SendDatagram(b)
	var big *quic.DatagramTooLargeError
	if !errors.As(err, &big) {
		return err
	}
	limit := big.MaxDatagramPayloadSize
	if limit < 128 || limit >= c.maxDatagram.Load() {
		limit = 0 // too small to be useful: use the streams
	}
	c.maxDatagram.Store(limit)
	for _, x := range c.openExchanges() {
		x.mu.Lock()
		x.withdraw()
		x.mu.Unlock()
	}
	return nil
}

// frameRoom is the size of the largest frame that a datagram can carry now.
func (c *Conn) frameRoom() int {
	if limit := int(c.maxDatagram.Load()); limit > 0 {
		return reliable.FrameRoom(limit)
	}
	return -1
}

// endLoop cleans up after the connection has ended.
func (c *Conn) endLoop() {
	<-c.qc.Context().Done()
	err := c.ended(context.Cause(c.qc.Context()))
	c.mu.Lock()
	release := c.release
	c.mu.Unlock()
	for _, x := range c.openExchanges() {
		x.mu.Lock()
		x.fail(err)
		x.mu.Unlock()
	}
	release()
	close(c.released)
}

// ended notes QUIC's error about a connection that has ended, and returns the error with which it did: the first that was noted.
func (c *Conn) ended(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = explain(err)
	}
	return c.err
}

// endReason returns the error with which the connection ended, or else QUIC's error in terms of this package.
func (c *Conn) endReason(err error) error {
	c.mu.Lock()
	ended := c.err
	c.mu.Unlock()
	if ended != nil {
		return ended
	}
	return explain(err)
}

// explain translates QUIC's errors into this package's.
func explain(err error) error {
	var app *quic.ApplicationError
	if !errors.As(err, &app) {
		var idle *quic.IdleTimeoutError
		if errors.As(err, &idle) {
			return fmt.Errorf("%w: the peer has been silent for too long", ErrLost)
		}
		var stream *quic.StreamError
		if errors.As(err, &stream) {
			return fmt.Errorf("%w: it broke off", ErrLost)
		}
		var below *quic.TransportError
		if errors.As(err, &below) {
			if _, told, _ := strings.Cut(below.Error(), ErrOtherKey.Error()); errors.Is(err, ErrOtherKey) { // this side found that out
				return fmt.Errorf("%w%s", ErrOtherKey, told)
			}
			copied := *below
			copied.ErrorMessage = clean(copied.ErrorMessage)
			err = &copied
		}
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	reason := clean(app.ErrorMessage)
	switch {
	case !app.Remote:
		return ErrClosed
	case app.ErrorCode == codeUnknown:
		return &NotPairedError{reason}
	case app.ErrorCode == codeClosed:
		return fmt.Errorf("%w: %s", ErrHungUp, reason)
	}
	return &RefusedError{reason}
}

// abort closes the connection because the peer made an error.
func (c *Conn) abort(err error) {
	c.warnings.aborted.Add(c.log, slog.LevelWarn, "connection aborted", "peer", c.peer.Short(), "error", err)
	c.end(codeProtocol, err.Error(), fmt.Errorf("transport: the peer broke the protocol: %w", err))
}

// Close ends the connection and all its exchanges; the peer learns the reason.
func (c *Conn) Close(reason string) {
	c.end(codeClosed, reason, ErrClosed)
	<-c.released
}

func (c *Conn) end(code quic.ApplicationErrorCode, reason string, err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	c.mu.Unlock()
	closeWith(c.qc, code, reason)
}

// Err returns the reason why the connection ended, or nil while it is open.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Peer returns the key at the other end.
func (c *Conn) Peer() ID { return c.peer }

// Hello returns the other end's hello. It is zero while an eager connection waits for it.
func (c *Conn) Hello() Hello {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.remote
}

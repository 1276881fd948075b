package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"time"

	"github.com/quic-go/quic-go"

	"tandem/transport/reliable"
)

// Names of the two protocols of a listener, negotiated in the TLS handshake.
const (
	protoPair  = "tandem-pair/1" // registers a new key
	protoTalk  = "tandem/1"      // requires a registered key
	serverName = "tandem"        // not checked, but session caches use it as their key

	handshakeTimeout = 5 * time.Second
	stagger          = 300 * time.Millisecond // between two dials of one peer: enough for a handshake on nearly any path
	maxHello         = 16 << 10
)

// ClientConfig configures Dial.
type ClientConfig struct {
	Identity Identity
	Peer     ID    // the only key that is accepted at the other end
	Hello    Hello // Version is filled in
	Limits   Limits
	Tickets  *Tickets // that save a round trip; nil for none
	// Eager saves the round trip of the hellos: Dial returns when the peer has proved its key, and questions can follow
	// at once. If the peer refuses, or its hello does not match, the connection and all exchanges end with the error that
	// Dial would otherwise have returned.
	Eager bool
	// PacketConn carries the connection instead of a new UDP socket. The caller keeps it.
	PacketConn net.PacketConn
	Log        *slog.Logger // slog.Default when nil
}

// ErrOtherKey is wrapped by errors of Dial and Pair when a key other than the peer's answers.
var ErrOtherKey = errors.New("another key answers")

// Dial connects to a listener and exchanges hellos. That takes two round trips, or one when it is eager or has a ticket of
// an earlier connection. A busy listener is tried again a few times. The error may be a *MismatchError, *NotPairedError or
// *RefusedError.
func Dial(ctx context.Context, addr string, cfg ClientConfig) (*Conn, error) {
	cfg.Hello.Version = ProtocolVersion
	if err := cfg.Hello.limits(); err != nil {
		return nil, fmt.Errorf("transport: dial: %w", err)
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	limits := cfg.Limits.withDefaults()
	pin := func(state tls.ConnectionState) error {
		id, err := peerOf(state)
		if err == nil && id != cfg.Peer {
			err = fmt.Errorf("%w: the key at %s is %s, but %s was paired: if the other side was set up again, pair again", ErrOtherKey, addr, id.Short(), cfg.Peer.Short())
		}
		return err
	}
	conf := clientTLS(cfg.Identity, protoTalk, pin)
	if cfg.Tickets != nil {
		conf.ClientSessionCache = cfg.Tickets.of(cfg.Peer)
	}
	remotes, err := resolve(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("transport: dial %s: %w", addr, err)
	}
	if cfg.PacketConn != nil {
		remotes = remotes[:1] // it carries one connection
	}
	conn, _, err := firstOf(ctx, remotes, func(ctx context.Context, remote *net.UDPAddr) (*Conn, error) {
		at := addr
		if len(remotes) > 1 {
			at = fmt.Sprintf("%s (%s)", addr, remote.IP)
		}
		return whileFull(ctx, func() (*Conn, error) { return dialOnce(ctx, at, remote, cfg, conf, limits) })
	}, unneeded)
	return conn, err
}

func dialOnce(ctx context.Context, addr string, remote *net.UDPAddr, cfg ClientConfig, conf *tls.Config, limits Limits) (*Conn, error) {
	qc, release, err := dial(ctx, remote, cfg.PacketConn, conf, limits)
	if err != nil {
		return nil, fmt.Errorf("transport: dial %s: %w", addr, err)
	}
	h := handshaken{qc: qc, peer: cfg.Peer, local: cfg.Hello, log: cfg.Log, limits: limits, warnings: new(warnings), release: release}
	if cfg.Eager {
		return greetLater(ctx, addr, h)
	}
	h.remote, err = greet(ctx, qc, cfg.Hello)
	if errors.Is(err, quic.Err0RTTRejected) { // the ticket was refused: send the hello again after the handshake
		if _, err = qc.NextConnection(ctx); err == nil {
			h.remote, err = greet(ctx, qc, cfg.Hello)
		}
	}
	if err != nil {
		hangUp(qc, err)
		release()
		return nil, fmt.Errorf("transport: dial %s: %w", addr, err)
	}
	return newConn(h), nil
}

// fullWaits are the pauses, on average, before another try where a listener had no seat for a connection (RFC 9000, section 20.1:
// CONNECTION_REFUSED). Seats are taken for as long as its machine needs to look at a connection.
var fullWaits = []time.Duration{25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond}

// whileFull dials until the listener has a seat, another error comes, or it has been tried often enough.
func whileFull[C any](ctx context.Context, dial func() (C, error)) (C, error) {
	for _, wait := range fullWaits {
		conn, err := dial()
		full := (*quic.TransportError)(nil)
		if !errors.As(err, &full) || full.ErrorCode != quic.ConnectionRefused || !full.Remote {
			return conn, err
		}
		select {
		case <-time.After(wait/2 + rand.N(wait)): // a crowd that was refused together must not come back together
		case <-ctx.Done():
			return conn, err
		}
	}
	return dial()
}

// DialAny dials the addresses of one peer in turn: each a moment after the one before, or at once if that one fails. It
// returns the first connection made and its address. An address that does not answer thus costs a moment instead of a
// whole handshake timeout. All other dials have ended when DialAny returns. DialAny may call dial concurrently.
func DialAny(ctx context.Context, addrs []string, dial func(context.Context, string) (*Conn, error)) (*Conn, string, error) {
	return firstOf(ctx, addrs, dial, unneeded)
}

func unneeded(c *Conn) { c.Close("another address was faster") }

// firstOf is DialAny for addresses and connections of any type; drop ends one that is not needed.
func firstOf[A, C any](ctx context.Context, addrs []A, dial func(context.Context, A) (C, error), drop func(C)) (won C, at A, err error) {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	type dialled struct {
		i    int
		conn C
		err  error
	}
	errs := make([]error, len(addrs))
	ended := make(chan dialled)
	due := time.NewTimer(0)
	defer due.Stop()
	found := false
	for begun, over := 0, 0; over < begun || !found && begun < len(addrs); {
		select {
		case <-due.C:
			if i := begun; !found && i < len(addrs) {
				go func() {
					conn, err := dial(ctx, addrs[i])
					ended <- dialled{i, conn, err}
				}()
				begun++
				due.Reset(stagger)
			}
		case d := <-ended:
			over++
			switch {
			case d.err != nil:
				errs[d.i] = d.err
				due.Reset(0)
			case found:
				drop(d.conn)
			default:
				won, at, found = d.conn, addrs[d.i], true
				giveUp()
			}
		}
	}
	switch {
	case found:
		return won, at, nil
	case len(addrs) == 0:
		return won, at, errors.New("transport: dial: the peer has no address: pair again")
	}
	return won, at, errors.Join(errs...)
}

// greetLater returns the connection once its handshake is done, and exchanges the hellos in the background. Ours goes out
// on the first stream, so the peer reads it before any question.
func greetLater(ctx context.Context, addr string, h handshaken) (*Conn, error) {
	refused := func(err error) (*Conn, error) {
		hangUp(h.qc, err)
		h.release()
		return nil, fmt.Errorf("transport: dial %s: %w", addr, err)
	}
	if err := awaitHandshake(ctx, h.qc); err != nil {
		return refused(err)
	}
	if _, err := h.qc.NextConnection(ctx); err != nil { // required after a rejected ticket
		return refused(explain(err))
	}
	stream, err := h.qc.OpenStreamSync(ctx)
	if err == nil {
		err = writeControl(stream, h.local)
	}
	if err != nil {
		return refused(explain(err))
	}
	c := newConn(h)
	go func() {
		limit := time.AfterFunc(handshakeTimeout, func() { stream.CancelRead(streamClosed) })
		defer limit.Stop()
		remote, err := readHello(stream, h.local)
		if err != nil {
			c.refuse(err)
			return
		}
		c.mu.Lock()
		c.remote = remote
		c.mu.Unlock()
	}()
	return c, nil
}

// refuse ends a connection whose hellos failed.
func (c *Conn) refuse(err error) { c.end(refusalCode(err), err.Error(), err) }

// hangUp closes a connection whose hellos were refused and tells the peer why.
func hangUp(qc *quic.Conn, err error) { closeWith(qc, refusalCode(err), err.Error()) }

// closeWith closes a connection with a reason, which it cuts: the packet that carries it must fit a datagram, or the peer never
// learns that the connection has ended.
func closeWith(qc *quic.Conn, code quic.ApplicationErrorCode, reason string) {
	qc.CloseWithError(code, reason[:min(len(reason), 512)])
}

// refusalCode returns the code with which a connection is closed whose hellos failed.
func refusalCode(err error) quic.ApplicationErrorCode {
	if mismatch := (*MismatchError)(nil); errors.As(err, &mismatch) {
		return codeMismatch
	}
	return codeProtocol
}

// dial opens a new connection on pc or, if that is nil, on a new socket. Call release after closing the connection.
func dial(ctx context.Context, remote *net.UDPAddr, pc net.PacketConn, conf *tls.Config, limits Limits) (qc *quic.Conn, release func(), err error) {
	tr, release, err := openTransport(pc)
	if err != nil {
		return nil, nil, err
	}
	if qc, err = dialFrom(ctx, tr, remote, conf, limits); err != nil {
		release()
		return nil, nil, err
	}
	return qc, release, nil
}

// openTransport returns a QUIC transport on pc or, if that is nil, on a new socket.
func openTransport(pc net.PacketConn) (tr *quic.Transport, release func(), err error) {
	if pc != nil {
		tr = &quic.Transport{Conn: pc}
		return tr, func() { tr.Close() }, nil
	}
	s, err := openSocket(":0")
	if err != nil {
		return nil, nil, err
	}
	tr = &quic.Transport{Conn: s}
	return tr, func() { tr.Close(); s.Close() }, nil
}

func dialFrom(ctx context.Context, tr *quic.Transport, remote *net.UDPAddr, conf *tls.Config, limits Limits) (*quic.Conn, error) {
	qc, err := tr.DialEarly(ctx, remote, conf, quicConfig(limits))
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, fmt.Errorf("no answer: %w", cause)
		}
		var idle *quic.IdleTimeoutError
		var handshake *quic.HandshakeTimeoutError
		if errors.As(err, &idle) || errors.As(err, &handshake) { // there was no link that could be lost
			return nil, errNoAnswer
		}
		return nil, explain(err)
	}
	return qc, nil
}

// errNoAnswer says that nothing came back from an address.
var errNoAnswer = errors.New("no answer")

// lookupIP looks a host up. Tests replace it.
var lookupIP = net.DefaultResolver.LookupIPAddr

// resolve returns what an address stands for: a name may have several addresses, such as one of IPv6 and one of IPv4,
// of which not all may lead anywhere. The likeliest comes first.
func resolve(ctx context.Context, addr string) (list []*net.UDPAddr, err error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address %q is not host:port: %w", addr, err)
	}
	number, err := net.DefaultResolver.LookupPort(ctx, "udp", port)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", addr, err)
	}
	ips, err := lookupIP(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", addr, err)
	}
	for _, ip := range ips {
		list = append(list, &net.UDPAddr{IP: ip.IP, Zone: ip.Zone, Port: number})
	}
	return list, nil
}

func clientTLS(id Identity, proto string, verify func(tls.ConnectionState) error) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		Certificates:       []tls.Certificate{id.cert},
		NextProtos:         []string{proto},
		ServerName:         serverName,
		InsecureSkipVerify: true, // there is no CA: VerifyConnection checks the pinned key instead
		VerifyConnection:   verify,
	}
}

// quicConfig keeps the windows small, because messages are small and either end may be a phone.
func quicConfig(l Limits) *quic.Config {
	if l.StreamsOnly {
		l.KeepAlive = min(l.KeepAlive, 2*reliable.EchoEvery) // replaces echoes as the sign of life for LastHeard
	}
	return &quic.Config{
		HandshakeIdleTimeout:           handshakeTimeout,
		MaxIdleTimeout:                 l.Idle,
		KeepAlivePeriod:                l.KeepAlive,
		EnableDatagrams:                !l.StreamsOnly,
		DisablePathMTUDiscovery:        true,               // its probes would cost more than all drafts of an answer
		MaxIncomingStreams:             int64(l.Exchanges), // the stream of the hellos has ended by then
		MaxIncomingUniStreams:          -1,
		InitialStreamReceiveWindow:     256 << 10,
		MaxStreamReceiveWindow:         1 << 20,
		InitialConnectionReceiveWindow: 512 << 10,
		MaxConnectionReceiveWindow:     2 << 20,
	}
}

// greet is the device's half of the exchange of hellos. The peer closes with an error when they differ. This side has the
// peer's hello by then and describes the difference itself.
func greet(ctx context.Context, qc *quic.Conn, local Hello) (Hello, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	stream, err := qc.OpenStreamSync(ctx)
	if err != nil {
		return Hello{}, explain(err)
	}
	stop := context.AfterFunc(ctx, func() { stream.CancelRead(streamClosed) })
	defer stop()
	remote, err := swapHellos(stream, local)
	if err != nil {
		return Hello{}, err
	}
	if err := awaitHandshake(ctx, qc); err != nil { // it has ended already unless the hellos were sent early
		return Hello{}, err
	}
	return remote, nil
}

// awaitHandshake waits until the peer has proved its key.
func awaitHandshake(ctx context.Context, qc *quic.Conn) error {
	select {
	case <-qc.HandshakeComplete():
		return nil
	case <-qc.Context().Done():
		return explain(context.Cause(qc.Context()))
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// swapHellos sends this side's hello, then reads and checks the peer's.
func swapHellos(stream *quic.Stream, local Hello) (Hello, error) {
	if err := writeControl(stream, local); err != nil {
		stream.CancelRead(streamClosed)
		return Hello{}, err
	}
	return readHello(stream, local)
}

// readHello reads the peer's hello and checks it against local.
func readHello(stream *quic.Stream, local Hello) (Hello, error) {
	defer stream.CancelRead(streamClosed)
	m, err := readControl(stream, maxHello)
	if err != nil {
		return Hello{}, err
	}
	remote, ok := m.(Hello)
	if !ok {
		return Hello{}, fmt.Errorf("the peer sent %T instead of its hello", m)
	}
	return remote, local.check(remote)
}

// writeControl sends one control message, the only one that the stream carries in this direction.
func writeControl(stream *quic.Stream, m Message) error {
	frame, err := encodeControl(m)
	if err != nil {
		return err
	}
	if _, err := stream.Write(appendStreamFrame(nil, 0, frame)); err != nil {
		return explain(err)
	}
	stream.Close() // fails if the peer has already read the message and stopped reading
	return nil
}

func readControl(stream *quic.Stream, limit int) (Message, error) {
	_, frame, err := readFrame(bufio.NewReader(stream), limit)
	if errors.Is(err, errMalformed) {
		return nil, err
	}
	if err != nil {
		return nil, explain(err)
	}
	return decodeControl(frame)
}

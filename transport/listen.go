package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"tandem/internal/sparing"
)

// ServerConfig configures a Listener.
type ServerConfig struct {
	Identity Identity
	Peers    *Peers   // keys that may connect
	Invites  *Invites // open pairing codes; nil refuses pairing
	Hello    Hello    // Version and Addrs are filled in
	Limits   Limits
	Addrs    func() []string // where the cloud's replicas can be reached now; nil if it has none
	Paired   func(Peer)      // called after a pairing; may be nil
	Log      *slog.Logger    // slog.Default when nil
}

// Listener accepts connections and pairings.
type Listener struct {
	cfg    ServerConfig
	tr     *quic.Transport
	ql     *quic.EarlyListener
	free   func()
	ready  chan *Conn
	ctx    context.Context
	cancel context.CancelFunc

	refused, unread sparing.Log // connections, and the list of paired keys
	warnings        warnings    // about connections that were not refused

	mu       sync.Mutex
	places   map[*quic.Conn]*place
	early    int          // hellos being read before the handshake is complete
	pairings []*quic.Conn // waiting for the device's request, the longest waiting first
}

// place is a connection's place, of which there are Limits.Conns.
type place struct {
	key  ID
	conn *Conn // nil until its hello has come
}

// maxPairings limits the pairings in progress, because anybody can begin one. maxEarly limits the early hellos, because
// anybody can replay one; beyond that limit a hello is read after the handshake.
const (
	maxPairings = 16
	maxEarly    = 8
)

// Listen opens a UDP socket on addr and serves it.
func Listen(addr string, cfg ServerConfig) (*Listener, error) {
	s, err := openSocket(addr)
	if err != nil {
		return nil, fmt.Errorf("transport: listen on %s: %w", addr, err)
	}
	l, err := ListenOn(s, cfg)
	if err != nil {
		s.Close()
		return nil, err
	}
	l.free = func() { s.Close() }
	return l, nil
}

// ListenOn serves a packet connection, which the caller keeps.
func ListenOn(pc net.PacketConn, cfg ServerConfig) (*Listener, error) {
	cfg.Hello.Version = ProtocolVersion
	if err := cfg.Hello.limits(); err != nil {
		return nil, fmt.Errorf("transport: listen: %w", err)
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Peers == nil {
		cfg.Peers = NewPeers()
	}
	cfg.Limits = cfg.Limits.withDefaults()
	// Above the rate, an address must be verified by another round trip before any state is kept for it.
	handshakes := &bucket{rate: cfg.Limits.Rate, size: cfg.Limits.Rate}
	// Replicas share the identity, but one must not answer for another with a reset: that would let others end connections
	// (RFC 9000, section 21.11).
	resets, err := cfg.Identity.derive(strings.TrimSpace(forResets + " " + cfg.Hello.Replica))
	if err != nil {
		return nil, fmt.Errorf("transport: listen: %w", err)
	}
	tr := &quic.Transport{
		Conn:                pc,
		StatelessResetKey:   (*quic.StatelessResetKey)(&resets),
		VerifySourceAddress: func(net.Addr) bool { return !handshakes.take(time.Now()) },
	}
	l := &Listener{cfg: cfg, tr: tr, free: func() {}, ready: make(chan *Conn, cfg.Limits.Conns), places: map[*quic.Conn]*place{}}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	conf, err := cfg.tls()
	if err != nil {
		return nil, fmt.Errorf("transport: listen: %w", err)
	}
	early := quicConfig(cfg.Limits)
	early.Allow0RTT = true
	ql, err := tr.ListenEarly(conf, early)
	if err != nil {
		return nil, fmt.Errorf("transport: listen: %w", err)
	}
	l.ql = ql
	// A connection that is ready while nobody waits in Accept takes one of 32 seats in package quic, and beyond them it
	// is refused. So that a crowd that comes at once is not, as many wait as there are places.
	for range min(cfg.Limits.Conns, 256) {
		go l.acceptLoop()
	}
	go l.revoke()
	return l, nil
}

// tls returns how connections prove who is at their ends. Replicas can resume each other's sessions.
func (cfg ServerConfig) tls() (*tls.Config, error) {
	protos := []string{protoTalk}
	if cfg.Invites != nil {
		protos = append(protos, protoPair)
	}
	conf := &tls.Config{
		MinVersion:       tls.VersionTLS13,
		Certificates:     []tls.Certificate{cfg.Identity.cert},
		NextProtos:       protos,
		ClientAuth:       tls.RequireAnyClientCert,
		VerifyConnection: func(state tls.ConnectionState) error { _, err := peerOf(state); return err },
	}
	key, err := cfg.Identity.derive(forTickets)
	if err != nil {
		return nil, err
	}
	conf.SetSessionTicketKeys([][32]byte{key})
	return conf, nil
}

// revokeEvery is how often the keys of open connections are looked up again.
const revokeEvery = 2 * time.Second

// revoke ends the connections of keys that are paired no longer. Another process may have removed them.
func (l *Listener) revoke() {
	tick := time.NewTicker(revokeEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-l.ctx.Done():
			return
		}
		l.mu.Lock()
		var conns []*Conn
		for _, p := range l.places {
			if p.conn != nil {
				conns = append(conns, p.conn)
			}
		}
		l.mu.Unlock()
		for _, c := range conns {
			if err := l.stillPaired(c.peer); err != nil {
				l.cfg.Log.Info("connection ended: its key was removed", "peer", c.peer.Short())
				c.end(codeUnknown, err.Error(), err)
			}
		}
	}
}

// hello is what this side says of itself now.
func (l *Listener) hello() Hello {
	h := l.cfg.Hello
	if l.cfg.Addrs != nil {
		h.Addrs = l.cfg.Addrs()
		h.Addrs = h.Addrs[:min(len(h.Addrs), MaxReplicas)]
	}
	return h
}

// Addr returns the listener's address.
func (l *Listener) Addr() net.Addr { return l.tr.Conn.LocalAddr() }

// Accept waits for the next connection of a paired device whose hello matches.
func (l *Listener) Accept(ctx context.Context) (*Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case <-l.ctx.Done():
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close stops listening and ends all connections.
func (l *Listener) Close() error {
	l.cancel()
	l.ql.Close()
	err := l.tr.Close()
	l.free()
	return err
}

func (l *Listener) acceptLoop() {
	for {
		qc, err := l.ql.Accept(l.ctx)
		if err != nil {
			return
		}
		go l.serve(qc)
	}
}

// beginEarly reports whether one more hello may be read before the handshake is complete. If so, endEarly must follow.
func (l *Listener) beginEarly() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.early >= maxEarly {
		return false
	}
	l.early++
	return true
}

func (l *Listener) endEarly() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.early--
}

// serve prepares a connection for Accept, or pairs with its device.
//
// Its handshake need not be complete. Until it is, serve reads only a hello, and only on a resumed session, which
// identifies the peer's key. An attacker can replay a hello, but that makes no connection and takes no connection's place.
func (l *Listener) serve(qc *quic.Conn) {
	state := qc.ConnectionState().TLS
	swap := sync.OnceValues(func() (Hello, error) { return l.swap(qc) })
	if state.DidResume && state.NegotiatedProtocol == protoTalk && l.beginEarly() {
		if id, err := peerOf(state); err == nil && l.known(id) == nil {
			swap() // admit gets its outcome
		}
		awaitHandshake(l.ctx, qc)
		l.endEarly()
	}
	if err := awaitHandshake(l.ctx, qc); err != nil {
		return // quic-go gave up on it
	}
	state = qc.ConnectionState().TLS
	id, err := peerOf(state)
	switch {
	case err != nil:
	case state.NegotiatedProtocol == protoPair:
		err = l.pair(qc, id)
	default:
		err = l.admit(qc, id, swap)
	}
	if err != nil {
		l.refused.Add(l.cfg.Log, slog.LevelWarn, "connection refused", "from", qc.RemoteAddr().String(), "error", err)
	}
}

// known returns nil if the key is paired, and otherwise an error. The peer sees the error, so it must not reveal anything
// that the peer may not know.
func (l *Listener) known(id ID) error {
	_, err := l.cfg.Peers.Lookup(id)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return stranger(id)
	}
	l.unread.Add(l.cfg.Log, slog.LevelError, "cannot read the paired keys", "error", err)
	return &RefusedError{"it cannot read its list of paired keys"}
}

// stillPaired returns an error if the key of a connection is paired no longer. Where the list cannot be read, a device stays
// connected.
func (l *Listener) stillPaired(id ID) error {
	if l.cfg.Peers.removed(id) {
		return stranger(id)
	}
	return nil
}

func stranger(id ID) error {
	return &NotPairedError{fmt.Sprintf("key %s is not paired with this side", id.Short())}
}

// swap exchanges hellos.
func (l *Listener) swap(qc *quic.Conn) (Hello, error) {
	ctx, cancel := context.WithTimeout(l.ctx, handshakeTimeout)
	defer cancel()
	stream, err := qc.AcceptStream(ctx)
	if err != nil {
		return Hello{}, fmt.Errorf("the peer sent no hello: %w", err)
	}
	defer context.AfterFunc(ctx, func() { stream.CancelRead(streamClosed) })()
	return swapHellos(stream, l.hello())
}

// admit lets in a paired device whose hello matches. Its place becomes free when the connection ends.
func (l *Listener) admit(qc *quic.Conn, id ID, swap func() (Hello, error)) error {
	if err := l.known(id); err != nil {
		code := codeUnknown
		if errors.As(err, new(*RefusedError)) {
			code = codeBusy
		}
		closeWith(qc, code, err.Error())
		return err
	}
	if err := l.takePlace(qc, id, time.Now()); err != nil {
		closeWith(qc, codeBusy, err.Error())
		return err
	}
	hello, err := swap()
	if err != nil {
		// Let the peer read our hello and hang up first: it describes the difference from its own side.
		select {
		case <-qc.Context().Done():
		case <-time.After(time.Second):
			hangUp(qc, err)
		}
		l.leavePlace(qc)
		return err
	}
	c := newConn(handshaken{
		qc: qc, peer: id, local: l.cfg.Hello, remote: hello, log: l.cfg.Log, limits: l.cfg.Limits, warnings: &l.warnings,
		stillPaired: func() error { return l.stillPaired(id) },
		release:     func() { l.leavePlace(qc) },
	})
	l.mu.Lock()
	if p := l.places[qc]; p != nil { // it has not ended yet
		p.conn = c
	}
	l.mu.Unlock()
	select {
	case l.ready <- c:
		return nil
	case <-l.ctx.Done():
		c.end(codeClosed, "shutting down", ErrClosed)
		return nil
	}
}

// takePlace takes a place for a connection of a key. Where there is none, it ends one that has been silent: first of the key itself,
// which may have lost it, and otherwise the most silent of all. An idle connection is made again with its next question.
func (l *Listener) takePlace(qc *quic.Conn, id ID, now time.Time) error {
	silent, err := l.claimPlace(qc, id, now)
	if silent != nil {
		silent.end(codeBusy, "it was silent, and another connection needed its place", ErrLost)
	}
	return err
}

// claimPlace is takePlace up to the end of the silent connection, which it returns if there is one. Connections whose hello has not
// come count as well, or a key could take all places with such.
func (l *Listener) claimPlace(qc *quic.Conn, id ID, now time.Time) (silent *Conn, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var own, all []*Conn
	ofKey := 0
	for _, p := range l.places {
		if p.key == id {
			ofKey++
		}
		if p.conn == nil {
			continue
		}
		if all = append(all, p.conn); p.key == id {
			own = append(own, p.conn)
		}
	}
	switch {
	case ofKey >= l.cfg.Limits.PerKey:
		silent, err = mostSilent(own, now), fmt.Errorf("this key has %d connections, the most that one may have", ofKey)
	case len(l.places) >= l.cfg.Limits.Conns:
		silent, err = mostSilent(all, now), fmt.Errorf("too many connections (%d): try again later", len(l.places))
	}
	if err != nil && silent == nil {
		return nil, err
	}
	if silent != nil {
		delete(l.places, silent.qc)
	}
	l.places[qc] = &place{key: id}
	return silent, nil
}

// leavePlace gives back the place of a connection that has ended, unless another has it already.
func (l *Listener) leavePlace(qc *quic.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.places, qc)
}

// mostSilent returns the connection that was heard last the longest ago, or nil if all were heard lately.
func mostSilent(list []*Conn, now time.Time) (found *Conn) {
	last := now
	for _, c := range list {
		heard := c.LastHeard()
		if c.Silent(now) && heard.Before(last) {
			found, last = c, heard
		}
	}
	return found
}

// bucket is a token bucket: it gains rate tokens per second and holds at most size.
type bucket struct {
	rate, size float64

	mu    sync.Mutex
	spent float64
	at    time.Time
}

// take takes a token and reports whether there was one.
func (b *bucket) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent = max(0, b.spent-b.rate*max(0, now.Sub(b.at).Seconds()))
	b.at = now
	if b.spent+1 > b.size {
		return false
	}
	b.spent++
	return true
}

package node

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"tandem/node/replicas"
	"tandem/transport"
)

// RemoteCloud is a cloud as a device reaches it: one or several replicas with one identity. It keeps a connection to each replica
// that it has used. Its exported fields must not change once it is used.
type RemoteCloud struct {
	// Probe returns the round-trip time to an address. If it is nil, distances are those of connections alone.
	Probe func(ctx context.Context, address string) (time.Duration, error)
	// Only forbids other addresses than those given.
	Only bool
	// Announced is called when the cloud names other addresses of its replicas than before; it may be nil.
	Announced func(addresses []string)

	dial     func(ctx context.Context, address string) (*transport.Conn, error)
	dialling chan struct{} // capacity 1, full while a connection is made: whoever waits for that can give up

	announcing sync.Mutex // held while Announced runs

	mu         sync.Mutex
	set        *replicas.Set
	conns      map[string]*transport.Conn // by address
	introduced map[string]*transport.Conn // by address, those whose hello was taken in
	announced  []string                   // by the hello that was taken in last
	last       string                     // the address in use last
	surveyed   time.Time                  // when the distances were last measured
	closed     bool
}

// NewRemoteCloud returns the cloud at the addresses, which dial connects to. Devices with different values of spread share
// replicas that are equally near.
func NewRemoteCloud(dial func(ctx context.Context, address string) (*transport.Conn, error), spread uint64, addresses ...string) *RemoteCloud {
	return &RemoteCloud{
		dial: dial, set: replicas.New(spread, addresses), conns: map[string]*transport.Conn{}, introduced: map[string]*transport.Conn{},
		dialling: make(chan struct{}, 1),
	}
}

var errNoReplica = errors.New("no other replica")

// Bounds on the survey of distances.
const (
	surveyEvery  = time.Minute
	surveyWithin = 2 * time.Second
	surveyMargin = 10 * time.Millisecond // for the second answer, added to the time that the first took
)

// Know takes in distances that were measured before.
func (r *RemoteCloud) Know(distances map[string]time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for addr, d := range distances {
		if d > 0 {
			r.set.Step(time.Now(), addr, replicas.Measured, d)
		}
	}
}

// Distances returns the round-trip times to the addresses, as far as they are known.
func (r *RemoteCloud) Distances() map[string]time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]time.Duration{}
	for _, addr := range r.set.Addrs() {
		if d := r.set.Distance(addr); d > 0 {
			out[addr] = d
		}
	}
	return out
}

// Reached returns the address that was in use last, "" for none.
func (r *RemoteCloud) Reached() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// Close ends the connections.
func (r *RemoteCloud) Close() error {
	r.mu.Lock()
	conns := r.conns
	r.conns, r.closed = map[string]*transport.Conn{}, true
	r.mu.Unlock()
	for _, c := range conns {
		c.Close("device closed")
	}
	return nil
}

// rtt returns the round-trip time of the connection in use, 0 if there is none.
func (r *RemoteCloud) rtt() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.conns[r.last]; c != nil && c.Err() == nil {
		return c.RTT()
	}
	return 0
}

// cloudQuestion is a cloud with a question to it.
type cloudQuestion struct {
	*RemoteCloud
	begin transport.Begin
}

func (q cloudQuestion) open(ctx context.Context, except ...string) (replica, error) {
	return q.RemoteCloud.open(ctx, q.begin, except...)
}

// others implements reachable.
func (r *RemoteCloud) others(at string, also ...string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.conns[at]; c != nil {
		r.introduce(at, c)
	}
	return r.set.Others(time.Now(), at, also...)
}

// note implements reachable.
func (r *RemoteCloud) note(at string, e replicas.Event, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set.Step(time.Now(), at, e, d)
}

// introduce takes what a replica says of itself and, once, of the others: later that may be out of date. Before its
// hello has come, it does nothing. The caller holds mu.
func (r *RemoteCloud) introduce(at string, c *transport.Conn) {
	h := c.Hello()
	if h.Replica == "" {
		return
	}
	if r.introduced[at] != c {
		r.introduced[at] = c
		if !r.Only && r.set.Announce(h.Addrs) && r.Announced != nil {
			r.announced = h.Addrs
			go r.announce()
		}
	}
	r.set.Name(at, h.Replica)
	r.set.Name(h.Replica, h.Replica)
}

// announce passes the latest list on, however many calls there are and in whichever order.
func (r *RemoteCloud) announce() {
	r.announcing.Lock()
	defer r.announcing.Unlock()
	r.mu.Lock()
	addresses := slices.Clone(r.announced)
	r.mu.Unlock()
	r.Announced(addresses)
}

// open asks the question at the best replica, over a connection that is kept or a new one.
func (r *RemoteCloud) open(ctx context.Context, begin transport.Begin, except ...string) (replica, error) {
	r.survey(ctx)
	var failed *transport.Conn
	if at, conn := r.kept(except); conn != nil {
		up, err := r.ask(ctx, at, conn, begin)
		up.reused = true
		if err == nil || ctx.Err() != nil || conn.Err() == nil { // other answers may still use the connection
			return up, err
		}
		failed = conn
	}
	at, conn, err := r.connect(ctx, failed, except)
	if err != nil {
		return replica{}, err
	}
	return r.ask(ctx, at, conn, begin)
}

func (r *RemoteCloud) ask(ctx context.Context, at string, conn *transport.Conn, begin transport.Begin) (replica, error) {
	base := conn.Stats()
	exchange, err := conn.Open(ctx, begin)
	if err != nil {
		return replica{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = at
	if rtt := conn.RTT(); rtt > 0 {
		r.set.Step(time.Now(), at, replicas.Measured, rtt)
	}
	return replica{conn: conn, exchange: exchange, statsBefore: base, addr: at}, nil
}

// kept returns a connection to a replica that is as good as any, or nil.
func (r *RemoteCloud) kept(except []string) (string, *transport.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for i, at := range r.set.Order(now, except...) {
		if c := r.conns[at]; c != nil && c.Err() == nil && (i == 0 || r.set.Fits(now, at)) {
			return at, c
		}
	}
	return "", nil
}

// connect makes a new connection, and keeps it. If another answer has made one meanwhile, connect returns that.
func (r *RemoteCloud) connect(ctx context.Context, failed *transport.Conn, except []string) (string, *transport.Conn, error) {
	select {
	case r.dialling <- struct{}{}:
		defer func() { <-r.dialling }()
	case <-ctx.Done():
		return "", nil, context.Cause(ctx)
	}
	if at, conn := r.kept(except); conn != nil && conn != failed {
		return at, conn, nil
	}
	if failed != nil {
		failed.Close("replaced")
	}
	better, at, stands := r.candidates(except)
	if len(better) == 0 && stands == nil {
		return "", nil, errNoReplica
	}
	conn, won, err := transport.DialAny(ctx, better, func(ctx context.Context, addr string) (*transport.Conn, error) {
		conn, err := r.dial(ctx, addr)
		if err != nil && ctx.Err() == nil {
			r.note(addr, replicas.Lost, 0)
		}
		return conn, err
	})
	switch {
	case err == nil:
		return won, conn, r.keep(won, conn)
	case stands != nil && ctx.Err() == nil:
		return at, stands, nil
	}
	return "", nil, err
}

// candidates returns the addresses to dial, the best first, up to the first to which a connection stands. Others may be in use.
func (r *RemoteCloud) candidates(except []string) (better []string, at string, stands *transport.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, at := range r.set.Order(time.Now(), except...) {
		if c := r.conns[at]; c != nil && c.Err() == nil {
			return better, at, c
		}
		better = append(better, at)
	}
	return better, "", nil
}

// keep keeps a connection, and forgets those that have ended: their addresses may never come back.
func (r *RemoteCloud) keep(at string, conn *transport.Conn) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		go conn.Close("device closed")
		return transport.ErrClosed
	}
	ended := func(_ string, c *transport.Conn) bool { return c.Err() != nil }
	maps.DeleteFunc(r.conns, ended)
	maps.DeleteFunc(r.introduced, ended)
	r.conns[at] = conn
	return nil
}

// survey measures the distances of all addresses, in the background, now and then. If none is known yet, it waits for the
// nearest.
func (r *RemoteCloud) survey(ctx context.Context) {
	if addrs, known := r.beginSurvey(); len(addrs) > 0 {
		distances := r.measure(ctx, addrs)
		if !known {
			awaitNearest(ctx, distances)
		}
	}
}

// beginSurvey returns the addresses to measure, none if no survey is due, and reports whether any distance is known.
func (r *RemoteCloud) beginSurvey() (addrs []string, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	addrs = r.set.Addrs()
	if r.Probe == nil || len(addrs) < 2 || time.Since(r.surveyed) < surveyEvery {
		return nil, false
	}
	r.surveyed = time.Now()
	return addrs, r.set.Measured()
}

// measure notes the distances of the addresses, and passes them to the channel that it returns. It closes the channel when all have
// answered or had the time to.
func (r *RemoteCloud) measure(ctx context.Context, addrs []string) <-chan time.Duration {
	distances := make(chan time.Duration, len(addrs))
	probing, stop := context.WithTimeout(context.WithoutCancel(ctx), surveyWithin)
	var probes sync.WaitGroup
	for _, addr := range addrs {
		probes.Go(func() {
			d, err := r.Probe(probing, addr)
			if err != nil {
				return
			}
			r.note(addr, replicas.Measured, d)
			distances <- d
		})
	}
	go func() {
		probes.Wait()
		stop()
		close(distances)
	}()
	return distances
}

// awaitNearest waits until the nearest replica has answered. One that has not answered when twice the time of the first has passed
// is no nearer.
func awaitNearest(ctx context.Context, distances <-chan time.Duration) {
	var enough <-chan time.Time
	for {
		select {
		case d, more := <-distances:
			if !more {
				return
			}
			if enough == nil {
				enough = time.After(d + surveyMargin)
			}
		case <-enough:
			return
		case <-ctx.Done():
			return
		}
	}
}

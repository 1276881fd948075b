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

// Service is a cloud as a device reaches it: one or several replicas with one identity. It keeps a connection to each replica
// that it has used. Its exported fields must not change once it is used.
type Service struct {
	// Probe returns the round-trip time to an address. If it is nil, distances are those of connections alone.
	Probe func(ctx context.Context, address string) (time.Duration, error)
	// Only forbids other addresses than those given.
	Only bool
	// Announced is called when the cloud names other addresses of its replicas than before; it may be nil.
	Announced func(addresses []string)

	dial     func(ctx context.Context, address string) (*transport.Conn, error)
	dialling sync.Mutex // held while a connection is made

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

// NewService returns the cloud at the addresses, which dial connects to. Devices with different values of spread share
// replicas that are equally near.
func NewService(dial func(ctx context.Context, address string) (*transport.Conn, error), spread uint64, addresses ...string) *Service {
	return &Service{
		dial: dial, set: replicas.New(spread, addresses), conns: map[string]*transport.Conn{}, introduced: map[string]*transport.Conn{},
	}
}

var errNoReplica = errors.New("no other replica")

// Bounds on the survey of distances.
const (
	surveyEvery  = time.Minute
	surveyWithin = 2 * time.Second
	surveyMargin = 10 * time.Millisecond // for the second answer, added to the time that the first took
)

// Know tells the service of distances that were measured before.
func (s *Service) Know(distances map[string]time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for addr, d := range distances {
		if d > 0 {
			s.set.Step(time.Now(), addr, replicas.Measured, d)
		}
	}
}

// Distances returns the round-trip times to the addresses, as far as they are known.
func (s *Service) Distances() map[string]time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]time.Duration{}
	for _, addr := range s.set.Addrs() {
		if d := s.set.Distance(addr); d > 0 {
			out[addr] = d
		}
	}
	return out
}

// Reached returns the address that was in use last, "" for none.
func (s *Service) Reached() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// Close ends the connections.
func (s *Service) Close() error {
	s.mu.Lock()
	conns := s.conns
	s.conns, s.closed = map[string]*transport.Conn{}, true
	s.mu.Unlock()
	var errs []error
	for _, c := range conns {
		errs = append(errs, c.Close("device closed"))
	}
	return errors.Join(errs...)
}

// rtt returns the round-trip time of the connection in use, 0 if there is none.
func (s *Service) rtt() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.conns[s.last]; c != nil && c.Err() == nil {
		return c.RTT()
	}
	return 0
}

// asking is a question to a service.
type asking struct {
	*Service
	begin transport.Begin
}

func (q asking) open(ctx context.Context, except ...string) (linked, error) {
	return q.Service.open(ctx, q.begin, except...)
}

// others implements reachable.
func (s *Service) others(at string, also ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.conns[at]; c != nil {
		s.introduce(at, c)
	}
	return s.set.Others(time.Now(), at, also...)
}

// note implements reachable.
func (s *Service) note(at string, e replicas.Event, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set.Step(time.Now(), at, e, d)
}

// introduce takes what a replica says of itself and, once, of the others: later that may be out of date. Before its hello has come,
// it does nothing. The caller holds mu.
func (s *Service) introduce(at string, c *transport.Conn) {
	h := c.Hello()
	if h.Replica == "" {
		return
	}
	if s.introduced[at] != c {
		s.introduced[at] = c
		if !s.Only && s.set.Announce(h.Addrs) && s.Announced != nil {
			s.announced = h.Addrs
			go s.announce()
		}
	}
	s.set.Name(at, h.Replica)
	s.set.Name(h.Replica, h.Replica)
}

// announce passes the latest list on, however many calls there are and in whichever order.
func (s *Service) announce() {
	s.announcing.Lock()
	defer s.announcing.Unlock()
	s.mu.Lock()
	addresses := slices.Clone(s.announced)
	s.mu.Unlock()
	s.Announced(addresses)
}

// open asks the question at the best replica, over a connection that is kept or a new one.
func (s *Service) open(ctx context.Context, begin transport.Begin, except ...string) (linked, error) {
	s.survey(ctx)
	var failed *transport.Conn
	if at, conn := s.kept(except); conn != nil {
		up, err := s.ask(ctx, at, conn, begin)
		up.stood = true
		if err == nil || ctx.Err() != nil || conn.Err() == nil { // other answers may still use the connection
			return up, err
		}
		failed = conn
	}
	at, conn, err := s.connect(ctx, failed, except)
	if err != nil {
		return linked{}, err
	}
	return s.ask(ctx, at, conn, begin)
}

func (s *Service) ask(ctx context.Context, at string, conn *transport.Conn, begin transport.Begin) (linked, error) {
	base := conn.Stats()
	link, err := conn.Open(ctx, begin)
	if err != nil {
		return linked{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = at
	if rtt := conn.RTT(); rtt > 0 {
		s.set.Step(time.Now(), at, replicas.Measured, rtt)
	}
	return linked{conn: conn, link: link, base: base, at: at}, nil
}

// kept returns a connection to a replica that is as good as any, or nil.
func (s *Service) kept(except []string) (string, *transport.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for i, at := range s.set.Order(now, except...) {
		if c := s.conns[at]; c != nil && c.Err() == nil && (i == 0 || s.set.Fits(now, at)) {
			return at, c
		}
	}
	return "", nil
}

// connect makes a new connection, and keeps it. If another answer has made one meanwhile, connect returns that.
func (s *Service) connect(ctx context.Context, failed *transport.Conn, except []string) (string, *transport.Conn, error) {
	s.dialling.Lock()
	defer s.dialling.Unlock()
	if at, conn := s.kept(except); conn != nil && conn != failed {
		return at, conn, nil
	}
	if failed != nil {
		failed.Close("replaced")
	}
	better, at, stands := s.candidates(except)
	if len(better) == 0 && stands == nil {
		return "", nil, errNoReplica
	}
	conn, won, err := transport.DialAny(ctx, better, func(ctx context.Context, addr string) (*transport.Conn, error) {
		conn, err := s.dial(ctx, addr)
		if err != nil && ctx.Err() == nil {
			s.note(addr, replicas.Lost, 0)
		}
		return conn, err
	})
	switch {
	case err == nil:
		return won, conn, s.keep(won, conn)
	case stands != nil && ctx.Err() == nil:
		return at, stands, nil
	}
	return "", nil, err
}

// candidates returns the addresses to dial, the best first, up to the first to which a connection stands. Others may be in use.
func (s *Service) candidates(except []string) (better []string, at string, stands *transport.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.set.Order(time.Now(), except...) {
		if c := s.conns[at]; c != nil && c.Err() == nil {
			return better, at, c
		}
		better = append(better, at)
	}
	return better, "", nil
}

// keep keeps a connection, and forgets those that have ended: their addresses may never come back.
func (s *Service) keep(at string, conn *transport.Conn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		go conn.Close("device closed")
		return transport.ErrClosed
	}
	ended := func(_ string, c *transport.Conn) bool { return c.Err() != nil }
	maps.DeleteFunc(s.conns, ended)
	maps.DeleteFunc(s.introduced, ended)
	s.conns[at] = conn
	return nil
}

// survey measures the distances of all addresses, in the background, now and then. If none is known yet, it waits for the
// nearest: a replica that has not answered when twice that time has passed is no nearer.
func (s *Service) survey(ctx context.Context) {
	s.mu.Lock()
	addrs, known := s.set.Addrs(), s.set.Measured()
	due := s.Probe != nil && len(addrs) > 1 && time.Since(s.surveyed) >= surveyEvery
	if due {
		s.surveyed = time.Now()
	}
	s.mu.Unlock()
	if !due {
		return
	}
	answered := make(chan time.Duration, len(addrs))
	probing, stop := context.WithTimeout(context.WithoutCancel(ctx), surveyWithin)
	var probes sync.WaitGroup
	for _, addr := range addrs {
		probes.Go(func() {
			d, err := s.Probe(probing, addr)
			if err != nil {
				return
			}
			s.note(addr, replicas.Measured, d)
			answered <- d
		})
	}
	go func() {
		probes.Wait()
		stop()
		close(answered)
	}()
	if known {
		return
	}
	var first <-chan time.Time
	for {
		select {
		case d, more := <-answered:
			if !more {
				return
			}
			if first == nil {
				first = time.After(d + surveyMargin)
			}
		case <-first:
			return
		case <-ctx.Done():
			return
		}
	}
}

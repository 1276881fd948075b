package netem

import (
	"container/heap"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxFlows = 256             // most clients of a relay
	flowIdle = 5 * time.Minute // silent clients are forgotten after this time
)

// Relay forwards UDP packets between clients and a target over an emulated path. All clients share the path, like devices
// behind one radio link. The target sees each client at a different port.
type Relay struct {
	front  *net.UDPConn // clients send here
	target *net.UDPAddr
	start  time.Time
	up     *pipe
	down   *pipe
	done   chan struct{}
	wg     sync.WaitGroup

	mu    sync.Mutex
	flows map[netip.AddrPort]*flow
}

// flow is a client with the socket that represents it to the target.
type flow struct {
	client netip.AddrPort
	back   *net.UDPConn
	used   time.Time
}

// RelayCounts counts the packets of one direction.
type RelayCounts struct {
	In      uint64 `json:"in"`
	Out     uint64 `json:"out"`
	Dropped uint64 `json:"dropped"`
}

// RelayStats counts the packets of a Relay.
type RelayStats struct {
	Up   RelayCounts `json:"up"`
	Down RelayCounts `json:"down"`
}

// Listen starts a relay to target on a free local port, with the same path in both directions.
func Listen(target string, c Config) (*Relay, error) {
	back := c
	back.Seed++
	return ListenOn("127.0.0.1:0", target, c, back)
}

// ListenOn starts a relay on a local address, with a path for each direction.
func ListenOn(addr, target string, up, down Config) (*Relay, error) {
	r := &Relay{start: time.Now(), done: make(chan struct{}), flows: map[netip.AddrPort]*flow{}}
	var err error
	if r.target, err = net.ResolveUDPAddr("udp", target); err != nil {
		return nil, fmt.Errorf("netem: target %q: %w", target, err)
	}
	if r.up, err = newPipe(up); err != nil {
		return nil, err
	}
	if r.down, err = newPipe(down); err != nil {
		return nil, err
	}
	local, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("netem: listen address %q: %w", addr, err)
	}
	if r.front, err = net.ListenUDP("udp", local); err != nil {
		return nil, fmt.Errorf("netem: %w", err)
	}
	r.wg.Go(r.serve)
	r.wg.Go(func() { r.up.run(r.start, r.done) })
	r.wg.Go(func() { r.down.run(r.start, r.done) })
	return r, nil
}

// Emulate replaces the path. The traces and outages of the new path begin now. Packets already on their way arrive as the
// old path had decided.
func (r *Relay) Emulate(up, down Config) error {
	next := [2]*Link{}
	for i, c := range []Config{up, down} {
		link, err := NewLink(c)
		if err != nil {
			return err
		}
		next[i] = link
	}
	r.up.emulate(next[0], time.Since(r.start))
	r.down.emulate(next[1], time.Since(r.start))
	return nil
}

// Addr returns the address that clients send to.
func (r *Relay) Addr() string { return r.front.LocalAddr().String() }

// Stats returns the counts so far. Out includes duplicates.
func (r *Relay) Stats() RelayStats {
	var s RelayStats
	s.Up.In, s.Up.Out, s.Up.Dropped = r.up.in.Load(), r.up.out.Load(), r.up.dropped.Load()
	s.Down.In, s.Down.Out, s.Down.Dropped = r.down.in.Load(), r.down.out.Load(), r.down.dropped.Load()
	return s
}

// Rebind makes the target see each client at a new port, as a NAT or a change of network does.
func (r *Relay) Rebind() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, f := range r.flows {
		f.back.Close()
		delete(r.flows, key)
	}
}

// Interrupt blocks both directions for the duration d. Packets that are sent meanwhile are lost or, with hold, arrive
// afterwards, as on a stalled radio link.
func (r *Relay) Interrupt(d time.Duration, hold bool) {
	for _, p := range []*pipe{r.up, r.down} {
		p.mu.Lock()
		now := time.Since(r.start) - p.begun
		outages := slices.DeleteFunc(slices.Clone(p.link.cfg.Outages), func(o Outage) bool { return o.Every == 0 && o.From+o.For < now })
		p.link.cfg.Outages = append(outages, Outage{From: now, For: d, Hold: hold})
		p.mu.Unlock()
	}
}

// Close stops the relay. Packets on their way are lost.
func (r *Relay) Close() error {
	r.mu.Lock()
	select {
	case <-r.done:
		r.mu.Unlock()
		return nil
	default:
	}
	close(r.done)
	r.front.Close()
	for _, f := range r.flows {
		f.back.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
	return nil
}

// serve receives packets from clients.
func (r *Relay) serve() {
	buf := make([]byte, 65536)
	for {
		n, client, err := r.front.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // a client's port was unreachable
		}
		data := slices.Clone(buf[:n])
		r.up.push(r.start, data, func() { // uses the flow's socket of the time when the packet leaves
			if f := r.flow(client); f != nil {
				f.back.WriteToUDP(data, r.target)
			}
		})
	}
}

// flow returns the client's flow, or nil if there are too many.
func (r *Relay) flow(client netip.AddrPort) *flow {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.done:
		return nil
	default:
	}
	now := time.Now()
	f := r.flows[client]
	if f == nil {
		r.expire(now)
		back, err := net.ListenUDP("udp", nil)
		if err != nil || len(r.flows) >= maxFlows {
			if err == nil {
				back.Close()
			}
			return nil
		}
		f = &flow{client: client, back: back}
		r.flows[client] = f
		r.wg.Go(func() { r.answer(f) })
	}
	f.used = now
	return f
}

// expire forgets silent clients. The caller must hold r.mu.
func (r *Relay) expire(now time.Time) {
	for key, f := range r.flows {
		if now.Sub(f.used) > flowIdle {
			f.back.Close()
			delete(r.flows, key)
		}
	}
}

// answer receives the target's packets for a client.
func (r *Relay) answer(f *flow) {
	buf := make([]byte, 65536)
	for {
		n, from, err := f.back.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil || !r.fromTarget(from) {
			continue
		}
		data := slices.Clone(buf[:n])
		r.down.push(r.start, data, func() { r.front.WriteToUDPAddrPort(data, f.client) })
	}
}

func (r *Relay) fromTarget(from netip.AddrPort) bool {
	want := r.target.AddrPort()
	return from.Port() == want.Port() && from.Addr().Unmap() == want.Addr().Unmap()
}

// pipe runs a Link against the clock.
type pipe struct {
	in, out, dropped atomic.Uint64

	mu    sync.Mutex
	link  *Link
	begun time.Duration // when link's own time began, after the relay's start
	due   sends
	count int
	wake  chan struct{} // capacity 1: signals an earlier send
}

type send struct {
	at    time.Duration
	order int // of arrival, to order equal times
	do    func()
}

func newPipe(c Config) (*pipe, error) {
	link, err := NewLink(c)
	if err != nil {
		return nil, err
	}
	return &pipe{link: link, wake: make(chan struct{}, 1)}, nil
}

func (p *pipe) emulate(link *Link, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.link, p.begun = link, now
}

// push sends a packet through the pipe, which may damage it; do delivers it.
func (p *pipe) push(start time.Time, packet []byte, do func()) {
	p.in.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	var times [2]time.Duration
	at := p.link.Step(time.Since(start)-p.begun, len(packet), times[:0])
	if len(at) == 0 {
		p.dropped.Add(1)
	}
	p.link.damage(packet)
	for _, t := range at {
		p.count++
		heap.Push(&p.due, send{p.begun + t, p.count, do})
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *pipe) run(start time.Time, done <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-p.wake:
		case <-done:
			return
		}
		p.mu.Lock()
		for len(p.due) > 0 && p.due[0].at <= time.Since(start) {
			s := heap.Pop(&p.due).(send)
			p.mu.Unlock()
			p.out.Add(1)
			s.do()
			p.mu.Lock()
		}
		if len(p.due) > 0 {
			timer.Reset(p.due[0].at - time.Since(start))
		}
		p.mu.Unlock()
	}
}

// sends is a heap of packets, ordered by the time they leave.
type sends []send

func (s sends) Len() int { return len(s) }
func (s sends) Less(i, j int) bool {
	return s[i].at < s[j].at || s[i].at == s[j].at && s[i].order < s[j].order
}
func (s sends) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *sends) Push(x any)   { *s = append(*s, x.(send)) }
func (s *sends) Pop() any {
	old := *s
	x := old[len(old)-1]
	old[len(old)-1] = send{}
	*s = old[:len(old)-1]
	return x
}

package transport

import (
	"encoding/binary"
	"sync"
	"time"

	"tandem/transport/reliable"
)

const (
	echoID   = 0 // no exchange has it: stream 0 carries the hellos
	maxPongs = 8
	// padding is added to pings of a silent peer. A peer that was restarted answers with a reset, but may do so only for
	// packets of more than 42 bytes.
	padding = 24
)

// link measures the path. While an exchange is open, both sides send echo requests, which are answered at once. QUIC's
// own smoothed round-trip time would not do: it includes the peer's acknowledgement delay, which adds up to half where
// datagrams are sparse. The echoes also tell a silent peer from a dead one.
type link struct {
	mu       sync.Mutex
	nonce    uint64       // of the last ping
	pinged   [8]time.Time // when the last pings left, by nonce
	lastPing time.Time
	pongs    [][]byte // answers to send
	notices  notices  // to send
	latest   time.Duration
	smooth   time.Duration
	minimum  time.Duration
	last     time.Time // something came from the peer
	packets  uint64    // QUIC packets received, when LastHeard last looked

	drafts, draftBytes         int
	peerDrafts, peerDraftBytes int
	repeats, resends           int // of exchanges that are closed
}

func (l *link) heard(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = now
}

// echo takes an echo datagram without its id; it reports whether to send an answer.
func (l *link) echo(b []byte, now time.Time) bool {
	if len(b) == 0 {
		return false
	}
	nonce, n := binary.Uvarint(b[1:])
	if n <= 0 || b[0] != 0 && n != len(b)-1 { // requests may be padded
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if b[0] == 0 {
		if len(l.pongs) < maxPongs {
			l.pongs = append(l.pongs, binary.AppendUvarint([]byte{echoID, 1}, nonce))
		}
		return true
	}
	slot := nonce % uint64(len(l.pinged))
	if nonce > l.nonce || l.nonce-nonce >= uint64(len(l.pinged)) || l.pinged[slot].IsZero() {
		return false // too old, or not an answer to any ping
	}
	l.latest = now.Sub(l.pinged[slot])
	l.pinged[slot] = time.Time{}
	if l.smooth == 0 {
		l.smooth, l.minimum = l.latest, l.latest
	}
	l.smooth += (l.latest - l.smooth) / reliable.EchoSmoothing
	l.minimum = min(l.minimum, l.latest)
	return false
}

// due returns the echoes and notices to send now.
func (l *link) due(now time.Time, busy bool) [][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.notices.take(l.pongs)
	l.pongs = nil
	if next := l.nextPing(busy); !next.IsZero() && !now.Before(next) {
		l.nonce++
		l.pinged[l.nonce%uint64(len(l.pinged))] = now
		l.lastPing = now
		ping := binary.AppendUvarint([]byte{echoID, 0}, l.nonce)
		if now.Sub(l.last) > 2*reliable.EchoEvery {
			ping = append(ping, make([]byte, padding)...)
		}
		out = append(out, ping)
	}
	return out
}

// moved discards the measurements of the old path and makes a ping on the new one due at once.
func (l *link) moved() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest, l.smooth, l.minimum = 0, 0, 0
	l.pinged = [8]time.Time{}
	l.lastPing = time.Time{}
}

// nextPing returns when the next ping is due: at once on a new connection, then while an exchange is open.
func (l *link) nextPing(busy bool) time.Time {
	if !busy && l.nonce > 0 {
		return time.Time{}
	}
	return l.lastPing.Add(reliable.EchoEvery)
}

func (l *link) deadline(busy bool) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.nextPing(busy)
}

// Stats holds the counts and measurements of a connection so far.
type Stats struct {
	BytesSent, BytesReceived     uint64 // of QUIC packets
	PacketsSent, PacketsReceived uint64
	PacketsLost                  uint64
	Drafts, DraftBytes           int           // draft frames sent, each counted once
	PeerDrafts, PeerDraftBytes   int           // draft frames received
	Repeats                      int           // messages that were sent again in another datagram
	Resends                      int           // datagrams sent again because no acknowledgement came
	RTT, MinRTT                  time.Duration // by echo, else QUIC's; 0 if neither has measured it yet
}

// Stats returns the connection's counts and measurements, including those of closed exchanges.
func (c *Conn) Stats() Stats {
	q := c.qc.ConnectionStats()
	s := Stats{
		BytesSent: q.BytesSent, BytesReceived: q.BytesReceived,
		PacketsSent: q.PacketsSent, PacketsReceived: q.PacketsReceived, PacketsLost: q.PacketsLost,
		RTT: c.RTT(),
	}
	if q.MeanDeviation == 0 && !c.link.measured() { // QUIC has only assumed something
		s.RTT, q.MinRTT = 0, 0
	}
	for _, x := range c.openExchanges() {
		x.mu.Lock()
		sent := x.flow.Stats()
		s.Repeats, s.Resends = s.Repeats+sent.Repeats, s.Resends+sent.Resends
		x.mu.Unlock()
	}
	l := &c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Drafts, s.DraftBytes, s.MinRTT = l.drafts, l.draftBytes, l.minimum
	s.PeerDrafts, s.PeerDraftBytes = l.peerDrafts, l.peerDraftBytes
	s.Repeats, s.Resends = s.Repeats+l.repeats, s.Resends+l.resends
	if s.MinRTT == 0 {
		s.MinRTT = q.MinRTT
	}
	return s
}

// measured reports whether an echo has come.
func (l *link) measured() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.smooth > 0
}

// RTT returns the round-trip time by echo, smoothed over the last few. Before the first echo it returns QUIC's, and
// before that has measured any, what it assumes: 100 ms. Stats tells them apart.
func (c *Conn) RTT() time.Duration {
	c.link.mu.Lock()
	rtt := c.link.smooth
	c.link.mu.Unlock()
	if rtt == 0 {
		rtt = c.qc.ConnectionStats().MinRTT
	}
	return rtt
}

// LastHeard returns when something last came from the peer. While an exchange is open the peer answers an echo four times
// a second, so a longer silence reveals a dead peer long before the idle timeout. Without datagrams there are no echoes.
// Then QUIC's own packets count, from the first call of LastHeard after they arrived.
func (c *Conn) LastHeard() time.Time {
	packets, now := c.qc.ConnectionStats().PacketsReceived, time.Now()
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if packets != c.link.packets && c.maxDatagram.Load() == 0 {
		c.link.last = now
	}
	c.link.packets = packets
	return c.link.last
}

// silence is how long a peer that is there may be silent while an exchange is open: it answers echoes four times a second.
const silence = 3 * time.Second

// Silent reports whether the peer has been silent for so long that, with an exchange open, it is most likely gone.
func (c *Conn) Silent(now time.Time) bool {
	allowed := silence
	if c.maxDatagram.Load() == 0 { // no echoes: QUIC's own pings show that it is there
		allowed += c.limits.KeepAlive
	}
	return now.Sub(c.LastHeard()) >= allowed
}

func (c *Conn) countDraft(bytes int) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.link.drafts++
	c.link.draftBytes += bytes
}

func (c *Conn) countPeerDraft(bytes int) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.link.peerDrafts++
	c.link.peerDraftBytes += bytes
}

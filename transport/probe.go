package transport

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"time"
)

const (
	probeVersion = 0x1a2a3a4a // reserved, so that no server speaks it (RFC 9000, section 15)
	probeBytes   = 1200       // the smallest packet that a server answers
	probeID      = 8          // bytes of a connection ID
	probeEvery   = 500 * time.Millisecond
)

// Probe returns the round-trip time to the QUIC server at a UDP address, or an error if none answers. It needs no key: it
// offers an unknown version, and a server answers with those that it knows (RFC 9000, section 6). The server keeps no state
// for it. A server behind an unspecified address, such as ":4433", is looked for on this machine. Probe repeats the packet
// until ctx ends.
func Probe(ctx context.Context, addr string) (time.Duration, error) {
	addrs := []string{addr}
	if host, _, err := net.SplitHostPort(addr); err == nil && host != "" {
		remotes, err := resolve(ctx, addr)
		if err != nil {
			return 0, err
		}
		addrs = nil
		for _, remote := range remotes {
			addrs = append(addrs, remote.String())
		}
	}
	rtt, _, err := firstOf(ctx, addrs, probeAt, func(time.Duration) {})
	if err != nil {
		return 0, fmt.Errorf("no server answers at %s: %w", addr, err)
	}
	return rtt, nil
}

// probeAt is Probe for one address.
func probeAt(ctx context.Context, addr string) (time.Duration, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	return probe(ctx, conn)
}

// probe is Probe on a socket of its own.
func probe(ctx context.Context, conn net.Conn) (time.Duration, error) {
	packet := make([]byte, probeBytes)
	packet[0] = 0xc0 // long header
	binary.BigEndian.PutUint32(packet[1:], probeVersion)
	ids := packet[5 : 5+2*(1+probeID)]
	ids[0], ids[1+probeID] = probeID, probeID
	to, from := ids[1:1+probeID], ids[2+probeID:]
	rand.Read(to)
	rand.Read(from)
	buf := make([]byte, 2048)
	var sent [256]time.Time // by the last byte of the ID, which tells the packets apart
	for try := byte(0); ; try++ {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		from[probeID-1], sent[try] = try, time.Now()
		conn.Write(packet) // an error, such as an unreachable port, may pass
		deadline := time.Now().Add(probeEvery)
		if end, ok := ctx.Deadline(); ok && end.Before(deadline) {
			deadline = end
		}
		conn.SetReadDeadline(deadline)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				break
			}
			if try, ok := probed(buf[:n], to, from); ok && !sent[try].IsZero() {
				return max(time.Since(sent[try]), 1), nil
			}
		}
		select { // a closed port fails at once
		case <-ctx.Done():
		case <-time.After(time.Until(deadline)):
		}
	}
}

// probed reports whether b is a server's answer to a probe with these IDs, and to which.
func probed(b, to, from []byte) (try byte, ok bool) {
	head := bytes.Join([][]byte{{probeID}, from, {probeID}, to}, nil)
	const last = 5 + probeID // of the ID that tells the packets apart
	if len(b) <= 5+len(head) || b[0]&0x80 == 0 || binary.BigEndian.Uint32(b[1:]) != 0 {
		return 0, false
	}
	try = b[last]
	head[last-5] = try
	return try, bytes.Equal(b[5:5+len(head)], head)
}

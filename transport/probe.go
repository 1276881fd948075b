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

// Probe reports whether a QUIC server answers at a UDP address. It needs no key: it offers an unknown version, and a server
// answers with those that it knows (RFC 9000, section 6). The server keeps no state for it. A server behind an unspecified
// address, such as ":4433", is looked for on this machine. Probe repeats the packet until ctx ends.
func Probe(ctx context.Context, addr string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", addr)
	if err != nil {
		return fmt.Errorf("address %s: %w", addr, err)
	}
	defer conn.Close()
	packet := make([]byte, probeBytes)
	packet[0] = 0xc0 // long header
	binary.BigEndian.PutUint32(packet[1:], probeVersion)
	ids := packet[5 : 5+2*(1+probeID)]
	ids[0], ids[1+probeID] = probeID, probeID
	to, from := ids[1:1+probeID], ids[2+probeID:]
	rand.Read(to)
	rand.Read(from)
	answer := bytes.Join([][]byte{{probeID}, from, {probeID}, to}, nil)
	buf := make([]byte, 2048)
	for {
		if ctx.Err() != nil {
			return fmt.Errorf("no server answers at %s: %w", addr, ctx.Err())
		}
		conn.Write(packet) // an error, such as an unreachable port, may pass
		deadline := time.Now().Add(probeEvery)
		if end, ok := ctx.Deadline(); ok && end.Before(deadline) {
			deadline = end
		}
		conn.SetReadDeadline(deadline)
		n, err := conn.Read(buf)
		if err == nil && n > 5+len(answer) && buf[0]&0x80 != 0 && binary.BigEndian.Uint32(buf[1:]) == 0 &&
			bytes.Equal(buf[5:5+len(answer)], answer) {
			return nil
		}
		if err == nil {
			continue
		}
		select { // a closed port fails at once
		case <-ctx.Done():
		case <-time.After(time.Until(deadline)):
		}
	}
}

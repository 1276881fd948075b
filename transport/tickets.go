package transport

import (
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"tandem/internal/atomicfile"
)

// Tickets keeps TLS session tickets, one file per peer. With a ticket, a returning device sends its hello in its first
// packet (0-RTT; a device that dials eagerly waits for the handshake), even after either process has restarted. Only the
// hello is sent that early, because an attacker can replay such data and a hello changes nothing. A listener reads a few
// early hellos at a time, and gives a connection a place only after the handshake.
type Tickets struct{ dir string }

// OpenTickets uses the directory dir, which need not exist yet.
func OpenTickets(dir string) *Tickets {
	atomicfile.Sweep(dir)
	return &Tickets{dir}
}

// cache is the part of a Tickets that TLS uses to dial one peer.
type cache struct{ path string }

func (s *Tickets) of(peer ID) tls.ClientSessionCache {
	return cache{filepath.Join(s.dir, peer.String()+".session")}
}

// Get returns the ticket and removes it. A ticket is used once, so that an observer cannot link two connections by it.
func (c cache) Get(string) (*tls.ClientSessionState, bool) {
	data, err := os.ReadFile(c.path)
	if err != nil {
		return nil, false
	}
	if os.Remove(c.path) != nil { // another dial has it
		return nil, false
	}
	size, n := binary.Uvarint(data)
	if n <= 0 || size > uint64(len(data)-n) {
		return nil, false
	}
	state, err := tls.ParseSessionState(data[n+int(size):])
	if err != nil {
		return nil, false // damaged or from an older release: use the full handshake
	}
	session, err := tls.NewResumptionState(data[n:][:size], state)
	return session, err == nil
}

// Put keeps the newest ticket. Failing to keep one only costs a round trip later.
func (c cache) Put(_ string, session *tls.ClientSessionState) {
	if session == nil {
		os.Remove(c.path)
		return
	}
	ticket, state, err := session.ResumptionState()
	if err != nil || state == nil {
		return
	}
	data, err := state.Bytes()
	if err != nil {
		return
	}
	buf := binary.AppendUvarint(nil, uint64(len(ticket)))
	buf = append(append(buf, ticket...), data...)
	_ = writeFile(c.path, buf)
}

// Purposes of the keys that are derived from an identity.
const (
	forTickets = "tandem session tickets"
	forResets  = "tandem stateless resets"
)

// derive returns a listener's key for a purpose. The key stays the same when the process restarts. One key seals tickets:
// the holder of the identity's key can read early hellos, but nothing sent after them. With the other key, a restarted
// cloud tells a device at once that it no longer knows their connection; otherwise the device would wait.
func (id Identity) derive(purpose string) ([32]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(id.cert.PrivateKey)
	if err != nil {
		return [32]byte{}, fmt.Errorf("derive a key for %s: %w", purpose, err)
	}
	key, err := hkdf.Key(sha256.New, der, nil, purpose, 32)
	if err != nil {
		return [32]byte{}, fmt.Errorf("derive a key for %s: %w", purpose, err)
	}
	return [32]byte(key), nil
}

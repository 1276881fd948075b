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
)

// Sessions keeps TLS session tickets, one file a peer, so that a device that comes back greets the cloud in
// its first packet (0-RTT; one that dials eagerly waits for the handshake), also after either process was
// restarted. Only the hello travels that early: such data can be replayed by an attacker, and a hello changes
// nothing. A listener reads a few at a time before the handshake is complete, and gives no connection a place
// until then.
type Sessions struct{ dir string }

// OpenSessions uses the directory dir, which need not exist yet.
func OpenSessions(dir string) *Sessions { return &Sessions{dir} }

// cache is the view of a Sessions that TLS has when dialing one peer.
type cache struct{ path string }

func (s *Sessions) of(peer ID) tls.ClientSessionCache {
	return cache{filepath.Join(s.dir, peer.String()+".session")}
}

// Get takes the ticket out: it is used once, so that an observer cannot link two connections by it.
func (c cache) Get(string) (*tls.ClientSessionState, bool) {
	data, err := os.ReadFile(c.path)
	if err != nil {
		return nil, false
	}
	os.Remove(c.path)
	size, n := binary.Uvarint(data)
	if n <= 0 || size > uint64(len(data)-n) {
		return nil, false
	}
	state, err := tls.ParseSessionState(data[n+int(size):])
	if err != nil {
		return nil, false // an older release's, or damaged: the full handshake will do
	}
	session, err := tls.NewResumptionState(data[n:][:size], state)
	return session, err == nil
}

// Put keeps the newest ticket. A ticket that cannot be kept only costs a round trip later.
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

// What keys are derived from an identity for.
const (
	forTickets = "tandem session tickets"
	forResets  = "tandem stateless resets"
)

// derive returns a listener's key for a purpose, which outlives the process. With tickets sealed by one,
// who has the identity's key can read early hellos, but nothing that is said after them. With the other a
// restarted cloud tells a device at once that it forgot their connection; else the device would wait.
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

package transport

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
)

// maxInvites bounds the codes that are open at once.
const maxInvites = 32

// Invites holds the secrets of open pairing codes, each as a file of a directory, so that one program can print a code and
// another can serve it. Redeeming a code removes its file. Only one attempt can do that, so a code works once.
type Invites struct{ dir string }

// OpenInvites uses the directory dir, which need not exist yet.
func OpenInvites(dir string) *Invites { return &Invites{dir} }

type invite struct {
	Secret  []byte    `json:"secret"`
	Expires time.Time `json:"expires"`

	// The same by a clock that cannot be set back, where there is one: the run of the machine, and how long it has run then.
	Run   string        `json:"run,omitempty"`
	Until time.Duration `json:"until,omitempty"`
}

// over reports whether the invite is no longer valid.
func (i invite) over(now time.Time) bool {
	run, since := uptime()
	return now.After(i.Expires) || run != "" && run == i.Run && since > i.Until
}

// New opens a pairing code for the cloud with the given key, reachable at addrs, for the time life.
func (v *Invites) New(cloud ID, addrs []string, life time.Duration) (Code, error) {
	c := Code{Addrs: addrs, Pin: [pinSize]byte(cloud[:])}
	rand.Read(c.Secret[:])
	if _, err := c.marshal(); err != nil {
		return Code{}, err
	}
	open, err := v.open(time.Now())
	if err != nil {
		return Code{}, err
	}
	if len(open) >= maxInvites {
		return Code{}, fmt.Errorf("pairing: %d codes are open already; the first expires at %s", len(open), soonest(open).Format(time.TimeOnly))
	}
	run, since := uptime()
	data, err := json.Marshal(invite{Secret: c.Secret[:], Expires: time.Now().Add(life), Run: run, Until: since + life})
	if err != nil {
		return Code{}, fmt.Errorf("pairing: %w", err)
	}
	name := sha256.Sum256(c.Secret[:])
	if err := writeFile(filepath.Join(v.dir, hex.EncodeToString(name[:8])+".json"), data); err != nil {
		return Code{}, fmt.Errorf("pairing: store the code: %w", err)
	}
	return c, nil
}

func soonest(open map[string]invite) (t time.Time) {
	for _, i := range open {
		t = earlier(t, i.Expires)
	}
	return t
}

// open returns the invites that are still valid, by file, and removes the others.
func (v *Invites) open(now time.Time) (map[string]invite, error) {
	entries, err := os.ReadDir(v.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("pairing: list open codes: %w", err)
	}
	open := map[string]invite{}
	for _, e := range entries {
		path := filepath.Join(v.dir, e.Name())
		if !strings.HasSuffix(path, ".json") {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			continue // used in the meantime
		}
		var i invite
		if json.Unmarshal(data, &i) != nil || len(i.Secret) != secretSize || i.over(now) {
			os.Remove(path)
			continue
		}
		open[path] = i
	}
	return open, nil
}

// redeem uses up the invite whose secret produced mac, and returns the secret.
func (v *Invites) redeem(now time.Time, binding, mac []byte) (secret []byte, ok bool, err error) {
	open, err := v.open(now)
	if err != nil {
		return nil, false, err
	}
	for path, i := range open {
		if hmac.Equal(mac, proof(i.Secret, "device", binding)) && os.Remove(path) == nil {
			return i.Secret, true, nil
		}
	}
	return nil, false, nil
}

// proof proves knowledge of the secret on this one TLS connection without showing the secret.
func proof(secret []byte, who string, binding []byte) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(who))
	h.Write(binding)
	return h.Sum(nil)
}

// binding returns a value that only the two ends of a TLS connection know. It differs between connections.
func binding(qc *quic.Conn) ([]byte, error) {
	state := qc.ConnectionState().TLS
	b, err := state.ExportKeyingMaterial("EXPORTER-tandem-pairing", nil, 32)
	if err != nil {
		return nil, fmt.Errorf("pairing: %w", err)
	}
	return b, nil
}

// pairRequest holds the device's proof and its name.
type pairRequest struct {
	Name  string
	Proof []byte
}

func (m pairRequest) limits() error { return atMost(bound{"name", len(m.Name), MaxText}) }
func (m *pairRequest) clean()       { m.Name = clean(m.Name) }

// pairReply is the cloud's answer: its own proof, or the reason for refusing.
type pairReply struct {
	Refused string // why, if it refuses
	Name    string
	Proof   []byte
}

func (m pairReply) limits() error {
	return atMost(bound{"name", len(m.Name) + len(m.Refused), MaxText})
}

func (m *pairReply) clean() { m.Name, m.Refused = clean(m.Name), clean(m.Refused) }

// Pair registers this device's key with the cloud that the code names and returns that cloud, for Peers. It dials the
// code's addresses as DialAny does and uses the first that completes a handshake, because a code works once. If pc is not
// nil, Pair uses it instead of a new UDP socket.
func Pair(ctx context.Context, code Code, id Identity, name string, pc net.PacketConn) (Peer, error) {
	tr, release, err := openTransport(pc)
	if err != nil {
		return Peer{}, err
	}
	defer release()
	pin := func(state tls.ConnectionState) error {
		id, err := peerOf(state)
		if err == nil && !code.matches(id) {
			err = fmt.Errorf("%w there, not the one that the code names", ErrOtherKey)
		}
		return err
	}
	unneeded := func(qc *quic.Conn) { qc.CloseWithError(codeClosed, "") }
	dial := func(ctx context.Context, remote *net.UDPAddr) (*quic.Conn, error) {
		return whileFull(ctx, func() (*quic.Conn, error) {
			return dialFrom(ctx, tr, remote, clientTLS(id, protoPair, pin), Limits{}.withDefaults())
		})
	}
	qc, addr, err := firstOf(ctx, code.Addrs, func(ctx context.Context, addr string) (qc *quic.Conn, err error) {
		remotes, err := resolve(ctx, addr)
		if err == nil {
			qc, _, err = firstOf(ctx, remotes, dial, unneeded)
		}
		if err != nil {
			return nil, fmt.Errorf("pair with %s: %w", addr, err)
		}
		return qc, nil
	}, unneeded)
	if err != nil {
		return Peer{}, err
	}
	defer qc.CloseWithError(codeClosed, "")
	peer, err := pairOver(ctx, qc, code, name)
	if err != nil {
		return Peer{}, fmt.Errorf("pair with %s: %w", addr, err)
	}
	peer.Addrs = code.Addrs
	return peer, nil
}

// pairOver proves the code's secret to the peer and checks the peer's proof.
func pairOver(ctx context.Context, qc *quic.Conn, code Code, name string) (Peer, error) {
	peer := Peer{Paired: time.Now().UTC().Truncate(time.Second)}
	var err error
	if peer.ID, err = peerOf(qc.ConnectionState().TLS); err != nil {
		return Peer{}, err
	}
	bound, err := binding(qc)
	if err != nil {
		return Peer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	stream, err := qc.OpenStreamSync(ctx)
	if err != nil {
		return Peer{}, explain(err)
	}
	defer context.AfterFunc(ctx, func() { stream.CancelRead(streamClosed) })()
	if err := writeControl(stream, pairRequest{Name: name, Proof: proof(code.Secret[:], "device", bound)}); err != nil {
		return Peer{}, err
	}
	m, err := readControl(stream, maxHello)
	if err != nil {
		return Peer{}, err
	}
	reply, ok := m.(pairReply)
	switch {
	case !ok:
		return Peer{}, fmt.Errorf("the peer sent %T instead of its reply", m)
	case reply.Refused != "":
		return Peer{}, &RefusedError{reply.Refused}
	case !hmac.Equal(reply.Proof, proof(code.Secret[:], "cloud", bound)):
		return Peer{}, errors.New("the cloud does not know the code's secret")
	}
	peer.Name = reply.Name
	return peer, nil
}

// noCode is the reason for refusing a wrong proof, or any proof while no code is open.
const noCode = "the code is unknown, expired or used already: make a new one with `cloud pair`"

// pair is the cloud's half: it registers the device's key if the device proves an open code's secret. Nobody can
// guess a secret of 80 bits, so attempts are not counted; a count would let strangers keep others from pairing.
func (l *Listener) pair(qc *quic.Conn, id ID) error {
	defer qc.CloseWithError(codeClosed, "")
	if open, err := l.cfg.Invites.open(time.Now()); err == nil && len(open) == 0 {
		qc.CloseWithError(codePairing, noCode)
		return errors.New("no pairing code is open")
	}
	if err := l.pairWith(qc, id); err != nil {
		return fmt.Errorf("pair with key %s: %w", id.Short(), err)
	}
	return nil
}

func (l *Listener) pairWith(qc *quic.Conn, id ID) error {
	ctx, cancel := context.WithTimeout(l.ctx, handshakeTimeout)
	defer cancel()
	l.await(qc)
	defer l.settle(qc)
	stream, err := qc.AcceptStream(ctx)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { stream.CancelRead(streamClosed) })()
	m, err := readControl(stream, maxHello)
	if err != nil {
		return err
	}
	request, ok := m.(pairRequest)
	if !ok {
		return fmt.Errorf("the peer sent %T", m)
	}
	l.settle(qc)
	reply := l.register(qc, id, request)
	if reply.Refused != "" {
		l.await(qc)
	}
	if err := writeControl(stream, reply); err != nil {
		return err
	}
	select { // the device closes when it has the reply
	case <-qc.Context().Done():
	case <-ctx.Done():
	}
	if reply.Refused != "" {
		return errors.New(reply.Refused)
	}
	return nil
}

// await adds a pairing to those that wait for the device. When too many wait, it ends the one that has waited longest:
// devices send their requests at once, so that one is most likely a stranger's.
func (l *Listener) await(qc *quic.Conn) {
	var longest *quic.Conn
	l.mu.Lock()
	if len(l.pairings) >= maxPairings {
		longest, l.pairings = l.pairings[0], l.pairings[1:]
	}
	l.pairings = append(l.pairings, qc)
	l.mu.Unlock()
	if longest != nil {
		longest.CloseWithError(codeBusy, "too many devices are pairing: try again")
	}
}

// settle removes a pairing from those that wait.
func (l *Listener) settle(qc *quic.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pairings = slices.DeleteFunc(l.pairings, func(other *quic.Conn) bool { return other == qc })
}

// register checks the proof and stores the key. If it refuses, the reply says why.
func (l *Listener) register(qc *quic.Conn, id ID, request pairRequest) pairReply {
	bound, err := binding(qc)
	if err != nil {
		return pairReply{Refused: err.Error()}
	}
	secret, ok, err := l.cfg.Invites.redeem(time.Now(), bound, request.Proof)
	if err != nil {
		l.cfg.Log.Error("pairing failed", "error", err)
		return pairReply{Refused: "this cloud cannot read its open codes"}
	}
	if !ok {
		return pairReply{Refused: noCode}
	}
	peer := Peer{ID: id, Name: request.Name, Paired: time.Now().UTC().Truncate(time.Second)}
	if old, err := l.cfg.Peers.Lookup(id); err == nil {
		peer.Name, peer.Priority = old.Name, old.Priority // the operator may have chosen them
	}
	if err := l.cfg.Peers.Add(peer); err != nil {
		l.cfg.Log.Error("pairing failed", "error", err)
		return pairReply{Refused: "this cloud cannot store the key"}
	}
	l.cfg.Log.Info("paired", "device", peer.Name, "key", id.Short())
	if l.cfg.Paired != nil {
		l.cfg.Paired(peer)
	}
	return pairReply{Name: l.cfg.Hello.Name, Proof: proof(secret, "cloud", bound)}
}

package transport

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/quic-go/quic-go"
)

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
	peer := Peer{Paired: time.Now().UTC().Truncate(time.Millisecond)}
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
	peer := Peer{ID: id, Name: request.Name, Paired: time.Now().UTC().Truncate(time.Millisecond)}
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

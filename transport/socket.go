package transport

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
)

// socket is a UDP socket on which a vanished network looks like packet loss. QUIC gives up on a connection at the first
// write error, but a phone that loses its Wi-Fi for a few seconds gets ENETUNREACH for each packet in the meantime and can
// continue afterwards. The embedded UDPConn keeps segmentation offload and ECN.
type socket struct{ *net.UDPConn }

// acceptBuffers keeps QUIC from advising users to raise the system's buffers: they are large enough for messages of
// tens of bytes.
var acceptBuffers = sync.OnceFunc(func() { os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true") })

func openSocket(addr string) (*socket, error) {
	acceptBuffers()
	local, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen address %q: %w", addr, err)
	}
	conn, err := net.ListenUDP("udp", local)
	if err != nil {
		return nil, fmt.Errorf("open UDP socket: %w", err)
	}
	return &socket{conn}, nil
}

func (s *socket) WriteTo(b []byte, addr net.Addr) (int, error) {
	n, err := s.UDPConn.WriteTo(b, addr)
	if transient(err) {
		return len(b), nil
	}
	return n, err
}

func (s *socket) WriteMsgUDP(b, oob []byte, addr *net.UDPAddr) (int, int, error) {
	n, oobn, err := s.UDPConn.WriteMsgUDP(b, oob, addr)
	if transient(err) {
		return len(b), len(oob), nil
	}
	return n, oobn, err
}

// transientErrors are those of a network that is unreachable for now.
var transientErrors = []error{
	syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ENETDOWN, syscall.EHOSTDOWN, syscall.EADDRNOTAVAIL,
	syscall.ENOBUFS, syscall.ECONNREFUSED, syscall.EPERM, syscall.EACCES,
}

// transient reports whether a write failed because the network is temporarily unreachable. Errors about the packet
// itself (EMSGSIZE, and EIO from segmentation offload) are not transient: QUIC learns from them.
func transient(err error) bool {
	return err != nil && slices.ContainsFunc(transientErrors, func(e error) bool { return errors.Is(err, e) })
}

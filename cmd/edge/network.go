package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"tandem/netem"
)

// network is what lies between a device and its cloud: the real network or, with a round-trip time or a loss, an emulated one
// with a relay for each address. The zero value is the real one.
type network struct {
	rtt  time.Duration
	loss float64 // share of the packets, 0 to 1

	mu     sync.Mutex
	relays map[string]*netem.Relay // by the address that they lead to
	closed bool
}

// emulated reports whether there is more between the two sides than the real network.
func (n *network) emulated() bool { return n.rtt > 0 || n.loss > 0 }

// route returns where to send what is for address: to a relay if the network is emulated.
func (n *network) route(address string) (string, error) {
	if !n.emulated() {
		return address, nil
	}
	at, err := n.relay(address)
	if err != nil {
		return "", fmt.Errorf("emulate the network: %w", err)
	}
	return at, nil
}

// relay returns the local address of the relay to address.
func (n *network) relay(address string) (string, error) {
	n.mu.Lock()
	r, ok := n.relays[address]
	n.mu.Unlock()
	if ok {
		return r.Addr(), nil
	}
	r, err := netem.Listen(address, netem.Config{Delay: n.rtt / 2, Loss: n.loss}) // may wait for DNS, so not under the lock
	if err != nil {
		return "", err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch other, ok := n.relays[address]; {
	case n.closed:
		return "", errors.Join(errors.New("the path is closed"), r.Close())
	case ok: // another dial was faster
		return other.Addr(), r.Close()
	case n.relays == nil:
		n.relays = map[string]*netem.Relay{}
	}
	n.relays[address] = r
	return r.Addr(), nil
}

// Close ends the relays.
func (n *network) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	for _, r := range n.relays {
		errs = append(errs, r.Close())
	}
	n.relays, n.closed = nil, true
	return errors.Join(errs...)
}

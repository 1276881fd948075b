package main

import (
	"errors"
	"fmt"
	"sync"

	"tandem/netem"
)

// relays are the emulated networks through which a device reaches its cloud, one for each address. The zero value has none yet.
type relays struct {
	mu     sync.Mutex
	relays map[string]*netem.Relay // by target address and conditions
	closed bool
}

// relay returns the local address of an emulated network that leads to address.
func (p *relays) relay(address string, cfg netem.Config) (string, error) {
	path := fmt.Sprint(address, cfg)
	p.mu.Lock()
	r, ok := p.relays[path]
	p.mu.Unlock()
	if ok {
		return r.Addr(), nil
	}
	r, err := netem.Listen(address, cfg) // may wait for DNS, so not under the lock
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch other, ok := p.relays[path]; {
	case p.closed:
		return "", errors.Join(errors.New("the path is closed"), r.Close())
	case ok: // another dial was faster
		return other.Addr(), r.Close()
	case p.relays == nil:
		p.relays = map[string]*netem.Relay{}
	}
	p.relays[path] = r
	return r.Addr(), nil
}

// Close ends the networks.
func (p *relays) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, r := range p.relays {
		errs = append(errs, r.Close())
	}
	p.relays, p.closed = nil, true
	return errors.Join(errs...)
}

package node

import (
	"context"
	"errors"
	"sync"

	"tandem/transport"
)

// places are the answers that a cloud drafts for at once. One device holds at most all but one of them, so that others
// get their turn however many questions it keeps open.
type places struct {
	all   chan struct{}
	share int

	mu  sync.Mutex
	own map[transport.ID]chan struct{} // taken by each device; at most as many as are paired
}

func newPlaces(n int) *places {
	return &places{all: make(chan struct{}, n), share: max(1, n-1), own: map[transport.ID]chan struct{}{}}
}

// of returns the places of one device.
func (p *places) of(device transport.ID) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own[device] == nil {
		p.own[device] = make(chan struct{}, p.share)
	}
	return p.own[device]
}

// enter waits for a place. It fails if the device goes away or ctx ends first. Before the cloud is ready, a device sends
// nothing but a sign that it is still there, or the end of its answer.
func (p *places) enter(ctx context.Context, device transport.ID, link exchange) (leave func(), err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	left := make(chan error, 1)
	go func() {
		defer stop()
		left <- ended(ctx, link)
	}()
	own := p.of(device)
	entered := take(ctx, own)
	if entered && !take(ctx, p.all) {
		<-own
		entered = false
	}
	stop()
	err = <-left
	leave = func() { <-p.all; <-own }
	switch {
	case entered && errors.Is(err, context.Canceled):
		return leave, nil
	case entered:
		leave()
	}
	if err == nil {
		err = errors.New("the device ended its answer")
	}
	return nil, err
}

// take takes one of the places and reports whether it got one before ctx ended.
func take(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

package node

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"tandem/transport"
)

// Bounds on a slot that another waits for.
const (
	maxStall = time.Minute      // without an agreed token
	maxHold  = 10 * time.Minute // in all
)

var (
	errGone    = retryError{errors.New("the device is gone, and another waits for its place")}
	errStuck   = retryError{fmt.Errorf("no token was agreed for %v, and another waits for the place", maxStall)}
	errTooLong = retryError{fmt.Errorf("the answer took more than %v, and another waits for the place", maxHold)}
)

// deviceConn is what slots need of the connection from a device: a *transport.Conn, or a toy in tests.
type deviceConn interface {
	Peer() transport.ID
	Silent(now time.Time) bool
}

// lease is a slot in use.
type lease struct {
	ticket     *ticket
	device     deviceConn
	ctx        context.Context // ends when the slot is given away
	end        context.CancelCauseFunc
	since      time.Time
	progressed atomic.Int64 // when the last token was agreed, in nanoseconds after since; -1 if no tokens are expected
}

func newLease(ctx context.Context, device deviceConn, t *ticket) *lease {
	l := &lease{ticket: t, device: device, since: time.Now()}
	l.ctx, l.end = context.WithCancelCause(ctx)
	return l
}

// progress notes that a token was agreed. It may be called on a nil lease.
func (l *lease) progress() {
	if l != nil {
		l.progressed.Store(int64(time.Since(l.since)))
	}
}

// endReason returns why the slot may be given to another, or nil.
func (l *lease) endReason(now time.Time) error {
	held, moved := now.Sub(l.since), time.Duration(l.progressed.Load())
	switch {
	case l.device.Silent(now):
		return errGone
	case moved >= 0 && held-moved >= maxStall:
		return errStuck
	case held >= maxHold:
		return errTooLong
	}
	return nil
}

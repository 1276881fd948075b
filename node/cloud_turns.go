package node

import (
	"context"
	"errors"
	"time"

	"tandem"
	"tandem/transport"
)

// ErrLater is in the errors of questions that a cloud does not take now, although another replica or the same one later can.
var ErrLater = errors.New("ask again later")

// retryError is the reason why a cloud does not take part now.
type retryError struct{ error }

// Is makes it an ErrLater.
func (retryError) Is(target error) bool { return target == ErrLater }

var errDraining = retryError{errors.New("it is shutting down: ask again in a moment")}

// answerInTurn takes part in one answer when there is a slot for it.
func (c *Cloud) answerInTurn(ctx context.Context, conn *transport.Conn, exchange *transport.Exchange, begin transport.Begin) error {
	defer c.present.enter()()
	entered := during(&c.waiting)
	defer func() { entered() }()
	c.boundDocuments(&begin.Settings)
	need := c.needs(begin)
	if err := c.memory.neverFits(need); err != nil {
		return turnAway(exchange, err)
	}
	if c.draining() {
		return turnAway(exchange, errDraining)
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(c.drain, stop)()
	lease, err := c.slots.enter(ctx, waiting, conn, c.priority(conn.Peer()), need, exchange)
	switch {
	case err != nil && c.draining() && ctx.Err() == nil:
		return turnAway(exchange, errDraining)
	case errors.As(err, new(retryError)):
		return turnAway(exchange, err)
	case err != nil:
		return err
	}
	defer c.slots.release(lease)
	if c.draining() {
		return turnAway(exchange, errDraining)
	}
	defer during(&c.answering)()
	entered()
	entered = func() {}
	c.answerContained(lease, conn, exchange, begin)
	return nil
}

// turnedAway is why a question was refused before its turn.
type turnedAway struct{ error }

func (e turnedAway) Unwrap() error { return e.error }

// turnAway tells a device why its question is refused, and returns that.
func turnAway(exchange exchange, why error) error {
	return turnedAway{(&cloudAnswer{exchange: exchange}).refuse(why)}
}

// Alone gives an answer in which no device takes part, when there is a slot for it, as if a device had asked. answer gets the
// settings within the cloud's bounds, and must return once its context ends.
func (c *Cloud) Alone(ctx context.Context, q Question, s tandem.Settings, answer func(context.Context, tandem.Settings) error) error {
	if err := checkSettings(s); err != nil {
		return err
	}
	c.boundDocuments(&s)
	c.boundTokens(&s)
	need := c.reserves(q, s)
	if err := c.memory.neverFits(need); err != nil {
		return err
	}
	defer c.present.enter()()
	entered := during(&c.waiting)
	lease, err := c.slots.enter(ctx, ctx, ownQuestion{}, Normal, need, ownQuestion{})
	if err != nil {
		entered()
		return err
	}
	defer c.slots.release(lease)
	defer during(&c.answering)()
	entered()
	lease.progressed.Store(-1)
	err = answer(lease.ctx, s)
	if why := context.Cause(lease.ctx); err != nil && errors.Is(why, ErrLater) {
		return why // the place was given away
	}
	return err
}

// ownQuestion takes the place of a device where the cloud answers alone: it is always there, and silent.
type ownQuestion struct{ exchange }

func (ownQuestion) Peer() transport.ID    { return transport.ID{} }
func (ownQuestion) Silent(time.Time) bool { return false }

func (ownQuestion) Receive(ctx context.Context) (transport.Message, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"tandem/internal/sparing"
	"tandem/node/batch"
	"tandem/pair"
	"tandem/transport"
)

// cloudAnswer is one answer being drafted in the cloud.
type cloudAnswer struct {
	local      Local
	conn       interface{ RTT() time.Duration } // below the exchange
	exchange   exchange
	log        *slog.Logger
	ctx        context.Context
	machine    *pair.Machine
	worker     *worker
	inbox      chan any    // decoded, or messages that arrived together
	lease      *lease      // nil in tests
	leaving    func() bool // reports whether this replica is about to end; nil if it never is
	ticks      int
	unexpected sparing.Log // messages
	failure    error
	ended      atomic.Bool // the device has ended the answer
	endedEarly atomic.Bool // it did so before the answer's end
}

// realError returns err unless it only shows that the device has ended the answer, or hung up in order.
func (a *cloudAnswer) realError(err error) error {
	gone := errors.Is(err, io.EOF) || errors.Is(err, transport.ErrClosed) || errors.Is(err, transport.ErrLost) || errors.Is(err, context.Canceled)
	if fault := errors.As(err, new(*internalFault)); !fault && (errors.Is(err, transport.ErrHungUp) || a.ended.Load() && gone) {
		return nil
	}
	return err
}

// cancelled reports whether the device has left the answer before its end, by what it said or by hanging up. err is the error that
// the answer ended with.
func (a *cloudAnswer) cancelled(err error) bool {
	return a.endedEarly.Load() || errors.Is(err, transport.ErrHungUp) && !a.ended.Load()
}

// refuse sends the device the reason why the cloud cannot take part. Once the answer is over, nobody listens, unless its slot
// was given away or this side failed: then that is the reason, and err only followed from it.
func (a *cloudAnswer) refuse(err error) error {
	if a.ctx != nil && a.ctx.Err() != nil {
		if err = context.Cause(a.ctx); !errors.As(err, new(retryError)) && !errors.As(err, new(*internalFault)) {
			return err
		}
	}
	text := err.Error()
	var fault *internalFault
	var away interface{ Unreachable() bool }
	var discreet interface{ Public() string }
	switch {
	case errors.As(err, &fault):
		text = "it failed at this question"
	case errors.As(err, &away) && away.Unreachable(): // they are there, so nothing may be called unknown
		text = "the cloud's documents cannot be reached"
	case errors.Is(err, errSearch):
		text = "it cannot search its documents" // why names its files, which is for its operator
	case errors.As(err, &discreet):
		text = discreet.Public()
	}
	return errors.Join(err, a.exchange.Send(transport.Fail{Text: text[:min(len(text), transport.MaxText)], Again: errors.As(err, new(retryError))}))
}

// run drafts until the device ends the answer.
func (a *cloudAnswer) run(own producer) error {
	var stop func()
	a.worker, stop = startWorker(a.ctx, own, a.inbox)
	defer stop()
	a.step(pair.Measured{RTT: a.conn.RTT()})
	a.step(pair.Start{})
	clock := time.NewTicker(tickEvery)
	defer clock.Stop()
	silence := time.NewTimer(idle) // reset by each message of the device and each pass of this side
	defer silence.Stop()
	for a.failure == nil {
		select {
		case <-a.ctx.Done():
			return a.refuse(context.Cause(a.ctx))
		case <-silence.C:
			return a.refuse(errIdle)
		case <-clock.C:
			a.step(pair.Measured{RTT: a.conn.RTT()})
			a.sayLeaving()
		case in := <-a.inbox:
			silence.Reset(idle)
			switch in := in.(type) {
			case decoded:
				if in.err != nil {
					return a.refuse(fmt.Errorf("decode: %w", in.err))
				}
				a.step(in.event())
			case []transport.Message:
				if end := a.messages(in); end {
					return nil
				}
			}
		}
	}
	return a.failure
}

// sayLeaving tells the device that this replica is about to end, if it is, several times a second: the word may be lost.
func (a *cloudAnswer) sayLeaving() {
	if a.ticks++; a.leaving == nil || !a.leaving() || a.ticks%5 != 0 {
		return
	}
	if n, ok := a.exchange.(notifier); ok {
		n.SendLeaving()
	}
}

// messages handles messages of the device that arrived together, and reports whether one ended the answer.
func (a *cloudAnswer) messages(all []transport.Message) (end bool) {
	var events []pair.Event
	for _, m := range all {
		if e := pairEvent(m); e != nil {
			events = append(events, e)
		} else if last, ok := m.(transport.End); ok {
			a.step(events...)
			a.log.Info("answered", "reason", last.Reason, "steps", a.machine.Stats().Steps)
			return true
		} else {
			a.unexpected.Add(a.log, slog.LevelWarn, "unexpected message", "type", fmt.Sprintf("%T", m))
		}
	}
	a.step(events...)
	return false
}

// step passes events to the machine and carries out its actions.
func (a *cloudAnswer) step(events ...pair.Event) {
	var out []transport.Message // together: the drafts of one pass share a datagram
	agreed := a.machine.Stats().Steps
	defer func() {
		if a.machine.Stats().Steps != agreed {
			a.lease.progress()
		}
	}()
	for _, action := range a.machine.Step(events...) {
		switch act := action.(type) {
		case pair.Decode:
			if shared, ok := a.local.Passes.(*batch.Passes); ok {
				shared.SetSlack(a.machine.Slack())
			}
			a.worker.do(act)
		case pair.SendDraft:
			out = append(out, act.Draft)
		case pair.SendTarget:
			out = append(out, act.Target)
		case pair.SendHandover:
			out = append(out, act.Handover)
		case pair.SendNeedSync:
			out = append(out, transport.NeedSync{})
		case pair.Note:
			a.log.Debug("pair", "note", act.Kind, "of", act.Side, "step", act.Step)
		}
	}
	if len(out) == 0 {
		return
	}
	if err := a.exchange.Send(out...); err != nil && a.failure == nil {
		a.failure = err
	}
}

// listen posts the device's messages until the exchange ends. It runs on its own goroutine.
func (a *cloudAnswer) listen() (err error) {
	defer contain("receive", &err)
	for a.ctx.Err() == nil { // a device that sends without end must not keep the slot
		m, err := a.exchange.Receive(a.ctx)
		if err != nil {
			return err
		}
		all := together(a.ctx, a.exchange, m)
		for _, m := range all {
			if last, is := m.(transport.End); is {
				a.endedEarly.Store(last.Reason == pair.ReasonCancelled.String())
				a.ended.Store(true)
			}
		}
		a.post(all)
	}
	return context.Cause(a.ctx)
}

// post puts something into the inbox, unless the answer is over.
func (a *cloudAnswer) post(event any) {
	select {
	case a.inbox <- event:
	case <-a.ctx.Done():
	}
}

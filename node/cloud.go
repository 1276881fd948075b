package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"tandem"
	"tandem/pair"
	"tandem/transport"
)

// Cloud serves devices: it drafts over its own documents in each answer they begin.
type Cloud struct {
	Reader Reader
	Titles bool // tell devices the titles of the documents that were used
	Limit  int  // answers at once, 0 for DefaultLimit; more wait for their turn
	// GiveDocuments lets devices fetch passages, as the baselines DRCG/Text and DRCG/KV do. Without it no
	// document leaves the cloud, whoever asks.
	GiveDocuments bool
	Log           *slog.Logger
	// Observe is told of each answer when it ends; nil when nobody wants to know.
	Observe func(Served)
}

// DefaultLimit is how many answers a cloud drafts for at the same time.
const DefaultLimit = 8

// idle is how long a cloud waits for a device that has the next word. One that is still there says so more often
// (beat); the place of another is wanted.
const idle = time.Minute

var errIdle = fmt.Errorf("the device has said nothing for %v", idle)

// Served is an answer that the cloud took part in.
type Served struct {
	Peer  string // the device's name
	Pair  pair.Stats
	Took  time.Duration
	Error error // nil when the device ended the answer
}

// Serve takes connections until ctx ends or the listener is closed.
func (c *Cloud) Serve(ctx context.Context, l *transport.Listener) error {
	places := newPlaces(c.limit())
	var devices sync.WaitGroup
	defer devices.Wait()
	for {
		conn, err := l.Accept(ctx)
		switch {
		case ctx.Err() != nil || errors.Is(err, transport.ErrClosed):
			return nil
		case err != nil:
			return fmt.Errorf("accept a device: %w", err)
		}
		devices.Go(func() { c.serve(ctx, conn, places) })
	}
}

// serve takes the answers of one connection.
func (c *Cloud) serve(ctx context.Context, conn *transport.Conn, places *places) {
	log := c.log().With("device", conn.Hello().Name)
	log.Info("device connected")
	var answers sync.WaitGroup
	defer answers.Wait()
	for {
		link, begin, err := conn.Accept(ctx)
		if err != nil {
			log.Info("device gone", "reason", err)
			return
		}
		answers.Go(func() {
			defer link.Close()
			leave, err := places.enter(ctx, conn.Peer(), link)
			if err != nil {
				log.Info("gone before its turn", "answer", begin.ID, "reason", err)
				return
			}
			defer leave()
			c.answer(ctx, conn, link, begin)
		})
	}
}

// answer takes part in one answer.
func (c *Cloud) answer(ctx context.Context, conn *transport.Conn, link exchange, begin transport.Begin) {
	peer := conn.Hello().Name
	ctx, gone := context.WithCancelCause(ctx)
	defer gone(nil)
	log := c.log().With("device", peer, "answer", begin.ID)
	start := time.Now()
	a := &serving{conn: conn, link: link, log: log, inbox: make(chan any, inboxSize), ctx: ctx}
	var err error
	if begin.Want == transport.WantDrafts {
		go func() { gone(a.listen()) }() // a device that goes away also stops the reading
		err = c.take(ctx, a, begin)
	} else {
		err = c.baseline(ctx, a, begin)
	}
	if err != nil {
		log.Warn("answer failed", "error", err)
	}
	if c.Observe != nil {
		served := Served{Peer: peer, Took: time.Since(start), Error: err}
		if a.machine != nil {
			served.Pair = a.machine.Stats()
		}
		c.Observe(served)
	}
}

// take reads the question and drafts until the device ends the answer.
func (c *Cloud) take(ctx context.Context, a *serving, begin transport.Begin) error {
	q, s, err := questionOf(begin)
	if err != nil {
		return a.refuse(err)
	}
	own, err := c.Reader.read(ctx, q, s)
	if err != nil {
		return a.refuse(err)
	}
	defer own.Close()
	a.machine = pair.New(s.machine(tandem.Cloud, c.Reader.Model))
	if err := a.link.Send(transport.Ready{Documents: len(own.passages), Prefill: own.took}); err != nil {
		return err
	}
	if err := a.run(own); err != nil {
		return err
	}
	return a.link.Send(sourcesMessage(own.sources(), own.parts(), c.Titles && begin.ShareTitles))
}

// serving is one answer being drafted in the cloud.
type serving struct {
	conn    interface{ RTT() time.Duration } // below link
	link    exchange
	log     *slog.Logger
	ctx     context.Context
	machine *pair.Machine
	worker  *worker
	inbox   chan any // decoded, or a transport.Message
	failure error
}

// refuse tells the device why the cloud cannot take part.
func (a *serving) refuse(err error) error {
	text := err.Error()
	return errors.Join(err, a.link.Send(transport.Fail{Text: text[:min(len(text), transport.MaxText)]}))
}

// run drafts until the device ends the answer.
func (a *serving) run(read producer) error {
	var rest func()
	a.worker, rest = startWorker(a.ctx, read, a.inbox)
	defer rest()
	a.step(pair.Measured{RTT: a.conn.RTT()})
	a.step(pair.Start{})
	clock := time.NewTicker(tickEvery)
	defer clock.Stop()
	silence := time.NewTimer(idle) // anew with each word of the device and each pass of this side
	defer silence.Stop()
	for a.failure == nil {
		select {
		case <-a.ctx.Done():
			return context.Cause(a.ctx)
		case <-silence.C:
			return errIdle
		case <-clock.C:
			a.step(pair.Measured{RTT: a.conn.RTT()})
		case in := <-a.inbox:
			silence.Reset(idle)
			switch in := in.(type) {
			case decoded:
				if in.err != nil {
					return a.refuse(fmt.Errorf("decode: %w", in.err))
				}
				a.step(in.event())
			case transport.Message:
				if end := a.message(in); end {
					return nil
				}
			}
		}
	}
	return a.failure
}

// message handles what the device said, and reports whether it ended the answer.
func (a *serving) message(m transport.Message) (end bool) {
	switch m := m.(type) {
	case tandem.Draft:
		a.step(pair.PeerDraft{Draft: m})
	case tandem.Target:
		a.step(pair.PeerTarget{Target: m})
	case transport.Handover:
		a.step(handoverOf(m))
	case transport.Sync:
		a.step(pair.PeerSync{Epoch: m.Epoch, Tokens: m.Tokens})
	case transport.End:
		a.log.Info("answered", "reason", m.Reason, "steps", a.machine.Stats().Steps)
		return true
	default:
		a.log.Warn("unexpected message", "type", fmt.Sprintf("%T", m))
	}
	return false
}

// step lets the machine see e and carries out what it asks for.
func (a *serving) step(e pair.Event) {
	var out []transport.Message // together: the drafts of one pass share a datagram
	for _, action := range a.machine.Step(e) {
		switch act := action.(type) {
		case pair.Decode:
			a.worker.do(act)
		case pair.SendDraft:
			out = append(out, act.Draft)
		case pair.SendTarget:
			out = append(out, act.Target)
		case pair.SendHandover:
			out = append(out, handoverMessage(act.Handover))
		case pair.SendNeedSync:
			out = append(out, transport.NeedSync{})
		case pair.Note:
			a.log.Debug("pair", "note", act.Kind, "side", act.Side, "step", act.Step)
		}
	}
	if len(out) == 0 {
		return
	}
	if err := a.link.Send(out...); err != nil && a.failure == nil {
		a.failure = err
	}
}

// listen passes on what the device says until the link ends. It runs on its own goroutine.
func (a *serving) listen() error {
	for {
		m, err := a.link.Receive(a.ctx)
		if err != nil {
			return err
		}
		a.tell(m)
	}
}

// tell puts something into the inbox, unless the answer is over.
func (a *serving) tell(what any) {
	select {
	case a.inbox <- what:
	case <-a.ctx.Done():
	}
}

func (c *Cloud) limit() int {
	if c.Limit < 1 {
		return DefaultLimit
	}
	return c.Limit
}

func (c *Cloud) log() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}

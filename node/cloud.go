package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"tandem"
	"tandem/internal/sparing"
	"tandem/node/batch"
	"tandem/pair"
	"tandem/specdec"
	"tandem/transport"
)

// CloudConfig configures a Cloud.
type CloudConfig struct {
	Local  Local
	Titles bool         // send devices the titles of the documents that were used
	Quotes bool         // send devices the sentences that say the answer, and passages that come close if nobody knows
	Batch  *batch.Batch // computes the passes of all answers together; nil to compute those of each alone
	Limit  int          // most answers at once, 0 for 8; others wait for their turn
	// Documents and Tokens bound the passages to read for a question and the length of an answer, whatever the device asks for.
	// The device learns the latter, since both sides must end an answer at the same token; a baseline's longer answer is refused.
	// Memory for keys and values grows with both. 0 for the protocol's own bounds.
	Documents, Tokens int
	// KVMemory bounds the bytes of keys and values of all answers together, 0 for no bound. An answer waits for its share as it
	// waits for its turn.
	KVMemory int64
	// GiveDocuments lets devices fetch passages, as the baselines DRCG/Text and DRCG/KV do. Without it no document leaves
	// the cloud.
	GiveDocuments bool
	// Priority returns a device's priority; nil if all have the same.
	Priority func(transport.ID) Priority
	// Name returns the operator's name of a device for the log. If it is nil or returns "", the log has the name that the device
	// gives itself.
	Name func(transport.ID) string
	Log  *slog.Logger
	// Observe is called with each answer when it ends; it may be nil.
	Observe func(Served)
}

// Cloud serves devices: it drafts over its own documents in each of their answers. Its configuration must not change once it
// serves.
type Cloud struct {
	CloudConfig

	memory                        budget
	slots                         *slots          // of all answers
	histories                     histories       // if Local.Draft reads one
	drain                         context.Context // ends when draining begins
	beginDrain                    context.CancelFunc
	connected, waiting, answering atomic.Int64
	present                       counter // of the questions that wait or are answered

	mu       sync.Mutex
	warnings map[deviceMatter]*sparing.Log // under mu; at most as many for a matter as there are paired devices
}

// NewCloud returns a cloud that nobody has asked yet.
func NewCloud(cfg CloudConfig) *Cloud {
	c := &Cloud{CloudConfig: cfg, warnings: map[deviceMatter]*sparing.Log{}}
	c.memory.total = c.KVMemory
	c.slots = newSlots(c.limit(), &c.memory)
	c.drain, c.beginDrain = context.WithCancel(context.Background())
	return c
}

// Drain refuses the devices' new questions and those that wait from now on, tells the devices of the others to move to another
// replica, and returns when no answer is left or ctx has ended, with its error. Questions in Alone are answered. Serve continues
// until its own context ends.
func (c *Cloud) Drain(ctx context.Context) error {
	c.beginDrain()
	none := c.present.whenEmpty()
	select {
	case <-none:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-none: // whatever the time
		return nil
	default:
		return context.Cause(ctx)
	}
}

// draining reports whether draining has begun.
func (c *Cloud) draining() bool { return c.drain.Err() != nil }

// defaultLimit is how many answers a cloud drafts for at the same time.
const defaultLimit = 8

// idle is how long a cloud waits for a device whose turn it is. A device that is still there says so more often (beat);
// the slot of any other is freed.
const idle = time.Minute

var errIdle = retryError{fmt.Errorf("the device has said nothing for %v", idle)}

// Served is an answer that the cloud took part in.
type Served struct {
	Pair  pair.Stats
	Took  time.Duration
	Error error // nil when the device ended the answer

	Cancelled bool // the device ended it before its end
}

// Serve takes connections until ctx ends or the listener is closed.
func (c *Cloud) Serve(ctx context.Context, l *transport.Listener) error {
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
		devices.Go(func() { c.serve(ctx, conn) })
	}
}

// serve takes the answers of one connection.
func (c *Cloud) serve(ctx context.Context, conn *transport.Conn) {
	c.logOf(conn).Info("device connected")
	defer during(&c.connected)()
	var answers sync.WaitGroup
	defer answers.Wait()
	for {
		exchange, begin, err := conn.Accept(ctx)
		switch {
		case errors.Is(err, transport.ErrHungUp):
			c.logOf(conn).Info("device disconnected")
			return
		case err != nil:
			c.logOf(conn).Info("device gone", "reason", err)
			return
		}
		answers.Go(func() {
			defer exchange.Close()
			err := c.answerInTurn(ctx, conn, exchange, begin)
			switch log := c.logOf(conn).With("answer", begin.ID); {
			case err == nil:
			case errors.As(err, new(turnedAway)) && !errors.Is(err, errDraining):
				c.warn(log, conn, "refused", "reason", err)
			case errors.As(err, new(turnedAway)):
				log.Info("refused", "reason", err)
			default:
				log.Info("gone before its turn", "reason", err)
			}
		})
	}
}

// answerContained takes part in one answer. A fault of the program ends that answer only.
func (c *Cloud) answerContained(lease *lease, conn *transport.Conn, exchange exchange, begin transport.Begin) {
	var err error
	start := time.Now()
	defer func() {
		if err == nil {
			return
		}
		logFault(c.log().With("answer", begin.ID), err)
		exchange.Send(transport.Fail{Text: "the cloud failed at this question"})
		if c.Observe != nil {
			c.Observe(Served{Took: time.Since(start), Error: err})
		}
	}()
	defer contain("answer", &err)
	c.answer(lease, conn, exchange, begin)
}

// answer takes part in one answer.
func (c *Cloud) answer(lease *lease, conn *transport.Conn, exchange exchange, begin transport.Begin) {
	ctx, gone := context.WithCancelCause(lease.ctx)
	var listener sync.WaitGroup
	defer listener.Wait()
	defer gone(nil)
	log := c.logOf(conn).With("answer", begin.ID)
	start := time.Now()
	local := c.local(conn.Peer())
	local.Log = log
	a := &cloudAnswer{local: local, conn: conn, exchange: exchange, log: log, inbox: make(chan any, inboxSize), ctx: ctx, lease: lease, leaving: c.draining}
	var err error
	if over := c.checkLimits(begin.Settings); over != nil {
		err = a.refuse(over)
	} else if begin.Want == tandem.WantDrafts {
		listener.Go(func() { gone(a.listen()) }) // a device that goes away also stops the reading
		err = c.draft(ctx, a, begin)
	} else {
		lease.progressed.Store(-1)
		err = c.baseline(ctx, a, begin)
	}
	cancelled := a.cancelled(err)
	if err = a.realError(err); err != nil {
		c.warn(log, conn, "answer failed", "error", err)
		logFault(log, err)
	}
	if c.Observe != nil {
		served := Served{Took: time.Since(start), Error: err, Cancelled: cancelled && err == nil}
		if a.machine != nil {
			served.Pair = a.machine.Stats()
		}
		c.Observe(served)
	}
}

// draft reads the question and drafts until the device ends the answer.
func (c *Cloud) draft(ctx context.Context, a *cloudAnswer, begin transport.Begin) error {
	q, s, err := questionOf(begin)
	if err != nil {
		return a.refuse(err)
	}
	limit := c.boundTokens(&s)
	own, err := a.local.read(ctx, q, s)
	if err != nil {
		return a.refuse(err)
	}
	defer own.Close()
	a.machine = pair.New(c.Local.pairConfig(s, tandem.Cloud))
	defer func() { c.Local.Past.learn(a.machine) }()
	if err := a.exchange.Send(transport.Ready{Documents: len(own.passages), Prefill: own.took, MaxTokens: int32(limit)}); err != nil {
		return err
	}
	if err := a.run(own); err != nil {
		return err
	}
	if err := a.local.remember(a.machine.Answer()); err != nil {
		a.log.Warn("the answer is not kept for drafts", "error", err)
	}
	if err := own.Finish(ctx, a.machine.Answer()); err != nil && ctx.Err() == nil {
		a.log.Warn("the answer's end is not cited", "error", err)
	}
	return a.exchange.Send(sourcesMessage(own.sources(), own.parts(), c.Titles && begin.ShareTitles, c.Quotes && begin.ShareTitles))
}

// local returns what the cloud answers a device with.
func (c *Cloud) local(device transport.ID) Local {
	own := c.Local
	if own.Draft.Has(specdec.WithHistory) {
		own.Resources.History = c.histories.forDevice(device)
	}
	if c.Batch != nil {
		own.Passes = c.Batch.NewPasses(device.String(), c.priority(device).share())
	}
	return own
}

func (c *Cloud) priority(device transport.ID) Priority {
	if c.Priority == nil {
		return Normal
	}
	return c.Priority(device)
}

func (c *Cloud) limit() int {
	if c.Limit < 1 {
		return defaultLimit
	}
	return c.Limit
}

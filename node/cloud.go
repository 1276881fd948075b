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
	// Documents and Tokens bound the passages to read for a question, whatever the device asks for, and the length of an answer:
	// longer ones are refused, since both sides must end an answer at the same token; one without a device ends there. Memory for
	// keys and values grows with both. 0 for the protocol's own bounds.
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

// ErrLater is in the errors of questions that a cloud does not take now, although another replica or the same one later can.
var ErrLater = errors.New("ask again later")

// retryError is the reason why a cloud does not take part now.
type retryError struct{ error }

// Is makes it an ErrLater.
func (retryError) Is(target error) bool { return target == ErrLater }

var errDraining = retryError{errors.New("it is shutting down: ask again in a moment")}

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
	Peer  string // the device's name
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
		link, begin, err := conn.Accept(ctx)
		switch {
		case errors.Is(err, transport.ErrHungUp):
			c.logOf(conn).Info("device disconnected")
			return
		case err != nil:
			c.logOf(conn).Info("device gone", "reason", err)
			return
		}
		answers.Go(func() {
			defer link.Close()
			err := c.answerInTurn(ctx, conn, link, begin)
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

// answerInTurn takes part in one answer when there is a slot for it.
func (c *Cloud) answerInTurn(ctx context.Context, conn *transport.Conn, link *transport.Exchange, begin transport.Begin) error {
	defer c.present.enter()()
	entered := during(&c.waiting)
	defer func() { entered() }()
	c.boundDocuments(&begin.Settings)
	need := c.needs(begin)
	if err := c.memory.neverFits(need); err != nil {
		return turnAway(link, err)
	}
	if c.draining() {
		return turnAway(link, errDraining)
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(c.drain, stop)()
	lease, err := c.slots.enter(ctx, waiting, conn, c.priority(conn.Peer()), need, link)
	switch {
	case err != nil && c.draining() && ctx.Err() == nil:
		return turnAway(link, errDraining)
	case errors.As(err, new(retryError)):
		return turnAway(link, err)
	case err != nil:
		return err
	}
	defer c.slots.release(lease)
	if c.draining() {
		return turnAway(link, errDraining)
	}
	defer during(&c.answering)()
	entered()
	entered = func() {}
	c.answerContained(lease, conn, link, begin)
	return nil
}

// turnedAway is why a question was refused before its turn.
type turnedAway struct{ error }

func (e turnedAway) Unwrap() error { return e.error }

// turnAway tells a device why its question is refused, and returns that.
func turnAway(link exchange, why error) error {
	return turnedAway{(&cloudSession{link: link}).refuse(why)}
}

// Alone gives an answer in which no device takes part, when there is a slot for it, as if a device had asked. answer gets the
// settings within the cloud's bounds, and must return once its context ends.
func (c *Cloud) Alone(ctx context.Context, q Question, s tandem.Settings, answer func(context.Context, tandem.Settings) error) error {
	if err := checkSettings(s); err != nil {
		return err
	}
	c.boundDocuments(&s)
	if c.Tokens > 0 {
		s.MaxTokens = min(s.MaxTokens, c.Tokens) // no other side must end the answer at the same token
	}
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

// answerContained takes part in one answer. A fault of the program ends that answer only.
func (c *Cloud) answerContained(lease *lease, conn *transport.Conn, link exchange, begin transport.Begin) {
	var err error
	start := time.Now()
	defer func() {
		if err == nil {
			return
		}
		logFault(c.log().With("answer", begin.ID), err)
		link.Send(transport.Fail{Text: "the cloud failed at this question"})
		if c.Observe != nil {
			c.Observe(Served{Peer: c.nameOf(conn), Took: time.Since(start), Error: err})
		}
	}()
	defer contain("answer", &err)
	c.answer(lease, conn, link, begin)
}

// answer takes part in one answer.
func (c *Cloud) answer(lease *lease, conn *transport.Conn, link exchange, begin transport.Begin) {
	ctx, gone := context.WithCancelCause(lease.ctx)
	var listener sync.WaitGroup
	defer listener.Wait()
	defer gone(nil)
	log := c.logOf(conn).With("answer", begin.ID)
	start := time.Now()
	local := c.local(conn.Peer())
	local.Log = log
	a := &cloudSession{local: local, conn: conn, link: link, log: log, inbox: make(chan any, inboxSize), ctx: ctx, lease: lease, leaving: c.draining}
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
		served := Served{Peer: c.nameOf(conn), Took: time.Since(start), Error: err, Cancelled: cancelled && err == nil}
		if a.machine != nil {
			served.Pair = a.machine.Stats()
		}
		c.Observe(served)
	}
}

// draft reads the question and drafts until the device ends the answer.
func (c *Cloud) draft(ctx context.Context, a *cloudSession, begin transport.Begin) error {
	q, s, err := questionOf(begin)
	if err != nil {
		return a.refuse(err)
	}
	own, err := a.local.read(ctx, q, s)
	if err != nil {
		return a.refuse(err)
	}
	defer own.Close()
	a.machine = pair.New(c.Local.pairConfig(s, tandem.Cloud))
	defer func() { c.Local.Past.learn(a.machine) }()
	if err := a.link.Send(transport.Ready{Documents: len(own.passages), Prefill: own.took}); err != nil {
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
	return a.link.Send(sourcesMessage(own.sources(), own.parts(), c.Titles && begin.ShareTitles, c.Quotes && begin.ShareTitles))
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

// nameOf returns what the operator calls a device, else what it calls itself.
func (c *Cloud) nameOf(conn *transport.Conn) string {
	if c.Name != nil {
		if name := c.Name(conn.Peer()); name != "" {
			return name
		}
	}
	return conn.Hello().Name
}

// logOf returns the log with what tells a device from others: names need not differ.
func (c *Cloud) logOf(conn *transport.Conn) *slog.Logger {
	return c.log().With("device", c.nameOf(conn), "key", conn.Peer().Short())
}

// warn logs what a device has caused. About one matter a device has a line each minute, however often it asks.
func (c *Cloud) warn(log *slog.Logger, conn *transport.Conn, text string, args ...any) {
	matter := deviceMatter{conn.Peer(), text}
	c.mu.Lock()
	if c.warnings[matter] == nil {
		c.warnings[matter] = new(sparing.Log)
	}
	spare := c.warnings[matter]
	c.mu.Unlock()
	spare.Add(log, slog.LevelWarn, text, args...)
}

// deviceMatter is something that a cloud logs about a device.
type deviceMatter struct {
	device transport.ID
	text   string
}

func (c *Cloud) limit() int {
	if c.Limit < 1 {
		return defaultLimit
	}
	return c.Limit
}

func (c *Cloud) log() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}

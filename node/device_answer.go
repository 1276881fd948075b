package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/model/tokenizer"
	"tandem/node/presence"
	"tandem/pair"
	"tandem/transport"
)

// deviceAnswer is one answer in the making. It belongs to one goroutine. The others, which run dial and migrate, read only what
// never changes, and post to the inbox. Before run, a baseline has one more goroutine (Device.fetchPassages,
// Device.receiveCloudAnswer), which sets the connection and what is known of the cloud's part.
type deviceAnswer struct {
	cloudState
	transcript
	log      *slog.Logger
	start    time.Time
	measured measurements // of delays
	past     *Past

	ctx   context.Context // of who asked
	line  context.Context // of dialling, listening and the last words: it outlives ctx if who asked has enough
	stop  func()
	inbox chan any // what other goroutines post: decoded, replica, exchangeEnded, received, *busyNotice
	queue []any    // what is to be handled: the same, and what follows from it: pairEvents, presenceEvent, fromCloud

	machine  *pair.Machine
	worker   *worker
	decodeID uint64 // the ID of the Decode in progress, 0 for none
	done     bool
	failure  error

	presence *presence.Machine // nil for no cloud
	clock    activeClock       // the clock of presence
	patience Patience
	require  bool // fail instead of going on without the cloud
	alone    bool // the device continues alone
}

// pairEvents are events for the pair's machine, which happened together.
type pairEvents []pair.Event

// presenceEvent is an event for presence.
type presenceEvent struct {
	event presence.Event
	ago   time.Duration // that it happened
	cause *cause        // nil if only presence knows why the device continues alone
}

// activeClock is a clock that stands still while the program does: while it is stopped, or its machine sleeps. Nobody was
// waiting for the cloud then.
type activeClock struct{ last, paused time.Duration }

// minPause is longer than a running program goes without reading its clock, which it does every tickEvery.
const minPause = time.Second

// read returns the time by this clock. now is the time by one that never stands still.
func (c *activeClock) read(now time.Duration) time.Duration {
	if gap := now - c.last; gap > minPause {
		c.paused += gap - tickEvery
	}
	c.last = now
	return now - c.paused
}

// cause is why the cloud does not take part any more.
type cause struct {
	text   string
	tokens int  // of the answer before that
	always bool // say so even if the device answers alone already
}

const (
	tickEvery = presence.Every
	inboxSize = 64
)

func newDeviceAnswer(ctx context.Context, cfg pair.Config, text speller, emit func(Token)) *deviceAnswer {
	a := &deviceAnswer{
		transcript: transcript{emit: emit, speller: text},
		start:      time.Now(),
		machine:    pair.New(cfg),
		inbox:      make(chan any, inboxSize),
	}
	var stop, hangUp context.CancelFunc
	a.ctx, stop = context.WithCancel(ctx)
	a.line, hangUp = untilUnwanted(ctx)
	a.stop = func() { stop(); hangUp() }
	return a
}

// untilUnwanted returns a context that ends with ctx, unless who asked has enough. Both sides then still say where the answer is
// from. cancel ends it.
func untilUnwanted(ctx context.Context) (line context.Context, cancel context.CancelFunc) {
	line, end := context.WithCancel(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), ErrEnough) {
			end()
		}
	})
	return line, func() { release(); end() }
}

// Patience says how long the device waits for the cloud.
type Patience = presence.Patience

// DefaultPatience is the patience of a device that sets none.
var DefaultPatience = presence.DefaultPatience

// reach starts to dial, so that the cloud reads while the device reads.
func (a *deviceAnswer) reach(p Patience, cloud reachable) {
	a.cloud, a.patience, a.presence = cloud, p, presence.New(p, a.clock.read(time.Since(a.start)))
	a.process(presenceEvent{event: presence.Tick})
}

// run answers until the machine finishes, ctx ends or the answer fails.
func (a *deviceAnswer) run(own producer) error {
	var stop func()
	a.worker, stop = startWorker(a.ctx, own, a.inbox)
	defer stop()
	a.process(presenceEvent{event: presence.Listening})
	a.process(pairEvents{pair.Start{Alone: a.presence == nil || a.alone}})
	clock := time.NewTicker(tickEvery)
	defer clock.Stop()
	for !a.done {
		select {
		case <-a.ctx.Done():
			a.fail(context.Cause(a.ctx))
			a.drainQueue()
		case <-clock.C:
			a.tick()
		case in := <-a.inbox:
			a.process(in)
		}
	}
	return a.failure
}

// tick does what is due every tickEvery.
func (a *deviceAnswer) tick() {
	a.reportRTT()
	a.reportEcho()
	a.drainQueue()
	if a.decodeID != 0 {
		a.process(presenceEvent{event: presence.Computing})
	}
	a.reportOthers()
	a.process(presenceEvent{event: presence.Tick})
}

// process handles something that happened, and what follows from it.
func (a *deviceAnswer) process(event any) {
	a.enqueue(event)
	a.drainQueue()
}

// enqueue queues something that happened. What handles an event only queues what follows from it, so all actions of one step of the
// machine, or of presence, are carried out before the next step. Otherwise tokens and Decodes of a later step would come first.
func (a *deviceAnswer) enqueue(event any) { a.queue = append(a.queue, event) }

// drainQueue handles what is queued. What follows from an event comes before what was queued behind it.
func (a *deviceAnswer) drainQueue() {
	for len(a.queue) > 0 {
		next, rest := a.queue[0], a.queue[1:]
		a.queue = nil
		a.handle(next)
		a.queue = append(a.queue, rest...)
	}
}

// handle handles one event.
func (a *deviceAnswer) handle(event any) {
	switch what := event.(type) {
	case pairEvents:
		a.step(what...)
	case presenceEvent:
		a.stepPresence(what)
	case decoded:
		a.handleDecoded(what)
	case replica:
		a.handleAsked(what)
	case exchangeEnded:
		a.handleExchangeEnded(what)
	case received:
		a.unpack(what)
	case *busyNotice:
		a.unpack(received{what.exchange, []transport.Message{*what.latest.Swap(nil)}})
	case fromCloud:
		a.handleFromCloud(what)
	}
}

// handleDecoded handles the outcome of a Decode.
func (a *deviceAnswer) handleDecoded(d decoded) {
	if d.id != a.decodeID {
		return // superseded, but too late to be preempted
	}
	a.decodeID = 0
	if d.err != nil {
		a.fail(fmt.Errorf("decode: %w", d.err))
		return
	}
	if len(d.branches)+len(d.chain) == 0 {
		a.measured.observe(d.out)
	}
	a.record.decode(d)
	a.step(d.event())
}

// step passes events to the machine and carries out its actions.
func (a *deviceAnswer) step(events ...pair.Event) {
	for _, action := range a.machine.Step(events...) {
		if a.done {
			break // an action before this one ended the answer
		}
		a.act(action)
	}
	a.flush()
}

// act carries out an action of the machine.
func (a *deviceAnswer) act(action pair.Action) {
	switch act := action.(type) {
	case pair.Decode:
		a.decodeID = act.ID
		a.worker.do(act)
	case pair.SendDraft:
		a.record.draft(tandem.Device, act.Draft)
		a.send(act.Draft)
	case pair.SendTarget:
		a.send(act.Target)
	case pair.SendHandover:
		a.send(act.Handover)
	case pair.SendSync:
		a.send(transport.Sync{Epoch: act.Epoch, Tokens: act.Tokens, DeviceLeads: act.Lead == tandem.Device})
	case pair.Emit:
		a.record.target(act)
		a.show(act)
		if !act.Alone {
			a.enqueue(presenceEvent{event: presence.Agreed})
		}
	case pair.Finish:
		a.answer.Reason, a.done = act.Reason, true
	case pair.Note:
		a.handleNote(act)
	}
}

// handleNote handles a note of the machine.
func (a *deviceAnswer) handleNote(n pair.Note) {
	a.record.note(n)
	a.log.Debug("pair", "note", n.Kind, "of", n.Side, "step", n.Step)
	if n.Kind != pair.NoteDistrust {
		return
	}
	if a.cloudErr = ErrDistrusted; a.require { // before the tokens that the device then decides alone
		a.fail(a.noCloudError())
		return
	}
	why := &cause{text: "the cloud keeps contradicting what was agreed", tokens: int(n.Step), always: true}
	a.enqueue(presenceEvent{event: presence.Distrusted, cause: why})
}

// stepPresence passes an event to presence and carries out its actions.
func (a *deviceAnswer) stepPresence(e presenceEvent) {
	parted := false
	if a.presence != nil && !a.done {
		for _, act := range a.presence.Step(a.clock.read(time.Since(a.start))-e.ago, e.event) {
			parted = parted || act == presence.GoAlone
			a.actPresence(act, e.cause)
		}
	}
	if e.cause != nil && e.cause.always && !parted {
		a.remark("%s", e.cause.text)
	}
}

// actPresence carries out an action of presence, which may have a cause.
func (a *deviceAnswer) actPresence(act presence.Action, why *cause) {
	switch act {
	case presence.Dial:
		go a.dial(0)
	case presence.Seek:
		a.seeks++
		go a.dial(a.seeks, a.addr)
	case presence.Drop:
		a.dropOther("not needed")
	case presence.Switch:
		a.switchOver()
	case presence.Join:
		a.join()
	case presence.GoAlone:
		a.goAlone(why)
	case presence.Migrate:
		go a.migrate(a.conn, a.patience.Silent)
	}
}

// goAlone continues without the cloud, or ends the answer if it requires the cloud.
func (a *deviceAnswer) goAlone(c *cause) {
	if c == nil {
		c = &cause{text: a.busyText(), tokens: len(a.answer.Tokens)}
	}
	if c.text == "" && a.contact == contactUnknown {
		a.contact = contactFailed
	}
	a.alone = true
	if a.require { // the error says why
		a.fail(a.noCloudError())
		return
	}
	switch {
	case c.tokens > 0 && c.text != "":
		a.remark("%s: after %s the device answers alone", c.text, tokens(c.tokens))
	case c.tokens > 0:
		a.remark("the cloud went away after %s: the device continues alone", tokens(c.tokens))
	default:
		why := cmp.Or(c.text, strings.NewReplacer("\n", "; ", "transport: ", "").Replace(a.noCloudError().Error()))
		a.remark("%s: the device answers alone", why)
	}
	a.enqueue(pairEvents{pair.PeerLost{}})
}

func tokens(n int) string {
	if n == 1 {
		return "1 token"
	}
	return fmt.Sprintf("%d tokens", n)
}

// noCloudError returns ErrNoCloud, with its cause if that is known.
func (a *deviceAnswer) noCloudError() error {
	var differ *transport.MismatchError
	switch {
	case a.busy != nil:
		return unusableCloud{errors.New(a.busyText())}
	case a.cloudErr == nil && a.joined && len(a.answer.Tokens) > 0:
		return unusableCloud{fmt.Errorf("the cloud fell silent or was too slow after %s", tokens(len(a.answer.Tokens)))}
	case a.cloudErr == nil && a.contact == contactMade:
		return unusableCloud{errors.New("the cloud did not begin in time")}
	case a.cloudErr == nil: // it may be there, and far away
		return unusableCloud{fmt.Errorf("the cloud did not answer within %v (--wait)", a.patience.Join)}
	case errors.As(a.cloudErr, &differ):
		return unusableCloud{a.cloudErr}
	case errors.Is(a.cloudErr, io.EOF) && !a.joined: // as it does with a question that it cannot read
		return unusableCloud{errors.New("the cloud hung up on the question and gave no reason: it may run another release that does not know all of the question's settings")}
	}
	return fmt.Errorf("%w: %w", ErrNoCloud, a.cloudErr)
}

// unusableCloud is the error for a cloud that is there but cannot take part, so it does not say that none is.
type unusableCloud struct{ error }

func (e unusableCloud) Unwrap() []error { return []error{ErrNoCloud, e.error} }

// fail ends the answer before its end.
func (a *deviceAnswer) fail(err error) {
	a.failure, a.done, a.answer.Reason = err, true, pair.ReasonCancelled
	a.enqueue(pairEvents{pair.Cancel{}})
}

// muted computes nothing: it drafts the end of the answer, with an aggregation weight so low that the other side's
// distribution becomes the target.
type muted struct{ out decoder.Output }

func newMuted(tok *tokenizer.Tokenizer) muted {
	end := append(tok.EOGs(), 0)[:1]
	return muted{decoder.Output{Dist: tandem.Dist{IDs: end, Weights: []uint32{tandem.Mass}}, H: tandem.FixedOf(math.Inf(-1))}}
}

func (m muted) Next(context.Context, int, []tandem.Token) (decoder.Output, error) { return m.out, nil }

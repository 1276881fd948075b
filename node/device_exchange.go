package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"tandem"
	"tandem/node/presence"
	"tandem/node/replicas"
	"tandem/pair"
	"tandem/transport"
)

// This file has the part of an answer that reaches the cloud and listens to it.

// cloudState is what an answer knows of the cloud, and how it reaches it.
type cloudState struct {
	cloud          reachable           // nil for no cloud
	replica                            // the one in use; its exchange is nil when there is none
	other          candidate           // another replica that is being asked, too
	seeks          int                 // how often another one was sought
	limit          int                 // of the replica in use on the answer's tokens; 0 for none below the device's
	joined         bool                // the pair's machine works over it; what it sends before that is for the replica that was in use before
	outbox         []transport.Message // what goes out together
	busy           *transport.Busy     // what the replica in use said last of its queue; nil if it has a place
	contact        contact
	cloudErr       error   // why the last exchange ended, or a dial failed
	earlierTraffic Traffic // of the replicas that were in use before
}

// contact is whether an answer could reach the cloud.
type contact uint8

const (
	contactUnknown contact = iota
	contactFailed
	contactMade
)

// exchange is one answer's two-way flow of messages: a *transport.Exchange, or one end of a pipe in tests.
type exchange interface {
	Send(...transport.Message) error // those of one call together
	Receive(context.Context) (transport.Message, error)
	More() bool // the next Receive does not wait
	Close() error
}

// notifier is an exchange over which the cloud also says that the device must wait, or that the cloud is about to end.
// Such words may be lost, so it repeats them.
type notifier interface {
	SendBusy(before int, about time.Duration)
	SendLeaving()
}

// cloudConn is the connection to a cloud, below an exchange: a *transport.Conn, or a toy in tests.
type cloudConn interface {
	LastHeard() time.Time
	RTT() time.Duration
	Stats() transport.Stats
	Migrate(ctx context.Context, pc net.PacketConn) error
}

// reachable is a cloud as an answer sees it: a RemoteCloud with the question, or a toy in tests.
type reachable interface {
	// open sends the question to the best replica that has none of the addresses.
	open(ctx context.Context, except ...string) (replica, error)
	// others reports whether another replica than those at the addresses may have a place.
	others(at string, also ...string) bool
	// note keeps what happened at an address, for the next choice.
	note(at string, e replicas.Event, d time.Duration)
}

// What the goroutines that dial and listen post.
type (
	// replica is one that has the question.
	replica struct {
		conn        cloudConn
		exchange    exchange
		statsBefore transport.Stats // of conn, before this answer
		addr        string
		reused      bool // conn is of an earlier answer, so the cloud may have gone since
		seek        int  // which seek it comes from, if it is to take the place of the one in use; or 0
	}
	// exchangeEnded has no exchange if a dial failed.
	exchangeEnded struct {
		exchange exchange
		seek     int
		err      error
	}
	received struct {
		exchange exchange
		messages []transport.Message // that arrived together
	}
	// busyNotice is what a cloud without a place says of its queue, several times a second. While a device reads, it grows
	// old, so only the latest counts.
	busyNotice struct {
		exchange exchange
		latest   atomic.Pointer[transport.Busy] // nil once it is taken
	}
)

const (
	openWithin = 10 * time.Second // to connect and to send the question
	beat       = idle / 3         // silence of the cloud after which the device says that it is still there
)

// handleAsked takes a replica that has the question: the one to use, or another one that a seek has found.
func (a *deviceAnswer) handleAsked(r replica) {
	if r.seek != 0 {
		a.handleOtherAsked(r)
		return
	}
	a.use(r)
	a.reportRTT()
	a.enqueue(presenceEvent{event: presence.Connected})
}

// use continues with a replica.
func (c *cloudState) use(r replica) {
	c.earlierTraffic = c.traffic()
	c.replica, c.limit, c.joined, c.busy, c.cloudErr = r, 0, false, nil, nil
	if !r.reused {
		c.contact = contactMade
	}
}

// traffic is what the answer has cost on the network so far.
func (c *cloudState) traffic() Traffic {
	if c.conn == nil {
		return c.earlierTraffic
	}
	return c.earlierTraffic.plus(trafficSince(c.conn.Stats(), c.statsBefore))
}

// busyText says what a cloud without a place says, and when to come back. It returns "" for one that has a place.
func (c *cloudState) busyText() string {
	if c.busy == nil {
		return ""
	}
	about := ""
	if c.busy.About > 0 {
		about = fmt.Sprintf(", about %v", max(c.busy.About, time.Second).Round(time.Second))
	}
	return fmt.Sprintf("the cloud is busy (%d questions before this one%s)", c.busy.Before, about)
}

// dial connects, asks the question and listens until the exchange ends. It runs on its own goroutine. seek is the number of
// the seek, 0 for the replica to use.
func (a *deviceAnswer) dial(seek int, except ...string) {
	ctx, cancel := context.WithTimeout(a.line, openWithin)
	defer cancel()
	up, err := a.cloud.open(ctx, except...)
	if err != nil {
		a.post(exchangeEnded{seek: seek, err: err})
		return
	}
	defer up.exchange.Close()
	up.seek = seek
	a.post(up)
	queue := &busyNotice{exchange: up.exchange}
	for {
		m, err := a.hear(up.exchange)
		switch busy, ok := m.(transport.Busy); {
		case err != nil:
			a.post(exchangeEnded{exchange: up.exchange, seek: seek, err: err})
			return
		case ok && queue.latest.Swap(&busy) == nil:
			a.postFrom(up.exchange, queue)
		case m != nil && !ok:
			a.postFrom(up.exchange, received{up.exchange, together(a.line, up.exchange, m)})
		}
	}
}

// postFrom posts what came over an exchange. A device that reads takes nothing from the inbox; where that is full, postFrom shows the
// cloud meanwhile that the device is there.
func (a *deviceAnswer) postFrom(exchange exchange, event any) {
	select {
	case a.inbox <- event:
		return
	default:
	}
	still := time.NewTicker(beat)
	defer still.Stop()
	for {
		select {
		case a.inbox <- event:
			return
		case <-still.C:
			exchange.Send(transport.Sync{})
		case <-a.line.Done():
			return
		}
	}
}

// hear returns the cloud's next message, or nil after a while of silence. The cloud may be waiting for this side, since a
// phone can read for minutes. So before it returns nil, hear sends a Sync of an epoch that is over: it changes nothing,
// and shows that the device is there.
func (a *deviceAnswer) hear(exchange exchange) (transport.Message, error) {
	ctx, cancel := context.WithTimeout(a.line, beat)
	defer cancel()
	m, err := exchange.Receive(ctx)
	if errors.Is(err, context.DeadlineExceeded) && a.line.Err() == nil {
		return nil, exchange.Send(transport.Sync{})
	}
	return m, err
}

// together returns a message with those that have arrived behind it.
func together(ctx context.Context, exchange exchange, m transport.Message) []transport.Message {
	all := []transport.Message{m}
	for exchange.More() && len(all) < inboxSize {
		m, err := exchange.Receive(ctx)
		if err != nil {
			break // the next Receive says so again
		}
		all = append(all, m)
	}
	return all
}

// post puts something into the inbox, unless the answer is over.
func (a *deviceAnswer) post(event any) {
	select {
	case a.inbox <- event:
	case <-a.line.Done():
	}
}

// migrate takes the connection to a new socket if the cloud can be reached from there in time. Otherwise the connection
// stays where it is.
func (a *deviceAnswer) migrate(conn cloudConn, within time.Duration) {
	ctx, cancel := context.WithTimeout(a.line, within)
	defer cancel()
	if err := conn.Migrate(ctx, nil); err != nil {
		a.log.Info("no other path to the cloud", "error", err)
		return
	}
	a.log.Info("moved to another local address")
}

// fromCloud is what came from a cloud: messages for the machine, which takes those together that arrived together, or
// another one.
type fromCloud struct {
	exchange exchange
	events   []pair.Event // what those for the machine tell it
	message  transport.Message
}

// unpack queues what arrived on an exchange.
func (a *deviceAnswer) unpack(in received) {
	if in.exchange == a.exchange {
		a.contact = contactMade
		a.enqueue(presenceEvent{event: presence.Heard})
	}
	var events []pair.Event
	pass := func() {
		if len(events) > 0 {
			a.enqueue(fromCloud{exchange: in.exchange, events: events})
		}
		events = nil
	}
	for _, m := range in.messages {
		if e := pairEvent(m); e != nil {
			events = append(events, e)
			continue
		}
		pass()
		a.enqueue(fromCloud{exchange: in.exchange, message: m})
	}
	pass()
}

// handleFromCloud handles what a cloud said, unless its exchange was given up.
func (a *deviceAnswer) handleFromCloud(m fromCloud) {
	switch {
	case m.exchange == a.exchange && m.message != nil:
		a.handleMessage(m.message)
	case m.exchange == a.exchange:
		for _, e := range m.events {
			if d, ok := e.(pair.PeerDraft); ok {
				a.record.draft(tandem.Cloud, d.Draft)
			}
		}
		a.step(m.events...)
	case m.exchange == a.other.exchange && m.message != nil:
		a.handleOtherMessage(m.message)
	case m.exchange == a.other.exchange:
		a.log.Warn("unexpected message before the cloud was ready", "type", fmt.Sprintf("%T", m.events[0]))
	}
}

// pairEvent returns what a message tells the pair's machine on either side, nil for other messages.
func pairEvent(m transport.Message) pair.Event {
	switch m := m.(type) {
	case tandem.Draft:
		return pair.PeerDraft{Draft: m}
	case tandem.Target:
		return pair.PeerTarget{Target: m}
	case tandem.Handover:
		return pair.PeerHandover{Handover: m}
	case transport.NeedSync:
		return pair.PeerNeedSync{}
	case transport.Sync:
		e := pair.PeerSync{Epoch: m.Epoch, Tokens: m.Tokens, Lead: tandem.Cloud}
		if m.DeviceLeads {
			e.Lead = tandem.Device
		}
		return e
	}
	return nil
}

// handleMessage handles another message of the cloud.
func (a *deviceAnswer) handleMessage(m transport.Message) {
	switch m := m.(type) {
	case transport.Busy:
		if a.joined { // overtaken by Ready: it has a place
			return
		}
		if a.answer.Waited == 0 {
			a.log.Info("the cloud is busy", "before", m.Before, "about", m.About)
		}
		a.answer.Waited = max(a.answer.Waited, m.Before+1)
		a.busy = &m
		a.cloud.note(a.addr, replicas.Full, m.About)
		a.reportOthers()
		a.enqueue(presenceEvent{event: a.patience.NoPlace(m.About)})
	case transport.Ready:
		a.busy = nil
		a.cloud.note(a.addr, replicas.Served, 0)
		a.takeReady(m)
		a.enqueue(presenceEvent{event: presence.Ready})
	case transport.Sources:
		a.sources(m)
	case transport.Leaving:
		a.cloud.note(a.addr, replicas.Leaves, 0)
		a.reportOthers()
		a.enqueue(presenceEvent{event: presence.Leaving})
	case transport.Fail:
		a.handleFail(m)
	default:
		a.log.Warn("unexpected message", "type", fmt.Sprintf("%T", m))
	}
}

// takeReady takes in what the replica in use says before it joins.
func (a *deviceAnswer) takeReady(m transport.Ready) {
	a.answer.Prefill[tandem.Cloud], a.answer.Read[tandem.Cloud], a.limit = m.Prefill, m.Documents, int(m.MaxTokens)
}

// join continues together with the replica in use, unless the answer has no room left below its limit.
func (a *deviceAnswer) join() {
	n := len(a.answer.Tokens)
	if a.limit > 0 && n >= a.limit {
		a.handleFail(transport.Fail{Text: fmt.Sprintf("it takes part in answers of at most %s", tokens(a.limit))})
		return
	}
	if a.alone && n > 0 {
		a.remark("the cloud joined in at token %d", n)
	}
	if a.alone, a.joined = false, true; a.limit > 0 {
		a.answer.MaxTokens = min(a.answer.MaxTokens, a.limit)
	}
	a.enqueue(pairEvents{pair.PeerReady{MaxTokens: a.limit}})
}

// handleFail handles the cloud's refusal of the question.
func (a *deviceAnswer) handleFail(m transport.Fail) {
	a.exchange.Close() // nothing that it says later is of use
	a.exchange, a.cloudErr = nil, &transport.RefusedError{Reason: m.Text}
	why := "the cloud cannot take part: " + m.Text
	if !m.Again {
		a.leave(why)
		return
	}
	a.cloud.note(a.addr, replicas.Leaves, 0)
	a.reportOthers()
	a.enqueue(presenceEvent{event: presence.TurnedAway, cause: &cause{text: why, tokens: len(a.answer.Tokens)}})
}

// leave parts from a cloud that is there, for good.
func (a *deviceAnswer) leave(why string) {
	a.enqueue(presenceEvent{event: presence.Mismatch, cause: &cause{text: why, tokens: len(a.answer.Tokens), always: true}})
}

// handleExchangeEnded handles the end of an exchange or a failed dial.
func (a *deviceAnswer) handleExchangeEnded(u exchangeEnded) {
	switch {
	case a.done:
		return
	case u.exchange == nil && u.seek != 0 && !a.expectsSeek(u.seek):
		return // it was given up
	case u.exchange == nil && u.seek != 0, u.exchange != nil && u.exchange == a.other.exchange:
		a.log.Info("another replica cannot take the question", "error", u.err)
		a.loseOther()
		return
	case u.exchange != a.exchange:
		return
	}
	if u.exchange != nil {
		a.cloud.note(a.addr, replicas.Lost, 0)
		a.reportOthers()
	}
	a.exchange, a.cloudErr = nil, u.err
	var differ *transport.MismatchError
	var stranger *transport.NotPairedError
	switch {
	case errors.As(u.err, &differ):
		a.leave(differ.Error())
	case errors.As(u.err, &stranger):
		a.leave(fmt.Sprintf("the cloud refuses this device: %v (\"cloud pair\" there, then \"edge pair CODE\" here)", stranger))
	case u.exchange == nil:
		a.log.Info("cannot reach the cloud", "error", u.err)
		a.enqueue(presenceEvent{event: presence.Failed})
	default:
		a.log.Info("lost the cloud", "error", u.err)
		a.enqueue(presenceEvent{event: presence.Broken})
	}
}

// send queues m for flush: the drafts of one pass share a datagram.
func (c *cloudState) send(m transport.Message) { c.outbox = append(c.outbox, m) }

// flush sends what is queued. If the exchange fails, its listener reports that.
func (a *deviceAnswer) flush() {
	out := a.outbox
	if a.outbox = nil; a.exchange == nil || !a.joined || len(out) == 0 {
		return
	}
	if err := a.exchange.Send(out...); err != nil {
		a.log.Debug("send", "error", err)
	}
}

// reportRTT passes the round-trip time to the machine.
func (a *deviceAnswer) reportRTT() {
	if a.exchange == nil {
		return
	}
	rtt := a.conn.RTT()
	if rtt > 0 {
		a.measured.rtt = rtt
	}
	a.record.rtt(rtt)
	a.enqueue(pairEvents{pair.Measured{RTT: rtt}})
}

// reportEcho counts echoes on the connection as signs of life.
func (a *deviceAnswer) reportEcho() {
	if a.conn != nil && a.presence != nil {
		if age := time.Since(a.conn.LastHeard()); age < a.patience.Silent/2 {
			a.enqueue(presenceEvent{event: presence.Heard, ago: age})
		}
	}
}

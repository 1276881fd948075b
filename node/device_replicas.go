package node

import (
	"fmt"

	"tandem/node/presence"
	"tandem/node/replicas"
	"tandem/transport"
)

// This file has the part of an answer that moves it from one replica of the cloud to another. Package presence decides when.

// candidate is a replica that has the question, too, and may take the place of the one in use.
type candidate struct {
	replica
	ready transport.Ready
	busy  transport.Busy
}

// reportOthers tells presence whether there is another replica that may have a place.
func (a *deviceAnswer) reportOthers() {
	if a.presence == nil {
		return
	}
	var also []string
	if a.other.exchange != nil {
		also = append(also, a.other.addr)
	}
	event := presence.NoOthers
	if a.addr != "" && a.cloud.others(a.addr, also...) {
		event = presence.Others
	}
	a.enqueue(presenceEvent{event: event})
}

// handleOtherAsked takes another replica, which has the question now, too.
func (a *deviceAnswer) handleOtherAsked(l replica) {
	if !a.expectsSeek(l.seek) || a.done {
		l.exchange.Close()
		return
	}
	a.other.replica = l
	a.enqueue(presenceEvent{event: presence.OtherAsked})
}

// expectsSeek reports whether the dial of a seek is still to bring a replica. One that was given up may end while the next goes on.
func (a *deviceAnswer) expectsSeek(seek int) bool {
	return seek == a.seeks && a.presence.Seeking() && a.other.exchange == nil
}

// handleOtherMessage handles a message of the other replica. It drafts only after it is ready, and by then it is used or given up.
func (a *deviceAnswer) handleOtherMessage(m transport.Message) {
	o := &a.other
	switch m := m.(type) {
	case transport.Ready:
		o.ready = m
		a.enqueue(presenceEvent{event: presence.OtherReady})
	case transport.Busy:
		o.busy = m
		a.cloud.note(o.addr, replicas.Full, m.About)
		a.betterQueue()
	case transport.Leaving:
		a.cloud.note(o.addr, replicas.Leaves, 0)
		a.loseOther()
	case transport.Fail:
		event := replicas.Lost
		if m.Again {
			event = replicas.Leaves
		}
		a.cloud.note(o.addr, event, 0)
		a.loseOther()
	default:
		a.log.Warn("unexpected message before the cloud was ready", "type", fmt.Sprintf("%T", m))
	}
}

// switchOver uses the other replica from here on. The one before may take its time to notice: nobody listens to it any more.
func (a *deviceAnswer) switchOver() {
	from, o := a.replica, a.other
	a.other = candidate{}
	if from.exchange != nil {
		from.exchange.Send(transport.End{Reason: "moved"})
		from.exchange.Close()
	}
	a.use(o.replica)
	a.reportRTT()
	a.cloud.note(a.addr, replicas.Served, 0)
	a.answer.Moves++
	a.takeReady(o.ready)
	a.log.Info("moved to another replica", "from", from.addr, "to", o.addr, "token", len(a.answer.Tokens))
}

// betterQueue waits at the replica that expects to have a place sooner, if neither has one, and looks for a third.
func (a *deviceAnswer) betterQueue() {
	if a.exchange != nil && a.busy != nil && sooner(a.other.busy, *a.busy) {
		from, turn := a.replica, a.other.busy
		a.use(a.other.replica)
		a.busy, a.other.replica = &turn, from
	}
	if a.exchange != nil {
		a.loseOther()
	}
}

// sooner compares what two clouds say about their queues.
func sooner(a, b transport.Busy) bool {
	if a.About > 0 && b.About > 0 {
		return a.About < b.About
	}
	return a.Before < b.Before
}

// loseOther gives the other replica up because it is of no use.
func (a *deviceAnswer) loseOther() {
	a.dropOther("of no use")
	a.reportOthers()
	a.enqueue(presenceEvent{event: presence.OtherFailed})
}

func (c *cloudState) dropOther(why string) {
	if exchange := c.other.exchange; exchange != nil {
		exchange.Send(transport.End{Reason: why})
		exchange.Close()
	}
	c.other = candidate{}
}

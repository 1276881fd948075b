package node

import (
	"fmt"

	"tandem"
	"tandem/node/presence"
	"tandem/node/replicas"
	"tandem/transport"
)

// This file has the part of an answer that moves it from one replica of the cloud to another. Package presence decides when.

// candidate is a replica that has the question, too, and may take the place of the one in use.
type candidate struct {
	replicaLink
	ready transport.Ready
	busy  transport.Busy
}

// reportOthers tells presence whether there is another replica that may have a place.
func (a *deviceSession) reportOthers() {
	if a.presence == nil {
		return
	}
	var also []string
	if a.other.link != nil {
		also = append(also, a.other.addr)
	}
	event := presence.NoOthers
	if a.addr != "" && a.cloud.others(a.addr, also...) {
		event = presence.Others
	}
	a.enqueue(presenceEvent{event: event})
}

// handleOtherLink takes a link to another replica, which has the question now, too.
func (a *deviceSession) handleOtherLink(l replicaLink) {
	if !a.expectsSeek(l.seek) || a.done {
		l.link.Close()
		return
	}
	a.other.replicaLink = l
	a.enqueue(presenceEvent{event: presence.OtherAsked})
}

// expectsSeek reports whether the dial of a seek is still to bring a link. One that was given up may end while the next goes on.
func (a *deviceSession) expectsSeek(seek int) bool {
	return seek == a.seeks && a.presence.Seeking() && a.other.link == nil
}

// handleOtherMessage handles a message of the other replica. It drafts only after it is ready, and by then it is used or given up.
func (a *deviceSession) handleOtherMessage(m transport.Message) {
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
func (a *deviceSession) switchOver() {
	from, o := a.replicaLink, a.other
	a.other = candidate{}
	if from.link != nil {
		from.link.Send(transport.End{Reason: "moved"})
		from.link.Close()
	}
	a.use(o.replicaLink)
	a.reportRTT()
	a.cloud.note(a.addr, replicas.Served, 0)
	a.answer.Moves++
	a.answer.Prefill[tandem.Cloud], a.answer.Read[tandem.Cloud] = o.ready.Prefill, o.ready.Documents
	a.log.Info("moved to another replica", "from", from.addr, "to", o.addr, "token", len(a.answer.Tokens))
}

// betterQueue waits at the replica that expects to have a place sooner, if neither has one, and looks for a third.
func (a *deviceSession) betterQueue() {
	if a.link != nil && a.busy != nil && sooner(a.other.busy, *a.busy) {
		from, turn := a.replicaLink, a.other.busy
		a.use(a.other.replicaLink)
		a.busy, a.other.replicaLink = &turn, from
	}
	if a.link != nil {
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
func (a *deviceSession) loseOther() {
	a.dropOther("of no use")
	a.reportOthers()
	a.enqueue(presenceEvent{event: presence.OtherFailed})
}

func (c *cloudLink) dropOther(why string) {
	if link := c.other.link; link != nil {
		link.Send(transport.End{Reason: why})
		link.Close()
	}
	c.other = candidate{}
}

// plus adds what another connection cost. The round-trip time is that of the latest.
func (s LinkStats) plus(t LinkStats) LinkStats {
	return LinkStats{
		BytesSent: s.BytesSent + t.BytesSent, BytesReceived: s.BytesReceived + t.BytesReceived,
		Drafts: s.Drafts + t.Drafts, DraftBytes: s.DraftBytes + t.DraftBytes, RTT: t.RTT,
	}
}

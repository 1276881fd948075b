package node

import (
	"time"

	"tandem/transport"
)

// Traffic counts what an answer cost on the network.
type Traffic struct {
	BytesSent, BytesReceived uint64 // on the wire, in all
	Drafts                   uint64 // draft frames sent and received
	DraftBytes               uint64 // their bytes
	RTT                      time.Duration
}

// trafficSince returns what a connection has carried between two counts.
func trafficSince(now, before transport.Stats) Traffic {
	return Traffic{
		BytesSent:     now.BytesSent - before.BytesSent,
		BytesReceived: now.BytesReceived - before.BytesReceived,
		Drafts:        uint64(now.Drafts + now.PeerDrafts - before.Drafts - before.PeerDrafts),
		DraftBytes:    uint64(now.DraftBytes + now.PeerDraftBytes - before.DraftBytes - before.PeerDraftBytes),
		RTT:           now.RTT,
	}
}

// plus adds what another connection cost. The round-trip time is that of the latest.
func (s Traffic) plus(t Traffic) Traffic {
	return Traffic{
		BytesSent: s.BytesSent + t.BytesSent, BytesReceived: s.BytesReceived + t.BytesReceived,
		Drafts: s.Drafts + t.Drafts, DraftBytes: s.DraftBytes + t.DraftBytes, RTT: t.RTT,
	}
}

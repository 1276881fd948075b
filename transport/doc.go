// Package transport is the link between the two sides: QUIC with TLS 1.3, both ends authenticated by keys pinned at
// pairing, and the wire format of everything that crosses (DRAGON §3, its transmission module).
//
// A Conn carries Exchanges, one for each answer. The messages of an Exchange arrive once each and in the order in which
// they were sent, however they travel. Drafts, targets and other short messages travel in datagrams that repeat what
// is not yet acknowledged (package reliable). So the next message repairs a lost packet, without waiting for a retransmission
// timer. Long messages use the exchange's stream. If datagrams are refused, everything does.
//
// The file message.go lists what crosses: the question, drafts, tokens, measurements, and titles if the operator
// allows it. A new message is a type and a line in the table there. The package knows nothing about models, documents or
// how a draft becomes a target.
//
// Where to look:
//
//	who is at the other end   identity.go, peers.go, code.go, invites.go, pairing.go, tickets.go
//	connections               dial.go, listen.go, hello.go, conn.go, link.go, notice.go, migrate.go, socket.go
//	which server to dial      probe.go, replicas.go
//	answers on a connection   exchange.go, bulkflow.go, package reliable
//	what crosses, as bytes    message.go, control.go, draft.go, bits.go
package transport

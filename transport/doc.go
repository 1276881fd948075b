// Package transport is the link between the two sides: QUIC with TLS 1.3, both ends authenticated by keys
// pinned at pairing, and the wire format of everything that crosses (DRAGON §3, its transmission module).
//
// A Conn carries Exchanges, one per answer. Messages of an Exchange arrive once each and in the order they
// were sent, whichever way they travel: drafts, targets and other short messages ride in datagrams that
// repeat what is not yet acknowledged, so that a lost packet is repaired by the next message and not by a
// retransmission timer; long ones, and everything where datagrams are refused, take the exchange's stream.
//
// What crosses is listed in message.go: the question, drafts, tokens, measurements, and titles where the
// operator allows it. The package knows nothing of models, documents or how a draft becomes a target.
package transport

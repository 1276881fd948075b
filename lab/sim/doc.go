// Package sim answers questions in virtual time (DRAGON §7.4): two machines of package pair in the world of pair/pairtest,
// decoders that take given delays, and a wire over two netem.Links, played as discrete events. An answer of 100 tokens
// takes about a millisecond.
//
// The package does not implement the protocol. As in the live node, pair decides what to do, transport/reliable repairs
// losses, and node/presence notices when the cloud is gone. Only the world around them is modelled: how long decoding takes,
// how packets travel, and, for comparison, how a QUIC stream repairs losses (stream.go). The package reads no clock, and the
// same Setting always gives the same Outcome.
package sim

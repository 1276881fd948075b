// Package sim answers questions in virtual time: two machines of package pair, decoders that take given
// delays, and a wire over two netem.Links, played as discrete events (DRAGON §7.4; the live node
// and the simulator drive the same machine"). An answer of 100 tokens takes about a millisecond.
//
// Nothing about the protocol is written here; what is modelled is the world around it: how long decoding
// takes, how packets travel, how lost ones are repaired. It reads no clock, and the same Setting always
// gives the same Outcome.
package sim

// Package netem emulates a network path: delay, jitter, a rate with a queue, random and bursty loss,
// reordering, duplication, outages, and the replay of recorded traces (the networks of DRAGON §7.2 and
// beyond).
//
// Link is the decision alone: a pure state machine that says when, if ever, a packet leaves the path. Given
// a seed it always decides the same. Relay runs two of them, one for each direction, between UDP sockets
// and the clock; tests run them in virtual time. The package knows nothing of what the packets carry.
package netem

// Package netem emulates a network path: delay, jitter, a rate with a queue, random and bursty loss,
// reordering, duplication, outages, and the replay of recorded traces (among them the networks of DRAGON §7.2).
//
// Link is a pure state machine that decides when a packet leaves the path, if ever. The same seed gives the same decisions.
// Relay runs two links, one for each direction, on UDP sockets and the clock; tests run them in virtual time. The package
// does not look into packets.
package netem

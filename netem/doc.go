// Package netem emulates a network path: delay, jitter, a rate with a queue, random and bursty loss, reordering,
// duplication, outages, and the replay of recorded traces (as DRAGON §7.2 replays one).
//
// Link is a pure state machine that decides whether and when a packet leaves the path. The same seed gives the same
// decisions. Relay runs two links, one for each direction, with UDP sockets and the clock. Tests run links in virtual time.
// The package does not look into packets.
package netem

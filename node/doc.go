// Package node runs a live side: it gives the pure state machine of pair its goroutines, clocks and
// sockets. A Device answers questions and takes the cloud in when there is one; a Cloud serves devices.
// Both drive the same machine with the same decoder (DRAGON §3, §7.1 "preemptible generation").
//
// What to do about a draft, a target or a lost peer is decided in pair and presence; this package only
// carries out. One goroutine owns a machine; a second one decodes, preempted when its work is superseded;
// a third one listens to the link. It must not know how a distribution is computed or how bytes travel.
package node

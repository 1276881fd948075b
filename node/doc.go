// Package node runs a live side: it gives the pure state machine of package pair its goroutines, clocks and sockets. A Device
// answers questions, together with the cloud if there is one. A Cloud serves devices. Both drive the same machine with the same
// decoder (DRAGON §3, §7.1 "preemptible generation").
//
// Packages pair and presence decide what to do about a draft, a target or a lost peer; this package only carries it out. One
// goroutine owns a machine, a second one decodes and is preempted when its work is superseded, and a third one listens to the
// other side. The package must not know how a distribution is computed or how bytes travel. It knows no search engine, only the
// interface Searcher.
package node

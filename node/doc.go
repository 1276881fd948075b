// Package node runs a live side: it gives the pure state machine of package pair its goroutines, clocks and sockets. A Device
// answers questions, together with the cloud if there is one. A Cloud serves devices. Both drive the same machine with the same
// decoder (DRAGON §3, §7.1 "preemptible generation").
//
// Packages pair and presence decide what to do about a draft, a target or a lost peer; this package only carries it out. One
// goroutine owns a machine, a second one decodes and is preempted when its work is superseded, and a third one listens to the
// other side. The package must not know how a distribution is computed or how bytes travel. It knows no search engine, only the
// interface Searcher.
//
// Where to look:
//
//	an answer on the device     device.go, device_answer.go, device_exchange.go, device_replicas.go, transcript.go
//	the cloud as a device's     remotecloud.go, packages presence and replicas
//	an answer in the cloud      cloud.go, cloud_turns.go, slots.go, lease.go, cloud_answer.go, cloud_limits.go
//	what a side answers with    local.go, request.go, worker.go, pace.go, drafting.go, past.go, memory.go
//	what an answer comes from   cite.go, sources.go
//	what is measured            profile.go, record.go, traffic.go, cloud_load.go
//	answers of other kinds      baseline.go, cloud_baseline.go, whole.go
package node

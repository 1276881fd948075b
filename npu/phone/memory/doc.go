// Package memory runs models whose weights do not fit into what a device can map (llada.cpp §3.4). An NPU reads host
// memory through a small window of addresses. Weights must be mapped into it before use, and those that the window
// cannot hold move in and out at every step.
//
// Four parts decide, without a clock or I/O:
//
//   - Lifetimes and Pack lay out short-lived values: values whose lives do not overlap share addresses. The native
//     device lays out its arena with them. They decide nothing about weights.
//   - Place divides weights into resident and temporary ones. It packs resident weights in the order of use into one
//     mapping, or into several if the device bounds mappings. It chooses temporary weights so that computation hides
//     their transfers.
//   - Reorder lets independent operators change places if that hides more.
//   - A Pager says, event by event, what to load into which of two staging slots. LRU does plain paging, the baseline.
//
// Replay runs a Pager in virtual time with given costs. Device runs the same Pager on a real arena: it wraps another
// device and maps memory within a budget, and a goroutine reads weights from the model's file into the slots while the
// device computes. If the wrapped device has a clock (npu.Clock), Device tells it of every mapping and transfer.
package memory

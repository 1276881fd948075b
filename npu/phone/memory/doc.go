// Package memory runs models whose weights do not fit into what a device may map (llada.cpp §3.4; DESIGN
// §4.4). An NPU reads host memory through a small window of addresses: weights must be mapped into it
// before use, and what the window cannot hold goes in and out at every step.
//
// Four parts decide, without clock or I/O:
//
//   - Lifetimes and Pack lay out what lives briefly: values whose lives do not overlap share addresses. The
//     native device lays its arena out by them; they decide nothing about weights;
//   - Place divides weights into resident ones, packed in the order of use into one mapping or, where the device
//     bounds mappings, several, and temporary ones, chosen so that their transfers hide behind computation;
//   - Reorder lets independent operators change places where that hides more;
//   - a Pager says, event by event, what to load into which of two staging slots; LRU is the same for plain
//     paging, the baseline.
//
// Replay drives a Pager in virtual time with given costs. Device drives the same Pager with a real arena:
// it wraps another device, maps a budget's worth of memory, and a goroutine reads weights from the model's
// file into the slots while the device computes. A device that makes time up is told of every mapping and
// transfer (npu.Clock).
package memory

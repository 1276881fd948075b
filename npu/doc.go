// Package npu says what an accelerator is to the rest of the house: element types and tensors, static
// graphs of one block of transformer layers at one chunk size, and the Device that compiles them to
// Programs. It computes nothing itself; the rooms below it do: native (Go and assembly, always there), ggml,
// reference (every operation, slowly) and quant (block formats). Rooms beside them rewrite graphs (pass), plan
// and carry out their switching (plan, executor), and bound their memory (memory, tile).
//
// A mobile NPU takes graphs whose every shape is fixed at compile time (CoordGen §3.2, llada.cpp §3).
// So a Graph carries a chunk: the number of rows (tokens) that it always takes. What changes from run to
// run, namely tokens, positions, KV views and the number of rows in use, are inputs.
//
// One size stays open: how many slots the caches have, and with them the mask. The devices here take caches of
// any length; who exports a graph to an NPU fixes it there, at the model's context or less.
package npu

// Package npu defines the interface to accelerators: element types and tensors, static graphs of one block of
// transformer layers at one chunk size, and the Device that compiles graphs to Programs. Its subpackages do the
// computing: native (Go and assembly, always available), ggml (the ggml libraries, if installed), reference (every
// operation, slowly) and quant (number formats). Package phone and its subpackages run models as a phone does.
//
// A mobile NPU takes graphs whose every shape is fixed at compile time (CoordGen §3.2, llada.cpp §3). So a Graph has a
// chunk: the number of rows, one token each, that it always takes. What changes from run to run is input: tokens,
// positions, KV views and the number of rows in use.
//
// One size is not fixed: the number of slots in the caches, which is also the width of the mask. The devices here take
// caches of any length. To export a graph to an NPU, fix it at the model's context length or less.
package npu

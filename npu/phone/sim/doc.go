// Package sim adds a mobile NPU's rules and time to another device (DESIGN §4; sd.npu §2.2, §3.1; llada.cpp
// §2.2). The other device computes; sim says how long a phone's NPU would have taken, refuses what the NPU
// would refuse, and can make the caller wait for it. Whatever comes from it is simulated and must be called
// so wherever it is shown.
//
// A chip is a parameter file (soc/*.json, over soc/common.json) in which every value names its source, the
// published figure that it was fitted to, or the value that it is carried over from and why. What a chip does in a given time depends on the software that
// drives it as much as on the silicon, so a file holds one set of values for each software stack of which
// figures were published: graphs of Qualcomm's QNN, mllm with its attention on the CPU, ggml's Hexagon
// backend, operator by operator, and llada.cpp's kernels in that backend. The lab compares what follows with
// the published figures.
//
// The package knows graphs, not models, and no planner: npu/phone/plan and npu/phone/memory decide, sim charges. Whoever
// keeps weights outside the device tells it what is loaded (LoadGraphs), or mapped and moved (npu.Clock);
// only that is charged.
package sim

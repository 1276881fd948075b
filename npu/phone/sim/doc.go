// Package sim adds the rules and the time of a mobile NPU to another device (sd.npu §2.2, §3.1; llada.cpp §2.2). The
// other device computes. sim says how long a phone's NPU would have taken, refuses what the NPU would refuse, and can
// make the caller wait. Its results are simulated and must be labelled so wherever they are shown.
//
// A chip is a parameter file (soc/*.json, over soc/common.json). Every value in it names its source, the published
// figure that it was fitted to, or the value that it is carried over from and why. How fast a chip is depends on the
// software that drives it as much as on the silicon. So a file holds a set of values for each software stack with
// published figures: graphs of Qualcomm's QNN, mllm with its attention on the CPU, ggml's Hexagon backend, which runs
// operator by operator, and llada.cpp's kernels in that backend. The lab compares the results with published figures.
//
// The package knows graphs, not models, and plans nothing: packages plan and memory decide, and sim charges. Code
// that keeps weights outside the device tells its npu.Clock what is loaded, mapped and moved. Only that is charged.
package sim

// Package phone repeats the experiments of the papers about phones on simulated ones: switching graphs (CoordGen §3.2, sd.npu
// §4.2), drafts on an NPU (sd.npu §3, §5), block diffusion in little memory (llada.cpp §5), and adapters, streams and forecasts
// (Samsung §3). It also compares the figures that the papers print with what the simulator predicts, whether they fit or not.
//
// The package knows neither a network nor a second side. Planner, executor and memory runtime are those of npu/phone; times and
// energy come from npu/phone/sim, and are called simulated wherever they are shown. What models say is measured on this machine.
package phone

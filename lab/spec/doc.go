// Package spec measures speculative decoding on one side alone: how many tokens a pass gives, and how much time is saved, by way
// of drafting and task (sd.npu §3.2, §5). The ways are those of package specdec, rules as in llama.cpp, blocks of a diffusion
// model, and a simulated EAGLE (CoordGen §4.1).
//
// The package checks that drafts change no answer. It knows no network, no second side and no phone: lab measures drafts of both
// sides of a pair, and lab/phone plays what is recorded here on simulated phones.
package spec

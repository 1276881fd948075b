// Package dllm generates text with diffusion language models: it fills masked positions in any order, several at a
// time, block after block (llada.cpp §3). It is a sibling of autoregressive generation (package model/sample).
//
// One pure Machine decides what to compute next, which guesses to take and when a token is final: Step takes an event and
// returns actions. It reads no clock, starts no goroutine and knows no model. Run carries out the actions on a Denoiser.
//
// Attention is causal between blocks and goes both ways within a block: a row sees the slots up to the end of its block.
// So rows of future blocks in a pass cannot change what the current block becomes, and what enters the prefix never
// depends on an undecided token. The vanilla method and those with a suffix see the whole sequence instead.
//
// With a Limit (Options.Limit), the positions of a block are decided in the order of the text, because what a limit allows
// depends on everything before.
//
// The package must not know documents, sides or a phone's clock. It knows a device only by the time of a pass of n rows
// (Config.Costs).
package dllm

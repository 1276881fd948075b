// Package dllm generates text with diffusion language models: it fills masked positions in any order, several at a
// time, block after block (llada.cpp §3). It is a sibling of autoregressive generation (package model/sample).
//
// What to compute next, which guesses to take and when a token is final is decided by one pure Machine: Step takes an
// event and returns actions. It reads no clock, starts no goroutine and knows no model. Run carries the actions out on a
// Denoiser.
//
// Attention is causal between blocks and goes both ways within one: a row sees the slots up to the end of its block.
// So rows of future blocks in a pass cannot change what the current block becomes, and what enters the prefix never
// depends on an undecided token. The vanilla method and those with a suffix see the whole sequence instead.
//
// Under a Limit (Options.Limit) the positions of a block are decided in the text's order: what a limit allows depends on all
// that comes before.
//
// The package must not touch documents, sides or a phone's clock. It knows devices only by the time of a pass of n rows
// (Config.Costs).
package dllm

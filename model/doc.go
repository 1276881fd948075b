// Package model runs decoder-only transformers from GGUF files: it loads weights and tokenizer, keeps KV
// caches, computes logits, renders chat prompts and samples tokens (DRAGON §2 calls it the decoder that
// both sides share; DESIGN §4).
//
// A transformer is described once, as blocks of layers with static shapes (package npu), and whatever
// device is there runs that description. Forward takes any number of sequences at once and gives the same
// logits, bit for bit, however tokens are batched, cut into chunks or spread over threads: a token that
// is decoded again after a rollback gets the same distribution.
//
// The package must not know documents, sides or agreement between them: package decoder mixes the
// distributions of several sequences, and package aggregator those of two sides.
package model

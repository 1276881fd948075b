// Package model runs decoder-only transformers from GGUF files. It loads weights, keeps KV caches and computes logits. It is
// the decoder that the two sides of a pair share (DRAGON §2).
//
// The file transformer.go describes a transformer once, as a sequence of blocks with static shapes (package npu), which
// any device can run. Each family of models has a file arch_*.go with its differences.
//
// A forward pass takes any number of sequences at once. It gives the same logits, bit for bit, however their tokens are
// batched, divided into chunks or distributed over threads. So a token that is decoded again after a rollback gets the
// same distribution.
//
// The package knows nothing of documents, sides or phones. Package decoder mixes the distributions of several sequences,
// and package aggregator those of two sides. Package npu/phone runs models on a phone's NPU.
package model

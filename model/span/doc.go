// Package span reads a question and a passage at once and points at the answer: it gives a probability to every
// span of up to 30 words of the passage, and to "no answer". It cannot write a word that is not in the passage.
//
// The reader is one bidirectional pass over question and passage. train/span/SPEC.md specifies how text becomes
// words and features, and what the network computes. The weights, the words and all constants come from a GGUF file of
// the architecture "tandem-span". Matrix products run on an npu.Device, so they are the same bits on every
// processor. Everything else is Go code whose rounding is fixed by explicit conversions.
//
// The package must not know of the pair, of retrieval or of the tokens of other models. Spans are byte ranges of the
// passage.
package span

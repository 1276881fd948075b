// Package span reads a question and a passage and points at the answer: it gives a probability to every span of up to
// 30 words of the passage, and to "no answer". It cannot write a word that is not in the passage.
//
// Question and passage are first encoded separately, so that the reader can reuse the encoding of a passage for the next
// question; then each attends to the other. train/span/SPEC.md specifies how text becomes words and features, and what
// the network computes. The weights, the words and all constants come from a GGUF file of the architecture "tandem-span".
// Matrix products run on an npu.Device, and all else in package native or in Go code whose rounding is fixed by explicit
// conversions, so the results are the same bits on every processor.
//
// The network was trained on English. German, French and Spanish texts are read with each word replaced by an English one
// from word lists.
//
// The package must not know of the pair, of retrieval or of the tokens of other models. Spans are byte ranges of the
// passage.
package span

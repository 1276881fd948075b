// Package models holds the built-in models as bytes of the program. Reader is a small decoder of our own (llama
// architecture, GGUF version 3, byte-level BPE) that answers in full sentences from the passage in its context. The recipe
// in train/ makes it; README.md in this folder says how, and what it can and cannot do. The package must not parse,
// decode or run anything: package model does that.
package models

import _ "embed"

// Reader is the GGUF file of the built-in reader. Treat it as read-only.
//
//go:embed reader.gguf
var Reader []byte

// Eval is the questions on which the reader is measured, as JSON lines: names and wordings that its training
// never saw. `lab reader` says what a line holds and asks them.
//
//go:embed testdata/eval.jsonl
var Eval []byte

// Worlds is sets of documents for both sides with questions about them, as gzipped JSON lines, held out from
// training like Eval: 1,000 questions of each kind. `lab quality` says what a line holds, indexes the
// documents and asks.
//
//go:embed testdata/worlds.jsonl.gz
var Worlds []byte

// Replies is conversations that want a reply, as JSON lines, held out from training like Eval. `lab spec` says
// what a line holds and lets a model write the replies.
//
//go:embed testdata/replies.jsonl
var Replies []byte

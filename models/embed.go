// Package models holds the built-in models as bytes of the program. Decoder is a small model (llama architecture, GGUF
// version 3, byte-level BPE) that answers in full sentences from the passage in its context. Span is the span reader, which
// answers by default. The recipe in train/ makes them; README.md in this folder says how, and what they can and cannot do. The
// package only embeds files; packages model and model/span read them.
package models

import (
	"embed"
	"strings"
)

// Decoder is the GGUF file of the built-in decoder. Treat it as read-only.
//
//go:embed reader.gguf
var Decoder []byte

// Span is the GGUF file of the built-in span reader, which points at the words of a passage that answer a question. The recipe
// in train/span makes it. Treat it as read-only.
//
//go:embed span.gguf
var Span []byte

// Eval holds questions as JSON lines, with names and wordings that the decoder was not trained on. "lab reader" asks them; its
// help describes a line.
//
//go:embed testdata/eval.jsonl
var Eval []byte

// Worlds holds documents for both sides with questions about them, 1,000 of each kind, as gzipped JSON lines. Like Eval, they
// were kept out of the training. "lab quality" indexes the documents and asks; its help describes a line.
//
//go:embed testdata/worlds.jsonl.gz
var Worlds []byte

// Replies holds conversations that need a reply, as JSON lines. Like Eval, they were kept out of the training. "lab spec" lets
// a model write the replies.
//
//go:embed testdata/replies.jsonl
var Replies []byte

// Corrections, Tones and Messages hold sentences and messages as people write them, by hand and not by the generator,
// as JSON lines. "lab rewrite" corrects, rewrites and shortens them; its help describes a line.
//
//go:embed testdata/corrections.jsonl
var Corrections []byte

//go:embed testdata/tones.jsonl
var Tones []byte

//go:embed testdata/messages.jsonl
var Messages []byte

//go:embed adapters
var adapters embed.FS

// Adapters lists the names of the built-in adapters of the decoder.
func Adapters() (names []string) {
	list, _ := adapters.ReadDir("adapters") // embedded, so it is there
	for _, f := range list {
		names = append(names, strings.TrimSuffix(f.Name(), ".gguf"))
	}
	return names
}

// Adapter returns the GGUF file of a built-in adapter of the decoder. The recipe in train makes them.
func Adapter(name string) (file []byte, ok bool) {
	b, err := adapters.ReadFile("adapters/" + name + ".gguf")
	return b, err == nil
}

package modelcmd

import (
	"encoding/hex"

	"tandem/cmd/internal/cli"
	"tandem/decoder/kvstore"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/model/span"
	"tandem/models"
	"tandem/node"
	"tandem/npu/native"
	"tandem/retrieval/search"
)

// BuiltInDecoder is the name of the embedded decoder, the model that writes token by token.
const BuiltInDecoder = "tandem-reader"

// SpanReader is the name of the embedded span reader, which answers where no model is chosen.
const SpanReader = "tandem-span-reader"

// AnswererName returns the name of what answers: the span reader, or the model if that is nil.
func AnswererName(m *model.Model, reader *span.Reader) string {
	if reader != nil {
		return SpanReader
	}
	return m.Config().Name
}

// AnswererOf describes the same, for its profile.
func AnswererOf(m *model.Model, reader *span.Reader, threads int) cli.Answerer {
	if reader != nil {
		return cli.Answerer{Name: SpanReader, Key: reader.Name(), Device: reader.Device(), Threads: threads}
	}
	sum := m.Fingerprint()
	return cli.Answerer{Name: m.Config().Name, Key: hex.EncodeToString(sum[:8]), Device: m.Device(), Threads: threads}
}

// ReaderFlags choose how the built-in models answer.
type ReaderFlags struct {
	By string `name:"reader" help:"What answers without --model: ${enum}. span points at the words of a document that answer; decoder, the built-in decoder, writes a sentence word by word." enum:",span,decoder" default:"" hidden:""`
}

// Passages that each side retrieves by default. A span reader reads one in 2 to 4 ms.
const (
	SpanDocuments    = 8
	DecoderDocuments = 4
)

// OpenSpan returns the built-in span reader, or nil if a decoder answers: the one that the flags of the model choose, or the
// built-in one if the flag says so.
func (f ReaderFlags) OpenSpan(m ModelFlags) (*span.Reader, error) {
	if m.Model != "" || f.By == "decoder" {
		return nil, nil
	}
	file, err := gguf.Parse("tandem-span", models.Span)
	if err != nil {
		return nil, err
	}
	return span.New(file, native.New(1), m.Threads)
}

// NewLocal returns what a node answers with: a model and, if it is not nil, a span reader, with the lexical scorer. documents is
// nil for a side without any.
func NewLocal(m *model.Model, r *span.Reader, documents node.Searcher, kv *kvstore.Store) node.Local {
	return node.Local{Model: m, Reader: r, Scorer: search.Lexical(), Documents: documents, KV: kv, Past: new(node.Past)}
}

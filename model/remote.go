package model

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"tandem"
	"tandem/model/chat"
	"tandem/model/gguf"
	"tandem/model/tokenizer"
	"tandem/npu"
)

// OpenVocabulary opens the tokenizer and the chat template of the GGUF file at path, for a model that another program
// computes (Config.Remote). The architecture may be any, and the file need not have tensors. Its sequences hold tokens
// instead of keys and values, so that the program that computes them knows the text.
func OpenVocabulary(path string) (*Model, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	m, err := vocabulary(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return m, nil
}

func vocabulary(f *gguf.File) (m *Model, err error) {
	m = &Model{file: f, device: nowhere{}, base: &graphSet{}, sets: map[string]*graphSet{}}
	m.fingerprint = sync.OnceValue(m.computeFingerprint)
	m.secondOnce = func() (*Model, error) { return m, nil }
	if m.tokenizer, err = tokenizer.New(f); err != nil {
		return nil, err
	}
	m.template = chat.TemplateOf(f, m.tokenizer)
	r := metaReader{file: f}
	m.config = Config{Arch: r.text("general.architecture"), Name: r.optionalText("general.name"), Vocab: m.tokenizer.Size(), Remote: true}
	r.arch = m.config.Arch + "."
	m.config.Context = r.size("context_length", 1, maxContext, maxContext)
	return m, r.err
}

// LimitContext makes the context at most n positions. It must be called before the model is used.
func (m *Model) LimitContext(n int) { m.config.Context = min(m.config.Context, n) }

// Append adds tokens to a sequence of a remote model.
func (s *Seq) Append(tokens ...tandem.Token) {
	s.text = append(s.text, tokens...)
	s.n = len(s.text)
}

// Tokens returns the tokens of a sequence of a remote model; they must not be changed.
func (s *Seq) Tokens() []tandem.Token { return slices.Clip(s.text) }

// CheckAppend reports why a remote model cannot append an input: it must be tokens of the vocabulary, without a draft tree,
// embeddings or scores on the way, and fit the context.
func (m *Model) CheckAppend(in Input) error {
	switch {
	case in.Seq == nil || in.Seq.m != m:
		return errors.New("its sequence belongs to another model")
	case in.Parents != nil || in.Embeds != nil || in.OnScores != nil || in.Seq.adapter != nil:
		return errors.New("a model that is computed elsewhere has no draft trees, embeddings, partial heads or adapters")
	case len(in.Tokens) == 0:
		return errors.New("no tokens")
	case in.Seq.n+len(in.Tokens) > m.config.Context:
		return &ContextError{Have: in.Seq.n, Add: len(in.Tokens), Limit: m.config.Context}
	}
	for _, t := range in.Tokens {
		if t < 0 || int(t) >= m.config.Vocab {
			return fmt.Errorf("token %d is outside the vocabulary of %d", t, m.config.Vocab)
		}
	}
	return nil
}

// errRemote says that the model's weights are not here.
var errRemote = errors.New("another program computes this model: only its vocabulary is here")

// nowhere is the device of a remote model. It takes no memory here, and it computes nothing.
type nowhere struct{}

func (nowhere) Name() string                            { return "another program" }
func (nowhere) Compile(*npu.Graph) (npu.Program, error) { return nil, errRemote }
func (nowhere) Close() error                            { return nil }
func (nowhere) Traits() npu.Traits                      { return npu.Traits{Processor: true} } // so that nobody warms it up

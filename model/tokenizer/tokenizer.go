// Package tokenizer converts text to tokens and back with the vocabulary of a GGUF file: byte-level BPE ("gpt2": GPT-2,
// Llama 3, Qwen2), SentencePiece merging ("llama": Llama 2, Mistral) and unigrams ("t5": T5, XLM-R),
// BPE of characters ("gemma4") and WordPiece ("bert").
//
// The package does not know weights, prompts or sampling. For the same file, its ids are those of llama.cpp, with two
// deliberate differences. Bytes that are not UTF-8 are kept (llama.cpp replaces them), so decoding returns byte-level
// text exactly. And text never becomes a control token unless ParseSpecial is set.
package tokenizer

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"slices"
	"strings"
	"sync"

	"tandem"
	"tandem/model/gguf"
)

// A Tokenizer encodes and decodes text with one vocabulary. It is safe for concurrent use.
type Tokenizer struct {
	model   string // "gpt2", "llama", "bert", "t5" or "gemma4"
	pre     string // the pre-tokenizer's name, for byte-level BPE
	texts   []string
	types   []tokenType
	pieces  []string // the exact bytes of each token
	special specials
	split   []special // tokens that are found in text by name, longest first
	trims   bool      // white space behind most of them is no text
	words   encoder
	masked  bool // the last token is a mask

	stripSpace  bool // decoding drops one space at the start
	fingerprint func() [32]byte
}

// An encoder appends the tokens of a text that holds no special tokens. start is true at the beginning and after a
// special token, where SentencePiece adds a space.
type encoder interface {
	encode(dst []tandem.Token, text string, start bool) []tandem.Token
	hash(h hash.Hash, n int) // adds what encoding to the first n tokens depends on besides texts, types and special tokens
}

// Options say how Encode treats special tokens.
type Options struct {
	AddSpecial   bool // add BOS and EOS if the model requires them
	ParseSpecial bool // recognise the names of control tokens in the text, such as <|im_end|>
}

// New makes the tokenizer of a model file.
func New(f *gguf.File) (*Tokenizer, error) {
	t, err := FromMeta(f.Meta)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return t, nil
}

// FromMeta makes a tokenizer from GGUF metadata (the keys tokenizer.ggml.*).
func FromMeta(m gguf.Meta) (*Tokenizer, error) {
	t := &Tokenizer{}
	var ok bool
	if t.model, ok = m.String("tokenizer.ggml.model"); !ok {
		return nil, fmt.Errorf("tokenizer: the key tokenizer.ggml.model is missing: the file has no tokenizer")
	}
	if t.texts, ok = m.Strings("tokenizer.ggml.tokens"); !ok || len(t.texts) == 0 {
		return nil, fmt.Errorf("tokenizer: the key tokenizer.ggml.tokens is missing or empty")
	}
	if len(t.texts) > math.MaxInt32 {
		return nil, fmt.Errorf("tokenizer: %d tokens are too many", len(t.texts))
	}
	var err error
	if t.types, err = readTypes(m, len(t.texts)); err != nil {
		return nil, err
	}
	switch t.model {
	case "gpt2":
		err = t.newBPE(m)
	case "llama":
		err = t.newSPM(m)
	case "bert":
		err = t.newWordPiece(m)
	case "t5":
		err = t.newUnigram(m)
	case "gemma4":
		err = t.newCharMerges(m)
	default:
		err = fmt.Errorf("tokenizer: model %q is not supported: only gpt2, llama, bert, t5 and gemma4 are", t.model)
	}
	if err != nil {
		return nil, err
	}
	mask, ok := m.Uint("tokenizer.ggml.mask_token_id")
	t.masked = ok && mask == uint64(len(t.texts)-1) && t.types[mask] == control
	t.fingerprint = sync.OnceValue(t.digest)
	return t, nil
}

// Size returns the number of tokens in the vocabulary.
func (t *Tokenizer) Size() int { return len(t.texts) }

// TextSize returns the number of tokens that a text can have: all but the mask of a diffusion model, if that is the last one.
// So such a model and the one that it was made from have one vocabulary.
func (t *Tokenizer) TextSize() int {
	if t.masked {
		return len(t.texts) - 1
	}
	return len(t.texts)
}

// Encode returns the tokens of text. It accepts any bytes. What the vocabulary cannot spell becomes its unknown token,
// or nothing if it has none.
func (t *Tokenizer) Encode(text string, opt Options) []tandem.Token {
	out := make([]tandem.Token, 0, len(text)/3+4)
	if opt.AddSpecial && t.special.addBOS {
		out = append(out, t.special.bos)
	}
	start := true
	for _, f := range t.partition(text, opt.ParseSpecial) {
		if f.token >= 0 {
			out, start = append(out, f.token), true
		} else {
			out, start = t.words.encode(out, f.text, start), false
		}
	}
	if opt.AddSpecial && t.special.addEOS {
		out = append(out, t.special.eos)
	}
	return out
}

// Decode returns the text of tokens, without control tokens. For SentencePiece and WordPiece it drops the space that
// encoding adds before the first word. It ignores tokens outside the vocabulary.
func (t *Tokenizer) Decode(tokens []tandem.Token) string {
	var b strings.Builder
	s := t.stripSpace
	for _, id := range tokens {
		if t.valid(id) && !t.IsControl(id) {
			b.WriteString(t.strip(id, &s))
		}
	}
	return b.String()
}

// strip returns the text of a token. If *first is set, it drops a leading space.
func (t *Tokenizer) strip(id tandem.Token, first *bool) string {
	p := t.pieces[id]
	if *first && p != "" {
		*first = false
		p = strings.TrimPrefix(p, " ")
	}
	return p
}

// Piece returns the bytes of a token, which may be part of a character; for a control token, its name. It returns nil
// for tokens outside the vocabulary.
func (t *Tokenizer) Piece(id tandem.Token) []byte {
	if !t.valid(id) {
		return nil
	}
	return []byte(t.pieces[id])
}

// Text returns the token's entry in the vocabulary as spelled in the file, for diagnostics.
func (t *Tokenizer) Text(id tandem.Token) string {
	if !t.valid(id) {
		return fmt.Sprintf("[token %d]", id)
	}
	return t.texts[id]
}

// Lookup returns the token whose entry in the vocabulary is text. It searches the whole vocabulary, so it is too slow
// for encoding.
func (t *Tokenizer) Lookup(text string) (tandem.Token, bool) {
	i := slices.Index(t.texts, text)
	return tandem.Token(i), i >= 0
}

func (t *Tokenizer) valid(id tandem.Token) bool { return id >= 0 && int(id) < len(t.texts) }

// IsControl reports whether a token has a meaning to the model but no text.
func (t *Tokenizer) IsControl(id tandem.Token) bool {
	return t.valid(id) && (t.types[id] == control || t.types[id] == unknown)
}

// EOG reports whether a token ends the generation: end of sequence, turn or message.
func (t *Tokenizer) EOG(id tandem.Token) bool { return slices.Contains(t.special.eog, id) }

// EOGs returns all tokens that end the generation, in ascending order.
func (t *Tokenizer) EOGs() []tandem.Token { return slices.Clone(t.special.eog) }

// BOS returns the token that starts a sequence, if the vocabulary has one.
func (t *Tokenizer) BOS() (tandem.Token, bool) { return t.special.bos, t.special.bos >= 0 }

// EOS returns the token that ends a sequence, if the vocabulary has one.
func (t *Tokenizer) EOS() (tandem.Token, bool) { return t.special.eos, t.special.eos >= 0 }

// Unsupported returns the token whose probability at the start of a sentence is that of the context not supporting the
// sentence. Only models trained for it have one (the key tandem.none_token_id). It is a signal, never text: samplers
// must exclude it.
func (t *Tokenizer) Unsupported() (tandem.Token, bool) {
	return t.special.unsupported, t.special.unsupported >= 0
}

// AddsBOS reports whether Encode with AddSpecial starts with BOS.
func (t *Tokenizer) AddsBOS() bool { return t.special.addBOS }

// Fingerprint returns a hash of everything that the meaning of the first TextSize token ids depends on. Two sides can exchange
// tokens only if their fingerprints are equal.
func (t *Tokenizer) Fingerprint() [32]byte { return t.fingerprint() }

func (t *Tokenizer) digest() [32]byte {
	h := sha256.New()
	hashStrings(h, []string{"tandem tokenizer 1", t.model, t.pre})
	n := t.TextSize()
	hashStrings(h, t.texts[:n])
	for _, ty := range t.types[:n] {
		h.Write([]byte{byte(ty)})
	}
	s := t.special
	flags := byte(0)
	for i, f := range []bool{s.addBOS, s.addEOS, t.stripSpace, t.trims} {
		if f {
			flags |= 1 << i
		}
	}
	h.Write([]byte{flags})
	hashTokens(h, []tandem.Token{s.bos, s.eos, s.unk})
	hashTokens(h, s.eog)
	if s.unsupported != none {
		hashTokens(h, []tandem.Token{s.unsupported})
	}
	t.words.hash(h, n)
	return [32]byte(h.Sum(nil))
}

func hashStrings(h hash.Hash, list []string) {
	var buf []byte
	buf = binary.LittleEndian.AppendUint64(buf, uint64(len(list)))
	for _, s := range list {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(len(s)))
		buf = append(buf, s...)
		if len(buf) > 1<<14 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	h.Write(buf)
}

func hashTokens(h hash.Hash, list []tandem.Token) {
	buf := binary.LittleEndian.AppendUint64(nil, uint64(len(list)))
	for _, id := range list {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(id))
	}
	h.Write(buf)
}

package tokenizer

import (
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"strconv"
	"strings"

	"tandem"
	"tandem/model/gguf"
)

// spaceMark is U+2581, which stands for a space in SentencePiece and WordPiece vocabularies.
const spaceMark = "▁"

// spm joins characters to tokens, those with the highest score first, like SentencePiece's BPE models. Characters
// outside the vocabulary become byte tokens.
type spm struct {
	ids    map[string]tandem.Token
	scores []float32
	bytes  [256]tandem.Token // the token of each byte, or the unknown token, or none
	prefix bool              // add a space before text at the start and after special tokens
}

func (t *Tokenizer) newSPM(m gguf.Meta) error {
	if err := t.readSpecials(m, defaults{bos: 1, eos: 2, unk: 0, addBOS: true}); err != nil {
		return err
	}
	s := &spm{prefix: true}
	if v, ok := m.Bool("tokenizer.ggml.add_space_prefix"); ok {
		s.prefix = v
	}
	t.stripSpace = s.prefix
	var err error
	if s.scores, err = readScores(m, len(t.texts)); err != nil {
		return err
	}
	for b := range s.bytes {
		s.bytes[b] = t.special.unk
	}
	if err := t.setPieces(); err != nil {
		return err
	}
	for id, ty := range t.types {
		if ty == byteToken {
			s.bytes[t.pieces[id][0]] = tandem.Token(id)
		}
	}
	if s.ids, err = t.byText(); err != nil {
		return err
	}
	t.words = s
	return nil
}

// setPieces sets the bytes of tokens as SentencePiece spells them.
func (t *Tokenizer) setPieces() error {
	t.pieces = make([]string, len(t.texts))
	for id, text := range t.texts {
		switch t.types[id] {
		case control, unknown, userDefined:
			t.pieces[id] = text
		case byteToken:
			b, err := parseByte(text)
			if err != nil {
				return fmt.Errorf("tokenizer: token %d: %w", id, err)
			}
			t.pieces[id] = string([]byte{b})
		default:
			t.pieces[id] = strings.ReplaceAll(text, spaceMark, " ")
		}
	}
	return nil
}

// byText returns the tokens of ordinary text by their entries in the vocabulary.
func (t *Tokenizer) byText() (map[string]tandem.Token, error) {
	ids := make(map[string]tandem.Token, len(t.texts))
	for id, text := range t.texts {
		if ty := t.types[id]; text == "" || ty == control || ty == unknown || ty == byteToken {
			continue
		}
		if other, twice := ids[text]; twice {
			return nil, fmt.Errorf("tokenizer: tokens %d and %d are both %q", other, id, text)
		}
		ids[text] = tandem.Token(id)
	}
	return ids, nil
}

func parseByte(text string) (byte, error) {
	if len(text) == 6 && strings.HasPrefix(text, "<0x") && text[5] == '>' {
		if v, err := strconv.ParseUint(text[3:5], 16, 8); err == nil {
			return byte(v), nil
		}
	}
	return 0, fmt.Errorf("%q is a byte token, but does not look like <0x0A>", text)
}

func readScores(m gguf.Meta, n int) ([]float32, error) {
	scores, ok := m.Floats("tokenizer.ggml.scores")
	if !ok {
		ints, ok := m.Ints("tokenizer.ggml.scores")
		if !ok {
			return nil, fmt.Errorf("tokenizer: the key tokenizer.ggml.scores is missing or not an array of numbers")
		}
		for _, v := range ints {
			scores = append(scores, float32(v))
		}
	}
	if len(scores) < n {
		return nil, fmt.Errorf("tokenizer: tokenizer.ggml.scores has %d entries for %d tokens", len(scores), n)
	}
	return scores[:n], nil
}

// runeWidth returns the length of a UTF-8 sequence according to its first byte, at most n.
func runeWidth(b byte, n int) int {
	switch {
	case b >= 0xF0:
		return min(4, n)
	case b >= 0xE0:
		return min(3, n)
	case b >= 0xC0:
		return min(2, n)
	}
	return 1
}

func (s *spm) encode(dst []tandem.Token, text string, start bool) []tandem.Token {
	if start && s.prefix {
		text = " " + text
	}
	text = strings.ReplaceAll(text, " ", spaceMark)
	m := newMerger()
	defer m.free()
	for i := 0; i < len(text); {
		n := runeWidth(text[i], len(text)-i)
		m.add(i, i+n, int32(s.lookup(text[i:i+n])))
		i += n
	}
	m.run(func(l, r symbol) (int32, float32, bool) {
		id, ok := s.ids[text[l.start:r.end]]
		if !ok {
			return 0, 0, false
		}
		return int32(id), s.scores[id], true
	})
	for _, sym := range m.symbols {
		switch {
		case sym.dead:
		case sym.id >= 0:
			dst = append(dst, tandem.Token(sym.id))
		default:
			for _, b := range []byte(text[sym.start:sym.end]) {
				if id := s.bytes[b]; id != none {
					dst = append(dst, id)
				}
			}
		}
	}
	return dst
}

func (s *spm) lookup(text string) tandem.Token {
	if id, ok := s.ids[text]; ok {
		return id
	}
	return none
}

func (s *spm) hash(h hash.Hash, n int) {
	buf := make([]byte, 0, 4*len(s.scores)+1)
	for _, score := range s.scores[:n] {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(score))
	}
	if s.prefix {
		buf = append(buf, 1)
	}
	h.Write(buf)
}

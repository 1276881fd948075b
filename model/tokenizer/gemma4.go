package tokenizer

import (
	"fmt"
	"hash"
	"strings"

	"tandem"
	"tandem/model/gguf"
)

// charMerges is Gemma 4's tokenizer as llama.cpp computes it: BPE of characters, not bytes, in lines whose spaces are
// "▁", by the order of the merges. Characters outside the vocabulary become byte tokens.
type charMerges struct {
	ids    map[string]tandem.Token
	ranks  map[[2]string]int32
	bytes  [256]tandem.Token // the token of each byte, or none
	digest []string          // the merges as in the file, for the fingerprint
}

func (t *Tokenizer) newCharMerges(m gguf.Meta) error {
	t.pre = t.model
	if err := t.readSpecials(m, defaults{bos: none, eos: none, unk: none}); err != nil {
		return err
	}
	t.special.addBOS = t.special.bos != none // whatever the file says
	lines, ok := m.Strings("tokenizer.ggml.merges")
	if !ok {
		return fmt.Errorf("tokenizer: the key tokenizer.ggml.merges is missing")
	}
	c := &charMerges{ranks: make(map[[2]string]int32, len(lines)), digest: lines}
	for rank, line := range lines {
		i := -1
		if line != "" {
			i = strings.IndexByte(line[1:], ' ') + 1
		}
		if i <= 0 || i == len(line)-1 {
			return fmt.Errorf("tokenizer: merge %d, %q, is not two parts separated by a space", rank, line)
		}
		pair := [2]string{line[:i], line[i+1:]}
		if _, twice := c.ranks[pair]; !twice {
			c.ranks[pair] = int32(rank)
		}
	}
	if err := t.setPieces(); err != nil {
		return err
	}
	for b := range c.bytes {
		c.bytes[b] = none
	}
	for id, ty := range t.types {
		if ty == byteToken {
			c.bytes[t.pieces[id][0]] = tandem.Token(id)
		}
	}
	var err error
	c.ids, err = t.byText()
	t.words = c
	return err
}

func (c *charMerges) encode(dst []tandem.Token, text string, _ bool) []tandem.Token {
	text = strings.ReplaceAll(text, " ", spaceMark)
	for text != "" {
		n := len(text) - len(strings.TrimLeft(text, "\n"))
		if id, ok := c.ids[text[:n]]; n > 0 && ok {
			dst, text = append(dst, id), text[n:]
			continue
		}
		if n == 0 {
			if n = strings.IndexByte(text, '\n'); n < 0 {
				n = len(text)
			}
		}
		dst, text = c.merge(dst, text[:n]), text[n:]
	}
	return dst
}

// merge appends the tokens of a line, or of line ends that are no token together.
func (c *charMerges) merge(dst []tandem.Token, line string) []tandem.Token {
	m := newMerger()
	defer m.free()
	for i := 0; i < len(line); {
		n := runeWidth(line[i], len(line)-i)
		m.add(i, i+n, 0)
		i += n
	}
	m.run(func(l, r symbol) (int32, float32, bool) {
		rank, ok := c.ranks[[2]string{line[l.start:l.end], line[r.start:r.end]}]
		return 0, -float32(rank), ok
	})
	for _, s := range m.symbols {
		if s.dead {
			continue
		}
		piece := line[s.start:s.end]
		if id, ok := c.ids[piece]; ok {
			dst = append(dst, id)
			continue
		}
		for _, b := range []byte(piece) {
			if id := c.bytes[b]; id != none {
				dst = append(dst, id)
			}
		}
	}
	return dst
}

func (c *charMerges) hash(h hash.Hash, _ int) { hashStrings(h, c.digest) }

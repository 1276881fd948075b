package tokenizer

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem"
	"tandem/model/gguf"
)

// unigram is SentencePiece's unigram model (Kudo 2018, §3.2) as llama.cpp computes it: of all ways to spell a text with tokens,
// the one whose scores, which are log probabilities, have the greatest sum. Characters that no token spells are unknown tokens,
// of which several in a row are one.
type unigram struct {
	texts   []string
	sorted  []tandem.Token // what text can become, by text
	starts  [257]int       // sorted[starts[b]:starts[b+1]] begin with byte b
	scores  []float64      // of each token
	unknown float64        // the score of an unknown character
	unk     tandem.Token

	chars                 charsmap
	prefix, suffix, merge bool // a space before the text, or behind it; spaces in a row are one
	raw                   bool // spaces stay spaces
}

// unknownPenalty is how much less an unknown character scores than the least token.
const unknownPenalty = 10

// longestPiece bounds the bytes of a token, and so the time that each character of a text takes.
const longestPiece = 1 << 10

func (t *Tokenizer) newUnigram(m gguf.Meta) error {
	if err := t.readSpecials(m, defaults{bos: none, eos: 1, unk: 2, addEOS: true}); err != nil {
		return err
	}
	u := &unigram{texts: t.texts, unk: t.special.unk}
	if u.unk == none {
		return fmt.Errorf("tokenizer: the vocabulary has no unknown token, which a unigram model needs")
	}
	flag := func(key string, fallback bool) bool {
		if v, ok := m.Bool("tokenizer.ggml." + key); ok {
			return v
		}
		return fallback
	}
	spaced, behind := flag("add_space_prefix", false), flag("treat_whitespace_as_suffix", false)
	u.prefix, u.suffix = spaced && !behind, spaced && behind
	u.merge, u.raw = flag("remove_extra_whitespaces", false), !flag("escape_whitespaces", true)
	t.stripSpace = u.prefix || u.merge
	var err error
	if u.chars, err = readCharsmap(m); err != nil {
		return err
	}
	if err := u.readScores(m, t.types); err != nil {
		return err
	}
	if err := u.sort(t.types); err != nil {
		return err
	}
	t.words = u
	return t.setPieces()
}

// readScores reads the scores of all tokens. User-defined tokens score 0, so that they win.
func (u *unigram) readScores(m gguf.Meta, types []tokenType) error {
	scores, err := readScores(m, len(u.texts))
	if err != nil {
		return err
	}
	least := float32(math.MaxFloat32)
	u.scores = make([]float64, len(scores))
	for id, score := range scores {
		if v := float64(score); math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("tokenizer: the score of token %d is %v", id, score)
		}
		switch types[id] {
		case normal:
			least = min(least, score)
			fallthrough
		default:
			u.scores[id] = float64(score)
		case userDefined:
		}
	}
	u.unknown = float64(least - unknownPenalty)
	return nil
}

// sort sets what searching for tokens needs. Of tokens with one text the last counts, as in llama.cpp.
func (u *unigram) sort(types []tokenType) error {
	for id, text := range u.texts {
		if ty := types[id]; text == "" || ty != normal && ty != userDefined && ty != unused {
			continue
		}
		if len(text) > longestPiece {
			return fmt.Errorf("tokenizer: token %d has %d bytes, more than %d", id, len(text), longestPiece)
		}
		u.sorted = append(u.sorted, tandem.Token(id))
	}
	slices.SortFunc(u.sorted, func(a, b tandem.Token) int {
		return cmp.Or(strings.Compare(u.texts[a], u.texts[b]), cmp.Compare(b, a))
	})
	u.sorted = slices.CompactFunc(u.sorted, func(a, b tandem.Token) bool { return u.texts[a] == u.texts[b] })
	for b := range u.starts {
		u.starts[b], _ = slices.BinarySearchFunc(u.sorted, b, func(id tandem.Token, b int) int { return cmp.Compare(int(u.texts[id][0]), b) })
	}
	return nil
}

// A step is the best way to spell a text up to a place: its last token, where that begins, and the sum of the scores.
type step struct {
	token tandem.Token
	from  int
	score float64
}

func (u *unigram) encode(dst []tandem.Token, text string, _ bool) []tandem.Token {
	text = u.normalise(text)
	if text == "" {
		return dst
	}
	best := make([]step, len(text)+1)
	for i := range best {
		best[i] = step{u.unk, 0, -math.MaxFloat64}
	}
	best[0].score = 0
	for at := 0; at < len(text); {
		width := runeWidth(text[at], len(text)-at)
		reach := func(end int, token tandem.Token, score float64) {
			if score += best[at].score; score > best[end].score {
				best[end] = step{token, at, score}
			}
		}
		whole := false
		u.match(text[at:], func(n int, id tandem.Token) {
			whole = whole || n == width
			reach(at+n, id, u.scores[id])
		})
		if !whole {
			reach(at+width, u.unk, u.unknown)
		}
		at += width
	}
	begun := len(dst)
	for end := len(text); end > 0; end = best[end].from {
		if id := best[end].token; id != u.unk || len(dst) == begun || dst[len(dst)-1] != u.unk {
			dst = append(dst, id)
		}
	}
	slices.Reverse(dst[begun:])
	return dst
}

// match calls found for each token with which text begins, the shortest first.
func (u *unigram) match(text string, found func(n int, id tandem.Token)) {
	in := u.sorted[u.starts[text[0]]:u.starts[int(text[0])+1]]
	for n := 1; len(in) > 0; n++ { // all in begin with text[:n]
		if len(u.texts[in[0]]) == n {
			found(n, in[0])
			in = in[1:]
		}
		if n == len(text) {
			return
		}
		byteAt := func(id tandem.Token, b int) int { return cmp.Compare(int(u.texts[id][n]), b) }
		low, _ := slices.BinarySearchFunc(in, int(text[n]), byteAt)
		high, _ := slices.BinarySearchFunc(in[low:], int(text[n])+1, byteAt)
		in = in[low : low+high]
	}
}

// normalise replaces characters as the model's map says and sets spaces.
func (u *unigram) normalise(text string) string {
	space := spaceMark
	if u.raw {
		space = " "
	}
	out := make([]byte, 0, len(text)+len(text)/4+len(space))
	prefixed, inWord := false, false
	for text != "" {
		part, n := u.chars.replace(text)
		text = text[n:]
		for _, c := range []byte(part) {
			switch {
			case c != ' ' && !inWord:
				inWord = true
				if u.prefix && !prefixed || u.merge {
					out, prefixed = append(out, space...), true
				}
				out = append(out, c)
			case c != ' ':
				out = append(out, c)
			default:
				inWord = false
				if !u.merge {
					out = append(out, space...)
				}
			}
		}
	}
	if u.suffix {
		out = append(out, space...)
	}
	return string(out)
}

func (u *unigram) hash(h hash.Hash, n int) {
	var buf []byte
	for _, score := range u.scores[:n] {
		buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(score))
	}
	for _, f := range []bool{u.prefix, u.suffix, u.merge, u.raw} {
		buf = append(buf, 0)
		if f {
			buf[len(buf)-1] = 1
		}
	}
	for _, unit := range u.chars.units {
		buf = binary.LittleEndian.AppendUint32(buf, unit)
	}
	h.Write(append(buf, u.chars.texts...))
}

// charsmap is SentencePiece's precompiled map from sequences of bytes to what replaces them: a double-array trie whose values
// are places in texts, where the replacements end with a zero byte. A unit has the byte that leads to it (bits 0–7), whether a
// value follows (8), and where its children are, relative to it by exclusive or (10–30, times 256 if bit 9 is set). The unit of a
// value has bit 31 set.
type charsmap struct {
	units []uint32
	texts string
}

func readCharsmap(m gguf.Meta) (c charsmap, err error) {
	const key = "tokenizer.ggml.precompiled_charsmap"
	v, ok := m.Value(key)
	if !ok {
		return c, nil
	}
	var b []byte
	switch v := v.(type) {
	case []uint8:
		b = v
	case []int8:
		b = make([]byte, len(v))
		for i, x := range v {
			b[i] = byte(x)
		}
	default:
		return c, fmt.Errorf("tokenizer: the key %s is %T, not an array of bytes", key, v)
	}
	if len(b) == 0 {
		return c, nil
	}
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b))+4 >= uint64(len(b)) {
		return c, fmt.Errorf("tokenizer: the key %s is damaged: its %d bytes do not hold the trie that it announces", key, len(b))
	}
	size := int(binary.LittleEndian.Uint32(b))
	c.units = make([]uint32, size/4)
	for i := range c.units {
		c.units[i] = binary.LittleEndian.Uint32(b[4+4*i:])
	}
	c.texts = string(b[4+size:])
	return c, nil
}

// replace returns what stands for the first bytes of text, and how many bytes those are: the longest that the map knows, or a
// character as it is. A byte that begins no character becomes U+FFFD. Where the map leads out of itself, it ends.
func (c *charsmap) replace(text string) (part string, n int) {
	value := 0
	for i, at := 0, c.children(0); i < len(text) && text[i] != 0; i++ {
		at ^= int(text[i])
		if at >= len(c.units) || c.units[at]&(1<<31|0xFF) != uint32(text[i]) {
			break
		}
		leaf := c.units[at]>>8&1 != 0
		at ^= c.children(at)
		if leaf && at < len(c.units) {
			if v := int(c.units[at] & (1<<31 - 1)); v < len(c.texts) {
				n, value = i+1, v
			}
		}
	}
	if n > 0 {
		part, _, _ = strings.Cut(c.texts[value:], "\x00")
		return part, n
	}
	r, n := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && n == 1 {
		return "\uFFFD", 1
	}
	return text[:n], n
}

// children returns where the children of a unit are, relative to it.
func (c *charsmap) children(at int) int {
	if at >= len(c.units) {
		return 0
	}
	unit := c.units[at]
	return int(unit>>10) << (unit & (1 << 9) >> 6)
}

package tokenizer

import (
	"fmt"
	"hash"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"tandem"
	"tandem/model/gguf"
)

// Byte-level BPE (Radford et al. 2019) writes each byte as one printable character: bytes that print as
// themselves stay, the others become U+0100 onwards in order. Vocabularies and merges are spelled so in
// files; here they are turned back to bytes once, at loading.
var byteRunes, runeBytes = byteAlphabet()

func byteAlphabet() (runes [256]rune, bytes map[rune]byte) {
	bytes = make(map[rune]byte, 256)
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if !(b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE) {
			r, next = next, next+1
		}
		runes[b], bytes[r] = r, byte(b)
	}
	return runes, bytes
}

// appendBytes appends the bytes that a byte-level spelling stands for. It reports false, and appends the
// text itself, if the text is no such spelling.
func appendBytes(dst []byte, text string) ([]byte, bool) {
	start := len(dst)
	for _, r := range text {
		if r > ' ' && r < 0x7F {
			dst = append(dst, byte(r))
			continue
		}
		b, ok := runeBytes[r]
		if !ok {
			return append(dst[:start], text...), false
		}
		dst = append(dst, b)
	}
	return dst, true
}

// wordCacheSize bounds the number of words whose tokens are remembered, and wordCacheLen their length.
const (
	wordCacheSize = 1 << 14
	wordCacheLen  = 48
)

// bpe encodes words by joining their bytes in the order of the merges.
type bpe struct {
	pre       []scanner
	whole     map[string]tandem.Token // words that are tokens as they stand; nil if merges always decide
	bytes     [256]int32              // the symbol of each byte
	merges    map[uint64]merged       // by the symbols of the pair
	size      int32                   // symbols below it are tokens
	spellings []string                // of the symbols from size on: merge results that are no tokens
	unk       tandem.Token
	digest    []string // the merges as the file lists them, for the fingerprint

	mu    sync.RWMutex
	cache map[string][]tandem.Token
}

type merged struct{ rank, id int32 }

func pairKey(l, r int32) uint64 { return uint64(uint32(l))<<32 | uint64(uint32(r)) }

func (t *Tokenizer) newBPE(m gguf.Meta) error {
	p, err := preFor(m)
	if err != nil {
		return err
	}
	t.pre = p.name
	if err := t.readSpecials(m, defaults{bos: none, eos: none, unk: none, addBOS: p.addBOS}); err != nil {
		return err
	}
	lines, ok := m.Strings("tokenizer.ggml.merges")
	if !ok {
		return fmt.Errorf("tokenizer: the key tokenizer.ggml.merges is missing")
	}
	ids, err := t.spellBytes()
	if err != nil {
		return err
	}
	b := &bpe{pre: p.stages, size: int32(len(t.texts)), unk: t.special.unk, digest: lines,
		cache: map[string][]tandem.Token{}, merges: make(map[uint64]merged, len(lines))}
	symbols := symbolTable{ids: ids, extra: map[string]int32{}, bpe: b}
	for c := range 256 {
		b.bytes[c] = symbols.of([]byte{byte(c)})
	}
	if err := symbols.readMerges(lines); err != nil {
		return err
	}
	if p.wholeWords {
		b.whole = ids
	}
	t.words = b
	return nil
}

// spellBytes fills in the pieces and returns the tokens by their bytes, control tokens excepted.
func (t *Tokenizer) spellBytes() (map[string]tandem.Token, error) {
	var all []byte
	ends := make([]int, len(t.texts))
	spelled := make([]bool, len(t.texts))
	for id, text := range t.texts {
		switch t.types[id] {
		case control, unknown, userDefined:
			all = append(all, text...)
		default:
			all, spelled[id] = appendBytes(all, text)
		}
		ends[id] = len(all)
	}
	joined, start := string(all), 0
	t.pieces = make([]string, len(t.texts))
	ids := make(map[string]tandem.Token, len(t.texts))
	var buf []byte
	for id, end := range ends {
		piece := joined[start:end]
		start, t.pieces[id] = end, piece
		if t.types[id] == userDefined { // its text may also be reached by merging
			if buf, spelled[id] = appendBytes(buf[:0], t.texts[id]); spelled[id] && string(buf) != piece {
				piece = string(buf)
			}
		}
		if !spelled[id] || piece == "" {
			continue
		}
		if other, twice := ids[piece]; twice {
			return nil, fmt.Errorf("tokenizer: tokens %d and %d are both %q", other, id, t.texts[id])
		}
		ids[piece] = tandem.Token(id)
	}
	return ids, nil
}

// symbolTable numbers the symbols that merging knows: the tokens, and beyond them the spellings that only
// occur on the way.
type symbolTable struct {
	ids   map[string]tandem.Token
	extra map[string]int32
	bpe   *bpe
}

func (s *symbolTable) of(b []byte) int32 {
	if id, ok := s.ids[string(b)]; ok {
		return int32(id)
	}
	if id, ok := s.extra[string(b)]; ok {
		return id
	}
	id := s.bpe.size + int32(len(s.bpe.spellings))
	s.bpe.spellings = append(s.bpe.spellings, string(b))
	s.extra[string(b)] = id
	return id
}

func (s *symbolTable) readMerges(lines []string) error {
	var joined []byte
	for rank, line := range lines {
		i := -1
		if line != "" {
			i = strings.IndexByte(line[1:], ' ') + 1
		}
		if i <= 0 || i == len(line)-1 {
			return fmt.Errorf("tokenizer: merge %d, %q, is not two parts with a space between", rank, line)
		}
		var ok1, ok2 bool
		joined, ok1 = appendBytes(joined[:0], line[:i])
		cut := len(joined)
		joined, ok2 = appendBytes(joined, line[i+1:])
		if !ok1 || !ok2 {
			continue // it joins characters that no byte is written as: it can never apply
		}
		key := pairKey(s.of(joined[:cut]), s.of(joined[cut:]))
		if _, twice := s.bpe.merges[key]; !twice {
			s.bpe.merges[key] = merged{int32(rank), s.of(joined)}
		}
	}
	return nil
}

func (b *bpe) encode(dst []tandem.Token, text string, _ bool) []tandem.Token {
	splitWords(text, b.pre, func(word string) { dst = b.word(dst, word) })
	return dst
}

func (b *bpe) word(dst []tandem.Token, word string) []tandem.Token {
	if id, ok := b.whole[word]; ok {
		return append(dst, id)
	}
	if len(word) > wordCacheLen {
		return b.merge(dst, word)
	}
	b.mu.RLock()
	tokens, ok := b.cache[word]
	b.mu.RUnlock()
	if ok {
		return append(dst, tokens...)
	}
	n := len(dst)
	dst = b.merge(dst, word)
	b.mu.Lock()
	if len(b.cache) >= wordCacheSize {
		clear(b.cache)
	}
	b.cache[strings.Clone(word)] = slices.Clone(dst[n:])
	b.mu.Unlock()
	return dst
}

func (b *bpe) merge(dst []tandem.Token, word string) []tandem.Token {
	m := newMerger()
	defer m.free()
	for i := range len(word) {
		m.add(i, i+1, b.bytes[word[i]])
	}
	m.run(func(l, r symbol) (int32, float32, bool) {
		to, ok := b.merges[pairKey(l.id, r.id)]
		return to.id, -float32(to.rank), ok
	})
	for _, s := range m.symbols {
		if !s.dead {
			dst = b.emit(dst, s.id)
		}
	}
	return dst
}

// emit appends a symbol; one that is no token is spelled by its bytes.
func (b *bpe) emit(dst []tandem.Token, id int32) []tandem.Token {
	if id < b.size {
		return append(dst, tandem.Token(id))
	}
	for _, c := range []byte(b.spellings[id-b.size]) {
		if one := b.bytes[c]; one < b.size {
			dst = append(dst, tandem.Token(one))
		} else if b.unk != none {
			dst = append(dst, b.unk)
		}
	}
	return dst
}

func (b *bpe) hash(h hash.Hash) { hashStrings(h, b.digest) }

// ByteLevel returns the byte-level spelling of raw bytes, as vocabularies and merges in files have it:
// a space becomes "Ġ".
func ByteLevel(raw string) string {
	out := make([]byte, 0, len(raw)+8)
	for i := range len(raw) {
		out = utf8.AppendRune(out, byteRunes[raw[i]])
	}
	return string(out)
}

package tokenizer

import (
	"fmt"
	"hash"
	"slices"
	"strings"
	"sync"

	"tandem"
	"tandem/model/gguf"
)

// runeBytes is the alphabet of byte-level BPE (Radford et al. 2019), which writes each byte as one printable character:
// printable bytes of Latin-1 as themselves, the others as U+0100 and up. Vocabularies and merges in files are spelled
// this way; they are converted to bytes once, when they are loaded.
var runeBytes = byteAlphabet()

func byteAlphabet() map[rune]byte {
	bytes := make(map[rune]byte, 256)
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if !(b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE) {
			r, next = next, next+1
		}
		bytes[r] = byte(b)
	}
	return bytes
}

// appendBytes appends the bytes of a byte-level spelling. If the text is not such a spelling, it appends the text and
// reports false.
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

// wordCacheSize bounds the number of words whose tokens are cached, wordCacheLen their length in bytes.
const (
	wordCacheSize = 1 << 14
	wordCacheLen  = 48
)

// bpe encodes words by merging their bytes in the order of the merges.
type bpe struct {
	pre       []scanner
	whole     map[string]tandem.Token // words that become one token without merges; nil if the merges always decide
	bytes     [256]int32              // the symbol of each byte
	merges    map[uint64]merged       // by the symbols of the pair
	size      int32                   // symbols below it are tokens
	spellings []string                // of the symbols from size on: results of merges that are not tokens
	unk       tandem.Token
	digest    []string // the merges as in the file, for the fingerprint

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

// spellBytes sets the pieces and returns the tokens by their bytes, without control tokens.
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
		if t.types[id] == userDefined { // merges may also lead to its text
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

// A symbolTable numbers the symbols of merging: the tokens, then the intermediate results that are not tokens.
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
			return fmt.Errorf("tokenizer: merge %d, %q, is not two parts separated by a space", rank, line)
		}
		var ok1, ok2 bool
		joined, ok1 = appendBytes(joined[:0], line[:i])
		cut := len(joined)
		joined, ok2 = appendBytes(joined, line[i+1:])
		if !ok1 || !ok2 {
			continue // it holds characters that do not stand for bytes, so it never applies
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

// emit appends a symbol. One that is not a token is spelled by its bytes.
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

func (b *bpe) hash(h hash.Hash, _ int) { hashStrings(h, b.digest) }

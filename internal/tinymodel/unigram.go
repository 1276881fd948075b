package tinymodel

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"tandem/internal/scripts"
	"tandem/model/gguf"
)

// Unigram returns the metadata of a unigram vocabulary of n tokens in the form of XLM-R's: pieces of random texts with random
// scores, and a map to the forms that NFKC gives. n must be at least 300.
func Unigram(n int, seed uint64) []gguf.KV {
	tokens, types := []string{"<s>", "<pad>", "</s>", "<unk>", "▁", "<tool>", "<unused>"}, []int32{3, 3, 3, 2, 1, 4, 5}
	seen := map[string]bool{}
	for _, t := range tokens {
		seen[t] = true
	}
	r := rand.New(rand.NewPCG(seed, 29))
	add := func(piece string) {
		if piece != "" && !seen[piece] && len(tokens) < n-1 {
			seen[piece] = true
			tokens, types = append(tokens, piece), append(types, 1)
		}
	}
	for c := '!'; c <= '~'; c++ {
		add(string(c))
	}
	for _, word := range strings.Fields("▁the ▁th he ▁harbour ▁museum open ▁open s ▁at ▁nine ▁key ▁mat un der ▁what ▁is ▁it ▁Übung é") {
		add(word)
	}
	for len(tokens) < n-1 {
		text := []rune("▁" + strings.ReplaceAll(norm.NFKC.String(scripts.Text(r)), " ", "▁"))
		i := r.IntN(len(text))
		add(string(text[i:min(len(text), i+1+r.IntN(4))]))
	}
	tokens, types = append(tokens, "<mask>"), append(types, 3)
	scores := make([]float32, n)
	for i := range scores {
		if types[i] == 1 {
			scores[i] = -float32(1 + 11*r.Float64())
		}
	}
	kvs := []gguf.KV{
		{Key: "tokenizer.ggml.model", Value: "t5"},
		{Key: "tokenizer.ggml.pre", Value: "default"},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.scores", Value: scores},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.add_space_prefix", Value: true},
		{Key: "tokenizer.ggml.remove_extra_whitespaces", Value: true},
		{Key: "tokenizer.ggml.precompiled_charsmap", Value: Charsmap(nfkc())},
		{Key: "tokenizer.ggml.add_bos_token", Value: true},
		{Key: "tokenizer.ggml.add_eos_token", Value: true},
		{Key: "tokenizer.ggml.add_sep_token", Value: true},
	}
	for key, id := range map[string]int{"bos": 0, "padding": 1, "eos": 2, "seperator": 2, "unknown": 3, "cls": 0, "mask": n - 1} {
		kvs = append(kvs, gguf.KV{Key: "tokenizer.ggml." + key + "_token_id", Value: uint32(id)})
	}
	return kvs
}

// nfkc maps characters, and letters with an accent behind them, to what NFKC makes of them, and white space to spaces.
func nfkc() map[string]string {
	m := map[string]string{"\t": " ", "\n": " ", "\r": " ", "\u200b": " ", "\u00ad": ""}
	for c := rune(0x80); c < 0x20000; c++ {
		if s := string(c); utf8.ValidRune(c) && norm.NFKC.String(s) != s {
			m[s] = norm.NFKC.String(s)
		}
	}
	for c := 'A'; c <= 'z'; c++ {
		for _, accent := range "\u0300\u0301\u0302\u0303\u0308" {
			if s := string(c) + string(accent); norm.NFKC.String(s) != s {
				m[s] = norm.NFKC.String(s)
			}
		}
	}
	return m
}

// Charsmap compiles a map from sequences of bytes to their replacements as SentencePiece does: the size of a double-array trie,
// the trie, and the replacements, each followed by a zero byte. The keys hold no zero bytes.
func Charsmap(m map[string]string) []uint8 {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	b := doubleArray{values: map[string]uint32{}}
	var texts []byte
	for _, key := range keys {
		b.values[key] = uint32(len(texts))
		texts = append(append(texts, m[key]...), 0)
	}
	b.grow(0)
	b.used[0] = true
	b.node(0, "", keys)
	out := binary.LittleEndian.AppendUint32(nil, uint32(4*len(b.units)))
	for _, unit := range b.units {
		out = binary.LittleEndian.AppendUint32(out, unit)
	}
	return append(out, texts...)
}

type doubleArray struct {
	values map[string]uint32
	units  []uint32
	used   []bool
	first  int // no block before this one has room
}

func (b *doubleArray) grow(to int) {
	for len(b.units) <= to|0xFF {
		b.units, b.used = append(b.units, 0), append(b.used, false)
	}
}

// node sets the children of the unit at the end of prefix, with which all keys begin.
func (b *doubleArray) node(at int, prefix string, keys []string) {
	var labels []int
	for _, key := range keys {
		label := 0 // the value
		if len(key) > len(prefix) {
			label = int(key[len(prefix)])
		}
		if len(labels) == 0 || labels[len(labels)-1] != label {
			labels = append(labels, label)
		}
	}
	base := b.place(labels)
	for _, label := range labels {
		b.used[base^label] = true
	}
	// The offset is relative: at ^ offset ^ label is the child. A large one must be a multiple of 256.
	if offset := at ^ base; offset < 1<<21 {
		b.units[at] |= uint32(offset) << 10
	} else {
		b.units[at] |= uint32(offset>>8)<<10 | 1<<9
	}
	for len(keys) > 0 {
		if keys[0] == prefix {
			b.units[at] |= 1 << 8
			b.units[base] = 1<<31 | b.values[prefix]
			keys = keys[1:]
			continue
		}
		label, n := keys[0][len(prefix)], 1
		for n < len(keys) && keys[n][len(prefix)] == label {
			n++
		}
		child := base ^ int(label)
		b.units[child] |= uint32(label)
		b.node(child, keys[0][:len(prefix)+1], keys[:n])
		keys = keys[n:]
	}
}

// place returns where children with these labels are free.
func (b *doubleArray) place(labels []int) int {
	for base := max(1, b.first); ; base++ {
		b.grow(base)
		free := true
		for _, label := range labels {
			free = free && !b.used[base^label]
		}
		if free {
			if len(labels) == 1 {
				b.first = max(b.first, base-256)
			}
			return base
		}
	}
}

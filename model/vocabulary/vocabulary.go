// Package vocabulary holds the tokens of a tokenizer by their bytes. What limits a text by its bytes, such as passages
// (decoder/ground) or a grammar (model/grammar), turns that into a set of tokens with it. It knows no model and no text.
package vocabulary

import (
	"runtime"
	"slices"
	"sync"
	"unicode/utf8"
	"weak"

	"tandem"
	"tandem/model/tokenizer"
)

// A Vocabulary holds the tokens of a tokenizer by their bytes. It is immutable.
type Vocabulary struct {
	Size   int
	Tokens *Trie // its keys are tokens
	Ends   []tandem.Token
}

var vocabularies sync.Map // weak.Pointer[tokenizer.Tokenizer] to func() *Vocabulary

// Of returns the vocabulary of a tokenizer. It is made once and lives as long as the tokenizer.
func Of(tok *tokenizer.Tokenizer) *Vocabulary {
	key := weak.Make(tok)
	v, known := vocabularies.LoadOrStore(key, sync.OnceValue(func() *Vocabulary { return ofTokenizer(tok) }))
	if !known {
		runtime.AddCleanup(tok, func(key weak.Pointer[tokenizer.Tokenizer]) { vocabularies.Delete(key) }, key)
	}
	return v.(func() *Vocabulary)()
}

func ofTokenizer(tok *tokenizer.Tokenizer) *Vocabulary {
	pieces := make([]string, tok.Size())
	for i := range pieces {
		if t := tandem.Token(i); !tok.IsControl(t) {
			pieces[i] = string(tok.Piece(t))
		}
	}
	return New(pieces, tok.EOGs()...)
}

// New returns a vocabulary of tokens with these bytes, empty for control tokens, of which ends end a text.
func New(pieces []string, ends ...tandem.Token) *Vocabulary {
	return &Vocabulary{Size: len(pieces), Tokens: NewTrie(pieces), Ends: ends}
}

// has reports whether a token has these bytes.
func (v *Vocabulary) has(text string) bool {
	node := int32(0)
	for i := 0; i < len(text); i++ {
		if node = v.Tokens.Child(node, text[i]); node < 0 {
			return false
		}
	}
	return len(v.Tokens.At(node)) > 0
}

// Spells reports whether tokens can spell the character at the beginning of text, alone or byte by byte, and returns its
// length.
func (v *Vocabulary) Spells(text string) (size int, ok bool) {
	_, size = utf8.DecodeRuneInString(text)
	if v.has(text[:size]) {
		return size, true
	}
	for i := range size {
		if !v.has(text[i : i+1]) {
			return size, false
		}
	}
	return size, true
}

// Spellable returns the strings of a list that tokens can spell.
func (v *Vocabulary) Spellable(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		for s != "" {
			n, ok := v.Spells(s)
			if !ok {
				return true
			}
			s = s[n:]
		}
		return false
	})
}

package ground

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
	size   int
	tokens *trie // its keys are tokens
	ends   []tandem.Token
}

var vocabularies sync.Map // weak.Pointer[tokenizer.Tokenizer] to func() *Vocabulary

// VocabularyOf returns the vocabulary of a tokenizer. It is made once and lives as long as the tokenizer.
func VocabularyOf(tok *tokenizer.Tokenizer) *Vocabulary {
	key := weak.Make(tok)
	v, known := vocabularies.LoadOrStore(key, sync.OnceValue(func() *Vocabulary { return newVocabulary(tok) }))
	if !known {
		runtime.AddCleanup(tok, func(key weak.Pointer[tokenizer.Tokenizer]) { vocabularies.Delete(key) }, key)
	}
	return v.(func() *Vocabulary)()
}

func newVocabulary(tok *tokenizer.Tokenizer) *Vocabulary {
	pieces := make([]string, tok.Size())
	for i := range pieces {
		if t := tandem.Token(i); !tok.IsControl(t) {
			pieces[i] = string(tok.Piece(t))
		}
	}
	return &Vocabulary{size: len(pieces), tokens: newTrie(pieces), ends: tok.EOGs()}
}

// has reports whether a token has these bytes.
func (v *Vocabulary) has(text string) bool {
	node := int32(0)
	for i := 0; i < len(text); i++ {
		if node = v.tokens.child(node, text[i]); node < 0 {
			return false
		}
	}
	return len(v.tokens.at(node)) > 0
}

// spells reports whether tokens can spell the character at the beginning of text, alone or byte by byte, and returns its
// length.
func (v *Vocabulary) spells(text string) (size int, ok bool) {
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

// spellable returns the strings of a list that tokens can spell.
func (v *Vocabulary) spellable(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		for s != "" {
			n, ok := v.spells(s)
			if !ok {
				return true
			}
			s = s[n:]
		}
		return false
	})
}

package tokenizer

import (
	"hash"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"tandem"
	"tandem/model/gguf"
)

// wordPiece splits words into the longest tokens from the left, as BERT does. In GGUF files, tokens that start a word
// are spelled with a leading "▁".
type wordPiece struct {
	ids       map[string]tandem.Token
	longest   int // bytes of the longest token
	unk       tandem.Token
	lowercase bool
	accents   bool // accents are kept
}

func (t *Tokenizer) newWordPiece(m gguf.Meta) error {
	cls := t.id(m, "cls_token_id", 101)
	if err := t.readSpecials(m, defaults{bos: cls, eos: none, unk: 100, sep: 102, addBOS: true}); err != nil {
		return err
	}
	// BERT always frames its input, with [CLS] as BOS and [SEP] as EOS.
	if sep := t.special.sep; sep != none {
		t.special.eos, t.special.addEOS = sep, true
	}
	w := &wordPiece{unk: t.special.unk, lowercase: true}
	if v, ok := m.Bool("tokenizer.ggml.normalizer.lowercase"); ok {
		w.lowercase, w.accents = v, !v
	}
	if v, ok := m.Bool("tokenizer.ggml.normalizer.strip_accents"); ok {
		w.accents = !v
	}
	var err error
	if w.ids, err = t.byText(); err != nil {
		return err
	}
	t.pieces = make([]string, len(t.texts))
	for id, text := range t.texts {
		t.pieces[id] = text
		if ty := t.types[id]; ty == normal || ty == undefined || ty == unused {
			t.pieces[id] = strings.ReplaceAll(text, spaceMark, " ")
		}
		w.longest = max(w.longest, len(text))
	}
	t.stripSpace = true
	t.words = w
	return nil
}

func (w *wordPiece) encode(dst []tandem.Token, text string, _ bool) []tandem.Token {
	for _, word := range w.wordsOf(text) {
		dst = w.word(dst, spaceMark+word)
	}
	return dst
}

// word appends the tokens of a word, or the unknown token if no tokens spell it.
func (w *wordPiece) word(dst []tandem.Token, word string) []tandem.Token {
	before := len(dst)
	for i := 0; i < len(word); {
		id, n := none, min(len(word)-i, w.longest)
		for ; n > 0; n-- {
			if found, ok := w.ids[word[i:i+n]]; ok {
				id = found
				break
			}
		}
		if id == none {
			dst = dst[:before]
			break
		}
		dst = append(dst, id)
		i += n
	}
	if len(dst) == before && w.unk != none {
		dst = append(dst, w.unk)
	}
	return dst
}

// wordsOf normalises text and splits it at white space and around punctuation and Chinese characters.
func (w *wordPiece) wordsOf(text string) []string {
	if !w.accents {
		text = norm.NFD.String(text)
	}
	var words []string
	var word []byte
	end := func() {
		if len(word) > 0 {
			words, word = append(words, string(word)), word[:0]
		}
	}
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			end()
			continue
		case r == 0 || r == utf8.RuneError || unicode.Is(unicode.C, r) || !w.accents && unicode.Is(unicode.M, r):
			continue
		}
		alone := unicode.IsPunct(r) || r < 0x7F && unicode.IsSymbol(r) || isChinese(r)
		if w.lowercase {
			r = unicode.ToLower(r)
		}
		if alone {
			end()
		}
		word = utf8.AppendRune(word, r)
		if alone {
			end()
		}
	}
	end()
	return words
}

// isChinese reports whether BERT treats a character as a word. (The fifth range starts too late in the common
// implementations, with which models were trained.)
func isChinese(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}

func (w *wordPiece) hash(h hash.Hash, _ int) {
	flags := byte(0)
	if w.lowercase {
		flags |= 1
	}
	if w.accents {
		flags |= 2
	}
	h.Write([]byte{flags})
}

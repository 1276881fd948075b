package tokenizer

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"tandem"
	"tandem/model/gguf"
)

// A tokenType is the type of a token, by its number in GGUF files.
type tokenType uint8

const (
	undefined tokenType = iota
	normal
	unknown
	control
	userDefined
	unused
	byteToken
)

const none tandem.Token = -1

// specials are the special tokens of a vocabulary, or none.
type specials struct {
	bos, eos, unk  tandem.Token
	unsupported    tandem.Token // see Unsupported
	addBOS, addEOS bool         // what AddSpecial adds; for WordPiece, BOS is [CLS] and EOS [SEP]
	sep            tandem.Token // between two texts
	closed, parted bool         // a pair's texts end with EOS, or sep if there is none; sep stands between them (see Pair)
	eog            []tandem.Token
}

// A special is a token whose name is recognised in text.
type special struct {
	text  string
	token tandem.Token
	plain bool // user-defined text, which is recognised even without ParseSpecial
	trims bool // white space behind it is no text
}

// trimming reports whether white space behind special tokens is no text. A GGUF file does not say so of a token. llama.cpp goes
// by the model's name, and so does this package: Phi-3 was trained without the line ends that its template writes.
func trimming(m gguf.Meta) bool {
	name, _ := m.String("general.name")
	name = strings.ToLower(name)
	return strings.Contains(name, "phi-3") || strings.Contains(name, "phi3")
}

// untrimmed are the names of special tokens behind which Phi-3 keeps white space.
var untrimmed = []string{"<unk>", "<s>", "<|endoftext|>"}

func readTypes(m gguf.Meta, n int) ([]tokenType, error) {
	types := make([]tokenType, n)
	list, ok := m.Ints("tokenizer.ggml.token_type")
	if !ok {
		if _, ok := m.Value("tokenizer.ggml.token_type"); ok {
			return nil, fmt.Errorf("tokenizer: the key tokenizer.ggml.token_type is not an array of integers")
		}
		for i := range types {
			types[i] = normal
		}
		return types, nil
	}
	if len(list) < n {
		return nil, fmt.Errorf("tokenizer: tokenizer.ggml.token_type has %d entries for %d tokens", len(list), n)
	}
	for i := range types {
		if list[i] >= int64(normal) && list[i] <= int64(byteToken) {
			types[i] = tokenType(list[i])
		}
	}
	return types, nil
}

// id reads the id of a special token. An id or a fallback outside the vocabulary counts as absent.
func (t *Tokenizer) id(m gguf.Meta, key string, fallback tandem.Token) tandem.Token {
	if v, ok := m.Uint("tokenizer.ggml." + key); ok && v < uint64(len(t.texts)) {
		return tandem.Token(v)
	}
	if t.valid(fallback) {
		return fallback
	}
	return none
}

// adds reads a switch for AddSpecial. If the file sets it, the token must exist.
func (t *Tokenizer) adds(m gguf.Meta, key string, fallback bool, id tandem.Token) (bool, error) {
	on, ok := m.Bool("tokenizer.ggml." + key)
	if !ok {
		return fallback && id != none, nil
	}
	if on && id == none {
		return false, fmt.Errorf("tokenizer: tokenizer.ggml.%s is true, but the vocabulary has no such token", key)
	}
	return on, nil
}

// defaults are the values of a kind of tokenizer for what the file does not tell.
type defaults struct {
	bos, eos, unk tandem.Token
	sep           tandem.Token // 0 for none
	addBOS        bool
	addEOS        bool
}

// readSpecials sets the special tokens. It also turns tokens into control tokens if their names require it.
func (t *Tokenizer) readSpecials(m gguf.Meta, d defaults) (err error) {
	s := &t.special
	s.bos = t.id(m, "bos_token_id", d.bos)
	s.eos = t.id(m, "eos_token_id", d.eos)
	s.unk = t.id(m, "unknown_token_id", d.unk)
	s.sep = none
	if _, ok := m.Value("tokenizer.ggml.seperator_token_id"); ok || d.sep != 0 {
		s.sep = t.id(m, "seperator_token_id", d.sep)
	}
	s.unsupported = none
	if v, ok := m.Uint("tandem.none_token_id"); ok && v < uint64(len(t.texts)) {
		s.unsupported = tandem.Token(v)
	}
	if s.addBOS, err = t.adds(m, "add_bos_token", d.addBOS, s.bos); err != nil {
		return err
	}
	end := s.eos
	if end == none {
		end = s.sep
	}
	if s.closed, err = t.adds(m, "add_eos_token", d.addEOS, end); err != nil {
		return err
	}
	s.addEOS = s.closed && s.eos != none
	if s.parted, err = t.adds(m, "add_sep_token", d.sep != 0, s.sep); err != nil {
		return err
	}
	t.findEOG(m)
	t.trims = trimming(m)
	for id, text := range t.texts {
		ty := t.types[id]
		if text != "" && (ty == control || ty == userDefined || ty == unknown) {
			trims := t.trims && !slices.Contains(untrimmed, text)
			t.split = append(t.split, special{text, tandem.Token(id), ty == userDefined, trims})
		}
	}
	sort.SliceStable(t.split, func(i, j int) bool { return len(t.split[i].text) > len(t.split[j].text) })
	return nil
}

// turnEnds are the names of tokens that end a generation. Files often mark only one of them as EOS, so the names decide,
// as in llama.cpp.
var turnEnds = map[string]bool{
	"<|eot_id|>": true, "<|im_end|>": true, "<|end|>": true, "<|return|>": true, "<|call|>": true,
	"<|flush|>": true, "<|calls|>": true, "<end_of_turn>": true, "<|endoftext|>": true, "</s>": true,
	"<|eom_id|>": true, "<EOT>": true, "_<EOT>": true, "[EOT]": true, "[EOS]": true, "<|end_of_text|>": true,
	"<end_of_utterance>": true, "<eos>": true, "<turn|>": true, "<|tool_response>": true,
	"<｜end▁of▁sentence｜>": true, "[e~[": true,
}

// fileEnds are the names of fill-in-the-middle tokens that end a completion. One token of each group counts.
var fileEnds = [][]string{
	{"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"},
	{"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"},
	{"<|file_sep|>"},
}

func (t *Tokenizer) findEOG(m gguf.Meta) {
	found := map[tandem.Token]bool{}
	byName := map[string]tandem.Token{}
	for id, text := range t.texts {
		if turnEnds[text] {
			found[tandem.Token(id)] = true
			t.types[id] = control
			byName[text] = tandem.Token(id)
		}
		if len(text) > 3 && (text[0] == '<' || text[0] == '[') {
			byName[text] = tandem.Token(id)
		}
	}
	for i, key := range []string{"fim_pad_token_id", "fim_rep_token_id", "fim_sep_token_id"} {
		id := t.id(m, key, none)
		for _, name := range fileEnds[i] {
			if other, ok := byName[name]; ok && id == none {
				id = other
				t.types[id] = control
			}
		}
		found[id] = true
	}
	for _, id := range []tandem.Token{t.special.eos, t.id(m, "eot_token_id", none), t.id(m, "eom_token_id", none)} {
		found[id] = true
	}
	has := func(name string) bool { id, ok := byName[name]; return ok && found[id] }
	// In vocabularies with these tokens, <|end|> and </s> are ordinary parts of an answer.
	if id := byName["<|end|>"]; has("<|end|>") && (has("<|return|>") && has("<|call|>") || has("<|flush|>") && (has("<|call|>") || has("<|calls|>"))) {
		delete(found, id)
		t.types[id] = userDefined
	}
	if id := byName["</s>"]; has("</s>") && has("<|tool_response>") {
		delete(found, id)
		t.types[id] = normal
	}
	delete(found, none)
	for id := range found {
		t.special.eog = append(t.special.eog, id)
	}
	slices.Sort(t.special.eog)
}

// A fragment is a special token or, if token is none, the text between special tokens.
type fragment struct {
	text  string
	token tandem.Token
}

// partition splits text at special tokens. Longer names are found first, each from left to right, which decides
// between overlapping names.
func (t *Tokenizer) partition(text string, parse bool) []fragment {
	if text == "" {
		return nil
	}
	parts := []fragment{{text, none}}
	for _, s := range t.split {
		if !s.plain && !parse || strings.IndexByte(text, s.text[0]) < 0 || !strings.Contains(text, s.text) {
			continue
		}
		var next []fragment
		for _, f := range parts {
			if f.token != none {
				next = append(next, f)
				continue
			}
			for f.text != "" {
				i := strings.Index(f.text, s.text)
				if i < 0 {
					next = append(next, f)
					break
				}
				if i > 0 {
					next = append(next, fragment{f.text[:i], none})
				}
				next = append(next, fragment{token: s.token})
				if f.text = f.text[i+len(s.text):]; s.trims {
					f.text = strings.TrimLeft(f.text, " \t\n\v\f\r")
				}
			}
		}
		parts = next
	}
	return parts
}

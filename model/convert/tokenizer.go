package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"tandem/model/gguf"
	"tandem/model/tokenizer"
)

// Token types in GGUF.
const (
	normal int32 = 1 + iota
	unknown
	control
	userDefined
	unused
	byteToken
)

// maxTokens bounds the vocabulary. An id in the file determines its size, so a damaged file could demand any amount of
// memory.
const maxTokens = 1 << 22

// tokenizerJSON holds the fields of tokenizer.json that byte-level BPE and SentencePiece BPE need.
type tokenizerJSON struct {
	Added        []addedToken `json:"added_tokens"`
	Normalizer   *part        `json:"normalizer"`
	PreTokenizer *part        `json:"pre_tokenizer"`
	Post         *part        `json:"post_processor"`
	Decoder      *part        `json:"decoder"`
	Model        struct {
		Type         string            `json:"type"`
		Vocab        json.RawMessage   `json:"vocab"`
		Merges       []json.RawMessage `json:"merges"`
		Unknown      *string           `json:"unk_token"`
		ByteFallback bool              `json:"byte_fallback"`
		IgnoreMerges bool              `json:"ignore_merges"`
	} `json:"model"`
}

// An addedToken is found in text by its name.
type addedToken struct {
	ID      int64  `json:"id"`
	Content string `json:"content"`
	Special bool   `json:"special"`
}

// special reports whether a token is no text. As in llama.cpp's converter, its name may say so: files mark turns and places for
// code with tokens that they do not call special.
func (a addedToken) special() bool {
	within := func(prefix, suffix string) bool {
		return strings.HasPrefix(a.Content, prefix) && strings.HasSuffix(a.Content, suffix)
	}
	return a.Special || slices.Contains([]string{"<pad>", "<mask>", "<2mass>", "[@BOS@]"}, a.Content) ||
		within("<|", "|>") || within("<｜", "｜>") || within("<unused", ">")
}

// A part is a normalizer, pre-tokenizer, post-processor or decoder. Type determines which fields are used.
type part struct {
	Type        string `json:"type"`
	Normalizers []part `json:"normalizers"`
	Pre         []part `json:"pretokenizers"`
	Processors  []part `json:"processors"`
	Decoders    []part `json:"decoders"`
	Pattern     struct {
		Regex  *string `json:"Regex"`
		String *string `json:"String"`
	} `json:"pattern"`
	Behavior   string `json:"behavior"`
	Invert     bool   `json:"invert"`
	Individual bool   `json:"individual_digits"`
	UseRegex   *bool  `json:"use_regex"`
	AddPrefix  bool   `json:"add_prefix_space"`
	Prepend    string `json:"prepend"`
	Scheme     string `json:"prepend_scheme"`
	Split      *bool  `json:"split"`
	Content    any    `json:"content"`
	Single     []struct {
		Special *struct {
			ID string `json:"id"`
		} `json:"SpecialToken"`
	} `json:"single"`
}

// flat returns the members of a sequence, recursively, or the part itself. It returns nil for a nil part.
func (p *part) flat() []part {
	if p == nil {
		return nil
	}
	if p.Type != "Sequence" {
		return []part{*p}
	}
	var list []part
	for _, members := range [][]part{p.Normalizers, p.Pre, p.Processors, p.Decoders} {
		for _, m := range members {
			list = append(list, m.flat()...)
		}
	}
	return list
}

// tokenizerConfig holds the fields of tokenizer_config.json.
type tokenizerConfig struct {
	BOS      tokenName       `json:"bos_token"`
	EOS      tokenName       `json:"eos_token"`
	UNK      tokenName       `json:"unk_token"`
	PAD      tokenName       `json:"pad_token"`
	AddBOS   *bool           `json:"add_bos_token"`
	AddEOS   *bool           `json:"add_eos_token"`
	Template json.RawMessage `json:"chat_template"`
}

// tokenName is the text of a token. In JSON it is a string, or an object with the field content.
type tokenName string

// UnmarshalJSON reads either form. For null, the name stays empty.
func (n *tokenName) UnmarshalJSON(b []byte) error {
	var text *string
	if json.Unmarshal(b, &text) == nil {
		if text != nil {
			*n = tokenName(*text)
		}
		return nil
	}
	var object struct {
		Content string `json:"content"`
	}
	if err := json.Unmarshal(b, &object); err != nil {
		return err
	}
	*n = tokenName(object.Content)
	return nil
}

// vocabulary holds the tokens by id, their GGUF types, and the ids by text.
type vocabulary struct {
	tokens []string
	types  []int32
	ids    map[string]int
}

// readTokenizer converts the tokenizer of the model in dir to GGUF metadata. It reads tokenizer.json, or vocab.json and
// merges.txt if there is none. The result has as many tokens as the embedding has rows.
func readTokenizer(dir string, c *hfConfig) ([]gguf.KV, error) {
	var config tokenizerConfig
	if err := readJSON(filepath.Join(dir, "tokenizer_config.json"), &config); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	path := filepath.Join(dir, "tokenizer.json")
	b, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		path = filepath.Join(dir, "vocab.json")
		b, err = fromTwoFiles(dir, c)
	}
	if err != nil {
		return nil, err
	}
	meta, v, err := parseTokenizer(b, config, int(c.Vocab))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	meta = append(meta, endings(dir, config, v)...)
	template, err := chatTemplate(dir, config)
	if err != nil {
		return nil, err
	}
	if template != "" {
		meta = append(meta, gguf.KV{Key: "tokenizer.chat_template", Value: template})
	}
	if _, err := tokenizer.FromMeta(gguf.NewMeta(meta)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return meta, nil
}

func readJSON(path string, v any) error {
	b, err := readSmall(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// fromTwoFiles builds a tokenizer.json from vocab.json and merges.txt, the older format of GPT-2's tokenizer. OPT uses it.
func fromTwoFiles(dir string, c *hfConfig) ([]byte, error) {
	vocab, err := readSmall(filepath.Join(dir, "vocab.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has neither tokenizer.json nor vocab.json with merges.txt: tokenizer.model alone cannot be converted", dir)
	} else if err != nil {
		return nil, err
	}
	lines, err := readSmall(filepath.Join(dir, "merges.txt"))
	if err != nil {
		return nil, err
	}
	var merges []string
	for _, line := range strings.Split(strings.TrimRight(string(lines), "\n"), "\n") {
		if line = strings.TrimSuffix(line, "\r"); line != "" && !strings.HasPrefix(line, "#version") {
			merges = append(merges, line)
		}
	}
	pattern := patterns[0].stages
	if c.family.pattern != "" {
		pattern = c.family.pattern
	}
	split := map[string]any{"type": "Split", "pattern": map[string]any{"Regex": strings.TrimPrefix(pattern, "re:")}, "behavior": "Isolated"}
	level := map[string]any{"type": "ByteLevel", "use_regex": false}
	return json.Marshal(map[string]any{
		"pre_tokenizer": map[string]any{"type": "Sequence", "pretokenizers": []any{split, level}},
		"decoder":       level,
		"model":         map[string]any{"type": "BPE", "vocab": json.RawMessage(vocab), "merges": merges},
	})
}

// parseTokenizer converts a tokenizer.json to metadata. Ids below size that it does not mention become unused tokens.
func parseTokenizer(b []byte, config tokenizerConfig, size int) ([]gguf.KV, *vocabulary, error) {
	var t tokenizerJSON
	if err := json.Unmarshal(b, &t); err != nil {
		return nil, nil, err
	}
	if t.Model.Type != "BPE" && (t.Model.Type != "" || t.Model.Merges == nil) {
		return nil, nil, fmt.Errorf("tokenizer model %.100q is not supported: want BPE", t.Model.Type)
	}
	v, err := t.vocabulary(config, size)
	if err != nil {
		return nil, nil, err
	}
	merges, err := t.merges()
	if err != nil {
		return nil, nil, err
	}
	var meta []gguf.KV
	if slices.ContainsFunc(t.PreTokenizer.flat(), func(p part) bool { return p.Type == "ByteLevel" }) {
		meta, err = t.byteLevel(v, merges)
	} else if t.Model.ByteFallback {
		meta, err = t.sentencePiece(v, merges)
	} else {
		err = fmt.Errorf("the tokenizer is neither byte-level BPE nor BPE with byte fallback: others are not supported")
	}
	if err != nil {
		return nil, nil, err
	}
	return append(meta, t.switches(config, v)...), v, nil
}

// vocabulary returns the tokens by id.
func (t *tokenizerJSON) vocabulary(config tokenizerConfig, size int) (*vocabulary, error) {
	var ids map[string]int64
	if err := json.Unmarshal(t.Model.Vocab, &ids); err != nil {
		return nil, fmt.Errorf("vocabulary: %w", err)
	}
	added := t.embedded(config, ids, size)
	n := size
	for _, id := range ids {
		n = max(n, int(min(max(id, 0), maxTokens))+1)
	}
	for _, a := range added {
		n = max(n, int(min(max(a.ID, 0), maxTokens))+1)
	}
	if n > maxTokens {
		return nil, fmt.Errorf("the vocabulary has more than %d tokens", maxTokens)
	}
	if n > size {
		return nil, fmt.Errorf("the tokenizer has ids up to %d, but the model has only %d embeddings", n-1, size)
	}
	v := &vocabulary{tokens: make([]string, n), types: make([]int32, n), ids: make(map[string]int, len(ids))}
	set := func(id int64, text string, typ int32) error {
		switch {
		case id < 0:
			return fmt.Errorf("token %.100q has the negative id %d", text, id)
		case v.types[id] != 0 && v.tokens[id] != text:
			return fmt.Errorf("tokens %.100q and %.100q have the same id %d", v.tokens[id], text, id)
		}
		v.tokens[id], v.types[id], v.ids[text] = text, typ, int(id)
		return nil
	}
	for text, id := range ids {
		if err := set(id, text, normal); err != nil {
			return nil, err
		}
	}
	for _, a := range added {
		typ := userDefined
		if a.special() {
			typ = control
		}
		if err := set(a.ID, a.Content, typ); err != nil {
			return nil, err
		}
	}
	for id, typ := range v.types {
		if typ == 0 {
			v.tokens[id], v.types[id] = fmt.Sprintf("[PAD%d]", id), unused
		}
	}
	return v, nil
}

// embedded returns the added tokens, without special ones for which the model has no embedding, unless it begins or
// ends its texts with them. It removes those from the vocabulary, too. Gemma 3's smaller models have none for pictures.
func (t *tokenizerJSON) embedded(config tokenizerConfig, ids map[string]int64, size int) (list []addedToken) {
	for _, a := range t.Added {
		needed := a.Content == string(config.BOS) || a.Content == string(config.EOS)
		if a.Special && !needed && a.ID >= int64(size) && a.ID < maxTokens {
			delete(ids, a.Content)
			continue
		}
		list = append(list, a)
	}
	return list
}

// merges returns the merges as two parts separated by a space.
func (t *tokenizerJSON) merges() ([]string, error) {
	lines := make([]string, len(t.Model.Merges))
	for i, raw := range t.Model.Merges {
		var line string
		var pair [2]string
		switch {
		case json.Unmarshal(raw, &line) == nil:
			lines[i] = line
		case json.Unmarshal(raw, &pair) == nil && !strings.Contains(pair[0]+pair[1], " "):
			lines[i] = pair[0] + " " + pair[1]
		default:
			return nil, fmt.Errorf("merge %d is %.100q, want two parts without spaces", i, raw)
		}
	}
	return lines, nil
}

// byteLevel returns the metadata of a byte-level BPE tokenizer, like GPT-2's.
func (t *tokenizerJSON) byteLevel(v *vocabulary, merges []string) ([]gguf.KV, error) {
	for _, n := range t.Normalizer.flat() {
		if n.Type != "NFC" { // llama.cpp ignores NFC too: text is nearly always composed already
			return nil, fmt.Errorf("normalizer %.100q is not supported with byte-level BPE", n.Type)
		}
	}
	pre, err := t.pre()
	if err != nil {
		return nil, err
	}
	return []gguf.KV{
		{Key: "tokenizer.ggml.model", Value: "gpt2"}, {Key: "tokenizer.ggml.pre", Value: pre},
		{Key: "tokenizer.ggml.tokens", Value: v.tokens}, {Key: "tokenizer.ggml.token_type", Value: v.types},
		{Key: "tokenizer.ggml.merges", Value: merges},
	}, nil
}

// sentencePiece returns the metadata of a SentencePiece tokenizer, like Llama 2's. GGUF joins tokens by score, not by
// merges. The merges were derived from the scores, so the rank of the first merge that gives a token determines its score.
func (t *tokenizerJSON) sentencePiece(v *vocabulary, merges []string) ([]gguf.KV, error) {
	prefix, err := t.spacePrefix()
	if err != nil {
		return nil, err
	}
	scores := mergeScores(v, merges)
	for id, text := range v.tokens {
		if v.types[id] == normal && len(text) == 6 && strings.HasPrefix(text, "<0x") && text[5] == '>' {
			v.types[id], scores[id] = byteToken, 0
		}
		if v.types[id] == userDefined { // which are found in text before spaces are replaced
			v.tokens[id] = strings.ReplaceAll(text, "▁", " ")
		}
	}
	meta := []gguf.KV{
		{Key: "tokenizer.ggml.model", Value: "llama"}, {Key: "tokenizer.ggml.pre", Value: "default"},
		{Key: "tokenizer.ggml.tokens", Value: v.tokens}, {Key: "tokenizer.ggml.scores", Value: scores},
		{Key: "tokenizer.ggml.token_type", Value: v.types}, {Key: "tokenizer.ggml.add_space_prefix", Value: prefix},
	}
	if u := t.Model.Unknown; u != nil {
		if id, ok := v.ids[*u]; ok {
			v.types[id] = unknown
			meta = append(meta, gguf.KV{Key: "tokenizer.ggml.unknown_token_id", Value: uint32(id)})
		}
	}
	return meta, nil
}

// mergeScores returns a score for each token: the negative rank of the first merge that gives it. Tokens that no merge gives
// come after those.
func mergeScores(v *vocabulary, merges []string) []float32 {
	scores := make([]float32, len(v.tokens))
	for i := range scores {
		scores[i] = -float32(len(merges) + i)
	}
	seen := make([]bool, len(v.tokens))
	for rank, line := range merges {
		id, ok := v.ids[strings.Replace(line, " ", "", 1)]
		if ok && !seen[id] {
			scores[id], seen[id] = -float32(rank), true
		}
	}
	return scores
}

// spacePrefix reports whether a space is added before the text. It is an error if the tokenizer changes the text in ways that
// GGUF's does not.
func (t *tokenizerJSON) spacePrefix() (prefix bool, err error) {
	spaces := false
	for _, n := range t.Normalizer.flat() {
		switch {
		case n.Type == "Prepend" && n.Prepend == "▁":
			prefix = true
		case n.Type == "Replace" && n.Pattern.String != nil && *n.Pattern.String == " " && n.Content == "▁":
			spaces = true
		default:
			return false, fmt.Errorf("normalizer %.100q is not supported with SentencePiece BPE", n.Type)
		}
	}
	for _, p := range t.PreTokenizer.flat() {
		if p.Type == "Split" && p.Pattern.String != nil && *p.Pattern.String == " " && spaces {
			continue // there are no spaces any more
		}
		if p.Type != "Metaspace" || p.Split != nil && *p.Split {
			return false, fmt.Errorf("pre-tokenizer %.100q is not supported with SentencePiece BPE", p.Type)
		}
		prefix = prefix || p.Scheme != "never" && (p.Scheme != "" || p.AddPrefix)
	}
	return prefix, nil
}

// switches returns the keys that say whether BOS and EOS are added to a text.
func (t *tokenizerJSON) switches(config tokenizerConfig, v *vocabulary) []gguf.KV {
	bos, eos := false, false
	if config.AddBOS != nil {
		bos = *config.AddBOS
	} else {
		for _, p := range t.Post.flat() {
			if p.Type == "TemplateProcessing" && len(p.Single) > 0 && p.Single[0].Special != nil {
				bos = bos || p.Single[0].Special.ID == string(config.BOS)
			}
		}
	}
	if config.AddEOS != nil {
		eos = *config.AddEOS
	}
	_, hasBOS := v.ids[string(config.BOS)]
	_, hasEOS := v.ids[string(config.EOS)]
	return []gguf.KV{{Key: "tokenizer.ggml.add_bos_token", Value: bos && hasBOS}, {Key: "tokenizer.ggml.add_eos_token", Value: eos && hasEOS}}
}

// endings returns the ids of the special tokens: from their names in tokenizer_config.json, or else from
// generation_config.json or config.json.
func endings(dir string, config tokenizerConfig, v *vocabulary) (meta []gguf.KV) {
	var generation, model map[string]json.RawMessage
	readJSON(filepath.Join(dir, "generation_config.json"), &generation) // not every model has one
	readJSON(filepath.Join(dir, "config.json"), &model)
	for _, s := range []struct {
		key  string
		name tokenName
	}{{"bos", config.BOS}, {"eos", config.EOS}, {"unk", config.UNK}, {"pad", config.PAD}} {
		id, ok := v.ids[string(s.name)]
		for _, from := range []map[string]json.RawMessage{generation, model} {
			if !ok {
				id, ok = firstID(from[s.key+"_token_id"], len(v.tokens))
			}
		}
		key := map[string]string{"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}[s.key]
		if ok && (key != "unknown" || s.name != "") {
			meta = append(meta, gguf.KV{Key: "tokenizer.ggml." + key + "_token_id", Value: uint32(id)})
		}
	}
	return meta
}

// firstID parses an id, or a list of ids, of which it returns the first. It reports false for ids outside [0, n).
func firstID(raw json.RawMessage, n int) (int, bool) {
	var list []int64
	if json.Unmarshal(raw, &list) != nil {
		list = make([]int64, 1)
		if raw == nil || string(raw) == "null" || json.Unmarshal(raw, &list[0]) != nil {
			return 0, false
		}
	}
	if len(list) == 0 || list[0] < 0 || list[0] >= int64(n) {
		return 0, false
	}
	return int(list[0]), true
}

// chatTemplate returns the chat template: the content of chat_template.jinja, or chat_template in tokenizer_config.json,
// which is a string or a list with one named default. It returns "" if there is none.
func chatTemplate(dir string, config tokenizerConfig) (string, error) {
	b, err := readSmall(filepath.Join(dir, "chat_template.jinja"))
	if err == nil {
		return string(b), nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var text *string
	if config.Template == nil {
		return "", nil
	}
	if json.Unmarshal(config.Template, &text) == nil {
		if text == nil {
			return "", nil
		}
		return *text, nil
	}
	var several []struct{ Name, Template string }
	if err := json.Unmarshal(config.Template, &several); err != nil {
		return "", fmt.Errorf("tokenizer_config.json: chat_template: %w", err)
	}
	for _, t := range several {
		if t.Name == "default" {
			return t.Template, nil
		}
	}
	return "", nil
}

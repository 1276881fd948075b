package chat

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"tandem"
	"tandem/model/gguf"
	"tandem/model/tokenizer"
)

// A Message is one turn of a conversation.
type Message struct {
	Role    string // "system", "user" or "assistant"
	Content string
}

// chatML is the template of models that know the tokens <|im_start|> and <|im_end|> and bring none.
const chatML = `{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`

// plainChat is the template of models that know no chat at all.
const plainChat = `{% for message in messages %}{% if message['role'] == 'system' %}{{ message['content'] + '\n\n' }}{% elif message['role'] == 'user' %}{{ 'Question: ' + message['content'] + '\n' }}{% else %}{{ 'Answer: ' + message['content'] + '\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ 'Answer:' }}{% endif %}`

// maxTemplate bounds the source of a template, maxPrompt what it may render, both in bytes.
const (
	maxTemplate = 1 << 20
	maxPrompt   = 16 << 20
)

// A Template renders a conversation as the text that a model was trained to continue. The templates in
// model files are programs in Jinja; they are compiled once, run without access to files, and stopped
// when they run away. A Template is safe for concurrent use.
type Template struct {
	source   string
	bos, eos string
	program  *program
	broken   error // why there is no program, if there is none

	// Now is the clock that templates read through strftime_now; time.Now unless set. A prompt with a
	// date in it differs from day to day, and so do the keys of cached prompts.
	Now func() time.Time
}

// A TemplateError is a chat template's own objection to a conversation, such as roles that do not
// alternate.
type TemplateError struct{ Message string }

func (e *TemplateError) Error() string {
	return "the model's chat template refuses this conversation: " + e.Message
}

// NewTemplate compiles a chat template; bos and eos are the texts of these tokens, which templates
// print. An empty source means ChatML.
func NewTemplate(source, bos, eos string) (*Template, error) {
	if source == "" {
		source = chatML
	}
	if len(source) > maxTemplate {
		return nil, fmt.Errorf("chat template: %d bytes are too long (limit %d)", len(source), maxTemplate)
	}
	p, err := compile(source)
	if err != nil {
		return nil, fmt.Errorf("chat template: %w", err)
	}
	return &Template{source: source, bos: bos, eos: eos, program: p, Now: time.Now}, nil
}

// TemplateOf returns the template that a model file brings (tokenizer.chat_template), else ChatML if the
// vocabulary has its tokens, else a plain one of questions and answers. A template that does not compile
// keeps nobody from using the model without it: it is returned, and every use of it gives the error.
func TemplateOf(f *gguf.File, tok *tokenizer.Tokenizer) *Template {
	source, ok := f.Meta.String("tokenizer.chat_template")
	if !ok || source == "" {
		source = plainChat
		if _, ok := tok.Lookup("<|im_start|>"); ok {
			source = chatML
		}
	}
	var bos, eos string
	if id, ok := tok.BOS(); ok {
		bos = string(tok.Piece(id))
	}
	if id, ok := tok.EOS(); ok {
		eos = string(tok.Piece(id))
	}
	t, err := NewTemplate(source, bos, eos)
	if err != nil {
		t = &Template{source: source, bos: bos, eos: eos, broken: fmt.Errorf("%s: %w", f.Name, err)}
	}
	return t
}

// Source returns the template's program.
func (t *Template) Source() string { return t.source }

// Render returns the prompt for a conversation. With addGeneration it ends where the model's answer
// begins. The error is a *TemplateError if the template itself objects.
func (t *Template) Render(msgs []Message, addGeneration bool) (string, error) {
	if t.broken != nil {
		return "", t.broken
	}
	list := make([]any, len(msgs))
	for i, m := range msgs {
		list[i] = map[string]any{"role": m.Role, "content": m.Content}
	}
	return t.program.run(map[string]any{
		"messages": list, "add_generation_prompt": addGeneration,
		"bos_token": t.bos, "eos_token": t.eos,
	}, t.Now)
}

// Split renders a system message and a conversation with a generation prompt, in two parts that together
// are the prompt. The first part depends on the system message alone in all usual templates: it ends
// where the text of the first user message begins, so the KV cache of a long system message, a passage
// say, serves every question about it. A template that puts the user's text first, or that writes the
// system message later, gives a shorter first part, down to nothing.
//
// A template that refuses system messages gets the text at the head of the first user message instead.
// An empty system message is left out.
func (t *Template) Split(system string, msgs []Message) (prefix, suffix string, err error) {
	all := msgs
	if system != "" {
		all = append([]Message{{"system", system}}, msgs...)
	}
	full, err := t.Render(all, true)
	if refused := (*TemplateError)(nil); errors.As(err, &refused) && system != "" && len(msgs) > 0 && msgs[0].Role == "user" {
		return t.splitMerged(system, msgs, err)
	}
	if err != nil {
		return "", "", err
	}
	mark := placeholder(system)
	probe := []Message{{"user", mark}}
	if system != "" {
		probe = append([]Message{{"system", system}}, probe...)
	}
	head, err := t.Render(probe, true)
	if err != nil {
		return "", full, nil // the full conversation renders, but its beginning alone does not
	}
	head, _, _ = strings.Cut(head, mark)
	n := common(head, full)
	return full[:n], full[n:], nil
}

// splitMerged is Split for templates without system messages; refusal is what to say if that fails too.
func (t *Template) splitMerged(system string, msgs []Message, refusal error) (prefix, suffix string, err error) {
	merged := append([]Message{{"user", system + "\n\n" + msgs[0].Content}}, msgs[1:]...)
	full, err := t.Render(merged, true)
	if err != nil {
		return "", "", refusal
	}
	mark := placeholder(system)
	head, err := t.Render([]Message{{"user", system + "\n\n" + mark}}, true)
	if err != nil {
		return "", full, nil
	}
	head, _, _ = strings.Cut(head, mark)
	n := common(head, full)
	return full[:n], full[n:], nil
}

// placeholder returns a word that does not occur in text.
func placeholder(text string) string {
	mark := "PLACEHOLDER"
	for i := 0; strings.Contains(text, mark); i++ {
		mark = fmt.Sprintf("PLACEHOLDER%dQ", i)
	}
	return mark
}

// common returns the length of the longest common prefix of a and b that ends between characters.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(b) && b[n]&0xC0 == 0x80 {
		n--
	}
	return n
}

// Encode returns the tokens of a rendered prompt: special tokens are read from the text, BOS is
// added where the model wants it and the template has not written it, EOS never.
func Encode(tok *tokenizer.Tokenizer, prompt string) []tandem.Token {
	ids := tok.Encode(prompt, tokenizer.Options{ParseSpecial: true})
	bos, ok := tok.BOS()
	if ok && tok.AddsBOS() && (len(ids) == 0 || ids[0] != bos) {
		ids = append([]tandem.Token{bos}, ids...)
	}
	return ids
}

// Fingerprint returns a hash of the template and of the tokens that it prints.
func (t *Template) Fingerprint() [32]byte {
	var b []byte
	for _, s := range []string{"tandem template 1", t.source, t.bos, t.eos} {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	return sha256.Sum256(b)
}

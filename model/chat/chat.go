// Package chat renders conversations as the prompts that models were trained on. Model files contain their own templates,
// which are Jinja programs from an untrusted source. Package jinja runs them without access to files and with limits on time
// and memory.
package chat

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem"
	"tandem/model/chat/jinja"
	"tandem/model/gguf"
	"tandem/model/tokenizer"
)

// A Message is one turn of a conversation.
type Message struct {
	Role    string // "system", "user" or "assistant"
	Content string
}

// thoughts are what reasoning models write before an answer. Their templates may have begun them in the prompt, and an answer that
// was cut may not end them. gpt-oss writes them in channels before the one named final; of the tokens around these names, a decoded
// text has <|end|> alone.
var thoughts = regexp.MustCompile(`(?is)^.*?(</think>|</seed:think>|\[/THINK\]|<\|channel\|>final<\|message\|>|<\|end\|>assistantfinal)\s*|` +
	`^\s*(<think>|<seed:think>|\[THINK\]|<\|channel\|>analysis).*`)

// WithoutThoughts returns the content of a message, without the thoughts before an answer if the model wrote it. Templates
// would drop them by their tags, but Escape breaks these up, and a model is not trained to read its earlier thoughts.
func (m Message) WithoutThoughts() string {
	if m.Role != "assistant" {
		return m.Content
	}
	return thoughts.ReplaceAllString(m.Content, "")
}

// chatML is for models that have the tokens <|im_start|> and <|im_end|> but no template.
const chatML = `{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`

// plainChat is for models that were not trained on conversations.
const plainChat = `{% for message in messages %}{% if message['role'] == 'system' %}{{ message['content'] + '\n\n' }}{% elif message['role'] == 'user' %}{{ 'Question: ' + message['content'] + '\n' }}{% else %}{{ 'Answer: ' + message['content'] + '\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ 'Answer:' }}{% endif %}`

// The largest template and the longest prompt, in bytes.
const (
	maxTemplate = 1 << 20
	maxPrompt   = 16 << 20
)

// A Template renders a conversation as the text that a model was trained to continue. It is safe for concurrent use.
type Template struct {
	source   string
	bos, eos string
	program  *jinja.Template
	broken   error // if there is no program, the reason
	reads    func() reading
	marks    func() []string // that begin or end a turn

	// Now is the clock that templates read through strftime_now. NewTemplate sets it to time.Now. A prompt that
	// contains the date changes every day, and so do the keys of caches.
	Now func() time.Time
}

// A TemplateError is a template's own objection to a conversation, such as roles that do not alternate.
type TemplateError struct{ Message string }

func (e *TemplateError) Error() string {
	return "the model's chat template refuses this conversation: " + e.Message
}

// NewTemplate compiles a chat template. Templates print bos and eos, the texts of these tokens. An empty source
// means ChatML.
func NewTemplate(source, bos, eos string) (*Template, error) {
	if source == "" {
		source = chatML
	}
	if len(source) > maxTemplate {
		return nil, fmt.Errorf("chat template: %d bytes exceed the limit of %d", len(source), maxTemplate)
	}
	p, err := jinja.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("chat template: it cannot be parsed: %w", err)
	}
	t := &Template{source: source, bos: bos, eos: eos, program: p, Now: time.Now}
	t.reads, t.marks = sync.OnceValue(t.reading), sync.OnceValue(t.findMarks)
	return t, nil
}

// TemplateOf returns the template of a model file (tokenizer.chat_template). A file without one gets ChatML if the
// vocabulary has its tokens, else a plain template of questions and answers. If the file's template does not compile,
// every use of the returned Template gives that error: the model is still usable without a template.
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
		t.marks = sync.OnceValue(t.findMarks)
	}
	return t
}

// Source returns the source of the template.
func (t *Template) Source() string { return t.source }

// Render returns the prompt of a conversation, which ends where the model's answer begins. If the template refuses the
// conversation, the error is a *TemplateError.
func (t *Template) Render(msgs []Message) (string, error) {
	if t.broken != nil {
		return "", t.broken
	}
	size := 0
	for _, m := range msgs {
		size += len(m.Role) + len(m.Content)
	}
	return t.render(msgs, t.reads().parts, limits(len(msgs), size))
}

// render is Render with the texts of messages as they are, or in parts.
func (t *Template) render(msgs []Message, parts bool, within jinja.Limits) (string, error) {
	list := make([]any, len(msgs))
	for i, m := range msgs {
		var content any = m.Content
		if parts {
			content = []any{jinja.NewDict("type", "text", "text", m.Content)}
		}
		list[i] = jinja.NewDict("role", m.Role, "content", content)
	}
	text, err := t.program.Render(map[string]any{
		"messages": list, "add_generation_prompt": true,
		"bos_token": t.bos, "eos_token": t.eos,
		"raise_exception": jinja.Func(func(args []any) (any, error) {
			return nil, &TemplateError{fmt.Sprint(append(args, "no reason")[0])}
		}),
		"strftime_now": jinja.Func(func(args []any) (any, error) {
			format, ok := append(args, nil)[0].(string)
			if !ok || len(format) > 100 {
				return nil, errors.New("strftime_now takes a format of at most 100 bytes")
			}
			return strftime(t.Now(), format), nil
		}),
	}, within)
	if refused := (*TemplateError)(nil); errors.As(err, &refused) {
		return "", refused
	}
	if err != nil {
		return "", fmt.Errorf("chat template: %w", err)
	}
	return text, nil
}

// reading is how a template reads messages.
type reading struct {
	parts  bool // the text of a message is a list of parts, as models with vision have it: as it is, it would be lost
	system bool // system messages are not lost
}

// reading finds out by examples, as llama.cpp does: a template that loses something says nothing of it.
func (t *Template) reading() reading {
	const mark = "PLACEHOLDER"
	within := jinja.Limits{Steps: 50_000, Bytes: 1 << 20, Output: 1 << 18}
	shows := func(parts bool, msgs ...Message) (shown bool, err error) {
		text, err := t.render(msgs, parts, within)
		return strings.Contains(text, mark) && !strings.Contains(text, "'type'") && !strings.Contains(text, `"type"`), err // no list is printed
	}
	user, r := Message{"user", mark}, reading{system: true}
	shown, err := shows(false, user)
	if !shown && !errors.Is(err, jinja.ErrLimit) {
		shown, err = shows(true, user)
		r.parts = shown
	}
	if !shown || err != nil {
		return r // it shows neither
	}
	shown, err = shows(r.parts, Message{"system", mark}, Message{"user", "?"})
	r.system = shown || err != nil // an error says why
	return r
}

// limits bounds the rendering of a conversation with texts of size bytes. Without any, a template may take about 50 ms and
// 30 MB; templates in use take a thousandth of it.
func limits(messages, size int) jinja.Limits {
	return jinja.Limits{Steps: 400_000 + 2000*messages + 2*size, Bytes: 12<<20 + 32*size, Output: maxPrompt}
}

// Split renders the prompt of a system message and a conversation in two parts. With all usual templates the prefix
// depends only on the system message and ends where the text of the first user message begins. So the KV cache of a
// long system message, such as a passage, serves every question about it. A template that puts the user's text first,
// or the system message later, gives a shorter or empty prefix.
//
// If the template refuses system messages or leaves them out, the text is put at the beginning of the first user message instead.
// An empty system message is left out.
func (t *Template) Split(system string, msgs []Message) (prefix, suffix string, err error) {
	all := msgs
	if system != "" {
		all = append([]Message{{"system", system}}, msgs...)
	}
	full, err := t.Render(all)
	if err == nil && system != "" && !t.reads().system {
		err = &TemplateError{"it leaves system messages out"}
	}
	if refused := (*TemplateError)(nil); errors.As(err, &refused) && system != "" {
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
	head, err := t.Render(probe)
	if err != nil {
		return "", full, nil // the whole conversation renders, but its beginning does not
	}
	head, _, _ = strings.Cut(head, mark)
	n := common(head, full)
	return full[:n], full[n:], nil
}

// splitMerged is Split for templates that refuse system messages. If it fails too, it returns refusal.
func (t *Template) splitMerged(system string, msgs []Message, refusal error) (prefix, suffix string, err error) {
	first := slices.IndexFunc(msgs, func(m Message) bool { return m.Role == "user" })
	if first < 0 {
		return "", "", refusal
	}
	merged := slices.Clone(msgs)
	merged[first].Content = system + "\n\n" + msgs[first].Content
	full, err := t.Render(merged)
	if err != nil {
		return "", "", refusal
	}
	mark := placeholder(system)
	head, err := t.Render(append(slices.Clone(msgs[:first]), Message{"user", system + "\n\n" + mark}))
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

// common returns the length of the longest common prefix of a and b that ends at a character's boundary.
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

// Encode returns the tokens of a rendered prompt. Special tokens in the text are recognised. BOS is added if the model
// requires it and the template has not written it; EOS is never added.
func Encode(tok *tokenizer.Tokenizer, prompt string) []tandem.Token {
	ids := tok.Encode(prompt, tokenizer.Options{ParseSpecial: true})
	bos, ok := tok.BOS()
	if ok && tok.AddsBOS() && (len(ids) == 0 || ids[0] != bos) {
		ids = append([]tandem.Token{bos}, ids...)
	}
	return ids
}

// Fingerprint returns a hash of the template and of the texts of BOS and EOS.
func (t *Template) Fingerprint() [32]byte {
	var b []byte
	for _, s := range []string{"tandem template 1", t.source, t.bos, t.eos} {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	return sha256.Sum256(b)
}

// strftime formats a time by those conversions of C that templates use.
func strftime(t time.Time, format string) string {
	layouts := map[byte]string{'d': "02", 'e': "_2", 'm': "01", 'b': "Jan", 'B': "January", 'Y': "2006", 'y': "06",
		'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'a': "Mon", 'A': "Monday", 'j': "002",
		'Z': "MST", 'z': "-0700", 'F': "2006-01-02", 'T': "15:04:05", 'D': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006"}
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		if layout, ok := layouts[format[i]]; ok {
			b.WriteString(t.Format(layout))
		} else if format[i] == '%' {
			b.WriteByte('%')
		} else {
			b.WriteString(format[i-1 : i+1])
		}
	}
	return b.String()
}

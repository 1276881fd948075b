package decoder

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"tandem"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/tokenizer"
	"tandem/retrieval/passages"
)

// prompt is a row's prompt: the part that its passages alone decide, then history and question.
type prompt struct {
	prefix, rest []tandem.Token
}

// instruction stands before the passages for models whose template does not say what they are.
const instruction = "Answer the question in short sentences, using only this document:\n\n"

// leastPassage is the number of tokens below which a passage is not worth reading.
const leastPassage = 16

// deal returns the row of each of n passages, dealt like cards so that every row has one of the best.
func deal(n, rows int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i % rows
	}
	return out
}

// layout writes the prompts of the rows, one without a document when there are no passages, and with bare one
// more without. Passages that do not fit beside the question and cfg.MaxTokens of answer are shortened; it
// returns their titles. Where not even that makes room, the oldest turns of the conversation are left out, in all
// rows alike: a chat that goes on would otherwise end with an error. The other side need not leave out the same.
func layout(cfg Config, req Request, bare bool) (prompts []prompt, truncated []string, err error) {
	all := append(slices.Clone(req.History), chat.Message{Role: "user", Content: req.Question})
	var from []int // where the conversation may begin
	for i, m := range all {
		all[i].Content = AsText(cfg.Model, said(m))
		if i == 0 || m.Role == "user" {
			from = append(from, i)
		}
	}
	try := func(i int) bool {
		prompts, truncated, err = writer{cfg, all[from[i]:]}.rows(req.Passages, bare)
		return !errors.As(err, new(noRoom))
	}
	if last := len(from) - 1; !try(0) && last > 0 {
		try(1 + sort.Search(last-1, func(i int) bool { return try(1 + i) }))
	}
	return prompts, truncated, err
}

// said is a message without the thoughts before an answer: templates leave earlier ones out by their tag, which AsText
// breaks up.
func said(m chat.Message) string {
	if _, answer, ok := strings.Cut(m.Content, "</think>"); ok && m.Role == "assistant" {
		return strings.TrimLeft(answer, "\n")
	}
	return m.Content
}

// noRoom is the error of a prompt that leaves no room for passages or answer.
type noRoom struct{ error }

// writer turns passages and messages into tokens.
type writer struct {
	cfg      Config
	messages []chat.Message // history and question
}

// rows writes the prompts of the rows for layout.
func (w writer) rows(ps []passages.Passage, bare bool) (prompts []prompt, truncated []string, err error) {
	n := len(ps)
	if w.cfg.Rows > 0 {
		n = min(n, w.cfg.Rows)
	}
	groups := make([][]passages.Passage, n)
	for i, row := range deal(len(ps), n) {
		groups[row] = append(groups[row], ps[i])
	}
	for _, group := range groups {
		p, short, err := w.fit(group)
		if err != nil {
			return nil, nil, err
		}
		prompts, truncated = append(prompts, p), append(truncated, short...)
	}
	if n == 0 || bare {
		p, err := w.write(nil, 1)
		if err == nil {
			err = w.fits(p)
		}
		if err != nil {
			return nil, nil, err
		}
		prompts = append(prompts, p)
	}
	return prompts, truncated, nil
}

// fit writes the prompt of one row, with passages cut to the share of words that fits.
func (w writer) fit(group []passages.Passage) (prompt, []string, error) {
	p, err := w.write(group, 1)
	if err != nil || w.fits(p) == nil {
		return p, nil, err
	}
	bare, err := w.write(group, 0)
	if err != nil {
		return p, nil, err
	}
	if room := w.cfg.Model.Config().Context - w.cfg.MaxTokens - len(bare.prefix) - len(bare.rest); room < leastPassage*len(group) {
		return p, nil, noRoom{fmt.Errorf("question and conversation of %d tokens leave no room for %d passages: the model's context is %d tokens, of which %d are kept for the answer; ask for less",
			len(bare.rest), len(group), w.cfg.Model.Config().Context, w.cfg.MaxTokens)}
	}
	const steps = 64 // shares are tried in 64ths
	lo, hi := 0, steps
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if p, err = w.write(group, float64(mid)/steps); err != nil {
			return p, nil, err
		}
		if w.fits(p) == nil {
			lo = mid
		} else {
			hi = mid
		}
	}
	var titles []string
	for _, g := range group {
		titles = append(titles, g.Title)
	}
	p, err = w.write(group, float64(lo)/steps)
	return p, titles, err
}

// fits reports, as an error that names the limits, that a prompt leaves no room for the answer.
func (w writer) fits(p prompt) error {
	n, c := len(p.prefix)+len(p.rest), w.cfg.Model.Config()
	if n+w.cfg.MaxTokens <= c.Context {
		return nil
	}
	return noRoom{fmt.Errorf("a prompt of %d tokens and an answer of up to %d do not fit in the model's context of %d tokens; ask for less",
		n, w.cfg.MaxTokens, c.Context)}
}

// write renders the template around the first share of each passage's words.
func (w writer) write(group []passages.Passage, share float64) (prompt, error) {
	var parts []string
	for _, g := range group {
		parts = append(parts, AsText(w.cfg.Model, document(g, share)))
	}
	system := strings.Join(parts, "\n")
	if system != "" && !Labelled(w.cfg.Model.Template()) {
		system = instruction + system
	}
	before, after, err := w.cfg.Model.Template().Split(system, w.messages)
	if err != nil {
		return prompt{}, fmt.Errorf("write the prompt: %w", err)
	}
	// The whole is encoded at once: cut where the texts meet, "Question: " + "What" would not give the token
	// " What" that the model knows. What the tokens of before and of the whole share is the prefix.
	tok := w.cfg.Model.Tokenizer()
	head, all := chat.Encode(tok, before), chat.Encode(tok, before+after)
	n := 0
	for n < len(head) && n < len(all)-1 && head[n] == all[n] {
		n++
	}
	return prompt{prefix: all[:n], rest: all[n:]}, nil
}

// document is how a passage stands in a prompt: its title, then the first share of its words.
func document(p passages.Passage, share float64) string {
	text := strings.TrimSpace(p.Text)
	if share < 1 {
		words := strings.Fields(text)
		text = strings.Join(words[:int(share*float64(len(words)))], " ")
	}
	if p.Title == "" {
		return text
	}
	return p.Title + "\n" + text
}

// Labelled reports whether a template says itself that the system message is a text to answer from, as
// the built-in reader's "Context: …" does.
func Labelled(t *chat.Template) bool {
	const mark = "PASSAGE"
	text, err := t.Render([]chat.Message{{Role: "system", Content: mark}, {Role: "user", Content: "?"}}, true)
	return err == nil && strings.Contains(text, "Context: "+mark)
}

// AsText returns text with the name of every token broken up that would speak for somebody in a prompt of the model:
// a document or a question shall not be able to end its part and go on as the system or the assistant.
func AsText(m *model.Model, text string) string {
	return plain(m.Tokenizer(), m.Template().Source(), text)
}

func plain(tok *tokenizer.Tokenizer, template, text string) string {
	const gap, rounds = "\u200b", 16 // broken up, a name may give way to another that it overlapped, a few times
	for range rounds {
		before, done := text, map[tandem.Token]bool{}
		for _, t := range tok.Encode(text, tokenizer.Options{ParseSpecial: true}) {
			if done[t] || !tok.IsControl(t) && !marksTurn(tok.Text(t), template) {
				continue
			}
			done[t] = true
			name := string(tok.Piece(t))
			if _, n := utf8.DecodeRuneInString(name); n < len(name) && !strings.Contains(name, gap) {
				text = strings.ReplaceAll(text, name, name[:n]+gap+name[n:])
			}
		}
		if text == before {
			break
		}
	}
	return text
}

// marksTurn reports whether a token marks whose turn it is though its vocabulary has it as a piece of text: by its
// name, or because it stands in the template. Most that stand there are words and line ends, so it must be bracketed.
func marksTurn(name, template string) bool {
	return len(name) > 2 && (name[0] == '<' || name[0] == '[') &&
		(turnMark.MatchString(name) || name[0] == '<' && name[len(name)-1] == '>' && strings.Contains(template, name))
}

// turnMark is how chat templates write such tokens: <|im_start|>, [INST], <start_of_turn>.
var turnMark = regexp.MustCompile(`^(<[|｜].*[|｜]>|\[/?[A-Z_]{3,}\]|</?\w+_turn>)$`)

// read fills the rows' KV caches with the prompts, from the store where it has them.
func (d *Decoder) read(ctx context.Context, req Request, prompts []prompt) error {
	m := d.cfg.Model
	batch := make([]model.Input, len(prompts))
	keys := make([][32]byte, len(prompts))
	fresh := make([]bool, len(prompts))
	for i, p := range prompts {
		keys[i] = storeKey(m, p.prefix)
		seq, tokens := d.saved(req, i, p.prefix), p.rest
		if seq == nil && d.holds(i) {
			seq = d.load(keys[i], len(p.prefix))
		}
		if fresh[i] = seq == nil; fresh[i] {
			seq, tokens = m.NewSeq(), append(append([]tandem.Token(nil), p.prefix...), p.rest...)
		} else {
			d.prefill.Cached++
		}
		d.rows = append(d.rows, row{seq: seq, prompt: len(p.prefix) + len(p.rest)})
		d.texts = append(d.texts, slices.Concat(p.prefix, p.rest))
		batch[i] = model.Input{Seq: seq, Tokens: tokens}
		d.prefill.Tokens += len(tokens)
	}
	out, err := m.Prefill(ctx, batch, new(model.Logits))
	if err != nil {
		return err
	}
	d.prompt, d.logits = out, out
	for i, p := range prompts {
		if fresh[i] && d.holds(i) {
			d.store(keys[i], d.rows[i].seq, len(p.prefix))
		}
	}
	return nil
}

// holds reports whether row i holds a document.
func (d *Decoder) holds(i int) bool { return slices.Contains(d.rel.rows, i) }

// storeKey names the KV cache of a prefix: another model, template, adapter or token is another cache, and so
// is that of a device which rounds otherwise.
func storeKey(m *model.Model, prefix []tandem.Token) (key [32]byte) {
	const noAdapter = ""
	h := sha256.New()
	weights, template := m.Fingerprint(), m.Template().Fingerprint()
	io.WriteString(h, "document kv 1\x00"+noAdapter+"\x00"+m.Rounding())
	h.Write(weights[:])
	h.Write(template[:])
	binary.Write(h, binary.LittleEndian, prefix)
	h.Sum(key[:0])
	return key
}

// load returns the KV cache of a prefix of n tokens, nil when the store has none that can be read.
func (d *Decoder) load(key [32]byte, n int) *model.Seq {
	if d.cfg.KV == nil {
		return nil
	}
	r, ok := d.cfg.KV.Get(key)
	if !ok {
		return nil
	}
	defer r.Close()
	seq, err := d.cfg.Model.ReadSeq(r)
	if err != nil || seq.Len() != n {
		slog.Warn("a stored passage cannot be read and is computed again", "error", err)
		return nil
	}
	return seq
}

// store writes a fork of seq's first n tokens to the store in the background.
func (d *Decoder) store(key [32]byte, seq *model.Seq, n int) {
	if d.cfg.KV == nil || n == 0 {
		return
	}
	prefix := seq.Fork()
	prefix.Truncate(n)
	d.storing.Go(func() {
		err := d.cfg.KV.Put(key, func(w io.Writer) error {
			_, err := prefix.WriteTo(w)
			return err
		})
		if err != nil {
			slog.Warn("a passage's KV is not stored", "error", err)
		}
	})
}

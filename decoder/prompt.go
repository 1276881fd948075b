package decoder

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"tandem"
	"tandem/model/chat"
	"tandem/retrieval/passages"
)

// prompt is the prompt of a context: the part that depends on its passages alone, then history and question.
type prompt struct {
	prefix, rest []tandem.Token
	passages     []string // texts and titles of the passages that the prompt holds
	said         []string // the question and the turns before it that the prompt holds
}

// instruction comes before the passages if the template does not say what they are.
const instruction = "Answer the question in short sentences, using only this document:\n\n"

// minPassageTokens is the number of tokens below which a passage is not worth reading.
const minPassageTokens = 16

// deal returns the context of each of n passages. It deals them like cards, so that each context gets one of the best.
func deal(n, contexts int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i % contexts
	}
	return out
}

// writePrompts writes the prompts of the contexts. Without passages there is one; with bare there is one more, without a
// passage. It shortens passages that leave no room for the question and cfg.MaxTokens of answer, and returns their titles.
// If that is not enough, it leaves out the oldest turns of the conversation, the same in all contexts, so that a long chat
// does not end with an error. The other side may leave out other turns.
func writePrompts(cfg Config, req Request, bare bool) (prompts []prompt, truncated []string, err error) {
	all := append(slices.Clone(req.History), chat.Message{Role: "user", Content: req.Question})
	var from []int // where the conversation may begin
	tok, template := cfg.Model.Tokenizer(), cfg.Model.Template()
	for i, m := range all {
		all[i].Content = template.Escape(tok, m.WithoutThoughts())
		if i == 0 || m.Role == "user" {
			from = append(from, i)
		}
	}
	try := func(i int) bool {
		prompts, truncated, err = promptWriter{cfg, all[from[i]:]}.prompts(req.Passages, bare)
		return !errors.As(err, new(*NoRoomError))
	}
	if last := len(from) - 1; !try(0) && last > 0 {
		try(1 + sort.Search(last-1, func(i int) bool { return try(1 + i) }))
	}
	return prompts, truncated, err
}

// A NoRoomError reports that a question, its conversation and the longest answer that it allows leave no room in the model's
// context.
type NoRoomError struct{ reason string }

func (e *NoRoomError) Error() string { return e.reason }

// promptWriter turns passages and messages into tokens.
type promptWriter struct {
	cfg      Config
	messages []chat.Message // history and question
}

// prompts writes the prompts of the contexts.
func (w promptWriter) prompts(ps []passages.Passage, bare bool) (prompts []prompt, truncated []string, err error) {
	n := len(ps)
	if w.cfg.Contexts > 0 {
		n = min(n, w.cfg.Contexts)
	}
	groups := make([][]passages.Passage, n)
	for i, context := range deal(len(ps), n) {
		groups[context] = append(groups[context], ps[i])
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

// fit writes the prompt of one context, with passages cut to the share of their words that fits.
func (w promptWriter) fit(group []passages.Passage) (prompt, []string, error) {
	p, err := w.write(group, 1)
	if err != nil || w.fits(p) == nil {
		return p, nil, err
	}
	bare, err := w.write(group, 0)
	if err != nil {
		return p, nil, err
	}
	if room := w.cfg.context() - w.cfg.MaxTokens - len(bare.prefix) - len(bare.rest); room < minPassageTokens*len(group) {
		return p, nil, &NoRoomError{fmt.Sprintf("question and conversation of %d tokens leave no room for documents: the model's context is %d tokens, of which %d are kept for the answer; ask for less",
			len(bare.rest), w.cfg.context(), w.cfg.MaxTokens)}
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

// fits returns an error that names the limits if a prompt leaves no room for the answer.
func (w promptWriter) fits(p prompt) error {
	n, most := len(p.prefix)+len(p.rest), w.cfg.context()
	if n+w.cfg.MaxTokens <= most {
		return nil
	}
	return &NoRoomError{fmt.Sprintf("a prompt of %d tokens and an answer of up to %d do not fit in the model's context of %d tokens; ask for less",
		n, w.cfg.MaxTokens, most)}
}

// write renders the template with the given share of each passage's words.
func (w promptWriter) write(group []passages.Passage, share float64) (prompt, error) {
	tok, template := w.cfg.Model.Tokenizer(), w.cfg.Model.Template()
	var parts, read, said []string
	for _, g := range group {
		text := document(g, share)
		parts = append(parts, template.Escape(tok, text))
		read = append(read, g.Title, strings.TrimPrefix(text, g.Title+"\n"))
	}
	for _, m := range w.messages {
		said = append(said, m.Content)
	}
	system := strings.Join(parts, "\n")
	if system != "" && !template.Labelled() {
		system = instruction + system
	}
	before, after, err := template.Split(system, w.messages)
	if err != nil {
		return prompt{}, fmt.Errorf("write the prompt: %w", err)
	}
	// Encode the whole at once: if it were cut where the texts meet, "Question: " + "What" would not give the model's token
	// " What". The prefix is what the tokens of before and of the whole have in common.
	head, all := chat.Encode(tok, before), chat.Encode(tok, before+after)
	n := tandem.CommonPrefix(head, all[:max(0, len(all)-1)])
	return prompt{prefix: all[:n], rest: all[n:], passages: read, said: said}, nil
}

// document returns a passage as it appears in a prompt: its title, then the given share of its words.
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

package api

import (
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"

	"tandem/node"
)

// streamChunks answers a job in chunks, those of choices that are written at the same time in turns.
func (s *Server) streamChunks(w http.ResponseWriter, ctx context.Context, j *job) {
	c := &chunks{server: s, job: j, out: newEventStream(w)}
	if err := s.eachChoice(ctx, len(j.queries), c.answer); err != nil {
		if c.out.err == nil {
			c.out.send("", map[string]any{"error": errorOf(err)})
		}
		return
	}
	if j.showsUsage() {
		next := s.completion(j, ".chunk")
		written := int(c.tokens.Load())
		next.Choices, next.Usage = []choice{}, usage{Prompt: j.prompt, Completion: written, Total: j.prompt + written}
		c.out.send("", next)
	}
	c.out.raw("", "[DONE]")
}

// showsUsage reports whether a stream ends with a chunk that says how many tokens there were.
func (j *job) showsUsage() bool { return j.StreamOptions != nil && j.StreamOptions.Usage }

// chunks are the chunks of a job's choices.
type chunks struct {
	server *Server
	job    *job
	out    *stream
	tokens atomic.Int64 // of all choices
}

// send sends a chunk.
func (c *chunks) send(one choice, extra any) {
	next := c.server.completion(c.job, ".chunk")
	next.Choices, next.Tandem = []choice{one}, extra
	if c.job.showsUsage() {
		next.Usage = json.RawMessage("null")
	}
	c.out.send("", next)
}

// answer answers a choice.
func (c *chunks) answer(ctx context.Context, i int) error {
	s, j := c.server, c.job
	if j.chat {
		empty := ""
		c.send(choice{Index: i, Delta: &turn{"assistant", &empty}}, nil)
	}
	lp := s.likelihoods(j)
	done, err := s.answerQuery(ctx, j, i, func(text string, tokens []node.Token) { c.send(c.piece(i, text, lp), chunkTokens(tokens)) }, recorder(lp, s.sendLines(j, c.out)))
	if err != nil {
		return err
	}
	last := choice{Index: i, Finish: &done.finish, Delta: &turn{}}
	if !j.chat {
		empty := ""
		last.Delta, last.Text = nil, &empty
	}
	c.tokens.Add(int64(len(done.answer.Tokens)))
	c.send(last, s.extraOf(j, j.queries[i], done.answer))
	return nil
}

// piece is a choice with more text.
func (c *chunks) piece(i int, text string, lp *likelihoods) choice {
	out := choice{Index: i}
	if c.job.chat {
		out.Delta = &turn{Content: &text}
	} else {
		out.Text = &text
	}
	if lp != nil {
		out.Logprobs = &logprobs{lp.take()}
	}
	return out
}

// chunkTokens describes the tokens of a chunk.
func chunkTokens(tokens []node.Token) map[string]any {
	infos := []tokenInfo{}
	for _, t := range tokens {
		infos = append(infos, tokenInfoOf(t))
	}
	return map[string]any{"tokens": infos}
}

// spelledLine is a line of a recording with the text of its tokens, for people.
type spelledLine struct {
	node.Line
	Text  string   `json:"text,omitempty"`
	Texts []string `json:"texts,omitempty"` // of the distribution's tokens
}

func (s *Server) spellLine(l node.Line) spelledLine {
	out := spelledLine{Line: l}
	if s.cfg.Tokens == nil {
		return out
	}
	if l.Event == "draft" || l.Event == "target" {
		out.Text = string([]rune(string(s.cfg.Tokens.Piece(l.Token))))
	}
	for _, t := range l.IDs {
		out.Texts = append(out.Texts, string([]rune(string(s.cfg.Tokens.Piece(t)))))
	}
	return out
}

package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/model/tokenizer"
	"tandem/node"
)

// chatRequest is a request for a chat completion.
type chatRequest struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	Logprobs    bool      `json:"logprobs"`
	TopLogprobs *integer  `json:"top_logprobs"`
	options
}

// completion is a chat completion or a chunk of one.
type completion struct {
	ID          string   `json:"id"`
	Object      string   `json:"object"`
	Created     int64    `json:"created"`
	Model       string   `json:"model"`
	Fingerprint string   `json:"system_fingerprint"`
	Choices     []choice `json:"choices"`
	Usage       any      `json:"usage,omitempty"` // usage, or null in chunks before the last
	Timings     *timings `json:"timings,omitempty"`
	Tandem      any      `json:"tandem,omitempty"` // extra, one for each choice if there are several; in chunks the tokens
}

type choice struct {
	Index    int       `json:"index"`
	Message  *turn     `json:"message,omitempty"`
	Delta    *turn     `json:"delta,omitempty"`
	Text     *string   `json:"text,omitempty"` // of completions that are no chat
	Logprobs *logprobs `json:"logprobs"`
	Finish   *string   `json:"finish_reason"`
}

type turn struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
}

type logprobs struct {
	Content []logprob `json:"content"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// job is a request that was understood: several choices of an answer.
type job struct {
	options
	queries  []Query
	chat     bool // chat completions were asked for
	logprobs bool
	top      int // alternatives to each token
	remarks  []string
	turns    []message
	prompt   int // tokens of the turns, once it has begun
	id       string
	created  int64 // Unix seconds
}

// prepare checks a request and makes its queries. The question is the last of the turns.
func (s *Server) prepare(model string, turns []message, o options) (*job, error) {
	if err := s.checkModel(model); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	j := &job{options: o, turns: turns, id: "tandem-" + newID(), created: time.Now().Unix()}
	question, history, system, err := conversation(turns)
	if err != nil {
		return nil, err
	}
	if system {
		j.remarks = append(j.remarks, "the system message was not used: answers come from documents")
	}
	n := 1
	if o.N != nil {
		n = int(*o.N)
	}
	for i := range n {
		q, err := s.query(o, question, history, i)
		if err != nil {
			return nil, err
		}
		j.queries = append(j.queries, q)
	}
	return j, nil
}

// waitAndCount waits for the job's turn, then counts the tokens of its prompt, which may be long.
func (s *Server) waitAndCount(ctx context.Context, j *job) (leave func(), err error) {
	if leave, err = s.waitForSlot(ctx); err != nil || s.cfg.Tokens == nil {
		return leave, err
	}
	for _, m := range j.turns {
		j.prompt += len(s.cfg.Tokens.Encode(string(m.Content), tokenizer.Options{}))
	}
	return leave, nil
}

// checkModel refuses other models. Clients that cannot leave the model out may send "tandem".
func (s *Server) checkModel(model string) error {
	if model == "" || model == "tandem" || model == s.cfg.Model.Name || model == s.cfg.Model.Name+":latest" || model == "tandem:latest" {
		return nil
	}
	return &Error{Status: http.StatusNotFound, Type: "invalid_request_error", Param: "model", Code: "model_not_found",
		Message: "there is no model " + model + " here: this server has " + s.cfg.Model.Name}
}

func (s *Server) chatCompletions(w http.ResponseWriter, r *http.Request) {
	var q chatRequest
	if err := read(w, r, &q); err != nil {
		fail(w, err)
		return
	}
	j, err := s.prepare(q.Model, q.Messages, q.options)
	if err == nil && q.TopLogprobs != nil && (!q.Logprobs || *q.TopLogprobs < 0 || *q.TopLogprobs > maxTop) {
		err = badRequest("top_logprobs", "top_logprobs: want 0 to %d, with logprobs", maxTop)
	}
	if err == nil && q.Logprobs && s.cfg.Tokens == nil {
		err = badRequest("logprobs", "logprobs: this server does not know its tokens: leave it out")
	}
	if err == nil && q.Logprobs && s.cfg.Denoises {
		err = badRequest("logprobs", "logprobs: this model fills its answers in blocks and gives no likelihood of each token: leave it out")
	}
	if err != nil {
		fail(w, err)
		return
	}
	j.chat = true
	if j.logprobs = q.Logprobs; q.TopLogprobs != nil {
		j.top = int(*q.TopLogprobs)
	}
	s.serve(w, r, j)
}

// completionRequest is a request for a completion that is no chat: its prompt is the question.
type completionRequest struct {
	Model    string     `json:"model"`
	Prompt   stringList `json:"prompt"`
	Logprobs *integer   `json:"logprobs"`
	Echo     bool       `json:"echo"`
	Suffix   string     `json:"suffix"`
	BestOf   *integer   `json:"best_of"`
	options
}

func (s *Server) completions(w http.ResponseWriter, r *http.Request) {
	var q completionRequest
	err := read(w, r, &q)
	switch {
	case err != nil:
	case len(q.Prompt) != 1:
		err = badRequest("prompt", "prompt: want one string, the question")
	case strings.TrimSpace(q.Prompt[0]) == "":
		err = badRequest("prompt", "prompt is empty: want the question")
	case q.Logprobs != nil:
		err = badRequest("logprobs", "logprobs are given by /v1/chat/completions only")
	case q.Echo, q.Suffix != "", q.BestOf != nil && *q.BestOf != 1:
		err = badRequest("echo", "echo, suffix and best_of are not supported")
	}
	var j *job
	if err == nil {
		j, err = s.prepare(q.Model, []message{{Role: "user", Content: content(q.Prompt[0])}}, q.options)
	}
	if err != nil {
		fail(w, err)
		return
	}
	s.serve(w, r, j)
}

// serve answers a job.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, j *job) {
	leave, err := s.waitAndCount(r.Context(), j)
	if err != nil {
		fail(w, err)
		return
	}
	defer leave()
	if j.Stream {
		s.stream(w, r.Context(), j)
		return
	}
	c := s.completion(j, "")
	outs, err := s.answerAll(r.Context(), j)
	if err != nil {
		fail(w, err)
		return
	}
	var extras []extra
	sum := usage{Prompt: j.prompt}
	for i, out := range outs {
		one := choice{Index: i, Finish: &out.finish}
		if j.chat {
			one.Message = &turn{"assistant", &out.text}
		} else {
			one.Text = &out.text
		}
		if out.likely != nil {
			one.Logprobs = &logprobs{out.likely}
		}
		c.Choices = append(c.Choices, one)
		extras = append(extras, s.extraOf(j, j.queries[i], out.answer))
		sum.Completion += len(out.answer.Tokens)
		t := timingsOf(j.prompt, out.answer)
		c.Timings = &t
	}
	sum.Total = sum.Prompt + sum.Completion
	c.Usage = sum
	if c.Tandem = extras[0]; len(extras) > 1 {
		c.Tandem = extras
	}
	reply(w, http.StatusOK, c)
}

// choiceOutcome is the outcome of one choice, with the likelihoods of its tokens if the request has them.
type choiceOutcome struct {
	outcome
	likely []logprob
}

// answerAll answers all choices of a job, in their order.
func (s *Server) answerAll(ctx context.Context, j *job) ([]choiceOutcome, error) {
	outs := make([]choiceOutcome, len(j.queries))
	return outs, s.eachChoice(ctx, len(outs), func(ctx context.Context, i int) error {
		lp := s.likelihoods(j)
		out, err := s.run(ctx, j.queries[i], j.Stop, func(string, []node.Token) {}, recorder(lp, nil))
		if outs[i].outcome = out; err == nil && lp != nil {
			outs[i].likely = lp.take()
		}
		return err
	})
}

// eachChoice answers n choices: at the same time if Config.Together says so and others leave places free, else one after the other.
// Which way makes no difference to the texts. The first error ends all.
func (s *Server) eachChoice(ctx context.Context, n int, answer func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := answer(ctx, i); err != nil {
				stop(err)
				return
			}
		}
	}
	var others sync.WaitGroup
	for range n - 1 {
		if !s.cfg.Together || !s.takeFreeSlot() {
			break
		}
		others.Go(func() {
			defer func() { <-s.slots }()
			work()
		})
	}
	work()
	others.Wait()
	return context.Cause(ctx)
}

// takeFreeSlot takes one more place among the answers, if one is free.
func (s *Server) takeFreeSlot() bool {
	select {
	case s.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// extraOf is what Tandem says of one choice.
func (s *Server) extraOf(j *job, q Query, a node.Answer) extra {
	e := s.extra(q, a)
	e.Remarks = append(j.remarks[:len(j.remarks):len(j.remarks)], e.Remarks...)
	return e
}

func (s *Server) completion(j *job, part string) *completion {
	object := "text_completion"
	if j.chat {
		object = "chat.completion" + part
	}
	return &completion{ID: j.id, Object: object, Created: j.created, Model: s.cfg.Model.Name, Fingerprint: "tandem-" + s.cfg.Version}
}

func (s *Server) likelihoods(j *job) *likelihoods {
	if !j.logprobs {
		return nil
	}
	return newLikelihoods(s.cfg.Tokens, j.top)
}

// recorder returns what takes the lines of a recording, nil if nobody wants one.
func recorder(lp *likelihoods, more func(node.Line)) func(node.Line) {
	if lp == nil && more == nil {
		return nil
	}
	return func(l node.Line) {
		if lp != nil {
			lp.line(l)
		}
		if more != nil {
			more(l)
		}
	}
}

// stream answers a job in chunks, those of choices that are written at the same time in turns.
func (s *Server) stream(w http.ResponseWriter, ctx context.Context, j *job) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := &chunks{server: s, job: j, out: newStream(w, false), stop: stop}
	if err := s.eachChoice(ctx, len(j.queries), c.answer); err != nil {
		if c.out.err == nil {
			c.out.send("", map[string]any{"error": errorOf(err)})
		}
		return
	}
	if j.showsUsage() {
		next := s.completion(j, ".chunk")
		next.Choices, next.Usage = []choice{}, usage{Prompt: j.prompt, Completion: c.tokens, Total: j.prompt + c.tokens}
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
	stop   context.CancelFunc // ends all choices

	mu     sync.Mutex // guards what follows
	out    *stream
	tokens int // of all choices
}

// send sends a chunk.
func (c *chunks) send(one choice, extra any) {
	next := c.server.completion(c.job, ".chunk")
	next.Choices, next.Tandem = []choice{one}, extra
	if c.job.showsUsage() {
		next.Usage = json.RawMessage("null")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.out.send("", next); c.out.err != nil {
		c.stop() // the client is gone, or does not read
	}
}

// record sends a line of a recording.
func (c *chunks) record(l node.Line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.send("record", c.server.spellLine(l))
}

// answer answers a choice.
func (c *chunks) answer(ctx context.Context, i int) error {
	s, j := c.server, c.job
	if j.chat {
		empty := ""
		c.send(choice{Index: i, Delta: &turn{"assistant", &empty}}, nil)
	}
	lp := s.likelihoods(j)
	var lines func(node.Line)
	if j.Tandem.Record {
		lines = c.record
	}
	done, err := s.run(ctx, j.queries[i], j.Stop, func(text string, tokens []node.Token) { c.send(c.piece(i, text, lp), infosOf(tokens)) }, recorder(lp, lines))
	if err != nil {
		return err
	}
	last := choice{Index: i, Finish: &done.finish, Delta: &turn{}}
	if !j.chat {
		empty := ""
		last.Delta, last.Text = nil, &empty
	}
	c.mu.Lock()
	c.tokens += len(done.answer.Tokens)
	c.mu.Unlock()
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

// infosOf describes the tokens of a chunk.
func infosOf(tokens []node.Token) map[string]any {
	infos := []tokenInfo{}
	for _, t := range tokens {
		infos = append(infos, infoOf(t))
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

// listed is a model as OpenAI's API lists it.
func (m ModelInfo) listed() map[string]any {
	return map[string]any{"id": m.Name, "object": "model", "created": m.Modified.Unix(), "owned_by": "tandem"}
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	data := []any{s.cfg.Model.listed()}
	if s.cfg.Encoder != nil {
		data = append(data, s.cfg.EncoderInfo.listed())
	}
	reply(w, http.StatusOK, map[string]any{"object": "list", "data": data})
}

func (s *Server) model(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if s.cfg.Encoder != nil && name == s.cfg.EncoderInfo.Name {
		reply(w, http.StatusOK, s.cfg.EncoderInfo.listed())
		return
	}
	if err := s.checkModel(name); err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, s.cfg.Model.listed())
}

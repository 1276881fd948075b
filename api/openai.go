package api

import (
	"net/http"
	"strings"
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

func (s *Server) chatCompletions(w http.ResponseWriter, r *http.Request) {
	var q chatRequest
	if err := read(w, r, &q); err != nil {
		fail(w, err)
		return
	}
	j, err := s.prepare(q.Model, q.Messages, q.options)
	if err == nil {
		err = s.giveLogprobs(j, q.Logprobs, q.TopLogprobs)
	}
	if err != nil {
		fail(w, err)
		return
	}
	j.chat = true
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
	case q.Echo:
		err = badRequest("echo", "echo is not supported: leave it out")
	case q.Suffix != "":
		err = badRequest("suffix", "suffix is not supported: leave it out")
	case q.BestOf != nil && *q.BestOf != 1:
		err = badRequest("best_of", "best_of is not supported: leave it out")
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
		s.streamChunks(w, r.Context(), j)
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

func (s *Server) completion(j *job, part string) *completion {
	object := "text_completion"
	if j.chat {
		object = "chat.completion" + part
	}
	return &completion{ID: j.id, Object: object, Created: j.created, Model: s.cfg.Model.Name, Fingerprint: s.build()}
}

// build names the program as clients are told it.
func (s *Server) build() string { return "tandem-" + s.cfg.Version }

// listed is a model as OpenAI's API lists it.
func (m ModelInfo) listed() map[string]any {
	return map[string]any{"id": m.Name, "object": "model", "created": m.Modified.Unix(), "owned_by": "tandem"}
}

// listedFor is a model as the API that a request speaks lists it.
func (m ModelInfo) listedFor(r *http.Request) map[string]any {
	if speaksAnthropic(r) {
		return m.anthropic()
	}
	return m.listed()
}

func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	if speaksAnthropic(r) {
		s.anthropicModels(w)
		return
	}
	data := []any{s.cfg.Model.listed()}
	if s.cfg.Encoder != nil {
		data = append(data, s.cfg.EncoderInfo.listed())
	}
	reply(w, http.StatusOK, map[string]any{"object": "list", "data": data})
}

func (s *Server) model(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if s.cfg.Encoder != nil && s.cfg.EncoderInfo.isCalled(name) {
		reply(w, http.StatusOK, s.cfg.EncoderInfo.listedFor(r))
		return
	}
	switch err := s.checkModel(name); {
	case err != nil && speaksAnthropic(r):
		failAnthropic(w, err)
	case err != nil:
		fail(w, err)
	default:
		reply(w, http.StatusOK, s.cfg.Model.listedFor(r))
	}
}

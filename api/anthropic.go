package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"tandem/node"
)

// messagesPath is that of Anthropic's Messages API.
const messagesPath = "/v1/messages"

// anthropicBounds are those of Anthropic's API where they differ from OpenAI's.
var anthropicBounds = bounds{stops: 64, hottest: 1, format: "output_config.format"}

// messagesRequest is a request of Anthropic's Messages API.
type messagesRequest struct {
	Model       string          `json:"model"`
	Messages    []message       `json:"messages"`
	System      content         `json:"system"`
	MaxTokens   *integer        `json:"max_tokens"` // the server's limit if it is missing
	Stop        stringList      `json:"stop_sequences"`
	Stream      bool            `json:"stream"`
	Temperature *float64        `json:"temperature"`
	TopP        *float64        `json:"top_p"`
	Tools       json.RawMessage `json:"tools"`
	Thinking    typed           `json:"thinking"`
	Output      outputConfig    `json:"output_config"`
	Format      *responseFormat `json:"output_format"` // the older name of output_config.format
	Tandem      ownOptions      `json:"tandem"`
}

type outputConfig struct {
	Format *responseFormat `json:"format"`
}

// messagesJob makes the job of a request.
func (s *Server) messagesJob(r messagesRequest) (*job, error) {
	if r.Thinking.Type != "" && r.Thinking.Type != "disabled" {
		return nil, badRequest("thinking", "thinking is not supported: answers come from documents: leave it out, or give the type disabled")
	}
	return s.prepare(r.Model, withSystem(r.System, r.Messages), options{
		Stream: r.Stream, Stop: r.Stop, Temperature: r.Temperature, TopP: r.TopP, MaxTokens: r.MaxTokens, Tools: r.Tools, Tandem: r.Tandem, bounds: anthropicBounds,
		Format: cmp.Or(r.Output.Format, r.Format),
	})
}

// anthropicMessage is an answer in the form of the Messages API.
type anthropicMessage struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Model   string          `json:"model"`
	Content []anthropicText `json:"content"`
	anthropicEnd
	Usage  anthropicUsage `json:"usage"`
	Tandem *extra         `json:"tandem,omitempty"`
}

type anthropicText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type anthropicUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

// anthropicEnd is how an answer ended.
type anthropicEnd struct {
	Reason orNull `json:"stop_reason"`
	Stop   orNull `json:"stop_sequence"`
}

func anthropicEndOf(o outcome) anthropicEnd {
	switch {
	case o.stop != "":
		return anthropicEnd{"stop_sequence", orNull(o.stop)}
	case o.finish == "length":
		return anthropicEnd{Reason: "max_tokens"}
	}
	return anthropicEnd{Reason: "end_turn"}
}

// newMessage returns a job's message before there is any text.
func (s *Server) newMessage(j *job) anthropicMessage {
	return anthropicMessage{ID: "msg_" + j.id, Type: "message", Role: "assistant", Model: s.cfg.Model.Name, Content: []anthropicText{}, Usage: anthropicUsage{Input: j.prompt}}
}

// beginMessage reads a request and waits for its turn.
func (s *Server) beginMessage(w http.ResponseWriter, r *http.Request) (j *job, leave func(), err error) {
	var q messagesRequest
	if err = read(w, r, &q); err == nil {
		j, err = s.messagesJob(q)
	}
	if err == nil {
		leave, err = s.waitAndCount(r.Context(), j)
	}
	return j, leave, err
}

// countTokens is Anthropic's POST /v1/messages/count_tokens.
func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Tokens == nil {
		failAnthropic(w, errNoTokens)
		return
	}
	j, leave, err := s.beginMessage(w, r)
	if err != nil {
		failAnthropic(w, err)
		return
	}
	defer leave()
	reply(w, http.StatusOK, map[string]int{"input_tokens": j.prompt})
}

// messages is Anthropic's POST /v1/messages.
func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	j, leave, err := s.beginMessage(w, r)
	if err != nil {
		failAnthropic(w, err)
		return
	}
	defer leave()
	if j.Stream {
		s.streamMessage(w, r.Context(), j)
		return
	}
	o, err := s.answerQuery(r.Context(), j, 0, func(string, []node.Token) {}, nil)
	if err != nil {
		failAnthropic(w, err)
		return
	}
	out, own := s.newMessage(j), s.extraOf(j, j.queries[0], o.answer)
	out.Content, out.anthropicEnd, out.Tandem = []anthropicText{{"text", o.text}}, anthropicEndOf(o), &own
	out.Usage.Output = len(o.answer.Tokens)
	reply(w, http.StatusOK, out)
}

// streamMessage answers in Anthropic's order of events: the message and its text begin, the text comes in pieces, and both end.
func (s *Server) streamMessage(w http.ResponseWriter, ctx context.Context, j *job) {
	out := newEventStream(w)
	send := func(name string, f fields) {
		f["type"] = name
		out.send(name, f)
	}
	send("message_start", fields{"message": s.newMessage(j)})
	send("content_block_start", fields{"index": 0, "content_block": anthropicText{"text", ""}})
	o, err := s.answerQuery(ctx, j, 0, func(text string, _ []node.Token) {
		send("content_block_delta", fields{"index": 0, "delta": anthropicText{"text_delta", text}})
	}, s.sendLines(j, out))
	if err != nil {
		out.send("error", anthropicError(err))
		return
	}
	send("content_block_stop", fields{"index": 0})
	send("message_delta", fields{"delta": anthropicEndOf(o), "usage": anthropicUsage{j.prompt, len(o.answer.Tokens)}, "tandem": s.extraOf(j, j.queries[0], o.answer)})
	send("message_stop", fields{})
}

// anthropicErrors are the types of errors by their status. Others are api_error.
var anthropicErrors = map[int]string{
	http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error",
	http.StatusNotFound: "not_found_error", http.StatusMethodNotAllowed: "invalid_request_error", http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusUnsupportedMediaType: "invalid_request_error", http.StatusServiceUnavailable: "overloaded_error",
}

// anthropicError is an error as Anthropic has it.
func anthropicError(err error) fields {
	e := errorOf(err)
	kind := anthropicErrors[e.Status]
	if kind == "" {
		kind = "api_error"
	}
	return fields{"type": "error", "error": fields{"type": kind, "message": e.Message}}
}

// failAnthropic answers with an error as Anthropic has it.
func failAnthropic(w http.ResponseWriter, err error) {
	e := errorOf(err)
	e.retry(w)
	reply(w, e.Status, anthropicError(err))
}

// speaksAnthropic reports whether a request is of a client of Anthropic's API, whose requests all have this header. Paths of several
// APIs answer it in that form.
func speaksAnthropic(r *http.Request) bool { return r.Header.Get("anthropic-version") != "" }

// anthropic is a model as Anthropic's API lists it.
func (m ModelInfo) anthropic() map[string]any {
	return map[string]any{"type": "model", "id": m.Name, "display_name": m.Name, "created_at": m.Modified.UTC().Format(time.RFC3339)}
}

// anthropicModels lists what answers messages, on one page.
func (s *Server) anthropicModels(w http.ResponseWriter) {
	m := s.cfg.Model
	reply(w, http.StatusOK, map[string]any{"data": []any{m.anthropic()}, "first_id": m.Name, "last_id": m.Name, "has_more": false})
}

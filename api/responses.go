package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"tandem/node"
)

// responsesRequest is a request of OpenAI's Responses API.
type responsesRequest struct {
	Model        string            `json:"model"`
	Input        input             `json:"input"`
	Instructions content           `json:"instructions"`
	Stream       bool              `json:"stream"`
	Seed         *integer          `json:"seed"`
	Temperature  *float64          `json:"temperature"`
	TopP         *float64          `json:"top_p"`
	MaxTokens    *integer          `json:"max_output_tokens"`
	TopLogprobs  *integer          `json:"top_logprobs"`
	Text         textForm          `json:"text"`
	Tools        json.RawMessage   `json:"tools"`
	ToolChoice   json.RawMessage   `json:"tool_choice"`
	Previous     json.RawMessage   `json:"previous_response_id"`
	Conversation json.RawMessage   `json:"conversation"`
	Prompt       json.RawMessage   `json:"prompt"`
	Background   bool              `json:"background"`
	Metadata     map[string]string `json:"metadata"`
	Tandem       ownOptions        `json:"tandem"`
}

type textForm struct {
	Format *responseFormat `json:"format"`
}

// input is the conversation that a request continues: a question, or a list of items.
type input []message

// UnmarshalJSON reads a string or a list of items.
func (in *input) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte(`"`)) {
		*in = input{{Role: "user"}}
		return json.Unmarshal(b, &(*in)[0].Content)
	}
	var items []inputItem
	if err := json.Unmarshal(b, &items); err != nil {
		return err
	}
	for i, item := range items {
		switch item.Type {
		case "", "message":
			*in = append(*in, message{Role: item.Role, Content: item.Content})
		case "function_call_output":
			*in = append(*in, message{Role: "tool", Content: item.Output})
		case "function_call", "reasoning": // of earlier answers of other models
		default:
			return badRequest("input", "input: item %d has the type %.40q: only messages of text are supported", i, item.Type)
		}
	}
	return nil
}

type inputItem struct {
	Type    string  `json:"type"`
	Role    string  `json:"role"`
	Content content `json:"content"`
	Output  content `json:"output"` // of a tool
}

// check refuses what cannot be done, and what other requests name otherwise.
func (r responsesRequest) check() error {
	switch {
	case isGiven(r.Previous):
		return badRequest("previous_response_id", "previous_response_id: this server keeps no answers: send the whole conversation in input")
	case isGiven(r.Conversation):
		return badRequest("conversation", "conversation: this server keeps no conversations: send the whole conversation in input")
	case isGiven(r.Prompt):
		return badRequest("prompt", "prompt: this server keeps no prompts: send the text in input")
	case r.Background:
		return badRequest("background", "background is not supported: leave it out")
	case r.TopLogprobs != nil && *r.TopLogprobs != 0:
		return badRequest("top_logprobs", "top_logprobs are given by /v1/chat/completions only")
	case r.MaxTokens != nil && *r.MaxTokens < 1:
		return badRequest("max_output_tokens", "max_output_tokens is %d: want 1 or more", *r.MaxTokens)
	}
	return nil
}

// responseJob makes the job of a request.
func (s *Server) responseJob(r responsesRequest) (*job, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return s.prepare(r.Model, withSystem(r.Instructions, r.Input), options{
		Stream: r.Stream, Seed: r.Seed, Temperature: r.Temperature, TopP: r.TopP, MaxTokens: r.MaxTokens, Tools: r.Tools, ToolChoice: r.ToolChoice, Tandem: r.Tandem,
		Format: r.Text.Format, bounds: bounds{format: "text.format"},
	})
}

// asInput returns err as a client of the Responses API knows it, whose messages are in the input.
func asInput(err error) error {
	var own *Error
	if errors.As(err, &own) && own.Param == "messages" {
		own.Param = "input"
	}
	return err
}

// response is an answer in the form of the Responses API. Fields that say what a request asked for have their defaults where this
// server has no others.
type response struct {
	ID           string            `json:"id"`
	Object       string            `json:"object"`
	Created      int64             `json:"created_at"`
	Completed    *int64            `json:"completed_at"`
	Status       string            `json:"status"` // in_progress, completed, incomplete, failed
	Error        *responseError    `json:"error"`
	Incomplete   *incomplete       `json:"incomplete_details"`
	Instructions orNull            `json:"instructions"`
	MaxTokens    *integer          `json:"max_output_tokens"`
	Model        string            `json:"model"`
	Output       []outputItem      `json:"output"`
	Parallel     bool              `json:"parallel_tool_calls"`
	Previous     orNull            `json:"previous_response_id"`
	Reasoning    reasoning         `json:"reasoning"`
	Store        bool              `json:"store"`
	Temperature  float64           `json:"temperature"`
	Text         textForm          `json:"text"`
	ToolChoice   string            `json:"tool_choice"`
	Tools        []any             `json:"tools"`
	TopP         float64           `json:"top_p"`
	Truncation   string            `json:"truncation"`
	Usage        *responseUsage    `json:"usage"`
	Metadata     map[string]string `json:"metadata"`
	Tandem       *extra            `json:"tandem,omitempty"`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type incomplete struct {
	Reason string `json:"reason"`
}

type reasoning struct {
	Effort  orNull `json:"effort"`
	Summary orNull `json:"summary"`
}

type responseUsage struct {
	Input        int            `json:"input_tokens"`
	InputDetail  map[string]int `json:"input_tokens_details"`
	Output       int            `json:"output_tokens"`
	OutputDetail map[string]int `json:"output_tokens_details"`
	Total        int            `json:"total_tokens"`
}

// outputItem is the message of an answer.
type outputItem struct {
	ID      string       `json:"id"`
	Type    string       `json:"type"`
	Status  string       `json:"status"`
	Role    string       `json:"role"`
	Content []outputText `json:"content"`
}

type outputText struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Annotations []any  `json:"annotations"`
	Logprobs    []any  `json:"logprobs"`
}

func textOf(text string) outputText { return outputText{"output_text", text, []any{}, []any{}} }

// item is the message of a job's answer.
func (j *job) item(status string, parts ...outputText) outputItem {
	return outputItem{"msg_" + j.id, "message", status, "assistant", append([]outputText{}, parts...)}
}

// newResponse returns a job's response before there is any text.
func (s *Server) newResponse(j *job, r responsesRequest) response {
	q := j.queries[0].Settings.Sampling
	out := response{
		ID: "resp_" + j.id, Object: "response", Created: j.created, Status: "in_progress", Instructions: orNull(r.Instructions), MaxTokens: r.MaxTokens,
		Model: s.cfg.Model.Name, Output: []outputItem{}, Temperature: q.Temperature, TopP: cmp.Or(q.TopP, 1), Text: textForm{cmp.Or(r.Text.Format, &responseFormat{Type: "text"})}, ToolChoice: "none", Tools: []any{},
		Truncation: "disabled", Metadata: r.Metadata,
	}
	if out.Metadata == nil {
		out.Metadata = map[string]string{}
	}
	return out
}

// finishResponse returns a job's response with its answer.
func (s *Server) finishResponse(out response, j *job, o outcome) response {
	now, own, n := time.Now().Unix(), s.extraOf(j, j.queries[0], o.answer), len(o.answer.Tokens)
	if out.Status = "completed"; o.finish == "length" {
		out.Status, out.Incomplete = "incomplete", &incomplete{"max_output_tokens"}
	} else {
		out.Completed = &now
	}
	out.Output, out.Tandem = []outputItem{j.item(out.Status, textOf(o.text))}, &own
	out.Usage = &responseUsage{j.prompt, map[string]int{"cached_tokens": 0}, n, map[string]int{"reasoning_tokens": 0}, j.prompt + n}
	return out
}

// responses is OpenAI's POST /v1/responses.
func (s *Server) responses(w http.ResponseWriter, r *http.Request) {
	var q responsesRequest
	var j *job
	err := read(w, r, &q)
	if err == nil {
		j, err = s.responseJob(q)
	}
	var leave func()
	if err == nil {
		leave, err = s.waitAndCount(r.Context(), j)
	}
	if err != nil {
		fail(w, asInput(err))
		return
	}
	defer leave()
	out := s.newResponse(j, q)
	if j.Stream {
		s.streamResponse(w, r.Context(), j, out)
		return
	}
	o, err := s.answerQuery(r.Context(), j, 0, func(string, []node.Token) {}, nil)
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, s.finishResponse(out, j, o))
}

// responseStream sends the events of a streamed response, each with its name and number.
type responseStream struct {
	*stream
	next int
}

// fields are those of an event.
type fields = map[string]any

func (h *responseStream) event(name string, f fields) {
	f["type"], f["sequence_number"] = name, h.next
	h.next++
	h.send(name, f)
}

// streamResponse answers in OpenAI's order of events: the response and its message begin, the text comes in pieces, and what has
// begun ends.
func (s *Server) streamResponse(w http.ResponseWriter, ctx context.Context, j *job, out response) {
	h := &responseStream{stream: newEventStream(w)}
	h.event("response.created", fields{"response": out})
	h.event("response.in_progress", fields{"response": out})
	item := j.item("in_progress")
	h.event("response.output_item.added", fields{"output_index": 0, "item": item})
	of := func(f fields) fields {
		f["item_id"], f["output_index"], f["content_index"] = item.ID, 0, 0
		return f
	}
	h.event("response.content_part.added", of(fields{"part": textOf("")}))
	o, err := s.answerQuery(ctx, j, 0, func(text string, _ []node.Token) {
		h.event("response.output_text.delta", of(fields{"delta": text, "logprobs": []any{}}))
	}, s.sendLines(j, h.stream))
	if err != nil {
		out.Status, out.Error = "failed", &responseError{"server_error", errorOf(err).Message}
		h.event("response.failed", fields{"response": out})
		return
	}
	out = s.finishResponse(out, j, o)
	h.event("response.output_text.done", of(fields{"text": o.text, "logprobs": []any{}}))
	h.event("response.content_part.done", of(fields{"part": textOf(o.text)}))
	h.event("response.output_item.done", fields{"output_index": 0, "item": out.Output[0]})
	h.event(fmt.Sprintf("response.%s", out.Status), fields{"response": out})
}

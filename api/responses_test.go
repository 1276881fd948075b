package api

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const responsesPath = "/v1/responses"

// The Responses API takes a question or a conversation, and answers in OpenAI's form.
func TestResponses(t *testing.T) {
	e := &echo{}
	s := New(config(e))
	v := object(t, send(t, s, "POST", responsesPath, `{"model":"reader","input":"one two three","seed":7,"metadata":{"a":"b"}}`))
	text := at(v, "output", 0, "content", 0)
	if at(v, "object") != "response" || at(v, "status") != "completed" || at(text, "type") != "output_text" || at(text, "text") != "one two three" ||
		at(v, "output", 0, "role") != "assistant" || at(v, "usage", "output_tokens") != 3.0 || at(v, "metadata", "a") != "b" || at(v, "tandem", "seed") != 7.0 {
		t.Errorf("%v", v)
	}
	for _, field := range []string{"error", "incomplete_details", "instructions", "max_output_tokens", "previous_response_id"} {
		if value, has := v[field]; value != nil || !has {
			t.Errorf("%s is %v, want null", field, value)
		}
	}
	v = object(t, send(t, s, "POST", responsesPath, `{"instructions":"Be brief.","max_output_tokens":2.0,"temperature":0.5,"input":[
		{"role":"user","content":"Who?"},{"type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Ann."}]},
		{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"noon"},
		{"role":"user","content":[{"type":"input_text","text":"one two three"}]}]}`))
	if at(v, "status") != "incomplete" || at(v, "incomplete_details", "reason") != "max_output_tokens" || at(v, "output", 0, "content", 0, "text") != "one two " {
		t.Errorf("%v", v)
	}
	if remark, _ := at(v, "tandem", "remarks", 0).(string); !strings.Contains(remark, "system message") || at(v, "instructions") != "Be brief." || at(v, "temperature") != 0.5 {
		t.Errorf("%v", v)
	}
	if q := e.asked[1]; len(q.History) != 3 || q.History[1].Content != "Ann." || q.History[2].Content != "noon" || q.Text != "one two three" || q.Settings.Sampling.Temperature != 0.5 {
		t.Errorf("asked %+v", q)
	}
}

// happened reads the events of a streamed response, and checks that they are named as they say, and numbered.
func happened(t *testing.T, body string) (names []string, data []map[string]any) {
	t.Helper()
	name := ""
	for in := bufio.NewScanner(strings.NewReader(body)); in.Scan(); {
		if n, ok := strings.CutPrefix(in.Text(), "event: "); ok {
			name = n
		}
		text, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok || name == "record" {
			continue
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if v["type"] != name || v["sequence_number"] != float64(len(data)) {
			t.Errorf("event %d, named %s: %s", len(data), name, text)
		}
		names, data = append(names, name), append(data, v)
	}
	return names, data
}

func TestStreamedResponse(t *testing.T) {
	begins := []string{"response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
		"response.output_text.delta", "response.output_text.delta"}
	ends := []string{"response.output_text.done", "response.content_part.done", "response.output_item.done"}
	for _, c := range []struct {
		more string
		err  error
		want []string
	}{
		{"", nil, append(slices.Concat(begins, ends), "response.completed")},
		{`,"tandem":{"record":true}`, nil, append(slices.Concat(begins, ends), "response.completed")},
		{`,"max_output_tokens":2`, nil, append(slices.Concat(begins, ends), "response.incomplete")},
		{"", errors.New("the index is gone"), append(slices.Clone(begins), "response.failed")},
	} {
		question := "one two"
		if strings.Contains(c.more, "max") {
			question = "one two three"
		}
		w := send(t, New(config(&echo{err: c.err})), "POST", responsesPath, fmt.Sprintf(`{"stream":true,"input":%q%s}`, question, c.more))
		names, data := happened(t, w.Body.String())
		if !slices.Equal(names, c.want) {
			t.Fatalf("%s: %q, want %q", c.more, names, c.want)
		}
		if records := strings.Count(w.Body.String(), "event: record"); (records > 0) != strings.Contains(c.more, "record") {
			t.Errorf("%s: %d records", c.more, records)
		}
		last := at(data[len(data)-1], "response")
		if c.err != nil {
			if at(last, "status") != "failed" || at(last, "error", "message") != c.err.Error() {
				t.Errorf("%v", last)
			}
			continue
		}
		id := at(last, "output", 0, "id")
		if at(data[0], "response", "status") != "in_progress" || at(data[0], "response", "id") != at(last, "id") || at(data[4], "item_id") != id || at(data[2], "item", "id") != id || id == nil {
			t.Errorf("%v", data)
		}
		if text := at(data[6], "text"); at(data[4], "delta").(string)+at(data[5], "delta").(string) != text || at(last, "output", 0, "content", 0, "text") != text {
			t.Errorf("%v", data)
		}
		if at(last, "usage", "total_tokens") == nil || at(last, "tandem", "tokens", 0) == nil {
			t.Errorf("%v", last)
		}
	}
}

func TestResponsesRefuses(t *testing.T) {
	s := New(config(&echo{}))
	for body, want := range map[string][2]string{
		`{}`:           {"input", "the user's question"},
		`{"input":5}`:  {"input", "want a list"},
		`{"input":[]}`: {"input", "the user's question"},
		`{"input":[{"role":"user","content":[{"type":"input_image"}]}]}`: {"input", "only text"},
		`{"input":[{"type":"item_reference","id":"msg_1"}]}`:             {"input", "item 0 has the type \"item_reference\""},
		`{"input":"x","previous_response_id":"resp_1"}`:                  {"previous_response_id", "keeps no answers"},
		`{"input":"x","conversation":{"id":"c"}}`:                        {"conversation", "keeps no conversations"},
		`{"input":"x","prompt":{"id":"p"}}`:                              {"prompt", "keeps no prompts"},
		`{"input":"x","background":true}`:                                {"background", "not supported"},
		`{"input":"x","tools":[{"type":"web_search"}]}`:                  {"tools", "tools are not supported"},
		`{"input":"x","text":{"format":{"type":"json_schema"}}}`:         {"text.format", "json_schema"},
		`{"input":"x","max_output_tokens":0}`:                            {"max_output_tokens", "want 1 or more"},
		`{"input":"x","max_output_tokens":1.5}`:                          {"max_output_tokens", "want a whole number, not a number 1.5"},
		`{"input":"x","top_logprobs":2}`:                                 {"top_logprobs", "/v1/chat/completions only"},
		`{"input":"x","model":"gpt-5"}`:                                  {"model", "there is no model gpt-5"},
		`{"input":"x","temperature":3}`:                                  {"temperature", "want 0 to 2"},
		`{"input":"x","stream":true,"tandem":{"local":true}}`:            {"tandem.local", "no option"},
	} {
		w := send(t, s, "POST", responsesPath, body)
		v := object(t, w)
		if text, _ := at(v, "error", "message").(string); w.Code < 400 || w.Code >= 500 || !strings.Contains(text, want[1]) || at(v, "error", "param") != want[0] {
			t.Errorf("%s: %d %s, want %q", body, w.Code, w.Body, want)
		}
	}
	for _, body := range []string{`{"input":"x","tools":[],"tool_choice":"auto","previous_response_id":null,"text":{"format":{"type":"text"}},"store":true,"reasoning":{"effort":"low"}}`} {
		if w := send(t, s, "POST", responsesPath, body); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}

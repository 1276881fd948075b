package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// Anthropic's API answers the last message, and says why and at which stop sequence it ended.
func TestMessages(t *testing.T) {
	e := &echo{}
	s := New(config(e))
	const turns = `"system":[{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":"Who?"},{"role":"assistant","content":"Ann."},{"role":"user","content":[{"type":"text","text":"one two three"}]}]`
	for _, c := range []struct{ more, text, reason, stop string }{
		{`,"max_tokens":9`, "one two three", "end_turn", ""},
		{`,"max_tokens":2`, "one two ", "max_tokens", ""},
		{`,"stop_sequences":["x","o t","two"]`, "one ", "stop_sequence", "two"},
	} {
		e.asked = nil
		v := object(t, send(t, s, "POST", messagesPath, `{"model":"reader",`+turns+c.more+`}`))
		stop, _ := v["stop_sequence"].(string)
		if at(v, "type") != "message" || at(v, "role") != "assistant" || at(v, "content", 0, "type") != "text" || at(v, "content", 0, "text") != c.text ||
			at(v, "stop_reason") != c.reason || stop != c.stop || at(v, "usage", "output_tokens").(float64) < 2 || at(v, "tandem", "parts") == nil {
			t.Errorf("%s: %v", c.more, v)
		}
		if remark, _ := at(v, "tandem", "remarks", 0).(string); !strings.Contains(remark, "system message") || len(e.asked[0].History) != 2 {
			t.Errorf("%v, asked %+v", v, e.asked)
		}
		text, last := streamedMessage(t, send(t, s, "POST", messagesPath, `{"stream":true,`+turns+c.more+`}`).Body.String())
		if text != c.text || at(last, "delta", "stop_reason") != c.reason || at(last, "tandem", "parts") == nil {
			t.Errorf("%s: %q, %v", c.more, text, last)
		}
	}
}

// streamedMessage returns the text of a stream and its message_delta, and checks the order of its events.
func streamedMessage(t *testing.T, body string) (text string, delta map[string]any) {
	t.Helper()
	var names []string
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		names = append(names, v["type"].(string))
		piece, _ := at(v, "delta", "text").(string)
		if text += piece; v["type"] == "message_delta" {
			delta = v
		}
	}
	want := []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}
	if !slices.Equal(slices.Compact(names), want) {
		t.Errorf("events %q", names)
	}
	return text, delta
}

// The tokens that are counted are those that an answer says it read.
func TestCountTokens(t *testing.T) {
	s := New(config(&echo{}))
	for _, body := range []string{ask("one two three", ""), ask("one two", `,"system":"Be brief."`)} {
		want := at(object(t, send(t, s, "POST", messagesPath, body)), "usage", "input_tokens")
		if w := send(t, s, "POST", messagesPath+"/count_tokens", body); w.Code != 200 || at(object(t, w), "input_tokens") != want || want == 0.0 {
			t.Errorf("%s: %d %s, want %v", body, w.Code, w.Body, want)
		}
	}
	cfg := config(&echo{})
	cfg.Tokens = nil
	if w := send(t, New(cfg), "POST", messagesPath+"/count_tokens", ask("x", "")); w.Code != 501 || at(object(t, w), "type") != "error" {
		t.Errorf("without tokens: %d %s", w.Code, w.Body)
	}
}

// Errors have Anthropic's form, also those of requests that were not read. Its clients send the key in a header of its own.
func TestMessagesRefuses(t *testing.T) {
	cfg := config(&echo{})
	free := New(cfg)
	cfg.Key = "0123456789abcdef"
	locked := New(cfg)
	for _, c := range []struct {
		server        *Server
		method, below string // messagesPath
		body          string
		header        []string
		code          int
		kind          string
	}{
		{free, "POST", "", ask("x", `,"model":"other"`), nil, 404, "not_found_error"},
		{free, "POST", "", ask("x", `,"tools":[{}]`), nil, 400, "invalid_request_error"},
		{free, "POST", "", ask("x", `,"temperature":1.5`), nil, 400, "invalid_request_error"},
		{free, "POST", "", ask("x", `,"thinking":{"type":"enabled","budget_tokens":1024}`), nil, 400, "invalid_request_error"},
		{free, "POST", "", ask("x", `,"thinking":{"type":"disabled"}`), nil, 200, ""},
		{free, "POST", "", ask("x", `,"output_config":{"format":{"type":"json_schema"}}`), nil, 400, "invalid_request_error"},
		{free, "POST", "", ask("x", `,"output_config":{"effort":"low"}`), nil, 200, ""},
		{free, "POST", "/batches", ask("x", ""), nil, 404, "not_found_error"},
		{free, "GET", "/count_tokens", ``, nil, 405, "invalid_request_error"},
		{free, "POST", "/count_tokens", ask("x", `,"model":"other"`), nil, 404, "not_found_error"},
		{free, "POST", "", `{`, nil, 400, "invalid_request_error"},
		{free, "GET", "", ``, nil, 405, "invalid_request_error"},
		{free, "POST", "", `{}`, []string{"Host", "evil.example"}, 403, "permission_error"},
		{locked, "POST", "", ask("x", ""), nil, 401, "authentication_error"},
		{locked, "POST", "", ask("x", ""), []string{"X-Api-Key", "0123456789abcdeX"}, 401, "authentication_error"},
		{locked, "POST", "", ask("x", ""), []string{"X-Api-Key", "0123456789abcdef"}, 200, ""},
	} {
		w := send(t, c.server, c.method, messagesPath+c.below, c.body, c.header...)
		v := object(t, w)
		if kind, _ := at(v, "error", "type").(string); w.Code != c.code || kind != c.kind || c.kind != "" && v["type"] != "error" {
			t.Errorf("%s %s %s %v: %d %s", c.method, c.below, c.body, c.header, w.Code, w.Body)
		}
	}
}

// Clients of Anthropic's API, which send its header, get its list of models; others get OpenAI's.
func TestAnthropicModels(t *testing.T) {
	s := New(config(&echo{}))
	for path, want := range map[string]string{"/v1/models": "data", "/v1/models/reader": "", "/v1/models/other": "error"} {
		v := object(t, send(t, s, "GET", path, "", "anthropic-version", "2023-06-01"))
		switch want {
		case "data":
			if v["has_more"] != false || v["first_id"] != "reader" || v["last_id"] != "reader" || v["object"] != nil {
				t.Errorf("%s: %v", path, v)
			}
			v, _ = at(v, "data", 0).(map[string]any)
		case "error":
			if v["type"] != "error" || at(v, "error", "type") != "not_found_error" {
				t.Errorf("%s: %v", path, v)
			}
			continue
		}
		created, _ := v["created_at"].(string)
		if _, err := time.Parse(time.RFC3339, created); v["type"] != "model" || v["id"] != "reader" || v["display_name"] != "reader" || err != nil {
			t.Errorf("%s: %v, %v", path, v, err)
		}
	}
	if v := object(t, send(t, s, "GET", "/v1/models", "")); v["object"] != "list" || at(v, "data", 0, "object") != "model" {
		t.Errorf("OpenAI's: %v", v)
	}
}

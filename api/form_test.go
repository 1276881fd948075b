package api

import (
	"encoding/json"
	"strings"
	"testing"
)

// Whatever an API calls the form of an answer, it becomes a setting of the question.
func TestForms(t *testing.T) {
	e := &echo{}
	s := New(config(e))
	const schema = `{"type":"object","properties":{"total":{"type":"number"}}}`
	quoted, _ := json.Marshal(schema)
	for _, c := range []struct{ path, body, want string }{
		{chatPath, ask("x", ``), ""},
		{chatPath, ask("x", `,"response_format":{"type":"text"}`), ""},
		{chatPath, ask("x", `,"response_format":{"type":"json_object"}`), "{}"},
		{chatPath, ask("x", `,"response_format":{"type":"json_object","schema":`+schema+`}`), schema},
		{chatPath, ask("x", `,"response_format":{"type":"json_schema","json_schema":{"name":"bill","strict":true,"schema":`+schema+`}}`), schema},
		{chatPath, ask("x", `,"grammar":"root ::= \"a\" # à"`), `root ::= "a" # à`},
		{chatPath, ask("x", `,"grammar":""`), ""},
		{chatPath, ask("x", `,"json_schema":{}`), "{}"},
		{chatPath, ask("x", `,"guided_json":`+schema), schema},
		{chatPath, ask("x", `,"guided_json":`+string(quoted)), schema},
		{chatPath, ask("x", `,"guided_grammar":"root ::= \"a\""`), `root ::= "a"`},
		{chatPath, ask("x", `,"guided_regex":"^[0-9]+ $"`), `/^[0-9]+ $/`},
		{chatPath, ask("x", `,"guided_choice":["yes","no","a\n\"\\é"]`), `root ::= "yes" | "no" | "a\n\"\\é"`},
		{chatPath, ask("x", `,"guided_choice":[],"guided_regex":"","structured_outputs":{}`), ""},
		{chatPath, ask("x", `,"structured_outputs":{"json":`+schema+`,"regex":null,"disable_any_whitespace":false}`), schema},
		{chatPath, ask("x", `,"structured_outputs":{"regex":"a|b"}`), `/a|b/`},
		{chatPath, ask("x", `,"structured_outputs":{"choice":["a"]}`), `root ::= "a"`},
		{chatPath, ask("x", `,"structured_outputs":{"grammar":"root ::= \"a\""}`), `root ::= "a"`},
		{"/v1/responses", `{"input":"x","text":{"format":{"type":"json_schema","name":"bill","schema":` + schema + `}}}`, schema},
		{messagesPath, ask("x", `,"output_config":{"format":{"type":"json_schema","schema":`+schema+`}}`), schema},
		{messagesPath, ask("x", `,"output_format":{"type":"json_schema","schema":`+schema+`}`), schema},
		{"/api/chat", `{"messages":[{"role":"user","content":"x"}],"format":"json"}`, "{}"},
		{"/api/generate", `{"prompt":"x","format":` + schema + `}`, schema},
		{"/api/generate", `{"prompt":"x","format":""}`, ""},
	} {
		e.asked = nil
		w := send(t, s, "POST", c.path, c.body)
		if c.want != "" {
			c.want += "\n"
		}
		if w.Code != 200 || len(e.asked) != 1 || e.asked[0].Settings.Form != c.want {
			t.Errorf("%s %s: %d %s, %+v", c.path, c.body, w.Code, w.Body, e.asked)
		}
	}
	v := object(t, send(t, s, "POST", "/v1/responses", `{"input":"x","text":{"format":{"type":"json_schema","name":"bill","schema":{}}}}`))
	if at(v, "text", "format", "type") != "json_schema" || at(v, "text", "format", "name") != "bill" {
		t.Errorf("the response has the form %v", at(v, "text"))
	}
}

// Where no model writes token by token, a form is refused by its name.
func TestFormsNeedAModel(t *testing.T) {
	for _, change := range []func(*Config){func(c *Config) { c.Pointing = true }, func(c *Config) { c.Denoises = true }} {
		cfg := config(&echo{})
		change(&cfg)
		w := send(t, New(cfg), "POST", chatPath, ask("x", `,"response_format":{"type":"json_object"}`))
		if w.Code != 400 || !strings.Contains(w.Body.String(), "response_format needs a model that writes") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

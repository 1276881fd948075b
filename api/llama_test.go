package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tandem/model/tokenizer"
)

// Texts become tokens and texts again as in llama.cpp's server. Pieces of characters are bytes.
func TestTokenize(t *testing.T) {
	s := New(config(&echo{}))
	const text = "one 東 two"
	ids := vocabulary().Encode(text, tokenizer.Options{ParseSpecial: true})
	plain := send(t, s, "POST", "/tokenize", `{"content":"`+text+`"}`)
	list, _ := json.Marshal(map[string]any{"tokens": ids})
	if got := strings.TrimSpace(plain.Body.String()); plain.Code != 200 || got != string(list) {
		t.Errorf("%d %s, want %s", plain.Code, got, list)
	}
	spelled := object(t, send(t, s, "POST", "/tokenize", `{"content":"`+text+`","with_pieces":true}`))
	var all []byte
	for i, id := range ids {
		switch piece := at(spelled, "tokens", i, "piece").(type) {
		case string:
			all = append(all, piece...)
		case []any:
			for _, b := range piece {
				all = append(all, byte(b.(float64)))
			}
		}
		if at(spelled, "tokens", i, "id") != float64(id) {
			t.Errorf("token %d: %v", i, at(spelled, "tokens", i))
		}
	}
	back := at(object(t, send(t, s, "POST", "/detokenize", string(list))), "content")
	if back != string(all) || strings.TrimSpace(string(all)) != text {
		t.Errorf("%q in pieces, %q together, want %q", all, back, text)
	}
	bos, _ := vocabulary().BOS()
	for more, want := range map[string]bool{"": true, `,"parse_special":true`: true, `,"parse_special":false`: false} {
		name, _ := json.Marshal(string(vocabulary().Piece(bos)))
		got := at(object(t, send(t, s, "POST", "/tokenize", `{"content":`+string(name)+more+`}`)), "tokens")
		if is := at(got, 0) == float64(bos) && at(got, 1) == nil; is != want {
			t.Errorf("%s%s: tokens %v", name, more, got)
		}
	}
	if w := send(t, s, "POST", "/tokenize", `{}`); strings.TrimSpace(w.Body.String()) != `{"tokens":[]}` {
		t.Errorf("of no text: %s", w.Body)
	}
}

// What has no tokens or is too long is refused, and says so.
func TestTokenizeRefuses(t *testing.T) {
	cfg := config(&echo{})
	s := New(cfg)
	cfg.Tokens = nil
	none := New(cfg)
	long, _ := json.Marshal(strings.Repeat("x", maxTokenized+1))
	many, _ := json.Marshal(make([]int, maxTokenized+1)) // of one byte or more each
	for _, c := range []struct {
		server           *Server
		path, body, want string
		code             int
	}{
		{s, "/tokenize", `{"content":` + string(long) + `}`, "content: the text has more than", 400},
		{s, "/tokenize", `{"content":[1,"a"]}`, "content: want a string", 400},
		{s, "/detokenize", `{"tokens":` + string(many) + `}`, "tokens: the text has more than", 400},
		{s, "/detokenize", fmt.Sprintf(`{"tokens":[0,%d]}`, vocabulary().Size()), "token 1 is", 400},
		{s, "/detokenize", `{"tokens":[-1]}`, "token 0 is -1", 400},
		{s, "/detokenize", `{"tokens":[4294967297]}`, "token 0 is 4294967297", 400},
		{none, "/tokenize", `{"content":"x"}`, "does not know its tokens", 501},
		{none, "/detokenize", `{"tokens":[1]}`, "does not know its tokens", 501},
		{s, "/v1/tokenize", `{}`, "did you mean /tokenize?", 404},
	} {
		w := send(t, c.server, "POST", c.path, c.body)
		if text, _ := at(object(t, w), "error", "message").(string); w.Code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s %.80s: %d %.200s", c.path, c.body, w.Code, w.Body)
		}
	}
}

// The properties are those that hold. They need the key, as all else about the model does.
func TestProps(t *testing.T) {
	cfg := config(&echo{})
	v := object(t, send(t, New(cfg), "GET", "/props", ""))
	if _, ok := v["chat_template"]; ok || at(v, "total_slots") != float64(DefaultAtOnce) || at(v, "model_alias") != "reader" || at(v, "build_info") != "tandem-1" || at(v, "default_generation_settings", "n_ctx") != nil {
		t.Errorf("of a reader without a context: %v", v)
	}
	cfg.Model.Context, cfg.Model.Template, cfg.AtOnce = 512, "{{ messages }}", 3
	if v := object(t, send(t, New(cfg), "GET", "/props", "")); at(v, "chat_template") != "{{ messages }}" || at(v, "total_slots") != 3.0 || at(v, "default_generation_settings", "n_ctx") != 512.0 {
		t.Errorf("of a model: %v", v)
	}
	cfg.Key = "0123456789abcdef"
	for _, path := range llamaPaths {
		for _, method := range []string{"GET", "POST"} {
			if w := send(t, New(cfg), method, path, "{}"); w.Code != 401 {
				t.Errorf("%s %s without the key: %d %s", method, path, w.Code, w.Body)
			}
		}
	}
}

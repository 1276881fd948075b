package api

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/http"
	"strings"
	"testing"

	"tandem/model"
)

// lengths embeds a text as its length.
type lengths struct{}

func (lengths) EmbedText(_ context.Context, text string) ([]float32, int, error) {
	if len(text) > 100 {
		return nil, len(text), &model.ContextError{Add: len(text), Limit: 100}
	}
	return []float32{float32(len(text)), 0.5}, len(text), nil
}

func TestEmbeddings(t *testing.T) {
	cfg := config(&echo{})
	cfg.Encoder, cfg.EncoderInfo = lengths{}, ModelInfo{Name: "minilm", Arch: "bert"}
	s := New(cfg)
	w := send(t, s, "POST", "/v1/embeddings", `{"model":"minilm","input":["ab","abc"]}`)
	v := object(t, w)
	if w.Code != http.StatusOK || at(v, "object") != "list" || at(v, "usage", "prompt_tokens") != 5.0 || !strings.Contains(w.Body.String(), `"embedding":[3,0.5],"index":1`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = send(t, s, "POST", "/v1/embeddings", `{"input":"ab","encoding_format":"base64"}`)
	_, text, _ := strings.Cut(w.Body.String(), `"embedding":"`)
	b, err := base64.StdEncoding.DecodeString(text[:max(strings.IndexByte(text, '"'), 0)])
	if err != nil || len(b) != 8 || math.Float32frombits(binary.LittleEndian.Uint32(b)) != 2 {
		t.Errorf("%v: %s", err, w.Body)
	}
	w = send(t, s, "POST", "/api/embed", `{"model":"minilm:latest","input":"abc"}`)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"embeddings":[[3,0.5]]`) || !strings.Contains(w.Body.String(), `"prompt_eval_count":3`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for path, want := range map[string]string{"/v1/models": `"id":"reader"`, "/v1/models/minilm": `"id":"minilm"`, "/v1/models/reader": `"id":"reader"`} {
		if w := send(t, s, "GET", path, ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if n := len(at(object(t, send(t, s, "GET", "/v1/models", "")), "data").([]any)); n != 2 {
		t.Errorf("%d models are listed, want the reader and the encoder", n)
	}
	for _, name := range []string{"minilm", "minilm:latest"} {
		w := send(t, s, "POST", "/api/show", `{"model":"`+name+`"}`)
		if v := object(t, w); w.Code != http.StatusOK || at(v, "capabilities", 0) != "embedding" || at(v, "details", "family") == "llama" {
			t.Errorf("/api/show %s: %d %s", name, w.Code, w.Body)
		}
		if w := send(t, s, "GET", "/v1/models/"+name, ""); w.Code != http.StatusOK || at(object(t, w), "id") != "minilm" {
			t.Errorf("/v1/models/%s: %d %s", name, w.Code, w.Body)
		}
	}
	v = object(t, send(t, s, "GET", "/api/tags", ""))
	if n := len(at(v, "models").([]any)); n != 2 || at(v, "models", 0, "name") != "reader:latest" || at(v, "models", 1, "model") != "minilm:latest" {
		t.Errorf("/api/tags lists %v, want the reader and the encoder", v)
	}
	if n := len(at(object(t, send(t, New(config(&echo{})), "GET", "/api/tags", "")), "models").([]any)); n != 1 {
		t.Errorf("without an encoder, /api/tags lists %d models", n)
	}
	for body, want := range map[string]string{
		`{}`:                                           "input is missing",
		`{"input":[]}`:                                 "1 to 256",
		`{"input":[[1,2]]}`:                            "tokens are not supported",
		`{"input":"x","model":"gpt"}`:                  "there is no encoder gpt",
		`{"input":"x","encoding_format":"int8"}`:       "float or base64",
		`{"input":"x","dimensions":7}`:                 "have 2",
		`{"input":"x","model":5}`:                      `"model: want a string, not a number"`,
		`{"input":null}`:                               "input is missing",
		`{"input":["x",null]}`:                         "a text or a list of texts",
		`{"input":"` + strings.Repeat("x", 101) + `"}`: "reads 100",
		`{"input":[` + strings.Repeat(`"x",`, 256) + `"x"]}`: "not 257",
	} {
		if w := send(t, s, "POST", "/v1/embeddings", body); w.Code < 400 || w.Code >= 500 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%.40s: %d %s, want %q", body, w.Code, w.Body, want)
		}
	}
	for body, want := range map[string]string{
		`{"model":"minilm","prompt":"abc"}`:             `{"embedding":[3,0.5]}`,
		`{"model":"minilm"}`:                            `{"embedding":[]}`, // a client loads the encoder
		`{"model":"gpt"}`:                               `{"error":"there is no encoder gpt here: this server has minilm"}`,
		`{"prompt":5}`:                                  `{"error":"prompt: want a string, not a number"}`,
		`{"prompt":"` + strings.Repeat("x", 101) + `"}`: `{"error":"text 0 has 101 tokens, and the encoder reads 100: shorten it"}`,
	} {
		if w := send(t, s, "POST", "/api/embeddings", body); strings.TrimSpace(w.Body.String()) != want {
			t.Errorf("/api/embeddings %.40s: %d %s, want %s", body, w.Code, w.Body, want)
		}
	}
	if w := send(t, s, "POST", "/api/embed", `{"input":"x","dimensions":7}`); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "have 2") {
		t.Errorf("other dimensions: %d %s", w.Code, w.Body)
	}
	for _, path := range []string{"/api/embed", "/api/embeddings"} {
		if w := send(t, New(config(&echo{})), "POST", path, `{"input":"x"}`); w.Code != http.StatusNotImplemented || !strings.Contains(w.Body.String(), "--encoder") {
			t.Errorf("%s without an encoder: %d %s", path, w.Code, w.Body)
		}
	}
}

package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/model/sample"
	"tandem/model/tokenizer"
	"tandem/node"
	"tandem/npu/native"
	"tandem/pair"
	"tandem/retrieval/passages"
	"tandem/specdec"
)

// echo answers with the question, a token at a time, as both sides' draft.
type echo struct {
	mu      sync.Mutex
	asked   []Query
	pause   func(ctx context.Context) error // before each token; may be nil
	err     error
	running int
	most    int
}

func (e *echo) Sides() Sides {
	return Sides{Device: SideInfo{Name: "phone", InUse: true}, Clouds: []SideInfo{{Name: "cellar", InUse: true}}}
}

func (e *echo) Answer(ctx context.Context, q Query, emit func(node.Token), record func(node.Line)) (node.Answer, error) {
	e.mu.Lock()
	e.asked = append(e.asked, q)
	e.running++
	e.most = max(e.most, e.running)
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		e.running--
		e.mu.Unlock()
	}()
	a := node.Answer{Text: q.Text, Pair: pair.Stats{Together: 1}}
	for i, text := range strings.SplitAfter(q.Text, " ") {
		if e.pause != nil {
			if err := e.pause(ctx); err != nil {
				return a, err
			}
		}
		if i == q.Settings.MaxTokens {
			a.Reason = pair.ReasonLength
			break
		}
		if record != nil {
			step := tandem.Step(i)
			record(node.Line{Event: "decode", Side: "device", Step: step, H: tandem.FixedOf(0), IDs: []tandem.Token{65, 66}, Weights: []uint32{49152, 16384}})
			record(node.Line{Event: "draft", Side: "cloud", Step: step, H: tandem.FixedOf(0), IDs: []tandem.Token{65, 67}, Weights: []uint32{16384, 49152}})
			record(node.Line{Event: "target", Step: step, Token: 65})
		}
		t := node.Token{ID: 65, Text: text, By: tandem.ByBoth}
		a.Tokens = append(a.Tokens, t)
		emit(t)
	}
	return a, e.err
}

// papers is a library in memory.
type papers struct {
	mu   sync.Mutex
	held map[string]string
}

func (p *papers) List(context.Context) (list []Document, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, text := range p.held {
		list = append(list, Document{Path: name, Bytes: int64(len(text))})
	}
	return list, nil
}

func (p *papers) Add(_ context.Context, name string, r io.Reader) (d Document, skipped string, err error) {
	b, err := io.ReadAll(r)
	if err != nil || strings.HasSuffix(name, ".exe") {
		return d, "no text", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[name] = string(b)
	return Document{Path: name}, "", nil
}

func (p *papers) Remove(_ context.Context, name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.held[name]; !ok {
		return ErrNoDocument
	}
	delete(p.held, name)
	return nil
}

func (p *papers) Search(_ context.Context, question string, k int) ([]Found, error) {
	return []Found{{passages.Passage{Title: "Note", Text: question, Source: "/home/note.md"}, []string{"boats"}}}, nil
}

var vocabulary = sync.OnceValue(func() *tokenizer.Tokenizer {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{}), native.New(1))
	if err != nil {
		panic(err)
	}
	return m.Tokenizer()
})

func config(a Answerer) Config {
	return Config{
		Answers: a, Library: &papers{held: map[string]string{}}, Model: ModelInfo{Name: "reader", Arch: "llama", Parameters: 12_709_735, Quantization: "Q4_K_M"}, Tokens: vocabulary(),
		Defaults: tandem.Settings{MaxTokens: 256, Nucleus: 0.8, Support: 256}, Version: "1",
	}
}

// A device that is private is so for every request, and says it to those that ask for another placement.
func TestPrivate(t *testing.T) {
	e := &echo{}
	cfg := config(e)
	cfg.Private = func() bool { return true }
	cfg.Defaults.MakePrivate()
	s := New(cfg)
	for body, want := range map[string]string{
		ask("x", ``): "", ask("x", `,"tandem":{"private":true}`): "", ask("x", `,"tandem":{"private":false}`): "",
		ask("x", `,"tandem":{"placement":"mirror"}`): "private", ask("x", `,"tandem":{"placement":"auto"}`): "private",
	} {
		e.asked = nil
		w := send(t, s, "POST", chatPath, body)
		text, _ := at(object(t, w), "error", "message").(string)
		if want != "" && (w.Code != 400 || !strings.Contains(text, want) || len(e.asked) > 0) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
		if want == "" && (w.Code != 200 || len(e.asked) != 1 || e.asked[0].Settings.Placement != tandem.PlaceDevice) {
			t.Errorf("%s: %d, %+v", body, w.Code, e.asked)
		}
	}
}

// A request names the drafters of its answer, in all APIs. What they lack is said.
func TestDraftOfARequest(t *testing.T) {
	e := &echo{}
	cfg := config(e)
	cfg.CanDraft = func(s specdec.Set) error {
		if s.Has(specdec.WithHistory) {
			return errors.New("nothing is kept")
		}
		return nil
	}
	s := New(cfg)
	for path, body := range map[string]string{
		chatPath: ask("x", `,"tandem":{"draft":"sam,pld"}`), "/v1/completions": `{"prompt":"x","tandem":{"draft":"sam,pld"}}`,
		"/api/chat": ask("x", `,"tandem":{"draft":"sam,pld"}`), "/api/generate": `{"prompt":"x","tandem":{"draft":"sam,pld"}}`,
	} {
		e.asked = nil
		if w := send(t, s, "POST", path, body); w.Code != 200 || len(e.asked) != 1 || e.asked[0].Draft != specdec.WithSAM|specdec.WithLookup|specdec.Branching {
			t.Errorf("%s: %d, %+v", path, w.Code, e.asked)
		}
	}
	e.asked = nil
	if w := send(t, s, "POST", chatPath, ask("x", "")); w.Code != 200 || len(e.asked) != 1 || e.asked[0].Draft != 0 {
		t.Errorf("without drafters: %d, %+v", w.Code, e.asked)
	}
	refused := func(s *Server, draft, want string) {
		t.Helper()
		w := send(t, s, "POST", chatPath, ask("x", `,"tandem":{"draft":"`+draft+`"}`))
		v := object(t, w)
		if text, _ := at(v, "error", "message").(string); w.Code != 400 || !strings.Contains(text, draft) || !strings.Contains(text, want) || at(v, "error", "param") != "tandem.draft" {
			t.Errorf("%s: %d %s", draft, w.Code, w.Body)
		}
	}
	refused(s, "auto,history", "nothing is kept")
	cfg.Denoises = true
	refused(New(cfg), "pld", "diffusion")
}

// send sends a request to a server and returns its response.
func send(t *testing.T, s *Server, method, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, "http://localhost:7470"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// object reads a response's JSON.
func object(t *testing.T, w *httptest.ResponseRecorder) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return v
}

// at returns what stands in JSON below keys and indices.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

const chatPath = "/v1/chat/completions"

func ask(question, more string) string {
	b, _ := json.Marshal(question)
	return fmt.Sprintf(`{"messages":[{"role":"user","content":%s}]%s}`, b, more)
}

func TestChatCompletion(t *testing.T) {
	e := &echo{}
	s := New(config(e))
	v := object(t, send(t, s, "POST", chatPath, `{"model":"reader","seed":7,"temperature":0.5,"top_p":0.9,"max_tokens":2,"n":2,"messages":[
		{"role":"system","content":"Be brief."},{"role":"user","content":"Who?"},{"role":"assistant","content":"Ann."},
		{"role":"user","content":[{"type":"text","text":"one two three"}]}]}`))
	if at(v, "object") != "chat.completion" || at(v, "choices", 1, "message", "content") != "one two " || at(v, "choices", 0, "finish_reason") != "length" {
		t.Errorf("%v", v)
	}
	if at(v, "usage", "completion_tokens") != 4.0 || at(v, "timings", "predicted_n") != 2.0 || at(v, "tandem", 0, "tokens", 0, "by") != "both" {
		t.Errorf("%v", v)
	}
	if remark, _ := at(v, "tandem", 0, "remarks", 0).(string); !strings.Contains(remark, "system message") {
		t.Errorf("remarks of %v", v)
	}
	q := e.asked[1]
	if q.Settings.Seed != 8 || q.Settings.Sampling.Temperature != 0.5 || q.Settings.Sampling.TopP != 0.9 || len(q.History) != 2 || q.Text != "one two three" {
		t.Errorf("asked %+v", q)
	}
	v = object(t, send(t, s, "POST", "/v1/completions", `{"prompt":"one two three","stop":["wo"]}`))
	if at(v, "choices", 0, "text") != "one t" || at(v, "choices", 0, "finish_reason") != "stop" || at(v, "usage", "completion_tokens") != 2.0 || at(v, "tandem", "tokens", 2) != nil {
		t.Errorf("%v", v)
	}
}

// The prompt takes as long as the side that reads longest, be it a cloud that answers alone, and no longer than the answer.
func TestTimings(t *testing.T) {
	for _, c := range []struct {
		prefill [2]time.Duration // by side
		prompt  float64          // ms
	}{
		{[2]time.Duration{300 * time.Millisecond, 0}, 300},
		{[2]time.Duration{0, 300 * time.Millisecond}, 300},
		{[2]time.Duration{100 * time.Millisecond, 300 * time.Millisecond}, 300},
		{[2]time.Duration{100 * time.Millisecond, time.Hour}, 400}, // a cloud may say anything
		{[2]time.Duration{0, -time.Hour}, 0},
	} {
		got := timingsOf(30, node.Answer{Prefill: c.prefill, Took: 400 * time.Millisecond, Tokens: make([]node.Token, 5)})
		if got.PromptMs != c.prompt || got.PredictedMs != 400-c.prompt {
			t.Errorf("%v: %+v", c.prefill, got)
		}
	}
}

// Of an answer that a stop string cuts, only the parts before it are told, the last as far as it goes.
func TestCutShort(t *testing.T) {
	quoted := func(text string) node.Part { return node.Part{Text: text, Quotes: []node.Quote{{Text: text}}} }
	a := node.Answer{Parts: []node.Part{quoted("Milo Petrov."), quoted("At noon."), quoted("In May.")}, Tokens: make([]node.Token, 5), Reason: pair.ReasonLength}
	for text, want := range map[string]string{"": "", "Milo ": "Milo (cut)", "Milo Petrov. ": "Milo Petrov.", "Milo Petrov. At noo": "Milo Petrov.|At noo (cut)"} {
		got := ""
		parts, _ := Parts(cutShort(a, text, 3), true)
		for i, p := range parts {
			if got += "|" + p.Text; p.Cut {
				got += " (cut)"
			}
			if len(p.Citations) != 1 || p.Citations[0].Text != a.Parts[i].Text || p.Cut && p.Sure != 0 {
				t.Errorf("%q: part %d has the citations %+v and the confidence %v", text, i, p.Citations, p.Sure)
			}
		}
		if strings.TrimPrefix(got, "|") != want {
			t.Errorf("%q: parts %q, want %q", text, got, want)
		}
	}
	if n := len(cutShort(a, "", 3).Tokens); n != 3 || len(a.Parts) != 3 {
		t.Errorf("%d tokens", n)
	}
}

// events returns the data of a stream's events that have no name, and those named "record".
func events(t *testing.T, r io.Reader) (data []map[string]any, records int) {
	t.Helper()
	in := bufio.NewScanner(r)
	name, done := "", false
	for in.Scan() {
		line := in.Text()
		if n, ok := strings.CutPrefix(line, "event: "); ok {
			name = n
		}
		d, ok := strings.CutPrefix(line, "data: ")
		switch {
		case !ok:
		case d == "[DONE]":
			done = true
		case name == "record":
			records++
			name = ""
		default:
			var v map[string]any
			if err := json.Unmarshal([]byte(d), &v); err != nil {
				t.Fatalf("%v: %s", err, d)
			}
			data = append(data, v)
		}
	}
	if !done {
		t.Error("the stream does not end with [DONE]")
	}
	return data, records
}

func TestStream(t *testing.T) {
	s := New(config(&echo{}))
	w := send(t, s, "POST", chatPath, ask("one two three", `,"stream":true,"logprobs":true,"top_logprobs":2,"stream_options":{"include_usage":true},"tandem":{"record":true}`))
	chunks, records := events(t, w.Body)
	text := ""
	for _, c := range chunks {
		if d, ok := at(c, "choices", 0, "delta", "content").(string); ok {
			text += d
		}
	}
	n := len(chunks)
	if text != "one two three" || n != 6 || records != 9 || at(chunks[0], "choices", 0, "delta", "role") != "assistant" {
		t.Errorf("%d chunks, %d records, %q", n, records, text)
	}
	if at(chunks[n-2], "choices", 0, "finish_reason") != "stop" || at(chunks[n-2], "tandem", "unknown") == nil || at(chunks[n-1], "usage", "completion_tokens") != 3.0 {
		t.Errorf("%v", chunks[n-2:])
	}
	// Both sides weigh the same: token 65 has (3/4 + 1/4)/2 of the mixture, token 67 less.
	lp := at(chunks[1], "choices", 0, "logprobs", "content", 0)
	if p, _ := at(lp, "logprob").(float64); math.Abs(p-math.Log(.5)) > 1e-9 || at(lp, "top_logprobs", 0, "token") != at(lp, "token") || at(lp, "top_logprobs", 2) != nil {
		t.Errorf("log-probabilities: %v", lp)
	}
	// Without alternatives, the list of them is empty, as clients expect.
	v := object(t, send(t, s, "POST", chatPath, ask("one", `,"logprobs":true`)))
	if top, ok := at(v, "choices", 0, "logprobs", "content", 0, "top_logprobs").([]any); !ok || len(top) != 0 {
		t.Errorf("without alternatives: %v", at(v, "choices", 0, "logprobs"))
	}
}

// The chunks of an answer have one time of creation, however long it takes. Those before the last have no usage where a client asks
// for it: null, as OpenAI's have.
func TestChunksAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(config(&echo{pause: func(context.Context) error { time.Sleep(time.Minute); return nil }}))
		for _, more := range []string{`,"stream":true`, `,"stream":true,"stream_options":{"include_usage":true}`} {
			chunks, _ := events(t, send(t, s, "POST", chatPath, ask("one two three", more)).Body)
			wanted := strings.Contains(more, "include_usage")
			for i, c := range chunks {
				if c["created"] != chunks[0]["created"] {
					t.Errorf("chunk %d was created at %v, the first at %v", i, c["created"], chunks[0]["created"])
				}
				if used, has := c["usage"]; has != wanted || (used != nil) != (wanted && i == len(chunks)-1) {
					t.Errorf("with %s, chunk %d has the usage %v, %v", more, i, used, has)
				}
			}
		}
	})
}

// An error has all fields of OpenAI's, null where there is nothing to say.
func TestErrorsHaveAllFields(t *testing.T) {
	s := New(config(&echo{}))
	for body, want := range map[string]string{
		ask("x", `,"n":9`):          `{"code":null,"message":"n is 9: want 1 to 8","param":"n","type":"invalid_request_error"}`,
		ask("x", `,"model":"none"`): `{"code":"model_not_found","message":"there is no model none here: this server has reader","param":"model","type":"invalid_request_error"}`,
		`{"messages":[]}`:           `{"code":null,"message":"there is no message: the last one must be the user's question","param":"messages","type":"invalid_request_error"}`,
	} {
		if got, err := json.Marshal(object(t, send(t, s, "POST", chatPath, body))["error"]); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", body, got, err, want)
		}
	}
}

// Text is cut where the stop string that is complete first begins, or the longest of several that end together. It does not
// matter in which pieces the text comes.
func TestStopStrings(t *testing.T) {
	for _, c := range []struct {
		text  string
		stops []string
	}{
		{"abcabd", []string{"abd"}}, {"aaaab", []string{"aab"}}, {"  \nxyz", []string{"z"}}, {"one\ntwo", []string{"\n"}}, {"abc", []string{"d"}},
		{"abcd", []string{"cd", "bc"}}, {"aba", []string{"abab"}}, {"東京都", []string{"京"}}, {"", []string{"x"}},
		{"abc", []string{"bc", "ab"}}, {"abcd", []string{"abcd", "bc"}}, {"xab", []string{"b", "ab"}}, {"xab", []string{"ab", "b"}},
	} {
		want := strings.TrimLeft(c.text, " \n")
		from, end := len(want), len(want)+1
		for _, s := range c.stops {
			if i := strings.Index(want, s); i >= 0 && (i+len(s) < end || i+len(s) == end && i < from) {
				from, end = i, i+len(s)
			}
		}
		for size := 1; size <= len(c.text)+1; size++ {
			out := output{stop: sample.NewStopFilter(c.stops), emit: func(string, []node.Token) {}}
			for piece := range slices.Chunk([]byte(c.text), size) {
				out.add(node.Token{Text: string(piece)})
			}
			out.show(out.stop.Flush())
			if got := out.shown.String(); got != want[:from] {
				t.Errorf("%q with %q in pieces of %d: %q, want %q", c.text, c.stops, size, got, want[:from])
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	s := New(config(&echo{}))
	for body, want := range map[string]string{
		`{`:               "no JSON object",
		`[]`:              "the request: want an object, not an array",
		`{"messages":[]}`: "there is no message: the last one must be the user's question",
		`{"messages":[{"role":"user","content":null}]}`:                                              "the last message is empty",
		`{"messages":[{"role":"user","content":" "}]}`:                                               "the last message is empty",
		`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`:            "the last message must be the user's question",
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url"}]}]}`: "part 1 of a message has the type",
		`{"messages":5}`:                      "messages: want a list, not a number",
		`{}`:                                  "the user's question",
		ask("x", `,"n":9`):                    "want 1 to 8",
		ask("x", `,"tools":[{}]`):             "tools are not supported",
		ask("x", `,"tool_choice":"required"`): "tool_choice: tools are not supported",
		ask("x", `,"tool_choice":{"type":"function","function":{}}`):   "tool_choice: tools are not supported",
		ask("x", `,"function_call":{"name":"f"}`):                      "function_call: tools are not supported",
		ask("x", `,"temperature":3`):                                   "want 0 to 2",
		ask("x", `,"top_p":0`):                                         "more than 0",
		ask("x", `,"stop":["",""]`):                                    "not empty",
		ask("x", `,"max_tokens":0`):                                    "want 1 or more",
		ask("x", `,"top_logprobs":2`):                                  "with logprobs",
		ask("x", `,"model":"gpt-4o"`):                                  "there is no model gpt-4o",
		ask("x", `,"logit_bias":{"5":1}`):                              "logit_bias",
		ask("x", `,"grammar":"root ::= a"`):                            "grammar: grammar: line 1: there is no rule a",
		ask("x", `,"grammar":5`):                                       "grammar: want a text",
		ask("x", `,"grammar":"root ::= \"a\"","json_schema":{}`):       "grammar and json_schema: want one of them",
		ask("x", `,"json_schema":{"type":"text"}`):                     "json_schema: JSON schema: there is no type text",
		ask("x", `,"json_schema":5`):                                   "json_schema: want a schema",
		ask("x", `,"guided_json":{"not":{}}`):                          "guided_json: JSON schema: not is not supported",
		ask("x", `,"guided_regex":"[0-9"`):                             "guided_regex: pattern: error parsing regexp",
		ask("x", `,"guided_choice":"yes"`):                             "guided_choice: want a list of texts",
		ask("x", `,"structured_outputs":{"choice":["a"],"regex":"b"}`): "structured_outputs.regex and structured_outputs.choice: want one of them",
		ask("x", `,"structured_outputs":{"structural_tag":"a"}`):       "structured_outputs.structural_tag is not supported: want json, regex, choice or grammar",
		ask("x", `,"presence_penalty":1`):                              "presence_penalty is not",
		ask("x", `,"response_format":{"type":"json_schema"}`):          "json_schema has no schema",
		ask("x", `,"response_format":{"type":"xml"}`):                  "want text, json_object or json_schema",
		ask("x", `,"tandem":{"placement":"moon"}`):                     "placement",
		ask("x", `,"tandem":{"rtt_ms":-1}`):                            "rtt_ms",
		ask("x", `,"tandem":{"rtt_ms":4001}`):                          "want 0 to 4000",
		ask("x", `,"tandem":{"loss":1}`):                               "loss",
		ask("x", `,"tandem":{"draft":"sam,magic"}`):                    "tandem.draft: drafter \"magic\"",
		ask("x", `,"tandem":{"draft":"off,sam"}`):                      "tandem.draft: \"off\"",
		ask("x", `,"tandem":{"draft":5}`):                              "tandem.draft: want a string, not a number",
		ask("x", `,"tandem":{"local_onyl":true}`):                      "tandem.local_onyl is no option: did you mean local_only?",
		ask("x", `,"tandem":{"model":"x"}`):                            "tandem.model is no option: want some of placement, rtt_ms",
		ask("x", `,"tandem":[]`):                                       "tandem: want an object, not an array",
		ask("x", `,"temperature":"hot"`):                               "temperature: want a number, not a string",
		ask("x", `,"seed":1.5`):                                        "seed: want a whole number, not a number 1.5",
		ask("x", `,"stream":"yes"`):                                    "stream: want true or false, not a string",
		`{"messages":[{"role":"user","content":5}]}`:                   "messages.content: want a string, not a number",
		`{"messages":["x"]}`:                                           "messages: want an object, not a string",
		`{"messages":[{"role":"tool","content":"x"}]}`:                 "must be the user's question",
		`{"messages":[{"role":"clerk","content":"x"}]}`:                "role \"clerk\"",
		`{"messages":[{"role":"user","content":[{"type":"image"}]}]}`:  "only text",
	} {
		w := send(t, s, "POST", chatPath, body)
		v := object(t, w)
		if text, _ := at(v, "error", "message").(string); w.Code < 400 || w.Code >= 500 || !strings.Contains(text, want) || at(v, "error", "type") != "invalid_request_error" {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	for body, param := range map[string]string{
		`{"prompt":""}`:                            "prompt",
		`{"prompt":"x","frequency_penalty":1}`:     "frequency_penalty",
		`{"prompt":"x","tandem":{"local_onyl":1}}`: "tandem.local_onyl",
		`{"prompt":"x","temperature":"hot"}`:       "temperature",
		`{"prompt":"x","tandem":{"draft":5}}`:      "tandem.draft",
		`{"prompt":"x","max_completion_tokens":0}`: "max_completion_tokens",
		`{"prompt":"x","best_of":2}`:               "best_of",
		`{"prompt":"x","suffix":"."}`:              "suffix",
		`{"prompt":"x","functions":[{}]}`:          "functions",
	} {
		if w := send(t, s, "POST", "/v1/completions", body); w.Code != http.StatusBadRequest || at(object(t, w), "error", "param") != param {
			t.Errorf("%s: %d %s, want the param %s", body, w.Code, w.Body, param)
		}
	}
	if w := send(t, s, "POST", "/v1/documents", "text"); !strings.Contains(w.Body.String(), "name is missing") {
		t.Errorf("an upload without a name: %s", w.Body)
	}
	for path, want := range map[string]int{"/v1/embeddings": 501, "/v1/nothing": 404, "/v1/models": 405} {
		if w := send(t, s, "POST", path, "{}"); w.Code != want || at(object(t, w), "error", "message") == nil {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	paged := config(&echo{})
	paged.Page = http.NotFoundHandler()
	for path, want := range map[string]int{chatPath: 405, "/v1/nothing": 404} { // not the page's business
		if w := send(t, New(paged), "GET", path, ""); w.Code != want || at(object(t, w), "error", "message") == nil || want == 405 && w.Header().Get("Allow") != "POST" {
			t.Errorf("GET %s with a page: %d %s", path, w.Code, w.Body)
		}
	}
	paged.Page = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for request, want := range map[string]string{ // what was meant
		"POST /chat/completions":   "did you mean /v1/chat/completions?",
		"POST /v1/chat/completion": "did you mean /v1/chat/completions?",
		"GET /v1/model":            "did you mean /v1/models?",
		"GET /v1":                  "did you mean /v1/models?",
		"GET /v1/responses/abc":    "/v1/responses/abc is not part of this API: answers are not kept",
		"GET /slots":               "/slots is not part of this API: /props has their number",
		"GET /api":                 "/api is not part of this API: docs/api.md lists what is",
		"POST /v1/images":          "/v1/images is not part of this API: docs/api.md lists what is",
		"GET /models":              "did you mean /v1/models?",
		"POST /v1/v1/responses":    "did you mean /v1/responses?",
		"POST /v1/api/chat":        "did you mean /api/chat?",
		"POST /completion":         "use /v1/completions",
		"POST /api/pull":           "run \"models pull\"",
		"DELETE /api/delete":       "\"models rm\"",
		"POST /api/push":           "models are not changed over HTTP",
	} {
		method, path, _ := strings.Cut(request, " ")
		w := send(t, New(paged), method, path, "{}")
		v := object(t, w)
		text, ok := at(v, "error", "message").(string)
		if !ok {
			text, _ = at(v, "error").(string)
		}
		if w.Code != http.StatusNotFound || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s, want %s", request, w.Code, w.Body, want)
		}
	}
	if w := send(t, s, "POST", chatPath, ask(strings.Repeat("x", node.MaxQuestion+1), "")); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "want at most 65536") {
		t.Errorf("a long question: %d %s", w.Code, w.Body)
	}
	if w := send(t, s, "POST", chatPath, `{"messages":"`+strings.Repeat("x", maxBody)+`"}`); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d", w.Code)
	}
	s = New(config(&echo{err: fmt.Errorf("cellar: %w", node.ErrNoCloud)}))
	if w := send(t, s, "POST", chatPath, ask("x", "")); w.Code != http.StatusServiceUnavailable || at(object(t, w), "error", "code") != "no_cloud" {
		t.Errorf("without the cloud: %d %s", w.Code, w.Body)
	}
	s = New(config(&echo{err: fmt.Errorf("cellar: %w", node.ErrLater)}))
	if w := send(t, s, "POST", chatPath, ask("x", "")); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || at(object(t, w), "error", "code") != "busy" {
		t.Errorf("of a busy cloud: %d %s", w.Code, w.Body)
	}
	s = New(config(&echo{err: fmt.Errorf("cellar: %w", node.ErrNoCloud)}))
	if body := send(t, s, "POST", chatPath, ask("x", `,"stream":true`)).Body.String(); !strings.Contains(body, `"no_cloud"`) {
		t.Errorf("without the cloud, in a stream: %s", body)
	}
}

// A request that names what is not done here and does not ask for it is answered, such as one with a choice among no tools.
func TestNothingElseIsAskedFor(t *testing.T) {
	s := New(config(&echo{}))
	for _, more := range []string{`,"tools":[],"tool_choice":"auto"`, `,"tool_choice":"none"`, `,"tool_choice":null,"function_call":"auto"`, `,"grammar":"","json_schema":{},"guided_choice":null`, `,"logprobs":false,"top_logprobs":0`} {
		if w := send(t, s, "POST", chatPath, ask("x", more)); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", more, w.Code, w.Body)
		}
	}
}

// A value of the wrong type is named as the request has it, with what its field takes.
func TestWrongTypes(t *testing.T) {
	s := New(config(&echo{}))
	for more, want := range map[string]string{
		`,"seed":1.5`:                    "seed: want a whole number, not a number 1.5",
		`,"seed":1.5e-3`:                 "seed: want a whole number, not a number 1.5e-3",
		`,"seed":1e30`:                   "seed: 1e30 is out of range",
		`,"seed":9223372036854775808.0`:  "seed: 9223372036854775808.0 is out of range",
		`,"max_tokens":1.5`:              "max_tokens: want a whole number, not a number 1.5",
		`,"n":"2"`:                       "n: want a whole number, not a string",
		`,"seed":123456789012345678901`:  "seed: 123456789012345678901 is out of range",
		`,"seed":-123456789012345678901`: "seed: -123456789012345678901 is out of range",
		`,"temperature":1e400`:           "temperature: 1e400 is out of range",
		`,"temperature":"0"`:             "temperature: want a number, not a string",
		`,"stop":5`:                      "stop: want a string or a list of strings, not a number",
		`,"stop":{}`:                     "stop: want a string or a list of strings, not an object",
		`,"stop":[5]`:                    "stop: want a string, not a number",
	} {
		if w := send(t, s, "POST", chatPath, ask("x", more)); w.Code != http.StatusBadRequest || at(object(t, w), "error", "message") != want {
			t.Errorf("%s: %d %s; want %q", more, w.Code, w.Body, want)
		}
	}
}

// A whole number may be written as programs write it whose numbers are all floating-point.
func TestWholeNumbers(t *testing.T) {
	e := &echo{}
	s := New(config(e))
	for more, want := range map[string]tandem.Settings{
		`,"max_tokens":1.0,"seed":3.0`:                                   {MaxTokens: 1, Seed: 3},
		`,"max_completion_tokens":2e0,"seed":1e3`:                        {MaxTokens: 2, Seed: 1000},
		`,"seed":-9223372036854775808.0,"n":1.0`:                         {MaxTokens: 256, Seed: 1 << 63},
		`,"seed":0,"max_tokens":-1.0`:                                    {MaxTokens: 256},
		`,"seed":0,"logprobs":true,"top_logprobs":2.0,"max_tokens":null`: {MaxTokens: 256},
	} {
		e.asked = nil
		w := send(t, s, "POST", chatPath, ask("one two three", more))
		if w.Code != http.StatusOK || e.asked[0].Settings.MaxTokens != want.MaxTokens || e.asked[0].Settings.Seed != want.Seed {
			t.Errorf("%s: %d %s, asked %+v", more, w.Code, w.Body, e.asked)
		}
	}
}

// A seed may be any whole number of 64 bits, as in OpenAI's API, and the response names it as it was given. -1 is a new one, as in
// llama-server's.
func TestNegativeSeeds(t *testing.T) {
	e := &echo{}
	s := New(config(e))
	for _, seed := range []int64{-2, math.MinInt64, math.MaxInt64} {
		e.asked = nil
		w := send(t, s, "POST", chatPath, ask("one", fmt.Sprintf(`,"seed":%d`, seed)))
		if w.Code != http.StatusOK || e.asked[0].Settings.Seed != uint64(seed) || !strings.Contains(w.Body.String(), fmt.Sprintf(`"seed":%d,`, seed)) {
			t.Errorf("seed %d: %d %s", seed, w.Code, w.Body)
		}
	}
	e.asked = nil
	for range 2 {
		send(t, s, "POST", chatPath, ask("one", `,"seed":-1`))
	}
	if len(e.asked) != 2 || e.asked[0].Settings.Seed == e.asked[1].Settings.Seed {
		t.Errorf("with the seed -1 twice: %+v", e.asked)
	}
}

// Of a long conversation the latest turns go on, as many as a cloud can be told.
func TestRecentTurns(t *testing.T) {
	turn := `{"role":"user","content":"` + strings.Repeat("x", 14_000) + `"},{"role":"assistant","content":"ok"},`
	for turns, want := range map[int]int{1: 2, 10: 20, 30: 36} { // 19 of the long turns exceed the bound, 18 do not
		e := &echo{}
		if w := send(t, New(config(e)), "POST", chatPath, `{"messages":[`+strings.Repeat(turn, turns)+`{"role":"user","content":"one"}]}`); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		bytes := 0
		for _, m := range e.asked[0].History {
			bytes += len(m.Content)
		}
		if len(e.asked[0].History) != want || bytes > node.MaxHistory {
			t.Errorf("of %d turns %d are asked with, %d bytes", 2*turns, len(e.asked[0].History), bytes)
		}
	}
}

// Requests by other names, from other pages or without the key are refused.
func TestGuard(t *testing.T) {
	cfg := config(&echo{})
	cfg.Origins, cfg.Hosts = []string{"http://app.example"}, []string{"edge.home"}
	free := New(cfg)
	cfg.Key = "0123456789abcdef"
	locked := New(cfg)
	for _, c := range []struct {
		server *Server
		path   string
		header []string
		want   int
	}{
		{free, "/v1/models", nil, 200},
		{free, "/v1/models", []string{"Host", "[::1]:7470"}, 200},
		{free, "/v1/models", []string{"Host", "EDGE.home"}, 200},
		{free, "/v1/models", []string{"Host", "evil.example"}, 403},
		{free, "/v1/models", []string{"Host", "10.0.0.1:7470"}, 403},
		{free, "/v1/models", []string{"Origin", "http://localhost:7470"}, 200},
		{free, "/v1/models", []string{"Origin", "http://app.example"}, 200},
		{free, "/v1/models", []string{"Origin", "http://evil.example"}, 403},
		{free, "/v1/models", []string{"Origin", "null"}, 403},
		{locked, "/v1/models", nil, 401},
		{locked, "/v1/documents", []string{"Authorization", "Bearer 0123456789abcdeX"}, 401},
		{locked, "/v1/models", []string{"Authorization", "Bearer 0123456789abcdef"}, 200},
		{locked, "/v1/models", []string{"Authorization", "Bearer 0123456789abcdef", "Host", "10.0.0.1"}, 200},
		{locked, "/v1/models", []string{"Authorization", "bearer 0123456789abcdef"}, 200},
		{locked, "/v1/models", []string{"Authorization", "Basic 0123456789abcdef"}, 401},
		{locked, "/api/tags", nil, 401},
		{locked, "/health", nil, 200},
	} {
		w := send(t, c.server, "GET", c.path, "", c.header...)
		if w.Code != c.want || (w.Code == 401) != (w.Header().Get("WWW-Authenticate") == "Bearer") {
			t.Errorf("%s %v: %d, want %d; %v", c.path, c.header, w.Code, c.want, w.Header())
		}
	}
	cfg.Page = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	paged := New(cfg)
	for path, want := range map[string]int{"/": 200, "/v1/models": 401, "/metrics": 401} { // Ollama's clients begin with HEAD /
		if w := send(t, paged, "HEAD", path, ""); w.Code != want {
			t.Errorf("HEAD %s: %d, want %d", path, w.Code, want)
		}
	}
	w := send(t, free, "OPTIONS", chatPath, "", "Origin", "http://app.example")
	if w.Code != http.StatusNoContent || w.Header().Get("Access-Control-Allow-Origin") != "http://app.example" {
		t.Errorf("preflight: %d %v", w.Code, w.Header())
	}
	w = send(t, free, "OPTIONS", chatPath, "", "Origin", "http://app.example", "Access-Control-Request-Headers", "authorization,x-stainless-os, x-stainless-arch,a b,é,"+strings.Repeat("x", 1000))
	if got := w.Header().Get("Access-Control-Allow-Headers"); got != "Authorization, Content-Type, x-stainless-os, x-stainless-arch" {
		t.Errorf("a page may send %s", got)
	}
	if w := send(t, free, "OPTIONS", chatPath, "", "Origin", "http://evil.example", "Access-Control-Request-Headers", "x-stainless-os"); w.Header().Get("Access-Control-Allow-Headers") != "" {
		t.Errorf("a page that may not call may send headers: %v", w.Header())
	}
	if w := send(t, free, "GET", "/v1/models", ""); w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Error("CORS without an origin")
	}
}

// An origin that is allowed with any port is that of one scheme and one host, whatever else stands in an origin.
func TestAnyPort(t *testing.T) {
	cfg := config(&echo{})
	cfg.Origins = []string{"http://app.example:*", "https://[::1]:*", "app://x:*"}
	s := New(cfg)
	for _, origin := range []string{"http://app.example", "http://app.example:80", "http://app.example:3000", "https://[::1]:8443", "https://[::1]", "app://x"} {
		w := send(t, s, "OPTIONS", chatPath, "", "Origin", origin)
		if w.Code != http.StatusNoContent || w.Header().Get("Access-Control-Allow-Origin") != origin || !strings.Contains(strings.Join(w.Header().Values("Vary"), ","), "Origin") {
			t.Errorf("%s: %d %v", origin, w.Code, w.Header())
		}
	}
	for _, origin := range []string{
		"https://app.example:3000", "http://app.example.evil.com:80", "http://evil.com", "http://app.example:80@evil", "http://app.example:80@evil:80",
		"http://evil@app.example:80", "http://app.example:80#@evil", "http://app.example:80/evil", "http://app.example:80?evil", "http://app.example:80\\@evil",
		"http://app.example:", "http://app.example:*", "http://app.example:evil", "http://app.example:80:80", "http://app.example.:80", "http://sub.app.example:80",
		"http://notapp.example:80", "http://app%2eexample:80", "http://APP.example:80", "HTTP://app.example:80", "http://app.example:80, http://evil.com", "http://app.example:80 ",
		"http:app.example:80", "//app.example:80", "app.example:80", "http://", "null", "*", ":*", "https://[::1%25x]:80", "https://[::1]evil:80", "https://::1:80", "http://[::1]:80",
	} {
		w := send(t, s, "OPTIONS", chatPath, "", "Origin", origin)
		if w.Code != http.StatusForbidden || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %v", origin, w.Code, w.Header())
		}
	}
}

// Errors that are not of a single request have the form of the API that its path belongs to.
func TestErrorsOfOllamaPaths(t *testing.T) {
	cfg := config(&echo{})
	cfg.Page = http.NotFoundHandler()
	free := New(cfg)
	cfg.Key = "0123456789abcdef"
	locked := New(cfg)
	for _, c := range []struct {
		server       *Server
		method, path string
		header       []string
		want         int
	}{
		{free, "GET", "/api/nothing", nil, 404},
		{free, "POST", "/api/pull", nil, 404},
		{free, "GET", "/api/chat", nil, 405},
		{free, "GET", "/api/tags", []string{"Host", "evil.example"}, 403},
		{free, "GET", "/api/tags", []string{"Origin", "http://evil.example"}, 403},
		{locked, "GET", "/api/tags", nil, 401},
	} {
		w := send(t, c.server, c.method, c.path, "", c.header...)
		if text, is := at(object(t, w), "error").(string); w.Code != c.want || !is || text == "" {
			t.Errorf("%s %s %v: %d %s, want %d and a text", c.method, c.path, c.header, w.Code, w.Body, c.want)
		}
	}
}

// aSecond waits for a second, or until an answer is given up.
func aSecond(ctx context.Context) error {
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// No more answers run at once than allowed; others wait, and those beyond are sent away. A client that goes away ends its
// answer and gives up its place.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &echo{pause: aSecond}
		cfg := config(e)
		cfg.AtOnce, cfg.Waiting = 2, 3
		s := New(cfg)
		codes := make(chan int, 10)
		post := func(ctx context.Context) {
			r := httptest.NewRequestWithContext(ctx, "POST", "http://localhost"+chatPath, strings.NewReader(ask("one two", "")))
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			codes <- w.Code
		}
		gone, leave := context.WithCancel(t.Context())
		go post(gone)
		synctest.Wait()
		for range 4 {
			go post(t.Context())
		}
		synctest.Wait()
		go post(t.Context())
		synctest.Wait()
		if code := <-codes; code != http.StatusServiceUnavailable {
			t.Errorf("one too many: %d", code)
		}
		leave()
		for i := range 5 {
			if code := <-codes; i > 0 && code != http.StatusOK {
				t.Errorf("%d", code)
			}
		}
		if e.most > 2 || e.running != 0 || len(s.queue) != 0 {
			t.Errorf("%d at once, %d still run, %d places taken", e.most, e.running, len(s.queue))
		}
	})
}

// The prompt of a request that waits is not read into tokens yet.
func TestPromptIsCountedInTurn(t *testing.T) {
	s := New(config(&echo{}))
	j, err := s.prepare("", []message{{Role: "user", Content: "When does it open?"}}, options{})
	if err != nil || j.prompt != 0 {
		t.Fatalf("%d tokens, %v", j.prompt, err)
	}
	leave, err := s.waitAndCount(t.Context(), j)
	if err != nil || j.prompt == 0 {
		t.Fatalf("%d tokens, %v", j.prompt, err)
	}
	leave()
}

// A conversation that is cut begins with a turn of the user.
func TestLongConversation(t *testing.T) {
	turns := []message{{Role: "user", Content: "Hello."}}
	for range maxTurns {
		turns = append(turns, message{Role: "user", Content: "When?"}, message{Role: "assistant", Content: "At noon."})
	}
	turns = append(turns, message{Role: "user", Content: "And then?"}, message{Role: "user", Content: "When?"})
	_, history, _, err := conversation(turns)
	if err != nil || len(history) == 0 || len(history) > maxTurns || history[0].Role != "user" {
		t.Errorf("%d turns, the first of the %s, %v", len(history), history[0].Role, err)
	}
}

func TestOllama(t *testing.T) {
	s := New(config(&echo{}))
	lines := strings.Split(strings.TrimSpace(send(t, s, "POST", "/api/chat", ask("one two", `,"options":{"seed":3}`)).Body.String()), "\n")
	text := ""
	for _, l := range lines {
		var v map[string]any
		if err := json.Unmarshal([]byte(l), &v); err != nil {
			t.Fatal(err)
		}
		piece, _ := at(v, "message", "content").(string)
		text += piece
	}
	if text != "one two" || len(lines) != 3 || !strings.Contains(lines[2], `"done":true`) || !strings.Contains(lines[2], `"eval_count":2`) {
		t.Errorf("%q of %s", text, lines)
	}
	v := object(t, send(t, s, "POST", "/api/generate", `{"model":"reader","prompt":"one two","stream":false}`))
	if at(v, "response") != "one two" || at(v, "done_reason") != "stop" {
		t.Errorf("%v", v)
	}
	for path, body := range map[string]string{"/api/chat": `{"model":"other","messages":[{"role":"user","content":"x"}]}`, "/api/generate": `{"prompt":"x","format":"xml"}`, "/api/show": `{"model":"other"}`} {
		if w := send(t, s, "POST", path, body); w.Code < 400 || at(object(t, w), "error") == nil {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/api/tags", "/api/ps"} {
		m := at(object(t, send(t, s, "GET", path, "")), "models", 0)
		if at(m, "name") != "reader:latest" || at(m, "details", "quantization_level") != "Q4_K_M" {
			t.Errorf("%s: %v", path, m)
		}
	}
	if at(object(t, send(t, s, "POST", "/api/show", `{"model":"reader"}`)), "model_info", "general.architecture") != "llama" {
		t.Error("/api/show")
	}
	v = object(t, send(t, s, "POST", "/api/show", `{"model":"reader"}`))
	if at(v, "details", "parameter_size") != "12.7M" || at(v, "details", "quantization_level") != "Q4_K_M" || at(v, "model_info", "general.parameter_count") != 12_709_735.0 {
		t.Errorf("/api/show: %v", v)
	}
}

// The reply to a greeting ends at a stop string, as an answer does, and has no likelihoods: an empty list, which clients go through.
func TestGreeting(t *testing.T) {
	cfg := config(&echo{})
	cfg.Greeting = func(question string) (string, bool) { return "Ask about the museum.", question == "Hi" }
	s := New(cfg)
	v := object(t, send(t, s, "POST", chatPath, ask("Hi", `,"stop":[" mus","."],"logprobs":true`)))
	if list, ok := at(v, "choices", 0, "logprobs", "content").([]any); at(v, "choices", 0, "message", "content") != "Ask about the" || !ok || len(list) > 0 {
		t.Errorf("%v", v)
	}
	chunks, _ := events(t, send(t, s, "POST", chatPath, ask("Hi", `,"stop":"!","stream":true,"logprobs":true`)).Body)
	if list, ok := at(chunks[1], "choices", 0, "logprobs", "content").([]any); at(chunks[1], "choices", 0, "delta", "content") != "Ask about the museum." || !ok || len(list) > 0 {
		t.Errorf("%v", chunks[1])
	}
}

// A compressed request is refused as what it is.
func TestCompressedRequest(t *testing.T) {
	s := New(config(&echo{}))
	for encoding, want := range map[string]int{"gzip": 415, "zstd": 415, "identity": 200, "": 200} {
		w := send(t, s, "POST", chatPath, ask("one", ""), "Content-Encoding", encoding)
		if w.Code != want || want == 415 && !strings.Contains(w.Body.String(), "is compressed") {
			t.Errorf("%q: %d %s", encoding, w.Code, w.Body)
		}
	}
}

// A client loads a model with an empty question. It must be this server's, and the rest of the request must do.
func TestOllamaPreload(t *testing.T) {
	s := New(config(&echo{}))
	for _, test := range []struct {
		path, body, want string
		code             int
	}{
		{"/api/chat", `{"model":"reader"}`, `"done_reason":"load"`, 200},
		{"/api/generate", `{"model":"reader","prompt":""}`, `"done":true`, 200},
		{"/api/generate", `{"model":"reader","keep_alive":0}`, `"done_reason":"unload"`, 200},
		{"/api/chat", `{"model":"reader","messages":[],"keep_alive":"0s"}`, `"done_reason":"unload"`, 200},
		{"/api/chat", `{"model":"reader","messages":[],"keep_alive":"5m"}`, `"done_reason":"load"`, 200},
		{"/api/chat", `{"model":"other","messages":[]}`, "no model other", 404},
		{"/api/generate", `{"model":"other"}`, "no model other", 404},
		{"/api/generate", `{"format":"xml"}`, "format", 400},
	} {
		if w := send(t, s, "POST", test.path, test.body); w.Code != test.code || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s %s: %d %s", test.path, test.body, w.Code, w.Body)
		}
	}
}

// Images and a text after the gap are refused wherever a client may put them, not left out of the question. What is empty or null
// is not there.
func TestOllamaRefusesWhatItCannotRead(t *testing.T) {
	s := New(config(&echo{}))
	for _, test := range []struct {
		path, body, want string
		code             int
	}{
		{"/api/chat", `{"messages":[{"role":"user","content":"What is this?","images":["aGVsbG8="]}]}`, "images are not supported", 400},
		{"/api/chat", `{"messages":[{"role":"user","content":"x","images":["aGVsbG8="]},{"role":"assistant","content":"y"},{"role":"user","content":"z"}]}`, "images are not supported", 400},
		{"/api/chat", `{"messages":[{"role":"user","content":"one","images":[]},{"role":"assistant","content":"y","images":null},{"role":"user","content":"z"}]}`, `"done":true`, 200},
		{"/api/generate", `{"prompt":"What is this?","images":["aGVsbG8="]}`, "images are not supported", 400},
		{"/api/generate", `{"prompt":"def f(","suffix":"return x"}`, "suffix is not supported", 400},
		{"/api/generate", `{"prompt":"[INST] x","raw":true}`, "raw is not supported", 400},
		{"/api/generate", `{"prompt":"x","template":"{{ .Prompt }}"}`, "template is not supported", 400},
		{"/api/generate", `{"prompt":"one","suffix":"","images":[],"raw":false,"template":""}`, `"done":true`, 200},
	} {
		if w := send(t, s, "POST", test.path, test.body); w.Code != test.code || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s %s: %d %s", test.path, test.body, w.Code, w.Body)
		}
	}
}

// Clients such as Open WebUI add the tag latest to a model without one, and look it up in the list by the field "model" or "name".
func TestOllamaTag(t *testing.T) {
	for name, want := range map[string]string{"reader": "reader:latest", "reader:7b": "reader:7b"} {
		cfg := config(&echo{})
		cfg.Model.Name = name
		s := New(cfg)
		for _, path := range []string{"/api/tags", "/api/ps"} {
			listed := at(object(t, send(t, s, "GET", path, "")), "models", 0)
			if at(listed, "model") != want || at(listed, "name") != want {
				t.Errorf("%s: the model %s is %v, want %s", path, name, listed, want)
			}
		}
		for _, model := range []string{name, want} {
			for path, body := range map[string]string{"/api/show": "{", "/api/generate": `{"prompt":"one",`} {
				if w := send(t, s, "POST", path, body+`"model":"`+model+`"}`); w.Code != http.StatusOK {
					t.Errorf("%s of %s, which is listed: %d %s", path, model, w.Code, w.Body)
				}
			}
		}
	}
}

// A client that wants the model to think is answered, and told that it did not.
func TestOllamaThink(t *testing.T) {
	s := New(config(&echo{}))
	for think, told := range map[string]bool{"true": true, `"high"`: true, "false": false, "null": false, `""`: false} {
		for _, path := range []string{"/api/chat", "/api/generate"} {
			w := send(t, s, "POST", path, `{"stream":false,"think":`+think+`,"prompt":"one","messages":[{"role":"user","content":"one"}]}`)
			if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "think was not used") != told {
				t.Errorf("%s, think %s: %d %s", path, think, w.Code, w.Body)
			}
		}
	}
}

// Ollama's num_predict below 0 leaves the length to the server; a refusal names the field.
func TestOllamaPredict(t *testing.T) {
	e := &echo{}
	s := New(config(e))
	for n, want := range map[int]int{1: 1, -1: s.cfg.Defaults.MaxTokens, -2: s.cfg.Defaults.MaxTokens, 0: s.cfg.Defaults.MaxTokens, -3: 0} {
		e.asked = nil
		w := send(t, s, "POST", "/api/generate", fmt.Sprintf(`{"prompt":"one two","stream":false,"options":{"num_predict":%d}}`, n))
		switch {
		case want == 0 && (w.Code != 400 || !strings.Contains(w.Body.String(), "num_predict")):
			t.Errorf("num_predict %d: %d %s", n, w.Code, w.Body)
		case want > 0 && (w.Code != 200 || len(e.asked) != 1 || e.asked[0].Settings.MaxTokens != want):
			t.Errorf("num_predict %d: %d %s, asked %+v", n, w.Code, w.Body, e.asked)
		}
	}
}

func TestDocuments(t *testing.T) {
	cfg := config(&echo{})
	s := New(cfg)
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	for _, name := range []string{`C:\notes\a.md`, "b.exe", "dir/c.txt"} {
		w, err := m.CreateFormFile("file", name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte("text"))
	}
	m.Close()
	w := send(t, s, "POST", "/v1/documents", form.String(), "Content-Type", m.FormDataContentType())
	v := object(t, w)
	if w.Code != 200 || at(v, "data", 0, "name") != "a.md" || at(v, "data", 1, "skipped") != "no text" || at(v, "data", 2, "name") != "c.txt" {
		t.Errorf("%d %v", w.Code, v)
	}
	w = send(t, s, "POST", "/v1/documents?name=b.exe", "text")
	if v := object(t, w); w.Code != 422 || at(v, "data", 0, "skipped") != "no text" || at(v, "error", "message") != "b.exe: skipped, no text" {
		t.Errorf("nothing was read: %d %v", w.Code, v)
	}
	send(t, s, "POST", "/v1/documents?name=d.md", "text", "Content-Type", "text/plain")
	if list, _ := at(object(t, send(t, s, "GET", "/v1/documents", "")), "data").([]any); len(list) != 3 {
		t.Errorf("%v", list)
	}
	for path, want := range map[string]int{"?path=d.md": 200, "?path=e.md": 404, "": 400} {
		if w := send(t, s, "DELETE", "/v1/documents"+path, ""); w.Code != want {
			t.Errorf("delete %q: %d %s", path, w.Code, w.Body)
		}
	}
	for _, name := range []string{"", ".", "..", "a%00b", "x%3Fy", "%2F", "%20a", "a.", ".hidden.md", "a%E2%80%AEdm.exe", strings.Repeat("x", 200)} {
		if w := send(t, s, "POST", "/v1/documents?name="+name, "text", "Content-Type", "text/plain"); w.Code != 400 {
			t.Errorf("name %q: %d %s", name, w.Code, w.Body)
		}
	}
	if v := object(t, send(t, s, "GET", "/v1/passages?q=boats&k=3", "")); at(v, "data", 0, "text") != "boats" || at(v, "data", 0, "words", 0) != "boats" || at(v, "data", 0, "file") != nil {
		t.Errorf("%v", v)
	}
	cfg.Library = nil
	if w := send(t, New(cfg), "GET", "/v1/documents", ""); w.Code != http.StatusForbidden {
		t.Errorf("no library: %d", w.Code)
	}
}

// Watchers see answers of others begin and end, with their words only from a server that tells them; one that does not read does
// not hold them up.
func TestEvents(t *testing.T) {
	for _, words := range []bool{true, false} {
		cfg := config(&echo{})
		cfg.Words = words
		seen := watchAnswers(t, New(cfg))
		if !strings.Contains(seen[0], `"begin"`) || !strings.Contains(seen[1], `"token"`) || !strings.Contains(seen[2], `"end"`) {
			t.Errorf("%q", seen)
		}
		for _, e := range seen {
			if strings.Contains(e, `"one"`) != words {
				t.Errorf("words %v: %s", words, e)
			}
		}
	}
}

// watchAnswers returns the first three events of more answers than a watcher may be behind.
func watchAnswers(t *testing.T, s *Server) (seen []string) {
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	r, err := server.Client().Get(server.URL + "/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	in := bufio.NewScanner(r.Body)
	in.Scan() // hello: from here on the server watches
	for range watchQueue {
		send(t, s, "POST", chatPath, ask("one", ""))
	}
	for len(seen) < 3 && in.Scan() {
		if d, ok := strings.CutPrefix(in.Text(), `data: {"answer"`); ok {
			seen = append(seen, d)
		}
	}
	if len(seen) < 3 {
		t.Fatalf("%q, %v", seen, in.Err())
	}
	return seen
}

// The JSON of a request is outside input: no panic, and no answer for what cannot be asked.
func FuzzRequest(f *testing.F) {
	f.Add(chatPath, ask("one", `,"stop":"x","n":1,"logprobs":true,"top_logprobs":1`))
	f.Add("/v1/completions", `{"prompt":["x"],"stream":true}`)
	f.Add(responsesPath, `{"input":[{"role":"user","content":[{"type":"input_text","text":"x"}]}],"stream":true}`)
	f.Add("/api/chat", `{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`)
	f.Add("/api/generate", `{"prompt":null,"options":{"stop":["a"]}}`)
	f.Fuzz(func(t *testing.T, path, body string) {
		if !slices.Contains([]string{chatPath, "/v1/completions", responsesPath, "/api/chat", "/api/generate", "/api/show"}, path) {
			t.Skip()
		}
		e := &echo{}
		w := send(t, New(config(e)), "POST", path, body)
		if w.Code >= 500 || w.Code != 200 && len(e.asked) > 0 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// Choices are answered at the same time as far as places are free, come in their order, and give their places back. One that
// fails ends all.
func TestChoicesTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &echo{pause: aSecond}
		together := false
		c := config(e)
		c.Together, c.AtOnce = func() bool { return together }, 3
		s := New(c)
		for _, together = range []bool{false, true} { // a cloud that is paired meanwhile changes it
			e.err, e.most = nil, 0
			start := time.Now()
			v := object(t, send(t, s, "POST", chatPath, ask("one two", `,"n":4,"seed":5`)))
			took, most := 8*time.Second, 1
			if together {
				took, most = 4*time.Second, 3
			}
			if e.most != most || time.Since(start) != took {
				t.Errorf("together %v: %d at once in %v, want %d in %v", together, e.most, time.Since(start), most, took)
			}
			for i := range 4 {
				if at(v, "choices", i, "message", "content") != "one two" || at(v, "choices", i, "index") != float64(i) || at(v, "tandem", i, "seed") != float64(5+i) {
					t.Errorf("choice %d: %v", i, v)
				}
			}
			e.most, start = 0, time.Now()
			texts, ended, first := streamed(t, send(t, s, "POST", chatPath, ask("one two", `,"n":4,"seed":5,"stream":true`)))
			if e.most != most || time.Since(start) != took {
				t.Errorf("stream, together %v: %d at once in %v, want %d in %v", together, e.most, time.Since(start), most, took)
			}
			if !maps.Equal(texts, map[int]string{0: "one two", 1: "one two", 2: "one two", 3: "one two"}) || ended != 4 || together != (first > 1) {
				t.Errorf("stream, together %v: %v, %d ended, %d had begun before the first ended", together, texts, ended, first)
			}
			e.err = errors.New("no")
			if w := send(t, s, "POST", chatPath, ask("one two", `,"n":4,"stream":true`)); !strings.Contains(w.Body.String(), `"error"`) || strings.Contains(w.Body.String(), "[DONE]") {
				t.Errorf("a failure in a stream: %s", w.Body)
			}
			if w := send(t, s, "POST", chatPath, ask("one two", `,"n":4`)); w.Code < 500 {
				t.Errorf("a failure: %d %s", w.Code, w.Body)
			}
			if len(s.slots) != 0 || len(s.queue) != 0 || e.running != 0 {
				t.Errorf("%d places taken, %d waiting, %d run", len(s.slots), len(s.queue), e.running)
			}
		}
	})
}

// A panic during an answer ends that answer and no other. The client is told so, and the log says where it happened.
func TestFaultOfAnAnswer(t *testing.T) {
	var log strings.Builder
	c := config(&echo{pause: func(context.Context) error { panic("slice bounds out of range") }})
	c.Together, c.Log = func() bool { return true }, slog.New(slog.NewTextHandler(&log, nil))
	s := New(c)
	for _, more := range []string{"", `,"n":4`} {
		w := send(t, s, "POST", chatPath, ask("one two", more))
		if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "failed") || strings.Contains(w.Body.String(), "slice") {
			t.Errorf("%q: %d %s", more, w.Code, w.Body)
		}
	}
	if !strings.Contains(log.String(), "TestFaultOfAnAnswer") || len(s.slots) != 0 || len(s.queue) != 0 {
		t.Errorf("%d places taken, %d waiting; the log: %s", len(s.slots), len(s.queue), log.String())
	}
}

// streamed returns the texts of a streamed answer's choices, how many have ended, and how many had begun when the first ended.
func streamed(t *testing.T, w *httptest.ResponseRecorder) (texts map[int]string, ended, first int) {
	t.Helper()
	texts = map[int]string{}
	for line := range strings.Lines(w.Body.String()) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct {
				Index  int
				Delta  struct{ Content string }
				Finish *string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		for _, c := range chunk.Choices {
			texts[c.Index] += c.Delta.Content
			if c.Finish != nil && *c.Finish != "" {
				if ended++; ended == 1 {
					first = len(texts)
				}
			}
		}
	}
	return texts, ended, first
}

// Ollama's options have Ollama's bounds, and what a tool has said is context.
func TestOllamaOptions(t *testing.T) {
	e := &echo{}
	s := New(config(e))
	for options, fine := range map[string]func(tandem.Settings) bool{
		`"seed":-1`:                    func(s tandem.Settings) bool { return true },
		`"seed":3.0`:                   func(s tandem.Settings) bool { return s.Seed == 3 },
		`"seed":1.5`:                   nil,
		`"num_predict":128.0`:          func(s tandem.Settings) bool { return s.MaxTokens == 128 },
		`"num_predict":"x"`:            nil,
		`"temperature":2.5`:            func(s tandem.Settings) bool { return s.Sampling.Temperature == 2.5 },
		`"temperature":-1`:             nil,
		`"top_p":0,"temperature":1`:    func(s tandem.Settings) bool { return s.Sampling.Temperature == 0 },
		`"top_p":1.5`:                  func(s tandem.Settings) bool { return s.Sampling.TopP == 0 },
		`"stop":["1","2","3","4","5"]`: func(s tandem.Settings) bool { return true },
		`"stop":[""]`:                  nil,
	} {
		e.asked = nil
		w := send(t, s, "POST", "/api/generate", `{"prompt":"one two","stream":false,"options":{`+options+`}}`)
		if (w.Code == http.StatusOK) != (fine != nil) || fine != nil && !fine(e.asked[0].Settings) {
			t.Errorf("%s: %d %s %+v", options, w.Code, w.Body, e.asked)
		}
	}
	for _, path := range []string{"/api/chat", chatPath} {
		e.asked = nil
		w := send(t, s, "POST", path, `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","content":"b","tool_call_id":"1"},{"role":"user","content":"c"}]}`)
		if w.Code != http.StatusOK || len(e.asked[0].History) != 3 || e.asked[0].History[2].Content != "b" {
			t.Errorf("%s with a tool: %d %s", path, w.Code, w.Body)
		}
	}
	if digest, _ := at(object(t, send(t, s, "GET", "/api/tags", "")), "models", 0, "digest").(string); len(digest) != 64 {
		t.Errorf("the digest is %q", digest)
	}
}

// Ollama's clients get the probability of each token as OpenAI's do, in pieces or at once, and only if they ask for it.
func TestOllamaLogprobs(t *testing.T) {
	s := New(config(&echo{}))
	for path, body := range map[string]string{"/api/chat": ask("one two", `,"stream":false`), "/api/generate": `{"prompt":"one two","stream":false}`} {
		plain := object(t, send(t, s, "POST", path, body))
		if _, has := plain["logprobs"]; has {
			t.Errorf("%s: not asked for: %v", path, plain)
		}
		with := strings.TrimSuffix(body, "}") + `,"logprobs":true,"top_logprobs":2}`
		v := object(t, send(t, s, "POST", path, with))
		list, _ := v["logprobs"].([]any)
		if len(list) != 2 || at(list, 0, "logprob") == nil || at(list, 0, "top_logprobs", 0, "token") != at(list, 0, "token") {
			t.Errorf("%s: %v", path, v["logprobs"])
		}
		n := 0
		for l := range strings.Lines(send(t, s, "POST", path, strings.Replace(with, `"stream":false`, `"stream":true`, 1)).Body.String()) {
			var piece struct{ Logprobs []logprob }
			if err := json.Unmarshal([]byte(l), &piece); err != nil {
				t.Fatal(err)
			}
			n += len(piece.Logprobs)
		}
		if n != 2 {
			t.Errorf("%s: %d in the pieces", path, n)
		}
		for _, wrong := range []string{`"top_logprobs":2`, `"logprobs":true,"top_logprobs":21`, `"logprobs":true,"top_logprobs":-1`, `"logprobs":1`} {
			if w := send(t, s, "POST", path, strings.TrimSuffix(body, "}")+","+wrong+"}"); w.Code != http.StatusBadRequest {
				t.Errorf("%s %s: %d %s", path, wrong, w.Code, w.Body)
			}
		}
	}
}

// A server without a tokenizer counts no tokens of prompts, and has no likelihoods.
func TestWithoutTokens(t *testing.T) {
	cfg := config(&echo{})
	cfg.Tokens = nil
	s := New(cfg)
	for body, want := range map[string]int{ask("one two", ""): 200, ask("one", `,"stream":true,"tandem":{"record":true}`): 200, ask("one", `,"logprobs":true`): 400} {
		if w := send(t, s, "POST", chatPath, body); w.Code != want {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	if created, _ := at(object(t, send(t, s, "GET", "/v1/models", "")), "data", 0, "created").(float64); created < 0 {
		t.Errorf("the model was created at %v", created)
	}
}

// full is a library on a disk without room.
type full struct {
	papers
	err error
}

func (f *full) Add(context.Context, string, io.Reader) (Document, string, error) {
	return Document{}, "", f.err
}

// An upload that cannot be stored says why, and not where.
func TestUploadToAFullDisk(t *testing.T) {
	for err, want := range map[error]int{syscall.ENOSPC: 507, syscall.EROFS: 500} {
		cfg := config(&echo{})
		cfg.Library = &full{err: fmt.Errorf("store: %w", &fs.PathError{Op: "open", Path: "/home/ada/notes.md", Err: err})}
		if w := send(t, New(cfg), "POST", "/v1/documents?name=notes.md", "x"); w.Code != want || strings.Contains(w.Body.String(), "ada") {
			t.Errorf("%v: %d %s", err, w.Code, w.Body)
		}
	}
}

// An answer that fails after it has begun says why, and not where the server's files are: not in its stream, and not to
// who watches.
func TestFailureInAStreamNamesNoFile(t *testing.T) {
	s := New(config(&echo{err: fmt.Errorf("search: %w", &fs.PathError{Op: "open", Path: "/home/ada/index", Err: syscall.EIO})}))
	watched := s.events.watch()
	for _, path := range []string{chatPath, responsesPath, "/api/chat"} {
		w := send(t, s, "POST", path, ask("one two", `,"stream":true,"input":"one two"`))
		if !strings.Contains(w.Body.String(), `"two"`) || !strings.Contains(w.Body.String(), "cannot open one of its files") || strings.Contains(w.Body.String(), "/ada") {
			t.Errorf("%s: %s", path, w.Body)
		}
		for e := range watched {
			if e["event"] != "end" {
				continue
			}
			if text, _ := e["error"].(string); text == "" || strings.Contains(text, "/ada") {
				t.Errorf("%s: who watches sees %v", path, e)
			}
			break
		}
	}
}

// A page of another site cannot have the server search, or take the places of who watches it, by loading addresses as pictures or
// in frames, for which browsers send no origin. Links to the server work.
func TestOtherSitesLoadNothing(t *testing.T) {
	cfg := config(&echo{})
	cfg.Page = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for _, c := range []struct {
		path, site, dest string
		want             int
	}{
		{"/v1/passages?q=x", "cross-site", "image", 403},
		{"/v1/passages?q=x", "same-site", "script", 403},
		{"/v1/passages?q=x", "cross-site", "iframe", 403},
		{"/v1/passages?q=x", "cross-site", "document", 200},
		{"/v1/passages?q=x", "same-origin", "empty", 200},
		{"/v1/passages?q=x", "none", "document", 200},
		{"/v1/passages?q=x", "", "", 200},
		{"/api/tags", "cross-site", "image", 403},
		{"/", "cross-site", "document", 200},
	} {
		r := httptest.NewRequest("GET", "http://localhost"+c.path, nil)
		if c.site != "" {
			r.Header.Set("Sec-Fetch-Site", c.site)
			r.Header.Set("Sec-Fetch-Dest", c.dest)
		}
		w := httptest.NewRecorder()
		if New(cfg).Handler().ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%s from %q as %q: %d %s", c.path, c.site, c.dest, w.Code, w.Body)
		}
	}
}

// discreet is an error that others are told less of, such as that of the index or of the server that computes the model.
type discreet struct{ error }

func (discreet) Public() string { return "the index is damaged" }

// away is the error of documents on other machines.
type away struct{ error }

func (away) Unreachable() bool { return true }

// An error that names the files or the servers behind this one is told without them, and logged with them.
func TestErrorsNameNothingBehindTheServer(t *testing.T) {
	for err, want := range map[error]string{
		&os.LinkError{Op: "rename", Old: "/home/ada/.new-1", New: "/home/ada/notes.md", Err: syscall.EIO}: "cannot rename one of its files",
		discreet{errors.New("index is damaged: /home/ada/index")}:                                         "the index is damaged",
		away{errors.New("no node answers: http://ada:8080")}:                                              "the documents cannot be reached",
	} {
		var logged bytes.Buffer
		cfg := config(&echo{err: fmt.Errorf("search: %w", err)})
		cfg.Log, cfg.Library = slog.New(slog.NewTextHandler(&logged, nil)), &broken{err: err}
		s := New(cfg)
		for _, w := range []*httptest.ResponseRecorder{send(t, s, "POST", chatPath, ask("one two", "")), send(t, s, "GET", "/v1/passages?q=x", "")} {
			if w.Code < 500 || !strings.Contains(w.Body.String(), want) || strings.Contains(w.Body.String(), "ada") {
				t.Errorf("%v: %d %s", err, w.Code, w.Body)
			}
		}
		if n := strings.Count(logged.String(), "level=ERROR"); n != 2 || strings.Count(logged.String(), "ada") < n {
			t.Errorf("%v: the log has %q", err, logged.String())
		}
	}
}

// broken is a library that cannot be searched.
type broken struct {
	papers
	err error
}

func (b *broken) Search(context.Context, string, int) ([]Found, error) { return nil, b.err }

// A request whose time is up because the server ends is told so, in whatever form it wants its answer, and also while it waits.
func TestBrokenOffByTheEnd(t *testing.T) {
	for _, c := range []struct {
		path, body string
		waits      bool
		want       int
	}{
		{chatPath, ask("one two", ""), false, 503},
		{chatPath, ask("one two", ""), true, 503},
		{chatPath, ask("one two", `,"n":2`), false, 503},
		{chatPath, ask("one two", `,"stream":true`), false, 200},
		{responsesPath, `{"input":"one two"}`, false, 503},
		{responsesPath, `{"input":"one two","stream":true}`, false, 200},
		{"/api/chat", ask("one two", `,"stream":false`), false, 503},
		{"/api/chat", ask("one two", ""), false, 503},
	} {
		ctx, giveUp := context.WithCancelCause(t.Context())
		s := New(config(&echo{pause: func(ctx context.Context) error {
			giveUp(ErrEnding)
			<-ctx.Done()
			return ctx.Err()
		}}))
		if c.waits {
			s.slots = make(chan struct{}) // nobody's turn comes
			giveUp(ErrEnding)
		}
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "POST", c.path, strings.NewReader(c.body))
		r.Host = "localhost"
		s.Handler().ServeHTTP(w, r)
		if w.Code != c.want || !strings.Contains(w.Body.String(), ErrEnding.Message) {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
	}
}

// A server that is about to end says so to whoever asks.
func TestEnding(t *testing.T) {
	cfg, ends := config(&echo{}), make(chan struct{})
	cfg.Ending = ends
	s := New(cfg)
	for _, want := range []int{200, 503} {
		w := send(t, s, "POST", chatPath, ask("one", ""))
		if h := send(t, s, "GET", "/health", ""); w.Code != want || h.Code != want || (want == 503) != (w.Header().Get("Retry-After") != "") {
			t.Errorf("%d %s, %d, want %d", w.Code, w.Body, h.Code, want)
		}
		if want == 200 {
			close(ends)
		}
	}
}

// A form that ends early is the client's fault, and a form has a bounded number of files. One with a bad name is skipped. Whatever
// happens, the response says which files were read.
func TestUploadsOutOfOrder(t *testing.T) {
	part := func(name string) string {
		return fmt.Sprintf("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=%q\r\n\r\nText.\r\n", name)
	}
	var all strings.Builder
	for i := range maxFiles + 1 {
		all.WriteString(part(fmt.Sprintf("%d.md", i)))
	}
	for name, c := range map[string]struct {
		body, want    string
		status, files int // files are kept, and the response says so
	}{
		"cut off":     {strings.TrimSuffix(part("1.md"), "\r\n"), "ended early", 400, 0},
		"then cut":    {part("0.md") + strings.TrimSuffix(part("1.md"), "\r\n"), "ended early", 400, 1},
		"many files":  {all.String() + "--x--", "more than 1000 files", 400, maxFiles},
		"a bad name":  {part("0.md") + part(".env") + part("1.md") + "--x--", ".env", 200, 2},
		"a long name": {part(strings.Repeat("x", 200)) + "--x--", "its name has 200 bytes, more than 128", 422, 0},
	} {
		library := &papers{held: map[string]string{}}
		cfg := config(&echo{})
		cfg.Library = library
		w := send(t, New(cfg), "POST", "/v1/documents", c.body, "Content-Type", "multipart/form-data; boundary=x")
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) || len(library.held) != c.files || strings.Count(w.Body.String(), `"path"`) != c.files {
			t.Errorf("%s: %d %s, %d files", name, w.Code, w.Body, len(library.held))
		}
	}
}

// A body that does not arrive as it should is the client's fault.
func TestBodiesThatBreakOff(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		want   string
	}{
		{io.ErrUnexpectedEOF, http.StatusBadRequest, "ended early"},
		{errors.New("invalid byte in chunk length"), http.StatusBadRequest, "invalid byte in chunk length"},
		{os.ErrDeadlineExceeded, http.StatusRequestTimeout, "too slow"},
	} {
		for _, path := range []string{chatPath, "/api/chat", messagesPath, "/v1/documents?name=a.md"} {
			r := httptest.NewRequest("POST", "http://localhost:7470"+path, io.MultiReader(strings.NewReader(`{"mess`), iotest.ErrReader(c.err)))
			w := httptest.NewRecorder()
			New(config(&echo{})).Handler().ServeHTTP(w, r)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%v at %s: %d %s", c.err, path, w.Code, w.Body)
			}
		}
	}
}

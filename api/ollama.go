package api

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"tandem/node"
)

// ollamaPrefix begins the paths of Ollama's API.
const ollamaPrefix = "/api/"

// ollama adds the paths of Ollama's API.
func (s *Server) ollama(mux *router) {
	mux.HandleFunc("POST /api/chat", s.ollamaChat)
	mux.HandleFunc("POST /api/generate", s.ollamaGenerate)
	mux.HandleFunc("POST /api/embed", s.ollamaEmbed)
	mux.HandleFunc("POST /api/embeddings", s.ollamaEmbeddings)
	mux.HandleFunc("GET /api/tags", s.ollamaTags)
	mux.HandleFunc("GET /api/ps", s.ollamaRunning)
	mux.HandleFunc("POST /api/show", s.ollamaShow)
	mux.HandleFunc("GET /api/version", s.ollamaVersion)
}

// ollamaRequest is a request for an answer, of /api/chat or /api/generate.
type ollamaRequest struct {
	Model    string          `json:"model"`
	Messages []message       `json:"messages"`
	Prompt   string          `json:"prompt"`
	Suffix   string          `json:"suffix"`
	Raw      bool            `json:"raw"`
	Template string          `json:"template"`
	System   string          `json:"system"`
	Stream   *bool           `json:"stream"` // true if it is missing
	Format   json.RawMessage `json:"format"`
	Tools    json.RawMessage `json:"tools"`
	Images   json.RawMessage `json:"images"`
	Options  ollamaOptions   `json:"options"`
	Keep     json.RawMessage `json:"keep_alive"`
	Think    json.RawMessage `json:"think"` // true, false, or how much
	Logprobs bool            `json:"logprobs"`
	Top      *integer        `json:"top_logprobs"`
	Tandem   ownOptions      `json:"tandem"`
}

type ollamaOptions struct {
	Seed        *integer   `json:"seed"`
	Temperature *float64   `json:"temperature"`
	TopP        *float64   `json:"top_p"`
	Predict     *integer   `json:"num_predict"`
	Stop        stringList `json:"stop"`
}

// ollamaBounds are wider than OpenAI's, as Ollama's own.
var ollamaBounds = bounds{stops: 64, hottest: 100, format: "format"}

// options turns a request into the options of the other API.
func (r ollamaRequest) options() (options, error) {
	o := options{
		Stream: r.Stream == nil || *r.Stream, Stop: r.Options.Stop, Seed: r.Options.Seed, Temperature: r.Options.Temperature,
		TopP: r.Options.TopP, Tools: r.Tools, Tandem: r.Tandem, bounds: ollamaBounds,
	}
	switch p := r.Options.TopP; {
	case p != nil && *p == 0: // the likeliest token alone
		o.TopP, o.Temperature = nil, new(float64)
	case p != nil && *p > 1:
		o.TopP = nil
	}
	if n := r.Options.Predict; n != nil && *n > 0 {
		o.MaxTokens = n
	} else if n != nil && *n < -2 { // 0 and -1 are no limit, -2 as much as the context holds: the server's limit is in force
		return o, badRequest("num_predict", "num_predict is %d: want 1 or more, or 0, -1 or -2 for the server's limit", *n)
	}
	switch f := string(r.Format); {
	case f == `"json"`:
		o.Format = &responseFormat{Type: "json_object"}
	case strings.HasPrefix(f, "{"):
		o.Format = &responseFormat{Type: "json_schema", Schema: r.Format}
	case isGiven(r.Format):
		return o, badRequest("format", "the format %.40s is not supported: want \"json\" or a JSON schema", f)
	}
	switch {
	case isGiven(r.Images) || slices.ContainsFunc(r.Messages, func(m message) bool { return isGiven(m.Images) }):
		return o, badRequest("images", "images are not supported")
	case r.Suffix != "":
		return o, badRequest("suffix", "suffix is not supported: the prompt is a question, and no text that goes on")
	case r.Raw:
		return o, badRequest("raw", "raw is not supported: the prompt is a question, without marks of turns")
	case r.Template != "":
		return o, badRequest("template", "template is not supported: the model's own is used")
	}
	return o, nil
}

// ollamaAnswer is a piece of an answer. The last has Done and what follows.
type ollamaAnswer struct {
	Model    string         `json:"model"`
	Created  time.Time      `json:"created_at"`
	Message  *ollamaMessage `json:"message,omitempty"`  // of /api/chat
	Response *string        `json:"response,omitempty"` // of /api/generate
	Logprobs []logprob      `json:"logprobs,omitempty"`
	Done     bool           `json:"done"`
	Reason   string         `json:"done_reason,omitempty"`
	Total    int64          `json:"total_duration,omitempty"` // ns, as the others
	Load     int64          `json:"load_duration,omitempty"`
	Prompt   int            `json:"prompt_eval_count,omitempty"`
	PromptNs int64          `json:"prompt_eval_duration,omitempty"`
	Count    int            `json:"eval_count,omitempty"`
	CountNs  int64          `json:"eval_duration,omitempty"`
	Tandem   *extra         `json:"tandem,omitempty"`
}

type ollamaMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (s *Server) ollamaChat(w http.ResponseWriter, r *http.Request)     { s.ollamaServe(w, r, true) }
func (s *Server) ollamaGenerate(w http.ResponseWriter, r *http.Request) { s.ollamaServe(w, r, false) }

// ollamaServe answers /api/chat or /api/generate.
func (s *Server) ollamaServe(w http.ResponseWriter, r *http.Request, chat bool) {
	var q ollamaRequest
	if err := read(w, r, &q); err != nil {
		failOllama(w, err)
		return
	}
	o, err := q.options()
	if err == nil {
		err = s.checkModel(q.Model)
	}
	if err != nil {
		failOllama(w, err)
		return
	}
	turns := q.Messages
	if !chat {
		turns = withSystem(content(q.System), []message{{Role: "user", Content: content(q.Prompt)}})
	}
	if len(turns) == 0 || !chat && q.Prompt == "" { // a client asks to load the model
		loaded := s.ollamaPiece(chat, "", true)
		if loaded.Reason = "load"; q.unloads() {
			loaded.Reason = "unload" // in name only: the server's model stays
		}
		reply(w, http.StatusOK, loaded)
		return
	}
	j, err := s.prepare(q.Model, turns, o)
	if err == nil {
		err = s.giveLogprobs(j, q.Logprobs, q.Top)
	}
	if err != nil {
		failOllama(w, err)
		return
	}
	if q.thinks() {
		j.remarks = append(j.remarks, "think was not used: answers come from documents")
	}
	leave, err := s.waitAndCount(r.Context(), j)
	if err != nil {
		failOllama(w, err)
		return
	}
	defer leave()
	s.ollamaAnswer(w, r, j, chat)
}

// thinks reports whether a request asks the model to think.
func (r ollamaRequest) thinks() bool {
	return isGiven(r.Think) && string(r.Think) != "false"
}

// unloads reports whether a request asks to unload the model.
func (r ollamaRequest) unloads() bool {
	text := strings.Trim(string(r.Keep), `"`)
	d, err := time.ParseDuration(text)
	return text == "0" || err == nil && d == 0
}

// ollamaAnswer answers in one piece or in many.
func (s *Server) ollamaAnswer(w http.ResponseWriter, r *http.Request, j *job, chat bool) {
	var out *stream
	lp := s.likelihoods(j)
	piece := func(text string, done bool) ollamaAnswer {
		a := s.ollamaPiece(chat, text, done)
		if lp != nil {
			a.Logprobs = lp.take()
		}
		return a
	}
	emit := func(text string, _ []node.Token) {
		if !j.Stream {
			return
		}
		if out == nil {
			out = newLineStream(w)
		}
		out.send("", piece(text, false))
	}
	done, err := s.answerQuery(r.Context(), j, 0, emit, recorder(lp, nil))
	if err != nil {
		if out == nil {
			failOllama(w, err)
		} else {
			out.send("", map[string]string{"error": errorOf(err).Message})
		}
		return
	}
	text := done.text
	if j.Stream {
		text = ""
	}
	last := piece(text, true)
	own := s.extraOf(j, j.queries[0], done.answer)
	t := timingsOf(j.prompt, done.answer)
	last.Reason, last.Tandem = done.finish, &own
	last.Total, last.Prompt, last.Count = int64(done.answer.Took), t.PromptN, t.PredictedN
	last.PromptNs, last.CountNs = int64(t.PromptMs*1e6), int64(t.PredictedMs*1e6)
	if !j.Stream {
		reply(w, http.StatusOK, last)
		return
	}
	if out == nil {
		out = newLineStream(w)
	}
	out.send("", last)
}

// ollamaPiece returns a piece of an answer.
func (s *Server) ollamaPiece(chat bool, text string, done bool) ollamaAnswer {
	a := ollamaAnswer{Model: s.cfg.Model.Name, Created: time.Now().UTC(), Done: done}
	if chat {
		a.Message = &ollamaMessage{"assistant", text}
	} else {
		a.Response = &text
	}
	return a
}

// failOllama answers with an error as Ollama has it.
func failOllama(w http.ResponseWriter, err error) {
	e := errorOf(err)
	e.retry(w)
	reply(w, e.Status, map[string]string{"error": e.Message})
}

// tagged returns the model's name as Ollama always has it: clients look a model up with its tag.
func (m ModelInfo) tagged() string {
	if strings.Contains(m.Name, ":") {
		return m.Name
	}
	return m.Name + ":latest"
}

// isCalled reports whether a request that names a model means this one.
func (m ModelInfo) isCalled(name string) bool { return name == m.Name || name == m.tagged() }

// ollamaModel is a model as Ollama lists it.
func ollamaModel(m ModelInfo) map[string]any {
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(m.Name))) // of the name, since clients only compare it
	return map[string]any{
		"name": m.tagged(), "model": m.tagged(), "modified_at": m.Modified, "size": m.Size, "digest": digest,
		"details": map[string]any{"format": "gguf", "family": m.Arch, "families": []string{m.Arch}, "parent_model": "",
			"parameter_size": parameterSize(m.Parameters), "quantization_level": m.Quantization},
	}
}

// parameterSize writes a number of parameters as Ollama does; nothing for one that is not known.
func parameterSize(n uint64) string {
	switch x := float64(n); {
	case n == 0:
		return ""
	case n >= 1e9:
		return fmt.Sprintf("%.1fB", x/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1fM", x/1e6)
	default:
		return fmt.Sprintf("%.0fK", x/1e3)
	}
}

func (s *Server) ollamaTags(w http.ResponseWriter, _ *http.Request) {
	models := []any{ollamaModel(s.cfg.Model)}
	if s.cfg.Encoder != nil {
		models = append(models, ollamaModel(s.cfg.EncoderInfo))
	}
	reply(w, http.StatusOK, map[string]any{"models": models})
}

func (s *Server) ollamaRunning(w http.ResponseWriter, _ *http.Request) {
	m := ollamaModel(s.cfg.Model)
	m["expires_at"], m["size_vram"] = time.Now().Add(24*time.Hour).UTC(), 0
	reply(w, http.StatusOK, map[string]any{"models": []any{m}})
}

func (s *Server) ollamaShow(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model string `json:"model"`
		Name  string `json:"name"`
	}
	err := read(w, r, &q)
	if q.Model == "" {
		q.Model = q.Name
	}
	shown, capability := s.cfg.Model, "completion"
	switch {
	case err != nil:
	case q.Model != "" && s.checkEncoder(q.Model) == nil:
		shown, capability = s.cfg.EncoderInfo, "embedding"
	default:
		err = s.checkModel(q.Model)
	}
	if err != nil {
		failOllama(w, err)
		return
	}
	m := ollamaModel(shown)
	info := map[string]any{"general.architecture": shown.Arch}
	if n := shown.Parameters; n > 0 {
		info["general.parameter_count"] = n
	}
	if n := shown.Context; n > 0 {
		info[shown.Arch+".context_length"] = n
	}
	reply(w, http.StatusOK, map[string]any{
		"modelfile": "", "parameters": "", "template": "", "details": m["details"], "modified_at": m["modified_at"],
		"model_info":   info,
		"capabilities": []string{capability},
	})
}

func (s *Server) ollamaVersion(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]string{"version": s.cfg.Version})
}

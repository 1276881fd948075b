package api

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/internal/sparing"
	"tandem/internal/spelling"
	"tandem/model/tokenizer"
	"tandem/node"
	"tandem/specdec"
)

// An Answerer answers questions: a device with or without a cloud, or a cloud from its own documents. It is safe for
// concurrent use.
type Answerer interface {
	// Answer passes each agreed token to emit and, if record is not nil, what happens to record, both in order.
	Answer(ctx context.Context, q Query, emit func(node.Token), record func(node.Line)) (node.Answer, error)
	// Sides describes who answers.
	Sides() Sides
}

// Query is a question with how it is to be answered.
type Query struct {
	node.Question
	Settings  tandem.Settings
	RTT       time.Duration // of an emulated path to the cloud; 0 for the real one
	Loss      float64       // share of packets that it loses
	LocalOnly bool          // ask no cloud
}

// Sides describes who answers.
type Sides struct {
	Device SideInfo   `json:"device"`
	Clouds []SideInfo `json:"clouds"`
	Alone  bool       `json:"alone,omitempty"` // Device is a cloud, which answers without a device
}

// SideInfo describes a side.
type SideInfo struct {
	Name      string   `json:"name"`
	Documents int      `json:"documents,omitempty"`
	Sample    bool     `json:"sample"` // the documents are samples
	ID        string   `json:"id,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
	Reached   string   `json:"reached,omitempty"` // address where it was last reached; empty if it was lost since
	RTT       float64  `json:"rtt_ms,omitempty"`  // of the last answer
	InUse     bool     `json:"in_use"`
}

// Config describes a server.
type Config struct {
	Answers     Answerer
	Library     Library                 // the documents; nil if they cannot be listed
	Model       ModelInfo               // what answers
	Tokens      *tokenizer.Tokenizer    // of the answers; nil for none: prompts then count no tokens, and logprobs are refused
	Defaults    tandem.Settings         // of questions that do not say otherwise
	Private     bool                    // the device sends no drafts, whatever a request says
	Encoder     Encoder                 // makes embeddings; nil for none
	EncoderInfo ModelInfo               // by its name requests ask for it
	Pointing    bool                    // a span reader answers: answers claim a confidence
	Key         string                  // that requests must carry; empty for none
	Hosts       []string                // names that requests may address, besides those of the loopback interface
	Origins     []string                // of pages that may call, besides the server's own
	AtOnce      int                     // most answers at the same time, 0 for DefaultAtOnce
	Waiting     int                     // most requests that wait for their turn, 0 for DefaultWaiting
	CanDraft    func(specdec.Set) error // says what the drafters that a request names lack; nil if they lack nothing
	Denoises    bool                    // answers are denoised in blocks, without likelihoods of tokens
	Together    bool                    // the choices of a request (n) are answered at the same time, as far as AtOnce leaves room
	Version     string
	Metrics     http.Handler                                       // under /metrics; nil for none
	Requests    func(route string, status int, took time.Duration) // counts a request that has ended; nil for not at all
	Page        http.Handler                                       // under /; nil for none
	Log         *slog.Logger
	Greeting    func(question string) (reply string, ok bool) // replies to what no document can answer; nil for never
	Files       bool                                          // answers and passages name files on this machine
	Ending      <-chan struct{}                               // closed when the server is about to end; nil for never
}

// ModelInfo describes the model.
type ModelInfo struct {
	Name       string
	Arch       string
	Size       int64 // bytes
	Parameters uint64
	Modified   time.Time // zero for when the server was made
	Context    int       // positions
}

// Defaults of Config.
const (
	DefaultAtOnce  = 8
	DefaultWaiting = 256
)

// Bounds of requests.
const (
	maxBody       = 1 << 20  // of JSON
	maxUpload     = 64 << 20 // of documents, in one request
	uploadsAtOnce = 2        // at the same time, since each may be kept in memory
	stallAfter    = 30 * time.Second
)

// Server answers over HTTP.
type Server struct {
	cfg     Config
	turns   chan struct{} // taken by answers
	queue   chan struct{} // taken by requests that wait or answer
	uploads chan struct{} // taken by uploads
	refused sparing.Log   // requests
	events  hub
}

// New returns a server.
func New(cfg Config) *Server {
	if cfg.AtOnce < 1 {
		cfg.AtOnce = DefaultAtOnce
	}
	if cfg.Waiting < 1 {
		cfg.Waiting = DefaultWaiting
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Model.Modified.IsZero() {
		cfg.Model.Modified = time.Now()
	}
	if cfg.EncoderInfo.Modified.IsZero() {
		cfg.EncoderInfo.Modified = time.Now()
	}
	return &Server{
		cfg: cfg, turns: make(chan struct{}, cfg.AtOnce), queue: make(chan struct{}, cfg.AtOnce+cfg.Waiting),
		uploads: make(chan struct{}, uploadsAtOnce),
	}
}

// Handler returns the handler of all requests.
func (s *Server) Handler() http.Handler {
	mux := &router{ServeMux: http.NewServeMux()}
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("GET /v1/models/{name...}", s.model)
	mux.HandleFunc("POST /v1/chat/completions", s.chatCompletions)
	mux.HandleFunc("POST /v1/completions", s.completions)
	mux.HandleFunc("POST /v1/responses", s.responses)
	mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	mux.HandleFunc("GET /v1/events", s.watch)
	mux.HandleFunc("GET /v1/pair", s.pair)
	mux.HandleFunc("GET /v1/documents", s.listDocuments)
	mux.HandleFunc("POST /v1/documents", s.addDocuments)
	mux.HandleFunc("DELETE /v1/documents", s.removeDocument)
	mux.HandleFunc("GET /v1/passages", s.searchPassages)
	s.ollama(mux)
	if s.cfg.Metrics != nil {
		mux.Handle("GET /metrics", s.cfg.Metrics)
	}
	if s.cfg.Page != nil {
		mux.Handle("GET /", s.cfg.Page)
	}
	return s.logged(s.guard(answerUnknown(mux)))
}

// router is a mux that knows the API's paths.
type router struct {
	*http.ServeMux
	paths []string
}

// HandleFunc adds a path of the API.
func (m *router) HandleFunc(pattern string, h http.HandlerFunc) {
	_, path, _ := strings.Cut(pattern, " ")
	if !strings.Contains(path, "{") {
		m.paths = append(m.paths, path)
	}
	m.ServeMux.HandleFunc(pattern, h)
}

// suggestion returns the path of the API that an unknown one may stand for, "" if there is none.
func (m *router) suggestion(path string) string {
	switch full := "/v1" + path; {
	case slices.Contains(m.paths, full): // the client was given an address without /v1
		return full
	case strings.TrimSuffix(path, "/") == "/v1":
		return "/v1/models"
	}
	return spelling.Nearest(path, m.paths)
}

// answerUnknown answers unknown paths and methods with JSON. The page's files are no part of the API.
func answerUnknown(mux *router) http.Handler {
	const page = "GET /"
	known := func(r *http.Request) bool {
		_, pattern := mux.Handler(r)
		return pattern != "" && !(pattern == page && isAPIPath(r.URL.Path))
	}
	serves := func(r *http.Request) bool {
		_, pattern := mux.Handler(r)
		return known(r) && (pattern != page || r.URL.Path == "/")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if known(r) {
			mux.ServeHTTP(w, r)
			return
		}
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			if other := r.Clone(r.Context()); method != r.Method {
				if other.Method = method; serves(other) {
					w.Header().Add("Allow", method)
				}
			}
		}
		if allowed := w.Header().Values("Allow"); len(allowed) > 0 {
			failAs(w, r, &Error{Status: http.StatusMethodNotAllowed, Type: "invalid_request_error", Code: "method_not_allowed",
				Message: fmt.Sprintf("%s is for %s, not %s", r.URL.Path, strings.Join(allowed, " and "), r.Method)})
			return
		}
		hint := "docs/api.md lists what is"
		if path := mux.suggestion(r.URL.Path); path != "" {
			hint = "did you mean " + path + "?"
		}
		failAs(w, r, notFound("%s is not part of this API: %s", r.URL.Path, hint))
	})
}

// isAPIPath reports whether a path belongs to the API, not to the page.
func isAPIPath(path string) bool {
	return path == "/v1" || strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, ollamaPrefix)
}

// guard refuses requests that come from other pages, by other names, or without the key.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if err := s.checkHost(r.Host); err != nil {
			failAs(w, r, err)
			return
		}
		if err := s.checkOrigin(w, r); err != nil {
			failAs(w, r, err)
			return
		}
		if r.Method == http.MethodOptions && r.Header.Get("Origin") != "" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if err := s.checkKey(r); err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			failAs(w, r, err)
			return
		}
		if s.ending() && (isAPIPath(r.URL.Path) || r.URL.Path == "/health") {
			failAs(w, r, ErrEnding)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ErrEnding is the error of requests that a server has no time for because it is about to end. As the cause of the end of their
// context, it is what they are told.
var ErrEnding = &Error{Status: http.StatusServiceUnavailable, Type: "server_error", Code: "draining", Retry: 5 * time.Second,
	Message: "the server is shutting down: try again in a moment"}

// ending reports whether the server is about to end. It then answers what it was asked before, and nothing else.
func (s *Server) ending() bool {
	select {
	case <-s.cfg.Ending:
		return true
	default:
		return false
	}
}

// checkHost refuses names that somebody else may have pointed at this machine (DNS rebinding). A key protects from that,
// too, so with a key any name is allowed.
func (s *Server) checkHost(host string) error {
	name := hostName(host)
	if s.cfg.Key != "" || OnLoopback(host) || slices.Contains(s.cfg.Hosts, name) {
		return nil
	}
	return forbidden("the host %q is not this server's: use localhost, or start the server with --host %s", host, name)
}

// OnLoopback reports whether an address, with a port or without, is of the loopback interface, which only this machine can
// reach.
func OnLoopback(address string) bool {
	name := hostName(address)
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// hostName returns the host of an address, with a port or without, in small letters.
func hostName(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return strings.ToLower(strings.Trim(address, "[]"))
}

// checkOrigin refuses requests that a page of another origin makes, unless it is allowed to.
func (s *Server) checkOrigin(w http.ResponseWriter, r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	if u, err := url.Parse(origin); err == nil && u.Host == r.Host && u.Host != "" {
		return nil
	}
	if !slices.Contains(s.cfg.Origins, origin) && !slices.Contains(s.cfg.Origins, "*") {
		return forbidden("pages of %q may not call this server: start it with --cors %s to allow them", origin, origin)
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", allowedHeaders(r.Header.Values("Access-Control-Request-Headers")))
	h.Add("Vary", "Access-Control-Request-Headers")
	return nil
}

// Bounds of the headers that a page may ask to send.
const (
	maxHeaders    = 64
	maxHeaderName = 128
)

// allowedHeaders returns what an allowed page may send: whatever it asks for, since clients add headers of their own, such as
// OpenAI's X-Stainless-*. A browser that asked for a header that is left out does not send the request.
func allowedHeaders(asked []string) string {
	allowed := []string{"Authorization", "Content-Type"}
	for _, name := range strings.Split(strings.Join(asked, ","), ",") {
		name = strings.TrimSpace(name)
		if len(allowed) < maxHeaders && len(name) <= maxHeaderName && isToken(name) && !slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, name) }) {
			allowed = append(allowed, name)
		}
	}
	return strings.Join(allowed, ", ")
}

// isToken reports whether text is a token in the sense of HTTP, as names of headers are.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	})
}

// keyless are the paths that need no key: they say nothing about documents.
var keyless = []string{"/health", "/api/version"}

// checkKey refuses requests without the server's key. The page itself is no secret; what it asks for is.
func (s *Server) checkKey(r *http.Request) error {
	page := (r.Method == http.MethodGet || r.Method == http.MethodHead) && !isAPIPath(r.URL.Path) && r.URL.Path != "/metrics"
	if s.cfg.Key == "" || slices.Contains(keyless, r.URL.Path) || page {
		return nil
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(strings.TrimSpace(given)), []byte(s.cfg.Key)) != 1 {
		return &Error{Status: http.StatusUnauthorized, Type: "invalid_request_error", Code: "invalid_api_key", Message: "the key is missing or wrong: send Authorization: Bearer KEY"}
	}
	return nil
}

// waitTurn waits for a place among the answers.
func (s *Server) waitTurn(ctx context.Context) (leave func(), err error) {
	select {
	case s.queue <- struct{}{}:
	default:
		return nil, &Error{Status: http.StatusServiceUnavailable, Type: "server_error", Code: "busy", Retry: 2 * time.Second,
			Message: fmt.Sprintf("%d requests wait already: try again later", cap(s.queue)-cap(s.turns))}
	}
	select {
	case s.turns <- struct{}{}:
		return func() { <-s.turns; <-s.queue }, nil
	case <-ctx.Done():
		<-s.queue
		return nil, context.Cause(ctx)
	}
}

// Error is an error as OpenAI's API has it.
type Error struct {
	Status  int           `json:"-"`
	Retry   time.Duration `json:"-"` // when to try again; 0 for never
	Message string        `json:"message"`
	Type    string        `json:"type"`
	Param   orNull        `json:"param"`
	Code    orNull        `json:"code"`
}

func (e *Error) Error() string { return e.Message }

// orNull is a string that is null in JSON if it is empty.
type orNull string

// MarshalJSON implements json.Marshaler.
func (s orNull) MarshalJSON() ([]byte, error) {
	if s == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(s))
}

func badRequest(param, format string, args ...any) error {
	return &Error{Status: http.StatusBadRequest, Type: "invalid_request_error", Param: orNull(param), Message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &Error{Status: http.StatusNotFound, Type: "invalid_request_error", Code: "not_found", Message: fmt.Sprintf(format, args...)}
}

func forbidden(format string, args ...any) error {
	return &Error{Status: http.StatusForbidden, Type: "invalid_request_error", Code: "forbidden", Message: fmt.Sprintf(format, args...)}
}

// statusGone is nginx's status of requests whose client has gone, which nobody reads but the operator.
const statusGone = 499

// errorOf returns err as an Error.
func errorOf(err error) *Error {
	var e *Error
	var large *http.MaxBytesError
	var file *fs.PathError
	var full *decoder.NoRoomError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &large):
		return &Error{Status: http.StatusRequestEntityTooLarge, Type: "invalid_request_error", Code: "too_large", Message: fmt.Sprintf("the request is larger than %d bytes", large.Limit)}
	case errors.As(err, &full):
		return &Error{Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "context_length_exceeded", Message: full.Error()}
	case errors.Is(err, node.ErrNoCloud):
		return &Error{Status: http.StatusServiceUnavailable, Type: "server_error", Code: "no_cloud", Message: err.Error()}
	case errors.Is(err, context.Canceled):
		return &Error{Status: statusGone, Type: "server_error", Code: "cancelled", Message: "the answer was cancelled"}
	case errors.Is(err, node.ErrLater):
		return &Error{Status: http.StatusServiceUnavailable, Type: "server_error", Code: "busy", Retry: 2 * time.Second, Message: err.Error()}
	case errors.Is(err, syscall.ENOSPC):
		return &Error{Status: http.StatusInsufficientStorage, Type: "server_error", Code: "disk_full", Message: "the server's disk is full"}
	case errors.As(err, &file): // whose path is nobody's business
		return &Error{Status: http.StatusInternalServerError, Type: "server_error", Message: fmt.Sprintf("the server cannot %s one of its files: %v", file.Op, file.Err)}
	}
	return &Error{Status: http.StatusInternalServerError, Type: "server_error", Message: err.Error()}
}

// fail answers with an error as OpenAI's API has it.
func fail(w http.ResponseWriter, err error) {
	e := errorOf(err)
	e.retry(w)
	reply(w, e.Status, map[string]any{"error": e})
}

// retry tells a client when to try again.
func (e *Error) retry(w http.ResponseWriter) {
	if e.Retry > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(int(e.Retry.Seconds())))
	}
}

// failAs answers with an error in the form of the API that the request's path belongs to.
func failAs(w http.ResponseWriter, r *http.Request, err error) {
	if strings.HasPrefix(r.URL.Path, ollamaPrefix) {
		failPlainly(w, err)
		return
	}
	fail(w, err)
}

// reply answers with JSON. A client that does not read it for stallAfter is given up.
func reply(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":{"message":"the response cannot be written as JSON","type":"server_error"}}`)
	}
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(stallAfter)) // not every writer has one
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(b, '\n'))
}

// read reads a request's JSON. Fields that v lacks are ignored, as other servers do.
func read(w http.ResponseWriter, r *http.Request, v any) error {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		var own *Error
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &own) {
			return own
		}
		if errors.As(err, &wrong) {
			field := fieldPath(v, wrong.Field)
			return badRequest(field, "%s: %s", cmp.Or(field, "the request"), typeErrorText(wrong))
		}
		return badRequest("", "the request is no JSON object: %v", err)
	}
	return nil
}

// fieldPath returns the path of a field in a request that is read into v. encoding/json names the embedded struct on the way,
// which the request does not have.
func fieldPath(v any, path string) string {
	for f := range reflect.TypeOf(v).Elem().Fields() {
		if f.Anonymous {
			path = strings.TrimPrefix(path, f.Name+".")
		}
	}
	return path
}

// typeErrorText says what is wrong with a value. encoding/json gives the digits only of numbers that do not fit: "number 1.5".
func typeErrorText(wrong *json.UnmarshalTypeError) string {
	digits, unfit := strings.CutPrefix(wrong.Value, "number ")
	if unfit && (wrong.Type.Kind() == reflect.Float64 || !strings.ContainsAny(digits, ".eE")) {
		return digits + " is out of range"
	}
	return fmt.Sprintf("want %s, not %s", wantedJSON(wrong.Type), withArticle(wrong.Value))
}

// wantedJSON names in JSON's terms what a type is read from.
func wantedJSON(t reflect.Type) string {
	if t == reflect.TypeFor[list]() {
		return "a string or a list of strings"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// withArticle returns what encoding/json calls a value as it is said in a sentence: "an array", "a number 1.5".
func withArticle(value string) string {
	if strings.HasPrefix(value, "array") || strings.HasPrefix(value, "object") {
		return "an " + value
	}
	return "a " + value
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"status": "ok", "version": s.cfg.Version, "model": s.cfg.Model.Name})
}

func (s *Server) pair(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, s.cfg.Answers.Sides())
}

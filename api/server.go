package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"tandem"
	"tandem/internal/sparing"
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
	Private     func() bool             // says whether the device sends no drafts now, whatever a request says; nil for never
	Encoder     Encoder                 // makes embeddings; nil for none
	EncoderInfo ModelInfo               // by its name requests ask for it
	Pointing    bool                    // a span reader answers: answers claim a confidence
	Key         string                  // that requests must carry; empty for none
	Hosts       []string                // names that requests may address, besides those of the loopback interface
	Origins     []string                // of pages that may call, besides the server's own; * for all, and AnyPort at the end for all ports
	AtOnce      int                     // most answers at the same time, 0 for DefaultAtOnce
	Waiting     int                     // most requests that wait for their turn, 0 for DefaultWaiting
	CanDraft    func(specdec.Set) error // says what the drafters that a request names lack; nil if they lack nothing
	Denoises    bool                    // answers are denoised in blocks, without likelihoods of tokens
	Together    func() bool             // says whether the choices of a request (n) are answered at the same time, as far as AtOnce leaves room; nil for never
	Version     string
	Metrics     http.Handler                                       // under /metrics; nil for none
	Requests    func(route string, status int, took time.Duration) // counts a request that has ended; nil for not at all
	Page        http.Handler                                       // under /; nil for none
	Log         *slog.Logger
	Greeting    func(question string) (reply string, ok bool) // replies to what no document can answer; nil for never
	Nearest     func(p Part) []string                         // returns lines of text that show what comes close to a part that is not known; nil for none
	Files       bool                                          // answers and passages name files on this machine
	Words       bool                                          // /v1/events tells every client what others ask and are answered
	Ending      <-chan struct{}                               // closed when the server is about to end; nil for never
}

// ModelInfo describes the model.
type ModelInfo struct {
	Name         string
	Arch         string
	Size         int64 // bytes
	Parameters   uint64
	Quantization string    // what most of it is stored as, such as Q4_K_M; empty if that is not known
	Modified     time.Time // zero for when the server was made
	Context      int       // positions
	Template     string    // of its prompts, in Jinja; empty for none
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
	slowestUpload = 16 << 10 // bytes a second, on average over stallAfter
	longestUpload = 5 * time.Minute
	stallAfter    = 30 * time.Second
)

// Server answers over HTTP.
type Server struct {
	cfg     Config
	slots   chan struct{} // taken by answers
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
		cfg: cfg, slots: make(chan struct{}, cfg.AtOnce), queue: make(chan struct{}, cfg.AtOnce+cfg.Waiting),
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
	mux.HandleFunc("POST "+messagesPath, s.messages)
	mux.HandleFunc("POST "+messagesPath+"/count_tokens", s.countTokens)
	mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	mux.HandleFunc("GET /v1/events", s.watch)
	mux.HandleFunc("GET /v1/pair", s.pair)
	mux.HandleFunc("GET /v1/documents", s.listDocuments)
	mux.HandleFunc("POST /v1/documents", s.addDocuments)
	mux.HandleFunc("DELETE /v1/documents", s.removeDocument)
	mux.HandleFunc("GET /v1/passages", s.searchPassages)
	s.ollama(mux)
	s.llama(mux)
	if s.cfg.Metrics != nil {
		mux.Handle("GET /metrics", s.cfg.Metrics)
	}
	if s.cfg.Page != nil {
		mux.Handle("GET /", s.cfg.Page)
	}
	return s.logged(s.guard(answerUnknown(mux)))
}

// waitForSlot waits until one answer more may run.
func (s *Server) waitForSlot(ctx context.Context) (leave func(), err error) {
	select {
	case s.queue <- struct{}{}:
	default:
		return nil, failed(http.StatusServiceUnavailable, "busy", 2*time.Second,
			fmt.Sprintf("%d requests wait already: try again later", cap(s.queue)-cap(s.slots)))
	}
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots; <-s.queue }, nil
	case <-ctx.Done():
		<-s.queue
		return nil, context.Cause(ctx)
	}
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"status": "ok", "version": s.cfg.Version, "model": s.cfg.Model.Name})
}

func (s *Server) pair(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, s.cfg.Answers.Sides())
}

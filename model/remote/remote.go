// Package remote computes a model's passes on an external server: llama.cpp's llama-server, or vLLM. The server gets prompts
// of token ids and returns the likeliest next tokens with their log-probabilities. Everything else stays here: mixing, cutting
// to integers, agreeing with the other side.
//
// A server's arithmetic may round the same prompt differently from one request to the next. But a side that computes a step
// again, after a rollback or to check a draft, must get the same result as before. So each prompt's result is kept, within a
// limit.
//
// The package knows nothing of decoders or documents. A Server is a decoder's Passes for a model of model.OpenVocabulary.
package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"slices"
	"sync"
	"time"

	"tandem"
	"tandem/model"
)

// topTokens is the number of likeliest tokens that are requested for each row.
const topTokens = 256

// promptsAtOnce bounds the prompts of one request.
const promptsAtOnce = 32

// Options are what a Server may be given. The zero value is usable.
type Options struct {
	Key    string        // sent as a bearer token; empty for none
	Within time.Duration // for a request with all its attempts; 0 for a minute
	Kept   int64         // bytes of results that are kept; 0 for 128 MB
	Log    *slog.Logger  // nil for none
}

// A Server computes passes. It is safe for concurrent use with different sequences.
type Server struct {
	model   *model.Model
	client  *client
	dialect dialect
	top     int // tokens that a row of the server has
	kept    *kept
	log     *slog.Logger

	mu    sync.Mutex
	stats Stats
	poor  bool // it was logged that a row covers little
}

// Stats counts what a Server did.
type Stats struct {
	Requests int // for rows, without repeated attempts
	Retries  int // repeated attempts of all requests
	Failures int // requests that gave no rows, other than those that were superseded
	Rows     int // that the server computed
	Kept     int // rows that were needed again and taken from what is kept
	Covered  float64
	Took     time.Duration // by all requests for rows
}

// Error is a server's failure. It names the server, which is for the operator of this side.
type Error struct {
	Server string
	Err    error
}

func (e *Error) Error() string { return e.Server + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Public describes the failure without naming the server, for the other side.
func (e *Error) Public() string {
	return "the server that computes its model does not answer as it should"
}

// Open opens the vocabulary of the GGUF file at path and the server at an address: llama-server://HOST[:PORT][/PATH] or
// vllm://HOST[:PORT][/PATH], with llama-servers or vllms for TLS. It compares the vocabulary with the server's, token
// by token for some texts and some of all tokens, and refuses another one. It waits for a server that is loading its
// model.
func Open(ctx context.Context, address, path string, opt Options) (*Server, error) {
	d, base, err := parse(address)
	if err != nil {
		return nil, err
	}
	m, err := model.OpenVocabulary(path)
	if err != nil {
		return nil, err
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Within <= 0 {
		opt.Within = time.Minute
	}
	if opt.Kept <= 0 {
		opt.Kept = 128 << 20
	}
	s := &Server{model: m, dialect: d, kept: newKept(opt.Kept), log: opt.Log}
	s.client = newClient(base, opt.Key, opt.Within, s.retried)
	if err := s.probe(ctx); err != nil {
		s.client.close()
		return nil, errors.Join(s.failed(err), m.Close())
	}
	return s, nil
}

// parse divides an address into what the server speaks and its URL.
func parse(address string) (d dialect, base string, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		// The address is not repeated: it may hold a password.
		return nil, "", errors.New("engine: want llama-server://HOST:PORT or vllm://HOST:PORT, or llama-servers:// and vllms:// for TLS; a key is not part of the address")
	}
	scheme, port := "http", ""
	switch u.Scheme {
	case "llama-servers", "vllms":
		scheme = "https"
	}
	switch u.Scheme {
	case "llama-server", "llama-servers":
		d, port = &llamaServer{}, "8080"
	case "vllm", "vllms":
		d, port = &vllm{}, "8000"
	default:
		return nil, "", fmt.Errorf("engine: %q is neither llama-server nor vllm (or llama-servers, vllms for TLS)", u.Scheme)
	}
	if u.Port() == "" {
		u.Host += ":" + port
	}
	to := url.URL{Scheme: scheme, Host: u.Host, Path: u.Path}
	return d, to.String(), nil
}

// Model returns the model of which only the vocabulary is here. Its context is the server's, if that is shorter than
// the file says.
func (s *Server) Model() *model.Model { return s.model }

// String names the server.
func (s *Server) String() string { return s.dialect.name() + " at " + s.client.base }

// Base returns the server's URL.
func (s *Server) Base() string { return s.client.base }

// Top returns how many tokens of each row the server tells.
func (s *Server) Top() int { return s.top }

// Stats returns what s did so far.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Close ends the connections and closes the model.
func (s *Server) Close() error {
	if st := s.Stats(); st.Rows > 0 {
		s.log.Info("rows were computed elsewhere", "server", s.String(), "requests", st.Requests, "retries", st.Retries, "failures", st.Failures,
			"rows", st.Rows, "kept", st.Kept, "covered", st.Covered/float64(st.Rows))
	}
	s.client.close()
	return s.model.Close()
}

// Prefill is ForwardInto.
func (s *Server) Prefill(ctx context.Context, inputs []model.Input, into *model.Logits) ([][]float32, error) {
	return s.ForwardInto(ctx, inputs, into)
}

// ForwardInto appends the inputs' tokens to their sequences and returns the logits [Vocab] after each input's last token or,
// with All, after each token. The logits are log-probabilities. Tokens that the server does not return share the remaining mass
// equally, but none gets more than the least likely token that it returns. On an error the sequences are unchanged.
func (s *Server) ForwardInto(ctx context.Context, inputs []model.Input, into *model.Logits) ([][]float32, error) {
	var prompts [][]tandem.Token
	for i, in := range inputs {
		if err := s.model.CheckAppend(in); err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		text := slices.Concat(in.Seq.Tokens(), in.Tokens)
		first := len(text)
		if in.All {
			first = in.Seq.Len() + 1
		}
		for n := first; n <= len(text); n++ {
			prompts = append(prompts, text[:n:n])
		}
	}
	rows, err := s.rows(ctx, prompts)
	if err != nil {
		return nil, err
	}
	out := into.Take(len(rows), s.model.Config().Vocab)
	for i, r := range rows {
		r.logits(out[i])
	}
	for _, in := range inputs {
		in.Seq.Append(in.Tokens...)
	}
	return out, nil
}

// rows returns what follows each prompt: what was kept, or else the server's answer.
func (s *Server) rows(ctx context.Context, prompts [][]tandem.Token) ([]row, error) {
	rows, keys := make([]row, len(prompts)), make([]key, len(prompts))
	var missing []int // of prompts that are asked for
	asked := map[key]bool{}
	for i, p := range prompts {
		keys[i] = keyOf(p)
		r, ok := s.kept.get(keys[i])
		if rows[i] = r; !ok && !asked[keys[i]] {
			asked[keys[i]] = true
			missing = append(missing, i)
		}
	}
	s.count(func(st *Stats) { st.Kept += len(prompts) - len(missing) })
	for some := range slices.Chunk(missing, promptsAtOnce) {
		texts := make([][]tandem.Token, len(some))
		for j, i := range some {
			texts[j] = prompts[i]
		}
		got, err := s.ask(ctx, texts)
		if err != nil {
			return nil, err
		}
		for j, i := range some {
			rows[i] = s.kept.put(keys[i], got[j])
		}
	}
	for i := range rows {
		if len(rows[i].ids) == 0 { // asked for under another index
			first := slices.Index(keys, keys[i])
			rows[i] = rows[first]
		}
	}
	return rows, nil
}

// ask sends prompts to the server.
func (s *Server) ask(ctx context.Context, prompts [][]tandem.Token) ([]row, error) {
	start := time.Now()
	rows, err := s.complete(ctx, prompts)
	took := time.Since(start)
	if err != nil && ctx.Err() != nil { // superseded
		return nil, context.Cause(ctx)
	}
	least, covered := 1.0, 0.0
	for _, r := range rows {
		covered += r.covered
		least = min(least, r.covered)
	}
	s.count(func(st *Stats) {
		st.Requests++
		st.Took += took
		if err != nil {
			st.Failures++
			return
		}
		st.Rows += len(rows)
		st.Covered += covered
	})
	if err != nil {
		return nil, s.failed(err)
	}
	s.sayPoor(least)
	return rows, nil
}

// poorly is the share of a row's mass below which the operator is told, once.
const poorly = 0.9

func (s *Server) sayPoor(covered float64) {
	s.mu.Lock()
	first := !s.poor && covered < poorly
	s.poor = s.poor || first
	s.mu.Unlock()
	if first {
		s.log.Warn("the server tells too few tokens of a row: the rest of its mass is spread over all others", "server", s.String(), "tokens", s.top, "covered", covered)
	}
}

// complete asks for the rows after some prompts.
func (s *Server) complete(ctx context.Context, prompts [][]tandem.Token) ([]row, error) {
	path, body := s.dialect.request(prompts, s.top)
	limit := int64(bytesOfAnswer)
	for _, p := range prompts {
		limit += bytesOfRow + int64(len(p))*bytesOfToken // a server may repeat the prompt
	}
	data, err := s.client.do(ctx, "POST", path, body, limit)
	if err != nil {
		return nil, err
	}
	return parseRows(s.dialect, data, len(prompts), s.top, s.model.Config().Vocab)
}

func (s *Server) failed(err error) error { return &Error{s.String(), err} }

func (s *Server) count(change func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.stats)
}

func (s *Server) retried() { s.count(func(st *Stats) { st.Retries++ }) }

// A row holds the likeliest next tokens after a prompt.
type row struct {
	ids     []tandem.Token // ascending
	logs    []float32      // natural log-probabilities, at most 0
	covered float64        // the sum of their probabilities
}

// entry is a token of a row as a server tells of it.
type entry struct {
	id  int64
	log float64
}

// tolerance is how much more than 1 the probabilities of a row may sum to, by rounding.
const tolerance = 0.01

// newRow checks a row. It may have one token more than asked for, the one that the server drew.
func newRow(list []entry, top, vocab int) (row, error) {
	if len(list) == 0 || len(list) > top+1 {
		return row{}, fmt.Errorf("a row of %d tokens: want 1 to %d", len(list), top+1)
	}
	slices.SortFunc(list, func(a, b entry) int { return int(min(max(a.id-b.id, -1), 1)) })
	r := row{ids: make([]tandem.Token, len(list)), logs: make([]float32, len(list))}
	last := int64(-1)
	for i, e := range list {
		switch {
		case e.id < 0 || e.id >= int64(vocab):
			return row{}, fmt.Errorf("token %d is outside the vocabulary of %d: the server has another model than the file of --model", e.id, vocab)
		case e.id == last:
			return row{}, fmt.Errorf("token %d comes twice in a row", e.id)
		case !(e.log <= tolerance): // also NaN
			return row{}, fmt.Errorf("token %d has the log-probability %v", e.id, e.log)
		}
		last = e.id
		e.log = max(min(e.log, 0), -math.MaxFloat32)
		r.ids[i], r.logs[i] = tandem.Token(e.id), float32(e.log)
		r.covered += math.Exp(e.log)
	}
	if r.covered > 1+tolerance || r.covered == 0 {
		return row{}, fmt.Errorf("the probabilities of a row sum to %v", r.covered)
	}
	r.covered = min(r.covered, 1)
	return r, nil
}

// logits writes the row's log-probabilities [Vocab].
func (r row) logits(out []float32) {
	rest := float32(math.Log(max(1-r.covered, math.SmallestNonzeroFloat32) / float64(max(1, len(out)-len(r.ids)))))
	rest = min(rest, slices.Min(r.logs))
	for i := range out {
		out[i] = rest
	}
	for i, id := range r.ids {
		out[id] = r.logs[i]
	}
}

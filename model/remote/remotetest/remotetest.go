// Package remotetest has servers for tests. They speak like llama.cpp's llama-server and like vLLM, as far as package remote
// needs it, and compute with one of this program's models.
package remotetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"tandem"
	"tandem/model"
	"tandem/model/tokenizer"
)

// A Server computes rows with a model.
type Server struct {
	Model *model.Model
	Most  int    // most tokens of a row, as vLLM's --max-logprobs; 0 for any number
	Key   string // that requests must have; empty for none
	// Around, if not nil, answers instead of the server, which it may call.
	Around func(w http.ResponseWriter, r *http.Request, server http.Handler)

	Requests, Rows atomic.Int64 // for rows

	mu    sync.Mutex
	slots []*slot // the latest used first
}

// slot is a sequence that later prompts may continue.
type slot struct {
	tokens []tandem.Token
	seq    *model.Seq
}

// slots is how many sequences a server keeps.
const slots = 8

// LlamaServer returns a handler that speaks like llama-server.
func (s *Server) LlamaServer() http.Handler {
	mux := http.NewServeMux()
	c := s.Model.Config()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		write(w, object{"object": "list", "data": []object{{"id": c.Name, "meta": object{"n_vocab": c.Vocab, "n_ctx_train": c.Context}}}})
	})
	mux.HandleFunc("GET /props", func(w http.ResponseWriter, r *http.Request) {
		write(w, object{"default_generation_settings": object{"n_ctx": c.Context}, "total_slots": slots})
	})
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Content string }
		if read(w, r, &in) {
			write(w, object{"tokens": s.Model.Tokenizer().Encode(in.Content, tokenizer.Options{})})
		}
	})
	mux.HandleFunc("POST /detokenize", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Tokens []tandem.Token }
		if read(w, r, &in) {
			write(w, object{"content": s.Model.Tokenizer().Decode(in.Tokens)})
		}
	})
	mux.HandleFunc("POST /completion", s.llamaCompletion)
	return s.guard(mux)
}

func (s *Server) llamaCompletion(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Prompt   [][]tandem.Token
		NPredict int             `json:"n_predict"`
		NProbs   int             `json:"n_probs"`
		Bias     [][]json.Number `json:"logit_bias"`
	}
	if !read(w, r, &in) {
		return
	}
	if in.NPredict != 1 || in.NProbs < 1 || len(in.Prompt) == 0 || len(in.Bias) != 1 {
		fail(w, fmt.Sprintf("n_predict %d, n_probs %d, %d prompts, bias %v", in.NPredict, in.NProbs, len(in.Prompt), in.Bias))
		return
	}
	var out []object
	for i, prompt := range in.Prompt {
		row, err := s.row(r, prompt, in.NProbs)
		if err != nil {
			fail(w, err.Error())
			return
		}
		var top []object
		for _, t := range row {
			piece := s.Model.Tokenizer().Piece(t.id)
			top = append(top, object{"id": t.id, "token": string(piece), "bytes": slices.Collect(numbers(piece)), "logprob": t.log})
		}
		first := object{"id": row[0].id, "token": "", "bytes": []int{}, "logprob": row[0].log, "top_logprobs": top}
		out = append(out, object{"index": i, "truncated": len(prompt)+1 >= s.Model.Config().Context, "completion_probabilities": []object{first}})
	}
	if len(out) == 1 {
		write(w, out[0])
		return
	}
	slices.Reverse(out) // the index says which is which
	write(w, out)
}

func numbers(b []byte) func(func(int) bool) {
	return func(yield func(int) bool) {
		for _, x := range b {
			if !yield(int(x)) {
				return
			}
		}
	}
}

// VLLM returns a handler that speaks like vLLM.
func (s *Server) VLLM() http.Handler {
	mux := http.NewServeMux()
	c := s.Model.Config()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		write(w, object{"object": "list", "data": []object{{"id": c.Name, "object": "model", "max_model_len": c.Context}}})
	})
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) {
		in := struct {
			Prompt string
			Add    bool `json:"add_special_tokens"`
		}{Add: true}
		if read(w, r, &in) {
			tokens := s.Model.Tokenizer().Encode(in.Prompt, tokenizer.Options{AddSpecial: in.Add})
			write(w, object{"count": len(tokens), "max_model_len": c.Context, "tokens": tokens})
		}
	})
	mux.HandleFunc("POST /detokenize", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Tokens []tandem.Token }
		if read(w, r, &in) {
			write(w, object{"prompt": s.Model.Tokenizer().Decode(in.Tokens)})
		}
	})
	mux.HandleFunc("POST /v1/completions", s.vllmCompletion)
	return s.guard(mux)
}

func (s *Server) vllmCompletion(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model       string
		Prompt      [][]tandem.Token
		Max         int `json:"max_tokens"`
		Logprobs    int
		AsIDs       bool `json:"return_tokens_as_token_ids"`
		Temperature float64
		TopP        float64 `json:"top_p"`
		TopK        int     `json:"top_k"`
	}
	if !read(w, r, &in) {
		return
	}
	switch {
	case in.Model != s.Model.Config().Name || in.Max != 1 || !in.AsIDs || in.Temperature != 1 || in.TopP != 1 || in.TopK != -1:
		fail(w, fmt.Sprintf("an unexpected request: %+v", in))
		return
	case s.Most > 0 && in.Logprobs > s.Most:
		w.WriteHeader(http.StatusBadRequest)
		write(w, object{"error": object{"message": fmt.Sprintf("Requested sample logprobs of %d, which is greater than max allowed: %d", in.Logprobs, s.Most), "type": "BadRequestError", "code": 400}})
		return
	}
	var choices []object
	for i, prompt := range in.Prompt {
		row, err := s.row(r, prompt, in.Logprobs+1) // and one that was drawn from the tail
		if err != nil {
			fail(w, err.Error())
			return
		}
		top := map[string]float32{}
		for _, t := range row {
			top[fmt.Sprintf("token_id:%d", t.id)] = t.log
		}
		drawn := row[len(row)-1]
		choices = append(choices, object{"index": i, "text": "", "finish_reason": "length", "logprobs": object{
			"text_offset": []int{0}, "tokens": []string{fmt.Sprintf("token_id:%d", drawn.id)}, "token_logprobs": []float32{drawn.log}, "top_logprobs": []any{top}}})
	}
	write(w, object{"id": "cmpl-1", "object": "text_completion", "model": in.Model, "choices": choices})
}

type token struct {
	id  tandem.Token
	log float32
}

// row computes the n likeliest tokens after a prompt.
func (s *Server) row(r *http.Request, prompt []tandem.Token, n int) ([]token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	best, common := (*slot)(nil), 0
	for _, o := range s.slots {
		same := 0
		for same < min(len(o.tokens), len(prompt)-1) && o.tokens[same] == prompt[same] {
			same++
		}
		if same > common {
			best, common = o, same
		}
	}
	if best == nil {
		best = &slot{seq: s.Model.NewSeq()}
	}
	s.slots = slices.DeleteFunc(s.slots, func(o *slot) bool { return o == best })
	best.seq.Truncate(common)
	logits, err := s.Model.Forward(r.Context(), []model.Input{{Seq: best.seq, Tokens: prompt[common:]}})
	if err != nil {
		return nil, err
	}
	best.tokens = slices.Clone(prompt)
	s.slots = append([]*slot{best}, s.slots[:min(len(s.slots), slots-1)]...)
	s.Rows.Add(1)
	return top(logits[0], n), nil
}

// top returns the n likeliest tokens with their log-probabilities.
func top(logits []float32, n int) []token {
	list := make([]token, len(logits))
	most, sum := float64(slices.Max(logits)), 0.0
	for i, l := range logits {
		list[i] = token{tandem.Token(i), l}
		sum += math.Exp(float64(l) - most)
	}
	slices.SortFunc(list, func(a, b token) int {
		return cmp.Or(cmp.Compare(b.log, a.log), cmp.Compare(a.id, b.id))
	})
	list = list[:min(n, len(list))]
	for i := range list {
		list[i].log = float32(float64(list[i].log) - most - math.Log(sum))
	}
	return list
}

type object = map[string]any

// guard checks keys, counts requests for rows and calls Around.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/completion" || r.URL.Path == "/v1/completions" {
			s.Requests.Add(1)
		}
		switch {
		case s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key:
			http.Error(w, "wrong key", http.StatusUnauthorized)
		case s.Around != nil:
			s.Around(w, r, next)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	err := json.NewDecoder(r.Body).Decode(into)
	if err != nil {
		fail(w, err.Error())
	}
	return err == nil
}

func fail(w http.ResponseWriter, text string) { http.Error(w, text, http.StatusBadRequest) }

func write(w http.ResponseWriter, what any) { json.NewEncoder(w).Encode(what) }

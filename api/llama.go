package api

import (
	"net/http"
	"slices"
	"unicode/utf8"

	"tandem"
	"tandem/model/tokenizer"
)

// llamaPaths are the paths of llama.cpp's server that are answered here.
var llamaPaths = []string{"/tokenize", "/detokenize", "/props"}

// llama adds the paths of llama.cpp's server.
func (s *Server) llama(mux *router) {
	mux.HandleFunc("POST /tokenize", s.tokenize)
	mux.HandleFunc("POST /detokenize", s.detokenize)
	mux.HandleFunc("GET /props", s.props)
}

// maxTokenized bounds a text that is made of tokens or into them, in bytes.
const maxTokenized = 256 << 10

// errNoTokens refuses what takes a tokenizer.
var errNoTokens = refused(http.StatusNotImplemented, "", "no_tokens", "this server does not know its tokens")

// checkTokenized refuses a text that is too long.
func checkTokenized(param string, bytes int) error {
	if bytes > maxTokenized {
		return badRequest(param, "%s: the text has more than %d bytes: send it in pieces", param, maxTokenized)
	}
	return nil
}

// tokenize is llama.cpp's POST /tokenize.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	q := struct {
		Content string `json:"content"`
		Add     bool   `json:"add_special"`
		Parse   bool   `json:"parse_special"`
		Pieces  bool   `json:"with_pieces"`
	}{Parse: true}
	err := read(w, r, &q)
	if err == nil && s.cfg.Tokens == nil {
		err = errNoTokens
	}
	if err == nil {
		err = checkTokenized("content", len(q.Content))
	}
	var leave func()
	if err == nil {
		leave, err = s.waitForSlot(r.Context())
	}
	if err != nil {
		fail(w, err)
		return
	}
	defer leave()
	ids := s.cfg.Tokens.Encode(q.Content, tokenizer.Options{AddSpecial: q.Add, ParseSpecial: q.Parse})
	if !q.Pieces {
		reply(w, http.StatusOK, map[string]any{"tokens": ids})
		return
	}
	type spelled struct {
		ID    tandem.Token `json:"id"`
		Piece any          `json:"piece"`
	}
	list := make([]spelled, len(ids))
	for i, id := range ids {
		list[i] = spelled{id, pieceJSON(s.cfg.Tokens.Piece(id))}
	}
	reply(w, http.StatusOK, map[string]any{"tokens": list})
}

// pieceJSON is a token's text or, if it has a part of a character, its bytes as numbers.
func pieceJSON(piece []byte) any {
	if utf8.Valid(piece) {
		return string(piece)
	}
	numbers := make([]int, len(piece))
	for i, b := range piece {
		numbers[i] = int(b)
	}
	return numbers
}

// detokenize is llama.cpp's POST /detokenize: control tokens are spelled out, and no space is dropped.
func (s *Server) detokenize(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Tokens []integer `json:"tokens"`
	}
	err := read(w, r, &q)
	if err == nil && s.cfg.Tokens == nil {
		err = errNoTokens
	}
	var text []byte
	for i := 0; err == nil && i < len(q.Tokens); i++ {
		id := q.Tokens[i]
		if id < 0 || id >= integer(s.cfg.Tokens.Size()) {
			err = badRequest("tokens", "token %d is %d: want 0 to %d", i, id, s.cfg.Tokens.Size()-1)
			break
		}
		text = append(text, s.cfg.Tokens.Piece(tandem.Token(id))...)
		err = checkTokenized("tokens", len(text))
	}
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, map[string]string{"content": string(text)})
}

// props is llama.cpp's GET /props, with what holds here.
func (s *Server) props(w http.ResponseWriter, _ *http.Request) {
	m := s.cfg.Model
	settings := map[string]any{}
	out := map[string]any{
		"default_generation_settings": settings, "total_slots": s.cfg.AtOnce, "model_alias": m.Name,
		"modalities": map[string]bool{"vision": false, "audio": false}, "build_info": s.build(),
	}
	if m.Context > 0 {
		settings["n_ctx"] = m.Context
	}
	if m.Template != "" {
		out["chat_template"] = m.Template
	}
	reply(w, http.StatusOK, out)
}

// isLlamaPath reports whether a path is one of llama.cpp's server.
func isLlamaPath(path string) bool { return slices.Contains(llamaPaths, path) }

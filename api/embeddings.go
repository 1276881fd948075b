package api

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"time"

	"tandem/model"
)

// An Encoder makes embeddings of texts. It is safe for concurrent use.
type Encoder interface {
	// EmbedText returns a vector of length 1, and how many tokens the text has.
	EmbedText(ctx context.Context, text string) (vector []float32, tokens int, err error)
}

// maxTexts bounds the texts of one request for embeddings.
const maxTexts = 256

// texts returns the texts of a request's input, which is one text or a list.
func texts(input json.RawMessage) ([]string, error) {
	var one *string
	var many []*string
	switch {
	case len(input) == 0 || string(input) == "null":
		return nil, badRequest("input", "input is missing: want a text or a list of texts")
	case json.Unmarshal(input, &one) == nil:
		many = []*string{one}
	case json.Unmarshal(input, &many) != nil || slices.Contains(many, nil):
		return nil, badRequest("input", "input: want a text or a list of texts; tokens are not supported")
	}
	if len(many) == 0 || len(many) > maxTexts {
		return nil, badRequest("input", "input: want 1 to %d texts, not %d", maxTexts, len(many))
	}
	var list []string
	for _, text := range many {
		list = append(list, *text)
	}
	return list, nil
}

// embedRequest is what both APIs' requests for embeddings have.
type embedRequest struct {
	Model      string          `json:"model"`
	Input      json.RawMessage `json:"input"`
	Dimensions integer         `json:"dimensions"`
}

// checkEncoder refuses requests for embeddings without an encoder, and those for another one.
func (s *Server) checkEncoder(name string) error {
	if s.cfg.Encoder == nil {
		return refused(http.StatusNotImplemented, "", "no_encoder", "no encoder is loaded: start the server with --encoder FILE, a GGUF of architecture bert, nomic-bert or modern-bert")
	}
	if name != "" && !s.cfg.EncoderInfo.isCalled(name) {
		return noModel("encoder", name, s.cfg.EncoderInfo.Name)
	}
	return nil
}

// embed returns the embeddings of a request's texts and the number of their tokens.
func (s *Server) embed(ctx context.Context, r embedRequest) (vectors [][]float32, tokens int, err error) {
	if err := s.checkEncoder(r.Model); err != nil {
		return nil, 0, err
	}
	list, err := texts(r.Input)
	if err != nil {
		return nil, 0, err
	}
	return s.embedTexts(ctx, list, int(r.Dimensions))
}

// embedTexts returns the embeddings of texts and the number of their tokens. dimensions is how many a vector must have, 0 for any.
func (s *Server) embedTexts(ctx context.Context, list []string, dimensions int) (vectors [][]float32, tokens int, err error) {
	leave, err := s.waitForSlot(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer leave()
	for i, text := range list {
		v, n, err := s.cfg.Encoder.EmbedText(ctx, text)
		if long := (*model.ContextError)(nil); errors.As(err, &long) {
			return nil, 0, badRequest("input", "text %d has %d tokens, and the encoder reads %d: shorten it", i, long.Add, long.Limit)
		}
		if err != nil {
			return nil, 0, err
		}
		if dimensions != 0 && dimensions != len(v) {
			return nil, 0, badRequest("dimensions", "dimensions: the encoder's vectors have %d", len(v))
		}
		vectors, tokens = append(vectors, v), tokens+n
	}
	return vectors, tokens, nil
}

// embeddings is OpenAI's POST /v1/embeddings.
func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) {
	var q struct {
		embedRequest
		Format string `json:"encoding_format"`
	}
	err := read(w, r, &q)
	if err == nil && q.Format != "" && q.Format != "float" && q.Format != "base64" {
		err = badRequest("encoding_format", "encoding_format %.40q is not supported: want float or base64", q.Format)
	}
	var vectors [][]float32
	tokens := 0
	if err == nil {
		vectors, tokens, err = s.embed(r.Context(), q.embedRequest)
	}
	if err != nil {
		fail(w, err)
		return
	}
	data := make([]any, len(vectors))
	for i, v := range vectors {
		var vector any = v
		if q.Format == "base64" {
			b := make([]byte, 0, 4*len(v))
			for _, x := range v {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
			vector = base64.StdEncoding.EncodeToString(b)
		}
		data[i] = map[string]any{"object": "embedding", "index": i, "embedding": vector}
	}
	reply(w, http.StatusOK, map[string]any{"object": "list", "data": data, "model": s.cfg.EncoderInfo.Name,
		"usage": map[string]int{"prompt_tokens": tokens, "total_tokens": tokens}})
}

// ollamaEmbed is Ollama's POST /api/embed.
func (s *Server) ollamaEmbed(w http.ResponseWriter, r *http.Request) {
	var q embedRequest
	begun := time.Now()
	err := read(w, r, &q)
	var vectors [][]float32
	tokens := 0
	if err == nil {
		vectors, tokens, err = s.embed(r.Context(), q)
	}
	if err != nil {
		failOllama(w, err)
		return
	}
	reply(w, http.StatusOK, map[string]any{"model": s.cfg.EncoderInfo.Name, "embeddings": vectors, "total_duration": time.Since(begun).Nanoseconds(),
		"load_duration": 0, "prompt_eval_count": tokens})
}

// ollamaEmbeddings is Ollama's POST /api/embeddings, which takes one text. Without a text, a client loads the encoder.
func (s *Server) ollamaEmbeddings(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model  string `json:"model"`
		Prompt string `json:"prompt"`
	}
	err := read(w, r, &q)
	if err == nil {
		err = s.checkEncoder(q.Model)
	}
	vector := []float32{}
	if err == nil && q.Prompt != "" {
		var vectors [][]float32
		if vectors, _, err = s.embedTexts(r.Context(), []string{q.Prompt}, 0); err == nil {
			vector = vectors[0]
		}
	}
	if err != nil {
		failOllama(w, err)
		return
	}
	reply(w, http.StatusOK, map[string]any{"embedding": vector})
}

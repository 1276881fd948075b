package model

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"strings"
	"sync"

	"tandem/model/gguf"
	"tandem/model/tokenizer"
)

// A rankHead computes a cross-encoder's score from the vectors of a pair's tokens, as llama.cpp does: a layer with a tanh and
// a projection (BERT, RoBERTa), or a layer with a GELU, a norm and a projection (ModernBERT). The layer or the projection may
// be missing.
type rankHead struct {
	dense, denseBias []float32 // [Dim × Dim] and [Dim]; nil for none
	norm             []float32 // [Dim]; nil for none
	out              []float32 // [Dim]: the row of the first label; nil for the first element itself
	bias             float32
	mean, gelu       bool // of all vectors, not of the first; a GELU instead of the tanh
	eps              float64
}

// rankHead reads the head of a cross-encoder.
func (t *tensors) rankHead(c *Config) *rankHead {
	modern := c.Arch == "modern-bert"
	h := &rankHead{mean: modern, gelu: modern, eps: float64(c.Eps)}
	part := func(name string, rows, cols int) []float32 {
		if t.err != nil || !t.file.Has(name) {
			return nil
		}
		m := t.wide(name, rows, cols)
		if t.err != nil || t.file.HeaderOnly() {
			return nil
		}
		x := make([]float32, rows*cols)
		if _, err := binary.Decode(m.Data, binary.LittleEndian, x); err != nil {
			t.fail(fmt.Errorf("%s: tensor %q: %w", t.file.Name, name, err))
		}
		return x
	}
	h.dense, h.denseBias = part("cls.weight", c.Dim, c.Dim), part("cls.bias", 1, c.Dim)
	h.norm = part("cls.norm.weight", 1, c.Dim)
	if !t.file.Has("cls.output.weight") && t.file.Has("cls.weight") {
		return h
	}
	all, err := t.file.Tensor("cls.output.weight")
	if err != nil {
		t.fail(err)
		return h
	}
	if out := part("cls.output.weight", all.Rows, c.Dim); out != nil {
		h.out = out[:c.Dim]
	}
	if bias := part("cls.output.bias", 1, all.Rows); bias != nil {
		h.bias = bias[0]
	}
	return h
}

// score returns the score of vectors [rows × dim].
func (h *rankHead) score(x []float32, dim int) float64 {
	var v []float64
	if h.mean {
		v = pool(x, dim, MeanPooling)
		for i := range v {
			v[i] /= float64(len(x) / dim)
		}
	} else {
		v = pool(x, dim, FirstPooling)
	}
	if h.dense != nil {
		y := make([]float64, dim)
		for i := range y {
			y[i] = product(h.dense[i*dim:][:dim], v)
			if h.denseBias != nil {
				y[i] += float64(h.denseBias[i])
			}
			if h.gelu {
				y[i] *= 0.5 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*y[i]*(1+0.044715*y[i]*y[i])))
			} else {
				y[i] = math.Tanh(y[i])
			}
		}
		v = y
		if h.norm != nil {
			h.normalise(v)
		}
	}
	if h.out == nil {
		return v[0]
	}
	return product(h.out, v) + float64(h.bias)
}

// normalise is a LayerNorm without bias.
func (h *rankHead) normalise(v []float64) {
	sum, square := 0.0, 0.0
	for _, x := range v {
		sum += x
	}
	mean := sum / float64(len(v))
	for _, x := range v {
		square += (x - mean) * (x - mean)
	}
	scale := 1 / math.Sqrt(square/float64(len(v))+h.eps)
	for i, x := range v {
		v[i] = (x - mean) * scale * float64(h.norm[i])
	}
}

func product(w []float32, x []float64) (sum float64) {
	for i, v := range x {
		sum += float64(w[i]) * v
	}
	return sum
}

// Score returns a cross-encoder's score of a pair of texts: of its first label, where it has several. The ends of texts that
// exceed the context are cut. It is safe for concurrent use.
func (m *Model) Score(ctx context.Context, first, second string) (float64, error) {
	if m.config.Pooling != RankPooling {
		return 0, fmt.Errorf("%s is not a cross-encoder: use a model of architecture bert, nomic-bert or modern-bert with a classification head", m.config.Arch)
	}
	x, err := m.encode(ctx, m.tokenizer.Pair(first, second, m.config.Context))
	if err != nil {
		return 0, err
	}
	return m.tensors.rank.score(x, m.config.Dim), nil
}

// PoolingOf returns how the encoder in a file pools, or NoPooling if the file is none.
func PoolingOf(f *gguf.File) Pooling {
	c, err := readConfig(f)
	if err != nil {
		return NoPooling
	}
	return c.Pooling
}

// A Ranker scores how well texts fit a question, with an encoder (the cosine of two embeddings) or a cross-encoder (its
// score). It is safe for concurrent use.
type Ranker struct {
	model           *Model
	question, texts string // what the model wants before each

	mu   sync.Mutex
	seed maphash.Seed
	seen map[uint64][]float32 // embeddings of texts
}

// seenBytes bounds the embeddings that a Ranker keeps.
const seenBytes = 32 << 20

// prefixes are what the makers of some embedding models want before questions and texts, by a part of the model's name in
// lower case. The first that is part of it counts.
var prefixes = []struct{ name, question, texts string }{
	{"nomic-embed", "search_query: ", "search_document: "},
	{"modernbert-embed", "search_query: ", "search_document: "},
	{"e5-", "query: ", "passage: "},
	{"bge-m3", "", ""},
	{"bge-small-zh", chineseQuestion, ""}, {"bge-base-zh", chineseQuestion, ""}, {"bge-large-zh", chineseQuestion, ""},
	{"arctic-embed-l-v2", "query: ", ""}, {"arctic-embed-m-v2", "query: ", ""},
	{"bge-", "Represent this sentence for searching relevant passages: ", ""},
	{"mxbai-embed", "Represent this sentence for searching relevant passages: ", ""},
	{"arctic-embed", "Represent this sentence for searching relevant passages: ", ""},
}

// chineseQuestion is what BGE's Chinese models want before a question.
const chineseQuestion = "为这个句子生成表示以用于检索相关文章："

// NewRanker makes a ranker of an encoder, which it does not close.
func NewRanker(m *Model) (*Ranker, error) {
	if m.config.Pooling == NoPooling {
		return nil, fmt.Errorf("it is not an encoder but a model of architecture %s: use one of bert, nomic-bert or modern-bert", m.config.Arch)
	}
	r := &Ranker{model: m, seed: maphash.MakeSeed(), seen: map[uint64][]float32{}}
	name := strings.ReplaceAll(strings.ToLower(m.config.Name), " ", "-")
	for _, p := range prefixes {
		if m.config.Pooling != RankPooling && strings.Contains(name, p.name) {
			r.question, r.texts = p.question, p.texts
			break
		}
	}
	return r, nil
}

// Rank returns a score for each text; higher is better. The ends of texts that exceed the model's context are cut.
func (r *Ranker) Rank(ctx context.Context, question string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	var asked []float32
	var err error
	if r.model.config.Pooling != RankPooling {
		if asked, err = r.embed(ctx, r.question+question); err != nil {
			return nil, err
		}
	}
	for i, text := range texts {
		if asked == nil {
			if scores[i], err = r.model.Score(ctx, question, text); err != nil {
				return nil, err
			}
			continue
		}
		v, err := r.known(ctx, r.texts+text)
		if err != nil {
			return nil, err
		}
		for j, x := range asked {
			scores[i] += float64(x) * float64(v[j])
		}
	}
	return scores, nil
}

// known returns the embedding of a text, which is computed once.
func (r *Ranker) known(ctx context.Context, text string) ([]float32, error) {
	key := maphash.String(r.seed, text)
	r.mu.Lock()
	v := r.seen[key]
	r.mu.Unlock()
	if v != nil {
		return v, nil
	}
	v, err := r.embed(ctx, text)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) >= seenBytes/(4*len(v)) {
		clear(r.seen)
	}
	r.seen[key] = v
	return v, nil
}

func (r *Ranker) embed(ctx context.Context, text string) ([]float32, error) {
	m := r.model
	return m.Embed(ctx, m.tokenizer.Fit(m.tokenizer.Encode(text, tokenizer.Options{AddSpecial: true}), m.config.Context))
}

package model

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"tandem"
	"tandem/model/tokenizer"
	"tandem/npu"
)

// Pooling says how an encoder combines the vectors of a text's tokens into one. The values are llama.cpp's numbers.
type Pooling uint8

// The kinds of pooling.
const (
	NoPooling    Pooling = iota // no encoder
	MeanPooling                 // their mean
	FirstPooling                // the first, of the token that begins a text (CLS)
	LastPooling                 // the last
	RankPooling                 // none: the model scores a pair of texts (Model.Score)
)

func (p Pooling) String() string {
	return [...]string{"none", "mean", "first", "last", "rank"}[min(p, RankPooling)]
}

// EmbedText returns the embedding of a text [Dim], scaled to length 1, and the number of its tokens. A text that exceeds the
// model's context is an error, a *ContextError.
func (m *Model) EmbedText(ctx context.Context, text string) (vector []float32, tokens int, err error) {
	ids := m.tokenizer.Encode(text, tokenizer.Options{AddSpecial: true})
	vector, err = m.Embed(ctx, ids)
	return vector, len(ids), err
}

// Embed returns the embedding of tokens [Dim], scaled to length 1: rows attend both ways, and Config's Pooling makes one
// vector of theirs. It is safe for concurrent use. On native it depends on the tokens alone, bit for bit.
func (m *Model) Embed(ctx context.Context, tokens []tandem.Token) ([]float32, error) {
	c := &m.config
	switch {
	case c.Pooling == NoPooling:
		return nil, fmt.Errorf("%s is not an encoder: use a model of architecture bert, nomic-bert or modern-bert for embeddings", c.Arch)
	case c.Pooling == RankPooling:
		return nil, errors.New("a cross-encoder has no embeddings, but scores pairs of texts: use an encoder without a classification head")
	}
	x, err := m.encode(ctx, tokens)
	if err != nil {
		return nil, err
	}
	sums, square := pool(x, c.Dim, c.Pooling), 0.0
	for _, v := range sums {
		square += float64(v * v)
	}
	out, length := make([]float32, c.Dim), math.Sqrt(square)
	for i, v := range sums {
		if length > 0 {
			out[i] = float32(v / length)
		}
	}
	return out, nil
}

// encode returns the vectors of an encoder's tokens [tokens × Dim].
func (m *Model) encode(ctx context.Context, tokens []tandem.Token) ([]float32, error) {
	c := &m.config
	switch {
	case len(tokens) == 0:
		return nil, errors.New("a text without tokens cannot be encoded")
	case len(tokens) > c.Context:
		return nil, &ContextError{Add: len(tokens), Limit: c.Context}
	}
	rows := make([]DenoiseRow, len(tokens))
	for i, t := range tokens {
		if t < 0 || int(t) >= c.Vocab {
			return nil, fmt.Errorf("token %d is outside the vocabulary of %d", t, c.Vocab)
		}
		rows[i] = DenoiseRow{Position: i, Token: t, Sees: len(tokens)}
	}
	seq := m.NewSeq()
	seq.extend(len(rows))
	schedule, err := m.scheduleBidirectional(ctx, seq, len(rows))
	if err != nil {
		return nil, err
	}
	x, err := m.bidirectionalLayers(ctx, seq, rows, schedule)
	if err != nil {
		return nil, err
	}
	for at := 0; at < len(rows); {
		head := schedule.Head(len(rows) - at)
		n := min(len(rows)-at, head.Graph().Chunk)
		part := x[at*c.Dim:][:n*c.Dim]
		if err := head.Run(npu.Args{Rows: n, X: part, Out: part}); err != nil {
			return nil, err
		}
		at += n
	}
	if err := schedule.End(ctx); err != nil {
		return nil, err
	}
	return x, m.checkNumbers(x)
}

// pool makes one vector of vectors [rows × dim]: one of them, or their sum.
func pool(x []float32, dim int, how Pooling) []float64 {
	switch how {
	case FirstPooling:
		x = x[:dim]
	case LastPooling:
		x = x[len(x)-dim:]
	}
	sums := make([]float64, dim)
	for i, v := range x {
		sums[i%dim] += float64(v)
	}
	return sums
}

// encoder reads what an encoder's file says of its use.
func (r *metaReader) encoder(c *Config) {
	if causal, ok := r.file.Meta.Bool(r.arch + "attention.causal"); ok && causal {
		r.fail("%sattention.causal is true: an encoder attends both ways", r.arch)
	}
	kind := 1
	if _, ok := r.file.Value(r.arch + "pooling_type"); ok {
		kind = r.size("pooling_type", 0, 4, 0)
	}
	switch kind {
	case 4:
		c.Pooling = RankPooling
		if c.Arch == "nomic-bert" {
			r.fail("%spooling_type is %d: classification heads of this architecture are not defined, in llama.cpp either", r.arch, kind)
		}
	case 1, 2, 3:
		c.Pooling = Pooling(kind)
	case 0:
		c.Pooling = MeanPooling // the file leaves it to its user
	}
}

// encoderEmbed looks tokens up and adds what belongs to positions, learned or not, and to the first type of token.
func encoderEmbed(learned bool) func(b *block) npu.Value {
	return func(b *block) npu.Value {
		x := b.Add(b.tokens(), b.Position(b.places(learned)))
		return b.layerNorm(x, "token_embd_norm")
	}
}

// maxPlaces bounds the numbers of a table of positions, most of which no file need hold: 256 MB of them.
const maxPlaces = 1 << 26

// places returns the table of positions [Context × Dim], F32, with the vector of the first type of token added to each.
func (t *block) places(learned bool) *npu.Tensor {
	c := t.config
	const name = "positions and types"
	if m := t.parts[name]; m != nil {
		return m
	}
	m := &npu.Tensor{Name: name, Type: npu.F32, Rows: c.Context, Cols: c.Dim}
	var stored *npu.Tensor
	if learned {
		stored = t.matrix("position_embd.weight", c.Context, c.Dim)
	}
	first := t.firstType()
	if !learned && c.Context*c.Dim > maxPlaces {
		t.fail(fmt.Errorf("%s: %s.context_length is %d: a context that long, of %d numbers a position, is not supported", t.file.Name, c.Arch, c.Context, c.Dim))
	}
	if t.err != nil || t.file.HeaderOnly() {
		return m
	}
	table := make([]float32, c.Context*c.Dim)
	if learned {
		t.floats(stored, table)
	}
	m.Data = make([]byte, 0, 4*len(table))
	for i, v := range table {
		if first != nil {
			v += first[i%c.Dim]
		}
		m.Data = binary.LittleEndian.AppendUint32(m.Data, math.Float32bits(v))
	}
	t.parts[name] = m
	return m
}

// firstType returns the vector of the first type of token [Dim], nil if the file has none.
func (t *block) firstType() []float32 {
	const name = "token_types.weight"
	if !t.file.Has(name) {
		return nil
	}
	all, err := t.file.Tensor(name)
	if err != nil {
		t.fail(err)
		return nil
	}
	types := t.matrix(name, all.Rows, t.config.Dim)
	if t.err != nil || t.file.HeaderOnly() {
		return nil
	}
	list := make([]float32, types.Rows*types.Cols)
	t.floats(types, list)
	return list[:types.Cols]
}

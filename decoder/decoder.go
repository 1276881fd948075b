package decoder

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem"
	"tandem/aggregator"
	"tandem/decoder/kvstore"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/sample"
	"tandem/retrieval/passages"
	"tandem/specdec"
)

// Defaults of Config.
const (
	DefaultTopP       = 0.8 // DRAGON §7.1 sends the same share
	DefaultMaxSupport = 256
	DefaultMaxTokens  = 256
)

// NoDocument is the relevance of a side that found nothing. It lies below what a scorer gives to passages
// that have something of the question, so that a side with such a passage leads.
const NoDocument = -8.0

// Mute is an aggregation weight that leaves a side no say beside any other: its η is 0 to the last bit.
const Mute = -1 << 12

// A Scorer gives the relevance R(d) of a passage to a query (DRAGON §2.2). It depends on nothing but the query and the
// passage, so that the same passage has the same relevance on both sides. Relevances are log-weights in nats: documents
// are weighed by softmax R, sides by logsumexp R.
//
// The query may be a question, or a question followed by the sentence that is being written; its last word may be
// unfinished.
type Scorer interface {
	// Name identifies the scorer and its version. Two sides that pair must have scorers of the same name.
	Name() string
	// Prepare fixes the passages to score. The function that it returns appends to dst the relevance of each, in order.
	// It must be safe for concurrent use and fast enough to be called for every token.
	Prepare(ps []passages.Passage) func(dst []float64, query string) []float64
}

// Config is what all answers of a side have in common.
type Config struct {
	Model      *model.Model
	Scorer     Scorer
	KV         *kvstore.Store // keeps the passages' KV caches; nil for none
	Rows       int            // contexts that the passages are dealt to; 0 for one each
	TopP       float64        // share of the mass that a Dist keeps; 0 for DefaultTopP
	MaxSupport int            // most tokens in a Dist; 0 for DefaultMaxSupport
	MaxTokens  int            // tokens of answer that every context leaves room for; 0 for DefaultMaxTokens
	Sampling   sample.Params  // applied to the side's mixture p^s; the draw itself is not made here
	Weights    Weights
}

// Request is one question.
type Request struct {
	Question string
	History  []chat.Message // earlier turns, oldest first
	Passages []passages.Passage
	Saved    [][]byte // KV caches of the passages that another side computed (Prefixes), nil where there is none
}

// topic is the question, with the one before it: a follow-up leaves out what that one named.
func (r Request) topic() string {
	for i := len(r.History) - 1; i >= 0; i-- {
		if r.History[i].Role == "user" {
			return join(strings.TrimSpace(r.History[i].Content), strings.TrimSpace(r.Question))
		}
	}
	return strings.TrimSpace(r.Question)
}

// Output is a side's distribution for the next token.
type Output struct {
	Dist tandem.Dist   // nucleus of p^s in integers
	H    tandem.Fixed  // h^s
	Took time.Duration // from the call of Next to here

	// What Took depends on (DRAGON §5.2).
	Fed    int // tokens that were computed in every row; 1 but for the first token and after a rollback
	Length int // tokens in the contexts of all rows together
}

// Prefill says what reading the prompts took.
type Prefill struct {
	Rows      int           // contexts
	Cached    int           // of them, with a passage KV from the store
	Tokens    int           // computed
	Took      time.Duration // with reading the store
	Truncated []string      // titles of passages that were shortened to fit the model's context
}

// Decoder is one side of one answer. It is not safe for concurrent use.
type Decoder struct {
	cfg     Config
	rel     relevance
	rows    []row
	prefill Prefill

	answer  []tandem.Token   // what the caller last said the answer is
	done    int              // of it, tokens in the KV caches
	moments []moment         // moments[i] stands after i tokens; between done+1 and len(answer)+1 of them
	text    []byte           // of the tokens that moments covers
	prompt  [][]float32      // each row's logits after the question
	texts   [][]tandem.Token // of the prompts, to guess from
	logits  [][]float32      // each row's logits after done tokens, nil when a rollback made them unknown
	passes  [2]model.Logits  // what the last two passes gave
	next    int              // which of passes the next one overwrites: the older

	rate      specdec.Acceptance // of guesses
	guessed   *specdec.Tree      // the last ones, until it is known whether they were right
	guessedAt []tandem.Token     // what they stood behind

	unsupported tandem.Token   // says that a sentence is unsupported and is never text; -1 where the model has none
	ends        []tandem.Token // of an answer

	storing sync.WaitGroup
}

// row is one context: its prompt and its KV cache.
type row struct {
	seq    *model.Seq
	prompt int // tokens before the answer
}

// New reads the question beside the passages. Passages whose KV is in the store are not computed again;
// the others are computed in one batch with the question and stored in the background (see Close). ctx
// preempts it between layers.
func New(ctx context.Context, cfg Config, req Request) (*Decoder, error) {
	began := time.Now()
	cfg, err := cfg.defaults()
	if err != nil {
		return nil, fmt.Errorf("decoder: %w", err)
	}
	tok := cfg.Model.Tokenizer()
	unsupported, speaks := tok.Unsupported()
	speaks = speaks && cfg.Weights.Reader
	bare := speaks && len(req.Passages) > 0
	prompts, truncated, err := layout(cfg, req, bare)
	if err != nil {
		return nil, fmt.Errorf("decoder: %w", err)
	}
	documents := len(prompts) // rows with one, if there is any
	if bare {
		documents--
	}
	question, scored := parseQuestion(req.Question), req.Passages
	if speaks {
		scored = slices.Concat(scored, question.echoes())
	}
	d := &Decoder{
		cfg:         cfg,
		unsupported: unsupported,
		ends:        tok.EOGs(),
		rel: relevance{
			weights:  cfg.Weights,
			question: question,
			topic:    req.topic(),
			scores:   cfg.Scorer.Prepare(scored),
			rows:     deal(len(req.Passages), documents),
			speaks:   speaks,
		},
		prefill: Prefill{Rows: len(prompts), Truncated: truncated},
	}
	if err := d.read(ctx, req, prompts); err != nil {
		return nil, fmt.Errorf("decoder: read %d documents: %w", len(req.Passages), err)
	}
	d.moments = []moment{d.rel.first(len(d.rows), func() []float64 { return d.support(d.prompt) })}
	d.prefill.Took = time.Since(began)
	return d, nil
}

// defaults fills in what is 0 and refuses what makes no sense.
func (c Config) defaults() (Config, error) {
	if c.TopP == 0 {
		c.TopP = DefaultTopP
	}
	if c.MaxSupport == 0 {
		c.MaxSupport = DefaultMaxSupport
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = DefaultMaxTokens
	}
	switch {
	case c.Model == nil:
		return c, fmt.Errorf("no model")
	case c.Scorer == nil:
		return c, fmt.Errorf("no scorer")
	case !(c.TopP > 0 && c.TopP <= 1):
		return c, fmt.Errorf("top-p %v of drafts: want more than 0 and at most 1", c.TopP)
	case c.MaxSupport < 1 || c.MaxSupport > tandem.MaxSupport:
		return c, fmt.Errorf("support of %d tokens: want 1 to %d", c.MaxSupport, tandem.MaxSupport)
	case c.Rows < 0:
		return c, fmt.Errorf("%d rows: want 0 (one for each passage) or more", c.Rows)
	case c.MaxTokens < 0:
		return c, fmt.Errorf("answer of %d tokens", c.MaxTokens)
	}
	if err := c.Weights.check(); err != nil {
		return c, err
	}
	return c, c.Sampling.Validate()
}

// Next makes the answer its first keep tokens followed by app, and returns the distribution of the token
// after them. keep may be anything up to the length of the answer that the call before gave, even if that
// call failed: the answer is taken over first, then computed. After an error (of ctx, which preempts
// between layers, or of the model) the next call computes what is missing. The same answer gives the same
// Output to the bit, whatever calls led to it.
func (d *Decoder) Next(ctx context.Context, keep int, app []tandem.Token) (Output, error) {
	began := time.Now()
	if err := d.edit(keep, app); err != nil {
		return Output{}, fmt.Errorf("decoder: %w", err)
	}
	fed, err := d.advance(ctx)
	if err != nil {
		return Output{}, fmt.Errorf("decoder: %w", err)
	}
	out, err := d.output(d.logits, d.moments[len(d.moments)-1], d.answer)
	out.Took, out.Fed, out.Length = time.Since(began), fed, d.length()
	return out, err
}

// output is the distribution behind an answer, from each row's logits there.
func (d *Decoder) output(logits [][]float32, m moment, answer []tandem.Token) (Output, error) {
	p, h := d.mixAt(logits, m)
	if math.IsNaN(p[0]) { // then all are: every one is divided by their sum
		return Output{}, fmt.Errorf("decoder: the model gives no token a probability after %d tokens of answer: its weights are damaged", len(answer))
	}
	return Output{Dist: aggregator.Nucleus(d.sampleAfter(p, answer), d.cfg.TopP, d.cfg.MaxSupport), H: tandem.FixedOf(h)}, nil
}

// length returns the tokens in the contexts of all rows.
func (d *Decoder) length() (n int) {
	for _, r := range d.rows {
		n += r.prompt + d.done
	}
	return n
}

// Room returns how many answer tokens fit in the context of every row.
func (d *Decoder) Room() int {
	room := math.MaxInt
	for _, r := range d.rows {
		room = min(room, d.cfg.Model.Config().Context-r.prompt)
	}
	return room
}

// Prefill says what New did.
func (d *Decoder) Prefill() Prefill { return d.prefill }

// DocumentWeights returns ω̃ of each passage of the request for the token after the answer so far. What is
// missing from 1 is the share of the context without a document (Weights.Reader).
func (d *Decoder) DocumentWeights() []float64 {
	return softmax(d.rel.at(d.moments[len(d.moments)-1]))[:len(d.rel.rows)]
}

// MeanWeights returns each passage's ω̃ averaged over the tokens of the answer so far and the next one.
func (d *Decoder) MeanWeights() []float64 {
	mean := make([]float64, len(d.rel.rows))
	for _, m := range d.moments {
		for i, w := range softmax(d.rel.at(m))[:len(mean)] {
			mean[i] += w / float64(len(d.moments))
		}
	}
	return mean
}

// Close waits until the passages' KV caches are stored.
func (d *Decoder) Close() error {
	d.storing.Wait()
	return nil
}

// edit takes over a new answer and rolls back what it does not share with the old one.
func (d *Decoder) edit(keep int, app []tandem.Token) error {
	if keep < 0 || keep > len(d.answer) {
		return fmt.Errorf("keep %d tokens of an answer of %d", keep, len(d.answer))
	}
	if n, room := keep+len(app), d.Room(); n > room {
		return fmt.Errorf("an answer of %d tokens: the model's context of %d tokens leaves room for %d",
			n, d.cfg.Model.Config().Context, room)
	}
	for _, t := range app {
		if vocab := d.cfg.Model.Config().Vocab; t < 0 || int(t) >= vocab {
			return fmt.Errorf("token %d in a vocabulary of %d", t, vocab)
		}
	}
	d.answer = append(d.answer[:keep:keep], app...)
	if len(d.moments) > keep+1 {
		d.moments = d.moments[:keep+1]
	}
	d.text = d.text[:d.moments[len(d.moments)-1].end]
	if d.done > keep {
		d.truncate(keep)
	}
	return nil
}

// truncate rolls the KV caches back to n answer tokens.
func (d *Decoder) truncate(n int) {
	for _, r := range d.rows {
		r.seq.Truncate(r.prompt + n)
	}
	d.done, d.logits = n, nil
	if n == 0 {
		d.logits = d.prompt
	}
}

// scoredAtOnce bounds the tokens whose logits are all held at a time.
const scoredAtOnce = 16

// advance computes the answer's tokens that are not in the KV caches yet, as one batch over the rows, and
// returns how many they were.
func (d *Decoder) advance(ctx context.Context) (fed int, err error) {
	all := d.rel.weights.Likelihood || d.rel.speaks // what the rows say at every token is needed
	need := len(d.answer)                           // first position whose logits are needed
	if all {
		need = min(need, len(d.moments)-1)
	}
	if d.logits == nil || d.done != need {
		if back := min(d.done, need-1); back >= 0 && back < d.done {
			d.truncate(back)
		}
	}
	for d.done < len(d.answer) {
		piece := d.answer[d.done:]
		if all && len(piece) > scoredAtOnce {
			piece = piece[:scoredAtOnce]
		}
		batch := make([]model.Input, len(d.rows))
		for i, r := range d.rows {
			batch[i] = model.Input{Seq: r.seq, Tokens: piece, All: all}
		}
		out, err := d.forward(ctx, batch)
		if err != nil {
			return fed, err
		}
		d.accept(piece, out, all)
		fed += len(piece)
	}
	return fed, nil
}

// forward computes a batch. Its logits stay until the next pass but one: what the next pass gives is set
// beside them.
func (d *Decoder) forward(ctx context.Context, batch []model.Input) ([][]float32, error) {
	out, err := d.cfg.Model.ForwardInto(ctx, batch, &d.passes[d.next])
	if err == nil {
		d.next = 1 - d.next
	}
	return out, err
}

// accept records that the rows hold piece now, with the logits that Forward gave for it.
func (d *Decoder) accept(piece []tandem.Token, out [][]float32, all bool) {
	per := 1 // logits of each row
	if all {
		per = len(piece)
	}
	for j, t := range piece {
		if d.done+j+1 < len(d.moments) {
			continue // known from before the rollback
		}
		before := d.logits // each row's logits for t
		if j > 0 && all {
			before = make([][]float32, len(d.rows))
			for i := range d.rows {
				before[i] = out[i*per+j-1]
			}
		}
		var logp []float64
		if d.rel.weights.Likelihood {
			logp = make([]float64, len(d.rows))
			for i := range d.rows {
				logp[i] = logProbability(before[i], t)
			}
		}
		if tok := d.cfg.Model.Tokenizer(); !tok.IsControl(t) {
			d.text = append(d.text, tok.Piece(t)...)
		}
		d.moments = append(d.moments, d.rel.next(d.moments[len(d.moments)-1], d.text, d.done+j+1, logp, func() []float64 { return d.support(before) }))
	}
	d.done += len(piece)
	d.logits = make([][]float32, len(d.rows))
	for i := range d.rows {
		d.logits[i] = out[i*per+per-1]
	}
}

// mix returns p^s over the vocabulary and h^s.
func (d *Decoder) mix() (p []float64, h float64) {
	return d.mixAt(d.logits, d.moments[len(d.moments)-1])
}

func (d *Decoder) mixAt(logits [][]float32, m moment) (p []float64, h float64) {
	byRow := make([]float64, len(d.rows))
	r := d.rel.at(m)
	if len(r) > 0 {
		for i := range byRow {
			byRow[i] = math.Inf(-1)
		}
		for passage, i := range d.rel.rows {
			byRow[i] = logSumExp([]float64{byRow[i], r[passage]})
		}
		if d.rel.speaks {
			byRow[len(byRow)-1] = r[len(r)-1]
		}
	}
	return mixture(logits, softmax(byRow), d.unsupported), d.weight(r)
}

// manyTokens is a vocabulary from which on rows are worth a goroutine each.
const manyTokens = 1 << 14

// mixture returns Σ weights[i]·softmax(logits[i]), each softmax without the token except if it is not negative.
func mixture(logits [][]float32, weights []float64, except tandem.Token) []float64 {
	parts := make([][]float64, len(logits))
	var rows sync.WaitGroup
	for i, row := range logits {
		part := func() { parts[i] = scaledSoftmax(row, weights[i], except) }
		if len(row) < manyTokens {
			part()
		} else {
			rows.Go(part)
		}
	}
	rows.Wait()
	p := parts[0]
	for _, part := range parts[1:] { // in order: the sum is the same bits every time
		for x, v := range part {
			p[x] += v
		}
	}
	return p
}

// scaledSoftmax returns weight·softmax(logits), without the token except if it is not negative.
func scaledSoftmax(logits []float32, weight float64, except tandem.Token) []float64 {
	e := make([]float64, len(logits))
	top, sum := maximum(logits), 0.0
	for x, l := range logits {
		e[x] = math.Exp(float64(l) - top)
		sum += e[x]
	}
	if except >= 0 {
		all := sum
		sum -= e[except]
		e[except] = 0
		if sum < all/1024 { // nearly all was that token's: what is left is a rounding error, or nothing
			rest := slices.Clone(logits)
			rest[except] = float32(math.Inf(-1))
			return scaledSoftmax(rest, weight, -1)
		}
	}
	scale := weight / sum
	for x := range e {
		e[x] *= scale
	}
	return e
}

// logProbability returns log softmax(logits)[t].
func logProbability(logits []float32, t tandem.Token) float64 {
	top, sum := maximum(logits), 0.0
	for _, l := range logits {
		sum += math.Exp(float64(l) - top)
	}
	return float64(logits[t]) - top - math.Log(sum)
}

// maximum returns the largest number of x; it may miss a NaN, which shows in what is computed from it.
func maximum(x []float32) float64 {
	top := x[0]
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	return float64(top)
}

// sample applies temperature, top-k, top-p, min-p and the repetition penalty to p^s. Temperature 0 leaves
// the distribution as it is but for the penalty: the pair takes the likeliest token of the target.
func (d *Decoder) sample(p []float64) []float64 { return d.sampleAfter(p, d.answer) }

func (d *Decoder) sampleAfter(p []float64, answer []tandem.Token) []float64 {
	s := d.cfg.Sampling
	if s.Temperature == 0 {
		s = sample.Params{Temperature: 1, RepeatPenalty: s.RepeatPenalty, RepeatLast: s.RepeatLast}
	}
	off := func(v float64) bool { return v == 0 || v == 1 }
	if s.Temperature == 1 && s.TopK == 0 && off(s.TopP) && s.MinP == 0 && off(s.RepeatPenalty) {
		return p // as it is, without a round trip through float32 logarithms
	}
	logs := make([]float32, len(p))
	for i, v := range p {
		logs[i] = float32(math.Log(v))
	}
	return s.Probabilities(p[:0], logs, answer)
}

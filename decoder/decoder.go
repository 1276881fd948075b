package decoder

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem"
	"tandem/aggregator"
	"tandem/decoder/ground"
	"tandem/decoder/kvstore"
	"tandem/dllm"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/grammar"
	"tandem/model/sample"
	"tandem/model/vocabulary"
	"tandem/retrieval/passages"
	"tandem/specdec"
)

// Defaults of Config.
const (
	DefaultTopP       = 0.8 // as in DRAGON §7.1
	DefaultMaxSupport = 256
	DefaultMaxTokens  = 256
)

// noDocument is the relevance of a side that found nothing. It is below what a scorer gives to a passage that shares
// anything with the question, so that a side with such a passage leads.
const noDocument = -8.0

// Mute is an aggregation weight so low that the side's η is exactly 0.
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

// Passes computes forward passes of a model: the model itself, or a batch that computes those of several answers together.
type Passes interface {
	ForwardInto(ctx context.Context, inputs []model.Input, into *model.Logits) ([][]float32, error)
	Prefill(ctx context.Context, inputs []model.Input, into *model.Logits) ([][]float32, error)
}

// SharedPasses is implemented by Passes that several answers share. The time of such a pass says little about the cost
// of one answer's rows, so Costs gives that.
type SharedPasses interface {
	// Costs returns the times of passes over 1 to n tokens of an answer with this number of contexts, in seconds, or nil if
	// they are unknown.
	Costs(contexts, n int) []float64
}

// Config holds what all answers of a side have in common.
type Config struct {
	Model      *model.Model
	Passes     Passes         // computes the passes of Model; nil for Model itself
	Adapter    *model.Adapter // of all contexts; nil for none
	Scorer     Scorer
	KV         *kvstore.Store // of the passages' KV caches; nil for none
	Shared     *Shared        // the same in memory, for all answers that read them; nil for none
	Memory     *model.Memory  // counts keys, values and logits, except those inside a pass of a diffusion model; nil for no count
	Contexts   int            // contexts that share the passages; 0 for one context for each passage
	TopP       float64        // probability mass that a Dist keeps; 0 for DefaultTopP
	MaxSupport int            // most tokens in a Dist; 0 for DefaultMaxSupport
	MaxTokens  int            // answer tokens that every context leaves room for; 0 for DefaultMaxTokens
	Sampling   sample.Params  // applied to the side's mixture p^s; the caller draws
	Weights    Weights
	Draft      specdec.Set         // the drafters of guesses
	Resources  specdec.Resources   // what some of them need
	Past       *specdec.Experience // with guesses in earlier answers; nil for none
	Log        *slog.Logger        // slog.Default when nil

	// Grounded lets each context write only words of the question, function words and spans of its passages (package
	// ground).
	Grounded bool

	// Form is the grammar of answers; nil for no limit. It cannot be combined with Grounded: a form has words of its own.
	Form *grammar.Grammar
}

// Request is one question.
type Request struct {
	Question string
	History  []chat.Message // earlier turns, oldest first
	Passages []passages.Passage
	Saved    [][]byte // KV caches of the passages from another side (Prefixes); nil if none
}

// topic returns the question after the one before it, since a follow-up may leave out what that one named.
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
	Took time.Duration // from the call of Next

	// What Took depends on (DRAGON §5.2).
	Fed       int // tokens computed in every context; usually 1, except at first and after a rollback
	Forecasts int // rows beside these that forecast later tokens
	Length    int // total number of tokens in all contexts

	// Costs are the times of passes over 1, 2, … tokens of the answer, in seconds, if other answers share the passes
	// (SharedPasses). Otherwise Costs is nil, and Took is the time of a pass.
	Costs []float64
}

// Prefill describes what New computed.
type Prefill struct {
	Contexts  int
	Cached    int           // contexts whose passages' KV came from the store or from the request
	Tokens    int           // computed
	Took      time.Duration // including reading the store
	Truncated []string      // titles of passages that were shortened to fit the model
}

// Decoder computes one side's distributions for one answer. It is not safe for concurrent use.
type Decoder struct {
	cfg      Config
	passages []passages.Passage
	rel      relevance
	contexts []docContext
	prefill  Prefill

	answer       []tandem.Token // as the caller last gave it
	done         int            // how many of its tokens are in the KV caches
	states       []state        // states[i] follows i tokens; done+1 to len(answer)+1 of them
	text         []byte         // of the tokens that states covers
	prompt       [][]float32    // each context's logits after the question; nil if they are computed again when needed
	logits       [][]float32    // each context's logits after done tokens; nil if unknown after a rollback
	promptMemory *model.Logits  // of prompt
	pass         *model.Logits  // memory of the last pass, where logits and the tree's are; nil if no later call needs them
	before       *model.Logits  // and of the pass before, as long as Next or NextAhead computes

	guesses *guesser
	perPass func(rows int) float64 // that guesses are expected to give (model.Input); nil without drafters
	tree    *treePass              // in the KV caches; nil if they hold no more than the answer

	grounds []*ground.Context // what each context may write; nil without Config.Grounded
	form    *grammar.Matcher  // what all of them may write; nil without Config.Form

	unsupported tandem.Token   // marks a sentence as unsupported and is never text; -1 if the model has none
	ends        []tandem.Token // tokens that end an answer

	storing sync.WaitGroup
}

// docContext is one context: one or more passages, the question and the answer so far.
type docContext struct {
	seq    *model.Seq
	prompt int          // tokens before the answer
	last   tandem.Token // of the prompt
}

// New reads the question after the passages. It takes the KV of passages from the store if it can, and computes the others
// in one batch with the question. It stores them in the background (see Close). ctx preempts it between layers.
func New(ctx context.Context, cfg Config, req Request) (*Decoder, error) {
	began := time.Now()
	cfg, err := cfg.defaults()
	if err != nil {
		return nil, fmt.Errorf("decoder: %w", err)
	}
	tok := cfg.Model.Tokenizer()
	unsupported, judges := tok.Unsupported()
	judges = judges && cfg.Weights.Support
	bare := judges && len(req.Passages) > 0
	prompts, truncated, err := writePrompts(cfg, req, bare)
	if err != nil {
		return nil, fmt.Errorf("decoder: %w", err)
	}
	documents := len(prompts) // contexts with passages, if there are any
	if bare {
		documents--
	}
	question, scored := focusClauses(req.Question), req.Passages
	if judges {
		scored = slices.Concat(scored, question.echoes())
	}
	d := &Decoder{
		cfg:         cfg,
		passages:    req.Passages,
		unsupported: unsupported,
		ends:        tok.EOGs(),
		rel: relevance{
			weights:   cfg.Weights,
			question:  question,
			topic:     req.topic(),
			scores:    cfg.Scorer.Prepare(scored),
			contextOf: deal(len(req.Passages), documents),
			judges:    judges,
		},
		prefill: Prefill{Contexts: len(prompts), Truncated: truncated},
	}
	defer func() {
		if d.states == nil { // an error or a panic: nobody can call Close
			d.storing.Wait()
			d.release()
		}
	}()
	if err := d.read(ctx, req, prompts); err != nil {
		return nil, fmt.Errorf("decoder: read %d documents: %w", len(req.Passages), err)
	}
	if cfg.Grounded {
		d.grounds = grounds(cfg.Model.Tokenizer(), prompts)
	}
	if cfg.Form != nil {
		d.form = grammar.NewMatcher(cfg.Form, vocabulary.Of(cfg.Model.Tokenizer()))
	}
	d.states = []state{d.first()}
	d.prefill.Took = time.Since(began)
	return d, nil
}

// defaults fills in zero fields and checks the others.
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
	case c.Contexts < 0:
		return c, fmt.Errorf("%d contexts: want 0 (one for each passage) or more", c.Contexts)
	case c.Grounded && len(c.Model.Tokenizer().EOGs()) == 0:
		return c, fmt.Errorf("grounded: the vocabulary has no token that ends an answer")
	case c.Form != nil && (c.Grounded || c.Model.Config().Diffusion):
		return c, fmt.Errorf("form: want a model that writes token by token, without grounding")
	case c.MaxTokens < 0:
		return c, fmt.Errorf("answer of %d tokens", c.MaxTokens)
	}
	if err := c.Weights.check(); err != nil {
		return c, err
	}
	if c.Passes == nil {
		c.Passes = c.Model
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Model.Config().Diffusion { // what a passage's tokens mean may depend on what follows
		c.Passes = dllm.NewPasses(c.Model)
	}
	if !c.caches() {
		c.KV, c.Shared, c.Draft = nil, nil, specdec.Off
	}
	return c, c.Sampling.Validate()
}

// caches reports whether the KV cache of a passage is here and depends on that passage alone. Else there are no draft
// trees, either.
func (c Config) caches() bool {
	m := c.Model.Config()
	return !m.Diffusion && !m.Remote
}

// newSeq returns an empty sequence.
func (c Config) newSeq() *model.Seq {
	s := c.Model.NewSeqWith(c.Adapter)
	s.CountIn(c.Memory)
	return s
}

// passFunc is a method of Passes.
type passFunc = func(ctx context.Context, inputs []model.Input, into *model.Logits) ([][]float32, error)

// compute computes a batch. It returns the logits and their memory, which the caller must release, but not after an error.
func (c Config) compute(ctx context.Context, batch []model.Input, pass passFunc) (out [][]float32, into *model.Logits, err error) {
	into = new(model.Logits)
	into.CountIn(c.Memory)
	succeeded := false
	defer func() { // also after a panic
		if !succeeded {
			into.Release()
		}
	}()
	out, err = pass(ctx, batch, into)
	succeeded = err == nil
	return out, into, err
}

// context returns the most tokens of a prompt and an answer that something can still follow. A diffusion model needs a
// place for the token that it guesses.
func (c Config) context() int {
	if m := c.Model.Config(); m.Diffusion {
		return m.Context - 1
	}
	return c.Model.Config().Context
}

// Next sets the answer to its first keep tokens followed by app, and returns the distribution of the token after it. keep is
// at most the length of the answer that the call before set, even if that call failed: Next first takes over the answer,
// then computes. ctx preempts it between layers. After an error the next call computes what is missing. The same answer
// gives the same Output bit for bit, whatever calls led to it.
func (d *Decoder) Next(ctx context.Context, keep int, app []tandem.Token) (Output, error) {
	began := time.Now()
	defer d.spareUnused()
	if err := d.edit(keep, app); err != nil {
		return Output{}, fmt.Errorf("decoder: %w", err)
	}
	fed, err := d.advance(ctx)
	if err != nil {
		return Output{}, fmt.Errorf("decoder: %w", err)
	}
	out, err := d.output(d.logits, d.states[len(d.states)-1], d.answer)
	out.Took, out.Fed, out.Length = time.Since(began), fed, d.length()
	return out, err
}

// Finish sets the answer as both sides agreed on it, for Parts and MeanWeights. Its last tokens may have been checked ahead.
// It computes a pass only where the weights need logits.
func (d *Decoder) Finish(ctx context.Context, answer []tandem.Token) error {
	keep := tandem.CommonPrefix(answer, d.answer)
	if keep == len(answer) && keep == len(d.answer) {
		return nil
	}
	if d.needsAll() {
		_, err := d.Next(ctx, keep, answer[keep:])
		return err
	}
	if err := d.edit(keep, answer[keep:]); err != nil {
		return fmt.Errorf("decoder: %w", err)
	}
	for n := len(d.states) - 1; n < len(answer); n++ {
		d.follow(answer[n], nil, nil)
	}
	return nil
}

// output returns the distribution after an answer, given each context's logits there.
func (d *Decoder) output(logits [][]float32, s state, answer []tandem.Token) (Output, error) {
	if s.muted {
		return d.muted(), nil
	}
	p, h, err := d.mix(logits, s)
	if err != nil {
		return Output{}, fmt.Errorf("decoder: %w", err)
	}
	defer spareMixtures.Put(&p)
	if math.IsNaN(p[0]) { // then all are NaN, since each is divided by their sum
		return Output{}, fmt.Errorf("decoder: the model gives no token a probability after %d tokens of answer: its weights are damaged", len(answer))
	}
	return Output{Dist: aggregator.Nucleus(d.sample(p, answer), d.cfg.TopP, d.cfg.MaxSupport), H: tandem.FixedOf(h)}, nil
}

// length returns the number of tokens in all contexts.
func (d *Decoder) length() (n int) {
	for _, c := range d.contexts {
		n += c.prompt + d.done
	}
	return n
}

// Room returns how many answer tokens fit in every context.
func (d *Decoder) Room() int {
	room := math.MaxInt
	for _, c := range d.contexts {
		room = min(room, d.cfg.context()-c.prompt)
	}
	return room
}

// Prefill describes what New computed.
func (d *Decoder) Prefill() Prefill { return d.prefill }

// MeanWeights returns each passage's ω̃ averaged over the tokens of the answer so far and the next one.
func (d *Decoder) MeanWeights() []float64 {
	mean := make([]float64, len(d.rel.contextOf))
	for _, s := range d.states {
		for i, w := range softmax(d.rel.at(s))[:len(mean)] {
			mean[i] += w / float64(len(d.states))
		}
	}
	return mean
}

// Close records the acceptance of the guesses in Config.Past, and waits until the KV caches of the passages are stored.
func (d *Decoder) Close() error {
	if d.guesses != nil && d.guesses.drafters != nil {
		d.cfg.Past.End(d.cfg.Draft, &d.guesses.rate)
	}
	d.prompt, d.logits, d.tree = nil, nil, nil
	d.storing.Wait()
	d.release()
	return nil
}

// release gives the contexts' KV caches and the logits back.
func (d *Decoder) release() {
	spare(&d.before)
	spare(&d.pass)
	spare(&d.promptMemory)
	for _, c := range d.contexts {
		c.seq.Release()
	}
}

// edit sets a new answer and rolls back what it does not share with the old one.
func (d *Decoder) edit(keep int, app []tandem.Token) error {
	if keep < 0 || keep > len(d.answer) {
		return fmt.Errorf("keep %d tokens of an answer of %d", keep, len(d.answer))
	}
	if n, room := keep+len(app), d.Room(); n > room {
		return fmt.Errorf("an answer of %d tokens: the model's context of %d tokens leaves room for %d",
			n, d.cfg.context(), room)
	}
	if i := slices.IndexFunc(app, d.unknown); i >= 0 {
		return fmt.Errorf("token %d in a vocabulary of %d", app[i], d.cfg.Model.Config().Vocab)
	}
	var follow []tandem.Token
	if keep == len(d.answer) {
		follow = app
	}
	b, nodes, err := d.settle(follow)
	if err != nil {
		return err
	}
	d.answer = append(d.answer[:keep:keep], app...)
	if len(nodes) > 0 {
		d.take(b, nodes)
		return nil
	}
	if len(d.states) > keep+1 {
		d.states = d.states[:keep+1]
	}
	d.text = d.text[:d.states[len(d.states)-1].end]
	if d.done > keep {
		d.truncate(keep)
	}
	return nil
}

// truncate rolls the KV caches back to n answer tokens.
func (d *Decoder) truncate(n int) {
	for _, c := range d.contexts {
		c.seq.Truncate(c.prompt + n)
	}
	d.done, d.logits = n, nil
	if n == 0 {
		d.logits = d.prompt
	}
}

// needsAll reports whether the weights need the logits before every token of the answer.
func (d *Decoder) needsAll() bool { return d.rel.weights.Likelihood || d.rel.judges }

// rewind rolls the KV caches back until the logits before every token still to be computed are known, where the weights
// need them.
func (d *Decoder) rewind(ctx context.Context) error {
	need := len(d.answer) // first position whose logits are needed
	if d.needsAll() {
		need = min(need, len(d.states)-1)
	}
	if d.logits == nil || d.done != need {
		if back := min(d.done, need-1); back >= 0 && back < d.done {
			d.truncate(back)
		}
	}
	if d.done == 0 && d.prompt == nil {
		return d.rereadPrompt(ctx)
	}
	return nil
}

// scoredAtOnce is the greatest number of tokens whose logits are all held at once.
const scoredAtOnce = 16

// advance computes the answer's tokens that are not yet in the KV caches, in one batch over the contexts, and returns their
// number.
func (d *Decoder) advance(ctx context.Context) (fed int, err error) {
	if err := d.rewind(ctx); err != nil {
		return 0, err
	}
	all := d.needsAll()
	for d.done < len(d.answer) {
		piece := d.answer[d.done:]
		if all && len(piece) > scoredAtOnce {
			piece = piece[:scoredAtOnce]
		}
		batch := make([]model.Input, len(d.contexts))
		for i, c := range d.contexts {
			batch[i] = model.Input{Seq: c.seq, Tokens: piece, All: all, PerPass: d.perPass}
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

// follow appends the state after one more token. logp is its log-probability in each context, if the weights need that.
func (d *Decoder) follow(t tandem.Token, logp []float64, verdicts func() []float64) {
	if tok := d.cfg.Model.Tokenizer(); !tok.IsControl(t) {
		d.text = append(d.text, tok.Piece(t)...)
	}
	last := d.states[len(d.states)-1]
	d.states = append(d.states, d.following(last, d.text, len(d.states), logp, verdicts))
}

// forward computes a batch. Its logits stay valid during the next pass, which writes elsewhere.
func (d *Decoder) forward(ctx context.Context, batch []model.Input) ([][]float32, error) {
	out, into, err := d.cfg.compute(ctx, batch, d.cfg.Passes.ForwardInto)
	if err != nil {
		return nil, err
	}
	spare(&d.before)
	d.before, d.pass = d.pass, into
	return out, nil
}

// spare gives the memory of a pass back.
func spare(memory **model.Logits) {
	if *memory != nil {
		(*memory).Release()
		*memory = nil
	}
}

// promptKept is the length of an answer from which its beginning is so rarely another one that the prompt's logits are computed
// again when it is.
const promptKept = 8

// spareUnused gives back what later calls hardly need. With a large vocabulary the logits of a few contexts take more memory than
// their keys and values, and most answers of a busy cloud wait. rewind computes again what is missing.
func (d *Decoder) spareUnused() {
	spare(&d.before)
	if !d.cfg.caches() {
		return
	}
	if d.done >= promptKept && !d.cfg.Model.Forgets() { // which cannot go back before the end of a prompt
		spare(&d.promptMemory)
		d.prompt = nil
	}
	if d.needsAll() || d.tree != nil && len(d.tree.forecasts) > 0 {
		return
	}
	if spare(&d.pass); d.done > 0 {
		d.logits = nil
	}
	if d.tree != nil {
		d.tree.before, d.tree.out = nil, nil
	}
}

// rereadPrompt computes the prompts' logits again.
func (d *Decoder) rereadPrompt(ctx context.Context) error {
	batch := make([]model.Input, len(d.contexts))
	for i, c := range d.contexts {
		c.seq.Truncate(c.prompt - 1)
		batch[i] = model.Input{Seq: c.seq, Tokens: []tandem.Token{c.last}, PerPass: d.perPass}
	}
	out, into, err := d.cfg.compute(ctx, batch, d.cfg.Passes.ForwardInto)
	if err != nil {
		return err
	}
	d.promptMemory, d.prompt, d.logits = into, out, out
	return nil
}

// accept records that the contexts now hold piece, and the logits that Forward returned for it. There may be none if the weights do
// not need them.
func (d *Decoder) accept(piece []tandem.Token, out [][]float32, all bool) {
	per := 1 // rows of logits for each context
	if all {
		per = len(piece)
	}
	for j, t := range piece {
		if d.done+j+1 < len(d.states) {
			continue // known from before the rollback
		}
		before := d.logits // each context's logits for t
		if j > 0 && all && len(out) > 0 {
			before = make([][]float32, len(d.contexts))
			for i := range d.contexts {
				before[i] = out[i*per+j-1]
			}
		}
		var logp []float64
		if d.rel.weights.Likelihood {
			logp = make([]float64, len(d.contexts))
			for i := range d.contexts {
				logp[i] = sample.LogProb(before[i], t)
			}
		}
		d.follow(t, logp, func() []float64 { return d.verdicts(before) })
	}
	d.done += len(piece)
	if d.logits = nil; len(out) == 0 {
		return
	}
	d.logits = make([][]float32, len(d.contexts))
	for i := range d.contexts {
		d.logits[i] = out[i*per+per-1]
	}
}

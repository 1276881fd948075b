package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/decoder/extract"
	"tandem/decoder/kvstore"
	"tandem/decoder/question"
	"tandem/internal/words"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/sample"
	"tandem/model/span"
	"tandem/retrieval/passages"
	"tandem/specdec"
	"tandem/transport"
)

// A Searcher finds passages in one side's documents.
type Searcher interface {
	// Search returns up to k passages that may answer the question, best first. Finding nothing is not an error.
	Search(ctx context.Context, q passages.Query, k int) ([]passages.Passage, error)
}

// Local is what one side answers with: its model, its scorer and its documents.
type Local struct {
	// What computes the distributions.
	Model   *model.Model   // decodes, or only spells the answer if Reader is set
	Adapter *model.Adapter // of what the model decodes; nil for none
	Reader  *span.Reader   // answers with words of the passages; nil for the model's own words
	Scorer  decoder.Scorer
	Passes  decoder.Passes // computes the passes of Model; nil for Model itself

	// What it reads.
	Documents Searcher // nil if the side has no documents
	Mark      string   // what citations add to the titles of Documents, such as " (sample document)"; "" for nothing

	// What an answer does not show of Documents, also where it does not cross the network.
	HideTitles bool // no document is named: all that an answer draws on is one without a title
	HideQuotes bool // no sentence is quoted, and no passage that comes close

	// What it keeps from earlier answers.
	KV     *kvstore.Store  // nil if KV caches of passages are not kept
	Shared *decoder.Shared // KV caches of passages that answers share in memory; nil for none
	Memory *model.Memory   // counts keys, values and logits; nil for no count
	Past   *Past           // of earlier answers; nil to begin each without

	// How it decodes several tokens in a pass.
	Draft     specdec.Set       // what guesses the next tokens
	Resources specdec.Resources // what some of these need; answers are added to the history
	Rows      int               // most rows of a pass; 0 for tandem.MaxRows, up to Settings.PassPlaces for chains of guesses as long as the pair chooses

	// How it answers like slower hardware.
	Pace     time.Duration // shortest time for a token of an answer; 0 for none
	ReadPace time.Duration // shortest time for a token of a prompt; 0 for none

	Log *slog.Logger // of what decodes; slog.Default when nil
}

// Hello describes l to the other side.
func (l Local) Hello(side tandem.Side, software, name string) transport.Hello {
	tok := l.Model.Tokenizer()
	return transport.Hello{
		Software:  software,
		Name:      name,
		Side:      side,
		Vocab:     tok.Fingerprint(),
		VocabSize: tok.TextSize(),
		Template:  l.Model.Template().Fingerprint(),
		Scorer:    l.scorerName(),
		Model:     l.Model.Config().Name,
		Adapter:   l.adapter(),
	}
}

// adapter returns the fingerprint of the side's adapter in hex, empty for none. The other side may have another: both
// distributions are over one vocabulary, and each side's is that of its adapted model.
func (l Local) adapter() string {
	if l.Adapter == nil || l.Reader != nil {
		return ""
	}
	return fmt.Sprintf("%x", l.Adapter.Fingerprint())
}

// scorerName names how the side divides questions and computes relevances.
func (l Local) scorerName() string {
	if l.Reader != nil {
		return l.Scorer.Name() + "+" + l.Reader.Name() + "+" + extract.DefaultConstants.Rules()
	}
	return decoder.ScorerName(l.Model, l.Scorer)
}

// Question is a question with the earlier turns of its conversation.
type Question struct {
	ID      string // names the answer in logs
	Text    string
	History []chat.Message
	Draft   specdec.Set // the drafters of this side; 0 for those of its Local

	// ChooseCoupling lets the device choose between the couplings of one race when the answer begins, by what rows and round
	// trips cost (Profile). The text then depends on that too. With the speculative coupling it does nothing.
	ChooseCoupling bool
}

// composed returns the question with one character for each letter and its accents (Unicode's NFC), as the texts of
// documents have them.
func (q Question) composed() Question {
	q.Text, q.History = words.Composed(q.Text), slices.Clone(q.History)
	for i := range q.History {
		q.History[i].Content = words.Composed(q.History[i].Content)
	}
	return q
}

// Bounds of a question, in bytes: its text, and all earlier turns that a cloud is told, with their roles. Of a longer
// conversation it is told the latest turns.
const (
	MaxQuestion = transport.MaxQuestion
	MaxHistory  = transport.MaxHistory
	MaxForm     = transport.MaxForm // of Settings.Form
)

// Query returns the query for passages. In a conversation it has the question before this one, because a follow-up
// leaves out what that one named; both are completed as far as they can be.
func (q Question) Query() passages.Query {
	before, now := q.conversation().FollowUp()
	return passages.Query{Before: before, Text: now}
}

func (q Question) conversation() question.Asked {
	return question.Asked{Text: q.Text, History: q.History}
}

// Source is the title of a document that took part in an answer.
type Source struct {
	Title  string  `json:"title"`
	Weight float64 `json:"weight"` // mean share of its side's distribution over the answer
}

// answerer computes one side's distributions for one answer: a *decoder.Decoder or an *extract.Decoder.
type answerer interface {
	producer
	aheadProducer
	Prefill() decoder.Prefill
	Finish(ctx context.Context, answer []tandem.Token) error
	Parts() []decoder.Part
	MeanWeights() []float64
	Close() error
}

// reading is a question being answered from one side's documents.
type reading struct {
	answerer
	passages []passages.Passage
	logOdds  bool          // a span reader answers, whose relevances are log-odds
	local    Local         // whose documents these are, for how citations show them
	took     time.Duration // retrieval and prefill
	pace     time.Duration // shortest time of a Next
}

// read retrieves the passages for q and prefills the question after each of them.
func (l Local) read(ctx context.Context, q Question, s tandem.Settings) (*reading, error) {
	start := time.Now()
	passages, err := l.search(ctx, q, s)
	if err != nil {
		return nil, err
	}
	own, err := l.prefill(ctx, q, s, passages, nil)
	if err != nil {
		return nil, err
	}
	own.took = time.Since(start)
	return own, nil
}

var errSearch = errors.New("search the documents")

// search retrieves the passages for q.
func (l Local) search(ctx context.Context, q Question, s tandem.Settings) (found []passages.Passage, err error) {
	defer contain("search the documents", &err)
	if l.Documents == nil || s.Documents == 0 {
		return nil, nil
	}
	if found, err = q.Find(ctx, l.Documents, s.Documents); err != nil {
		return nil, fmt.Errorf("%w: %w", errSearch, err)
	}
	return found, nil
}

// Find retrieves up to n passages for the question. In a conversation every other one is of the document that its last
// answer came from, if that is among these documents, beginning with the passage that gave the answer.
func (q Question) Find(ctx context.Context, documents Searcher, n int) ([]passages.Passage, error) {
	found, err := documents.Search(ctx, q.Query(), n)
	if err != nil {
		return nil, err
	}
	previous, reply := q.conversation().LastAnswered()
	if reply == "" {
		return found, nil
	}
	before, err := documents.Search(ctx, passages.Query{Text: previous}, answeringDepth)
	if err != nil {
		return nil, err
	}
	i := question.AnsweringPassage(previous, reply, before)
	if i < 0 {
		return found, nil
	}
	answering := before[i]
	_, now := q.conversation().FollowUp()
	others, err := documents.Search(ctx, passages.Query{Text: now + " " + answering.Title}, n)
	if err != nil {
		return nil, err
	}
	others = slices.DeleteFunc(others, func(p passages.Passage) bool { return p.Source != answering.Source || p.ID == answering.ID })
	return passages.Interleave(n, found, append([]passages.Passage{answering}, others...)), nil
}

// answeringDepth is how many passages are searched for the one that the last answer came from.
const answeringDepth = 4

// prefill reads the question after each passage. saved holds the KV caches that came with passages, or nil.
func (l Local) prefill(ctx context.Context, q Question, s tandem.Settings, passages []passages.Passage, saved [][]byte) (own *reading, err error) {
	defer contain("read the passages", &err)
	start := time.Now()
	d, err := l.answerer(ctx, s, decoder.Request{Question: q.Text, History: q.History, Passages: passages, Saved: saved})
	if err != nil {
		return nil, err
	}
	if err := waitAtLeast(ctx, start, l.ReadPace*time.Duration(d.Prefill().Tokens)); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &reading{answerer: d, passages: passages, logOdds: l.Reader != nil, local: l, took: time.Since(start), pace: l.Pace}, nil
}

// answerer opens what computes the side's distributions.
func (l Local) answerer(ctx context.Context, s tandem.Settings, req decoder.Request) (answerer, error) {
	if err := l.checkForm(s); err != nil {
		return nil, err
	}
	if l.Reader != nil {
		return extract.New(ctx, l.extractConfig(s), req)
	}
	cfg, err := l.DecoderConfig(s)
	if err != nil {
		return nil, err
	}
	return decoder.New(ctx, cfg, req)
}

// checkForm refuses to answer in a form if what answers here cannot.
func (l Local) checkForm(s tandem.Settings) error {
	switch {
	case s.Form == "":
	case l.Reader != nil:
		return errors.New("a grammar or JSON schema needs a model that writes (--model NAME); the built-in reader quotes documents")
	case l.Model.Config().Diffusion:
		return errors.New("a grammar or JSON schema needs a model that writes token by token, and this one is a diffusion model")
	}
	return nil
}

// extractConfig returns the configuration of a span reader's decoder with these settings. Of the sampling it takes the
// temperature: a text of the documents is not thinned out token by token.
func (l Local) extractConfig(s tandem.Settings) extract.Config {
	return extract.Config{
		Reader:      l.Reader,
		Tokenizer:   l.Model.Tokenizer(),
		Scorer:      l.Scorer,
		TopP:        s.Nucleus,
		MaxSupport:  s.Support,
		MaxTokens:   s.MaxTokens,
		Temperature: s.Sampling.Temperature,
	}
}

// DecoderConfig returns the configuration of a decoder with these settings.
func (l Local) DecoderConfig(s tandem.Settings) (decoder.Config, error) {
	w, wrong := weights(s)
	g, err := form(s)
	return decoder.Config{
		Model:      l.Model,
		Adapter:    l.Adapter,
		Scorer:     l.Scorer,
		KV:         l.KV,
		Shared:     l.Shared,
		Memory:     l.Memory,
		Passes:     l.Passes,
		Contexts:   s.Contexts,
		TopP:       s.Nucleus,
		MaxSupport: s.Support,
		MaxTokens:  s.MaxTokens,
		Sampling:   sample.Params{Sampling: s.Sampling, Seed: s.Seed},
		Weights:    w,
		Draft:      l.Draft,
		Resources:  l.Resources,
		Past:       l.Past.experience(),
		Grounded:   s.Grounded && g == nil,
		Form:       g,
		Log:        l.Log,
	}, errors.Join(wrong, err)
}

// sources sums the weights of passages of the same title, heaviest first.
func (r *reading) sources() []Source { return r.sourcesOf(0, len(r.passages)) }

// sourcesOf does the same for passages[from:to].
func (r *reading) sourcesOf(from, to int) []Source { return r.byTitle(from, r.MeanWeights()[from:to]) }

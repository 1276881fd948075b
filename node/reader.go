package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/decoder/kvstore"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/sample"
	"tandem/pair"
	"tandem/retrieval/passages"
	"tandem/transport"
)

// A Searcher finds passages in one side's documents.
type Searcher interface {
	// Search returns up to k passages that may answer the question, best first. A question of two lines is a follow-up:
	// the first line is the question before it. Finding nothing is not an error.
	Search(ctx context.Context, question string, k int) ([]passages.Passage, error)
}

// Reader is what one side reads with and what it reads.
type Reader struct {
	Model     *model.Model
	Scorer    decoder.Scorer
	Documents Searcher       // nil for a side without documents
	KV        *kvstore.Store // nil when KV caches of passages are not kept
	Pace      time.Duration  // least time that a token takes, to answer like slower hardware; 0 for none
	Read      time.Duration  // least time that a token of a prompt takes, likewise
}

// Hello describes r to the other side.
func (r Reader) Hello(side tandem.Side, software, name string) transport.Hello {
	tok := r.Model.Tokenizer()
	return transport.Hello{
		Software:  software,
		Name:      name,
		Side:      side,
		Vocab:     tok.Fingerprint(),
		VocabSize: tok.Size(),
		Template:  r.Model.Template().Fingerprint(),
		Scorer:    decoder.ScorerName(r.Model, r.Scorer),
		Model:     r.Model.Config().Name,
	}
}

// Settings are what both sides must hold in common to answer a question, and travel with it.
type Settings struct {
	Placement tandem.Placement
	Coupling  tandem.Coupling
	Gamma     uint32 // out of tandem.Mass: how often the speculative coupling takes the device's result; or pair.AutoGamma
	Sampling  sample.Params
	Nucleus   float64 // mass of the distribution that a draft carries
	Support   int     // most tokens in it
	Lookahead int     // most drafts beyond the last agreed token; 0 lets the device choose by Profile
	MaxTokens int
	Documents int // passages that each side retrieves
	Rows      int // contexts that they are grouped into; 0 for one each
	Contexts  int // most beginnings of the answer that a pass decodes (pair.Config.Contexts); below 2 for one
	Weights   decoder.Weights
	Want      transport.Want // what the cloud is asked for: drafts, unless a baseline is run
}

// Check reports the first setting that is out of range.
func (s Settings) Check() error {
	switch {
	case !(s.Nucleus > 0 && s.Nucleus <= 1):
		return fmt.Errorf("nucleus %v: want a probability mass above 0 and up to 1", s.Nucleus)
	case s.Support < 1 || s.Support > tandem.MaxSupport:
		return fmt.Errorf("support %d: want 1 to %d tokens", s.Support, tandem.MaxSupport)
	case s.Lookahead < 0 || s.Lookahead > pair.MaxLookahead:
		return fmt.Errorf("lookahead %d: want 1 to %d drafts, or 0 for as many as a round trip needs", s.Lookahead, pair.MaxLookahead)
	case s.MaxTokens < 1 || s.MaxTokens > transport.MaxAnswer:
		return fmt.Errorf("max-tokens %d: want 1 to %d", s.MaxTokens, transport.MaxAnswer)
	case s.Documents < 0 || s.Documents > 64:
		return fmt.Errorf("documents %d: want 0 to 64 passages a side", s.Documents)
	case s.Rows < 0 || s.Rows > transport.MaxSources: // more the cloud would refuse
		return fmt.Errorf("rows %d: want 1 to %d contexts, or 0 for one for each passage", s.Rows, transport.MaxSources)
	case s.Contexts < 0 || s.Contexts > pair.MaxContexts:
		return fmt.Errorf("contexts %d: want 1 to %d in a pass", s.Contexts, pair.MaxContexts)
	case s.Gamma > tandem.Mass && s.Gamma != pair.AutoGamma:
		return fmt.Errorf("gamma %d: want at most %d", s.Gamma, tandem.Mass)
	case s.Want > transport.WantAnswer:
		return fmt.Errorf("unknown method %d", s.Want)
	case s.Placement > tandem.PlaceGreedy || s.Coupling > tandem.CouplingSpeculative:
		return fmt.Errorf("unknown placement %v or coupling %v", s.Placement, s.Coupling)
	}
	return s.Sampling.Validate()
}

// machine returns the configuration of the pair's machine on side self.
func (s Settings) machine(self tandem.Side, m *model.Model) pair.Config {
	return pair.Config{
		Self:      self,
		Placement: s.Placement,
		Coupling:  s.Coupling,
		Seed:      s.Sampling.Seed,
		Greedy:    s.Sampling.Temperature == 0,
		MaxTokens: s.MaxTokens,
		Stop:      m.Tokenizer().EOGs(),
		Lookahead: s.Lookahead,
		Gamma:     s.Gamma,
		Horizon:   pair.DefaultHorizon,
		Vocab:     m.Tokenizer().Size(),
		Contexts:  s.Contexts,
	}
}

// Question is what is asked, after the earlier turns of the conversation.
type Question struct {
	ID      string // names the answer in logs
	Text    string
	History []chat.Message
}

// Search is the text that passages are looked up with: the question on one line, after that with the one before it, since a
// follow-up leaves out what that one named.
func (q Question) Search() string {
	now := strings.Join(strings.Fields(q.Text), " ")
	for i := len(q.History) - 1; i >= 0; i-- {
		if q.History[i].Role == "user" {
			return strings.Join(strings.Fields(q.History[i].Content), " ") + "\n" + now
		}
	}
	return now
}

// Source is a document that took part in an answer, by its title.
type Source struct {
	Title  string  `json:"title"`
	Weight float64 `json:"weight"` // mean share of its side's distribution over the answer
}

// reading is a question being answered from one side's documents.
type reading struct {
	*decoder.Decoder
	passages []passages.Passage
	took     time.Duration // retrieval and prefill
	pace     time.Duration // least time of a Next
}

// read retrieves the passages for q and prefills the question after each of them.
func (r Reader) read(ctx context.Context, q Question, s Settings) (*reading, error) {
	start := time.Now()
	passages, err := r.search(ctx, q, s)
	if err != nil {
		return nil, err
	}
	own, err := r.prefill(ctx, q, s, passages, nil)
	if err != nil {
		return nil, err
	}
	own.took = time.Since(start)
	return own, nil
}

// search retrieves the passages for q.
func (r Reader) search(ctx context.Context, q Question, s Settings) ([]passages.Passage, error) {
	if r.Documents == nil || s.Documents == 0 {
		return nil, nil
	}
	found, err := r.Documents.Search(ctx, q.Search(), s.Documents)
	if err != nil {
		return nil, fmt.Errorf("search the documents: %w", err)
	}
	return found, nil
}

// prefill reads the question after passages, of which some may come with their KV caches.
func (r Reader) prefill(ctx context.Context, q Question, s Settings, passages []passages.Passage, saved [][]byte) (*reading, error) {
	start := time.Now()
	d, err := decoder.New(ctx, r.config(s), decoder.Request{Question: q.Text, History: q.History, Passages: passages, Saved: saved})
	if err != nil {
		return nil, err
	}
	if err := rest(ctx, start, r.Read*time.Duration(d.Prefill().Tokens)); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &reading{Decoder: d, passages: passages, took: time.Since(start), pace: r.Pace}, nil
}

// config is what r decodes with under the settings.
func (r Reader) config(s Settings) decoder.Config {
	return decoder.Config{
		Model:      r.Model,
		Scorer:     r.Scorer,
		KV:         r.KV,
		Rows:       s.Rows,
		TopP:       s.Nucleus,
		MaxSupport: s.Support,
		MaxTokens:  s.MaxTokens,
		Sampling:   s.Sampling,
		Weights:    s.Weights,
	}
}

// sources sums the weights of passages of the same title, heaviest first.
func (r *reading) sources() []Source { return r.sourcesOf(0, len(r.passages)) }

// sourcesOf does so for some of the passages.
func (r *reading) sourcesOf(from, to int) []Source { return r.byTitle(from, r.MeanWeights()[from:to]) }

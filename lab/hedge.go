package lab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tandem"
	"tandem/lab/report"
	"tandem/lab/sim"
	"tandem/netem"
	"tandem/pair"
	"tandem/pair/pairtest"
)

// Hedge asks questions live, over paths without jitter, with passes of several contexts: the next draft's, and those of
// hedges, checks and guesses (pair.Config.Contexts). A pass takes the same time whatever it decodes.
type Hedge struct {
	Setup
	RTT      []time.Duration
	Contexts []int // numbers of contexts; the others are compared with the first
	Decode   [2]time.Duration
}

// HedgeResult is what a number of contexts gives at a round-trip time.
type HedgeResult struct {
	RTT        float64 `json:"rtt_ms"`
	Contexts   int     `json:"contexts"`
	Guess      float64 `json:"guess,omitempty"` // simulated: how often a guess is right
	Answers    int     `json:"answers"`
	Tokens     int     `json:"tokens"`
	TokenMs    float64 `json:"token_ms"` // live, from the first token of an answer to its last; simulated, from the start
	Ratio      float64 `json:"ratio"`    // the time of the first result with this round trip, divided by this one's
	Shares     Shares  `json:"shares"`
	Hedges     int     `json:"hedges"` // of the cloud's drafts, those that had arrived before they were needed
	DraftBytes float64 `json:"draft_bytes_per_token,omitempty"`
	Simulated  bool    `json:"simulated,omitempty"`
}

// Shares says what the device's passes decoded for each token of the answer. The shares are those of tokens whose own draft
// took no pass, because an earlier pass had decoded the context as a hedge, a check or a guess.
type Shares struct {
	Passes   float64 `json:"passes_per_token"`
	Contexts float64 `json:"contexts_per_token"`
	Hedges   float64 `json:"of_hedges"`
	Checks   float64 `json:"of_checks"`
	Guesses  float64 `json:"of_guesses"`
}

// sharesOf sums up the counts of several answers.
func sharesOf(answers []pair.Stats) (b Shares) {
	tokens := 0
	for _, s := range answers {
		tokens += s.Together + s.Alone
	}
	part := func(n int) float64 { return float64(n) / float64(max(1, tokens)) }
	for _, s := range answers {
		b.Passes, b.Contexts = b.Passes+part(s.Passes), b.Contexts+part(s.Places)
		b.Hedges, b.Checks, b.Guesses = b.Hedges+part(s.OfHedges), b.Checks+part(s.OfChecks), b.Guesses+part(s.OfGuesses)
	}
	return b
}

// HedgeSimulated plays the same in virtual time: two machines in mirror with random distributions (pairtest.Sharing). A pass
// takes the same time whatever it decodes.
type HedgeSimulated struct {
	RTT      []time.Duration
	Contexts []int // numbers of contexts; the others are compared with the first
	Guess    []float64
	Decode   [2]time.Duration
	Share    float64 // of probability that the two sides' distributions have in common
	Tokens   int
	Answers  int
}

// Run plays every combination, except guesses in passes of one context. It fails if a text differs from the first.
func (h HedgeSimulated) Run(ctx context.Context, progress report.Progress) (results []HedgeResult, err error) {
	total := len(h.RTT) * len(h.Guess) * len(h.Contexts)
	for i, rtt := range h.RTT {
		texts := make([][]tandem.Token, h.Answers)
		for j, guess := range h.Guess {
			for k, contexts := range h.Contexts {
				if progress != nil {
					progress((i*len(h.Guess)+j)*len(h.Contexts)+k, total)
				}
				if guess > 0 && contexts < 2 {
					continue
				}
				result, err := h.result(ctx, rtt, contexts, guess, texts)
				if err != nil {
					return nil, err
				}
				result.Ratio = 1
				if n := len(results); n > 0 && results[n-1].RTT == result.RTT {
					result.Ratio = results[n-1].TokenMs * results[n-1].Ratio / result.TokenMs
				}
				results = append(results, result)
			}
		}
	}
	return results, nil
}

// result plays every answer once. The first call fills texts with the answers, later ones compare with them.
func (h HedgeSimulated) result(ctx context.Context, rtt time.Duration, contexts int, guess float64, texts [][]tandem.Token) (HedgeResult, error) {
	r := HedgeResult{RTT: rtt.Seconds() * 1e3, Contexts: contexts, Guess: guess, Answers: h.Answers, Simulated: true}
	link, stats := netem.Config{Delay: rtt / 2}, []pair.Stats(nil)
	for i := range texts {
		seed := uint64(i)
		o, err := sim.Run(ctx, sim.Setting{
			Pair:   pair.Config{Settings: tandem.Settings{Placement: tandem.PlaceMirror, Seed: seed, Sampling: tandem.Sampling{Temperature: 1}, MaxTokens: h.Tokens, Lookahead: tandem.MaxLookahead, PassPlaces: contexts}},
			Source: pairtest.Sharing(seed, h.Share), Decode: [2]sim.Delay{sim.Every(h.Decode[0]), sim.Every(h.Decode[1])},
			Link: [2]netem.Config{link, link}, Warm: true, Guess: guess,
		})
		if err != nil {
			return r, err
		}
		if texts[i] == nil {
			texts[i] = o.IDs()
		}
		if !slices.Equal(texts[i], o.IDs()) {
			return r, fmt.Errorf("answer %d with %d contexts, RTT %v: another text", i, contexts, rtt)
		}
		r.Tokens, r.Hedges = r.Tokens+len(o.Tokens), r.Hedges+o.Pair[tandem.Device].Hedges
		r.TokenMs += o.Took.Seconds() * 1e3 / float64(h.Tokens*h.Answers)
		stats = append(stats, o.Pair[tandem.Device])
	}
	r.Shares = sharesOf(stats)
	return r, nil
}

// Run asks every question with every number of contexts. It fails if a text differs from the first.
func (h Hedge) Run(ctx context.Context, progress report.Progress) ([]HedgeResult, error) {
	var results []HedgeResult
	done := 0
	for _, rtt := range h.RTT {
		link := netem.Config{Delay: rtt / 2}
		l, err := h.connect(Path{Link: [2]netem.Config{link, link}}, h.Decode)
		if err != nil {
			return nil, err
		}
		texts := make([]string, len(h.Questions))
		for _, contexts := range h.Contexts {
			l.setup.Settings.PassPlaces = contexts
			result, err := h.result(ctx, l, texts)
			if err != nil {
				l.close()
				return nil, err
			}
			result.RTT, result.Contexts = rtt.Seconds()*1e3, contexts
			result.Ratio = 1
			if first := len(results) / len(h.Contexts) * len(h.Contexts); first < len(results) {
				result.Ratio = results[first].TokenMs / result.TokenMs
			}
			results = append(results, result)
			if done++; progress != nil {
				progress(done, len(h.RTT)*len(h.Contexts))
			}
		}
		if err := l.close(); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// result asks every question once. The first call fills texts with the answers, later ones compare with them.
func (h Hedge) result(ctx context.Context, l *live, texts []string) (r HedgeResult, err error) {
	var took time.Duration
	gaps, bytes, stats := 0, uint64(0), []pair.Stats(nil)
	for i := range h.Questions {
		a, err := l.ask(ctx, i, Strategy{Label: "mirror", Place: tandem.PlaceMirror}, h.Settings.Lookahead)
		if err != nil {
			return r, err
		}
		if texts[i] == "" {
			texts[i] = a.Text
		}
		if a.Text != texts[i] || a.Pair.Together == 0 {
			return r, fmt.Errorf("question %q: %q, %d tokens with the cloud; before it was %q", h.Questions[i], a.Text, a.Pair.Together, texts[i])
		}
		if n := len(a.Tokens); n > 1 {
			took, gaps = took+a.Tokens[n-1].At-a.Tokens[0].At, gaps+n-1
		}
		r.Answers, r.Tokens, r.Hedges = r.Answers+1, r.Tokens+len(a.Tokens), r.Hedges+a.Pair.Hedges
		bytes, stats = bytes+a.Link.DraftBytes, append(stats, a.Pair)
	}
	r.TokenMs = took.Seconds() * 1e3 / float64(max(1, gaps))
	r.Shares, r.DraftBytes = sharesOf(stats), float64(bytes)/float64(max(1, r.Tokens))
	return r, nil
}

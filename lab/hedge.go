package lab

import (
	"context"
	"fmt"
	"time"

	"tandem"
	"tandem/lab/report"
	"tandem/netem"
	"tandem/pair"
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
func (h Hedge) result(ctx context.Context, l *testbed, texts []string) (r HedgeResult, err error) {
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
		bytes, stats = bytes+a.Traffic.DraftBytes, append(stats, a.Pair)
	}
	r.TokenMs = took.Seconds() * 1e3 / float64(max(1, gaps))
	r.Shares, r.DraftBytes = sharesOf(stats), float64(bytes)/float64(max(1, r.Tokens))
	return r, nil
}

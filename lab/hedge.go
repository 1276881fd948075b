package lab

import (
	"context"
	"fmt"
	"time"

	"tandem"
	"tandem/netem"
)

// Hedge asks questions live, over paths without jitter, with passes of several contexts: hedges and guesses beside
// the next draft (pair.Config.Contexts). Decoding is paced, the same on both sides and whatever a pass decodes.
type Hedge struct {
	Bench
	RTT      []time.Duration
	Contexts []int // the first is what the others are compared with
	Decode   time.Duration
}

// HedgeRow is what one number of contexts gave at one round-trip time.
type HedgeRow struct {
	RTT        float64 `json:"rtt_ms"`
	Contexts   int     `json:"contexts"`
	Answers    int     `json:"answers"`
	Tokens     int     `json:"tokens"`
	TokenMs    float64 `json:"token_ms"` // from the first token of an answer to its last
	Ratio      float64 `json:"ratio"`    // of the first row's time with this round trip by this one's
	Ahead      float64 `json:"ahead"`    // share of the device's drafts that took no pass of their own
	Hedges     int     `json:"hedges"`   // drafts of the cloud's that were there before they were wanted
	DraftBytes float64 `json:"draft_bytes_per_token"`
}

// Run asks every question with every number of contexts. Another text is an error.
func (h Hedge) Run(ctx context.Context, progress Progress) ([]HedgeRow, error) {
	var rows []HedgeRow
	done := 0
	for _, rtt := range h.RTT {
		link := netem.Config{Delay: rtt / 2}
		l, err := h.connect(Path{Link: [2]netem.Config{link, link}}, [2]time.Duration{h.Decode, h.Decode})
		if err != nil {
			return nil, err
		}
		texts := make([]string, len(h.Questions))
		for _, contexts := range h.Contexts {
			l.bench.Settings.Contexts = contexts
			row, err := h.row(ctx, l, texts)
			if err != nil {
				l.close()
				return nil, err
			}
			row.RTT, row.Contexts = rtt.Seconds()*1e3, contexts
			row.Ratio = 1
			if first := len(rows) / len(h.Contexts) * len(h.Contexts); first < len(rows) {
				row.Ratio = rows[first].TokenMs / row.TokenMs
			}
			rows = append(rows, row)
			if done++; progress != nil {
				progress(done, len(h.RTT)*len(h.Contexts))
			}
		}
		if err := l.close(); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// row asks every question once. texts are the answers of the row before, to be filled in by the first.
func (h Hedge) row(ctx context.Context, l *live, texts []string) (r HedgeRow, err error) {
	var took time.Duration
	gaps, drafted, ahead, bytes := 0, 0, 0, uint64(0)
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
		drafted, ahead, bytes = drafted+a.Pair.Drafted, ahead+a.Pair.Ahead, bytes+a.Link.DraftBytes
	}
	r.TokenMs = took.Seconds() * 1e3 / float64(max(1, gaps))
	r.Ahead, r.DraftBytes = float64(ahead)/float64(max(1, drafted)), float64(bytes)/float64(max(1, r.Tokens))
	return r, nil
}

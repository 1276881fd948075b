package node

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/model"
	"tandem/models"
	"tandem/npu/native"
	"tandem/profiler"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/specdec"
)

var draftQuestions = flag.Int("questions", 4, "how many questions TestDraftsInVirtualTime asks, evenly spread over models.Eval")

// Guesses change the time of an answer and not its text. In virtual time a paced pass takes as long as it should and computing
// takes nothing, so the ratios are those of the passes, whatever else this machine does: run it with -v -questions 200 for the
// figures. Both sides decode over generated documents, 100 ms apart.
func TestDraftsInVirtualTime(t *testing.T) {
	m, err := model.OpenBytes("reader", models.Decoder, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	questions := evalQuestions(t, *draftQuestions)
	for _, pace := range [][2]time.Duration{{30 * time.Millisecond, 30 * time.Millisecond}, {150 * time.Millisecond, 30 * time.Millisecond}} {
		t.Run(fmt.Sprint(pace), func(t *testing.T) { compareDrafts(t, m, questions, pace) })
	}
}

// compareDrafts asks all questions with chains of prompt lookup and with trees of the default drafters.
func compareDrafts(t *testing.T, m *model.Model, questions []evalQuestion, pace [2]time.Duration) {
	chains, trees := &drafting{rows: 4, set: specdec.WithLookup, delay: 50 * time.Millisecond}, &drafting{rows: tandem.MaxRows, past: [2]*Past{{}, {}}, delay: 50 * time.Millisecond}
	var sum [2]time.Duration
	worst, at, slower := 9.0, "", 0
	for i, q := range questions {
		before, was := chains.ask(t, m, q, pace, i)
		after, is := trees.ask(t, m, q, pace, i)
		if !slices.Equal(was, is) {
			t.Fatalf("%s: %v with chains, %v with trees", q.Question, was, is)
		}
		sum[0], sum[1] = sum[0]+before, sum[1]+after
		if ratio := before.Seconds() / max(after, time.Millisecond).Seconds(); before > 0 {
			if ratio < worst {
				worst, at = ratio, q.Question
			}
			if ratio < .98 {
				slower++
				t.Logf("%.2f: %s (%v, %v, %d tokens)", ratio, q.Question, before, after, len(is))
			}
		}
	}
	t.Logf("%v: %d questions, pld/4 %v, auto/32 %v, ratio %.2f, worst %.2f (%s), %d below .98", pace, len(questions), sum[0], sum[1], sum[0].Seconds()/sum[1].Seconds(), worst, at, slower)
}

// The default pair takes at most .9 of the time of DRAGON's greedy placement with our hand-over rule, γ chosen and one
// token a pass, at any distance and speed of the sides; -questions 200 takes 50 for each cell. At temperature 0, all
// couplings are the same. The paper's texts depend on timing, so times are by the token.
func TestPaperInVirtualTime(t *testing.T) {
	m, err := model.OpenBytes("reader", models.Decoder, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	questions := evalQuestions(t, max(*draftQuestions/4, 1))
	for _, pace := range [][2]time.Duration{{30, 30}, {60, 30}, {150, 30}, {30, 150}} {
		for side := range pace {
			pace[side] *= time.Millisecond
		}
		for _, rtt := range []time.Duration{0, 50 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond} {
			paper := &drafting{rows: 1, set: specdec.Off, delay: rtt / 2, placement: tandem.PlaceGreedy, coupling: tandem.CouplingSpeculative}
			ours := &drafting{rows: tandem.MaxRows, past: [2]*Past{{}, {}}, delay: rtt / 2}
			var perToken [2]time.Duration
			for of, d := range []*drafting{paper, ours} {
				tokens := 0
				for i, q := range questions {
					took, said := d.ask(t, m, q, pace, i)
					perToken[of], tokens = perToken[of]+took, tokens+len(said)-1
				}
				perToken[of] /= time.Duration(max(tokens, 1))
			}
			ratio := perToken[1].Seconds() / perToken[0].Seconds()
			if t.Logf("%v, %v: %.1f ms a token, the paper %.1f, ratio %.2f", pace, rtt, perToken[1].Seconds()*1e3, perToken[0].Seconds()*1e3, ratio); ratio > .9 {
				t.Errorf("%v, %v: want at most .9", pace, rtt)
			}
		}
	}
}

// drafting is what both sides draft with, what answers have taught them, and how they agree.
type drafting struct {
	rows      int // 1 for passes of one place
	set       specdec.Set
	past      [2]*Past
	delay     time.Duration
	placement tandem.Placement
	coupling  tandem.Coupling
}

// evalQuestion is a question with both sides' passages.
type evalQuestion struct {
	Question      string
	Device, Cloud []passages.Passage
}

// sides returns the passages by side.
func (q evalQuestion) sides() [2][]passages.Passage {
	return [2][]passages.Passage{q.Device, q.Cloud}
}

func evalQuestions(t *testing.T, n int) (out []evalQuestion) {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(models.Eval), []byte("\n"))
	n = min(n, len(lines))
	for i := range n {
		var q evalQuestion
		if err := json.Unmarshal(lines[i*len(lines)/n], &q); err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}

// ask returns the time from the answer's first token to its last, and its tokens.
func (d *drafting) ask(t *testing.T, m *model.Model, q evalQuestion, pace [2]time.Duration, seed int) (took time.Duration, tokens []tandem.Token) {
	t.Helper()
	cfg := toyConfig(d.placement, d.coupling, uint64(seed), true)
	cfg.PassPlaces, cfg.Grounded, cfg.Documents, cfg.Nucleus, cfg.Support = min(4, d.rows), true, 4, .9, 16
	cfg.Gamma = tandem.AutoGamma // of the paper's coupling
	c := &cable{delay: d.delay, orders: true, past: d.past}
	for side, list := range q.sides() {
		local := Local{Model: m, Scorer: search.Lexical(), Draft: d.set, Rows: d.rows, Past: d.past[side], Pace: pace[side]}
		if cfg.Settings.MaxTokens = 48; side == 0 {
			known := Profile{RTT: 2 * d.delay, Length: 1, Decode: profiler.DecodeDelay{C: pace[0].Seconds()}}
			cfg.Lookahead = max(known.lookahead(local.tokensPerPass(cfg.Settings)), 16) // the paper's best
			own := local.pairConfig(cfg.Settings, tandem.Device)
			cfg = own
		}
		r, err := local.prefill(t.Context(), Question{Text: q.Question}, cfg.Settings, list, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		c.spans[side] = r
	}
	synctest.Test(t, func(t *testing.T) {
		var first, last time.Time
		tokens, _ = converse(t, cfg, c, 0, func(n int) {
			if last = time.Now(); n == 1 {
				first = last
			}
		})
		took = last.Sub(first)
	})
	return took, tokens
}

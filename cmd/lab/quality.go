package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/aggregator"
	"tandem/cmd/internal/cli"
	"tandem/decoder"
	"tandem/model"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

type qualityCmd struct {
	cli.ModelFlags `group:"Model:"`
	Sets           []string `help:"What to ask: one-part, two-part, unanswerable, follow-up (generated worlds), xquad." default:"one-part,two-part,unanswerable,follow-up" placeholder:"SET"`
	Methods        []string `help:"Who answers, see below; without it all but given. With --wikitext: one-context, device-context, cloud-context, output, sequence; without it all." placeholder:"METHOD"`
	Weights        []string `help:"Document weights; the pair is measured with each, the other methods with the first." default:"reader" sep:";" placeholder:"WEIGHTS"`
	Set            string   `help:"Worlds of your own, as JSON lines, gzipped or not; without it those that ship with the program." type:"existingfile" placeholder:"FILE"`
	Xquad          string   `help:"Questions in SQuAD's form for the set xquad; without it shared/data/qa/xquad.en.half.json, if it is there." type:"existingfile" placeholder:"FILE"`
	Wikitext       bool     `help:"Measure bits per byte on WikiText-2 (shared/data/wikitext2) with 0 to 16 documents instead; --n bounds the windows of text."`
	N              int      `help:"Questions of each set; 0 for all." default:"100"`
	Documents      int      `help:"Passages that each side retrieves." default:"4"`
	cli.PassageFlags
	Fit    bool   `help:"Fit the constants of the reader weights on the questions instead of answering them." env:"-"`
	Wrong  bool   `help:"Print the pair's answers that are wrong."`
	Tokens int    `help:"Most tokens of an answer." default:"96"`
	File   string `arg:"" optional:"" type:"path" help:"With --json: the file that the rows go to; without it, standard output."`
}

func (c *qualityCmd) Help() string {
	return `Examples:
  lab quality
  lab quality --n 0 --json quality.json
  lab quality --wikitext --n 50
  lab quality --methods pair --weights "static;rescore:1,0;rescore;sentence;likelihood;sentence+likelihood;reader"
  lab quality --sets xquad --model qwen2.5-1.5b-instruct-q4_k_m.gguf --passage-words 64
  python3 -m train.heldout --worlds 60 --seed mine mine.jsonl.gz && lab quality --set mine.jsonl.gz --fit

Documents are cut, indexed and retrieved as a user's are. Methods: device, cloud: that side alone. pair: both, in lock step. one-side: all retrieved passages
on one side (output aggregation). device-context, cloud-context: one side alone, its passages in one context (DRAGON's CRCG). one-context: the passages of both
sides in one context (DRCG). The built-in reader was trained on contexts of one passage, some of two: these three show it longer ones than it knows. sequence-thorough,
sequence-fast: each side writes a whole answer alone, and one of the two is taken (DRDG/SW; RAG-Sequence has both rules). Thorough: the one to which both sides
together give more probability. Fast: each is judged by the side that wrote it, which costs one message; "edge ask --method drdg-sw" does this.
given: the pair, but of the retrieved passages only those that hold the answer: what retrieval and weights leave to gain. All greedy.

Weights: "rescore:1,0" is DRAGON's own, which scores the passages anew before each token; "rescore" alone scores every 8 tokens with momentum 0.5.

exact_match: the answer is an expected one (unanswerable: it says that it does not know). f1: token overlap with the nearest expected answer, after SQuAD's
normalisation. holds: it contains all that it must hold. refused: it says that it does not know. xquad compares after that normalisation; its passages are
dealt to the two sides in turn.

--wikitext: one-context has all documents in one context (DRCG), device-context and cloud-context one side's half of them (CRCG); output mixes them token by
token, as a pair does (DRAGON), sequence the two sides' whole texts, η by η (DRDG/SW, thorough). Of documents that exceed the
model's context, the least relevant are cut.

A line of --set: {"device": [{"name","text"}], "cloud": [...], "questions": [{"kind","where","question","answer","values"}]}; a question of the
set follow-up also has "earlier": [{"question","answer"}].`
}

// qualityRow is one measurement.
type qualityRow struct {
	Set     string  `json:"set"`
	Method  string  `json:"method"`
	Weights string  `json:"weights"`
	N       int     `json:"n"`
	Exact   float64 `json:"exact_match"`
	F1      float64 `json:"f1"`
	Holds   float64 `json:"holds"`
	Refused float64 `json:"refused"`
}

// trial is a question with what each side retrieved for it.
type trial struct {
	asked
	sides [2][]passages.Passage
}

func (c *qualityCmd) Run(a *cli.App) error {
	if err := a.CheckJSONFile(c.File); err != nil {
		return err
	}
	if c.N < 0 || c.Documents < 0 || c.Tokens < 1 {
		return fmt.Errorf("--n %d, --documents %d, --tokens %d: want 0 or more, and 1 token or more", c.N, c.Documents, c.Tokens)
	}
	possible, usual := qualityMethods, qualityMethods[:len(qualityMethods)-1]
	if c.Wikitext {
		possible, usual = wikitextMethods, wikitextMethods
	}
	if len(c.Methods) == 0 {
		c.Methods = usual
	}
	for _, m := range c.Methods {
		if !slices.Contains(possible, m) {
			return fmt.Errorf("--methods %s: use %s", m, strings.Join(possible, ", "))
		}
	}
	if c.Wikitext {
		return c.wikitext(a)
	}
	weights, err := c.weights()
	if err != nil {
		return err
	}
	trials, err := c.trials(a)
	if err != nil {
		return err
	}
	m, err := c.Open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	q := quality{cfg: decoder.Config{Model: m, Scorer: search.Lexical(), MaxTokens: c.Tokens}}
	if c.Fit {
		return c.fit(a, q, trials)
	}
	start, bar := time.Now(), progress(a, "questions")
	sums := map[[3]string]*qualityRow{}
	var order [][3]string
	for i, t := range trials {
		if time.Since(start) > 2*time.Second {
			bar(i, len(trials))
		}
		for _, method := range c.Methods {
			for j, w := range weights {
				if j > 0 && method != "pair" {
					break
				}
				q.cfg.Weights = w
				answer, err := q.answer(a, t, method)
				if err != nil {
					return fmt.Errorf("%q, %s: %w", t.Question, method, err)
				}
				key := [3]string{t.Kind, method, c.Weights[j]}
				if sums[key] == nil {
					sums[key] = &qualityRow{Set: t.Kind, Method: method, Weights: w.String()}
					order = append(order, key)
				}
				right := sums[key].add(t.asked, answer)
				if c.Wrong && !right && (method == "pair" || method == "given") {
					a.Clear()
					t.printWrong(a.Out, method, answer)
				}
			}
		}
	}
	a.Clear()
	rows := []qualityRow{}
	for _, key := range order {
		r := *sums[key]
		n := float64(r.N)
		r.Exact, r.F1, r.Holds, r.Refused = r.Exact/n, r.F1/n, r.Holds/n, r.Refused/n
		rows = append(rows, r)
	}
	return c.report(a, m, rows, time.Since(start))
}

func (c *qualityCmd) weights() ([]decoder.Weights, error) {
	var out []decoder.Weights
	for _, name := range c.Weights {
		w, err := decoder.ParseWeights(name)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// report prints the rows, or writes them where --json wants them.
func (c *qualityCmd) report(a *cli.App, m *model.Model, rows []qualityRow, took time.Duration) error {
	if a.Globals.JSON {
		return c.writeJSON(a, map[string]any{"model": m.Config().Name, "rows": rows, "seconds": took.Seconds(), "command": commandLine()})
	}
	fmt.Fprintf(a.Out, "%s, greedy, %d passages a side, %v\n\n", m.Config().Name, c.Documents, took.Round(time.Second))
	fmt.Fprintf(a.Out, "%-14s %-17s %-24s %5s %7s %7s %7s %8s\n", "set", "method", "weights", "n", "exact", "f1", "holds", "refused")
	for _, r := range rows {
		fmt.Fprintf(a.Out, "%-14s %-17s %-24s %5d %7.3f %7.3f %7.3f %8.3f\n", r.Set, r.Method, shownWeights(r.Weights), r.N, r.Exact, r.F1, r.Holds, r.Refused)
	}
	if oneContext := func(r qualityRow) bool { return strings.HasSuffix(r.Method, "-context") }; c.Model == "" && slices.ContainsFunc(rows, oneContext) {
		fmt.Fprintf(a.Out, "\nThe built-in reader was trained on contexts of one or two passages; with %d on a side, the methods in one context show it more.\n", c.Documents)
	}
	return nil
}

// shownWeights is the name of weights in a table, with whose they are where two differ in parameters alone.
func shownWeights(name string) string {
	if name == "rescore:1,0" {
		return name + " (DRAGON)"
	}
	return name
}

func (c *qualityCmd) writeJSON(a *cli.App, whole any) error {
	return a.JSONTo(c.File, whole)
}

// trials retrieves the passages of both sides for the questions that were asked for.
func (c *qualityCmd) trials(a *cli.App) ([]trial, error) {
	var worlds []world
	if slices.ContainsFunc(c.Sets, func(s string) bool { return s != "xquad" }) {
		w, err := worldsFrom(c.Set)
		if err != nil {
			return nil, err
		}
		worlds = w
	}
	if slices.Contains(c.Sets, "xquad") {
		path := c.Xquad
		if path == "" {
			found, err := sharedFile("data/qa/xquad.en.half.json")
			if errors.Is(err, fs.ErrNotExist) {
				a.Remark("xquad is left out: %v (name a file with --xquad)", err)
			} else if err != nil {
				return nil, err
			}
			path = found
		}
		if path != "" {
			w, err := xquad(path)
			if err != nil {
				return nil, err
			}
			worlds = append(worlds, w)
		}
	}
	seen := map[string]int{}
	var out []trial
	for _, w := range worlds {
		var sides [2]*search.Index
		kept := slices.DeleteFunc(w.Questions, func(q asked) bool {
			if !slices.Contains(c.Sets, q.Kind) || c.N > 0 && seen[q.Kind] >= c.N {
				return true
			}
			seen[q.Kind]++
			return false
		})
		if len(kept) == 0 {
			continue
		}
		sides, err := w.index(a, c.PassageWords)
		for i := 0; err == nil && i < len(kept); i++ {
			t := trial{asked: kept[i]}
			for k, x := range sides {
				found, e := x.Search(a, t.node().Search(), c.Documents)
				t.sides[k], err = found, errors.Join(err, e)
			}
			out = append(out, t)
		}
		for _, x := range sides {
			if x != nil {
				x.Close()
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no questions of the sets %s", strings.Join(c.Sets, ", "))
	}
	return out, nil
}

// qualityMethods are who answers, with given last, which nobody could do.
var qualityMethods = []string{"device", "cloud", "pair", "one-side", "device-context", "cloud-context", "one-context", "sequence-thorough", "sequence-fast", "given"}

// given leaves the passages of each side that hold what the answer must hold.
func (t trial) given() trial {
	for i, passages := range t.sides {
		t.sides[i] = nil
		for _, p := range passages {
			if slices.ContainsFunc(t.Values, func(v string) bool { return holdsWord(p.Title+"\n"+p.Text, v) }) {
				t.sides[i] = append(t.sides[i], p)
			}
		}
	}
	return t
}

// printWrong prints a wrong answer with the passages that it should have been drawn from.
func (t trial) printWrong(w io.Writer, method, answer string) {
	fmt.Fprintf(w, "%s, %s: %s\n  want %s\n  got  %s\n", t.Kind, method, t.Question, strings.Join(t.golds(), " | "), answer)
	for _, v := range t.Values {
		found := false
		for i, passages := range t.sides {
			for _, p := range passages {
				if holdsWord(p.Title+"\n"+p.Text, v) {
					found = true
					fmt.Fprintf(w, "  %v: [%s] %s\n", tandem.Side(i), p.Title, strings.ReplaceAll(p.Text, "\n", " / "))
				}
			}
		}
		if !found {
			fmt.Fprintf(w, "  no retrieved passage holds %q\n", v)
		}
	}
}

// quality answers questions in this process.
type quality struct{ cfg decoder.Config }

// answer is the greedy answer to t by a method.
func (q quality) answer(ctx context.Context, t trial, method string) (string, error) {
	all := slices.Concat(t.sides[0], t.sides[1])
	switch method {
	case "device":
		return q.write(ctx, t.asked, t.sides[:1], 0)
	case "cloud":
		return q.write(ctx, t.asked, t.sides[1:], 0)
	case "one-side":
		return q.write(ctx, t.asked, [][]passages.Passage{all}, 0)
	case "one-context":
		return q.write(ctx, t.asked, [][]passages.Passage{all}, 1)
	case "device-context":
		return q.write(ctx, t.asked, t.sides[:1], 1)
	case "cloud-context":
		return q.write(ctx, t.asked, t.sides[1:], 1)
	case "sequence-thorough":
		return q.sequence(ctx, t, true)
	case "sequence-fast":
		return q.sequence(ctx, t, false)
	case "given":
		t = t.given()
	}
	return q.write(ctx, t.asked, t.sides[:], 0)
}

// open reads the passages of one side.
func (q quality) open(ctx context.Context, question asked, passages []passages.Passage, rows int) (*decoder.Decoder, error) {
	cfg := q.cfg
	cfg.Rows = rows
	return decoder.New(ctx, cfg, decoder.Request{Question: question.Question, History: question.node().History, Passages: passages})
}

// write answers from one side's passages, or from two in lock step.
func (q quality) write(ctx context.Context, question asked, sides [][]passages.Passage, rows int) (string, error) {
	var ds [2]*decoder.Decoder
	for i, passages := range sides {
		d, err := q.open(ctx, question, passages, rows)
		if err != nil {
			return "", err
		}
		defer d.Close()
		ds[i] = d
	}
	tok := q.cfg.Model.Tokenizer()
	targets, err := decoder.Plain(ctx, ds[0], ds[1], aggregator.Rule{Greedy: true}, tok.EOGs(), q.cfg.MaxTokens)
	if err != nil {
		return "", err
	}
	var ids []tandem.Token
	for _, t := range targets {
		ids = append(ids, t.Token)
	}
	return strings.TrimSpace(tok.Decode(ids)), nil
}

// unseen is the probability of a token that a side's nucleus leaves out.
const unseen = 1e-4

// sequence lets each side write an answer alone and takes one of the two: DRDG/SW (DRAGON §7.1), by one of the rules of
// RAG-Sequence. Thorough decoding takes the answer y with the greater Σ_s η^s p^s(y), with the η of the question. Fast
// decoding takes p^s(y) as 0 where side s did not write y, so that no side has to score the other's answer.
func (q quality) sequence(ctx context.Context, t trial, thorough bool) (string, error) {
	var texts [2]string
	for i := range t.sides {
		text, err := q.write(ctx, t.asked, t.sides[i:i+1], 0)
		if err != nil {
			return "", err
		}
		texts[i] = text
	}
	var best string
	most := math.Inf(-1)
	for i, text := range texts {
		score := math.Inf(-1)
		for j := range t.sides {
			if !thorough && texts[j] != text {
				continue
			}
			p, h, err := q.judge(ctx, t.asked, t.sides[j], text)
			if err != nil {
				return "", err
			}
			score = logSum(score, h+p)
		}
		if i == 0 || score > most {
			best, most = text, score
		}
	}
	return best, nil
}

// judge returns log p^s of an answer, and h^s before it.
func (q quality) judge(ctx context.Context, question asked, passages []passages.Passage, answer string) (p, h float64, err error) {
	d, err := q.open(ctx, question, passages, 0)
	if err != nil {
		return 0, 0, err
	}
	defer d.Close()
	tok := q.cfg.Model.Tokenizer()
	ids := append(answerTokens(q.cfg.Model, answer), tok.EOGs()[0])
	for i, id := range ids {
		var last []tandem.Token
		if i > 0 {
			last = ids[i-1 : i]
		}
		out, err := d.Next(ctx, max(i-1, 0), last)
		if err != nil {
			return 0, 0, err
		}
		if i == 0 {
			h = out.H.Float()
		}
		share := unseen
		for k, t := range out.Dist.IDs {
			if t == id {
				share = float64(out.Dist.Weights[k]) / tandem.Mass
			}
		}
		p += math.Log(share)
	}
	return p, h, nil
}

func logSum(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

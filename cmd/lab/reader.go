package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/aggregator"
	"tandem/cmd/internal/cli"
	"tandem/decoder"
	"tandem/examples"
	"tandem/model/sample"
	"tandem/models"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

type benchCmd struct {
	Reader  readerCmd  `cmd:"" help:"Exact match of a model on questions whose passages are given: each side alone, and the pair."`
	Samples samplesCmd `cmd:"" help:"The same on the sample documents, with search."`
	Quality qualityCmd `cmd:"" help:"Exact match and F1 over documents that are indexed and retrieved: each side, the pair, and other ways to answer."`
	Engine  engineCmd  `cmd:"" help:"Speed of a model on this machine: prefill, decoding, several rows at once."`
	Spec    specCmd    `cmd:"" help:"Speculative decoding: accept lengths, speed, what became of the rows."`
}

// readingFlags are those of both measurements.
type readingFlags struct {
	cli.ModelFlags `group:"Model:"`
	Weights        string `help:"How document weights follow the answer." default:"reader"`
	Wrong          bool   `help:"Print the answers that are wrong."`
}

type readerCmd struct {
	readingFlags
	Items string   `help:"Questions, as JSON lines; without it those that ship with the program, held out from the training of the built-in model." type:"existingfile" placeholder:"FILE"`
	Kinds []string `help:"Only these kinds of questions." placeholder:"KIND"`
	Limit int      `help:"At most this many questions of each kind; 0 for all." default:"0"`
}

func (c *readerCmd) Help() string {
	return `Examples:
  lab reader
  lab reader --kinds two-split --weights static --wrong
  lab reader --items my.jsonl --model qwen2.5-0.5b-instruct-q4_k_m.gguf

A line of FILE: {"kind", "device": [{"title","text"}], "cloud": [{"title","text"}], "question", "answer", "values": ["…"]}.
exact: the answer is the expected text. values: it holds all expected values, or says "unknown" where there are none. The two sides run in lock step in this
process, greedily; their documents are those of the line, so retrieval is not measured.`
}

// item is one question with the passages of both sides.
type item struct {
	Kind     string
	Device   []document
	Cloud    []document
	Question string
	Answer   string
	Values   []string
}

type document struct{ Title, Text string }

// score of the questions of one kind.
type score struct {
	Kind   string  `json:"kind"`
	N      int     `json:"n"`
	Exact  float64 `json:"exact"`        // the pair gives the expected answer
	Values float64 `json:"values"`       // the pair's answer holds all expected values
	Device float64 `json:"device_alone"` // the device's holds them
	Cloud  float64 `json:"cloud_alone"`  // the cloud's holds them
}

func (c *readerCmd) Run(a *cli.App) error {
	items, err := c.items()
	if err != nil {
		return err
	}
	return c.readingFlags.run(a, items)
}

type samplesCmd struct {
	readingFlags
	Documents int `help:"Passages that each side retrieves." default:"4"`
	cli.PassageFlags
}

func (c *samplesCmd) Help() string {
	return `Examples:
  lab samples
  lab samples --weights static --wrong

Kinds: which side's documents hold the answer (device, cloud, both, none), and whether one or two things are asked.`
}

func (c *samplesCmd) Run(a *cli.App) error {
	items, err := c.items(a)
	if err != nil {
		return err
	}
	return c.readingFlags.run(a, items)
}

// items are the questions about the sample documents, with the passages that each side finds.
func (c *samplesCmd) items(a *cli.App) ([]item, error) {
	var sides [2]*search.Index
	for i, corpus := range []fs.FS{examples.Notes, examples.Public} {
		x, err := cli.Sample(a, corpus, c.PassageFlags)
		if err != nil {
			return nil, err
		}
		defer x.Close()
		sides[i] = x
	}
	var items []item
	lines := json.NewDecoder(bytes.NewReader(examples.Questions))
	for lines.More() {
		var q struct {
			Question, Answer string
			Device, Cloud    bool
			Values           []string
		}
		if err := lines.Decode(&q); err != nil {
			return nil, fmt.Errorf("sample questions: %w", err)
		}
		it := item{Kind: sampleKind(q.Device, q.Cloud, len(q.Values)), Question: q.Question, Answer: q.Answer, Values: q.Values}
		for i, docs := range []*[]document{&it.Device, &it.Cloud} {
			hits, err := sides[i].Search(a, q.Question, c.Documents)
			if err != nil {
				return nil, err
			}
			for _, h := range hits {
				*docs = append(*docs, document{h.Title, h.Text})
			}
		}
		items = append(items, it)
	}
	return items, nil
}

func sampleKind(device, cloud bool, values int) string {
	where := [...]string{"none", "device", "cloud", "both"}[b2i(device)+2*b2i(cloud)]
	if values > 1 {
		return where + ", two parts"
	}
	return where + ", one part"
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// run asks the questions and prints the scores.
func (c *readingFlags) run(a *cli.App, items []item) error {
	weights, err := decoder.ParseWeights(c.Weights)
	if err != nil {
		return err
	}
	m, err := c.Open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	cfg := decoder.Config{Model: m, Scorer: search.Lexical(), Weights: weights, TopP: decoder.DefaultTopP, MaxTokens: 128, Sampling: sample.Params{}}
	scores, start := map[string]*score{}, time.Now()
	for i, it := range items {
		if time.Since(start) > 2*time.Second {
			a.Progress("%d of %d questions", i, len(items))
		}
		if err := c.try(a, cfg, it, scores); err != nil {
			return fmt.Errorf("question %d (%q): %w", i+1, it.Question, err)
		}
	}
	a.Clear()
	var rows []score
	for _, s := range scores {
		n := float64(s.N)
		s.Exact, s.Values, s.Device, s.Cloud = s.Exact/n, s.Values/n, s.Device/n, s.Cloud/n
		rows = append(rows, *s)
	}
	slices.SortFunc(rows, func(a, b score) int { return cmp.Compare(a.Kind, b.Kind) })
	if a.Globals.JSON {
		return a.JSON(map[string]any{"model": m.Config().Name, "weights": weights.String(), "rows": rows, "seconds": time.Since(start).Seconds()})
	}
	fmt.Fprintf(a.Out, "%s, %s weights, greedy, %d questions in %v\n\n", m.Config().Name, weights, len(items), time.Since(start).Round(time.Second))
	fmt.Fprintf(a.Out, "%-19s %5s %8s %8s %13s %12s\n", "kind", "n", "exact", "values", "device alone", "cloud alone")
	for _, s := range rows {
		fmt.Fprintf(a.Out, "%-19s %5d %8.3f %8.3f %13.3f %12.3f\n", s.Kind, s.N, s.Exact, s.Values, s.Device, s.Cloud)
	}
	return nil
}

// items reads the questions that were asked for.
func (c *readerCmd) items() ([]item, error) {
	name, in := "the built-in questions", io.Reader(bytes.NewReader(models.Eval))
	if c.Items != "" {
		f, err := os.Open(c.Items)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		name, in = c.Items, f
	}
	var items []item
	seen := map[string]int{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 4<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var it item
		if err := json.Unmarshal(lines.Bytes(), &it); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		if it.Question == "" {
			return nil, fmt.Errorf("%s, line %d: no question", name, n)
		}
		if len(c.Kinds) > 0 && !slices.Contains(c.Kinds, it.Kind) {
			continue
		}
		if seen[it.Kind]++; c.Limit > 0 && seen[it.Kind] > c.Limit {
			continue
		}
		items = append(items, it)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(items) == 0 {
		return nil, errors.New("no questions of these kinds")
	}
	return items, nil
}

// try asks one question of the pair and of each side that has documents, and counts.
func (c *readingFlags) try(a *cli.App, cfg decoder.Config, it item, scores map[string]*score) error {
	s := scores[it.Kind]
	if s == nil {
		s = &score{Kind: it.Kind}
		scores[it.Kind] = s
	}
	s.N++
	pair, err := answerWith(a, cfg, it.Question, it.Device, it.Cloud)
	if err != nil {
		return err
	}
	if pair == strings.TrimSpace(it.Answer) {
		s.Exact++
	} else if c.Wrong && len(it.Values) > 0 {
		fmt.Fprintf(a.Out, "%s: %s\n  want %s\n  got  %s\n", it.Kind, it.Question, it.Answer, pair)
	}
	if holds(pair, it.Values) {
		s.Values++
	}
	for side, docs := range [][]document{it.Device, it.Cloud} {
		if len(docs) == 0 {
			continue
		}
		alone, err := answerWith(a, cfg, it.Question, docs, nil)
		if err != nil {
			return err
		}
		if holds(alone, it.Values) {
			*[]*float64{&s.Device, &s.Cloud}[side]++
		}
	}
	return nil
}

// answerWith is the greedy answer of one side, or of two in lock step.
func answerWith(ctx context.Context, cfg decoder.Config, question string, first, second []document) (string, error) {
	var sides [2]*decoder.Decoder
	for i, docs := range [][]document{first, second} {
		if len(docs) == 0 {
			continue
		}
		d, err := decoder.New(ctx, cfg, decoder.Request{Question: question, Passages: passagesOf(docs)})
		if err != nil {
			return "", err
		}
		defer d.Close()
		sides[i] = d
	}
	if sides[0] == nil {
		sides[0], sides[1] = sides[1], nil
	}
	if sides[0] == nil {
		return "", errors.New("no documents")
	}
	tok := cfg.Model.Tokenizer()
	targets, err := decoder.Plain(ctx, sides[0], sides[1], aggregator.Rule{Greedy: true}, tok.EOGs(), cfg.MaxTokens)
	if err != nil {
		return "", err
	}
	var ids []tandem.Token
	for _, t := range targets {
		ids = append(ids, t.Token)
	}
	return strings.TrimSpace(tok.Decode(ids)), nil
}

func passagesOf(docs []document) []passages.Passage {
	var out []passages.Passage
	for _, d := range docs {
		out = append(out, passages.Passage{Title: d.Title, Text: d.Text})
	}
	return out
}

// holds reports whether text contains every value, not as a part of a longer word or number. Where there is
// none to know, it reports whether text says so.
func holds(text string, values []string) bool {
	if len(values) == 0 {
		return strings.Contains(text, "unknown")
	}
	for _, v := range values {
		if !holdsWord(text, v) {
			return false
		}
	}
	return true
}

func holdsWord(text, value string) bool {
	for at := 0; at <= len(text); {
		i := strings.Index(text[at:], value)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(value)
		if (from == 0 || !wordByte(text[from-1])) && (to == len(text) || !wordByte(text[to])) {
			return true
		}
		at = from + 1
	}
	return false
}

// wordByte reports bytes that join what stands on both sides into one word; a full stop or colon after a
// value does not, and bytes above ASCII do.
func wordByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/model"
	"tandem/model/chat"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// wikitextRow is bits per byte of a method with so many documents (DRAGON Fig. 5).
type wikitextRow struct {
	Set         string  `json:"set"`
	Method      string  `json:"method"`
	Weights     string  `json:"weights"`
	N           int     `json:"n"` // windows
	Documents   int     `json:"documents"`
	BitsPerByte float64 `json:"bits_per_byte"`
}

// Words of a window: those that documents are looked up by, and those that are predicted.
const (
	givenWords     = 48
	predictedWords = 32
)

var wikitextDocuments = []int{0, 1, 2, 4, 8, 16}

// wikitextMethods are those of DRAGON Fig. 5: in one context the passages of both sides (DRCG), or one side's half of
// them (CRCG); mixed token by token (output, as the pair mixes its sides before they are cut to nuclei). The figure leaves
// out DRDG, which it takes for the same; whole sequences of the two sides mixed (sequence, DRDG/SW) are not quite.
var wikitextMethods = []string{"one-context", "device-context", "cloud-context", "output", "sequence"}

// wikitext measures how well the text of WikiText-2's test part is predicted with passages of its valid part, which
// are dealt to the two sides in turn.
func (c *qualityCmd) wikitext(a *cli.App) error {
	dir, err := sharedFile("data/wikitext2")
	if err != nil {
		return fmt.Errorf("--wikitext: %w: put wiki.test.raw and wiki.valid.raw there", err)
	}
	test, err := readWhole(filepath.Join(dir, "wiki.test.raw"))
	if err != nil {
		return err
	}
	valid, err := readWhole(filepath.Join(dir, "wiki.valid.raw"))
	if err != nil {
		return err
	}
	m, err := c.Open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	x, err := search.Memory(search.Options{Words: c.PassageWords})
	if err != nil {
		return err
	}
	defer x.Close()
	if _, err := x.AddFS(a, fstest.MapFS{"valid.txt": {Data: valid}}, "."); err != nil {
		return err
	}
	sums := map[string]map[int]float64{}
	for _, method := range wikitextMethods {
		sums[method] = map[int]float64{}
	}
	bytes, windows, bar := 0, 0, progress(a, "windows")
	paragraphs := strings.Split(string(test), "\n")
	for _, p := range paragraphs {
		words := strings.Fields(p)
		if len(words) < givenWords+predictedWords || c.N > 0 && windows == c.N {
			continue
		}
		given, predicted := strings.Join(words[:givenWords], " "), " "+strings.Join(words[givenWords:givenWords+predictedWords], " ")
		hits, err := x.Search(a, given, wikitextDocuments[len(wikitextDocuments)-1])
		if err != nil {
			return err
		}
		for _, k := range wikitextDocuments {
			bits, err := predict(a, m, hits[:min(k, len(hits))], given, predicted)
			if err != nil {
				return err
			}
			for method, b := range bits {
				sums[method][k] += b
			}
		}
		bytes += len(predicted)
		windows++
		bar(windows, max(c.N, windows))
	}
	a.Clear()
	if windows == 0 {
		return fmt.Errorf("%s has no paragraph of %d words", filepath.Join(dir, "wiki.test.raw"), givenWords+predictedWords)
	}
	var rows []wikitextRow
	for _, method := range c.Methods {
		for _, k := range wikitextDocuments {
			rows = append(rows, wikitextRow{"wikitext-2", method, "static", windows, k, sums[method][k] / float64(bytes)})
		}
	}
	if a.Globals.JSON {
		return c.writeJSON(a, map[string]any{"model": m.Config().Name, "rows": rows, "command": commandLine()})
	}
	fmt.Fprintf(a.Out, "%s, WikiText-2 test with passages of valid, %d windows\n\n%-14s %9s %14s\n", m.Config().Name, windows, "method", "documents", "bits per byte")
	for _, r := range rows {
		fmt.Fprintf(a.Out, "%-14s %9d %14.3f\n", r.Method, r.Documents, r.BitsPerByte)
	}
	return nil
}

// predict returns the bits that a text costs after another by each method.
func predict(ctx context.Context, m *model.Model, hits []passages.Passage, given, predicted string) (map[string]float64, error) {
	var rows [][]float64 // log p of each token, by document
	for _, h := range hits {
		logs, err := tokenLogs(ctx, m, h.Text+"\n", given, predicted)
		if err != nil {
			return nil, err
		}
		rows = append(rows, logs)
	}
	var texts [3]strings.Builder // of all documents, of the device's, of the cloud's; the most relevant is nearest
	for d := len(hits) - 1; d >= 0; d-- {
		fmt.Fprintln(&texts[0], hits[d].Text)
		fmt.Fprintln(&texts[1+d%2], hits[d].Text)
	}
	bits := map[string]float64{}
	for i := range texts {
		logs, err := tokenLogs(ctx, m, texts[i].String(), given, predicted)
		if err != nil {
			return nil, err
		}
		for _, l := range logs {
			bits[wikitextMethods[i]] -= l / math.Ln2
		}
		if len(hits) == 0 {
			rows, hits = [][]float64{logs}, make([]passages.Passage, 1)
		}
	}
	r := search.Lexical().Prepare(hits)(nil, given)
	all := math.Inf(-1)
	sides := [2]float64{math.Inf(-1), math.Inf(-1)} // h
	for d, x := range r {
		all, sides[d%2] = logSum(all, x), logSum(sides[d%2], x)
	}
	var output float64
	var sequences [2]float64
	for t := range rows[0] {
		mixed := math.Inf(-1)
		own := [2]float64{math.Inf(-1), math.Inf(-1)}
		for d, x := range r {
			mixed, own[d%2] = logSum(mixed, x-all+rows[d][t]), logSum(own[d%2], x-sides[d%2]+rows[d][t])
		}
		output += mixed
		for s := range own {
			sequences[s] += own[s]
		}
	}
	sequence := sides[0] - all + sequences[0]
	if len(r) > 1 {
		sequence = logSum(sequence, sides[1]-all+sequences[1])
	}
	bits["output"], bits["sequence"] = -output/math.Ln2, -sequence/math.Ln2
	return bits, nil
}

// tokenLogs returns log p of each token of predicted after document and given. What does not fit loses its
// beginning, but for the token that begins every text.
func tokenLogs(ctx context.Context, m *model.Model, document, given, predicted string) ([]float64, error) {
	tok := m.Tokenizer()
	head := append(chat.Encode(tok, document), answerTokens(m, given)...)
	tail := answerTokens(m, predicted)
	most := m.Config().Context - len(tail)
	if most < 1 {
		return nil, fmt.Errorf("the model's context of %d tokens does not hold a window's %d to predict; take another model", m.Config().Context, len(tail))
	}
	if over := len(head) - most; over > 0 {
		from := 0
		if bos, ok := tok.BOS(); ok && head[0] == bos {
			from = 1
		}
		head = slices.Delete(head, from, from+over)
	}
	out, err := m.Forward(ctx, []model.Input{{Seq: m.NewSeq(), Tokens: append(append([]tandem.Token(nil), head...), tail[:len(tail)-1]...), All: true}})
	if err != nil {
		return nil, err
	}
	logs := make([]float64, len(tail))
	for i, t := range tail {
		logits := out[len(head)-1+i]
		sum := math.Inf(-1)
		for _, l := range logits {
			sum = logSum(sum, float64(l))
		}
		logs[i] = float64(logits[t]) - sum
	}
	return logs, nil
}

package quality

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"tandem"
	"tandem/model"
	"tandem/model/chat"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// WikitextResult is the bits per byte of a method with a number of documents (DRAGON Fig. 5).
type WikitextResult struct {
	Set         string  `json:"set"`
	Method      string  `json:"method"`
	Weights     string  `json:"weights"`
	N           int     `json:"n"` // windows
	Documents   int     `json:"documents"`
	BitsPerByte float64 `json:"bits_per_byte"`
}

// A window is the first words of a paragraph: the given ones, for which documents are searched, and the predicted ones.
const (
	givenWords     = 48
	predictedWords = 32
)

var wikitextDocuments = []int{0, 1, 2, 4, 8, 16}

// WikitextMethods are the methods of DRAGON Fig. 5: the passages of both sides in one context (DRCG) or those of one side
// (CRCG), or the sides mixed token by token (output; the pair does the same with distributions cut to their nuclei). The
// figure leaves out DRDG as equal to output. Mixing whole sequences of the two sides (sequence, DRDG/SW) is not quite equal.
var WikitextMethods = []string{"one-context", "device-context", "cloud-context", "output", "sequence"}

// Wikitext measures how well a model predicts the test part of WikiText-2 with passages of its validation part, which go to
// the two sides in turn.
type Wikitext struct {
	Dir     string // holds wiki.test.raw and wiki.valid.raw
	Windows int    // at most; 0 for all
	Words   int    // words of a passage; 0 for a sentence
	Methods []string
}

// Measure measures the bits per byte. It also returns the number of windows.
func (w Wikitext) Measure(ctx context.Context, m *model.Model, progress func(done, total int)) ([]WikitextResult, int, error) {
	windows, err := w.windows()
	if err != nil {
		return nil, 0, err
	}
	x, err := w.index(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer x.Close()
	type point struct {
		method    string
		documents int
	}
	sums, bytes := map[point]float64{}, 0
	for i, window := range windows {
		found, err := x.Search(ctx, passages.Query{Text: window.given}, wikitextDocuments[len(wikitextDocuments)-1])
		if err != nil {
			return nil, 0, err
		}
		for _, k := range wikitextDocuments {
			bits, err := predict(ctx, m, found[:min(k, len(found))], window.given, window.predicted)
			if err != nil {
				return nil, 0, err
			}
			for method, b := range bits {
				sums[point{method, k}] += b
			}
		}
		bytes += len(window.predicted)
		progress(i+1, len(windows))
	}
	var out []WikitextResult
	for _, method := range w.Methods {
		for _, k := range wikitextDocuments {
			out = append(out, WikitextResult{"wikitext-2", method, "static", len(windows), k, sums[point{method, k}] / float64(bytes)})
		}
	}
	return out, len(windows), nil
}

// window is the beginning of a paragraph.
type window struct{ given, predicted string }

// windows returns windows of the test part, at most w.Windows.
func (w Wikitext) windows() (list []window, err error) {
	path := filepath.Join(w.Dir, "wiki.test.raw")
	test, err := readWhole(path)
	if err != nil {
		return nil, err
	}
	for paragraph := range strings.SplitSeq(string(test), "\n") {
		words := strings.Fields(paragraph)
		if len(words) < givenWords+predictedWords {
			continue
		}
		list = append(list, window{strings.Join(words[:givenWords], " "), " " + strings.Join(words[givenWords:givenWords+predictedWords], " ")})
		if len(list) == w.Windows {
			break
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no paragraph of %d words", path, givenWords+predictedWords)
	}
	return list, nil
}

// index returns an index of the validation part.
func (w Wikitext) index(ctx context.Context) (*search.Index, error) {
	valid, err := readWhole(filepath.Join(w.Dir, "wiki.valid.raw"))
	if err != nil {
		return nil, err
	}
	x, err := search.Memory(search.Options{Words: cmp.Or(w.Words, passages.SentenceWords)})
	if err != nil {
		return nil, err
	}
	if _, err := x.AddFS(ctx, fstest.MapFS{"valid.txt": {Data: valid}}, "."); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// predict returns, by method, the bits of the text predicted after the text given.
func predict(ctx context.Context, m *model.Model, hits []passages.Passage, given, predicted string) (map[string]float64, error) {
	var rows [][]float64 // log p of each token, by document
	for _, h := range hits {
		logs, err := tokenLogs(ctx, m, h.Text+"\n", given, predicted)
		if err != nil {
			return nil, err
		}
		rows = append(rows, logs)
	}
	var texts [3]strings.Builder // all documents, the device's, the cloud's; the most relevant last
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
			bits[WikitextMethods[i]] -= l / math.Ln2
		}
		if len(hits) == 0 {
			rows, hits = [][]float64{logs}, make([]passages.Passage, 1)
		}
	}
	output, sequence := mix(search.Lexical().Prepare(hits)(nil, given), rows)
	bits["output"], bits["sequence"] = -output/math.Ln2, -sequence/math.Ln2
	return bits, nil
}

// mix returns log p of a text, mixed of its documents' by their relevance: token by token, and as whole texts of the two sides,
// to which the documents go in turn. rows are the log p of each token, by document.
func mix(relevance []float64, rows [][]float64) (output, sequence float64) {
	all := math.Inf(-1)
	sides := [2]float64{math.Inf(-1), math.Inf(-1)} // h
	for d, r := range relevance {
		all, sides[d%2] = logSum(all, r), logSum(sides[d%2], r)
	}
	var sequences [2]float64
	for t := range rows[0] {
		mixed := math.Inf(-1)
		own := [2]float64{math.Inf(-1), math.Inf(-1)}
		for d, r := range relevance {
			mixed, own[d%2] = logSum(mixed, r-all+rows[d][t]), logSum(own[d%2], r-sides[d%2]+rows[d][t])
		}
		output += mixed
		for s := range own {
			sequences[s] += own[s]
		}
	}
	sequence = sides[0] - all + sequences[0]
	if len(relevance) > 1 {
		sequence = logSum(sequence, sides[1]-all+sequences[1])
	}
	return output, sequence
}

// tokenLogs returns log p of each token of predicted after document and given. If these do not fit into the model's context,
// it drops the beginning of document, except the token that begins every text.
func tokenLogs(ctx context.Context, m *model.Model, document, given, predicted string) ([]float64, error) {
	tok := m.Tokenizer()
	head := append(chat.Encode(tok, document), answerTokens(m, given)...)
	tail := answerTokens(m, predicted)
	most := m.Config().Context - len(tail)
	if most < 1 {
		return nil, fmt.Errorf("the model's context of %d tokens is too short for the %d to predict; use another model", m.Config().Context, len(tail))
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

package quality

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tandem/decoder"
	"tandem/models"
	"tandem/retrieval/passages"
)

// Item is a question with the passages of both sides, so that it measures reading and not search.
type Item struct {
	Kind     string
	Device   []Document
	Cloud    []Document
	Question string
	Answer   string
	Values   []string // what the answer must contain; empty if nothing answers the question
}

// Document is a passage of an Item.
type Document struct{ Title, Text string }

// ReadItems reads items from a file of JSON lines, or the built-in ones if path is empty: those of the given kinds, or all
// without any, and at most limit of each kind if limit is not 0.
func ReadItems(path string, kinds []string, limit int) ([]Item, error) {
	name, in := "the built-in questions", io.Reader(bytes.NewReader(models.Eval))
	if path != "" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		name, in = path, f
	}
	var items []Item
	seen := map[string]int{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 4<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var it Item
		if err := json.Unmarshal(lines.Bytes(), &it); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		if it.Question == "" {
			return nil, fmt.Errorf("%s, line %d: no question", name, n)
		}
		if len(kinds) > 0 && !slices.Contains(kinds, it.Kind) {
			continue
		}
		if seen[it.Kind]++; limit > 0 && seen[it.Kind] > limit {
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

// ReadingResult holds the scores of the items of one kind, as means.
type ReadingResult struct {
	Kind   string  `json:"kind"`
	N      int     `json:"n"`
	Exact  float64 `json:"exact"`        // the pair gives the expected answer
	Values float64 `json:"values"`       // the pair's answer contains all values
	Device float64 `json:"device_alone"` // the device's does
	Cloud  float64 `json:"cloud_alone"`  // the cloud's does
}

// Mean turns the counts into means.
func (r ReadingResult) Mean() ReadingResult {
	n := float64(r.N)
	r.Exact, r.Values, r.Device, r.Cloud = r.Exact/n, r.Values/n, r.Device/n, r.Cloud/n
	return r
}

// Read asks an item of the pair and of each side that has documents, and counts in r. It returns the pair's answer and
// whether that is the expected one.
func (a Answerer) Read(ctx context.Context, it Item, r *ReadingResult) (answer string, right bool, err error) {
	r.N++
	if answer, err = a.read(ctx, it.Question, it.Device, it.Cloud); err != nil {
		return "", false, err
	}
	if right = answer == strings.TrimSpace(it.Answer); right {
		r.Exact++
	}
	if holds(answer, it.Values) {
		r.Values++
	}
	for side, docs := range [][]Document{it.Device, it.Cloud} {
		if len(docs) == 0 {
			continue
		}
		alone, err := a.read(ctx, it.Question, docs)
		if err != nil {
			return "", false, err
		}
		if holds(alone, it.Values) {
			*[]*float64{&r.Device, &r.Cloud}[side]++
		}
	}
	return answer, right, nil
}

// read answers from one side or two. A side without documents takes no part.
func (a Answerer) read(ctx context.Context, question string, sides ...[]Document) (string, error) {
	var decoders [2]decoder.Producer
	n := 0
	for _, docs := range sides {
		if len(docs) == 0 {
			continue
		}
		var found []passages.Passage
		for _, d := range docs {
			found = append(found, passages.Passage{Title: d.Title, Text: d.Text})
		}
		d, err := decoder.New(ctx, a.Config, decoder.Request{Question: question, Passages: found})
		if err != nil {
			return "", err
		}
		defer d.Close()
		decoders[n] = d
		n++
	}
	if n == 0 {
		return "", errors.New("no documents")
	}
	return lockStep(ctx, a.Config, decoders)
}

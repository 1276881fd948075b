package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/lab/answers"
	"tandem/model/span"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/retrieval/search/weaviate"
)

// recallRow is how often retrieval finds the sentences that hold an answer.
type recallRow struct {
	Set    string               `json:"set"`
	Method string               `json:"method"` // one of answers.Retrievals
	At     map[int]answers.Rate `json:"at"`     // by the number of passages
}

// recallCount counts how often each retrieval finds the sentences that hold an answer.
type recallCount struct {
	known int            // questions that say in which sentence the answer stands
	found map[[2]int]int // by retrieval and depth
}

// add counts what is found for a question, if it says where its answer stands.
func (r *recallCount) add(ctx context.Context, l *answers.Library, q answers.Question) error {
	if !q.KnowsSentences() {
		return nil
	}
	by, err := l.Recall(ctx, q)
	if err != nil {
		return err
	}
	r.known++
	for i, found := range by {
		for k, ok := range found {
			if ok {
				r.found[[2]int{i, k}]++
			}
		}
	}
	return nil
}

// rows returns a row for each retrieval, and none if no question says where its answer stands.
func (r *recallCount) rows(set string) (rows []recallRow) {
	if r.known == 0 {
		return nil
	}
	for i, name := range answers.Retrievals {
		row := recallRow{set, name, map[int]answers.Rate{}}
		for k, depth := range answers.Depths {
			row.At[depth] = answers.Share(r.found[[2]int{i, k}], r.known)
		}
		rows = append(rows, row)
	}
	return rows
}

// askSet asks a set's questions by each method.
func (c *answersCmd) askSet(a *cli.App, set answers.Set, r *span.Reader, methods []answers.Method) (results []answers.Result, recalls []recallRow, err error) {
	bar, begun := progress(a, set.Name), time.Now()
	tallies := make([]*answers.Tally, len(methods))
	for i, m := range methods {
		tallies[i] = answers.NewTally(set.Name, m.Name)
	}
	recall, done := recallCount{found: map[[2]int]int{}}, 0
	for _, w := range set.Worlds {
		err := c.askWorld(a, w, r, func(l *answers.Library, q answers.Question) error {
			if time.Since(begun) > 2*time.Second {
				bar(done, set.Count())
			}
			done++
			if err := recall.add(a, l, q); err != nil {
				return err
			}
			for i, m := range methods {
				if err := c.askOne(a, l, q, m, tallies[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", set.Name, err)
		}
	}
	a.Clear()
	for _, t := range tallies {
		results = append(results, t.Result(c.Seed))
	}
	return results, recall.rows(set.Name), nil
}

// askWorld indexes a world and calls each with its questions.
func (c *answersCmd) askWorld(a *cli.App, w answers.World, r *span.Reader, each func(*answers.Library, answers.Question) error) (err error) {
	l, err := answers.Open(a, w, c.indexing(r))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for _, q := range w.Questions {
		if err := each(l, q); err != nil {
			return err
		}
	}
	return nil
}

// askOne asks a question by a method and counts the answer.
func (c *answersCmd) askOne(a *cli.App, l *answers.Library, q answers.Question, m answers.Method, t *answers.Tally) error {
	ask := func(q answers.Question) (answers.Answer, error) { return m.Answer(a, l, q) }
	q, err := q.Replay(ask)
	if err != nil {
		return err
	}
	answer, err := ask(q)
	if err != nil {
		return err
	}
	score := answers.Judge(q, answer)
	stage := l.Lost(q, score)
	t.Add(q, answer, score, stage)
	if slices.Contains(c.Show, "all") || slices.Contains(c.Show, "wrong") && (score.Outcome != answers.Right || len(score.Invented) > 0) || slices.Contains(c.Show, "doubted") && score.Doubted {
		a.Clear()
		showAnswer(a.Out, q, m.Name, answer, score, stage)
	}
	return nil
}

// indexing returns how documents are cut and searched: as in the programs, where the span reader answers.
func (c *answersCmd) indexing(r *span.Reader) answers.Options {
	o := answers.Options{Options: search.Options{Words: c.passageWords(), Rerank: c.Rerank}}
	if c.spanReaderAnswers() {
		o.Related = r.Related
	}
	if c.Index != "" {
		o.Cluster = c.cluster
	}
	return o
}

// passageWords returns the length of passages: by default, what the answering reader reads best.
func (c *answersCmd) passageWords() int {
	if c.spanReaderAnswers() {
		return cmp.Or(c.PassageWords, passages.DefaultWords)
	}
	return c.PassageWords
}

// cluster makes an empty index in a class of its own.
func (c *answersCmd) cluster(ctx context.Context, o search.Options) (answers.Index, error) {
	_, class, err := weaviate.Parse(c.Index)
	if err != nil {
		return nil, err
	}
	own := indexcmd.IndexFlag{Index: fmt.Sprintf("%s/%sLab%x", strings.TrimSuffix(c.Index, "/"+class), class, rand.Uint64())}
	x, err := own.OpenCluster(ctx, indexcmd.PassageFlags{PassageWords: o.Words, Related: o.Related, Rerank: o.Rerank})
	return temporaryIndex{x}, err
}

// temporaryIndex is an index in a cluster whose documents are erased when it is closed.
type temporaryIndex struct{ *weaviate.Index }

func (x temporaryIndex) Close() error {
	return errors.Join(x.Erase(context.Background()), x.Index.Close())
}

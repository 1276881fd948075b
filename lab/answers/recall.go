package answers

import (
	"context"
	"slices"

	"tandem/retrieval/passages"
)

// Depths are the numbers of passages for which recall is measured.
var Depths = []int{1, 4, 8, 16}

// Retrievals are the ways to retrieve whose recall is measured: the product from its passages, the product from Windows,
// and plain BM25 from sentences and from those windows.
var Retrievals = []string{"product", "windows", "bm25", "bm25-windows"}

// Recall reports for each of Retrievals and Depths whether all sentences that hold the answer are among what is retrieved
// from all documents. It is meant for questions whose sentences are known.
func (l *Library) Recall(ctx context.Context, q Question) ([][]bool, error) {
	query := q.node().Query()
	out := make([][]bool, len(Retrievals))
	for i, x := range []Index{l.All, l.Windows} {
		for _, k := range Depths {
			found, err := x.Search(ctx, query, k)
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], holdsSentences(q, textsWithTitles(found)))
		}
	}
	for i, b := range []*BM25{l.Sentences, l.WindowsByBM25} {
		ranked := b.Best(query.Before+" "+query.Text, slices.Max(Depths))
		for _, k := range Depths {
			out[2+i] = append(out[2+i], holdsSentences(q, ranked[:min(k, len(ranked))]))
		}
	}
	return out, nil
}

// textsWithTitles returns passages as they are read: with their titles.
func textsWithTitles(ps []passages.Passage) []string {
	var out []string
	for _, p := range ps {
		out = append(out, p.Title+"\n"+p.Text)
	}
	return out
}

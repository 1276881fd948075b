package answers

import (
	"cmp"
	"context"
	"slices"
	"time"

	"tandem/decoder"
	"tandem/model/span"
)

// spanWindows is the number of windows that a span reader reads for a question.
const spanWindows = 8

// Span answers with the likeliest span of the windows that retrieval finds in all documents. It says that it does not know
// if the reader refuses every window. The sentence around the span is shown. The pair takes no part.
func Span(r *span.Reader) Method {
	return Method{"span", func(ctx context.Context, l *Library, q Question) (Answer, error) {
		begun := time.Now()
		var a Answer
		retrieved, err := q.search(ctx, l.Windows, spanWindows)
		if err != nil {
			return a, err
		}
		a.Read = textsWithTitles(retrieved)
		ps := make([]*span.Passage, len(a.Read))
		for i, text := range a.Read {
			ps[i] = r.Passage(text)
		}
		found, err := r.Read(ctx, q.Text, ps)
		if err != nil {
			return a, err
		}
		a.Text, a.Shown = bestSpan(found, a.Read, r.Threshold())
		a.Unknown = a.Text == ""
		a.Took = time.Since(begun)
		return a, nil
	}}
}

// bestSpan returns the likeliest span of the windows that may answer, and the sentences around the best spans of all
// windows, the likeliest first.
func bestSpan(found []*span.Posterior, windows []string, threshold float64) (answer string, shown []string) {
	type best struct {
		span.Span
		window int
		none   float64
	}
	var all []best
	for i, p := range found {
		if s := p.Best(1); len(s) > 0 {
			all = append(all, best{s[0], i, p.None})
		}
	}
	slices.SortStableFunc(all, func(x, y best) int { return cmp.Compare(y.P, x.P) })
	for _, b := range all[:min(decoder.MaxQuotes, len(all))] {
		shown = append(shown, sentenceAt(windows[b.window], b.Begin))
	}
	if i := slices.IndexFunc(all, func(b best) bool { return b.none <= threshold }); i >= 0 {
		b := all[i]
		answer = windows[b.window][b.Begin:b.End]
	}
	return answer, shown
}

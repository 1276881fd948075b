package answers

import (
	"context"
	"slices"

	"tandem/retrieval/passages"
)

// Withheld returns the set with the answerable questions whose documents are known, each to be asked without these
// documents: what the rest says about similar things is no answer, so that refusing is right.
func (s Set) Withheld() Set {
	out := Set{Name: s.Name + " withheld"}
	for _, w := range s.Worlds {
		var questions []Question
		for _, q := range w.Questions {
			if q.Answerable() && len(q.Names) > 0 {
				q.Without, q.Answers, q.Parts = q.Names, nil, nil
				questions = append(questions, q)
			}
		}
		if len(questions) > 0 {
			out.Worlds = append(out.Worlds, World{w.Sides, questions})
		}
	}
	return out
}

// withheldDepth is how many times as many passages are retrieved where documents are withheld, so that enough remain.
const withheldDepth = 4

// search retrieves n passages for a question from an index, none of a document that it is asked without.
func (q Question) search(ctx context.Context, x Index, n int) ([]passages.Passage, error) {
	if len(q.Without) == 0 {
		return q.node().Find(ctx, x, n)
	}
	found, err := q.node().Find(ctx, x, withheldDepth*n)
	found = slices.DeleteFunc(found, func(p passages.Passage) bool { return slices.Contains(q.Without, p.Source) })
	return found[:min(n, len(found))], err
}

package quality

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Selection says which questions to ask, and what the sides search for them.
type Selection struct {
	Sets      []string // kinds of questions
	Most      int      // questions of each kind; 0 for all
	Documents int      // passages of each side
	Words     int      // words of a passage; 0 for a sentence
}

// Trials indexes the worlds and searches both sides for the chosen questions.
func (s Selection) Trials(ctx context.Context, worlds []World) ([]Trial, error) {
	seen := map[string]int{}
	var out []Trial
	for _, w := range worlds {
		kept := slices.DeleteFunc(slices.Clone(w.Questions), func(q Question) bool {
			if !slices.Contains(s.Sets, q.Kind) || s.Most > 0 && seen[q.Kind] >= s.Most {
				return true
			}
			seen[q.Kind]++
			return false
		})
		if len(kept) == 0 {
			continue
		}
		more, err := s.search(ctx, w, kept)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no questions of the sets %s", strings.Join(s.Sets, ", "))
	}
	return out, nil
}

// search searches both sides of a world.
func (s Selection) search(ctx context.Context, w World, questions []Question) (out []Trial, err error) {
	sides, err := w.index(ctx, s.Words)
	for _, x := range sides {
		if x != nil {
			defer x.Close()
		}
	}
	if err != nil {
		return nil, err
	}
	for _, q := range questions {
		t := Trial{Question: q}
		for i, x := range sides {
			found, e := q.node().Find(ctx, x, s.Documents)
			t.Sides[i], err = found, errors.Join(err, e)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

package answers

import (
	"context"
	"errors"
	"fmt"

	"tandem/decoder/extract"
)

// Found is a question of one part with the passages that both sides find for it, as a reader is given them: what a reader can
// be trained with. An answer of a part that is not in its sentence is no words of the document, as of a question for yes or no.
type Found struct {
	Set      string   `json:"set"`
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`
	Question string   `json:"question"`
	Parts    []Part   `json:"parts"`    // none: no document answers
	Passages []string `json:"passages"` // may be none
}

// FoundPassages searches for the questions of a set, and yields what it finds. Follow-ups and questions of several parts are left
// out.
func FoundPassages(ctx context.Context, s Set, documents int, o Options, yield func(Found) error) error {
	for _, w := range s.Worlds {
		l, err := Open(ctx, w, o)
		if err != nil {
			return err
		}
		for _, q := range w.Questions {
			if !q.hasOnePart() {
				continue
			}
			f := Found{Set: s.Name, ID: q.ID, Kind: q.Kind, Question: q.Text, Parts: append([]Part{}, q.Parts...)}
			if f.Passages, err = l.found(ctx, q, documents); err == nil {
				err = yield(f)
			}
			if err != nil {
				return errors.Join(fmt.Errorf("%q: %w", q.Text, err), l.Close())
			}
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

// found returns the passages that both sides find.
func (l *Library) found(ctx context.Context, q Question, documents int) ([]string, error) {
	out := []string{} // an empty list in JSON
	for _, x := range []Index{l.Device, l.Cloud} {
		found, err := q.search(ctx, x, documents)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			out = append(out, extract.TextToRead(p))
		}
	}
	return out, nil
}

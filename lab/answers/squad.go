package answers

import (
	"encoding/json"
	"fmt"
	"io"
)

// SQuAD reads a set in SQuAD's format. With gold, the context of each question is its own paragraph,
// otherwise all paragraphs.
func SQuAD(name string, in io.Reader, gold bool, seed uint64) (Set, error) {
	raw, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return Set{}, fmt.Errorf("read %s: %w", name, err)
	}
	if len(raw) > maxBytes {
		return Set{}, fmt.Errorf("%s holds more than %d MB", name, maxBytes>>20)
	}
	var set struct {
		Data []struct {
			Title      string
			Paragraphs []struct {
				Context string
				QAs     []struct {
					ID, Question string
					Answers      []struct {
						Text  string
						Start int `json:"answer_start"` // in characters
					}
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return Set{}, fmt.Errorf("%s: %w", name, err)
	}
	var all paragraphs
	for _, a := range set.Data {
		for _, p := range a.Paragraphs {
			for _, qa := range p.QAs {
				q := Question{ID: qa.ID, Text: qa.Question}
				var part Part
				for i, gold := range qa.Answers {
					part.Answers = append(part.Answers, gold.Text)
					if s := sentenceAt(p.Context, byteOffset(p.Context, gold.Start)); i == 0 {
						part.Sentence = s
					} else {
						part.Others = append(part.Others, s)
					}
				}
				if len(part.Answers) > 0 {
					q.Answers, q.Parts = part.Answers, []Part{part}
				}
				if err := q.check(); err != nil {
					return Set{}, fmt.Errorf("%s, question %q: %w", name, qa.ID, err)
				}
				all.add(a.Title, p.Context, q)
			}
		}
	}
	return all.set(name, gold, seed)
}

// byteOffset returns where the n-th character of s begins.
func byteOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

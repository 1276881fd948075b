package answers

import (
	"encoding/json"
	"fmt"
	"io"
)

// squad is a file in SQuAD's format.
type squad struct {
	Data []struct {
		Title      string
		Paragraphs []struct {
			Context string
			QAs     []squadQuestion
		}
	}
}

type squadQuestion struct {
	ID, Question string
	Answers      []struct {
		Text  string
		Start int `json:"answer_start"` // in characters
	}
}

// SQuAD reads a set in SQuAD's format.
func SQuAD(name string, in io.Reader, scope Scope, seed uint64) (Set, error) {
	raw, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return Set{}, fmt.Errorf("read %s: %w", name, err)
	}
	if len(raw) > maxBytes {
		return Set{}, fmt.Errorf("%s holds more than %d MB", name, maxBytes>>20)
	}
	var file squad
	if err := json.Unmarshal(raw, &file); err != nil {
		return Set{}, fmt.Errorf("%s: %w", name, err)
	}
	var all paragraphs
	for _, article := range file.Data {
		for _, p := range article.Paragraphs {
			for _, qa := range p.QAs {
				q := qa.about(p.Context)
				if err := q.check(); err != nil {
					return Set{}, fmt.Errorf("%s, question %q: %w", name, qa.ID, err)
				}
				all.add(article.Title, p.Context, q)
			}
		}
	}
	return all.set(name, scope, seed)
}

// about returns the question about a paragraph, with the sentences of it that answer.
func (qa squadQuestion) about(paragraph string) Question {
	q := Question{ID: qa.ID, Text: qa.Question}
	if len(qa.Answers) == 0 {
		return q
	}
	var part Part
	for i, a := range qa.Answers {
		part.Answers = append(part.Answers, a.Text)
		if s := sentenceAt(paragraph, byteOffset(paragraph, a.Start)); i == 0 {
			part.Sentence = s
		} else {
			part.Others = append(part.Others, s)
		}
	}
	q.Answers, q.Parts = part.Answers, []Part{part}
	return q
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

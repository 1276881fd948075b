package answers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Reading reads questions about passages: one JSON object per line with title, passage, question,
// answers, and support or unanswerable.
func Reading(name string, in io.Reader, scope Scope, seed uint64) (Set, error) {
	var all paragraphs
	err := Lines(name, in, func(n int, line []byte) error {
		var in struct {
			Title, Passage, Question string
			Answers                  []string
			Unanswerable             bool
			Support                  []int
			Sentences                bool `json:"answer_is_sentence"`
		}
		if err := json.Unmarshal(line, &in); err != nil {
			return err
		}
		if strings.TrimSpace(in.Passage) == "" {
			return errors.New(`lacks "passage"`)
		}
		q := Question{ID: fmt.Sprint(n), Text: in.Question, Answers: in.Answers}
		if in.Unanswerable {
			q.Answers = nil
		} else {
			sentence, err := support(in.Passage, in.Support, in.Answers)
			if err != nil {
				return err
			}
			p := Part{Answers: in.Answers, Sentence: sentence}
			if in.Sentences {
				p.Others = in.Answers
			}
			q.Parts = []Part{p}
		}
		if err := q.check(); err != nil {
			return err
		}
		all.add(in.Title, in.Passage, q)
		return nil
	})
	if err != nil {
		return Set{}, err
	}
	return all.set(name, scope, seed)
}

// support returns the sentence of a passage that holds the answer: what lies between two offsets in characters, or else the
// sentence around the first answer. It is empty if the answer is in other words than the passage.
func support(passage string, at []int, answers []string) (string, error) {
	if len(at) > 0 {
		runes := []rune(passage)
		if len(at) != 2 || at[0] < 0 || at[0] >= at[1] || at[1] > len(runes) {
			return "", fmt.Errorf(`"support" %v: want [start, end] within %d characters`, at, len(runes))
		}
		return strings.TrimSpace(string(runes[at[0]:at[1]])), nil
	}
	for _, a := range answers {
		if i := strings.Index(passage, a); a != "" && i >= 0 {
			return sentenceAt(passage, i), nil
		}
	}
	return "", nil
}

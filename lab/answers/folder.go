package answers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Folder reads questions about the documents/ of a folder from a file in it, such as questions.jsonl.
func Folder(name string, dir fs.FS, file string, seed uint64) (Set, error) {
	entries, err := fs.ReadDir(dir, "documents")
	if err != nil {
		return Set{}, fmt.Errorf("%s: %w", name, err)
	}
	var documents []Document
	known := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := fs.ReadFile(dir, path.Join("documents", e.Name()))
		if err != nil {
			return Set{}, fmt.Errorf("%s: %w", name, err)
		}
		documents, known[e.Name()] = append(documents, Document{e.Name(), data}), true
	}
	f, err := dir.Open(file)
	if err != nil {
		return Set{}, fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	w := World{Sides: deal(name, seed, documents)}
	err = Lines(name+"/"+file, f, func(_ int, line []byte) error {
		q, err := readQuestion(line, w.Questions)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(q.Names, func(n string) bool { return !known[n] }); i >= 0 {
			return fmt.Errorf("no document %q", q.Names[i])
		}
		w.Questions = append(w.Questions, q)
		return nil
	})
	if err == nil && len(w.Questions) == 0 {
		err = fmt.Errorf("%s holds no questions", name)
	}
	return Set{name, []World{w}}, err
}

// readQuestion reads a question of a folder; earlier are those before it.
func readQuestion(line []byte, earlier []Question) (q Question, err error) {
	var in struct {
		ID, Question, Kind, Sentence, After string
		Documents, Answers, Items, Others   []string
		Parts                               []Part
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return q, err
	}
	q = Question{ID: in.ID, Kind: in.Kind, Text: in.Question, Answers: in.Answers, Names: in.Documents, YesNo: in.Kind == "yesno"}
	switch {
	case in.Kind == "":
		return q, errors.New(`lacks "kind"`)
	case in.Kind == "unanswerable":
	case len(in.Parts) > 0:
		q.Parts = in.Parts
	case len(in.Items) > 0:
		for _, item := range in.Items {
			q.Parts = append(q.Parts, Part{Answers: []string{item}, Sentence: in.Sentence})
		}
	default:
		q.Parts = []Part{{Answers: in.Answers, Sentence: in.Sentence, Others: in.Others}}
	}
	if in.After != "" {
		i := slices.IndexFunc(earlier, func(e Question) bool { return e.ID == in.After })
		if i < 0 {
			return q, fmt.Errorf(`"after": there is no question %q before it`, in.After)
		}
		q.askAfter(&earlier[i])
	}
	return q, q.check()
}

// askAfter puts a question after another in a conversation. Until it is replayed, the turn before has the accepted answer.
func (q *Question) askAfter(before *Question) {
	q.Before = before
	q.Earlier = append(slices.Clone(before.Earlier), Turn{before.Text, strings.Join(before.Answers[:min(1, len(before.Answers))], "")})
}

// check reports what a question lacks.
func (q Question) check() error {
	if strings.TrimSpace(q.Text) == "" {
		return errors.New(`lacks "question"`)
	}
	if !q.Answerable() && len(q.Answers) > 0 {
		return errors.New(`has "answers", but no part that they answer`)
	}
	for _, p := range q.Parts {
		if len(p.Answers) == 0 || slices.ContainsFunc(p.Answers, func(a string) bool { return strings.TrimSpace(a) == "" }) {
			return errors.New(`lacks "answers", or one is empty`)
		}
	}
	return nil
}

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"tandem"
	"tandem/model/chat"
	"tandem/models"
	"tandem/node"
	"tandem/retrieval/search"
)

// world is the documents of both sides and questions about them.
type world struct {
	Device    []file
	Cloud     []file
	Questions []asked
}

type file struct{ Name, Text string }

// asked is a question with the answers that count as right, the best first.
type asked struct {
	Kind     string
	Earlier  []turn // of the conversation
	Where    string // whose documents hold the answer: device, cloud, both; empty for nobody's
	Question string
	Answer   string
	Answers  []string // further ones
	Values   []string // what the answer must hold; none where nobody knows
}

// turn is a question that was answered before.
type turn struct{ Question, Answer string }

// node returns the question as a conversation asks it.
func (q asked) node() node.Question {
	out := node.Question{Text: q.Question}
	for _, t := range q.Earlier {
		out.History = append(out.History, chat.Message{Role: "user", Content: t.Question}, chat.Message{Role: "assistant", Content: t.Answer})
	}
	return out
}

// golds are all the answers that count as right.
func (q asked) golds() []string {
	if q.Answer == "" {
		return q.Answers
	}
	return append([]string{q.Answer}, q.Answers...)
}

// check reports what a question lacks.
func (q asked) check() error {
	switch {
	case q.Question == "":
		return errors.New(`lacks "question"`)
	case q.Kind == "":
		return errors.New(`lacks "kind"`)
	case slices.ContainsFunc(q.Earlier, func(t turn) bool { return t.Question == "" || t.Answer == "" }):
		return errors.New(`lacks "question" or "answer" of what was asked "earlier"`)
	case len(q.golds()) == 0 || slices.Contains(q.Answers, ""):
		return errors.New(`lacks "answer"`)
	case slices.Contains(q.Values, "") || len(q.Values) == 0 && q.Kind != "unanswerable":
		return errors.New(`lacks "values", what its answer must hold`)
	}
	return nil
}

// check reports what a world lacks.
func (w world) check() error {
	if len(w.Questions) == 0 {
		return errors.New(`lacks "questions"`)
	}
	for i, q := range w.Questions {
		if err := q.check(); err != nil {
			return fmt.Errorf("question %d %w", i+1, err)
		}
	}
	for i, files := range [][]file{w.Device, w.Cloud} {
		seen := map[string]bool{}
		for n, f := range files {
			if f.Name == "." || !fs.ValidPath(f.Name) || seen[f.Name] {
				return fmt.Errorf("file %d of the %v: %q is no name of a file, or another's", n+1, tandem.Side(i), f.Name)
			}
			seen[f.Name] = true
		}
	}
	return nil
}

// Bounds of what is read: worlds, unpacked, and a line of them; a file that is read whole.
const (
	mostWorldBytes = 256 << 20
	mostWorldLine  = 16 << 20
	mostFileBytes  = 64 << 20
)

// readWorlds reads worlds from JSON lines, gzipped or not.
func readWorlds(name string, in io.Reader) ([]world, error) {
	raw := bufio.NewReader(in)
	in = raw
	if magic, _ := raw.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", name, err)
		}
		in = z
	}
	bounded := &io.LimitedReader{R: in, N: mostWorldBytes + 1}
	lines := bufio.NewScanner(bounded)
	lines.Buffer(nil, mostWorldLine)
	var out []world
	n := 1
	for ; lines.Scan(); n++ {
		if lines.Err() != nil || bounded.N == 0 {
			break // the line may have been cut
		}
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var w world
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		if err := w.check(); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		out = append(out, w)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s, line %d: longer than %d MB; make smaller worlds", name, n, mostWorldLine>>20)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	case bounded.N == 0:
		return nil, fmt.Errorf("%s holds more than %d MB; split it", name, mostWorldBytes>>20)
	case len(out) == 0:
		return nil, fmt.Errorf("%s holds no questions", name)
	}
	return out, nil
}

// worldsFrom reads worlds from a file, or those that ship with the program.
func worldsFrom(path string) ([]world, error) {
	if path == "" {
		return readWorlds("the built-in questions", bytes.NewReader(models.Worlds))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readWorlds(path, f)
}

// readWhole reads a file of bounded size.
func readWhole(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, mostFileBytes+1))
	if err == nil && len(raw) > mostFileBytes {
		err = fmt.Errorf("%s holds more than %d MB; take a part of it", path, mostFileBytes>>20)
	}
	return raw, err
}

// index cuts and indexes both sides' files as a user's are.
func (w world) index(ctx context.Context, words int) (sides [2]*search.Index, err error) {
	for i, files := range [][]file{w.Device, w.Cloud} {
		tree := fstest.MapFS{}
		for _, f := range files {
			tree[f.Name] = &fstest.MapFile{Data: []byte(f.Text)}
		}
		x, err := search.Memory(search.Options{Words: words})
		if err != nil {
			return sides, err
		}
		sides[i] = x
		if len(files) == 0 {
			continue
		}
		if _, err := x.AddFS(ctx, fs.FS(tree), "."); err != nil {
			return sides, err
		}
	}
	return sides, nil
}

// xquad reads XQuAD, or another set in SQuAD's form, from a file.
func xquad(path string) (world, error) {
	raw, err := readWhole(path)
	if err != nil {
		return world{}, err
	}
	return readSQuAD(path, raw)
}

// readSQuAD makes a world of a set in SQuAD's form: its passages are dealt to the two sides in turn. Questions
// without an answer (SQuAD 2) are left out.
func readSQuAD(name string, raw []byte) (w world, err error) {
	var set struct {
		Data []struct {
			Title      string
			Paragraphs []struct {
				Context string
				QAs     []struct {
					Question string
					Answers  []struct{ Text string }
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return w, fmt.Errorf("%s: %w", name, err)
	}
	n := 0 // passages so far
	for i, a := range set.Data {
		for j, p := range a.Paragraphs {
			if p.Context == "" {
				return w, fmt.Errorf(`%s, article %d, paragraph %d: lacks "context"`, name, i+1, j+1)
			}
			side, where := &w.Device, "device"
			if n%2 == 1 {
				side, where = &w.Cloud, "cloud"
			}
			text := fmt.Sprintf("# %s\n\n%s\n", strings.ReplaceAll(a.Title, "_", " "), p.Context)
			*side = append(*side, file{fmt.Sprintf("%05d.md", n), text})
			n++
			for k, qa := range p.QAs {
				if len(qa.Answers) == 0 {
					continue
				}
				q := asked{Kind: "xquad", Where: where, Question: qa.Question}
				for _, gold := range qa.Answers {
					q.Answers = append(q.Answers, gold.Text)
				}
				q.Values = q.Answers[:1]
				if err := q.check(); err != nil {
					return w, fmt.Errorf("%s, article %d, paragraph %d, question %d %w", name, i+1, j+1, k+1, err)
				}
				w.Questions = append(w.Questions, q)
			}
		}
	}
	if len(w.Questions) == 0 {
		return w, fmt.Errorf("%s holds no questions in SQuAD's form", name)
	}
	return w, nil
}

// sharedFile finds test data in the folder "shared" beside the working directory or one above it.
func sharedFile(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(dir, "shared", filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("shared/%s: %w", name, fs.ErrNotExist)
		}
		dir = parent
	}
}

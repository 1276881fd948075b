package quality

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing/fstest"

	"tandem"
	"tandem/lab/answers"
	"tandem/models"
	"tandem/node"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// World holds the documents of both sides and questions about them.
type World struct {
	Device    []File
	Cloud     []File
	Questions []Question
}

// File is a document.
type File struct{ Name, Text string }

// Question is a question with its right answers.
type Question struct {
	Kind    string
	Earlier []answers.Turn // of the same conversation
	Where   string         // whose documents hold the answer: device, cloud or both; empty if no document does
	Text    string         `json:"question"`
	Answer  string         // the best right answer
	Answers []string       // more right answers
	Values  []string       // what the answer must contain; empty if no document answers the question
}

func (q Question) node() node.Question { return answers.AsNode(q.Text, q.Earlier) }

// Right returns all right answers, the best first.
func (q Question) Right() []string {
	if q.Answer == "" {
		return q.Answers
	}
	return append([]string{q.Answer}, q.Answers...)
}

// check returns an error if the question lacks something.
func (q Question) check() error {
	switch {
	case q.Text == "":
		return errors.New(`lacks "question"`)
	case q.Kind == "":
		return errors.New(`lacks "kind"`)
	case slices.ContainsFunc(q.Earlier, func(t answers.Turn) bool { return t.Question == "" || t.Answer == "" }):
		return errors.New(`lacks "question" or "answer" of what was asked "earlier"`)
	case len(q.Right()) == 0 || slices.Contains(q.Answers, ""):
		return errors.New(`lacks "answer"`)
	case slices.Contains(q.Values, "") || len(q.Values) == 0 && q.Kind != "unanswerable":
		return errors.New(`lacks "values", what its answer must hold`)
	}
	return nil
}

// check returns an error if the world lacks something.
func (w World) check() error {
	if len(w.Questions) == 0 {
		return errors.New(`lacks "questions"`)
	}
	for i, q := range w.Questions {
		if err := q.check(); err != nil {
			return fmt.Errorf("question %d %w", i+1, err)
		}
	}
	for i, files := range [][]File{w.Device, w.Cloud} {
		seen := map[string]bool{}
		for n, f := range files {
			if f.Name == "." || !fs.ValidPath(f.Name) || seen[f.Name] {
				return fmt.Errorf("file %d of the %v: %q is not a file name, or is used twice", n+1, tandem.Side(i), f.Name)
			}
			seen[f.Name] = true
		}
	}
	return nil
}

// Limits of what is read: all worlds unpacked, a line of them, and a file that is read whole.
const (
	maxWorldBytes = 256 << 20
	maxWorldLine  = 16 << 20
	maxFileBytes  = 64 << 20
)

// readWorlds reads worlds from JSON lines, gzipped or not.
func readWorlds(name string, in io.Reader) ([]World, error) {
	raw := bufio.NewReader(in)
	in = raw
	if magic, _ := raw.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", name, err)
		}
		in = z
	}
	bounded := &io.LimitedReader{R: in, N: maxWorldBytes + 1}
	lines := bufio.NewScanner(bounded)
	lines.Buffer(nil, maxWorldLine)
	var out []World
	n := 1
	for ; lines.Scan(); n++ {
		if lines.Err() != nil || bounded.N == 0 {
			break // the line may be cut
		}
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var w World
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
		return nil, fmt.Errorf("%s, line %d: longer than %d MB; make smaller worlds", name, n, maxWorldLine>>20)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	case bounded.N == 0:
		return nil, fmt.Errorf("%s holds more than %d MB; split it", name, maxWorldBytes>>20)
	case len(out) == 0:
		return nil, fmt.Errorf("%s holds no questions", name)
	}
	return out, nil
}

// ReadWorlds reads worlds from a file of JSON lines, gzipped or not, or the built-in ones if path is empty.
func ReadWorlds(path string) ([]World, error) {
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

// readWhole reads a file of limited size.
func readWhole(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(raw) > maxFileBytes {
		err = fmt.Errorf("%s holds more than %d MB; take a part of it", path, maxFileBytes>>20)
	}
	return raw, err
}

// index indexes the files of both sides as a side indexes its documents, in passages of the given length, 0 for a sentence each.
func (w World) index(ctx context.Context, words int) (sides [2]*search.Index, err error) {
	for i, files := range [][]File{w.Device, w.Cloud} {
		tree := fstest.MapFS{}
		for _, f := range files {
			tree[f.Name] = &fstest.MapFile{Data: []byte(f.Text)}
		}
		x, err := search.Memory(search.Options{Words: cmp.Or(words, passages.SentenceWords)})
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

// ReadSQuAD reads a file in the format of SQuAD, such as XQuAD.
func ReadSQuAD(path string) (World, error) {
	raw, err := readWhole(path)
	if err != nil {
		return World{}, err
	}
	return parseSQuAD(path, raw)
}

// parseSQuAD makes a world of a set in the format of SQuAD. The passages go to the two sides in turn. Questions without an
// answer (SQuAD 2) are left out.
func parseSQuAD(name string, raw []byte) (w World, err error) {
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
			*side = append(*side, File{fmt.Sprintf("%05d.md", n), text})
			n++
			for k, qa := range p.QAs {
				if len(qa.Answers) == 0 {
					continue
				}
				q := Question{Kind: "xquad", Where: where, Text: qa.Question}
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
		return w, fmt.Errorf("%s holds no questions in the format of SQuAD", name)
	}
	return w, nil
}

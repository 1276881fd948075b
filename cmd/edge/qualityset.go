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
	"strings"
	"testing/fstest"

	"tandem/models"
	"tandem/retrieval"
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
	Where    string // whose documents hold the answer: device, cloud, both; empty for nobody's
	Question string
	Answer   string
	Answers  []string // further ones
	Values   []string // what the answer must hold; none where nobody knows
}

// golds are all the answers that count as right.
func (q asked) golds() []string {
	if q.Answer == "" {
		return q.Answers
	}
	return append([]string{q.Answer}, q.Answers...)
}

// Bounds of a file of worlds, unpacked.
const (
	mostWorldBytes = 256 << 20
	mostWorldLine  = 16 << 20
)

// readWorlds reads worlds from JSON lines, gzipped or not.
func readWorlds(name string, raw []byte) ([]world, error) {
	in := io.Reader(bytes.NewReader(raw))
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		in = z
	}
	lines := bufio.NewScanner(io.LimitReader(in, mostWorldBytes))
	lines.Buffer(nil, mostWorldLine)
	var out []world
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var w world
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		out = append(out, w)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds no questions", name)
	}
	return out, nil
}

// worldsFrom reads worlds from a file, or those that ship with the program.
func worldsFrom(path string) ([]world, error) {
	if path == "" {
		return readWorlds("the built-in questions", models.Worlds)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return readWorlds(path, raw)
}

// index cuts and indexes both sides' files as a user's are.
func (w world) index(ctx context.Context, words int) (sides [2]*retrieval.Index, err error) {
	for i, files := range [][]file{w.Device, w.Cloud} {
		tree := fstest.MapFS{}
		for _, f := range files {
			tree[f.Name] = &fstest.MapFile{Data: []byte(f.Text)}
		}
		x, err := retrieval.MemoryWith(retrieval.Options{Words: words})
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

// xquad is XQuAD (or another set in SQuAD's form) as a world: its articles are dealt to the two sides.
func xquad(path string) (w world, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return w, err
	}
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
		return w, fmt.Errorf("%s: %w", path, err)
	}
	for i, a := range set.Data {
		var text strings.Builder
		fmt.Fprintf(&text, "# %s\n", strings.ReplaceAll(a.Title, "_", " "))
		side, where := &w.Device, "device"
		if i%2 == 1 {
			side, where = &w.Cloud, "cloud"
		}
		for _, p := range a.Paragraphs {
			fmt.Fprintf(&text, "\n%s\n", p.Context)
			for _, qa := range p.QAs {
				q := asked{Kind: "xquad", Where: where, Question: qa.Question}
				for _, gold := range qa.Answers {
					q.Answers = append(q.Answers, gold.Text)
				}
				if len(q.Answers) > 0 {
					q.Values = q.Answers[:1]
					w.Questions = append(w.Questions, q)
				}
			}
		}
		*side = append(*side, file{fmt.Sprintf("%03d.md", i), text.String()})
	}
	if len(w.Questions) == 0 {
		return w, fmt.Errorf("%s holds no questions in SQuAD's form", path)
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

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/lab/answers"
	"tandem/lab/quality"
)

// setSource says where sets of documents and questions are read from.
type setSource struct {
	data   string // folder with the sets xquad/… and reading/…; empty for "shared" here or above
	worlds string // file with the worlds of the set generated; empty for the embedded ones
	seed   uint64 // deals the documents to the two sides
}

// source returns where the command reads its sets from.
func (c *answersCmd) source() setSource { return setSource{c.Data, c.Set, c.Seed} }

// openSets reads the sets that were asked for. Those whose data are not there are left out with a remark.
func (c *answersCmd) openSets(a *cli.App) ([]answers.Set, error) {
	var sets []answers.Set
	for _, name := range c.Sets {
		opened, err := c.source().open(name)
		if errors.Is(err, fs.ErrNotExist) {
			a.Remark("%s is left out: %v (name the folder with --data)", name, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, s := range opened {
			if c.Replace != "" {
				n, err := s.Replace(os.DirFS(c.Replace))
				if err != nil {
					return nil, err
				}
				a.Remark("%s: %d documents of %s are read instead", s.Name, n, c.Replace)
			}
			sets = append(sets, s)
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("nothing to ask of the sets %s", strings.Join(c.Sets, ", "))
	}
	if c.Together {
		sets = []answers.Set{answers.Together(sets)}
	}
	for i, s := range sets {
		if c.Withhold {
			s = s.Withheld()
		}
		sets[i] = s.Sample(c.N, c.Seed).Misspelt(c.Misspell, c.Seed)
	}
	return sets, nil
}

// open reads one set, or all of a family.
func (x setSource) open(name string) ([]answers.Set, error) {
	parts := strings.Split(name, "/")
	scope := answers.AllParagraphs
	if len(parts) > 1 && parts[len(parts)-1] == "gold" {
		scope = answers.OwnParagraph
	}
	switch {
	case name == "generated":
		s, err := x.generated()
		return []answers.Set{s}, err
	case slices.Contains(answers.PeopleNames(), name):
		s, err := answers.People(name, x.seed)
		return []answers.Set{s}, err
	case name == "xquad/open", name == "xquad/gold":
		return x.readSet(name, "data/qa/xquad.en.half.json", func(in io.Reader) (answers.Set, error) { return answers.SQuAD(name, in, scope, x.seed) })
	case name == "reading", name == "reading/gold":
		return x.openReading(scope)
	case parts[0] == "reading" && (len(parts) == 2 || len(parts) == 3 && scope == answers.OwnParagraph) && fs.ValidPath(parts[1]):
		path := "reading/qa/judge/" + parts[1] + ".jsonl.gz"
		return x.readSet(name, path, func(in io.Reader) (answers.Set, error) { return answers.Reading(name, in, scope, x.seed) })
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return x.openFolder(name)
	}
	return nil, fmt.Errorf("--sets %s: there is no such set (%s, xquad/open, xquad/gold, reading/SOURCE, generated), nor is it a folder", name, strings.Join(answers.PeopleNames(), ", "))
}

// openFolder reads a set of the user's own.
func (x setSource) openFolder(dir string) ([]answers.Set, error) {
	s, err := answers.Folder(dir, os.DirFS(dir), "questions.jsonl", x.seed)
	if errors.Is(err, fs.ErrNotExist) { // a set that is left out has nothing to do with files of the user's own
		return nil, fmt.Errorf("--sets %s: want a folder with documents/ and questions.jsonl: %v", dir, err)
	}
	return []answers.Set{s}, err
}

// openReading reads the sets of all sources.
func (x setSource) openReading(scope answers.Scope) ([]answers.Set, error) {
	dir, err := x.dataFile("reading/qa/judge")
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s/*.jsonl.gz: %w", dir, fs.ErrNotExist)
	}
	var out []answers.Set
	for _, f := range files {
		name := "reading/" + strings.TrimSuffix(filepath.Base(f), ".jsonl.gz")
		if scope == answers.OwnParagraph {
			name += "/gold"
		}
		s, err := x.open(name)
		if err != nil {
			return nil, err
		}
		out = append(out, s...)
	}
	return out, nil
}

func (x setSource) readSet(name, path string, read func(io.Reader) (answers.Set, error)) ([]answers.Set, error) {
	path, err := x.dataFile(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := read(f)
	return []answers.Set{s}, err
}

// dataFile returns the path of a file or folder of test data.
func (x setSource) dataFile(name string) (string, error) {
	if x.data == "" {
		return sharedFile(name)
	}
	path := filepath.Join(x.data, filepath.FromSlash(name))
	_, err := os.Stat(path)
	return path, err
}

// generated makes a set of the generated worlds. They do not say in which sentence an answer stands.
func (x setSource) generated() (answers.Set, error) {
	worlds, err := quality.ReadWorlds(x.worlds)
	if err != nil {
		return answers.Set{}, err
	}
	out := answers.Set{Name: "generated"}
	for _, w := range worlds {
		var to answers.World
		for i, files := range [][]quality.File{w.Device, w.Cloud} {
			for _, f := range files {
				name := fmt.Sprintf("%d/%s", i, f.Name) // the sides may have files of the same name
				to.Sides[i] = append(to.Sides[i], answers.Document{Name: name, Data: []byte(f.Text)})
			}
		}
		for _, q := range w.Questions {
			next := answers.Question{Kind: q.Kind, Text: q.Text, Earlier: q.Earlier}
			for _, v := range q.Values {
				next.Parts = append(next.Parts, answers.Part{Answers: []string{v}})
			}
			if len(q.Values) > 0 {
				next.Answers = q.Right()
			}
			to.Questions = append(to.Questions, next)
		}
		out.Worlds = append(out.Worlds, to)
	}
	return out, nil
}

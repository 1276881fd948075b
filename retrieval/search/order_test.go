package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"tandem/retrieval/passages"
)

// The same documents give the same passages in the same order, however the index was built.
func TestSamePassagesHoweverBuilt(t *testing.T) {
	folders, questions := peopleDocuments(t)
	all, older := fstest.MapFS{}, fstest.MapFS{}
	for _, files := range folders {
		for name, f := range files {
			all[name] = f
			older[name] = &fstest.MapFile{Data: bytes.ReplaceAll(f.Data, []byte("e"), []byte("ie"))}
		}
	}
	add := func(x *Index, files fs.FS, root string) error {
		_, err := x.AddFS(t.Context(), files, root)
		return err
	}
	atOnce := func(x *Index) error { return add(x, all, ".") }
	backwards := func(x *Index) (err error) {
		for _, name := range slices.Backward(slices.Sorted(maps.Keys(folders))) {
			err = errors.Join(err, add(x, all, name))
		}
		return err
	}
	together := func(x *Index) (err error) {
		var wg sync.WaitGroup
		errs := make(chan error, len(folders))
		for name := range folders {
			wg.Go(func() { errs <- add(x, all, name) })
		}
		wg.Wait()
		close(errs)
		for e := range errs {
			err = errors.Join(err, e)
		}
		return err
	}
	changed := func(x *Index) error { return errors.Join(add(x, older, "."), atOnce(x)) }
	for _, words := range []int{passages.DefaultWords, passages.SentenceWords} {
		var want []string
		for _, c := range []struct {
			name   string
			onDisk bool
			batch  int
			build  func(x *Index) error
		}{
			{"in memory", false, defaultBatch, atOnce},
			{"in many segments", false, 1 << 12, atOnce},
			{"folder by folder", false, 1 << 14, backwards},
			{"by several goroutines", false, 1 << 14, together},
			{"from files that changed", false, 1 << 16, changed},
			{"on disk", true, defaultBatch, atOnce},
			{"on disk, folder by folder", true, 1 << 14, backwards},
		} {
			x := openFor(t, c.onDisk, words)
			x.batch = c.batch
			if err := c.build(x); err != nil {
				t.Fatal(err)
			}
			got := rankings(t, x, questions)
			if want == nil {
				want = got
			}
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("%s, passages of %d words: %q finds\n%s\nnot\n%s", c.name, words, questions[i], got[i], want[i])
					break
				}
			}
			x.Close()
		}
	}
}

// openFor returns an empty index.
func openFor(t *testing.T, onDisk bool, words int) (x *Index) {
	t.Helper()
	var err error
	if o := (Options{Words: words}); onDisk {
		x, err = Open(t.TempDir(), o)
	} else {
		x, err = Memory(o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// rankings returns the passages that an index finds for each question, best first.
func rankings(t *testing.T, x *Index, questions []string) (out []string) {
	t.Helper()
	for _, q := range questions {
		found, err := x.Search(t.Context(), passages.Query{Text: q}, 16)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, p := range found {
			fmt.Fprintf(&b, "%s %.60q\n", p.ID[:8], p.Text)
		}
		out = append(out, b.String())
	}
	return out
}

// peopleDocuments returns documents that people wrote, by folder, and some questions about them.
func peopleDocuments(t *testing.T) (folders map[string]fstest.MapFS, some []string) {
	t.Helper()
	people := os.DirFS("../../lab/answers/testdata/people")
	folders = map[string]fstest.MapFS{}
	sets := []string{"first", "second", "third", "fourth", "fifth", "sixth"}
	if testing.Short() { // for the race detector
		sets = sets[:2]
	}
	for _, folder := range sets {
		files := fstest.MapFS{}
		err := fs.WalkDir(people, folder+"/documents", func(name string, d fs.DirEntry, err error) error {
			if ext := path.Ext(name); err != nil || ext != ".md" && ext != ".txt" {
				return err
			}
			data, err := fs.ReadFile(people, name)
			files[name] = &fstest.MapFile{Data: data}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		folders[folder] = files
		questions, err := fs.ReadFile(people, folder+"/questions.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.Collect(bytes.Lines(questions))
		for i := 0; i < len(lines); i += 12 {
			var q struct{ Question string }
			if err := json.Unmarshal(lines[i], &q); err != nil {
				t.Fatal(err)
			}
			some = append(some, q.Question)
		}
	}
	return folders, some
}

package answers

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// people has the sets of documents of invented people: folders, each with documents/ and files of questions. Their README says
// what the fields mean and what each set may be used for.
//
//go:embed testdata/people
var people embed.FS

// PeopleNames lists the sets of documents of invented people, such as people/tune.
func PeopleNames() []string { return slices.Sorted(maps.Keys(questionFiles())) }

// People reads one of the sets that PeopleNames lists.
func People(name string, seed uint64) (Set, error) {
	file, ok := questionFiles()[name]
	if !ok {
		return Set{}, fmt.Errorf("no set %s: use %s", name, strings.Join(PeopleNames(), ", "))
	}
	dir, err := fs.Sub(people, path.Dir(file))
	if err != nil {
		return Set{}, err
	}
	return Folder(name, dir, path.Base(file), seed)
}

// questionFiles returns the files of questions by the names of their sets. A file besides questions.jsonl is a set of its own about
// the same documents, such as people/tune/talks.
func questionFiles() map[string]string {
	files, err := fs.Glob(people, "testdata/people/*/*.jsonl")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	sets := map[string]string{}
	for _, f := range files {
		name := strings.TrimPrefix(strings.TrimSuffix(f, ".jsonl"), "testdata/")
		sets[strings.TrimSuffix(name, "/questions")] = f
	}
	return sets
}

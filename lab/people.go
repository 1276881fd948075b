package lab

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed testdata/people
var people embed.FS

// People returns the sets of hand-written documents with questions: folders, each with documents/ and
// files of questions. Their README says what the fields mean and what each set may be used for.
func People() fs.FS {
	sub, err := fs.Sub(people, "testdata/people")
	if err != nil {
		panic(err) // the path is a constant
	}
	return sub
}

// PeopleSets returns People's sets by their names, such as people/tune. A file of questions besides questions.jsonl is a set of its own
// about the same documents, such as people/tune/talks.
func PeopleSets() map[string]PeopleSet {
	files, err := fs.Glob(People(), "*/*.jsonl")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	sets := map[string]PeopleSet{}
	for _, f := range files {
		folder, file := path.Split(f)
		name := path.Join("people", folder)
		if file != "questions.jsonl" {
			name += "/" + strings.TrimSuffix(file, ".jsonl")
		}
		sets[name] = PeopleSet{path.Clean(folder), file}
	}
	return sets
}

// PeopleSet says where one of People's sets is.
type PeopleSet struct {
	Folder string // with documents/
	File   string // with the questions
}

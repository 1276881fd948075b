package lab

import (
	"embed"
	"io/fs"
)

//go:embed testdata/people
var people embed.FS

// People returns the sets of hand-written documents with questions: folders, each with documents/ and
// questions.jsonl. Their README says what the fields mean and what each set may be used for.
func People() fs.FS {
	sub, err := fs.Sub(people, "testdata/people")
	if err != nil {
		panic(err) // the path is a constant
	}
	return sub
}

// PeopleSets returns the names of People's sets, such as people/tune.
func PeopleSets() []string {
	entries, err := fs.ReadDir(People(), ".")
	if err != nil {
		panic(err) // the folder is embedded
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, "people/"+e.Name())
		}
	}
	return names
}

package lab

import (
	"embed"
	"io/fs"
)

//go:embed testdata/people
var people embed.FS

// People returns the set of hand-written documents with questions: folders tune and judge, each with documents/ and
// questions.jsonl. Its README says what the fields mean and what each half may be used for.
func People() fs.FS {
	sub, err := fs.Sub(people, "testdata/people")
	if err != nil {
		panic(err) // the path is a constant
	}
	return sub
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/lab"
)

const twoQuestions = `{"id": "1", "question": "What is the wifi password?", "kind": "fact", "answers": ["tumbral-5827"]}
{"question": "And that of the cabin?", "kind": "fact", "answers": ["tumbral-5827"], "after": "1"}
`

// Devices ask the questions of a set.
func TestLoadSets(t *testing.T) {
	h := clitest.NewHome(t)
	own := filepath.Join(h.Dir, "mine")
	clitest.Write(t, filepath.Join(own, "documents"), "cabin.md", "# Lake cabin\n\nThe wifi password of the cabin is tumbral-5827.\n")
	clitest.Write(t, own, "questions.jsonl", twoQuestions)
	args := []string{"load", "--sets", "mine", "--questions", "0", "--passage-words", "8", "--kv-type", "q8_0", "--devices", "1", "--each", "2", "--max-tokens", "2", "--threads", "1", "--json", "rows.json"}
	if _, stderr, err := h.Run(args...); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	data, err := os.ReadFile(filepath.Join(h.Dir, "rows.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Rows []lab.LoadResult }
	if err := json.Unmarshal(data, &got); err != nil || len(got.Rows) != 2 || got.Rows[0].Answers != 2 || got.Rows[0].Text != got.Rows[1].Text {
		t.Errorf("%v: %s", err, data)
	}
}

// The cloud has all documents of all sets, and a question that follows up another is not asked.
func TestReadLoadSets(t *testing.T) {
	own := t.TempDir()
	for _, name := range []string{"a.md", "b.md", "c.md"} {
		clitest.Write(t, filepath.Join(own, "documents"), name, "The wifi password is tumbral-5827.\n")
	}
	clitest.Write(t, own, "questions.jsonl", twoQuestions)
	c := loadCmd{Sets: []string{own, own}}
	documents, questions, err := c.readSets()
	if err != nil || len(documents) != 6 || len(questions) != 2 || questions[0] != "What is the wifi password?" {
		t.Errorf("%d documents, %q, %v", len(documents), questions, err)
	}
	names := map[string]bool{}
	for _, d := range documents {
		names[d.Name] = true
	}
	if len(names) != 6 {
		t.Errorf("files of two sets have the same name: %v", names)
	}
}

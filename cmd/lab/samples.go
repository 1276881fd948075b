package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/examples"
	"tandem/lab/quality"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

type samplesCmd struct {
	readingFlags
	Documents int `help:"Passages that each side retrieves." default:"4"`
	indexcmd.PassageFlags
}

func (c *samplesCmd) Help() string {
	return `Examples:
  lab samples
  lab samples --weights static --wrong

A kind says whose documents hold the answer (device, cloud, both, none) and whether one or two things are asked.`
}

func (c *samplesCmd) Run(a *cli.App) error {
	items, err := c.items(a)
	if err != nil {
		return err
	}
	return c.ask(a, items)
}

// items returns the questions about the sample documents, with the passages that each side finds for them.
func (c *samplesCmd) items(a *cli.App) ([]quality.Item, error) {
	var sides [2]*search.Index
	for i, corpus := range []fs.FS{examples.Notes, examples.Public} {
		x, err := indexcmd.ReadSamples(a, corpus, c.PassageFlags.BySentence())
		if err != nil {
			return nil, err
		}
		defer x.Close()
		sides[i] = x
	}
	var items []quality.Item
	lines := json.NewDecoder(bytes.NewReader(examples.Questions))
	for lines.More() {
		var q struct {
			Question, Answer string
			Device, Cloud    bool
			Values           []string
		}
		if err := lines.Decode(&q); err != nil {
			return nil, fmt.Errorf("sample questions: %w", err)
		}
		it := quality.Item{Kind: sampleKind(q.Device, q.Cloud, len(q.Values)), Question: q.Question, Answer: q.Answer, Values: q.Values}
		for i, docs := range []*[]quality.Document{&it.Device, &it.Cloud} {
			found, err := sides[i].Search(a, passages.Query{Text: q.Question}, c.Documents)
			if err != nil {
				return nil, err
			}
			for _, p := range found {
				*docs = append(*docs, quality.Document{Title: p.Title, Text: p.Text})
			}
		}
		items = append(items, it)
	}
	return items, nil
}

// sampleKind names the kind of a question by where its answer is and how many values it has.
func sampleKind(device, cloud bool, values int) string {
	kind := "none"
	switch {
	case device && cloud:
		kind = "both"
	case device:
		kind = "device"
	case cloud:
		kind = "cloud"
	}
	if values > 1 {
		return kind + ", two parts"
	}
	return kind + ", one part"
}

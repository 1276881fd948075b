// Command cut cuts documents into passages as the programs do, so that the built-in decoder is trained on the same kind of
// passages that it will read. It reads a line of JSON for each document, {"name", "text"}, and writes one, [{"title", "text"}].
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"tandem/retrieval/passages"
)

type passage struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "cut:", err)
		os.Exit(1)
	}
}

// run answers every line before it reads the next.
func run(in io.Reader, out io.Writer) error {
	lines, results := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	for {
		var d struct{ Name, Text string }
		if err := lines.Decode(&d); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		_, cut, err := passages.FromFile(context.Background(), d.Name, []byte(d.Text), passages.SentenceWords)
		if err != nil {
			return fmt.Errorf("%s: %w", d.Name, err)
		}
		line := make([]passage, len(cut))
		for i, p := range cut {
			line[i] = passage{p.Title, p.Text}
		}
		if err := results.Encode(line); err != nil {
			return err
		}
	}
}

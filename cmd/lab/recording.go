package main

import (
	"fmt"
	"os"

	"tandem/node"
)

// readRecord reads a recording that "edge ask --record" wrote.
func readRecord(file string) ([]node.Line, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("open the recording: %w", err)
	}
	defer f.Close()
	return node.ReadRecord(f)
}

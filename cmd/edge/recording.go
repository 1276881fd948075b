package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"tandem/cmd/internal/cli"
	"tandem/node"
)

// checkRecord refuses to overwrite a file that is not a recording.
func checkRecord(path string) error {
	info, err := cli.CheckOutput(path)
	if err != nil || info == nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var first node.Line
	if json.NewDecoder(f).Decode(&first) != nil || first.Event == "" {
		return fmt.Errorf("%s exists and is no recording: remove it, or name another file", path)
	}
	return nil
}

// record makes the device record what happens. The returned function writes the recording to the file; it is not called
// after a failed answer, so an earlier recording survives one.
func (s *session) record(path string) (write func() error, err error) {
	if err := checkRecord(path); err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	s.recording = func(l node.Line) { err = errors.Join(err, lines.Encode(l)) }
	return func() error {
		if err == nil {
			err = s.app.WriteOutput(path, text.Bytes(), 0o600)
		}
		if err != nil {
			return fmt.Errorf("--record: %w", err)
		}
		return nil
	}, nil
}

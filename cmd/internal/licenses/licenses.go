// Package licenses holds the licences of everything that the programs contain: their own, Go's, each module's, and those of the
// libraries inside PDFium. The file is made by "go generate ./cmd/internal/licenses" after a change of go.mod, and tests compare
// it with the modules that are built in and with PDFium's code.
package licenses

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:generate go run ./gather licenses.json.gz pdfium

//go:embed licenses.json.gz
var packed []byte

// Module is a part of the programs.
type Module struct {
	Path    string `json:"module"` // "go" for the language's own library, "tandem" for these programs, "pdfium/…" for a part of PDFium
	Version string `json:"version,omitempty"`
	Kind    string `json:"license"` // as SPDX names it; several are joined by " AND "
	Files   []File `json:"files"`   // never empty
}

// File is one text of a module's licence, or a notice that it asks to keep.
type File struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// All returns the modules in order of their paths.
func All() ([]Module, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("licences: %w", err)
	}
	var all []Module
	if err := json.NewDecoder(z).Decode(&all); err != nil {
		return nil, fmt.Errorf("licences: %w", err)
	}
	return all, nil
}

// phrases tell licences apart: a text is of a kind if it holds all of a line's phrases. The first kind that fits counts.
var phrases = []struct {
	kind string
	all  []string
}{
	{"Apache-2.0", []string{"apache license", "version 2.0"}},
	{"MPL-2.0", []string{"mozilla public license", "2.0"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "endorse or promote"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	{"MIT", []string{"permission is hereby granted, free of charge", "the above copyright notice"}},
	{"ISC", []string{"permission to use, copy, modify, and/or distribute this software"}},
	{"ISC", []string{"permission to use, copy, modify, and distribute this software"}},
	{"CC0-1.0", []string{"cc0 1.0"}},
	{"Unlicense", []string{"released into the public domain"}},
}

// Kind names the licence of a text by its wording, or returns "".
func Kind(text string) string {
	plain := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for _, p := range phrases {
		fits := true
		for _, s := range p.all {
			fits = fits && strings.Contains(plain, s)
		}
		if fits {
			return p.kind
		}
	}
	return ""
}

package main

import (
	"testing"

	"tandem/internal/llamacpp"
	"tandem/model"
)

// Every architecture's format is a template that gives what llama.cpp writes, where it knows the format.
func TestTemplatesOfArchitectures(t *testing.T) {
	lib, err := llamacpp.Load()
	if err != nil {
		lib = nil
	}
	for _, arch := range model.Architectures() {
		cell, err := sameTemplates(lib, arch)
		if err != nil {
			t.Error(err)
		}
		if name := formatOf[arch]; name != "" && name != "olmo" && lib != nil && cell != name+": 60 of 60" {
			t.Errorf("%s: %s", arch, cell)
		}
	}
	if lib == nil {
		t.Skip("not compared with llama.cpp: ", err)
	}
}

package licenses

import (
	"os/exec"
	"strings"
	"testing"
)

// Every module that is built into the programs on this platform has its licence here, in its version.
func TestEveryModuleHasItsLicence(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, m := range all {
		have[m.Path] = m.Version
		if m.Kind == "" || len(m.Files) == 0 || strings.TrimSpace(m.Files[0].Text) == "" {
			t.Errorf("%s has no licence", m.Path)
		}
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}",
		"tandem/cmd/edge", "tandem/cmd/cloud").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		path, version, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && have[path] != version {
			t.Errorf("%s %s: have %q; run: go generate ./cmd/internal/licenses", path, version, have[path])
			have[path] = version // say it once
		}
	}
	for _, path := range []string{"go", "tandem"} {
		if _, ok := have[path]; !ok {
			t.Errorf("no licence of %s", path)
		}
	}
}

func TestKind(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n  Version 2.0, January 2004":                                                      "Apache-2.0",
		"Permission is hereby granted, free of\ncharge, to any person ... The above copyright notice and":  "MIT",
		"Redistribution and use in source and binary forms ... may be used to endorse or promote products": "BSD-3-Clause",
		"Redistribution and use in source and binary forms":                                                "BSD-2-Clause",
		"All rights reserved.": "",
	} {
		if got := Kind(text); got != want {
			t.Errorf("Kind(%q) = %q, want %q", text, got, want)
		}
	}
}

package licenses

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
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

// The parts of PDFium that leave a mark in its WebAssembly have their licences here, and no others leave one.
func TestPDFium(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, m := range all {
		if name, ok := strings.CutPrefix(m.Path, "pdfium/"); ok {
			have[name] = m.Version
		}
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", "github.com/klippa-app/go-pdfium").Output()
	if err != nil {
		t.Fatal(err)
	}
	version, dir, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if have["pdfium"] != "in go-pdfium "+version {
		t.Errorf("PDFium's licence is that %q; the module is %s", have["pdfium"], version)
	}
	code, err := os.ReadFile(filepath.Join(dir, "webassembly", "pdfium.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	for mark, part := range map[string]string{
		"FPDF_LoadMemDocument": "pdfium", "third_party/abseil-cpp": "abseil", "emscripten_": "emscripten", "FREETYPE_PROPERTIES": "freetype",
		"N6icu_": "icu", "The libjpeg-turbo Project": "libjpeg_turbo", "set in openjpeg.h": "libopenjpeg", "NSt3__2": "llvm",
		"libpng version": "libpng", "LIBTIFF": "libtiff", "simdutf": "simdutf", "N2v8": "v8",
	} {
		_, listed := have[part]
		if in := bytes.Contains(code, []byte(mark)); in != listed {
			t.Errorf("%s: %q is in PDFium's code: %v; its licence is listed: %v", part, mark, in, listed)
		}
	}
	for _, part := range []string{"agg23", "fast_float", "lcms", "musl", "zlib"} { // these leave no mark
		if _, ok := have[part]; !ok {
			t.Errorf("no licence of %s", part)
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

// Command gather writes the licences of the modules that edge and cloud contain on any of their platforms, and of what PDFium
// holds, whose texts are in a folder:
//
//	go run ./cmd/internal/licenses/gather FILE FOLDER
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tandem/cmd/internal/licenses"
)

var platforms = []string{"linux/amd64", "linux/arm64", "android/arm64", "darwin/arm64", "windows/amd64"}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gather:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("want two arguments: the file to write, and the folder with the licences of PDFium's parts")
	}
	dirs, err := folders()
	if err != nil {
		return err
	}
	var all []licenses.Module
	for name, dir := range dirs {
		m, err := read(name, dir)
		if err != nil {
			return err
		}
		all = append(all, m)
	}
	parts, err := pdfium(os.Args[2], all)
	if err != nil {
		return err
	}
	all = append(all, parts...)
	slices.SortFunc(all, func(a, b licenses.Module) int { return strings.Compare(a.Path, b.Path) })
	return write(os.Args[1], all)
}

// folders returns the folders of Go, of the programs' own module and of all that they contain, by module and version.
func folders() (map[string]string, error) {
	dirs := map[string]string{}
	for _, p := range platforms {
		if err := list(p, dirs); err != nil {
			return nil, err
		}
	}
	goroot, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, err
	}
	root, version, _ := strings.Cut(strings.TrimSpace(string(goroot)), "\n")
	dirs["go "+version] = root
	main, err := exec.Command("go", "list", "-m", "-f", "{{.Path}}\t{{.Dir}}", "tandem").Output()
	if err != nil {
		return nil, err
	}
	own, dir, _ := strings.Cut(strings.TrimSpace(string(main)), "\t")
	dirs[own] = dir
	return dirs, nil
}

// write writes the compressed file that package licenses embeds.
func write(path string, all []licenses.Module) error {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(z).Encode(all); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// kinds are the licences of PDFium's parts, as SPDX names them, by the names of their files.
var kinds = map[string]string{
	"pdfium": "BSD-3-Clause AND Apache-2.0", "abseil": "Apache-2.0", "agg23": "AGG-2.3", "emscripten": "MIT", "fast_float": "MIT", "freetype": "FTL",
	"icu": "Unicode-3.0", "lcms": "MIT", "libjpeg_turbo": "IJG AND BSD-3-Clause AND Zlib", "libopenjpeg": "BSD-2-Clause",
	"llvm": "Apache-2.0 WITH LLVM-exception", "musl": "MIT", "zlib": "Zlib",
}

// pdfium collects the licences of PDFium and of the parts that its build in module go-pdfium holds.
func pdfium(dir string, all []licenses.Module) (parts []licenses.Module, err error) {
	version := ""
	for _, m := range all {
		if m.Path == "github.com/klippa-app/go-pdfium" {
			version = "in go-pdfium " + m.Version
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(f.Name(), filepath.Ext(f.Name()))
		kind, ok := kinds[name]
		if !ok {
			return nil, fmt.Errorf("%s: no licence is named for it", f.Name())
		}
		if path := "pdfium/" + name; len(parts) == 0 || parts[len(parts)-1].Path != path {
			parts = append(parts, licenses.Module{Path: path, Version: version, Kind: kind})
		}
		last := &parts[len(parts)-1]
		last.Files = append(last.Files, licenses.File{Name: f.Name(), Text: string(text)})
	}
	return parts, nil
}

// list adds the modules of the programs on one platform, with the folders where they lie.
func list(platform string, dirs map[string]string) error {
	goos, goarch, _ := strings.Cut(platform, "/")
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}",
		"tandem/cmd/edge", "tandem/cmd/cloud")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("modules of %s: %w", platform, err)
	}
	for line := range strings.Lines(string(out)) {
		if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			dirs[name] = dir
		}
	}
	return nil
}

// read collects the licences in a module's folder.
func read(name, dir string) (m licenses.Module, err error) {
	m.Path, m.Version, _ = strings.Cut(name, " ")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return m, err
	}
	var kinds []string
	for _, e := range entries {
		low := strings.ToLower(e.Name())
		if e.IsDir() || !(strings.HasPrefix(low, "licen") || strings.HasPrefix(low, "copying") || strings.HasPrefix(low, "notice")) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return m, err
		}
		m.Files = append(m.Files, licenses.File{Name: e.Name(), Text: string(text)})
		if kind := licenses.Kind(string(text)); kind != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		return m, fmt.Errorf("%s: no licence that is known in %s", name, dir)
	}
	m.Kind = strings.Join(kinds, " AND ")
	return m, nil
}

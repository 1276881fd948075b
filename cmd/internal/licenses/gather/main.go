// Command gather writes the licences of the modules that edge and cloud contain on any of their platforms:
//
//	go run ./cmd/internal/licenses/gather FILE
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
	if len(os.Args) != 2 {
		return fmt.Errorf("want one argument, the file to write")
	}
	dirs := map[string]string{} // by module and version
	for _, p := range platforms {
		if err := list(p, dirs); err != nil {
			return err
		}
	}
	goroot, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return err
	}
	root, version, _ := strings.Cut(strings.TrimSpace(string(goroot)), "\n")
	dirs["go "+version] = root
	main, err := exec.Command("go", "list", "-m", "-f", "{{.Path}}\t{{.Dir}}", "tandem").Output()
	if err != nil {
		return err
	}
	own, dir, _ := strings.Cut(strings.TrimSpace(string(main)), "\t")
	dirs[own] = dir
	var all []licenses.Module
	for name, dir := range dirs {
		m, err := read(name, dir)
		if err != nil {
			return err
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b licenses.Module) int { return strings.Compare(a.Path, b.Path) })
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
	return os.WriteFile(os.Args[1], out.Bytes(), 0o644)
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

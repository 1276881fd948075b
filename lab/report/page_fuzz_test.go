package report

import (
	"os"
	"path/filepath"
	"testing"
)

// Whatever a file of results holds, the page of a folder is refused by an error or made.
func FuzzPage(f *testing.F) {
	for _, text := range []string{
		`{"Name": "latency", "Title": "x", "Results": [{"Method": "tandem/mirror", "Text": "ab", "PerToken": 3}]}`,
		`{"Name": "npu-simulated", "Tables": [{"Name": "t", "Columns": ["a"], "Rows": [["1", "2"], []]}], "Figures": [{"Name": "f", "SVG": "eA=="}]}`,
		`{"Results": [{"PerToken": null}], "Findings": [""]}`, `[]`, `null`,
	} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, "x.result.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		page, n, err := Page(dir, "fuzz")
		if err == nil && (n != 1 || len(page) == 0) {
			t.Fatalf("%d reports, a page of %d bytes", n, len(page))
		}
	})
}

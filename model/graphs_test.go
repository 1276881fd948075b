package model

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/tinymodel"
	"tandem/npu"
)

var update = flag.Bool("update", false, "update testdata/graphs-*.txt")

// The graphs of each architecture for one chunk size match those in testdata.
func TestGraphsMatchTestdata(t *testing.T) {
	specs := map[string]tinymodel.Spec{ // more than an architecture's name, for some
		"llama": {Type: npu.Q8_0, Factors: true},
		"qwen2": {Type: npu.Q4_0, Untied: true},
		"opt":   {Type: npu.F16},
	}
	for _, arch := range Architectures() {
		spec := specs[arch]
		spec.Arch = arch
		var b strings.Builder
		for _, g := range variant(t, spec, 1, 4).Graphs(4) {
			if err := g.Check(); err != nil {
				t.Error(err)
			}
			b.WriteString(g.String())
		}
		file := filepath.Join("testdata", "graphs-"+spec.Arch+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("the graphs differ from %s (go test ./model -run Graphs -update):\n%s", file, &b)
		}
	}
}

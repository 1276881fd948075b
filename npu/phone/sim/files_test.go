package sim

import (
	"io/fs"
	"testing"
	"testing/fstest"
)

// Whatever a chip's file holds, it is refused by an error or gives costs that a phone can have.
func FuzzFiles(f *testing.F) {
	for _, name := range []string{"soc/common.json", "soc/sm8650.json"} {
		data, err := fs.ReadFile(embedded, name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	shared, err := fs.ReadFile(embedded, "soc/common.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := readFiles(fstest.MapFS{"common.json": {Data: shared}, "fuzzed.json": {Data: data}})
		if err != nil {
			return
		}
		s, err := files.Open("fuzzed")
		if err != nil {
			return
		}
		for stack := range s.Stacks {
			c, err := s.Costs(stack)
			if err == nil && !(c.Stream > 0 && c.Matrix > 0 && c.Load > 0 && c.Tile > 0 && c.Window > 0) {
				t.Fatalf("%s: costs %+v", stack, c)
			}
		}
	})
}

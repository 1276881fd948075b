package search

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files that guard an index are read as they were written or refused, whatever is in them.
func FuzzGuards(f *testing.F) {
	dir := f.TempDir()
	f.Add([]byte("0badf00d 12 store/root.bolt\n00000000 0 index_meta.json\n"), true)
	f.Add([]byte(`{"roots":["/a"],"words":64}`+"\n"), true)
	f.Add([]byte(""), true)
	f.Add([]byte("0000002a -1 ../../etc/passwd\n00000000\n"), false)
	f.Add([]byte("gen-v4-1-3148fc0a\n"), false)
	f.Fuzz(func(t *testing.T, text []byte, mend bool) {
		if mend { // so that the fuzzer gets past the files' own checksums
			text = fmt.Appendf(text[:len(text):len(text)], "%08x\n", crc32.Checksum(text, castagnoli))
		}
		for _, name := range []string{sumsName, sourcesName, currentName} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		sums, err := readSums(dir)
		verified := err == nil && verify(dir) == nil
		for name, s := range sums {
			if err != nil || strings.Contains(name, "\n") {
				t.Fatalf("a sum of %q, %v", name, err)
			}
			if got, err := sumOf(filepath.Join(dir, filepath.FromSlash(name))); verified && (err != nil || got != s) {
				t.Fatalf("%q is taken for what was written", name)
			}
		}
		if _, err := loadSources(dir); err == nil && !mend && len(text) < 9 {
			t.Fatal("sources without a checksum")
		}
		if gen, err := readCurrent(dir); err == nil && gen != "" && gen != filepath.Base(gen) {
			t.Fatalf("the generation %q is outside of the index", gen)
		}
	})
}

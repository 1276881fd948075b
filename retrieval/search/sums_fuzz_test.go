package search

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
)

// The checksums of an index, and the list of what was added to it, are read from disk: whatever is there is read as it was written,
// or refused.
func FuzzIndexFiles(f *testing.F) {
	sealed := func(lines string) string {
		return lines + fmt.Sprintf("%08x\n", crc32.Checksum([]byte(lines), castagnoli))
	}
	f.Add(sealed("0000002a 12 store/root.bolt\n00000000 0 index_meta.json\n"))
	f.Add(sealed(`{"roots":["/a"]}` + "\n"))
	f.Add(sealed(""))
	f.Add("0000002a -1 ../../etc/passwd\n00000000\n")
	f.Add("\n")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		for _, both := range []string{text, sealed(text)} {
			for _, name := range []string{sumsName, sourcesName} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(both), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			sums, err := readSums(dir)
			if err == nil && len(sums) > 0 && verify(dir) == nil {
				for name, s := range sums {
					if got, err := sumOf(filepath.Join(dir, filepath.FromSlash(name))); err != nil || got != s {
						t.Errorf("%q is taken for what was written", name)
					}
				}
			}
			loadSources(dir)
		}
	})
}

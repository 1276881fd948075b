package retrieval

import (
	"os"
	"path/filepath"
	"testing"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSmoke(t *testing.T) {
	docs, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(docs, "a/cabin.md"), "# Lake cabin\n\nThe wifi password of the lake cabin is tumbral-5827.\n")
	writeFile(t, filepath.Join(docs, "museum.html"), "<title>Harbour museum</title><nav>x</nav><p>The museum opens at 9:30.<p>It closes at 17:00.")
	writeFile(t, filepath.Join(docs, "x.bin"), "\x00")
	for _, d := range []string{dir, ""} {
		x, err := Memory()
		if d != "" {
			x, err = Open(d, Options{})
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Add(t.Context(), docs, nil)
		t.Logf("%+v %v", r, err)
		hits, err := x.Search(t.Context(), "When does the museum open, and what is the wifi password of the cabin?", 4)
		t.Logf("%+v %v", hits, err)
		l, err := x.List()
		t.Logf("%+v %v", l, err)
		r, err = x.Add(t.Context(), docs, nil)
		t.Logf("%+v %v", r, err)
		os.Remove(filepath.Join(docs, "museum.html"))
		r, err = x.Refresh(t.Context(), nil)
		t.Logf("%+v %v", r, err)
		hits, err = x.Search(t.Context(), "When does the museum open, and what is the wifi password of the cabin?", 4)
		t.Logf("%+v %v", hits, err)
		t.Log(x.Close())
	}
}

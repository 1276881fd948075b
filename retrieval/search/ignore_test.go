package search

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestIgnoreRules(t *testing.T) {
	for _, c := range []struct {
		line   string
		out    []string // paths that it leaves out; folders end with a slash
		stayed []string
	}{
		{"*.log", []string{"a.log", "x/y/a.log", ".log"}, []string{"a.log.md", "a.LOG"}},
		{"/a.md", []string{"a.md"}, []string{"x/a.md"}},
		{"drafts/", []string{"drafts/", "x/drafts/"}, []string{"drafts", "drafts.md"}},
		{"drafts", []string{"drafts/", "drafts", "x/drafts"}, []string{"drafts2"}},
		{"x/*.md", []string{"x/a.md"}, []string{"x/y/a.md", "z/x/a.md"}},
		{"x/**", []string{"x/a.md", "x/y/", "x/y/a.md"}, []string{"x/", "z/x/a.md"}},
		{"**/old/*.md", []string{"old/a.md", "x/y/old/a.md"}, []string{"old/x/a.md"}},
		{"x/**/a.md", []string{"x/a.md", "x/y/a.md", "x/y/z/a.md"}, []string{"a.md", "y/x/a.md"}},
		{"x/**/**/y/**/a", []string{"x/y/a", "x/y/y/b/a", "x/b/y/c/y/a"}, []string{"x/a", "x/y/b"}},
		{"?.md", []string{"a.md", "ä.md"}, []string{"ab.md", ".md"}},
		{"[ab]*.md", []string{"a1.md"}, []string{"c1.md"}},
		{"[!ab].md", []string{"c.md"}, []string{"a.md"}},
		{`\[!ab].md`, []string{"[!ab].md"}, []string{"c.md"}},
		{`\#a`, []string{"#a"}, []string{"a"}},
		{`\!a`, []string{"!a"}, []string{"a"}},
		{"a.md  \r", []string{"a.md"}, nil},
		{`a\ `, []string{"a "}, []string{"a"}},
		{"my notes.md", []string{"my notes.md"}, []string{"my"}},
		{"**", []string{"a", "x/", "x/a"}, nil},
	} {
		r, err := parseIgnoreLine(c.line)
		if err != nil {
			t.Errorf("%q: %v", c.line, err)
			continue
		}
		for i, paths := range [][]string{c.out, c.stayed} {
			for _, p := range paths {
				name, folder := strings.CutSuffix(p, "/")
				if got := (folder || !r.folder) && r.matches(strings.Split(name, "/")); got != (i == 0) {
					t.Errorf("%q leaves out %s: %v", c.line, p, got)
				}
			}
		}
	}
	for _, line := range []string{"", "   ", "# a", "\r"} {
		if r, err := parseIgnoreLine(line); r != nil || err != nil {
			t.Errorf("%q: %+v, %v", line, r, err)
		}
	}
	for _, line := range []string{"[a", "[!]", "/", "a//b", `a\`, "!"} {
		if r, err := parseIgnoreLine(line); err == nil {
			t.Errorf("%q: %+v", line, r)
		}
	}
}

// What is left out of a folder stays out of its updates, of a rebuild, and when something in the folder is named. What was
// indexed before leaves.
func TestExcluded(t *testing.T) {
	docs, dir := t.TempDir(), t.TempDir()
	docs, err := filepath.EvalSymlinks(docs)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.md", "b.log", "drafts/c.md", "drafts/keep.md", "sub/d.log", "sub/e.md", "sub/new.md", "sub/deep/e.md"} {
		writeFile(t, filepath.Join(docs, name), "A walnut.")
	}
	with := func(patterns ...string) *Index {
		t.Helper()
		x, err := Open(dir, Options{Exclude: patterns})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close() })
		return x
	}
	x := with()
	expect(t, add(t, x, docs), "+8 ~0 -0 =0")
	expect(t, add(t, with("*.log", "/drafts/*", "!keep.md"), docs), "+0 ~0 -3 =5")
	finds(t, x, "walnut", "a.md", "e.md", "keep.md", "new.md")
	writeFile(t, filepath.Join(docs, "sub", "f.log"), "A walnut.")
	writeFile(t, filepath.Join(docs, "sub", IgnoreName), "# mine\n/e.md\n!d.log\n")
	refresh := func(want string) {
		t.Helper()
		r, err := x.Refresh(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, r, want)
	}
	refresh("+1 ~0 -1 =4")
	for _, name := range []string{"b.log", "sub/f.log", "drafts/c.md"} {
		r, err := x.Add(t.Context(), filepath.Join(docs, name), nil)
		if err != nil || len(r.Skipped) != 1 || r.Skipped[0].Kind != Excluded || !strings.HasPrefix(r.Skipped[0].Reason, "left out by ") {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	expect(t, add(t, x, filepath.Join(docs, "sub")), "+0 ~0 -0 =3")
	expect(t, add(t, x, docs), "+0 ~0 -0 =5")
	if r, err := Rebuild(t.Context(), dir, Options{}, nil); err != nil || r.Added != 5 {
		t.Errorf("rebuilt: %+v, %v", r, err)
	}
	writeFile(t, filepath.Join(docs, "sub", IgnoreName), "[a\n")
	r, err := x.Refresh(t.Context(), nil)
	if err != nil || r.Removed > 0 || !strings.Contains(r.Skipped[len(r.Skipped)-1].Reason, `line 1: "[a" is not a pattern`) {
		t.Errorf("rules that cannot be read: %+v, %v", r, err)
	}
	if err := os.Remove(filepath.Join(docs, "sub", IgnoreName)); err != nil {
		t.Fatal(err)
	}
	expect(t, add(t, with(""), docs), "+4 ~0 -0 =5")
	if _, err := with("[a").Add(t.Context(), docs, nil); err == nil || !strings.Contains(err.Error(), `"[a" is not a pattern`) {
		t.Errorf("a bad pattern: %v", err)
	}
}

// A rule of a folder that was removed is forgotten.
func TestExcludedIsForgotten(t *testing.T) {
	x, docs := memoryOf(t, fstest.MapFS{}), t.TempDir()
	writeFile(t, filepath.Join(docs, "a.log"), "A walnut.")
	writeFile(t, filepath.Join(docs, "b.md"), "A walnut.")
	x.opt.Exclude = []string{"*.log"}
	expect(t, add(t, x, docs), "+1 ~0 -0 =0")
	if _, err := x.Remove(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	x.opt.Exclude = nil
	expect(t, add(t, x, docs), "+2 ~0 -0 =0")
}

// A rule never panics or takes long, and what is anchored to the folder of a name is found by that name.
func FuzzIgnore(f *testing.F) {
	f.Add("x/**/[a-c]?/*.md", "x/y/bz/a.md")
	f.Add(`!\#**/`, "#a/b")
	f.Fuzz(func(t *testing.T, line, name string) {
		r, err := parseIgnoreLine(line)
		if r == nil || err != nil {
			return
		}
		if r.matches(nil) {
			t.Fatalf("%q matches the folder itself", line)
		}
		r.matches(strings.Split(name, "/"))
		if len(name) > 0 && !strings.ContainsAny(name, "*?[\\\r\x00") && !strings.HasSuffix(name, " ") && !strings.HasSuffix(name, "/") && !strings.HasPrefix(name, "/") && !strings.Contains(name, "//") {
			r, err := parseIgnoreLine("/" + name)
			if err != nil || !r.matches(strings.Split(name, "/")) {
				t.Fatalf("/%s does not match %s: %v", name, name, err)
			}
		}
	})
}

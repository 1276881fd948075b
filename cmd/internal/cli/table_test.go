package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// On a narrow terminal a path loses its beginning and a title its end; numbers and days lose nothing. A path that has no room in
// the row stands in the line below. Output that is no terminal keeps everything.
func TestTableFits(t *testing.T) {
	list := Table{Header: []string{"PASSAGES", "SIZE", "MODIFIED", "PATH", "TITLE"}, Right: 2, Long: 3}
	list.Add("12345", "117.2 kB", "2026-01-02", "/home/mara/Documents/notes/house/boiler-and-radiators.md", "The boiler, the radiators and the cellar")
	list.Add("1", "6 B", "2026-01-02", "/home/mara/a.md", "A")
	shown := func(columns int) string {
		out := &bytes.Buffer{}
		(&Screen{Out: out}).printTable(list, columns)
		return out.String()
	}
	for columns, want := range map[int]string{
		0:  "   12345  117.2 kB  2026-01-02  /home/mara/Documents/notes/house/boiler-and-radiators.md  The boiler, the radiators and the cellar\n",
		90: "   12345  117.2 kB  2026-01-02  …/boiler-and-radiators.md  The boiler, the radiators a…\n",
		80: "   12345  117.2 kB  2026-01-02  …oiler-and-radiators.md  The boiler, the radiat…\n",
		40: "   12345  117.2 kB  2026-01-02\n  …-and-radiators.md  The boiler, the r…\n",
	} {
		if got := shown(columns); !strings.Contains(got, want) {
			t.Errorf("%d columns:\n%s", columns, got)
		}
	}
	for columns := 32; columns < 140; columns++ {
		for line := range strings.Lines(shown(columns)) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("%d columns have a line of %d: %s", columns, n, line)
			}
		}
	}
}

// Numbers stand at the right, wide characters take two columns, and what a terminal may obey is escaped.
func TestTable(t *testing.T) {
	a, out, _ := testApp(t)
	list := Table{Header: []string{"N", "NAME", "NOTE"}, Right: 1}
	list.Add("7", "é漢", "x")
	list.Add("12345", "longer\n", "")
	a.Table(list)
	if want := "    N  NAME      NOTE\n    7  é漢       x\n12345  longer\\n\n"; out.String() != want {
		t.Errorf("%q, want %q", out, want)
	}
}

// A path is shortened to the columns that it may take, at the beginning of a name if there is one.
func TestShortenPath(t *testing.T) {
	for _, c := range []struct {
		path string
		n    int
		want string
	}{
		{"/home/mara/a.md", 15, "/home/mara/a.md"}, {"/home/mara/a.md", 14, "…/mara/a.md"}, {"/home/mara/a.md", 4, "….md"}, {"/a", 0, "…"},
		{"/漢字/仮名.md", 13, "/漢字/仮名.md"}, {"/漢字/仮名.md", 12, "…/仮名.md"}, {"/漢字/仮名.md", 7, "…名.md"},
	} {
		if got := shortenPath(c.path, c.n); got != c.want {
			t.Errorf("%s in %d columns: %q, want %q", c.path, c.n, got, c.want)
		}
	}
}

package main

import (
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"

	"tandem/cmd/internal/cli"
)

// What is printed in Markdown is one object with --json, without the text around it.
func TestTables(t *testing.T) {
	print := func(asJSON bool) string {
		var out strings.Builder
		s := newTables(&cli.App{Context: t.Context(), Screen: &cli.Screen{Out: &out, Aside: io.Discard}, Globals: &cli.Globals{JSON: asJSON}})
		s.text("# Boats\n\n")
		s.begin("boats", "name", "length")
		s.row("`Ada`", "9 m")
		s.row("Finn", "7 m")
		s.text("\nThat is all.\n")
		s.begin("none", "name")
		if err := s.end(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got, want := print(false), "# Boats\n\n| name | length |\n|---|---|\n| `Ada` | 9 m |\n| Finn | 7 m |\n\nThat is all.\n| name |\n|---|\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var got map[string][]map[string]string
	if err := json.Unmarshal([]byte(print(true)), &got); err != nil {
		t.Fatal(err)
	}
	if want := map[string][]map[string]string{"boats": {{"name": "Ada", "length": "9 m"}, {"name": "Finn", "length": "7 m"}}, "none": {}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

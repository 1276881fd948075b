package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"tandem/lab"
)

// An experiment leaves a table, a picture and rows for programs; the report takes them up.
func TestLab(t *testing.T) {
	h := newHome(t)
	args := []string{"lab", "schedule", "--tokens", "10", "--records", "2", "--rtt", "50ms,100ms", "--decode", "30ms/30ms"}
	stdout, stderr, err := h.edge(args...)
	if err != nil || !strings.Contains(stdout, "better fixed side") {
		t.Fatalf("%v\n%s\n%s", err, stdout, stderr)
	}
	for _, name := range []string{"schedule.csv", "schedule-30-30.svg"} {
		if _, err := os.Stat(filepath.Join(h.dir, "lab-results", name)); err != nil {
			t.Error(err)
		}
	}
	if _, stderr, err := h.edge(append(args, "--json", "rows.json")...); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	data, err := os.ReadFile(filepath.Join(h.dir, "rows.json"))
	if err != nil {
		t.Fatal(err)
	}
	var whole struct{ Rows []lab.Row }
	if err := json.Unmarshal(data, &whole); err != nil || len(whole.Rows) != 2*7 {
		t.Errorf("%d rows, %v", len(whole.Rows), err)
	}
	for _, r := range whole.Rows {
		if r.Experiment != "schedule" || !r.Simulated || !r.PerToken.Known || r.Loss.Known {
			t.Errorf("%+v", r)
		}
	}
	if _, stderr, err := h.edge("lab", "report"); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	page, err := os.ReadFile(filepath.Join(h.dir, "lab-results", "report.html"))
	if err != nil || !strings.Contains(string(page), "edge lab schedule --tokens 10 --records 2") {
		t.Errorf("the report lacks the command: %v", err)
	}
}

// What makes no sense is said before anything runs.
func TestLabErrors(t *testing.T) {
	h := newHome(t)
	for _, c := range []struct{ args, want string }{
		{"lab schedule --decode fast", "150ms/30ms"},
		{"lab schedule rows.json", "needs --json"},
		{"lab schedule --tokens 0", "100000 --tokens"},
		{"lab latency --method magic", "tandem/mirror"},
		{"lab latency --simulate --decode native", "leave --simulate out"},
		{"lab loss --loss 2", "0 to 0.5"},
		{"lab hedge --rows 0", "1 to 8"},
		{"lab hedge --guess 2", "between 0 and 1"},
		{"lab hedge rows.json", "needs --json"},
		{"lab report", "run an experiment first"},
		{"lab hedge --rtt=-5s", "--rtt -5s: want 0 to 1m"},
		{"lab hedge --rtt 2m", "--rtt 2m0s: want 0 to 1m"},
		{"lab hedge --live --rtt=-5s", "--rtt -5s: want 0 to 1m"},
		{"lab hedge --decode 30ms", "150ms/30ms"},
		{"lab hedge --decode native", "150ms/30ms"},
		{"lab hedge --rows 9", "want 1 to 8"},
		{"lab pipeline --method tandem", "one method and placement"},
	} {
		if _, stderr, err := h.edge(strings.Fields(c.args)...); err == nil || !strings.Contains(stderr, c.want) {
			t.Errorf("edge %s: %v, %q; want %q", c.args, err, stderr, c.want)
		}
	}
}

// A flag's name means values of one kind in every command, one or several of them: it is also the name of a setting.
func TestFlagsOfOneNameAreOfOneKind(t *testing.T) {
	var g grammar
	parser, err := kong.New(&g, kong.Vars{"config": ""})
	if err != nil {
		t.Fatal(err)
	}
	kind := map[string]string{}
	var visit func(n *kong.Node)
	visit = func(n *kong.Node) {
		for _, f := range n.Flags {
			typ := f.Target.Type()
			if typ.Kind() == reflect.Slice {
				typ = typ.Elem()
			}
			k := strings.TrimPrefix(typ.String(), "u") // of whole numbers the range is left to the command
			if before, ok := kind[f.Name]; ok && before != k {
				t.Errorf("--%s is a %s in %s, a %s elsewhere", f.Name, k, n.Path(), before)
			}
			kind[f.Name] = k
		}
		for _, c := range n.Children {
			visit(c)
		}
	}
	visit(parser.Model.Node)
	if len(kind) < 50 {
		t.Errorf("only %d flags", len(kind))
	}
}

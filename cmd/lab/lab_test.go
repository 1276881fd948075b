package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/lab"
	"tandem/lab/report"
)

func TestMain(m *testing.M) { clitest.Main(m, main) }

// An experiment writes a table, a picture and JSON; the report shows the first two.
func TestLab(t *testing.T) {
	h := clitest.NewHome(t)
	args := []string{"schedule", "--tokens", "10", "--records", "2", "--rtt", "50ms,100ms", "--decode", "30ms/30ms"}
	stdout, stderr, err := h.Run(args...)
	if err != nil || !strings.Contains(stdout, "better fixed side") {
		t.Fatalf("%v\n%s\n%s", err, stdout, stderr)
	}
	for _, name := range []string{"schedule.csv", "schedule-30-30.svg"} {
		if _, err := os.Stat(filepath.Join(h.Dir, "lab-results", name)); err != nil {
			t.Error(err)
		}
	}
	if _, stderr, err := h.Run(append(args, "--json", "rows.json")...); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	data, err := os.ReadFile(filepath.Join(h.Dir, "rows.json"))
	if err != nil {
		t.Fatal(err)
	}
	var whole struct{ Rows []report.Result }
	if err := json.Unmarshal(data, &whole); err != nil || len(whole.Rows) != 2*7 {
		t.Errorf("%d rows, %v", len(whole.Rows), err)
	}
	for _, r := range whole.Rows {
		if r.Experiment != "schedule" || !r.Simulated || !r.PerToken.Known || r.Loss.Known {
			t.Errorf("%+v", r)
		}
	}
	if out, stderr, err := h.Run(append(args, "--json", "-")...); err != nil || !strings.Contains(out, "\"rows\"") {
		t.Errorf("to standard output: %v\n%s%s", err, out, stderr)
	}
	if _, err := os.Stat(filepath.Join(h.Dir, "-")); err == nil {
		t.Error("there is a file named -")
	}
	if _, stderr, err := h.Run("report"); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	page, err := os.ReadFile(filepath.Join(h.Dir, "lab-results", "report.html"))
	if err != nil || !strings.Contains(string(page), "lab schedule --tokens 10 --records 2") {
		t.Errorf("the report lacks the command: %v", err)
	}
}

// Bad flags are reported before anything runs.
func TestLabErrors(t *testing.T) {
	h := clitest.NewHome(t)
	for _, c := range []struct{ args, want string }{
		{"schedule --decode fast", "150ms/30ms"},
		{"schedule rows.json", "needs --json"},
		{"schedule --tokens 0", "100000 --tokens"},
		{"latency --method magic", "tandem/mirror"},
		{"latency --simulate --decode native", "leave --simulate out"},
		{"loss --loss 2", "0 to 0.5"},
		{"load --devices 0", "1 to 4096"},
		{"load --each 0", "1 or more"},
		{"load --places 8", "two numbers"},
		{"load --virtual quantum", "accelerator"},
		{"load --sets people/none", "people/none: there is no such set"},
		{"load --sets xquad/open --data .", "--sets xquad/open"},
		{"load --sets people/tune --questions=-1", "0 for all"},
		{"load --sets people/tune --virtual cores", "leave out --sets or --virtual"},
		{"load --passage-words 64", "needs --sets"},
		{"load --data .", "needs --sets"},
		{"hedge --contexts 0", "1 to 8"},
		{"hedge --guess 2", "between 0 and 1"},
		{"hedge rows.json", "needs --json"},
		{"report", "run an experiment first"},
		{"hedge --rtt=-5s", "--rtt -5s: want 0 to 1m"},
		{"hedge --rtt 2m", "--rtt 2m0s: want 0 to 1m"},
		{"hedge --live --rtt=-5s", "--rtt -5s: want 0 to 1m"},
		{"hedge --decode 30ms", "150ms/30ms"},
		{"hedge --decode native", "150ms/30ms"},
		{"hedge --contexts 9", "want 1 to 8"},
		{"rivals --world mine", "own, common"},
		{"rivals --rows 33", "1 to 32"},
		{"rivals --decode native", "above 0"},
		{"rivals --share 2", "between 0 and 1"},
		{"rivals --answers 0", "above 0"},
		{"rivals rows.json", "needs --json"},
		{"pipeline --method tandem", "one method and placement"},
		{"pipeline --replay /dev/null", "holds no token"},
		{"quality --n=-1", "--n -1"},
		{"speedup --simulate --cloud-delay=-1s", "--cloud-delay -1s"},
		{"report --from=", "path is empty"},
		{"schedule --replay=", "path is empty"},
		{"spec --inputs=", "path is empty"},
	} {
		_, stderr, err := h.Run(strings.Fields(c.args)...)
		if err == nil || !strings.Contains(stderr, c.want) {
			t.Errorf("lab %s: %v, %q; want %q", c.args, err, stderr, c.want)
		}
		if strings.Contains(stderr, "lab: lab: ") {
			t.Errorf("lab %s: %q", c.args, stderr)
		}
	}
}

// Each command line of the pages is one that the program takes.
func TestDocumentedCommands(t *testing.T) {
	if n := clitest.Documented(t, "lab", &commands{}, "../.."); n < 10 {
		t.Errorf("only %d command lines", n)
	}
}

// A flag means the same kind of value in every command.
func TestFlagsOfOneNameAreOfOneKind(t *testing.T) {
	if n := clitest.FlagKinds(t, &commands{}); n < 50 {
		t.Errorf("only %d flags", n)
	}
}

// Without --drafts, the two variants that it names are compared.
func TestDraftsByDefault(t *testing.T) {
	h := clitest.NewHome(t)
	stdout, stderr, err := h.Run("drafts", "--questions", "1", "--rtt", "2ms", "--decode", "1ms/1ms", "--json")
	var whole struct{ Rows []lab.DraftingResult }
	if err != nil || json.Unmarshal([]byte(stdout), &whole) != nil || len(whole.Rows) != 2 || whole.Rows[0].Drafters != "pld" || whole.Rows[1].Drafters != "auto" ||
		whole.Rows[0].Model != "built-in decoder" || whole.Rows[0].CostsOf != "1/1 ms, paced" {
		t.Errorf("%v: %s %s", err, stdout, stderr)
	}
}

// Rivals are printed with what they take and mirror's share of it.
func TestRivals(t *testing.T) {
	h := clitest.NewHome(t)
	stdout, stderr, err := h.Run("rivals", "--world", "common", "--decode", "30ms/30ms", "--rtt", "300ms", "--rows", "1,4", "--answers", "1", "--tokens", "20")
	if err != nil || !strings.Contains(stdout, "common      30/30   300   0.60 ") || !strings.Contains(stdout, "\n4 rows: mirror takes ") {
		t.Errorf("%v: %s %s", err, stdout, stderr)
	}
}

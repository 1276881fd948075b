package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The tests run this test binary as the program: with runAsEdge set, main takes over.
const runAsEdge = "TANDEM_TEST_RUN_AS_EDGE"

func TestMain(m *testing.M) {
	if os.Getenv(runAsEdge) != "" {
		main()
	}
	os.Exit(m.Run())
}

// home is an empty home folder for one test's programs.
type home struct {
	t   *testing.T
	dir string
}

func newHome(t *testing.T) home { return home{t, t.TempDir()} }

func (h home) env(more ...string) []string {
	env := []string{runAsEdge + "=1", "HOME=" + h.dir}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); name != "HOME" && !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "TANDEM_") {
			env = append(env, kv)
		}
	}
	return append(env, more...)
}

func (h home) command(ctx context.Context, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env, cmd.Dir = h.env(), h.dir
	return cmd
}

// edge runs the program and returns what it printed.
func (h home) edge(args ...string) (stdout, stderr string, err error) {
	h.t.Helper()
	return h.edgeWith(nil, args...)
}

// edgeWith adds to the environment.
func (h home) edgeWith(env []string, args ...string) (stdout, stderr string, err error) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := h.command(ctx, args...)
	cmd.Env = append(cmd.Env, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// ask asks a question with --json and returns the answer.
func (h home) ask(args ...string) askJSON {
	h.t.Helper()
	stdout, stderr, err := h.edge(append([]string{"ask", "--json", "--wait", "60s"}, args...)...)
	if err != nil {
		h.t.Fatalf("ask %q: %v\n%s", args, err, stderr)
	}
	var answer askJSON
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
		h.t.Fatalf("ask %q: %v in %q", args, err, stdout)
	}
	return answer
}

const (
	question    = "What is the wifi password of the lake cabin, and when does the harbour museum open?"
	deviceKnows = "tumbral-5827"
	cloudKnows  = "9:30"
)

// The README's question is answered by the two sides together and by neither alone, in the same words
// wherever drafts are aggregated and however far the cloud is.
func TestPairAnswersWhatNeitherSideCan(t *testing.T) {
	h := newHome(t)
	var text string
	for _, placement := range []string{"mirror", "device", "cloud", "sync"} {
		for _, rtt := range []string{"0s", "300ms"} {
			a := h.ask("--placement", placement, "--rtt", rtt, question)
			if !holds(a.Answer, []string{deviceKnows, cloudKnows}) {
				t.Errorf("%s at %s: %q lacks %s or %s", placement, rtt, a.Answer, deviceKnows, cloudKnows)
			}
			if text == "" {
				text = a.Answer
			}
			if a.Answer != text {
				t.Errorf("%s at %s: %q, elsewhere %q", placement, rtt, a.Answer, text)
			}
			if a.LocalOnly || a.Placement != placement || a.Stats.BytesSent == 0 || a.Stats.DraftBytesMean == 0 {
				t.Errorf("%s at %s: %+v", placement, rtt, a)
			}
			if rtt == "300ms" && a.Stats.RTT < 290 {
				t.Errorf("%s: RTT of %v ms over a path of 300 ms", placement, a.Stats.RTT)
			}
			if len(a.Documents.Device) == 0 || len(a.Documents.Cloud) == 0 || len(a.Tokens) == 0 {
				t.Errorf("%s at %s: no documents or tokens: %+v", placement, rtt, a)
			}
		}
	}
	for side, knows := range map[string][2]string{"device": {deviceKnows, cloudKnows}, "cloud": {cloudKnows, deviceKnows}} {
		a := h.ask("--side", side, question)
		if !holds(a.Answer, []string{knows[0]}) || holds(a.Answer, []string{knows[1]}) {
			t.Errorf("the %s alone says %q: want %s and not %s", side, a.Answer, knows[0], knows[1])
		}
	}
}

// A seed fixes sampled text too, in every placement; another seed gives, somewhere, another text.
func TestSeedFixesSampledText(t *testing.T) {
	h := newHome(t)
	texts := map[string]bool{}
	for _, seed := range []string{"1", "2", "3"} {
		var text string
		for _, placement := range []string{"mirror", "device", "cloud", "sync"} {
			a := h.ask("--temperature", "2.5", "--seed", seed, "--max-tokens", "24", "--placement", placement, "--nucleus", "1", question)
			if text == "" {
				text = a.Answer
			}
			if a.Answer != text {
				t.Errorf("seed %s, %s: %q, elsewhere %q", seed, placement, a.Answer, text)
			}
		}
		texts[text] = true
	}
	if len(texts) == 1 {
		t.Errorf("three seeds gave the same text %v", texts)
	}
}

// An answer that says that something is unknown counts as such, whatever it looked into. The example of the help is known.
func TestUnknownIsCounted(t *testing.T) {
	h := newHome(t)
	for q, want := range map[string]bool{"What is the wifi password of the ski hut?": true, "Who runs the bakery?": true, "Who owns the marina?": false} {
		if a := h.ask(q); a.Unknown != want || strings.Contains(a.Answer, "unknown") != want || a.LocalOnly {
			t.Errorf("%s: %q, unknown %v", q, a.Answer, a.Unknown)
		}
	}
}

// Folders given for one question are answered from, and nothing of them is kept.
func TestFoldersForOneQuestion(t *testing.T) {
	h := newHome(t)
	notes, public := filepath.Join(h.dir, "notes"), filepath.Join(h.dir, "public")
	write(t, notes, "boat.md", "# The boat Marigold\n\nThe berth of the Marigold is C17. The Marigold is owned by Petra Lindgren. The engine was serviced on 3 May.\n")
	write(t, notes, "garden.txt", "The garden shed is painted green. The code of the shed lock is 4031.\n")
	write(t, public, "harbour.html", "<html><head><title>Guest harbour</title></head><body><nav>Home</nav><p>The guest harbour opens at 6:15. The harbour master is Olof Berg.</p></body></html>")
	a := h.ask("--notes", notes, "--public", public, "What is the code of the shed lock, and when does the guest harbour open?")
	if titles := fmt.Sprint(a.Documents); !strings.Contains(titles, "Guest harbour") || strings.Contains(titles, "museum") {
		t.Errorf("answered from %v", titles)
	}
	if !holds(a.Answer, []string{"4031", "6:15"}) {
		t.Errorf("answer %q", a.Answer)
	}
	_, stderr, err := h.edge("ask", "--notes", t.TempDir(), "anything")
	if err == nil || !strings.Contains(stderr, "no readable documents") {
		t.Errorf("an empty folder: %v, %s", err, stderr)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// --local-only answers without a single socket. The program counts its own at every token.
func TestLocalOnlyOpensNoSocket(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts sockets in /proc, which is Linux's")
	}
	h := newHome(t)
	watch := func(args ...string) (sockets int) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := h.command(ctx, append([]string{"ask", "--json"}, args...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		for {
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				return sockets
			case <-time.After(time.Millisecond):
				sockets = max(sockets, countSockets(cmd.Process.Pid))
			}
		}
	}
	if n := watch("--local-only", question); n != 0 {
		t.Errorf("%d sockets with --local-only", n)
	}
	if n := watch(question); n == 0 {
		t.Error("no socket seen without --local-only: the test does not see sockets")
	}
	if a := h.ask("--local-only", question); !a.LocalOnly || a.Stats.BytesSent != 0 || !holds(a.Answer, []string{deviceKnows}) {
		t.Errorf("local answer %+v", a)
	}
}

func countSockets(pid int) int {
	n := 0
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// A flag wins over the environment, which wins over the configuration file.
func TestConfigurationOrder(t *testing.T) {
	h := newHome(t)
	write(t, filepath.Join(h.dir, ".config", "tandem", "edge"), "config.json", `{"placement": "cloud", "seed": 7}`)
	run := func(env string, args ...string) askJSON {
		cmd := h.command(t.Context(), append([]string{"ask", "--json", "--local-only"}, args...)...)
		if env != "" {
			cmd.Env = append(cmd.Env, env)
		}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var a askJSON
		if err := json.Unmarshal(out, &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := run("", question); a.Placement != "cloud" || a.Seed != 7 {
		t.Errorf("file alone: %s, seed %d", a.Placement, a.Seed)
	}
	if a := run("TANDEM_PLACEMENT=device", question); a.Placement != "device" || a.Seed != 7 {
		t.Errorf("environment over file: %s, seed %d", a.Placement, a.Seed)
	}
	if a := run("TANDEM_PLACEMENT=device", "--placement", "sync", question); a.Placement != "sync" {
		t.Errorf("flag over environment: %s", a.Placement)
	}
	write(t, filepath.Join(h.dir, ".config", "tandem", "edge"), "config.json", `{"placment": "cloud"}`)
	if _, stderr, err := h.edge("ask", question); err == nil || !strings.Contains(stderr, "placment") {
		t.Errorf("a misspelt setting: %v, %s", err, stderr)
	}
}

// Values of the configuration are read as if they were typed, and what is wrong with one names its file and its key, once.
func TestConfigurationValues(t *testing.T) {
	h := newHome(t)
	dir := filepath.Join(h.dir, ".config", "tandem", "edge")
	file := filepath.Join(dir, "config.json")
	write(t, dir, "config.json", `{"seed": 12345678901234567, "local-only": 1, "max-tokens": "9", "nucleus": 0.5, "placement": null, "methods": ["device", "pair"]}`)
	if a := h.ask(question); a.Seed != 12345678901234567 || !a.LocalOnly || len(a.Tokens) != 9 {
		t.Errorf("seed %d, local only %v, %d tokens", a.Seed, a.LocalOnly, len(a.Tokens))
	}
	for text, want := range map[string]string{
		`{"max-tokens": 5.5}`: "--max-tokens", `{"local-only": 2}`: "--local-only", `{"placement": "moon"}`: "--placement",
		`{"notes": "/no/such"}`: "--notes", `{"seed": {"a": 1}}`: "--seed", `{"seed": [null]}`: "--seed", `{"seed": 1`: "unexpected EOF", `{"seed": 1} 2`: "after the object",
		`{"seed": 1,}`: "byte 12", `[]`: "write an object", ``: "write an object", `{"wait": "soon"}`: "--wait",
	} {
		write(t, dir, "config.json", text)
		_, stderr, err := h.edge("ask", question)
		if err == nil || strings.Count(stderr, file) != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %v, %s; want %q and the file once", text, err, stderr, want)
		}
	}
}

// Without a home folder that is said once.
func TestNoHome(t *testing.T) {
	h := newHome(t)
	if _, stderr, err := h.edgeWith([]string{"HOME="}, "index", "add", "x"); err == nil || strings.Count(stderr, "no home folder") != 1 {
		t.Errorf("%v: %s", err, stderr)
	}
}

// What a command does is not changed by settings.
func TestActionsAreNoSettings(t *testing.T) {
	h := newHome(t)
	env := []string{"TANDEM_VERSION=1.2", "TANDEM_LIST=1", "TANDEM_REMOVE=nobody", "TANDEM_CLEAR=1", "TANDEM_SHOW=1", "TANDEM_PROFILE=1", "TANDEM_FIT=1", "TANDEM_HELP=1"}
	if out, stderr, err := h.edgeWith(env, "index", "list"); err != nil || !strings.Contains(out, "Nothing is indexed") {
		t.Errorf("index list: %v, %s%s", err, out, stderr)
	}
	if _, stderr, err := h.edgeWith(env, "pair"); err == nil || !strings.Contains(stderr, "no code") {
		t.Errorf("pair: %v, %s", err, stderr)
	}
	if _, stderr, err := h.edgeWith(env, "netem", "--help"); err != nil || stderr != "" {
		t.Errorf("help: %v, %s", err, stderr)
	}
	for _, key := range []string{"version", "list", "remove", "clear", "profile", "help"} {
		write(t, filepath.Join(h.dir, ".config", "tandem", "edge"), "config.json", fmt.Sprintf(`{%q: true}`, key))
		if out, stderr, err := h.edge("pair", "--list"); err == nil || !strings.Contains(stderr, "--"+key+" is for the command line") {
			t.Errorf("%s in the configuration: %v, %s%s", key, err, out, stderr)
		}
	}
}

// Errors name the thing and the way out, on standard error, with the exit code of their kind.
func TestErrorsHelp(t *testing.T) {
	h := newHome(t)
	write(t, h.dir, "broken.gguf", "GGUF but no more")
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"ask", "--placement", "moon", question}, "mirror", 2},
		{[]string{"ask", "--model", "missing.gguf", question}, "missing.gguf", 1},
		{[]string{"ask", "--model", "broken.gguf", question}, "broken.gguf", 1},
		{[]string{"ask", "--temperature=-1", question}, "temperature", 1},
		{[]string{"ask", "--weights", "heavy", question}, "sentence", 1},
		{[]string{"ask", "--rows", "257", question}, "256", 1},
		{[]string{"ask", "--wait=-1s", question}, "--wait -1s", 1},
		{[]string{"ask", "--ahead", "0", question}, "want 1 (none)", 1},
		{[]string{"ask", "--cache-mb=-1", question}, "--cache-mb -1", 2},
		{[]string{"doctor", "--cache-mb=-1"}, "--cache-mb -1", 2},
		{[]string{"ask", "--passage-words=-1", question}, "0 (a sentence each)", 2},
		{[]string{"index", "add", "--passage-words=-1"}, "0 (a sentence each)", 2},
		{[]string{"ask", "--soc", "sm8750", "--switching", "foo", question}, "resident, greedy, progressive\n", 1},
		{[]string{"netem", "--rebind=-1s", "127.0.0.1:4433"}, "--rebind -1s", 1},
		{[]string{"netem", "127.0.0.1:0"}, "target 127.0.0.1:0", 1},
		{[]string{"bench", "quality", "--n=-1"}, "--n -1", 1},
		{[]string{"lab", "speedup", "--simulate", "--cloud-delay=-1s"}, "--cloud-delay -1s", 1},
		{[]string{"ask", "--rows=-1", question}, "256", 1},
		{[]string{"ask", "--side", "cloud", "--local-only", question}, "leave one out", 1},
		{[]string{"ask", "--cloud", "nowhere:1", question}, "edge pair", 1},
		{[]string{"ask", ""}, "empty", 1},
		{[]string{"pair", "AAAA-BBBB"}, "code", 1},
		{[]string{"index", "add", "nothing-here"}, "nothing-here", 1},
		{[]string{"frobnicate"}, "--help", 2},
	} {
		stdout, stderr, err := h.edge(c.args...)
		code := 0
		if exit, ok := err.(*exec.ExitError); ok {
			code = exit.ExitCode()
		}
		if code != c.code || !strings.Contains(stderr, c.want) || stdout != "" || strings.Contains(stderr, "panic") {
			t.Errorf("edge %q: exit %d, stdout %q, stderr %q; want exit %d and %q", c.args, code, stdout, stderr, c.code, c.want)
		}
	}
}

// An empty path, such as a variable of the shell leaves that is not set, is not the working directory.
func TestEmptyPaths(t *testing.T) {
	h := newHome(t)
	write(t, h.dir, "boat.md", "# The boat Marigold\n\nThe berth of the Marigold is C17.\n")
	if _, stderr, err := h.edge("index", "add", "."); err != nil {
		t.Fatal(stderr)
	}
	for _, args := range [][]string{
		{"index", "remove", ""}, {"index", "remove", "nothing", ""}, {"index", "add", ""}, {"ask", "--local-only", "--notes", "", question},
		{"lab", "report", "--from="}, {"pair", "--from", ""}, {"lab", "schedule", "--replay="}, {"bench", "spec", "--inputs", ""}, {"--config=", "index", "list"},
	} {
		_, stderr, err := h.edge(args...)
		if err == nil || !strings.Contains(stderr, "path is empty") {
			t.Errorf("edge %q: %v, %s", args, err, stderr)
		}
	}
	if out, stderr, err := h.edge("pair", "--remove", ""); err == nil || !strings.Contains(stderr, "name is empty") {
		t.Errorf("an empty name: %v, %s%s", err, out, stderr)
	}
	if _, stderr, err := h.edgeWith([]string{"TANDEM_NOTES="}, "ask", "--local-only", question); err == nil || !strings.Contains(stderr, "TANDEM_NOTES") {
		t.Errorf("an empty variable: %v, %s", err, stderr)
	}
	if out, _, err := h.edge("index", "list"); err != nil || !strings.Contains(out, "boat.md") {
		t.Errorf("the index holds %s (%v)", out, err)
	}
}

// A user's documents are indexed, listed, answered from and forgotten.
func TestIndexLife(t *testing.T) {
	h := newHome(t)
	docs := filepath.Join(h.dir, "docs")
	write(t, docs, "boat.md", "# The boat Marigold\n\nThe berth of the Marigold is C17.\n")
	if out, stderr, err := h.edge("index", "add", docs); err != nil || !strings.Contains(out, "1 added") {
		t.Fatalf("add: %v, %s%s", err, out, stderr)
	}
	if out, _, err := h.edge("index", "list"); err != nil || !strings.Contains(out, "boat.md") {
		t.Errorf("list: %v, %s", err, out)
	}
	a := h.ask("What is the berth of the Marigold?")
	if len(a.Documents.Device) != 1 || !a.LocalOnly || !holds(a.Answer, []string{"C17"}) {
		t.Errorf("answer %+v", a)
	}
	if out, _, err := h.edge("index", "remove", docs); err != nil || !strings.Contains(out, "1 removed") {
		t.Errorf("remove: %v, %s", err, out)
	}
	if out, _, err := h.edge("index", "list"); err != nil || !strings.Contains(out, "Nothing is indexed") {
		t.Errorf("list after removal: %v, %s", err, out)
	}
}

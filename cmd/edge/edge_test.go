package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/cmd/internal/clitest"
	"tandem/decoder/extract"
)

func TestMain(m *testing.M) { clitest.Main(m, main) }

// home is a home folder in which questions are asked.
type home struct{ clitest.Home }

func newHome(t *testing.T) home { return home{clitest.NewHome(t)} }

// ask asks a question with --json and returns the answer.
func (h home) ask(args ...string) askJSON {
	h.T.Helper()
	stdout, stderr, err := h.Run(append([]string{"ask", "--json", "--wait", "60s"}, args...)...)
	if err != nil {
		h.T.Fatalf("ask %q: %v\n%s", args, err, stderr)
	}
	var answer askJSON
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
		h.T.Fatalf("ask %q: %v in %q", args, err, stdout)
	}
	return answer
}

// chat starts a conversation with --json, which ends with the test, and returns what asks a question there.
func (h home) chat(ctx context.Context, args ...string) func(question string) askJSON {
	h.T.Helper()
	chat := h.Command(ctx, append([]string{"chat", "--json", "--turns", "0", "--wait", "60s"}, args...)...)
	questions, err := chat.StdinPipe()
	if err != nil {
		h.T.Fatal(err)
	}
	answers, err := chat.StdoutPipe()
	if err != nil {
		h.T.Fatal(err)
	}
	if err := chat.Start(); err != nil {
		h.T.Fatal(err)
	}
	h.T.Cleanup(func() {
		questions.Close()
		chat.Wait()
	})
	replies := json.NewDecoder(answers)
	return func(question string) (a askJSON) {
		h.T.Helper()
		if _, err := questions.Write([]byte(question + "\n")); err != nil {
			h.T.Fatal(err)
		}
		if err := replies.Decode(&a); err != nil {
			h.T.Fatalf("%s: %v", question, err)
		}
		return a
	}
}

// holds reports whether an answer contains all values.
func holds(answer string, values ...string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return !strings.Contains(answer, v) })
}

const (
	question    = "What is the wifi password of the lake cabin, and when does the harbour museum open?"
	deviceKnows = "tumbral-5827"
	cloudKnows  = "9:30"
	cloudOnly   = "When does the harbour museum open?"

	// The built-in decoder mixes up the two times of the museum's sentence, so it is asked for a name.
	decoderQuestion   = "What is the wifi password of the lake cabin, and who is the director of the harbour museum?"
	decoderCloudKnows = "Ines Calder"
)

// Both sides together answer the README's question, and neither side alone does. The text does not depend on the placement
// or on the distance of the cloud.
func TestPairAnswersWhatNeitherSideCan(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var text string
	for _, placement := range []string{"mirror", "device", "cloud", "sync"} {
		for _, rtt := range []string{"0s", "300ms"} {
			a := h.ask("--placement", placement, "--rtt", rtt, question)
			if !holds(a.Answer, deviceKnows, cloudKnows) {
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
		if !holds(a.Answer, knows[0]) || holds(a.Answer, knows[1]) {
			t.Errorf("the %s alone says %q: want %s and not %s", side, a.Answer, knows[0], knows[1])
		}
	}
}

// The sample says both times of the harbour museum in one sentence, and its closing day in the next.
func TestSampleTimes(t *testing.T) {
	t.Parallel()
	ask := newHome(t).chat(t.Context())
	for q, want := range map[string]string{
		"When does the harbour museum open?":            "9:30",
		"When does the harbour museum close?":           "17:00",
		"When does the harbour museum open and close?":  "9:30\n17:00",
		"On which day is the harbour museum closed?":    "Mondays",
		"What is the current exhibition of the museum?": "Salt and Rope",
		"What is the entry fee of the harbour museum?":  "8 euros",
		"Who is the director of the harbour museum?":    "Ines Calder",
	} {
		if a := ask(q); a.Answer != want {
			t.Errorf("%s: %q, want %q", q, a.Answer, want)
		}
	}
}

// Of a question that may ask for two things and is not divided, the answer says that one may be missing.
func TestUndividedQuestion(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for q, want := range map[string]bool{"What is the colour of the cat and the dog?": true, question: false} {
		if said := strings.Join(h.ask(q).Remarks, "; "); strings.Contains(said, "one of two things") != want {
			t.Errorf("%s: remarks %q", q, said)
		}
	}
}

// The same seed gives the same sampled text in every placement; another seed gives another text at some point.
func TestSeedFixesSampledText(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	texts := map[string]bool{}
	for _, seed := range []string{"1", "2", "3"} {
		var text string
		for _, placement := range []string{"mirror", "device", "cloud", "sync"} {
			a := h.ask("--reader", "decoder", "--temperature", "2", "--seed", seed, "--max-tokens", "24", "--placement", placement, "--nucleus", "1", question)
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

// An answer that says that nobody knows is marked as unknown, whatever it read.
func TestUnknownIsCounted(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for q, want := range map[string]bool{"Who owns the moon?": true, "Who is the harbour master of the marina?": false} {
		if a := h.ask(q); a.Unknown != want || (a.Answer == extract.Unknown) != want || a.LocalOnly {
			t.Errorf("%s: %q, unknown %v", q, a.Answer, a.Unknown)
		}
	}
}

// Folders given for one question are used for it, and nothing of them is kept.
func TestFoldersForOneQuestion(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	notes, public := filepath.Join(h.Dir, "notes"), filepath.Join(h.Dir, "public")
	clitest.Write(t, notes, "boat.md", "# The boat Marigold\n\nThe berth of the Marigold is C17. The Marigold is owned by Petra Lindgren. The engine was serviced on 3 May.\n")
	clitest.Write(t, notes, "garden.txt", "The garden shed is painted green. The code of the shed lock is 4031.\n")
	clitest.Write(t, public, "harbour.html", "<html><head><title>Guest harbour</title></head><body><nav>Home</nav><p>The guest harbour opens at 6:15. The harbour master is Olof Berg.</p></body></html>")
	a := h.ask("--notes", notes, "--public", public, "What is the code of the shed lock, and when does the guest harbour open?")
	if titles := fmt.Sprint(a.Documents); !strings.Contains(titles, "Guest harbour") || strings.Contains(titles, "museum") {
		t.Errorf("answered from %v", titles)
	}
	if !holds(a.Answer, "4031", "6:15") {
		t.Errorf("answer %q", a.Answer)
	}
	_, stderr, err := h.Run("ask", "--notes", t.TempDir(), "anything")
	if err == nil || !strings.Contains(stderr, "no readable documents") {
		t.Errorf("an empty folder: %v, %s", err, stderr)
	}
}

// Where the user's own documents answer, the sample cloud does not, unless that is asked for.
func TestOwnDocumentsHaveNoSampleCloud(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	notes := filepath.Join(h.Dir, "notes")
	clitest.Write(t, notes, "garden.txt", "The code of the shed lock is 4031.\n")
	check := func(own ...string) {
		a := h.ask(append(own, cloudOnly)...)
		if len(a.Documents.Cloud) > 0 || holds(a.Answer, cloudKnows) || a.Stats.BytesSent > 0 {
			t.Errorf("%q: %q from %+v", own, a.Answer, a.Documents)
		}
		_, stderr, err := h.Run(append(append([]string{"ask", "--side", "cloud"}, own...), cloudOnly)...)
		if err == nil || !strings.Contains(stderr, "no cloud is paired") || !strings.Contains(stderr, "--sample") {
			t.Errorf("%q --side cloud: %v, %s", own, err, stderr)
		}
	}
	check("--notes", notes)
	if _, stderr, err := h.Run("index", "add", notes); err != nil {
		t.Fatal(err, stderr)
	}
	check()
	for _, sample := range [][]string{{"--sample"}, {"--cloud", "sample"}} {
		if a := h.ask(append(sample, "--side", "cloud", cloudOnly)...); !holds(a.Answer, cloudKnows) {
			t.Errorf("%q: %q", sample, a.Answer)
		}
	}
}

// index show of a file that was added and has no passages says why, unlike that of a file that nobody added. Of a folder it
// says that it wants a file.
func TestShowOfASkippedFile(t *testing.T) {
	h := newHome(t)
	notes := filepath.Join(h.Dir, "notes")
	clitest.Write(t, notes, "cabin.txt", "The cabin is by the lake.\n")
	clitest.Write(t, notes, "empty.txt", " \n")
	if _, stderr, err := h.Run("index", "add", notes); err != nil {
		t.Fatal(err, stderr)
	}
	for name, want := range map[string]string{"empty.txt": "is not in the index: no text in it", "other.txt": "index list shows what is", "": "is a folder: name a file in it"} {
		if _, stderr, err := h.Run("index", "show", filepath.Join(notes, name)); err == nil || !strings.Contains(stderr, want) {
			t.Errorf("%s: %v, %s", name, err, stderr)
		}
	}
}

// A file may be shown by the end of its path where only one indexed file has it, and a folder's files are listed alone.
func TestShowByName(t *testing.T) {
	h := newHome(t)
	for _, name := range []string{"notes/cabin.txt", "notes/staff/rota.txt", "notes/staffroom.txt", "old/rota.txt"} {
		clitest.Write(t, filepath.Join(h.Dir, filepath.Dir(name)), filepath.Base(name), "The text of "+name+" is short.\n")
	}
	if _, stderr, err := h.Run("index", "add", filepath.Join(h.Dir, "notes"), filepath.Join(h.Dir, "old")); err != nil {
		t.Fatal(err, stderr)
	}
	for _, c := range []struct {
		args, want, lacks string
		fails             bool
	}{
		{"show cabin.txt", "The text of notes/cabin.txt", "", false},
		{"show staff/rota.txt", "The text of notes/staff/rota.txt", "", false},
		{"show rota.txt", "give more of the path", "", true},
		{"show room.txt", "is not in the index", "", true}, // the end of a name is no name
		{"show ../cabin.txt", "is not in the index", "", true},
		{"show staff", "is not in the index", "", true},
		{"list notes/staff", "rota.txt", "staffroom", false},
		{"list notes/staff/ old", "2 files", "cabin", false},
		{"list notes/cabin.txt", "1 file,", "rota", false},
		{"list notes/cab", "nothing of", "1 file", true},
		{"list /", "4 files", "", false},
	} {
		stdout, stderr, err := h.Run(append([]string{"index"}, strings.Fields(c.args)...)...)
		if text := stdout + stderr; (err != nil) != c.fails || !strings.Contains(text, c.want) || c.lacks != "" && strings.Contains(text, c.lacks) {
			t.Errorf("index %s: %v, %s", c.args, err, text)
		}
	}
}

// A sentence that says two parts of an answer stands below it once.
func TestSentenceCitedOnce(t *testing.T) {
	h := newHome(t)
	const sentence = "The stall of the fair is run by Ida Roth and costs 30 euros a day."
	notes := filepath.Join(h.Dir, "notes")
	clitest.Write(t, notes, "stall.txt", sentence+"\n")
	answer, below, err := h.Run("ask", "--notes", notes, "Who runs the stall of the fair, and what does the stall of the fair cost?")
	if err != nil || !holds(answer, "Ida Roth", "30 euros") || strings.Count(below, sentence) != 1 || !strings.Contains(below, "1, 2. “") {
		t.Errorf("%v: %s\n%s", err, answer, below)
	}
}

// --local-only opens no socket. The test counts the program's sockets while it answers.
func TestLocalOnlyOpensNoSocket(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("counts sockets in /proc, which is Linux's")
	}
	h := newHome(t)
	watch := func(enough int, args ...string) (sockets int) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		cmd := h.Command(ctx, append([]string{"ask", "--json"}, args...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		for {
			select {
			case err := <-done:
				if err != nil && sockets < enough {
					t.Fatal(err)
				}
				return sockets
			case <-time.After(time.Millisecond):
				if sockets = max(sockets, countSockets(cmd.Process.Pid)); sockets >= enough {
					cancel()
				}
			}
		}
	}
	if n := watch(math.MaxInt, "--local-only", question); n != 0 {
		t.Errorf("%d sockets with --local-only", n)
	}
	if n := watch(1, "--rtt", "2s", "--wait", "60s", question); n == 0 { // long enough to be looked at
		t.Error("no socket seen without --local-only: the test does not see sockets")
	}
	if a := h.ask("--local-only", question); !a.LocalOnly || a.Stats.BytesSent != 0 || !holds(a.Answer, deviceKnows) {
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
	t.Parallel()
	h := newHome(t)
	clitest.Write(t, filepath.Join(h.Dir, ".config", "tandem", "edge"), "config.json", `{"placement": "cloud", "seed": 7}`)
	run := func(env string, args ...string) askJSON {
		cmd := h.Command(t.Context(), append([]string{"ask", "--json", "--local-only"}, args...)...)
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
	clitest.Write(t, filepath.Join(h.Dir, ".config", "tandem", "edge"), "config.json", `{"placment": "cloud"}`)
	if _, stderr, err := h.Run("ask", question); err == nil || !strings.Contains(stderr, "placment") {
		t.Errorf("a misspelt setting: %v, %s", err, stderr)
	}
}

// Values in the configuration file are read like those on the command line. An error names the file and the key, once.
func TestConfigurationValues(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := filepath.Join(h.Dir, ".config", "tandem", "edge")
	file := filepath.Join(dir, "config.json")
	clitest.Write(t, dir, "config.json", `{"seed": 12345678901234567, "local-only": 1, "max-tokens": "9", "reader": "decoder", "nucleus": 0.5, "placement": null}`)
	if a := h.ask(question); a.Seed != 12345678901234567 || !a.LocalOnly || len(a.Tokens) != 9 {
		t.Errorf("seed %d, local only %v, %d tokens", a.Seed, a.LocalOnly, len(a.Tokens))
	}
	for text, want := range map[string]string{
		`{"max-tokens": 5.5}`: "--max-tokens", `{"local-only": 2}`: "--local-only", `{"placement": "moon"}`: "--placement",
		`{"notes": "/no/such"}`: "--notes", `{"seed": {"a": 1}}`: "--seed", `{"seed": [null]}`: "--seed", `{"seed": 1`: "unexpected EOF", `{"seed": 1} 2`: "after the object",
		`{"seed": 1,}`: "byte 12", `[]`: "write an object", ``: "write an object", `{"wait": "soon"}`: "--wait",
		`{"max-tokens": -3}`: "want 1 to 65536 (--max-tokens is set in", `{"model": "nope"}`: "(--model is set in", `{"scorer": "nope"}`: "(--scorer is set in",
		`{"max_tokens": 3}`: `did you mean "max-tokens"`, "\n": "it is empty", `["seed"]`: "it is not an object",
	} {
		clitest.Write(t, dir, "config.json", text)
		_, stderr, err := h.Run("ask", question)
		if err == nil || strings.Count(stderr, file) != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %v, %s; want %q and the file once", text, err, stderr, want)
		}
	}
}

// A missing home folder is reported once. The samples do not answer in the place of documents that cannot be found.
func TestNoHome(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if _, stderr, err := h.RunWith([]string{"HOME="}, "index", "add", "x"); err == nil || strings.Count(stderr, "no home folder") != 1 {
		t.Errorf("%v: %s", err, stderr)
	}
	for _, args := range [][]string{{"ask"}, {"ask", "--local-only"}, {"ask", "--side", "cloud"}} {
		stdout, stderr, err := h.RunWith([]string{"HOME="}, append(args, question)...)
		if err == nil || stdout != "" || !strings.Contains(stderr, "cannot be found: no home folder: set HOME or the XDG_CONFIG_HOME") {
			t.Errorf("%q: %v, %q, %s", args, err, stdout, stderr)
		}
	}
	if stdout, stderr, err := h.RunWith([]string{"HOME="}, "ask", "--sample", question); err != nil || !strings.Contains(stdout, cloudKnows) {
		t.Errorf("--sample: %v, %q, %s", err, stdout, stderr)
	}
	for _, args := range [][]string{{"--help"}, {"version"}, {"ask", "--sample", question}} { // as of accounts of services
		if stdout, stderr, err := h.RunWith([]string{"HOME=/dev/null"}, args...); err != nil || stdout == "" {
			t.Errorf("HOME=/dev/null: %q: %v, %q, %s", args, err, stdout, stderr)
		}
	}
	if _, stderr, err := h.RunWith([]string{"HOME=/dev/null"}, "ask", question); err == nil || !strings.Contains(stderr, "cannot be found: no home folder") {
		t.Errorf("HOME=/dev/null: %v: %s", err, stderr)
	}
	if _, stderr, err := h.RunWith([]string{"HOME=here"}, "index", "add", "x"); err == nil || !strings.Contains(stderr, `the home folder "here" is not an absolute path`) {
		t.Errorf("a relative HOME: %v: %s", err, stderr)
	}
}

// Flags that are actions cannot be set in the environment or the configuration file.
func TestActionsAreNoSettings(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	env := []string{"TANDEM_VERSION=1.2", "TANDEM_LIST=1", "TANDEM_REMOVE=nobody", "TANDEM_CLEAR=1", "TANDEM_SHOW=1", "TANDEM_PROFILE=1", "TANDEM_HELP=1"}
	if out, stderr, err := h.RunWith(env, "index", "list"); err != nil || !strings.Contains(out, "Nothing has been indexed yet") {
		t.Errorf("index list: %v, %s%s", err, out, stderr)
	}
	if _, stderr, err := h.RunWith(env, "pair"); err == nil || !strings.Contains(stderr, "no code") {
		t.Errorf("pair: %v, %s", err, stderr)
	}
	if _, stderr, err := h.RunWith(env, "netem", "--help"); err != nil || stderr != "" {
		t.Errorf("help: %v, %s", err, stderr)
	}
	for _, key := range []string{"version", "list", "remove", "clear", "profile", "help"} {
		clitest.Write(t, filepath.Join(h.Dir, ".config", "tandem", "edge"), "config.json", fmt.Sprintf(`{%q: true}`, key))
		if out, stderr, err := h.Run("pair", "--list"); err == nil || !strings.Contains(stderr, "--"+key+" is for the command line") {
			t.Errorf("%s in the configuration: %v, %s%s", key, err, out, stderr)
		}
	}
}

// Errors name their cause and what to do, on standard error, and set the exit code of their kind.
func TestErrorsHelp(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	clitest.Write(t, h.Dir, "broken.gguf", "GGUF but no more")
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"ask", "--placement", "moon", question}, "mirror", 2},
		{[]string{"ask", "--model", "missing.gguf", question}, "missing.gguf", 1},
		{[]string{"ask", "--model", "broken.gguf", question}, "broken.gguf", 1},
		{[]string{"ask", "--temperature=-1", question}, "temperature", 2},
		{[]string{"ask", "--weights", "heavy", question}, "sentence", 2},
		{[]string{"ask", "--contexts", "257", question}, "256", 2},
		{[]string{"ask", "--wait=-1s", question}, "--wait -1s", 2},
		{[]string{"ask", "--ahead", "0", question}, "want 1 (none)", 2},
		{[]string{"ask", "--cache-mb=-1", question}, "--cache-mb -1", 2},
		{[]string{"ask", "--temperature", "9", question}, "--temperature 9: want 0 to 2", 2},
		{[]string{"run", "--temperature=-1", "Hello"}, "--temperature -1: want 0 to 2", 2},
		{[]string{"reply", "--temperature", "2.1", "Ada: Hello?"}, "--temperature 2.1: want 0 to 2", 2},
		{[]string{"doctor", "--cache-mb=-1"}, "--cache-mb -1", 2},
		{[]string{"ask", "--passage-words=-1", question}, "0 (the default)", 2},
		{[]string{"index", "add", "--passage-words=-1"}, "0 (the default)", 2},
		{[]string{"ask", "--soc", "sm8750", "--switching", "foo", question}, "resident, greedy, progressive\nRun \"edge ask --help\"", 2},
		{[]string{"netem", "--rebind=-1s", "127.0.0.1:4433"}, "--rebind -1s", 2},
		{[]string{"netem", "127.0.0.1:0"}, "target 127.0.0.1:0", 2},
		{[]string{"netem", "--rebind", "1s"}, "name a target", 2},
		{[]string{"netem", "--delay", "1ms"}, "no target", 1},
		{[]string{"netem", "--clear"}, "--tc IFACE", 1},
		{[]string{"netem", "--tc", "lo", "--clear", "127.0.0.1:4433"}, "take no target", 1},
		{[]string{"netem", "--loss", "2", "127.0.0.1:4433"}, "loss", 2},
		{[]string{"ask", "--max-tokens", "0", question}, "want 1 to 65536\nRun \"edge ask --help\" for", 2},
		{[]string{"run", "--max-tokens", "0", "Hello"}, "Run \"edge run --help\" for", 2},
		{[]string{"rewrite", "--correct", "--max-tokens", "0", "helo"}, "Run \"edge rewrite --help\" for", 2},
		{[]string{"ask", "--contexts=-1", question}, "256", 2},
		{[]string{"ask", "--side", "cloud", "--local-only", question}, "leave one out", 2},
		{[]string{"ask", "--cloud", "nowhere:1", question}, "edge pair", 1},
		{[]string{"ask", ""}, "empty", 1},
		{[]string{"pair", "AAAA-BBBB"}, "code", 1},
		{[]string{"index", "add", "nothing-here"}, "nothing-here", 1},
		{[]string{"frobnicate"}, "--help", 2},
	} {
		stdout, stderr, err := h.Run(c.args...)
		code := 0
		if exit, ok := err.(*exec.ExitError); ok {
			code = exit.ExitCode()
		}
		if code != c.code || !strings.Contains(stderr, c.want) || stdout != "" || strings.Contains(stderr, "panic") {
			t.Errorf("edge %q: exit %d, stdout %q, stderr %q; want exit %d and %q", c.args, code, stdout, stderr, c.code, c.want)
		}
	}
}

// The help of ask shows few flags; --help-all shows them all.
func TestAskHelpIsShort(t *testing.T) {
	h := newHome(t)
	flags := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([\w-]+)`)
	shown := func(flag string) (names []string) {
		out, stderr, err := h.Run("ask", flag)
		if err != nil || stderr != "" {
			t.Fatalf("ask %s: %v, %s", flag, err, stderr)
		}
		for _, match := range flags.FindAllStringSubmatch(out, -1) {
			names = append(names, match[1])
		}
		return names
	}
	short, all := shown("--help"), shown("--help-all")
	if len(short) > 22 {
		t.Errorf("--help shows %d flags: %v", len(short), short)
	}
	for _, name := range []string{"method", "coupling", "gamma", "weights", "record", "placement", "config"} {
		if slices.Contains(short, name) || !slices.Contains(all, name) {
			t.Errorf("--%s: in --help %v, in --help-all %v", name, slices.Contains(short, name), slices.Contains(all, name))
		}
	}
	for _, name := range []string{"private", "local-only", "cloud", "fail-unknown", "require-cloud"} {
		if !slices.Contains(short, name) {
			t.Errorf("--help lacks --%s", name)
		}
	}
	for _, name := range short {
		if !slices.Contains(all, name) {
			t.Errorf("--help-all lacks --%s", name)
		}
	}
}

// An empty path, such as that of an unset shell variable, does not mean the working directory.
func TestEmptyPaths(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	clitest.Write(t, h.Dir, "boat.md", "# The boat Marigold\n\nThe berth of the Marigold is C17.\n")
	if _, stderr, err := h.Run("index", "add", "."); err != nil {
		t.Fatal(stderr)
	}
	for _, args := range [][]string{
		{"index", "remove", ""}, {"index", "remove", "nothing", ""}, {"index", "add", ""}, {"ask", "--local-only", "--notes", "", question},
		{"pair", "--from", ""}, {"--config=", "index", "list"},
	} {
		_, stderr, err := h.Run(args...)
		if err == nil || !strings.Contains(stderr, "path is empty") {
			t.Errorf("edge %q: %v, %s", args, err, stderr)
		}
	}
	if out, stderr, err := h.Run("pair", "--remove", ""); err == nil || !strings.Contains(stderr, "name is empty") {
		t.Errorf("an empty name: %v, %s%s", err, out, stderr)
	}
	if _, stderr, err := h.RunWith([]string{"TANDEM_NOTES="}, "ask", "--local-only", question); err == nil || !strings.Contains(stderr, "TANDEM_NOTES") {
		t.Errorf("an empty variable: %v, %s", err, stderr)
	}
	if out, _, err := h.Run("index", "list"); err != nil || !strings.Contains(out, "boat.md") {
		t.Errorf("the index holds %s (%v)", out, err)
	}
}

// A user's documents are indexed, listed, used for an answer and removed.
func TestIndexLife(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	docs := filepath.Join(h.Dir, "docs")
	clitest.Write(t, docs, "boat.md", "# The boat Marigold\n\nThe berth of the Marigold is C17.\n")
	if out, stderr, err := h.Run("index", "add", docs); err != nil || !strings.Contains(out, "1 added") {
		t.Fatalf("add: %v, %s%s", err, out, stderr)
	}
	if out, _, err := h.Run("index", "list"); err != nil || !strings.Contains(out, "boat.md") {
		t.Errorf("list: %v, %s", err, out)
	}
	a := h.ask("What is the berth of the Marigold?")
	if len(a.Documents.Device) != 1 || !a.LocalOnly || !strings.Contains(a.Answer, "C17") {
		t.Errorf("answer %+v", a)
	}
	if out, _, err := h.Run("index", "remove", docs); err != nil || !strings.Contains(out, "1 removed") {
		t.Errorf("remove: %v, %s", err, out)
	}
	if out, _, err := h.Run("index", "list"); err != nil || !strings.Contains(out, "index is empty") {
		t.Errorf("list after removal: %v, %s", err, out)
	}
}

// An answer says that a file has changed or gone since it was indexed.
func TestStaleDocuments(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := filepath.Join(h.Dir, "docs", "boat.md")
	clitest.Write(t, filepath.Dir(file), "boat.md", "The berth of the Marigold is C17.\n")
	if out, stderr, err := h.Run("index", "add", "docs"); err != nil {
		t.Fatalf("%v, %s%s", err, out, stderr)
	}
	const berth = "What is the berth of the Marigold?"
	if _, stderr, err := h.Run("ask", berth); err != nil || strings.Contains(stderr, "since it was indexed") {
		t.Errorf("unchanged: %v, %s", err, stderr)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(file, later, later); err != nil {
		t.Fatal(err)
	}
	if out, stderr, err := h.Run("index", "add", "docs"); err != nil || !strings.Contains(out, "1 unchanged") {
		t.Fatalf("%v, %s%s", err, out, stderr)
	}
	if _, stderr, err := h.Run("ask", berth); err != nil || strings.Contains(stderr, "since it was indexed") {
		t.Errorf("indexed with a date in the future: %v, %s", err, stderr)
	}
	later = later.Add(time.Minute)
	if err := os.Chtimes(file, later, later); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, err := h.Run("ask", berth); err != nil || !strings.Contains(stdout, "C17") || !strings.Contains(stderr, "boat.md has changed since it was indexed: edge index add") {
		t.Errorf("changed: %v, %s", err, stderr)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if a := h.ask(berth); len(a.Remarks) != 1 || !strings.Contains(a.Remarks[0], "boat.md is no longer there: edge index add") {
		t.Errorf("gone: %q", a.Remarks)
	}
	if err := os.Remove(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	if a := h.ask(berth); len(a.Remarks) != 1 || !strings.HasSuffix(a.Remarks[0], "boat.md is no longer there: edge index remove "+filepath.Dir(file)+" makes the index forget it") {
		t.Errorf("its folder is gone: %q", a.Remarks)
	}
	s := serve(h, "--side", "device")
	if answer := s.ask(berth, ""); !strings.Contains(answer, "boat.md is no longer there") {
		t.Errorf("over HTTP: %s", answer)
	}
	if out, _, err := h.Run("index", "add"); err != nil || !strings.Contains(out, "its passages are kept: index remove drops them") {
		t.Errorf("index add: %v, %s", err, out)
	}
}

// An index from which everything was removed is empty: no sample document answers unless it is asked for, and then it is
// named as one.
func TestSamplesAreNeverSilent(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	marked := func(a askJSON) bool { return strings.Contains(fmt.Sprint(a.Documents), "(sample document)") }
	if a := h.ask(question); !marked(a) {
		t.Errorf("nothing was indexed yet: answered from %v", a.Documents)
	}
	clitest.Write(t, h.Dir, "boat.md", "The berth of the Marigold is C17.\n")
	for _, args := range [][]string{{"index", "add", "boat.md"}, {"index", "remove", "boat.md"}} {
		if _, stderr, err := h.Run(args...); err != nil {
			t.Fatalf("%q: %v, %s", args, err, stderr)
		}
	}
	if stdout, stderr, err := h.Run("ask", question); err == nil || !strings.Contains(stderr, "nothing to answer from") || stdout != "" {
		t.Errorf("an empty index: %v, %s%s", err, stdout, stderr)
	}
	if a := h.ask("--cloud", "sample", question); holds(a.Answer, deviceKnows) || !holds(a.Answer, cloudKnows) || len(a.Documents.Device) > 0 {
		t.Errorf("an empty index and a cloud: %q from %v", a.Answer, a.Documents)
	}
	if a := h.ask("--sample", question); !holds(a.Answer, deviceKnows, cloudKnows) || !marked(a) {
		t.Errorf("--sample: %q from %v", a.Answer, a.Documents)
	}
	if _, stderr, err := h.Run("ask", "--sample", "--notes", ".", question); err == nil || !strings.Contains(stderr, "--sample and --notes") {
		t.Errorf("--sample --notes: %v, %s", err, stderr)
	}
}

// An answer comes with the sentence that says it and who was asked; --stats adds what it cost, --quiet leaves only the answer.
func TestQuietByDefault(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, c := range []struct {
		flags      []string
		says, lack []string
	}{
		{nil, []string{"1. “The wifi password", "– Lake cabin (sample document), device", "asked: this device (sample documents) and the cloud"}, []string{"tokens/s", "100 %"}},
		{[]string{"--local-only"}, []string{"asked: this device (sample documents) alone", "do not clearly say it\n", "– Lake cabin (sample document)\n"}, []string{"either side", ", device"}},
		{[]string{"--stats"}, []string{"tokens/s", "seed", "Lake cabin (sample document), device 100 %"}, nil},
		{[]string{"-q"}, nil, []string{"“", "asked", "tokens/s", "sample"}},
	} {
		stdout, stderr, err := h.Run(append(append([]string{"ask"}, c.flags...), question)...)
		if err != nil || !strings.HasPrefix(stdout, deviceKnows+"\n") || strings.Contains(stdout, "asked") {
			t.Errorf("%q: %v, %q, %s", c.flags, err, stdout, stderr)
		}
		for _, want := range c.says {
			if !strings.Contains(stderr, want) {
				t.Errorf("%q: no %q in %s", c.flags, want, stderr)
			}
		}
		for _, not := range c.lack {
			if strings.Contains(stderr, not) {
				t.Errorf("%q: %q in %s", c.flags, not, stderr)
			}
		}
	}
}

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
)

// The commands about the program itself, and the short names of others.
func TestProgramCommands(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	clitest.Write(t, filepath.Join(h.Dir, ".config", "tandem", "edge"), "config.json", `{"placement": "cloud", "seed": 7, "lora": []}`)
	clitest.Write(t, h.Dir, "question.txt", "When does the harbour museum open?\n")
	for _, c := range []struct {
		args string
		want []string
	}{
		{"version", []string{"edge ", "go1."}},
		{"help", []string{"Commands:", "completion"}},
		{"help index add", []string{"Usage: edge index add", "Examples:"}},
		{"config view", []string{"config.json\n", "placement  cloud", "threads    3      TANDEM_THREADS", "seed"}},
		{"config view --all", []string{"temperature", "default"}},
		{"man models pull", []string{".TH", `edge\-models\-pull`, ".SH OPTIONS"}},
		{"list", []string{"NAME", "tandem-reader", "tandem-span-reader", "built in"}},
		{"show", []string{"tandem-reader"}},
		{"show tandem-span-reader", []string{"name           tandem-span-reader\n", "12.7 M parameters"}},
		{"show --json --metadata tandem-span-reader", []string{`"parameters": 12709735`, `"tandem-span.network"`}},
		{"ps", []string{"No edge is running."}},
		{"run -n 3 -p Hello", nil},
		{"ask -q -f question.txt", []string{cloudKnows}},
		{"ask -q -m tandem-reader -n 64 --side cloud -p museum?", nil},
	} {
		stdout, stderr, err := h.RunWith([]string{"TANDEM_THREADS=3"}, strings.Fields(c.args)...)
		if err != nil || stdout == "" {
			t.Errorf("edge %s: %v, %q, %s", c.args, err, stdout, stderr)
		}
		for _, want := range c.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("edge %s: no %q in %s", c.args, want, stdout)
			}
		}
	}
	for _, args := range []string{"help frob", "man frob", "completion tcsh", "ask -p a b", "ask -f none.txt", "rm nothing"} {
		if stdout, stderr, err := h.Run(strings.Fields(args)...); err == nil || stdout != "" || stderr == "" {
			t.Errorf("edge %s: %v, %q, %q", args, err, stdout, stderr)
		}
	}
}

// The help of a command has the defaults that a placeholder hides, and other names of commands only where these are listed.
func TestHelpOfCommands(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for args, want := range map[string]string{
		"ask":               "doctor lists them. Default: native.",
		"run":               "Measured costs of passes limit the guesses. Default: auto.",
		"netem":             "Default: 127.0.0.1:4434. --delay",
		"models":            "models rm (remove, delete) Remove",
		"index":             "Examples: edge index add",
		"index add":         `--exclude "" lifts it`,
		"index rebuild":     "damaged, or that another version made",
		"history":           "Examples: edge history list",
		"models rm":         "Usage: edge models rm <name> ... [flags]",
		"models adapt list": "Examples: edge models adapt list",
		"config":            "Commands: config view",
	} {
		stdout, stderr, err := h.Run(append(strings.Fields(args), "--help")...)
		if err != nil || !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
			t.Errorf("edge %s --help: %v, no %q in %s%s", args, err, want, stdout, stderr)
		}
		_, last, _ := strings.Cut(stdout, "Every command also takes ")
		if line, _, _ := strings.Cut(last, "\n"); len("Every command also takes ")+len(line) > 80 {
			t.Errorf("edge %s --help: a line of more than 80 columns: %s", args, line)
		}
	}
}

// With --json every command prints an object, with keys in small letters.
func TestObjects(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for args, key := range map[string]string{
		"--version": "go", "version": "go", "licenses": "modules", "man index": "page", "completion bash": "script", "show": "config",
		"history list": "questions", "history clear": "questions", "run -n 2 -p Hello": "finish",
	} {
		stdout, stderr, err := h.Run(append(strings.Fields(args), "--json")...)
		var object map[string]json.RawMessage
		if e := json.Unmarshal([]byte(stdout), &object); err != nil || e != nil || object[key] == nil {
			t.Errorf("edge %s --json: %v, %v, no %q in %s%s", args, err, e, key, stdout, stderr)
		}
		switch value := string(object[key]); key {
		case "config":
			if !strings.Contains(value, `"kv_heads": 2`) || !strings.Contains(value, `"pairing": "adjacent"`) || regexp.MustCompile(`"[A-Z]\w*":`).MatchString(value) {
				t.Errorf("config: %s", value)
			}
		case "questions":
			if value != "0" {
				t.Errorf("edge %s --json: questions %s", args, value)
			}
		case "finish":
			if value != `"length"` {
				t.Errorf("finish %s", value)
			}
		}
	}
	if stdout, _, err := h.Run("rewrite", "--help"); err != nil || !strings.Contains(stdout, "in this tone: neutral, polite") {
		t.Errorf("%v: %s", err, stdout)
	}
}

// A variable that looks like a flag's is noticed; others may be for other programs.
func TestMisspeltVariable(t *testing.T) {
	h := clitest.NewHome(t)
	for set, want := range map[string]string{"TANDEM_MAX_TOKNES=5": "did you mean TANDEM_MAX_TOKENS?", "TANDEM_MAX_TOKENS=5": "", "TANDEM_LLAMA_PATH=x": ""} {
		if _, stderr, err := h.RunWith([]string{set}, "pair", "--list"); err != nil || (want == "") != (stderr == "") || !strings.Contains(stderr, want) {
			t.Errorf("%s: %v, %q, want %q", set, err, stderr, want)
		}
	}
}

// With --json every error is an object, also those of the command line.
func TestErrorsAsJSON(t *testing.T) {
	h := newHome(t)
	for _, args := range []string{"ask --json --cloud nowhere:1 x", "ask --json --frob", "index --json add nothing-here", "frob --json", "rm --json nothing"} {
		stdout, stderr, err := h.Run(strings.Fields(args)...)
		var said struct{ Error string }
		if e := json.Unmarshal([]byte(stdout), &said); err == nil || e != nil || said.Error == "" || !strings.Contains(stderr, said.Error) {
			t.Errorf("edge %s: %v, %v, %q, %q", args, err, e, stdout, stderr)
		}
	}
	stdout, _, err := h.Run("doctor", "--json", "--model", "missing.gguf")
	if json.Unmarshal([]byte(stdout), new(any)) != nil || err == nil {
		t.Errorf("an object was printed already, and another follows: %v, %s", err, stdout)
	}
}

// The scripts complete commands, flags and their values, in those of the shells that are here.
func TestCompletion(t *testing.T) {
	h := newHome(t)
	for shell, run := range map[string]func(script, line string) *exec.Cmd{
		"bash": func(script, line string) *exec.Cmd {
			return exec.Command("bash", "--norc", "-c", `. "$0"; compopt() { :; }; read -ra COMP_WORDS <<<"$1"; [[ $1 == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _edge; printf "%s\n" "${COMPREPLY[@]}"`, script, line)
		},
		"fish": func(script, line string) *exec.Cmd {
			return exec.Command("fish", "--no-config", "-c", `source $argv[1]; complete -C $argv[2]`, script, line)
		},
		"zsh": func(script, line string) *exec.Cmd {
			return exec.Command("zsh", "-f", "-c", `
				_describe() { [[ $1 == -o ]] && shift; print -l -- ${(P)2%%:*} }; compadd() { shift; print -l -- $@ }; _files() { :; }; compdef() { :; }
				. "$0"; words=(${(s: :)1}); [[ $1 == *" " ]] && words+=(""); CURRENT=${#words}; _edge`, script, line)
		},
	} {
		t.Run(shell, func(t *testing.T) {
			stdout, stderr, err := h.Run("completion", shell)
			if err != nil {
				t.Fatalf("%v, %s", err, stderr)
			}
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("%s is not installed", shell)
			}
			script := filepath.Join(t.TempDir(), "script")
			if err := os.WriteFile(script, []byte(stdout), 0o600); err != nil {
				t.Fatal(err)
			}
			for line, want := range map[string][2]string{ // what must be there, and what must not
				"edge ":               {"index", "add"},
				"edge index ":         {"remove", "ask"},
				"edge ask --side ":    {"cloud", "index"},
				"edge ask --local":    {"--local-only", "--listen"},
				"edge completion ":    {"fish", "index"},
				"edge help ":          {"index", "add"},
				"edge help index ":    {"remove", "ask"},
				"edge man models ":    {"adapt", "index"},
				"edge models adapt ":  {"list", "pull"},
				"edge index ls --jso": {"--json", "--notes"},
			} {
				out, err := run(script, line).CombinedOutput()
				var words []string
				for l := range strings.Lines(string(out)) {
					if fields := strings.Fields(l); len(fields) > 0 {
						words = append(words, fields[0])
					}
				}
				all := " " + strings.Join(words, " ") + " "
				if !strings.Contains(all, " "+want[0]+" ") || strings.Contains(all, " "+want[1]+" ") {
					t.Errorf("%q: %v, %q", line, err, words)
				}
			}
		})
	}
}

// A peer has the name that the user gives it.
func TestPeerNames(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	c.serve()
	if out, stderr, err := h.Run("pair", "--name", "home", c.code()); err != nil || !strings.Contains(out, "Paired with home") {
		t.Fatalf("pair: %v, %s%s", err, out, stderr)
	}
	if out, err := c.Command("ps").Output(); err != nil || !strings.Contains(string(out), "cloud serve") || !strings.Contains(string(out), c.address) {
		t.Errorf("cloud ps: %v, %s", err, out)
	}
	_, stderr, err := h.Run("ask", "--wait", "60s", question)
	if err != nil || !strings.Contains(stderr, "and home ("+c.address+")") {
		t.Errorf("ask: %v, %s", err, stderr)
	}
	for _, name := range []string{" x", strings.Repeat("x", 65), "a\nb"} {
		if _, stderr, err := h.Run("pair", "--rename", "home", "--name", name); err == nil || !strings.Contains(stderr, "printable") {
			t.Errorf("%q: %v, %s", name, err, stderr)
		}
	}
	if out, stderr, err := h.Run("pair", "--rename", "home", "--name", "the attic"); err != nil || !strings.Contains(out, "now called the attic") {
		t.Errorf("rename: %v, %s%s", err, out, stderr)
	}
	if out, _, err := h.Run("pair", "--list"); err != nil || !strings.HasPrefix(out, "NAME") || !strings.Contains(out, "\nthe attic  "+c.address) {
		t.Errorf("list: %v, %s", err, out)
	}
	c.kill()
	if out, err := c.Command("ps").Output(); err != nil || string(out) != "No cloud is running.\n" {
		t.Errorf("cloud ps after a kill: %v, %s", err, out)
	}
}

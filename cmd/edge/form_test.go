package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/internal/tinymodel"
)

// A text that is forced into a form has it, drafts or not.
func TestRunForms(t *testing.T) {
	h := newHome(t)
	clitest.Write(t, h.Dir, "answer.gbnf", "root ::= \"The code is \" [0-9]{4} \".\"\n")
	clitest.Write(t, h.Dir, "schema.json", `{"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 12}, "ok": {"type": "boolean"}}, "required": ["n", "ok"]}`)
	for _, args := range [][]string{{"--grammar", "answer.gbnf"}, {"--grammar", "answer.gbnf", "--draft", "off"}, {"--grammar", `root ::= "The code is 1234."`}} {
		stdout, stderr, err := h.Run(append(append([]string{"run"}, args...), "What is the code?")...)
		if err != nil || !strings.HasPrefix(stdout, "The code is ") || len(stdout) != len("The code is 1234.\n") {
			t.Errorf("%q: %v, %q, %s", args, err, stdout, stderr)
		}
	}
	if stdout, stderr, err := h.Run("run", "--grammar", `root ::= "  indented"`, "Hello"); err != nil || stdout != "  indented\n" {
		t.Errorf("%v, %q, %s", err, stdout, stderr)
	}
	for _, args := range [][]string{{"--json-schema", "schema.json"}, {"--json-schema", "schema.json", "--temperature", "1", "--seed", "5"}, {"-j", "schema.json", "--draft", "off"}} {
		stdout, stderr, err := h.Run(append(append([]string{"run", "-n", "200"}, args...), "Hello")...)
		var got struct {
			N  int
			OK *bool
		}
		if wrong := json.Unmarshal([]byte(stdout), &got); err != nil || wrong != nil || got.N < 1 || got.N > 12 || got.OK == nil {
			t.Errorf("%q: %v, %v, %q, %s", args, err, wrong, stdout, stderr)
		}
	}
}

// A device and a cloud together write an answer in a form, which is the same wherever it is put together.
func TestAskForms(t *testing.T) {
	h := newHome(t)
	schema := `{"properties": {"opens": {"type": "string", "maxLength": 12}, "open": {"type": "boolean"}}, "required": ["opens", "open"]}`
	answers := map[string]bool{}
	for _, placement := range []string{"mirror", "device", "cloud"} {
		stdout, stderr, err := h.Run("ask", "--sample", "--reader", "decoder", "--json", "--placement", placement, "--seed", "3", "--json-schema", schema, "When does the harbour museum open?")
		var said struct {
			Answer  string
			Remarks []string
		}
		if err := errors.Join(err, json.Unmarshal([]byte(stdout), &said)); err != nil {
			t.Fatalf("%s: %v, %s, %s", placement, err, stdout, stderr)
		}
		var got struct {
			Opens string
			Open  *bool
		}
		if err := json.Unmarshal([]byte(said.Answer), &got); err != nil || got.Open == nil || !strings.Contains(strings.Join(said.Remarks, " "), "not limited to those of the documents") {
			t.Errorf("%s: %v, %q, %q", placement, err, said.Answer, said.Remarks)
		}
		answers[said.Answer] = true
	}
	if len(answers) != 1 {
		t.Errorf("several answers: %v", answers)
	}
	if out, stderr, err := h.Run("ask", "--sample", "--reader", "decoder", "--local-only", "--grammar", `root ::= "yes" | "no"`, "Hello"); err != nil || !strings.HasPrefix(out, "yes") && !strings.HasPrefix(out, "no") {
		t.Errorf("a greeting is answered by %v, %s, %s", err, out, stderr) // rather than by a reply that is in no form
	}
	for _, args := range [][]string{{"--reader", "span", "-j", "{}"}, {"-j", "{}"}, {"--method", "drdg-sw", "-j", "{}"}} {
		if _, stderr, err := h.Run(append(append([]string{"ask", "--sample"}, args...), "When?")...); err == nil || !strings.Contains(stderr, "leave") && !strings.Contains(stderr, "take a model that writes") {
			t.Errorf("%q: %v, %s", args, err, stderr)
		}
	}
}

func TestFormErrors(t *testing.T) {
	h := newHome(t)
	clitest.Write(t, h.Dir, "bad.gbnf", "root ::= a\n")
	file := filepath.Join(h.Dir, "diffusion.gguf")
	if err := os.WriteFile(file, tinymodel.GGUF(tinymodel.Spec{Seed: 3, Arch: "llada"}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--grammar", "bad.gbnf"}, "edge: --grammar bad.gbnf: grammar: line 1: there is no rule a"},
		{[]string{"--grammar", "none.gbnf"}, "edge: --grammar: open none.gbnf: "},
		{[]string{"--json-schema", `{"type": "text"}`}, "edge: --json-schema: JSON schema: there is no type text"},
		{[]string{"--grammar", "bad.gbnf", "-j", "{}"}, "edge: --grammar and --json-schema: choose one of them"},
		{[]string{"--model", file, "-j", "{}"}, "these are only for models that write token by token: leave them out"},
		{[]string{"--format", "json"}, `did you mean "--json-schema"?`},
	} {
		_, stderr, err := h.Run(append(append([]string{"run"}, c.args...), "Hello")...)
		if err == nil || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: %v, %s", c.args, err, stderr)
		}
	}
}

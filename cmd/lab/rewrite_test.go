package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
)

func TestRewriteCommand(t *testing.T) {
	h := clitest.NewHome(t)
	for name, text := range map[string]string{
		"correct.jsonl": `{"set": "a", "given": "I have recieved your letter.", "want": ["I have received your letter."]}
{"set": "b", "given": "The train leaves at 10:30.", "want": ["The train leaves at 10:30."]}`,
		"tone.jsonl":  `{"given": "Send Ada the report by 10:30!", "keep": ["Ada", "report", "10:30"]}`,
		"short.jsonl": `{"given": "Hello Tom! Could you send me the report by Friday?", "want": ["Could you send me the report by Friday?"]}`,
		"bad.jsonl":   `{"given": "x", "want": "x"}`,
	} {
		if err := os.WriteFile(filepath.Join(h.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]map[string]float64{
		"correct --items correct.jsonl":         {"sentences": 2, "right": 2, "right_before": 1, "mended": 1, "spoilt": 0, "names_and_numbers_kept": 2},
		"correct --items correct.jsonl --set b": {"sentences": 1, "right": 1, "right_before": 1},
		"short --items short.jsonl":             {"messages": 1, "right": 1, "first_sentence_right": 0},
	} {
		stdout, stderr, err := h.Run(append([]string{"rewrite", "--json", "--threads", "1"}, strings.Fields(args)...)...)
		got := map[string]float64{}
		if err == nil {
			err = json.Unmarshal([]byte(stdout), &got)
		}
		if err != nil {
			t.Errorf("lab rewrite %s: %v\n%s%s", args, err, stdout, stderr)
		}
		for k, v := range want {
			if got[k] != v {
				t.Errorf("lab rewrite %s: %s %v, want %v", args, k, got[k], v)
			}
		}
	}
	if stdout, stderr, err := h.Run("rewrite", "tone", "--items", "tone.jsonl", "--threads", "1"); err != nil || strings.Count(stdout, "1 sentences, 1 versions, 1 of them keep") != 4 {
		t.Errorf("%v, %s%s", err, stdout, stderr)
	}
	for args, want := range map[string]string{"tone --set nobody": "nobody", "correct --items bad.jsonl": "line 1", "rhyme": "rhyme"} {
		if _, stderr, err := h.Run(append([]string{"rewrite"}, strings.Fields(args)...)...); err == nil || !strings.Contains(stderr, want) {
			t.Errorf("lab rewrite %s: %v, %q; want %q", args, err, stderr, want)
		}
	}
}

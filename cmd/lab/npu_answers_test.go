package main

import (
	"encoding/json"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/lab/phone"
)

// Without flags, answers are in the model's own words, and in those of people where inputs have them.
func TestAnswersCommand(t *testing.T) {
	h := clitest.NewHome(t)
	flags := []string{"npu", "answers", "--json", "--threads", "1", "--limit", "1", "--max-tokens", "6", "--costs", "Qwen2.5-0.5B", "--methods", "NPU,ours", "--task", "summary,reply"}
	out, stderr, err := h.Run(flags...)
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	var all struct {
		Simulated bool
		Rows      []phone.ExecutedRow
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil || !all.Simulated {
		t.Fatalf("%v: %s", err, out)
	}
	var got []string
	for _, r := range all.Rows {
		got = append(got, r.Task+" "+r.Words+" "+r.Variant)
	}
	if want := "summary own NPU, summary own ours, reply own NPU, reply own ours, reply reference NPU, reply reference ours"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, c := range [][2]string{{"--methods=fast", "EAGLE"}, {"--task=poem", "summary"}, {"--words=mine", "reference:SHARE"}, {"--max-tokens=1", "--max-tokens"}, {"--prompt=-1", "--prompt"}} {
		if _, stderr, err := h.Run(append(flags, c[0])...); err == nil || !strings.Contains(stderr, c[1]) {
			t.Errorf("%s: %v: %s", c[0], err, stderr)
		}
	}
}

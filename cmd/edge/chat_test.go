package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A chat goes on after the conversation, or a single question, exceeds the model's context.
func TestChatGoesOn(t *testing.T) {
	h := newHome(t)
	long := "What is the wifi password of the lake cabin, which stands by the water behind the old mill and under the tall firs, " +
		"and where we were in summer, %d of us, with the boat, the dog and a hamper full of bread, cheese, plums and apples?\n"
	var questions strings.Builder
	for i := range 5 {
		fmt.Fprintf(&questions, long, i)
	}
	questions.WriteString(strings.Repeat("why ", 1000) + "?\nWhat is the wifi password of the lake cabin?\n")
	cmd := h.Command(t.Context(), "chat", "--json", "--local-only", "--reader", "decoder")
	cmd.Stdin = strings.NewReader(questions.String())
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(errs.String(), "1 of the questions") {
		t.Errorf("%v, %s", err, errs.String())
	}
	answers := json.NewDecoder(bytes.NewReader(out))
	for i := range 7 {
		var a struct{ Answer, Error string }
		if err := answers.Decode(&a); err != nil {
			t.Fatalf("question %d: %v, %s", i, err, errs.String())
		}
		if failed := i == 5; failed != strings.Contains(a.Error, "512 tokens") || failed == (a.Answer != "") {
			t.Errorf("question %d: %+v", i, a)
		}
	}
	cmd = h.Command(t.Context(), "chat", "--local-only")
	cmd.Stdin = strings.NewReader("Who runs the bakery?\n/quit\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

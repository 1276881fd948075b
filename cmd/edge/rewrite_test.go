package main

import (
	"encoding/json"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
)

func TestKeeps(t *testing.T) {
	const sentence = "Send Ada's report to Mr Ruddle by 10:30, not 11."
	for version, want := range map[string]bool{
		"Could you please send Ada's report to Mr Ruddle by 10:30, not 11?":     true,
		"Please send the report of Ada to Mr Ruddle by 10:30, not 11.":          true,
		"Could you please send Ada's report to Mr Ruddle by 10:30?":             false,
		"Could you please send Ida's report to Mr Ruddle by 10:30, not 11?":     false,
		"Send Ada's report to Mr Ruddle by 11, not 10:30.":                      true, // what numbers say is not checked, only that they are there
		"Send Ada's report to Mr Ruddle by 10:30, not 11, at 11.":               false,
		"Could you please send Adaline's report to Mr Ruddle by 10:30, not 11?": false, // another name that begins like hers
	} {
		if keeps(sentence, version) != want {
			t.Errorf("%q: want %v", version, want)
		}
	}
}

// Whatever the model writes, numbers and names stay, and so do line breaks. The built-in model alone says that it cannot.
func TestRewrite(t *testing.T) {
	h := clitest.NewHome(t)
	const text = "We meet Ruddle at 10:30.\n\n  Bring 12 chairs for Ada Lindqvist!\n"
	out, aside, err := h.Run("rewrite", "--json", "--threads", "1", "--lora", "reply", "--tone", "polite", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, aside)
	}
	var got struct {
		Text string
		Left int `json:"sentences_left_as_they_were"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"Ruddle", "10:30", "12", "Lindqvist", "\n\n  "} {
		if !strings.Contains(got.Text, part) {
			t.Errorf("%q lacks %q", got.Text, part)
		}
	}
	for _, args := range [][]string{{"--tone", "polite", "Hi"}, {"Hi"}, {"--tone", "rude", "Hi"}, {"--tone", "polite", "--max-tokens", "0", "Hi"}} {
		if _, aside, err := h.Run(append([]string{"rewrite"}, args...)...); err == nil || aside == "" {
			t.Errorf("edge rewrite %q: %v", args, err)
		}
	}
}

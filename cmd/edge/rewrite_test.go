package main

import (
	"encoding/json"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
)

// rewritten is what edge rewrite --json prints.
type rewritten struct {
	Text string
	Left int `json:"sentences_left_as_they_were"`
}

func rewriteJSON(t *testing.T, h clitest.Home, args ...string) (got rewritten) {
	t.Helper()
	out, aside, err := h.Run(append([]string{"rewrite", "--json", "--threads", "1"}, args...)...)
	if err == nil {
		err = json.Unmarshal([]byte(out), &got)
	}
	if err != nil {
		t.Fatalf("edge rewrite %q: %v\n%s", args, err, aside)
	}
	return got
}

// The built-in adapters correct, change the tone and shorten. White space stays.
func TestRewriteBuiltIn(t *testing.T) {
	t.Parallel()
	h := clitest.NewHome(t)
	for _, c := range []struct{ args, text, want string }{
		{"--tone polite", "Send me the report by Friday!\n\n  I can't come to the meeting.\n", "Could you please send me the report by Friday?\n\n  I am sorry, but I cannot come to the meeting."},
		{"--tone formal", "Could you please open the window?", "I would be grateful if you could open the window."},
		{"--correct", "I have recieved your adress.", "I have received your address."},
		{"--correct", "My phone number is 0151 2345678, call me any time.", "My phone number is 0151 2345678, call me any time."},
		{"--correct --tone polite", "Send me the adress!", "Could you please send me the address?"},
		{"--short", "Hi Tom, how are you? Could you send me the report by Friday? Thanks!", "Could you send me the report by Friday?"},
	} {
		if got := rewriteJSON(t, h, append(strings.Fields(c.args), c.text)...); strings.TrimSpace(got.Text) != c.want || got.Left > 0 {
			t.Errorf("%s %q: %+v, want %q", c.args, c.text, got, c.want)
		}
	}
	if got := rewriteJSON(t, h, "--tone", "polite", "...\n"); got.Left != 1 {
		t.Errorf("a text without words: %+v", got)
	}
}

// What is not English stays, and a note says why; so does one that tells which numbers a summary leaves out.
func TestRewriteNotes(t *testing.T) {
	h := clitest.NewHome(t)
	for _, c := range []struct{ args, text, want, note string }{
		{"--correct", "Das ist ein Hauss.", "Das ist ein Hauss.", "the built-in model knows only English"},
		{"--correct", "The old man hat recieved it.", "The old man", ""},
		{"--short", "Hi Tom, I paid 30 euros. Could you send me the report by Friday? Thanks!", "Could you send", "not in the new one: 30"},
	} {
		out, aside, err := h.Run(append(append([]string{"rewrite", "--threads", "1"}, c.args), c.text)...)
		if err != nil || !strings.HasPrefix(out, c.want) || !strings.Contains(aside, c.note) || c.note == "" && aside != "" {
			t.Errorf("%s %q: %v, %q, %q", c.args, c.text, err, out, aside)
		}
	}
}

// Whatever a model writes, numbers and names stay, and so do line breaks. Sentences of which no version keeps them stay
// as they are, and the program says so.
func TestRewrite(t *testing.T) {
	h := clitest.NewHome(t)
	const text = "We meet Ruddle at 10:30.\n\n  Bring 12 chairs for Ada Lindqvist!\n"
	got := rewriteJSON(t, h, "--lora", "reply", "--tone", "polite", text)
	for _, part := range []string{"Ruddle", "10:30", "12", "Lindqvist", "\n\n  "} {
		if !strings.Contains(got.Text, part) {
			t.Errorf("%q lacks %q", got.Text, part)
		}
	}
	if _, aside, err := h.Run("rewrite", "--threads", "1", "--lora", "reply", "--tone", "polite", text); err != nil || got.Left > 0 && !strings.Contains(aside, "left unchanged") {
		t.Errorf("%d sentences left: %v, %q", got.Left, err, aside)
	}
	for _, args := range [][]string{{"Hi"}, {"--tone", "rude", "Hi"}, {"--tone", "polite", "--max-tokens", "0", "Hi"}} {
		if _, aside, err := h.Run(append([]string{"rewrite"}, args...)...); err == nil || aside == "" {
			t.Errorf("edge rewrite %q: %v", args, err)
		}
	}
}

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"tandem/specdec"
)

// Whatever both sides draft with, ask and chat say the same; answers are kept only for the drafter that reads them.
func TestAnswerDrafts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	kept := func() (n int) {
		t.Helper()
		stdout, stderr, err := h.Run("history", "list", "--json")
		var got struct{ Histories []specdec.HistoryFile }
		if err == nil {
			err = json.Unmarshal([]byte(stdout), &got)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, stderr)
		}
		for _, f := range got.Histories {
			n += f.Entries
		}
		return n
	}
	text := ""
	for i, c := range []struct {
		draft string
		kept  int
	}{{"off", 0}, {"all", 0}, {"forecast", 0}, {"auto,history", 1}, {"history,forecast", 2}} {
		a := h.ask("--reader", "decoder", "--temperature", "1", "--seed", "3", "--max-tokens", "24", "--draft", c.draft, question)
		if i == 0 {
			text = a.Answer
		}
		if a.Answer != text || text == "" {
			t.Errorf("--draft %s: %q, without drafts %q", c.draft, a.Answer, text)
		}
		if n := kept(); n != c.kept {
			t.Errorf("--draft %s: %d answers kept, want %d", c.draft, n, c.kept)
		}
	}
	chat := h.Command(t.Context(), "chat", "--json", "--local-only", "--reader", "decoder", "--draft", "auto,history", "--max-tokens", "8")
	chat.Stdin = strings.NewReader("When does the harbour museum open?\nWho owns the marina?\n")
	if out, err := chat.CombinedOutput(); err != nil || kept() != 4 {
		t.Errorf("after two turns of a chat %d answers are kept: %v\n%s", kept(), err, out)
	}
	for _, c := range []struct{ args, want string }{
		{"--draft auto,history", "--reader decoder"}, {"--forecast forecast", "--reader decoder"}, {"--draft magic", "forecast"}, {"--reader decoder --forecast nobody", "adapt list"},
	} {
		if _, aside, err := h.Run(append(append([]string{"ask"}, strings.Fields(c.args)...), question)...); err == nil || !strings.Contains(aside, c.want) {
			t.Errorf("ask %s: %v, %q, want %q", c.args, err, aside, c.want)
		}
	}
}

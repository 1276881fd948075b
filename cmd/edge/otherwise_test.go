package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
)

// When the sides' documents contradict each other, the answer says so, whichever side has which.
func TestSidesThatDisagree(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, side := range []string{"mine", "theirs"} {
		if err := os.Mkdir(filepath.Join(h.Dir, side), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	clitest.Write(t, h.Dir, "mine/library.txt", "The town library opens at 10:15 on weekdays. The librarian is Ada Moor.")
	clitest.Write(t, h.Dir, "theirs/lib.txt", "The town library opens at 9:00 on weekdays and closes at 18:00. The porter is Piet Holm.")
	for _, c := range []struct{ own, public, question, answer, otherwise string }{
		{"mine", "theirs", "When does the town library open?", "10:15", "The town library opens at 9:00 on weekdays and closes at 18:00."},
		{"theirs", "mine", "When does the town library open?", "10:15", "The town library opens at 9:00 on weekdays and closes at 18:00."},
		{"mine", "theirs", "Who is the librarian?", "Ada Moor", ""},
	} {
		got := h.ask("--notes", c.own, "--public", c.public, c.question)
		p := got.Parts[0]
		if got.Answer != c.answer || (len(p.Otherwise) > 0) != (c.otherwise != "") || c.otherwise != "" && (p.Otherwise[0].Text != c.otherwise || !p.Unsure || got.Unsure != p.Unsure) {
			t.Errorf("%s: %q, otherwise %v, sure by %v", c.question, got.Answer, p.Otherwise, p.Sure)
		}
		_, stderr, err := h.Run("ask", "--notes", c.own, "--public", c.public, c.question)
		if err != nil || strings.Contains(stderr, "says otherwise: “"+c.otherwise) != (c.otherwise != "") {
			t.Errorf("%s: %v, %s", c.question, err, stderr)
		}
	}
}

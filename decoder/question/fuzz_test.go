package question

import (
	"strings"
	"testing"

	"tandem/internal/allocated"
	"tandem/model/chat"
)

// A conversation, whatever was said in it, may come from the other side. What a follow-up becomes is one line, no longer than all
// that was said with a few words between, and the same each time.
func FuzzFollowUp(f *testing.F) {
	f.Add("When does the museum open?\nIt opens at nine.\nAnd on Sundays?", "and what does it cost?")
	f.Add("Who runs the mill?\nAda Hall does.\nWhere does she live?\nI don't know.", "And when was she born, and where?")
	f.Add("What is A?\n\nand B?\n\nand C?\n\nand D?", "what about it?")
	f.Add("a\nb\n\n\xff\nIs it? Is it? Is it?", "Tell me when X and Y meet; who, and why?")
	f.Fuzz(func(t *testing.T, said, text string) {
		if len(said)+len(text) > 1<<13 {
			t.Skip()
		}
		a := Asked{Text: text}
		for i, turn := range strings.Split(said, "\n") {
			a.History = append(a.History, chat.Message{Role: []string{"user", "assistant"}[i%2], Content: turn})
		}
		before, now := a.FollowUp()
		if strings.ContainsAny(before+now, "\n\r") {
			t.Fatalf("%q, %q", before, now)
		}
		if most := 4*(len(said)+len(text)) + 256; len(before) > most || len(now) > most {
			t.Fatalf("%d and %d bytes of %d", len(before), len(now), len(said)+len(text))
		}
		if again, same := a.FollowUp(); again != before || same != now {
			t.Fatalf("%q, %q and then %q, %q", before, now, again, same)
		}
		if parts := a.Clauses(); len(parts) > maxClauses {
			t.Fatalf("%d parts", len(parts))
		}
		a.LastAnswered()
	})
}

// A conversation of any length costs no more than its last turns, and follow-ups after them are completed as ever.
func TestLongConversation(t *testing.T) {
	cost := func(turns int) (now string, bytes uint64) {
		a := Asked{Text: "and on Sundays?"}
		for i := range turns {
			a.History = append(a.History, chat.Message{Role: []string{"user", "assistant"}[i%2], Content: strings.Repeat("and it ", 140)})
		}
		a.History = append(a.History, chat.Message{Role: "user", Content: "When does the museum open?"}, chat.Message{Role: "assistant", Content: "At nine."})
		bytes = allocated.Bytes(func() { _, now = a.FollowUp() })
		return now, bytes
	}
	now, short := cost(40)
	same, long := cost(240)
	if long > 2*short {
		t.Errorf("%d kB for 40 turns, %d kB for 240", short>>10, long>>10)
	}
	if now != same || !strings.Contains(now, "museum open") {
		t.Errorf("%q, %q", now, same)
	}
}

package node

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/model/chat"
	"tandem/transport"
)

// A cloud is told the latest turns of a conversation of any length, from one of the user, and no fewer than it can be told.
func TestLongConversation(t *testing.T) {
	text := strings.Repeat("x", transport.MaxHistory)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0x7475726e73))
		longest := []int{20, 2000, transport.MaxHistory / 100, transport.MaxHistory}[r.IntN(4)]
		var turns []chat.Message
		for i := range r.IntN(2 * transport.MaxTurns) {
			turns = append(turns, chat.Message{Role: []string{"user", "assistant"}[i%2], Content: text[:r.IntN(longest)]})
		}
		got := beginOf(Question{History: turns}, tandem.Settings{}).History
		size := func(turns []chat.Message) (n int) {
			for _, m := range turns {
				n += len(m.Role) + len(m.Content)
			}
			return n
		}
		from := len(turns) - len(got)
		for i, m := range turns[from:] {
			if (transport.Turn{Role: m.Role, Content: m.Content}) != got[i] {
				t.Fatalf("seed %d: turn %d of %d is another", seed, i, len(turns))
			}
		}
		fits := func(turns []chat.Message) bool {
			return len(turns) <= transport.MaxTurns && size(turns) <= transport.MaxHistory
		}
		if !fits(turns[from:]) || from > 1 && fits(turns[from-2:]) || len(got) > 0 && got[0].Role != "user" {
			t.Errorf("seed %d: %d of %d turns, %d bytes", seed, len(got), len(turns), size(turns[from:]))
		}
	}
	said := []chat.Message{{Role: "assistant", Content: "Welcome!"}, {Role: "user", Content: "Hello."}}
	if got := Recent(said, transport.MaxTurns); !slices.Equal(got, said) {
		t.Errorf("a short conversation became %v", got)
	}
}

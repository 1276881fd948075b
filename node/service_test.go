package node

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"tandem"
	"tandem/transport"
)

// A question that cannot be sent fails alone: the other answers keep the connection.
func TestBadQuestionKeepsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		devices, _ := square(t, 4)
		dials := 0
		s := NewService(func(context.Context, string) (*transport.Conn, error) { dials++; return devices[0], nil }, 0, "the cloud")
		good := beginOf(baselineQuestion, baselineSettings(tandem.WantDrafts))
		first, err := s.open(t.Context(), good)
		if err != nil {
			t.Fatal(err)
		}
		bad := good
		bad.History = slices.Repeat([]transport.Turn{{Role: "user", Content: "Hello."}}, transport.MaxTurns+1)
		if _, err := s.open(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "earlier turns") {
			t.Errorf("too many turns: %v", err)
		}
		if err := devices[0].Err(); err != nil || dials != 1 || !taken(t, first.link.(*transport.Exchange)) {
			t.Errorf("afterwards: %v, %d dials", err, dials)
		}
		first.link.Close()
	})
}

// A connection that has ended is replaced.
func TestDeadConnectionIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		devices, _ := square(t, 4)
		rest := devices[:]
		s := NewService(func(context.Context, string) (*transport.Conn, error) {
			c := rest[0]
			rest = rest[1:]
			return c, nil
		}, 0, "the cloud")
		begin := beginOf(baselineQuestion, baselineSettings(tandem.WantDrafts))
		for _, conn := range devices {
			up, err := s.open(t.Context(), begin)
			if err != nil || up.conn != conn {
				t.Fatalf("%v, the right connection: %v", err, up.conn == conn)
			}
			conn.Close("gone")
		}
	})
}

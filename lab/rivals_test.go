package lab

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Mirror is faster than the paper's coupling by its own rules, says one text whatever the rows, and passes with
// branches are faster where both sides know the same tokens.
func TestRivals(t *testing.T) {
	x := Rivals{World: "common", Decode: [][2]time.Duration{{30 * ms, 30 * ms}}, RTT: []time.Duration{0, 300 * ms}, Rows: []int{1, 32}, Share: .8, Tokens: 60, Answers: 4}
	rows, err := x.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || len(rows[0].Mirror) != 4 {
		t.Fatalf("%+v", rows)
	}
	near, far := rows[0], rows[1]
	if got := near.Best(1).Seconds; math.Abs(got-near.Floor) > 1e-9 || math.Abs(near.Paper()-got) > 1e-9 {
		t.Errorf("without a network: mirror takes %v s, the paper %v, want %v", got, near.Paper(), near.Floor)
	}
	if far.Best(1).Seconds > .97*far.Paper() || far.Best(32).Seconds > .95*far.Best(1).Seconds || far.Paper() > far.Half {
		t.Errorf("at a distance: mirror takes %+v and %+v; %+v", far.Best(1), far.Best(32), far)
	}
	found := RivalFindings(rows, x.Rows)
	if len(found) != 2 || !strings.HasPrefix(found[0], "1 rows: mirror takes 0.") || !strings.Contains(found[0], "to 1.00 (30/30 ms, 0 ms, common)") {
		t.Errorf("%q", found)
	}
}

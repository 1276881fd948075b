package lab

import (
	"testing"
	"time"

	"tandem"
)

// Devices that ask at once get the same texts whether the cloud computes their passes together or each alone; none fails,
// and all goroutines end.
func TestLoad(t *testing.T) {
	x := Load{Setup: setup(t), Devices: []int{1, 6}, PerEach: 2, Places: map[string]int{LoadAlone: 2, LoadBatch: 8}}
	x.Read[tandem.Cloud] = 5 * time.Millisecond // so that the cloud says of those who wait that it takes a while
	rows, err := x.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4 {
		t.Fatalf("%d results", len(rows))
	}
	for i, r := range rows {
		if r.Devices != x.Devices[i/2] || r.Answers != 2*r.Devices || r.Failed+r.Degraded > 0 || r.Text != rows[0].Text {
			t.Errorf("result %d: %+v", i, r)
		}
		if r.Held <= 0 || r.HeldLeft != 0 {
			t.Errorf("result %d: keys, values and logits hold %g MB, and %g when all answers have ended", i, r.Held, r.HeldLeft)
		}
		if r.PerSecond <= 0 || r.First <= 0 || r.Live <= 0 || r.Live > r.Memory || r.Left > 0 || (r.Method == LoadBatch) != (r.Rows > 0) {
			t.Errorf("result %d: %+v", i, r)
		}
	}
}

// In virtual time a batch brings more where rows are cheap, and the results say what was simulated.
func TestVirtualLoad(t *testing.T) {
	x := VirtualLoad{Machines: []string{"cores", "accelerator"}, Devices: []int{1, 16}, PerEach: 2, Tokens: 8, Places: map[string]int{LoadAlone: 8, LoadBatch: 64}}
	rows, err := x.Run(t.Context())
	if err != nil || len(rows) != 8 {
		t.Fatalf("%d results, %v", len(rows), err)
	}
	for i, r := range rows {
		if r.Simulated != x.Machines[i/4] || r.Answers != 2*r.Devices || r.Tokens <= 0 || r.Gap <= 0 {
			t.Errorf("result %d: %+v", i, r)
		}
	}
	if cores, accelerator := rows[3].Tokens/rows[2].Tokens, rows[7].Tokens/rows[6].Tokens; cores < 1 || accelerator < 2*cores {
		t.Errorf("16 devices: a batch brings %.1f times the tokens on cores and %.1f on the accelerator", cores, accelerator)
	}
	x.Machines = []string{"quantum"}
	if _, err := x.Run(t.Context()); err == nil {
		t.Error("a machine that there is not")
	}
}

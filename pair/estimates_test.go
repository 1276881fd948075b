package pair

import (
	"testing"
	"time"

	"tandem"
)

// The scheduler sees how long a pass takes, whatever drafts come without one.
func TestDraftsWithoutAPass(t *testing.T) {
	var e estimates
	for i := range 40 {
		d := tandem.Draft{Decode: 30 * time.Millisecond}
		if i%4 > 0 {
			d.Decode = 0
		}
		e.decoded(d, tandem.Cloud)
	}
	if got := e.now().Decode[tandem.Cloud]; (got - 30*time.Millisecond).Abs() > time.Microsecond {
		t.Errorf("a pass takes %v, want 30ms", got)
	}
}

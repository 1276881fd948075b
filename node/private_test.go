package node

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/transport"
)

// A private answer sends the cloud nothing that depends on the device's documents but the agreed tokens, and says what the
// pair says anyway. The default sends distributions, so the test can tell the two apart.
func TestPrivateSendsNoDrafts(t *testing.T) {
	for _, private := range []bool{true, false} {
		for seed := range uint64(4) {
			cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, seed, false)
			if private {
				cfg.MakePrivate()
			}
			want := plain(cfg)
			drafts := 0
			synctest.Test(t, func(t *testing.T) {
				c := &cable{delay: 50 * time.Millisecond, takes: 30 * time.Millisecond}
				c.heard = func(m transport.Message) {
					switch m := m.(type) {
					case tandem.Draft:
						drafts++
					case transport.Sync:
						if len(m.Tokens) > 0 && !slices.Equal(m.Tokens, want[:len(m.Tokens)]) {
							t.Errorf("a Sync with %v", m.Tokens)
						}
					case tandem.Target:
						if int(m.Step) < len(want) && m.Token != want[m.Step] {
							t.Errorf("target %+v", m)
						}
					case transport.Begin, transport.End:
					default:
						if private {
							t.Errorf("the device sends a %T", m)
						}
					}
				}
				if got, _ := converse(t, cfg, c, 20*time.Millisecond, nil); !slices.Equal(got, want) {
					t.Errorf("private %v, seed %d: %v, want %v", private, seed, got, want)
				}
			})
			if private != (drafts == 0) {
				t.Errorf("private %v, seed %d: the device sends %d drafts", private, seed, drafts)
			}
		}
	}
}

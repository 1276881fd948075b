package node

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/transport"
)

// An answer that its device ends has not failed, whether the cloud drafts, is still reading, or sends its last words; one whose
// device goes away without a word has.
func TestDeviceEndsItsAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		want  tandem.Want
		after time.Duration
		says  bool
	}{
		"while the cloud reads":             {tandem.WantDrafts, 50 * time.Millisecond, true},
		"while the cloud drafts":            {tandem.WantDrafts, 10 * time.Second, true},
		"during a baseline":                 {tandem.WantAnswer, 50 * time.Millisecond, true},
		"gone while the cloud reads":        {tandem.WantDrafts, 50 * time.Millisecond, false},
		"gone while the cloud drafts":       {tandem.WantDrafts, 10 * time.Second, false},
		"gone while the cloud is to answer": {tandem.WantAnswer, 50 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var served []Served
				devices, _, _ := square(t, 8, func(cfg *CloudConfig) {
					cfg.Local.Read = 10 * time.Millisecond
					cfg.Observe = func(s Served) { mu.Lock(); served = append(served, s); mu.Unlock() }
				})
				const n = 8
				for range n {
					link := questionFor(t, devices[0], c.want)
					time.Sleep(c.after)
					if c.says {
						link.Send(transport.End{Reason: "cancelled"})
					}
					link.Close()
					time.Sleep(10 * time.Second)
				}
				mu.Lock()
				defer mu.Unlock()
				if len(served) != n {
					t.Fatalf("%d answers are counted, want %d", len(served), n)
				}
				for i, s := range served {
					if (s.Error == nil) != c.says {
						t.Errorf("answer %d of %d: error %v", i, n, s.Error)
					}
				}
			})
		})
	}
}

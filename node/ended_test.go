package node

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/pair"
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
					cfg.Local.ReadPace = 10 * time.Millisecond
					cfg.Observe = func(s Served) { mu.Lock(); served = append(served, s); mu.Unlock() }
				})
				const n = 8
				for range n {
					exchange := questionFor(t, devices[0], c.want)
					time.Sleep(c.after)
					if c.says {
						exchange.Send(transport.End{Reason: "cancelled"})
					}
					exchange.Close()
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

// An answer that its device cancels, or hangs up in, is not complete. One that is complete, or of which the device has enough, is.
func TestDeviceCancelsItsAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		end       string // what the device says last, if anything
		hangsUp   bool
		after     time.Duration
		cancelled bool
	}{
		"cancelled":                       {"cancelled", false, 10 * time.Second, true},
		"cancelled while the cloud reads": {"cancelled", false, 50 * time.Millisecond, true},
		"hung up":                         {"", true, 10 * time.Second, true},
		"hung up while the cloud reads":   {"", true, 50 * time.Millisecond, true},
		"complete":                        {"stop", false, 10 * time.Second, false},
		"complete, then hung up":          {"stop", true, 10 * time.Second, false},
		"enough":                          {"enough", false, 10 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var served []Served
				devices, _, _ := square(t, 8, func(cfg *CloudConfig) {
					cfg.Local.ReadPace = 10 * time.Millisecond
					cfg.Observe = func(s Served) { mu.Lock(); served = append(served, s); mu.Unlock() }
				})
				exchange := questionFor(t, devices[0], tandem.WantDrafts)
				time.Sleep(c.after)
				if c.end != "" {
					exchange.Send(transport.End{Reason: c.end})
					time.Sleep(time.Second)
				}
				if c.hangsUp {
					devices[0].Close("")
				}
				exchange.Close()
				time.Sleep(10 * time.Second)
				mu.Lock()
				defer mu.Unlock()
				if len(served) != 1 || served[0].Error != nil || served[0].Cancelled != c.cancelled {
					t.Errorf("%+v, want one, cancelled: %v", served, c.cancelled)
				}
			})
		})
	}
}

// A device tells the cloud whether an answer that it breaks off is as long as it should be.
func TestLastWord(t *testing.T) {
	for want, a := range map[string]*deviceAnswer{
		"enough":    {failure: fmt.Errorf("%w: a stop string", ErrEnough), transcript: transcript{answer: Answer{Reason: pair.ReasonCancelled}}},
		"cancelled": {failure: context.Canceled, transcript: transcript{answer: Answer{Reason: pair.ReasonCancelled}}},
		"length":    {transcript: transcript{answer: Answer{Reason: pair.ReasonLength}}},
	} {
		if got := a.lastWord(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

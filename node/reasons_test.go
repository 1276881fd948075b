package node

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/transport"
)

// reason returns why the cloud gave up an answer, which a device may ask again.
func reason(t *testing.T, exchange exchange) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*idle)
	defer cancel()
	for {
		m, err := exchange.Receive(ctx)
		if err != nil {
			t.Fatalf("the cloud does not say why: %v", err)
		}
		if fail, ok := m.(transport.Fail); ok {
			if !fail.Again {
				t.Errorf("for good: %s", fail.Text)
			}
			return fail.Text
		}
	}
}

// A cloud says why it gives up an answer: its device said nothing, or nothing came of it while another waited.
func TestReasonOfGivingUp(t *testing.T) {
	for _, idles := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			devices, _, _ := square(t, 1)
			exchange := openQuestion(t, devices[0])
			if !taken(t, exchange) {
				t.Fatal("not taken")
			}
			want := errIdle.Error()
			if !idles {
				want = errStuck.Error()
				var talks sync.WaitGroup
				talks.Go(func() {
					for exchange.Send(transport.Sync{}) == nil {
						time.Sleep(idle / 4)
					}
				})
				defer talks.Wait()
				defer exchange.Close()
				waits := openQuestion(t, devices[1])
				defer waits.Close()
			}
			if why := reason(t, exchange); why != want {
				t.Errorf("%q, want %q", why, want)
			}
		})
	}
}

// A cloud says so if a device has too many questions that wait.
func TestReasonOfTooManyQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		devices, cloud, _ := square(t, 1)
		for range 1 + maxWaiting { // the first has the slot
			if _, err := cloud.slots.queue(devices[0].Peer(), Normal, 0); err != nil {
				t.Fatal(err)
			}
		}
		device, exchange := transport.Pipe(toyVocab)
		if err := cloud.answerInTurn(t.Context(), devices[0], exchange, beginOf(baselineQuestion, baselineSettings(tandem.WantDrafts))); err == nil {
			t.Error("no error")
		}
		if why := reason(t, device); !strings.Contains(why, "already waiting") {
			t.Errorf("%q", why)
		}
	})
}

package node

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tandem/transport"
)

// What a cloud said of its places before it had one may arrive late. It moves nobody.
func TestLateBusy(t *testing.T) {
	a := &deviceAnswer{}
	a.joined = true
	a.handleMessage(transport.Busy{Before: 1})
	if a.busy != nil || a.answer.Waited != 0 {
		t.Errorf("the cloud is busy (%+v), though it has begun", a.busy)
	}
}

// A cloud that is lost in mid-answer is not said to have never begun.
func TestLostCloudHadBegun(t *testing.T) {
	a := &deviceAnswer{}
	a.contact, a.joined, a.answer.Tokens = contactMade, true, make([]Token, 2)
	if err := a.noCloudError(); !strings.Contains(err.Error(), "too slow after 2 tokens") || !errors.Is(err, ErrNoCloud) {
		t.Error(err)
	}
}

// A baseline waits for a place, as other questions do.
func TestBaselineWaitsForAPlace(t *testing.T) {
	in := make(chan []transport.Message, 3)
	for _, m := range []transport.Message{transport.Busy{Before: 2}, transport.Leaving{}, transport.Ready{Documents: 3}} {
		in <- []transport.Message{m}
	}
	ready, err := receive[transport.Ready](t.Context(), &end{cable: &cable{}, ctx: context.Background(), in: in})
	if err != nil || ready.Documents != 3 {
		t.Errorf("%+v, %v", ready, err)
	}
}

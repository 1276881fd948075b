package node

import (
	"slices"
	"testing"

	"tandem/pair"
)

// Where the cloud's limit on the length of an answer is below the device's, both end the answer there: it has the tokens of one
// that asked for no more, and the cloud takes part in all of them.
func TestCloudLimitsLength(t *testing.T) {
	s := newStreet(t)
	s.stop()
	s.limit = 6
	s.serve()
	want := ids(s.ask(6, nil).Tokens)
	if len(want) != 6 {
		t.Fatalf("%d tokens", len(want))
	}
	got := s.ask(40, nil)
	if !slices.Equal(ids(got.Tokens), want) || got.Reason != pair.ReasonLength || got.MaxTokens != 6 || got.Pair.Alone > 0 || got.Degraded {
		t.Errorf("%v, want %v: %v, %d tokens alone, %q", ids(got.Tokens), want, got.Reason, got.Pair.Alone, got.Remarks)
	}
	if below := s.ask(4, nil); !slices.Equal(ids(below.Tokens), want[:4]) || below.Reason != pair.ReasonLength || below.Degraded {
		t.Errorf("the device's limit is lower: %v, want %v: %v, %q", ids(below.Tokens), want[:4], below.Reason, below.Remarks)
	}
}

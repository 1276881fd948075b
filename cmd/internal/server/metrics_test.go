package server

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"tandem/node"
)

// Whoever goes away is no fault of this side, and has no complete answer.
func TestOutcome(t *testing.T) {
	for want, served := range map[string][]node.Served{
		"complete":  {{}},
		"cancelled": {{Cancelled: true}, {Error: fmt.Errorf("decode: %w", context.Canceled)}},
		"broken":    {{Error: errors.New("the disk fails")}, {Error: context.DeadlineExceeded}},
	} {
		for _, s := range served {
			if got := outcomeOf(s); got != want {
				t.Errorf("%+v is %s, want %s", s, got, want)
			}
		}
	}
}

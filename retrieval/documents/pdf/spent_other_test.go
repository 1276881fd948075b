//go:build !unix

package pdf

import (
	"testing"
	"time"
)

var loaded = time.Now()

// spent returns the time since the process has started: there is no better measure of what it has taken.
func spent(*testing.T) time.Duration { return time.Since(loaded) }

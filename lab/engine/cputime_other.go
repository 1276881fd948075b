//go:build !unix

package engine

import "time"

func processorTime() (time.Duration, bool) { return 0, false }

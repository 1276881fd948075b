//go:build !linux

package meter

import "time"

// ThreadTime returns false: this system does not report the processor time of a thread.
func ThreadTime() (time.Duration, bool) { return 0, false }

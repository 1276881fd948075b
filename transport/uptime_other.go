//go:build !linux

package transport

import "time"

// uptime names no run of the machine: the clock on the wall has to do.
func uptime() (run string, since time.Duration) { return "", 0 }

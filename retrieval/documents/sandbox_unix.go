//go:build linux || darwin

package documents

import "syscall"

// bound makes the system refuse more memory to this process. The runtime touches all of a large allocation before any
// other goroutine runs, so guard alone would notice it too late.
func bound(bytes uint64) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &limit) != nil {
		return
	}
	limit.Cur = min(limit.Cur, bytes)
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &limit) // without the limit, guard is all there is
}

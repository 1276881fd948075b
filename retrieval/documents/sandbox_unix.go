//go:build linux || darwin

package documents

import "syscall"

// bound lets the system refuse this process more memory than that. The runtime fills what it gets before anything else
// runs again, so that guard would see a large piece too late.
func bound(bytes uint64) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &limit) != nil {
		return
	}
	limit.Cur = min(limit.Cur, bytes)
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &limit) // where it is not to be had, guard has to do
}

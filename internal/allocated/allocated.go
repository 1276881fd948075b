// Package allocated measures the memory that a computation takes, for the tests of several packages that bound its growth. No
// program imports it.
package allocated

import "runtime"

// Bytes returns how many bytes on the heap f allocates, those that were freed again included. It is the least of four runs:
// other goroutines allocate too, and the garbage collector empties pools, but not each time.
func Bytes(f func()) uint64 {
	least := ^uint64(0)
	for range 4 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

//go:build unix

package memory

import "golang.org/x/sys/unix"

// mapMemory maps anonymous memory, instead of an NPU's mapping of a shared buffer (RPCMEM).
func mapMemory(bytes int) ([]byte, error) {
	return unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

func unmapMemory(b []byte) error { return unix.Munmap(b) }

//go:build unix

package native

import "golang.org/x/sys/unix"

// allocate returns memory outside the heap, on huge pages if the kernel has them. free is nil if the garbage collector frees the
// memory.
func allocate(n int) (memory []byte, free func([]byte)) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return align64(nil, n), nil
	}
	adviseHuge(b)
	return b, func(b []byte) { _ = unix.Munmap(b) }
}

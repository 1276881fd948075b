package native

import (
	"runtime"
	"unsafe"
)

// slab is memory for weights outside the heap, so that their size does not affect the pace of garbage collection. It begins at a
// huge page, and consists of such where the kernel has them: with small pages a pass waits for their addresses, too. The memory is
// given back when the slab is garbage.
type slab struct {
	left []byte // not given out yet
}

const (
	hugePage = 2 << 20
	slabSize = 32 << 20 // at least: what is not touched takes no memory
	line     = 64       // bytes in a line of the cache
)

// newSlab returns a slab of n bytes or more.
func newSlab(n int) *slab {
	n = (n + hugePage - 1) / hugePage * hugePage
	memory, free := allocate(n + hugePage)
	skip := int(-uintptr(unsafe.Pointer(&memory[0])) & (hugePage - 1))
	s := &slab{left: memory[skip:][:n]}
	if free != nil {
		runtime.AddCleanup(s, free, memory)
	}
	return s
}

// take returns n bytes that begin at a line, or nil if the slab has not as many left. The memory does not keep the slab.
func (s *slab) take(n int) []byte {
	if n > len(s.left) {
		return nil
	}
	taken := s.left[:n:n]
	s.left = s.left[min((n+line-1)/line*line, len(s.left)):]
	return taken
}

// keepFor keeps a slab until user is garbage.
func keepFor[T any](user *T, s *slab) { runtime.AddCleanup(user, func(*slab) {}, s) }

package native

import (
	"runtime"
	"unsafe"
)

// slab is memory for weights outside the heap, so that their size does not affect the pace of garbage collection. It is aligned
// to huge pages and uses them if the kernel provides them, because with small pages a pass also waits for address translations.
// The memory is freed when the slab is garbage.
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

// take returns n bytes, aligned to a cache line, or nil if the slab has fewer left. The bytes do not keep the slab
// alive (see keepFor).
func (s *slab) take(n int) []byte {
	if n > len(s.left) {
		return nil
	}
	taken := s.left[:n:n]
	s.left = s.left[min((n+line-1)/line*line, len(s.left)):]
	return taken
}

// keepFor keeps a slab alive until user is garbage.
func keepFor[T any](user *T, s *slab) { runtime.AddCleanup(user, func(*slab) {}, s) }

package ggml

import (
	"runtime"
	"slices"
	"sync"
	"unsafe"
)

// staging is host memory for the data that a run sends to and receives from the device. If the device offers memory that it
// can access itself (CUDA's pinned memory), staging uses that. With other memory a driver makes one more copy, and
// transfers do not overlap with other work. Memory from take is valid until reset; until then it is neither moved nor
// freed, because the device may be using it.
type staging struct {
	api    *api
	buft   ptr // kind of such memory, 0 if the device has none
	blocks []stagingBlock
	used   int // bytes of the last block
}

type stagingBlock struct {
	buf ptr // 0 for memory of this program
	mem []byte
}

// pinned reports whether it is worth copying data into this memory.
func (s *staging) pinned() bool { return s.buft != 0 }

// reset makes all memory available again. The device must no longer be using it.
func (s *staging) reset() {
	if len(s.blocks) > 1 { // replace them with one that holds as much
		n := 0
		for _, b := range s.blocks {
			n += len(b.mem)
		}
		s.free()
		s.add(n)
	}
	s.used = 0
}

// take returns n bytes of uninitialized memory.
func (s *staging) take(n int) []byte {
	const line = 64
	n = (n + line - 1) / line * line
	if k := len(s.blocks); k == 0 || len(s.blocks[k-1].mem)-s.used < n {
		s.add(max(n, 1<<16))
	}
	b := s.blocks[len(s.blocks)-1].mem[s.used:][:n]
	s.used += n
	return b
}

func (s *staging) add(n int) {
	var b stagingBlock
	if s.buft != 0 {
		b.buf = s.api.BufAlloc(s.buft, uintptr(n))
	}
	if b.buf != 0 {
		base := s.api.BufBase(b.buf)
		b.mem = unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&base))), n)
	} else { // the system limits such memory; copies through other memory are only slower
		b.mem = make([]byte, n)
	}
	s.blocks, s.used = append(s.blocks, b), 0
}

func (s *staging) free() {
	for _, b := range s.blocks {
		if b.buf != 0 {
			s.api.BufFree(b.buf)
		}
	}
	s.blocks, s.used = nil, 0
}

// element is an element of a tensor in host memory.
type element interface {
	byte | uint16 | int32 | int64 | float32
}

// staged takes uninitialized memory for n elements.
func staged[T element](s *staging, n int) []T {
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s.take(n*int(unsafe.Sizeof(one)))))), n)
}

// set sends the tensor's first elements, which must not change until the next Sync.
func set[T element](d *Device, x ptr, from []T) {
	d.api.Set(d.backend, x, unsafe.Pointer(&from[0]), 0, uintptr(len(from))*unsafe.Sizeof(from[0]))
}

// get receives the tensor's elements from the given one on, which are valid after the next Sync.
func get[T element](d *Device, x ptr, from int, to []T) {
	size := unsafe.Sizeof(to[0])
	d.api.Get(d.backend, x, unsafe.Pointer(&to[0]), uintptr(from)*size, uintptr(len(to))*size)
}

// received is how many numbers of a result are in pinned memory at a time, twice.
const received = 1 << 20

// receive waits for the device and copies the tensor's first numbers to out. It calls meanwhile once, when what was received
// before has arrived, if possible while the device sends the numbers.
//
// If the device can write to out itself (see Host), there is no other copy. Otherwise the numbers pass through pinned memory, if
// the device has any, and one part is copied from there while the device sends the next.
func (d *Device) receive(x ptr, out []float32, meanwhile func()) {
	if !d.staging.pinned() || d.hosted(out) {
		if large := len(out) >= received/4; large && d.staging.pinned() {
			d.api.Sync(d.backend)
			get(d, x, 0, out)
			meanwhile()
			d.api.Sync(d.backend)
			return
		}
		get(d, x, 0, out)
		d.api.Sync(d.backend)
		meanwhile()
		return
	}
	here := staged[float32](&d.staging, min(len(out), received))
	next := here
	if len(out) > received {
		next = staged[float32](&d.staging, received)
	}
	get(d, x, 0, here)
	for at := 0; at < len(out); {
		n := min(len(out)-at, received)
		d.api.Sync(d.backend)
		if rest := min(len(out)-at-n, received); rest > 0 {
			get(d, x, at+n, next[:rest])
		}
		if at == 0 {
			meanwhile()
		}
		divide(n, 4, func(lo, hi int) { copy(out[at+lo:at+hi], here[lo:]) })
		at, here, next = at+n, next, here
	}
}

// hostBlock is memory that Host has given away.
type hostBlock struct {
	buf, base ptr
	n         uintptr // bytes
}

// host returns memory for n numbers that the device writes itself, and a function that frees it; nil if it has no more of it.
func (d *Device) host(n int) (mem []float32, free func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweepHost()
	if d.closed || !d.staging.pinned() || n == 0 {
		return nil, nil
	}
	b := hostBlock{buf: d.api.BufAlloc(d.staging.buft, uintptr(4*n)), n: uintptr(4 * n)}
	if b.buf == 0 {
		return nil, nil
	}
	b.base = d.api.BufBase(b.buf)
	d.hosts = append(d.hosts, b)
	mem = unsafe.Slice((*float32)(*(*unsafe.Pointer)(unsafe.Pointer(&b.base))), n)
	return mem, func() { // perhaps by the garbage collector, which must not wait for a run
		d.deadMu.Lock()
		defer d.deadMu.Unlock()
		if d.swept {
			d.api.BufFree(b.buf)
			return
		}
		d.deadHosts = append(d.deadHosts, b)
	}
}

// hosted reports whether the device can write to the memory itself.
func (d *Device) hosted(mem []float32) bool {
	from := ptr(unsafe.Pointer(unsafe.SliceData(mem)))
	return slices.ContainsFunc(d.hosts, func(b hostBlock) bool {
		return b.base <= from && from+4*uintptr(len(mem)) <= b.base+b.n
	})
}

// sweepHost frees memory of host that is no longer in use.
func (d *Device) sweepHost() {
	d.deadMu.Lock()
	dead := d.deadHosts
	d.deadHosts = nil
	d.deadMu.Unlock()
	for _, b := range dead {
		d.api.BufFree(b.buf)
		d.hosts = slices.DeleteFunc(d.hosts, func(o hostBlock) bool { return o == b })
	}
}

// divide copies n items of the given size. It uses several threads for large copies, such as the logits, keys and values of
// many rows, because one thread copies more slowly than a GPU sends.
func divide(n, bytes int, do func(lo, hi int)) {
	const each, most = 1 << 20, 8
	parts := min(n, n*bytes/each, runtime.GOMAXPROCS(0), most)
	if parts < 2 {
		do(0, n)
		return
	}
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() { do(n*i/parts, n*(i+1)/parts) })
	}
	wg.Wait()
}

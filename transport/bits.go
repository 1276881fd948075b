package transport

import (
	"errors"
	"math/bits"
)

// bitWriter appends bits, the most significant first.
type bitWriter struct {
	buf  []byte
	free int // unused low bits of the last byte
}

func (w *bitWriter) write(v uint64, n int) {
	for n > 0 {
		if w.free == 0 {
			w.buf, w.free = append(w.buf, 0), 8
		}
		k := min(n, w.free)
		w.buf[len(w.buf)-1] |= byte(v>>(n-k)&(1<<k-1)) << (w.free - k)
		w.free, n = w.free-k, n-k
	}
}

// writeGamma writes v ≥ 0 as the Elias gamma code of v+1, which is short for small numbers.
func (w *bitWriter) writeGamma(v uint64) {
	n := bits.Len64(v + 1)
	w.write(0, n-1)
	w.write(v+1, n)
}

// writeGolomb writes v as an exponential Golomb code of order k, which is short for numbers of up to about k bits.
func (w *bitWriter) writeGolomb(v uint64, k int) {
	w.writeGamma(v >> k)
	w.write(v&(1<<k-1), k)
}

// writeBelow writes v in 0..bound-1 as a truncated binary code: ⌊log₂ bound⌋ or one more bits.
func (w *bitWriter) writeBelow(v, bound uint64) {
	n := bits.Len64(bound)
	short := uint64(1)<<n - bound // the number of values that need only n-1 bits
	if v < short {
		w.write(v, n-1)
	} else {
		w.write(v+short, n)
	}
}

// writeSet writes a strictly ascending set of values in lo..hi-1 by binary interpolative coding (Moffat and Stuiver 2000):
// first the middle element, within the bounds that the other elements leave it, then each half. Its length is close to
// log₂ of the number of such sets, and shorter where values cluster.
func (w *bitWriter) writeSet(set []uint64, lo, hi uint64) {
	if len(set) == 0 {
		return
	}
	mid := len(set) / 2
	first, last := lo+uint64(mid), hi-uint64(len(set)-1-mid)
	w.writeBelow(set[mid]-first, last-first)
	w.writeSet(set[:mid], lo, set[mid])
	w.writeSet(set[mid+1:], set[mid]+1, hi)
}

var errShort = errors.New("frame ends too early")

// bitReader reads what a bitWriter wrote. After the first error, all reads return zero.
type bitReader struct {
	buf []byte
	pos int // in bits
	err error
}

func (r *bitReader) read(n int) (v uint64) {
	if r.err != nil || r.pos+n > 8*len(r.buf) {
		r.err = errors.Join(r.err, errShort)
		return 0
	}
	for n > 0 {
		have := 8 - r.pos%8
		k := min(n, have)
		v = v<<k | uint64(r.buf[r.pos/8]>>(have-k))&(1<<k-1)
		r.pos, n = r.pos+k, n-k
	}
	return v
}

func (r *bitReader) readGamma() uint64 {
	n := 1
	for r.err == nil && r.read(1) == 0 {
		if n++; n > 64 {
			r.err = errors.New("number too long")
		}
	}
	if r.err != nil {
		return 0
	}
	return (1<<(n-1) | r.read(n-1)) - 1
}

func (r *bitReader) readGolomb(k int) uint64 {
	high := r.readGamma()
	if high >= 1<<(64-k) {
		r.err = errors.Join(r.err, errors.New("number too long"))
		return 0
	}
	return high<<k | r.read(k)
}

func (r *bitReader) readBelow(bound uint64) uint64 {
	n := bits.Len64(bound)
	short := uint64(1)<<n - bound
	v := r.read(n - 1)
	if v >= short {
		v = v<<1 | r.read(1)
		v -= short
	}
	return v
}

func (r *bitReader) readSet(set []uint64, lo, hi uint64) {
	if len(set) == 0 || r.err != nil {
		return
	}
	mid := len(set) / 2
	first, last := lo+uint64(mid), hi-uint64(len(set)-1-mid)
	set[mid] = first + r.readBelow(last-first)
	r.readSet(set[:mid], lo, set[mid])
	r.readSet(set[mid+1:], set[mid]+1, hi)
}

// end returns an error unless the whole buffer was read and the padding bits are zero.
func (r *bitReader) end() error {
	if r.err != nil {
		return r.err
	}
	if rest := 8*len(r.buf) - r.pos; rest >= 8 || r.read(rest) != 0 {
		return errors.New("frame has trailing bits")
	}
	return nil
}

package tinymodel

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/quant"
)

// pieceBytes is how much of a tensor is generated at a time.
const pieceBytes = 1 << 20

// Stream writes the file of a Spec. It is about as fast as a disk and needs a few megabytes of memory besides the vocabulary,
// whatever the size of the model. The tensors are those of Parts, but with other numbers of the same mean and spread: random
// bits form the blocks of their type directly, without quantisation. The same Spec gives the same bytes everywhere. If
// progress is not nil, Stream calls it after each piece with the bytes of weights so far and in total. It returns progress's
// error, if any, at once.
func Stream(w io.Writer, s Spec, progress func(done, total int64) error) error {
	s = s.withDefaults()
	meta, vocab := s.meta()
	list := s.mixed(meta, vocab)
	infos, done, total := make([]gguf.TensorInfo, len(list)), int64(0), int64(0)
	for i, t := range list {
		infos[i] = gguf.TensorInfo{Name: t.name, Type: t.typ, Shape: gguf.Shape(meta, t.name, t.cols, t.rows)}
		total += t.bytes()
	}
	out, err := gguf.NewWriter(w, meta, infos)
	if err != nil {
		return err
	}
	piece, r := make([]byte, pieceBytes), splitmix(s.Seed)
	for _, t := range list {
		fill, err := t.filler(&r)
		if err != nil {
			return err
		}
		most := int64(pieceBytes / t.typ.BlockBytes() * t.typ.BlockBytes())
		for left := t.bytes(); left > 0; {
			p := piece[:min(left, most)]
			fill(p)
			if _, err := out.Write(p); err != nil {
				return err
			}
			left, done = left-int64(len(p)), done+int64(len(p))
			if progress != nil {
				if err := progress(done, total); err != nil {
					return err
				}
			}
		}
	}
	return out.Close()
}

func (w weights) bytes() int64 { return int64(w.rows) * int64(w.typ.RowBytes(w.cols)) }

// splitmix is the generator SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
type splitmix uint64

func (s *splitmix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// put fills p with words from next.
func put(p []byte, next func() uint64) {
	for ; len(p) >= 8; p = p[8:] {
		binary.LittleEndian.PutUint64(p, next())
	}
	if len(p) > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], next())
		copy(p, last[:])
	}
}

// filler returns a function that fills whole blocks of the tensor.
func (w weights) filler(r *splitmix) (func(p []byte), error) {
	switch w.typ {
	case npu.F32, npu.F16, npu.BF16:
		return w.floats(r)
	}
	if w.typ == npu.MXFP4 && w.mean == 0 {
		return w.exponents(r), nil
	}
	b, ok := blocks[w.typ]
	if !ok || w.mean != 0 {
		return nil, fmt.Errorf("%s: cannot make random blocks of %v with a mean of %v", w.name, w.typ, w.mean)
	}
	return w.blocks(r, b), nil
}

const levelBits = 12 // random bits of a float

// floats fills memory with numbers drawn uniformly from a table.
func (w weights) floats(r *splitmix) (func(p []byte), error) {
	x, size := make([]float32, 1<<levelBits), w.typ.BlockBytes()
	for i := range x {
		x[i] = w.at((float64(i) + 0.5) / float64(len(x)))
	}
	data := make([]byte, len(x)*size)
	if err := quant.Quantize(w.typ, data, x); err != nil {
		return nil, fmt.Errorf("%s: %w", w.name, err)
	}
	var table [1 << levelBits]uint64
	for i := range table {
		for j, b := range data[i*size:][:size] {
			table[i] |= uint64(b) << (8 * j)
		}
	}
	word := func() (v uint64) {
		bits := r.next()
		for at := 0; at < 64; at += 8 * size {
			v |= table[bits%(1<<levelBits)] << at
			bits >>= levelBits
		}
		return v
	}
	return func(p []byte) { put(p, word) }, nil
}

// block describes which bits of a type's blocks are not random, and how large the numbers are for a scale of 1.
type block struct {
	scale  int     // offset of its F16 scale
	min    int     // offset of the F16 scale of its minima; 0 if it has none
	mean   float64 // the scale of the minima, relative to the other, for which the numbers' mean is 0
	spread float64 // the square root of the mean of the numbers' squares
	signed bool    // the mean is 0 if half of the scales are negative
	odd    uint64  // bits that are always set, so that no byte is −128, which has no positive counterpart
}

// A number of a K-quant is s·q − E[q]·m, with q from 0 to 15 (Q5_K: 31) and scales s and minima m from 0 to 63, all
// independent. So its spread is √(E[s²]·E[q²] + E[q]²·E[m²] − 2·E[q]²·E[s]·E[m]).
var blocks = map[npu.DType]block{
	npu.Q8_0: {spread: 73.9, odd: 0x0101010101010101},
	npu.Q4_0: {spread: 4.64, signed: true},
	npu.Q4_K: {min: 2, mean: 7.5, spread: 258.3},
	npu.Q5_K: {min: 2, mean: 15.5, spread: 526.9},
	npu.Q6_K: {scale: 208, spread: 1365.7}, // scales of sub-blocks from −128 to 127

	npu.Q4_1:   {min: 2, mean: -7.5, spread: 4.61},
	npu.Q5_0:   {spread: 9.247, signed: true},
	npu.Q5_1:   {min: 2, mean: -15.5, spread: 9.233},
	npu.Q2_K:   {scale: 80, min: 82, mean: 1.5, spread: 13.87},
	npu.Q3_K:   {scale: 108, spread: 43.34, signed: true},
	npu.IQ4_NL: {spread: 67.44, signed: true},
	npu.IQ4_XS: {spread: 1246.3, signed: true},
	npu.MXFP4:  {spread: 5.852}, // its scales are powers of two
}

// exponents fills blocks of MXFP4 with random indices and two neighbouring exponents, in a proportion that gives the spread.
func (w weights) exponents(r *splitmix) func(p []byte) {
	scale := w.spread / blocks[npu.MXFP4].spread
	low := math.Floor(math.Log2(scale))
	often := (math.Pow(scale/math.Exp2(low), 2) - 1) / 3 * 256 // of 256 blocks with the larger one
	return func(p []byte) {
		put(p, r.next)
		for ; len(p) > 0; p = p[npu.MXFP4.BlockBytes():] {
			e := byte(low + 128)
			if float64(p[0]) < often {
				e++
			}
			p[0] = e
		}
	}
}

// blocks fills blocks with random integers and with scales that vary by a quarter.
func (w weights) blocks(r *splitmix, b block) func(p []byte) {
	var scales, minima [256]uint16
	for i := range scales {
		s := w.spread / b.spread * (0.75 + 0.5*float64(i/2)/127)
		if b.signed && i%2 == 1 {
			s = -s
		}
		scales[i], minima[i] = quant.F32ToF16(float32(s)), quant.F32ToF16(float32(s*b.mean))
	}
	word, size := func() uint64 { return r.next() | b.odd }, w.typ.BlockBytes()
	return func(p []byte) {
		put(p, word)
		for ; len(p) > 0; p = p[size:] {
			i := p[b.scale+1] ^ p[b.scale]>>1 // random even if some bits are always set
			binary.LittleEndian.PutUint16(p[b.scale:], scales[i])
			if b.min > 0 {
				binary.LittleEndian.PutUint16(p[b.min:], minima[i])
			}
		}
	}
}

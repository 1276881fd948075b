package memory

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"tandem/npu"
)

// Source reads weights. It is called by one goroutine at a time.
type Source interface {
	// ReadAt reads len(dst) bytes of the tensor's data from off on, as io.ReaderAt does.
	ReadAt(t *npu.Tensor, dst []byte, off int64) (int, error)
}

// files reads tensors from their files with plain reads, past the mapping: they take no memory but their slot's.
// Tensors without a file are read from memory.
type files map[string]*os.File

// ReadAt implements Source.
func (s files) ReadAt(t *npu.Tensor, dst []byte, off int64) (int, error) {
	if t.File == "" {
		return InMemory{}.ReadAt(t, dst, off)
	}
	file := s[t.File]
	if file == nil {
		var err error
		if file, err = os.Open(t.File); err != nil {
			return 0, err
		}
		s[t.File] = file
	}
	n, err := file.ReadAt(dst, t.Offset+off)
	if err == io.EOF && n < len(dst) {
		err = fmt.Errorf("%s was shortened while in use: %w", t.File, io.ErrUnexpectedEOF)
	}
	return n, err
}

// Close closes the files.
func (s files) Close() error {
	var errs []error
	for _, f := range s {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// InMemory reads tensors' own Data.
type InMemory struct{}

// ReadAt implements Source.
func (InMemory) ReadAt(t *npu.Tensor, dst []byte, off int64) (int, error) {
	if off < 0 || off > int64(len(t.Data)) {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(dst, t.Data[off:])
	if n < len(dst) {
		return n, io.ErrUnexpectedEOF
	}
	return n, nil
}

// tries is how often a read is tried before it has failed.
const tries = 3

// staging is how many bytes of an object are read at once to be packed, but at least a group. The fetcher's buffer has
// this size and is not part of the budget.
const staging = 256 << 10

// fetcher reads objects and packs them.
type fetcher struct {
	source Source
	packer npu.Packer
	buffer []byte // to pack from
}

// close closes the source, if it can be closed.
func (f *fetcher) close() error {
	if c, ok := f.source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// bring reads a whole object into its place and packs it if the device reads it packed. It returns how often it had
// to try again.
func (f *fetcher) bring(o *object, dst []byte) (retries int, err error) {
	if !o.place.Packed {
		return read(f.source, o, dst, o.off)
	}
	group, size := f.packer.Group(o.place)
	row := o.source.Type.RowBytes(o.source.Cols)
	rows := max(1, staging/(group*row)) * group
	for from := 0; from < o.rows && err == nil; from += rows {
		n := min(rows, o.rows-from)
		if cap(f.buffer) < n*row {
			f.buffer = make([]byte, n*row)
		}
		var again int
		again, err = read(f.source, o, f.buffer[:n*row], o.off+int64(from*row))
		retries += again
		if err == nil {
			f.pack(dst[from/group*size:], f.buffer[:n*row], o)
		}
	}
	return retries, err
}

// pack packs rows of an object from the file's layout. The first row begins a group.
func (f *fetcher) pack(dst, src []byte, o *object) {
	t := &npu.Tensor{Name: o.source.Name, Type: o.source.Type, Cols: o.source.Cols, Data: src}
	t.Rows = len(src) / t.Type.RowBytes(t.Cols)
	group, size := f.packer.Group(t)
	for at := 0; at < t.Rows; at += group {
		f.packer.PackGroup(dst[at/group*size:][:size], t, at)
	}
}

// sum returns the checksum of an object's place when all its bytes are right.
func (f *fetcher) sum(o *object) uint32 {
	src := o.source.Data[o.off:][:o.bytes()]
	if o.place.Packed {
		dst := make([]byte, o.size)
		f.pack(dst, src, o)
		src = dst
	}
	return crc32.ChecksumIEEE(src)
}

// read fills dst from the object's tensor and returns how often it had to try again.
func read(s Source, o *object, dst []byte, off int64) (retries int, err error) {
	for {
		var n int
		if n, err = s.ReadAt(o.source, dst, off); n == len(dst) {
			return retries, nil
		}
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		if retries++; retries == tries {
			return retries - 1, fmt.Errorf("weights of %s: %d of %d bytes arrived, %d times: %w", o.source.Name, n, len(dst), tries, err)
		}
	}
}

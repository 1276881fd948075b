package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"tandem/internal/atomicfile"
	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/quant"
)

// A tensor is a tensor to write.
type tensor struct {
	name  string
	shape []uint64      // columns first, as in GGUF
	typ   npu.DType     // of the source
	data  []byte        // rows of typ
	row   func(int) int // if not nil, output row i is row(i) of the source
	to    npu.DType     // of the output

	// At most one of these gives the rows instead of data.
	values func(dst []float32, row int) error // as numbers
	blocks func(out []byte, row int)          // as blocks of the output's type
}

func (t *tensor) cols() int { return int(t.shape[0]) }

func (t *tensor) rows() int {
	n := 1
	for _, d := range t.shape[1:] {
		n *= int(d)
	}
	return n
}

// Progress reports how far a conversion has come.
type Progress struct {
	Tensor      string
	Done, Total uint64 // values
}

// A Report describes a converted file.
type Report struct {
	Tensors int               `json:"tensors"`
	Values  uint64            `json:"values"`
	Bytes   int64             `json:"bytes"`  // of the file
	Types   map[string]uint64 `json:"types"`  // values by type
	Sum     string            `json:"sha256"` // of the file
}

// pieceValues is about how many values a worker converts at a time.
const pieceValues = 1 << 17

// create writes a file in one step. It fails if path exists.
func create(path string, write func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s already exists: choose another name", path)
	}
	err := atomicfile.WriteFunc(path, 0o644, write)
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk of %s is full: make room, or choose a file on another disk: %w", filepath.Dir(path), err)
	}
	return err
}

// writeFile writes metadata and tensors as a GGUF file at path.
func writeFile(ctx context.Context, path string, meta []gguf.KV, tensors []tensor, progress func(Progress)) (*Report, error) {
	r := &Report{Tensors: len(tensors), Types: map[string]uint64{}}
	err := create(path, func(w io.Writer) error {
		infos := make([]gguf.TensorInfo, len(tensors))
		p := Progress{}
		for i, t := range tensors {
			infos[i] = gguf.TensorInfo{Name: t.name, Type: t.to, Shape: t.shape}
			p.Total += infos[i].Elements()
		}
		out := &counter{w: w, sum: sha256.New()}
		gw, err := gguf.NewWriter(out, meta, infos)
		if err != nil {
			return err
		}
		for i := range tensors {
			t := &tensors[i]
			p.Tensor = t.name
			err := t.stream(ctx, gw, func(n int) {
				if p.Done += uint64(n); progress != nil {
					progress(p)
				}
			})
			if err != nil {
				return fmt.Errorf("tensor %q: %w", t.name, err)
			}
			r.Values += infos[i].Elements()
			r.Types[gguf.DTypeName(t.to)] += infos[i].Elements()
		}
		err = gw.Close()
		r.Bytes, r.Sum = out.n, hex.EncodeToString(out.sum.Sum(nil))
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

type counter struct {
	w   io.Writer
	n   int64
	sum hash.Hash
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.sum.Write(b[:n])
	c.n += int64(n)
	return n, err
}

// stream writes the tensor's rows as type t.to. It converts pieces in parallel and calls done after each write.
func (t *tensor) stream(ctx context.Context, w io.Writer, done func(values int)) error {
	cols, rows := t.cols(), t.rows()
	if len(t.data) != t.typ.RowBytes(cols)*rows && t.row == nil && t.values == nil && t.blocks == nil {
		return fmt.Errorf("%d bytes do not match %d rows of %d %v values", len(t.data), rows, cols, t.typ)
	}
	workers := runtime.GOMAXPROCS(0)
	each := max(1, pieceValues/cols)
	size := t.to.RowBytes(cols)
	out := make([]byte, min(rows, workers*each)*size)
	for at := 0; at < rows; at += workers * each {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(rows-at, workers*each)
		errs := make([]error, workers)
		var wg sync.WaitGroup
		for i := range workers {
			lo, hi := min(n, i*each), min(n, (i+1)*each)
			if lo < hi {
				wg.Go(func() { errs[i] = t.piece(out[lo*size:hi*size], at+lo, hi-lo) })
			}
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		if _, err := w.Write(out[:n*size]); err != nil {
			return err
		}
		done(n * cols)
	}
	return nil
}

// piece converts rows rows, the first of which is row from, into out.
func (t *tensor) piece(out []byte, from, rows int) error {
	cols := t.cols()
	to := t.to.RowBytes(cols)
	values := make([]float32, cols)
	for i := range rows {
		row := from + i
		if t.row != nil {
			row = t.row(row)
		}
		out := out[i*to : (i+1)*to]
		if t.blocks != nil {
			t.blocks(out, row)
			continue
		}
		if err := t.read(values, row); err != nil {
			return err
		}
		if i := slices.IndexFunc(values, func(v float32) bool { return v != v }); i >= 0 {
			return fmt.Errorf("row %d: value NaN at index %d: the source is damaged; fetch or make it again", row, i)
		}
		if t.values == nil && t.typ == t.to {
			copy(out, t.data[row*to:])
			continue
		}
		if err := quant.Quantize(t.to, out, values); err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
	}
	return nil
}

// read reads a row of the source.
func (t *tensor) read(dst []float32, row int) error {
	if t.values != nil {
		return t.values(dst, row)
	}
	size := t.typ.RowBytes(len(dst))
	in := t.data[row*size:][:size]
	return quant.Dequantize(t.typ, dst, in)
}

package memory

import (
	"fmt"
	"io"

	"tandem/npu"
)

// Source reads weights from where they lie. It is called by one goroutine at a time.
type Source interface {
	// ReadAt reads len(dst) bytes of the tensor's data from off on, as io.ReaderAt does.
	ReadAt(t *npu.Tensor, dst []byte, off int64) (int, error)
}

// InMemory reads tensors' own Data: a mapped file, or a model that is built in.
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

// tries is how often a transfer is begun before it has failed.
const tries = 3

// read brings a whole object, and says how often it had to try again.
func read(s Source, o *object, dst []byte) (retries int, err error) {
	for {
		var n int
		if n, err = s.ReadAt(o.source, dst, o.off); n == len(dst) {
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

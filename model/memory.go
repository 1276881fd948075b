package model

import (
	"errors"
	"fmt"
	"io"
	"os"

	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/phone/memory"
)

// within bounds the memory of a device for weights (DESIGN §4.4); 0 is no bound.
func within(d npu.Device, f *gguf.File, budget int64, paging bool) (npu.Device, error) {
	if budget == 0 {
		return d, nil
	}
	var source memory.Source = memory.InMemory{}
	if len(f.Tensors) > 0 {
		if _, _, ok := f.Locate(f.Tensors[0].Name); ok {
			source = &fileSource{file: f, open: map[string]*os.File{}}
		}
	}
	bounded, err := memory.New(d, memory.Options{Budget: budget, Source: source, Paging: paging})
	if err != nil {
		d.Close()
		return nil, err
	}
	return bounded, nil
}

// fileSource reads weights with plain reads, past the mapping: they take no memory but their slot's.
type fileSource struct {
	file *gguf.File
	open map[string]*os.File
}

// ReadAt implements memory.Source. One goroutine calls it.
func (s *fileSource) ReadAt(t *npu.Tensor, dst []byte, off int64) (int, error) {
	path, at, ok := s.file.Locate(t.Name)
	if !ok {
		return 0, fmt.Errorf("tensor %s is not in the file any more", t.Name)
	}
	file := s.open[path]
	if file == nil {
		var err error
		if file, err = os.Open(path); err != nil {
			return 0, err
		}
		s.open[path] = file
	}
	n, err := file.ReadAt(dst, at+off)
	if err == io.EOF && n < len(dst) {
		err = fmt.Errorf("%s: %w: it was shortened while in use", path, io.ErrUnexpectedEOF)
	}
	return n, err
}

// Close closes the files.
func (s *fileSource) Close() error {
	var errs []error
	for _, f := range s.open {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// staged says that the memory for weights is bounded.
func (m *Model) staged() bool {
	_, ok := m.device.(*memory.Device)
	return ok
}

// Memory returns what the bounded memory did since the model was opened; ok is false for a model without a
// bound.
func (m *Model) Memory() (c memory.Counters, ok bool) {
	d, ok := m.device.(*memory.Device)
	if !ok {
		return c, false
	}
	return d.Counters(), true
}

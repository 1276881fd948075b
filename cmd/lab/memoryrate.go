package main

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/model"
	"tandem/npu"
)

// reader measures how fast a device reads its memory with a plain loop, about what decoding a token cannot exceed.
// One that has no read measures nothing.
type reader struct {
	read   func() (bytes int, err error) // all of a large memory, once
	passes int                           // at most, for one rate
	close  func()
	seen   []float64 // all rates, in bytes per second
}

// readerOf returns the reader of the memory that holds the model's weights. Where that cannot be measured the other
// figures can, all the same.
func readerOf(a *cli.App, m *model.Model, threads int) *reader {
	if m.Processor() {
		return processorReader(threads)
	}
	var err error
	for _, rows := range []int{16384, 8192} { // some devices take no such large matrices, some have no room for more
		var r *reader
		if r, err = openReader("ggml:"+ggmlName(m), rows); err == nil {
			return r
		}
	}
	a.Remark("no shares of the limit, as the rate of the device's memory could not be measured: %v", err)
	return &reader{close: func() {}}
}

func openReader(device string, rows int) (*reader, error) {
	d, err := model.OpenDevice(device, 1, 0)
	if err != nil {
		return nil, err
	}
	r, err := deviceReader(d, rows)
	if err != nil {
		d.Close()
	}
	return r, err
}

// ggmlName is how ggml calls the device that computes the model, "cpu" if it is the processor.
func ggmlName(m *model.Model) string {
	if name, ok := strings.CutPrefix(m.Rounding(), "ggml "); ok {
		return name
	}
	return "cpu"
}

// processorReader reads 256 MB with all threads.
func processorReader(threads int) *reader {
	data := make([]uint64, 32<<20)
	for i := 0; i < len(data); i += 512 { // touch every page
		data[i] = 1
	}
	var sink atomic.Uint64
	return &reader{passes: 12, close: func() {}, read: func() (int, error) {
		var wg sync.WaitGroup
		n := len(data)
		for t := range threads {
			part := data[t*n/threads : (t+1)*n/threads]
			wg.Go(func() { sink.Add(sum(part)) })
		}
		wg.Wait()
		return 8 * n, nil
	}}
}

func sum(x []uint64) uint64 {
	var a, b, c, d uint64
	for ; len(x) >= 8; x = x[8:] {
		a, b, c, d = a+x[0]+x[4], b+x[1]+x[5], c+x[2]+x[6], d+x[3]+x[7]
	}
	return a + b + c + d
}

// deviceReader multiplies one input by a matrix of so many rows of 8192 F16 values, many times in a graph, since a
// GPU reads gigabytes while it begins and ends one. With 8192 rows no cache holds the matrix.
func deviceReader(d npu.Device, rows int) (*reader, error) {
	const cols, times = 8192, 32
	w := &npu.Tensor{Name: "memory", Type: npu.F16, Rows: rows, Cols: cols, Data: make([]byte, rows*npu.F16.RowBytes(cols))}
	g := npu.NewGraph("read", 1)
	x := g.Input(cols)
	y := g.MatMul(x, w, nil)
	for range times - 1 {
		y = g.Add(y, g.MatMul(x, w, nil))
	}
	p, err := d.Compile(g)
	if err != nil {
		return nil, err
	}
	args := npu.Args{Rows: 1, X: make([]float32, cols), Out: make([]float32, rows)}
	if err := p.Run(args); err != nil { // the first run makes what later ones find
		return nil, err
	}
	read := func() (int, error) { return times * len(w.Data), p.Run(args) }
	return &reader{passes: math.MaxInt, close: func() { d.Close() }, read: read}, nil
}

// rate reads for a while and returns the mean, in bytes per second, as decoding's speed is one.
func (r *reader) rate() (float64, error) {
	const enough = 300 * time.Millisecond
	begun, bytes := time.Now(), 0
	for pass := 0; pass == 0 || pass < r.passes && time.Since(begun) < enough; pass++ {
		n, err := r.read()
		if err != nil {
			return 0, fmt.Errorf("measuring the rate of memory: %w", err)
		}
		bytes += n
	}
	rate := float64(bytes) / time.Since(begun).Seconds()
	r.seen = append(r.seen, rate)
	return rate, nil
}

// around runs f, and where it is wanted tells the mean of the rates before and after.
func (r *reader) around(wanted bool, rate *float64, f func() error) error {
	if !wanted || r.read == nil {
		return f()
	}
	before, err := r.rate()
	if err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	after, err := r.rate()
	*rate = (before + after) / 2
	return err
}

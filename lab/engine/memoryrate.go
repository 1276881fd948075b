package engine

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/model"
	"tandem/npu"
	"tandem/npu/phone"
)

// memory measures how fast a device reads its memory in a plain loop: a limit on the speed of decoding. Without a function
// read it measures nothing.
type memory struct {
	read   func() (bytes int, err error) // reads a large memory once
	passes int                           // most reads for one rate
	close  func()
	seen   []float64 // all rates, in bytes per second
}

// memoryOf returns the memory that holds the model's weights. If its rate cannot be measured, it says so and returns one
// that measures nothing.
func memoryOf(m *model.Model, o Options) *memory {
	switch {
	case o.Processor: // what the memory gives in time says nothing about the processor's
		return &memory{close: func() {}}
	case m.Processor():
		return processorMemory(o.Threads)
	}
	var err error
	for _, rows := range []int{16384, 8192} { // some devices take no larger matrix, or have no room for one
		var r *memory
		if r, err = openMemory("ggml:"+ggmlName(m), rows); err == nil {
			return r
		}
	}
	o.Remark("cannot measure the rate of the device's memory, so no share of that limit is shown: %v", err)
	return &memory{close: func() {}}
}

func openMemory(device string, rows int) (*memory, error) {
	d, err := phone.Open(phone.Options{Device: device, Threads: 1})
	if err != nil {
		return nil, err
	}
	r, err := deviceMemory(d, rows)
	if err != nil {
		d.Close()
	}
	return r, err
}

// ggmlName returns ggml's name of the device that computes the model, "cpu" for the processor.
func ggmlName(m *model.Model) string {
	if name, ok := strings.CutPrefix(m.Rounding(), "ggml "); ok {
		return name
	}
	return "cpu"
}

// processorMemory reads 256 MB with all threads.
func processorMemory(threads int) *memory {
	data := make([]uint64, 32<<20)
	for i := 0; i < len(data); i += 512 { // touch every page
		data[i] = 1
	}
	var sink atomic.Uint64
	return &memory{passes: 12, close: func() {}, read: func() (int, error) {
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

// deviceMemory reads by multiplying an input by a matrix of 8192 F16 columns, many times in one graph, because a GPU could
// read gigabytes in the time that it takes to start and end a graph. With 8192 rows, the matrix exceeds any cache.
func deviceMemory(d npu.Device, rows int) (*memory, error) {
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
	if err := p.Run(args); err != nil { // the first run includes setup
		return nil, err
	}
	read := func() (int, error) { return times * len(w.Data), p.Run(args) }
	return &memory{passes: math.MaxInt, close: func() { d.Close() }, read: read}, nil
}

// rate reads for a while and returns the mean rate in bytes per second.
func (r *memory) rate() (float64, error) {
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

// around runs f. If wanted, it measures the rate before and after and sets *rate to the mean.
func (r *memory) around(wanted bool, rate *float64, f func() error) error {
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

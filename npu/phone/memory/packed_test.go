package memory_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/phone/memory"
	"tandem/npu/quant"
)

// counted is a device that counts the groups it packs.
type counted struct {
	*native.Device
	groups atomic.Int64
}

func (d *counted) Traits() npu.Traits {
	t := d.Device.Traits()
	t.Packer = d
	return t
}

func (d *counted) PackGroup(dst []byte, t *npu.Tensor, row int) {
	d.groups.Add(1)
	d.Device.PackGroup(dst, t, row)
}

// Weights are packed when they are loaded (resident ones only once), in whole groups and in reads
// of bounded size. The results have the same bits as without staging.
func TestLoadsPack(t *testing.T) {
	const width, blocks = 1024, 4
	var graphs []*npu.Graph
	for b := range blocks {
		v := make([]float32, width*width)
		for i := range v {
			v[i] = float32((i*37+b)%101)/101 - 0.5
		}
		w := &npu.Tensor{Name: fmt.Sprintf("w%d", b), Type: npu.Q8_0, Rows: width, Cols: width, Data: make([]byte, width*npu.Q8_0.RowBytes(width))}
		if err := quant.Quantize(npu.Q8_0, w.Data, v); err != nil {
			t.Fatal(err)
		}
		g := npu.NewGraph(fmt.Sprintf("block %d", b), 1)
		g.MatMul(g.Input(width), w, nil)
		graphs = append(graphs, g)
	}
	size := int64(width * npu.Q8_0.RowBytes(width))
	for _, c := range []struct {
		name          string
		opt           memory.Options
		first, second int64 // groups packed in two passes; -1: some
	}{
		{"resident", memory.Options{Budget: 2 * blocks * size, Piece: size}, 256, 0},
		{"pieces", memory.Options{Budget: 2 * blocks * size, Piece: size/3 + 100}, 256, 0},
		{"staged", memory.Options{Budget: 3 * size, Piece: size / 2}, -1, -1},
		{"paged", memory.Options{Budget: 2 * size, Piece: size, Paging: true}, 256, 256},
		{"less than a group", memory.Options{Budget: 2 * blocks * size, Piece: size / 100}, 0, 0},
	} {
		inner := &counted{Device: native.New(1)}
		d, err := memory.New(inner, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		a := npu.Args{Rows: 1, X: make([]float32, width), Out: make([]float32, width)}
		for i := range a.X {
			a.X[i] = float32(i%17) / 17
		}
		var staged, plain []npu.Program
		for _, g := range graphs {
			p, err := d.Compile(g)
			if err != nil {
				t.Fatal(err)
			}
			q, err := inner.Compile(g)
			if err != nil {
				t.Fatal(err)
			}
			staged, plain = append(staged, p), append(plain, q)
		}
		for pass, want := range []int64{c.first, c.second} {
			inner.groups.Store(0)
			for i, p := range staged {
				if err := p.Run(a); err != nil {
					t.Fatal(err)
				}
				got := slices.Clone(a.Out)
				if err := plain[i].Run(a); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, a.Out) {
					t.Fatalf("%s: block %d gives different bits", c.name, i)
				}
			}
			if n := inner.groups.Load(); memory.Checking {
				continue // checks pack again to compare
			} else if want >= 0 && n != want || want < 0 && n == 0 {
				t.Errorf("%s: pass %d packed %d groups, want %d", c.name, pass, n, want)
			}
		}
		if peak := d.Counters().Peak; peak > c.opt.Budget {
			t.Errorf("%s: %d bytes mapped, of %d", c.name, peak, c.opt.Budget)
		}
	}
}

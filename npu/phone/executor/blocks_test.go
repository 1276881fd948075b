package executor

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/quant"
)

// counted is a device that counts the groups it packs.
type counted struct {
	*native.Device
	groups int
}

func (d *counted) Traits() npu.Traits {
	t := d.Device.Traits()
	t.Packer = d
	return t
}

func (d *counted) PackGroup(dst []byte, t *npu.Tensor, row int) {
	d.groups++
	d.Device.PackGroup(dst, t, row)
}

// For the native device a load packs the types that its kernels read packed, and copies the others.
// A run then gives the same bits as a graph whose weights were packed by Compile.
func TestLoadsPack(t *testing.T) {
	const width, wide = 64, 40 // the last group is not full
	for _, c := range []struct {
		t      npu.DType
		groups int
	}{{npu.Q8_0, 7}, {npu.Q4_0, 7}, {npu.F16, 0}} {
		matrix := func(name string, rows int) *npu.Tensor {
			v := make([]float32, rows*width)
			for i := range v {
				v[i] = float32((i*37+len(name))%101)/101 - 0.5
			}
			w := &npu.Tensor{Name: name, Type: c.t, Rows: rows, Cols: width, Data: make([]byte, rows*c.t.RowBytes(width))}
			if err := quant.Quantize(c.t, w.Data, v); err != nil {
				t.Fatal(err)
			}
			return w
		}
		square, last := matrix("square", width), matrix("last", wide)
		graph := func(chunk int) *npu.Graph {
			g := npu.NewGraph(fmt.Sprint(c.t), chunk)
			g.MatMul(g.MatMul(g.Input(width), square, nil), last, nil)
			return g
		}
		d := &counted{Device: native.New(1)}
		defer d.Close()
		b, err := NewBlocks(d, [][]*npu.Graph{{graph(5)}}, [][]*npu.Graph{{graph(2)}})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := d.Compile(graph(5))
		if err != nil {
			t.Fatal(err)
		}
		for _, small := range []bool{false, true} {
			d.groups = 0
			if err := b.Load(0, small); err != nil {
				t.Fatal(err)
			}
			if d.groups != c.groups {
				t.Errorf("%v: a load packs %d groups, want %d", c.t, d.groups, c.groups)
			}
			for i, place := range b.blocks[0].place {
				if place.Packed != (c.groups > 0) || place.Packed == bytes.HasPrefix(place.Data, b.blocks[0].source[i].Data) {
					t.Errorf("%v: %s is packed: %v", c.t, place.Name, place.Packed)
				}
			}
			rows := 5
			if small {
				rows = 2
			}
			a := npu.Args{Rows: rows, X: make([]float32, rows*width), Out: make([]float32, rows*wide)}
			for i := range a.X {
				a.X[i] = float32(i%17) / 17
			}
			if err := plain.Run(a); err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(a.Out)
			clear(a.Out)
			if err := b.Run(0, small, a); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(a.Out, want) {
				t.Errorf("%v: the bits differ from those without staging", c.t)
			}
		}
	}
}

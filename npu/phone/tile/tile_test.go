package tile

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"tandem/npu"
	"tandem/npu/quant"
)

func draw(t *rapid.T) *npu.Tensor {
	typ := rapid.SampledFrom([]npu.DType{npu.F16, npu.Q4_0}).Draw(t, "type")
	w := &npu.Tensor{Name: "w", Type: typ, Rows: rapid.IntRange(1, 70).Draw(t, "rows"), Cols: rapid.IntRange(1, 70).Draw(t, "cols")}
	if typ == npu.Q4_0 {
		w.Cols = 32 * rapid.IntRange(1, 3).Draw(t, "blocks")
	}
	seed := rapid.Uint32().Draw(t, "seed")
	v := make([]float32, w.Rows*w.Cols)
	for i := range v {
		seed = seed*1664525 + 1013904223
		v[i] = float32(int32(seed)>>8) / (1 << 22)
	}
	w.Data = make([]byte, w.Rows*typ.RowBytes(w.Cols))
	if err := quant.Quantize(typ, w.Data, v); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestUnpackInvertsPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		m, err := Pack(w)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		back, err := m.Unpack()
		if err != nil || !bytes.Equal(back.Data, w.Data) {
			t.Fatalf("the bytes changed (error %v)", err)
		}
	})
}

// The product with tiles equals the plain product bit for bit, for any range of tile rows.
func TestMulEqualsPlainProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		m, err := Pack(w)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(1, 4).Draw(t, "inputs")
		x := make([]float32, n*w.Cols)
		for i := range x {
			x[i] = float32(rapid.IntRange(-1000, 1000).Draw(t, "x")) / 317
		}
		wide := make([]float32, w.Rows*w.Cols)
		if err := quant.Dequantize(w.Type, wide, w.Data); err != nil {
			t.Fatal(err)
		}
		got := make([]float32, n*w.Rows)
		split := rapid.IntRange(0, m.TileRows()).Draw(t, "split")
		m.MulRows(got, x, n, split, m.TileRows())
		m.MulRows(got, x, n, 0, split)
		for i := range n {
			for r := range w.Rows {
				var sum float32
				for c := range w.Cols {
					sum += float32(x[i*w.Cols+c] * wide[r*w.Cols+c])
				}
				if math.Float32bits(sum) != math.Float32bits(got[i*w.Rows+r]) {
					t.Fatalf("input %d, output %d: %v, want %v", i, r, got[i*w.Rows+r], sum)
				}
			}
		}
	})
}

// Within a tile the order is: input pairs, then outputs, then the two inputs of a pair.
func TestTileOrder(t *testing.T) {
	w := &npu.Tensor{Name: "w", Type: npu.F16, Rows: 32, Cols: 32, Data: make([]byte, 2048)}
	for i := range 1024 {
		w.Data[2*i], w.Data[2*i+1] = byte(i), byte(i>>8)
	}
	m, err := Pack(w)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for pair := range 16 {
		for r := range 32 {
			for c := 2 * pair; c < 2*pair+2; c++ {
				if got := int(m.Data[2*n]) | int(m.Data[2*n+1])<<8; got != 32*r+c {
					t.Fatalf("number %d is element %d, want (%d, %d)", n, got, r, c)
				}
				n++
			}
		}
	}
}

func TestPackRefuses(t *testing.T) {
	if _, err := Pack(&npu.Tensor{Name: "w", Type: npu.F32, Rows: 1, Cols: 1, Data: make([]byte, 4)}); err == nil {
		t.Error("F32 is accepted")
	}
	if _, err := Pack(&npu.Tensor{Name: "w", Type: npu.F16, Rows: 2, Cols: 2, Data: make([]byte, 4)}); err == nil {
		t.Error("short data is accepted")
	}
	if _, err := (&Matrix{Name: "w", Type: npu.F16, Rows: 1, Cols: 1, Data: make([]byte, 4)}).Unpack(); err == nil {
		t.Error("short tiles are accepted")
	}
	if err := (&Matrix{Type: npu.Q8_0}).Check(); err == nil {
		t.Error("a type without tiles is accepted")
	}
}

// FuzzMatrix checks that arbitrary tiles are rejected, or multiplied without reading beyond them.
func FuzzMatrix(f *testing.F) {
	f.Add(uint8(1), uint16(33), uint16(40), make([]byte, 4*2048))
	f.Add(uint8(2), uint16(32), uint16(32), make([]byte, 576))
	f.Fuzz(func(t *testing.T, typ uint8, rows, cols uint16, data []byte) {
		m := &Matrix{Name: "w", Type: npu.DType(typ), Rows: int(rows), Cols: int(cols), Data: data}
		if m.Check() != nil {
			return
		}
		m.Mul(make([]float32, m.Rows), make([]float32, m.Cols), 1)
		if _, err := m.Unpack(); err != nil && m.Cols%m.Type.BlockSize() == 0 {
			t.Error(err)
		}
	})
}

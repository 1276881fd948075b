package native

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tandem/npu"
)

// Every kernel set that this processor supports gives, for any number of inputs and threads, the same bits as plain Go does
// for one input. The sizes include partial groups of rows and several blocks of columns and inputs.
func TestProductsDependOnlyOnTheirOperands(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const most = 90
	for _, typ := range npu.DTypes {
		for _, cols := range []int{96, 256, 1280} {
			if cols%typ.BlockSize() != 0 {
				continue
			}
			const rows = 37
			w := &npu.Tensor{Name: "w", Type: typ, Rows: rows, Cols: cols, Data: randomBlocks(r, typ, rows*cols)}
			g := npu.NewGraph("product", most)
			g.MatMul(g.Input(cols), w, nil)
			x, want := awkward(r, most*cols), make([]float32, most*rows)
			plain := newDevice(1, &plainKernels)
			for i := range most {
				runProduct(t, plain, g, x[i*cols:][:cols], want[i*rows:][:rows], 1)
			}
			for _, k := range available()[1:] {
				for _, threads := range []int{1, 3} {
					d := newDevice(threads, k)
					for _, m := range []int{1, 2, 3, 4, 7, 16, most} {
						got := make([]float32, m*rows)
						runProduct(t, d, g, x[:m*cols], got, m)
						same(t, fmt.Sprintf("%s, %d threads: %v %d×%d by %d", k.name, threads, typ, rows, cols, m), got, want[:m*rows])
					}
					d.Close()
				}
			}
		}
	}
}

func runProduct(t *testing.T, d *Device, g *npu.Graph, x, out []float32, rows int) {
	t.Helper()
	p, err := d.Compile(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(npu.Args{Rows: rows, X: x, Out: out}); err != nil {
		t.Fatal(err)
	}
}

// FuzzKernels compares every kernel with its plain Go counterpart.
func FuzzKernels(f *testing.F) {
	for i := range uint64(8) {
		f.Add(i, uint8(31*i), uint8(i), uint8(5*i))
	}
	f.Fuzz(func(t *testing.T, seed uint64, length, rows, inputs uint8) {
		n, m := 1+int(length), 1+int(rows%13)
		for _, k := range available()[1:] {
			r := rand.New(rand.NewPCG(seed, 1))
			compareDots(t, k, r, n, m)
			compareMix(t, k, r, n, m)
			compareTiles(t, k, r, 2*n)
			compareAttention(t, k, r, n, m)
			compareElementwise(t, k, r, n)
			compareProducts(t, k, r, 1+n%6, 3*m, 1+int(inputs%37))
			compareK(t, k, r, 1+n%3, m, 1+int(inputs%9))
		}
	})
}

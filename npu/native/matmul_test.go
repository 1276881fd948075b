package native

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tandem/npu"
)

// Every kernel set that this processor supports gives, for any number of inputs and threads, the same bits as plain Go does
// for one input. The sizes include partial groups of rows and several blocks of columns and inputs.
func TestProductsDependOnlyOnTheirOperands(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const most = 141 // more than are multiplied at a time (nearInputs on amd64)
	for _, typ := range slices.Concat(npu.DTypes, npu.ReadOnly) {
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

// A quad of words holds the numbers and scales of four rows of inputs, block by block.
func TestQuadsHoldTheirInputs(t *testing.T) {
	const blocks = 5
	x := make([]input, 4*blocks)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range x {
		for j := range x[i].q {
			x[i].q[j] = int8(r.Uint32())
		}
		x[i].d = float32(r.NormFloat64())
	}
	for _, k := range available() {
		if k.words == nil {
			continue
		}
		quads := make([]wordQuad, blocks)
		k.words.quad(quads, x)
		for b, quad := range quads {
			for row := range 4 {
				in := &x[row*blocks+b]
				for j, q := range in.q {
					if quad.q[row][j] != int16(q) {
						t.Fatalf("%s: row %d, block %d, number %d: %d, want %d", k.name, row, b, j, quad.q[row][j], q)
					}
				}
				if quad.d[row] != in.d {
					t.Fatalf("%s: row %d, block %d: scale %v, want %v", k.name, row, b, quad.d[row], in.d)
				}
			}
		}
	}
}

// K-quants are packed where there is memory for it, and else read in the file's format, with the same bits.
func TestKWithoutRoom(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 8))
	const rows, cols, most = 37, 512, 9
	for _, typ := range kTypes {
		w := &npu.Tensor{Name: "w", Type: typ, Rows: rows, Cols: cols, Data: randomBlocks(r, typ, rows*cols)}
		g := npu.NewGraph("product", most)
		g.MatMul(g.Input(cols), w, nil)
		x := awkward(r, most*cols)
		for _, k := range available() {
			var results [2][]float32
			for i, room := range []bool{true, false} {
				d := newDevice(1, k)
				asked := int64(0)
				d.room = func(bytes int64) bool { asked += bytes; return room }
				results[i] = make([]float32, most*rows)
				runProduct(t, d, g, x, results[i], most)
				d.Close()
				if packs := k.mulK256[typ] != nil; (asked > 0) != packs || (len(d.packed) > 0) != (packs && room) {
					t.Errorf("%s, %v, room %v: asked for %d bytes, %d matrices are packed", k.name, typ, room, asked, len(d.packed))
				}
			}
			same(t, k.name, results[1], results[0])
		}
	}
}

// A copy may take what leaves an eighth of the memory.
func TestRoom(t *testing.T) {
	left, all, known := memoryLeft()
	if !known {
		t.Skip("this system does not say how much memory is left")
	}
	if left <= 0 || left > all {
		t.Errorf("%d of %d bytes left", left, all)
	}
	if roomFor(all) || left > all/4 && !roomFor(1<<20) {
		t.Errorf("of %d bytes, %d left, room for a copy of all of them: %v, of 1 MiB: %v", all, left, roomFor(all), roomFor(1<<20))
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

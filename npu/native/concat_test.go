package native

import (
	"errors"
	"slices"
	"testing"

	"tandem/npu"
)

// A product that is split by rows and concatenated is bit-identical to the whole, even if the weights of the pieces are
// staged.
func TestSplitProductEqualsWhole(t *testing.T) {
	const rows, cols, n = 48, 64, 3
	w := npu.Tensor{Name: "w", Type: npu.Q8_0, Rows: rows, Cols: cols, Data: make([]byte, rows*npu.Q8_0.RowBytes(cols))}
	for i := range w.Data {
		w.Data[i] = byte(i * 7)
		if i%34 == 1 {
			w.Data[i] = 0x28 // the scale's high byte: small and positive
		}
	}
	x := make([]float32, n*cols)
	for i := range x {
		x[i] = float32(i%13) - 6
	}
	d := New(1)
	defer d.Close()
	run := func(g *npu.Graph, s npu.Stage) ([]float32, error) {
		p, err := d.Compile(g)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float32, n*rows)
		return out, p.Run(npu.Args{Rows: n, X: x, Out: out, Stage: s})
	}
	whole := npu.NewGraph("whole", n)
	whole.MatMul(whole.Input(cols), &w, nil)
	want, err := run(whole, nil)
	if err != nil {
		t.Fatal(err)
	}

	cut := npu.NewGraph("cut", n)
	in := cut.Input(cols)
	var parts []npu.Value
	pieces := map[int]*npu.Tensor{}
	sources := map[int][]byte{}
	for _, span := range [][2]int{{0, 7}, {7, 8}, {8, 48}} {
		size := w.Type.RowBytes(cols)
		source := w.Data[span[0]*size : span[1]*size]
		piece := &npu.Tensor{Name: "piece", Type: w.Type, Rows: span[1] - span[0], Cols: cols, Data: make([]byte, len(source)), Staged: true}
		parts = append(parts, cut.MatMul(in, piece, nil))
		pieces[int(parts[len(parts)-1])], sources[int(parts[len(parts)-1])] = piece, source
	}
	cut.Concat(parts...)
	if _, err := run(cut, nil); err == nil {
		t.Error("staged weights were read without a stage")
	}
	got, err := run(cut, stage{enter: func(node int) error {
		if p := pieces[node]; p != nil {
			copy(p.Data, sources[node])
		}
		return nil
	}, leave: func(node int) {
		if p := pieces[node]; p != nil {
			clear(p.Data)
		}
	}})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the pieces give %v, want %v (error %v)", got, want, err)
	}
	broken := errors.New("broken")
	if _, err := run(cut, stage{enter: func(int) error { return broken }}); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

type stage struct {
	enter func(int) error
	leave func(int)
}

func (s stage) Enter(node int) error { return s.enter(node) }
func (s stage) Leave(node int)       { s.leave(node) }

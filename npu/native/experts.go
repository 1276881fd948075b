package native

import (
	"unsafe"

	"tandem/npu"
	"tandem/npu/quant"
)

// sent is the scratch memory of rows that go through experts.
type sent struct {
	chosen  []int     // [rows × used]: the experts of each row, in ascending order
	weights []float32 // [rows × used]
	list    []int
	rows    []int     // the rows of an expert
	x, y    []float32 // their inputs and results
}

// sendToExperts computes each expert once, for all rows that go through it. A row adds up the results of its experts in
// ascending order, so a result does not depend on other rows.
func (r *run) sendToExperts(i int) error {
	n, out, s := &r.graph.Nodes[i], r.result(i), &r.sent
	x, scores := r.value(n.Args[0]), r.value(n.Args[1])
	e, in := n.Experts, r.graph.Nodes[n.Args[0]].Width
	s.choose(e, scores, r.Rows)
	clear(out)
	for j, expert := range r.experts[i] {
		s.rows, s.x = s.rows[:0], s.x[:0]
		for at, k := range s.chosen {
			if k == j {
				row := at / e.TopK
				s.rows, s.x = append(s.rows, at), append(s.x, x[row*in:][:in]...)
			}
		}
		if len(s.rows) == 0 {
			continue
		}
		s.y = grow(s.y, len(s.rows)*n.Width)
		if err := expert.compute(npu.Args{Rows: len(s.rows), X: s.x, Out: s.y}); err != nil {
			return err
		}
		for k, at := range s.rows {
			p, to := s.weights[at], out[at/e.TopK*n.Width:][:n.Width]
			for d, v := range s.y[k*n.Width:][:n.Width] {
				to[d] += float32(p * v)
			}
		}
	}
	return nil
}

// choose finds the experts of each row and their weights.
func (s *sent) choose(e *npu.Experts, scores []float32, rows int) {
	s.chosen, s.weights = s.chosen[:0], s.weights[:0]
	for i := range rows {
		row := scores[i*len(e.Graphs):][:len(e.Graphs)]
		s.list = e.Choose(s.list, row)
		top := row[s.list[0]]
		for _, j := range s.list {
			top = max(top, row[j])
		}
		sum := float32(0)
		if e.SoftmaxTopK {
			for _, j := range s.list {
				sum += exp(row[j] - top)
			}
		} else {
			for _, v := range row {
				sum += exp(v - top)
			}
		}
		for _, j := range s.list {
			s.chosen, s.weights = append(s.chosen, j), append(s.weights, exp(row[j]-top)/sum)
		}
	}
}

// kernelOf returns the weights of a convolution by position [positions × width].
func kernelOf(w *npu.Tensor) []float32 {
	all, out := make([]float32, w.Rows*w.Cols), make([]float32, w.Rows*w.Cols)
	if err := quant.Dequantize(w.Type, all, w.Data); err != nil {
		panic(err) // Check has found it whole
	}
	for i, v := range all {
		out[i%w.Cols*w.Rows+i/w.Cols] = v
	}
	return out
}

// shortConv writes the rows to their slots and convolves them with those before.
func (r *run) shortConv(n *npu.Node, kernel []float32) {
	for i := range r.Rows {
		s, at := r.KV[i].At(r.place(i))
		r.dev.k.narrow(s.K[n.Layer][at*n.Width:][:n.Width], r.x[i*n.Width:][:n.Width])
	}
	r.kernel = kernel
	r.share(loopConv, r.Rows, 4*len(kernel))
}

func (r *run) convolveRows(lo, hi int) {
	n, k := r.node, r.dev.k
	width, reach := n.Width, n.Weight.Cols
	scratch := r.dev.rows.Get().(*[]float32)
	defer r.dev.rows.Put(scratch)
	*scratch = grow(*scratch, width)
	wide := *scratch
	for i := lo; i < hi; i++ {
		out := r.out[i*width:][:width]
		clear(out)
		at := reach - min(reach, r.Mask(i).Attends())
		r.Mask(i).Within(reach, func(slot, m int) {
			stretch(r.KV[i].Spans, slot, m, func(s *npu.Span, from, m int) {
				for j := range m {
					x := r.x[i*width:][:width] // the row itself, which is last, is not rounded
					if at < reach-1 {
						half := s.K[n.Layer][(from+j)*width:][:width]
						k.widen(npu.F16, wide, unsafe.Slice((*byte)(unsafe.Pointer(&half[0])), 2*width))
						x = wide
					}
					for d, w := range r.kernel[at*width:][:width] {
						out[d] += float32(w * x[d])
					}
					at++
				}
			})
		})
	}
}

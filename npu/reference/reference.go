// Package reference is a device that computes every operation of package npu in plain Go, with one thread, as simply as
// possible. Graph passes are tested on it. It also runs graphs that no other device here runs: single heads, 1×1
// convolutions and INT4 weights. It is slow, and its results agree with npu/native up to rounding, not bit for bit.
package reference

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"tandem/npu"
	"tandem/npu/quant"
)

// Device is the reference. Moved counts elements that were moved only to change their order: when keys are transposed
// before a product, and when rows become channels and back around convolutions.
type Device struct {
	Moved atomic.Int64
	// Observe, if not nil, is called with the input of every product before it is computed, for calibration.
	Observe func(n *npu.Node, x []float32)

	mu   sync.Mutex
	wide map[*npu.Tensor][]float32 // weights as float32
}

// New returns a reference device.
func New() *Device { return &Device{wide: map[*npu.Tensor][]float32{}} }

// Name implements npu.Device.
func (d *Device) Name() string { return "reference (plain Go)" }

// Traits implements npu.Device.
func (d *Device) Traits() npu.Traits { return npu.Traits{Rounding: "reference", Processor: true} }

// Close implements npu.Device.
func (d *Device) Close() error { return nil }

// Compile implements npu.Device.
func (d *Device) Compile(g *npu.Graph) (npu.Program, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	for i, n := range g.Nodes {
		if n.Weight != nil && n.Weight.Staged {
			return nil, fmt.Errorf("graph %s: %%%d: the reference device reads weights in Compile, so they cannot be staged", g.Name, i)
		}
	}
	return &program{d, g}, nil
}

// floats returns a tensor as float32.
func (d *Device) floats(t *npu.Tensor) ([]float32, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.wide[t]; w != nil {
		return w, nil
	}
	w := make([]float32, t.Rows*t.Cols)
	if err := quant.Dequantize(t.Type, w, t.Data); err != nil {
		return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	d.wide[t] = w
	return w, nil
}

type program struct {
	d *Device
	g *npu.Graph
}

func (p *program) Graph() *npu.Graph { return p.g }

// run is one run. Values are [rows × width].
type run struct {
	*program
	npu.Args
	values [][]float32
}

// Run implements npu.Program.
func (p *program) Run(a npu.Args) error {
	if a.Rows < 1 || a.Rows > p.g.Chunk {
		return fmt.Errorf("program %s takes 1 to %d rows, not %d", p.g.Name, p.g.Chunk, a.Rows)
	}
	if err := a.CheckAdapters(p.g); err != nil {
		return fmt.Errorf("program %s: %w", p.g.Name, err)
	}
	r := &run{program: p, Args: a, values: make([][]float32, len(p.g.Nodes))}
	for i := range p.g.Nodes {
		r.values[i] = make([]float32, a.Rows*p.g.Nodes[i].Width)
		if err := r.node(i); err != nil {
			return fmt.Errorf("program %s: %%%d %v: %w", p.g.Name, i, p.g.Nodes[i].Op, err)
		}
	}
	copy(a.Out, r.values[len(r.values)-1])
	return nil
}

var errInput = errors.New("an input is missing or too short")

func (r *run) node(i int) error {
	n, out := &r.g.Nodes[i], r.values[i]
	var x []float32
	cols := 0
	if len(n.Args) > 0 {
		x, cols = r.values[n.Args[0]], r.g.Nodes[n.Args[0]].Width
	}
	w, bias, err := r.weights(n)
	if err != nil {
		return err
	}
	if r.d.Observe != nil && (n.Op == npu.OpMatMul || n.Op == npu.OpConv) {
		r.d.Observe(n, x)
	}
	if f := elementwise(n); f != nil {
		r.combine(f, out, n)
		return nil
	}
	switch n.Op {
	case npu.OpInput:
		return r.input(out)
	case npu.OpEmbed:
		return r.lookUp(out, w, n.Width, r.Tokens)
	case npu.OpPosition:
		return r.lookUp(out, w, n.Width, r.Positions)
	case npu.OpRMSNorm, npu.OpNormalize, npu.OpLayerNorm:
		normalizeRows(n, out, x, w, bias, cols)
	case npu.OpMul:
		multiply(out, x, w, cols)
	case npu.OpMatMul:
		product(out, x, w, bias, r.Rows, cols, n.Width)
	case npu.OpConv:
		r.convolve(out, x, w, bias, cols, n.Width)
	case npu.OpFactor:
		return r.factors(out, x, n, cols)
	case npu.OpSelect:
		r.choose(out, x, n.Parts, cols)
	case npu.OpQuantized:
		quantized(out, x, n.Quantized, bias, r.Rows)
	case npu.OpRope:
		return r.rope(out, x, n.Rope, cols)
	case npu.OpAttention:
		return r.attention(out, x, r.values[n.Args[1]], r.values[n.Args[2]], n.Attention)
	case npu.OpTemper:
		return r.temper(out, x, n, cols)
	case npu.OpShortConv:
		return r.shortConv(out, x, w, n)
	case npu.OpExperts:
		return r.experts(out, x, r.values[n.Args[1]], n, cols)
	case npu.OpConcat:
		r.concat(out, n)
	default:
		return errors.New("not an operation of this device")
	}
	return nil
}

func (r *run) input(out []float32) error {
	if len(r.X) < len(out) {
		return errInput
	}
	copy(out, r.X)
	return nil
}

// normalizeRows normalizes rows of the given width; an RMS norm perhaps parts of them.
func normalizeRows(n *npu.Node, out, x, w, bias []float32, cols int) {
	if n.Op == npu.OpRMSNorm {
		cols = n.Weight.Cols
	}
	for at := 0; at < len(out); at += cols {
		normalize(n, out[at:][:cols], x[at:][:cols], w, bias)
	}
}

func multiply(out, x, w []float32, cols int) {
	for j := range out {
		out[j] = x[j] * w[j%cols]
	}
}

// weights returns a node's weight and bias, nil where it has none.
func (r *run) weights(n *npu.Node) (w, bias []float32, err error) {
	if n.Weight != nil {
		if w, err = r.d.floats(n.Weight); err != nil {
			return nil, nil, err
		}
	}
	if n.Bias != nil {
		bias, err = r.d.floats(n.Bias)
	}
	return w, bias, err
}

// elementwise returns the function that an operation applies to each value of its first argument and the value at the
// same place of its second, or nil for other operations. Operations with one argument ignore y.
func elementwise(n *npu.Node) func(x, y float32) float32 {
	switch n.Op {
	case npu.OpAdd:
		return func(x, y float32) float32 { return x + y }
	case npu.OpTimes:
		return func(x, y float32) float32 { return x * y }
	case npu.OpScale:
		return func(x, _ float32) float32 { return x * n.Scale }
	case npu.OpSoftcap:
		return func(x, _ float32) float32 { return softcap(x, n.Scale) }
	case npu.OpReLU:
		return func(x, _ float32) float32 { return max(x, 0) }
	case npu.OpGELU:
		return func(x, _ float32) float32 { return gelu(x) }
	case npu.OpGeGLU:
		return func(x, y float32) float32 { return gelu(x) * y }
	case npu.OpSwiGLU:
		return func(x, y float32) float32 { return float32(float64(x)/(1+math.Exp(-float64(x)))) * y }
	case npu.OpClippedSwiGLU:
		return func(x, y float32) float32 {
			z := math.Min(float64(x), 7)
			return float32(z / (1 + math.Exp(-1.702*z)) * (math.Min(math.Max(float64(y), -7), 7) + 1))
		}
	}
	return nil
}

// combine sets each value of out to f of the arguments' values at the same place.
func (r *run) combine(f func(x, y float32) float32, out []float32, n *npu.Node) {
	x := r.values[n.Args[0]]
	y := x // ignored if there is no second argument
	if len(n.Args) > 1 {
		y = r.values[n.Args[1]]
	}
	for j := range out {
		out[j] = f(x[j], y[j])
	}
}

func (r *run) temper(out, x []float32, n *npu.Node, cols int) error {
	if len(r.Positions) < r.Rows {
		return errInput
	}
	for j, v := range x {
		out[j] = v * n.Temper(r.Positions[j/cols])
	}
	return nil
}

func (r *run) concat(out []float32, n *npu.Node) {
	at := 0
	for _, a := range n.Args {
		width := r.g.Nodes[a].Width
		for row := range r.Rows {
			copy(out[row*n.Width+at:], r.values[a][row*width:][:width])
		}
		at += width
	}
}

// choose copies the part of each row that belongs to the task of its adapter.
func (r *run) choose(out, x []float32, parts, cols int) {
	part := cols / parts
	for row := range r.Rows {
		if a := r.Adapter(row); a != nil {
			at := row*cols + a.Task*part
			copy(out[at:][:part], x[at:])
		}
	}
}

// factors multiplies each row by a factor of its adapter.
func (r *run) factors(out, x []float32, n *npu.Node, cols int) error {
	for row := range r.Rows {
		if err := r.factor(out[row*n.Width:][:n.Width], x[row*cols:][:cols], row, n.Factor); err != nil {
			return err
		}
	}
	return nil
}

// factor multiplies a row by a factor of its adapter.
func (r *run) factor(out, x []float32, row int, f *npu.Factor) error {
	t := r.Factor(row, f)
	if t == nil {
		return nil
	}
	all := make([]float32, t.Rows*t.Cols)
	if err := quant.Dequantize(t.Type, all, t.Data); err != nil {
		return err
	}
	for o := range out {
		var sum float32
		switch {
		case f.Columns:
			for j := range t.Rows {
				sum += x[j] * all[npu.FactorAt(t.Rows, t.Cols, j, f.From+o)]
			}
		case f.From+o < t.Rows:
			for j, v := range all[(f.From+o)*t.Cols:][:t.Cols] {
				sum += x[j] * v
			}
		}
		out[o] = sum
	}
	return nil
}

// gelu is the approximation of GELU by tanh.
func gelu(x float32) float32 {
	z := float64(x)
	return float32(z / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(z+0.044715*z*z*z))))
}

// softcap keeps x within ±limit; 0 is no limit.
func softcap(x, limit float32) float32 {
	if limit == 0 {
		return x
	}
	return float32(float64(limit) * math.Tanh(float64(x)/float64(limit)))
}

func (r *run) lookUp(out, table []float32, width int, rows []int32) error {
	if len(rows) < r.Rows {
		return errInput
	}
	for i, at := range rows[:r.Rows] {
		if at < 0 || int(at) >= len(table)/width {
			return fmt.Errorf("row %d of %d is asked for", at, len(table)/width)
		}
		copy(out[i*width:][:width], table[int(at)*width:])
	}
	return nil
}

func normalize(n *npu.Node, out, x, w, bias []float32) {
	var mean, square float64
	for _, v := range x {
		mean += float64(v)
		square += float64(v) * float64(v)
	}
	mean, square = mean/float64(len(x)), square/float64(len(x))
	if n.Op != npu.OpLayerNorm {
		mean = 0
	}
	scale := 1 / math.Sqrt(square-mean*mean+float64(n.Eps))
	for j, v := range x {
		out[j] = float32((float64(v) - mean) * scale)
		if w != nil {
			out[j] *= w[j]
		}
		if bias != nil {
			out[j] += bias[j]
		}
	}
}

// product computes out = x·wᵀ + bias.
func product(out, x, w, bias []float32, rows, cols, width int) {
	for row := range rows {
		in := x[row*cols:][:cols]
		for o := range width {
			var sum float32
			for j, v := range w[o*cols:][:cols] {
				sum += v * in[j]
			}
			if bias != nil {
				sum += bias[o]
			}
			out[row*width+o] = sum
		}
	}
}

// convolve computes a convolution with 1×1 kernels over an image one pixel high, channels first.
func (r *run) convolve(out, x, w, bias []float32, cols, width int) {
	picture, result := make([]float32, len(x)), make([]float32, len(out))
	for row := range r.Rows {
		for c := range cols {
			picture[c*r.Rows+row] = x[row*cols+c]
		}
	}
	for o := range width {
		line := result[o*r.Rows:][:r.Rows]
		for c := range cols {
			k := w[o*cols+c]
			for pixel, v := range picture[c*r.Rows:][:r.Rows] {
				line[pixel] += k * v
			}
		}
		for pixel := range line {
			if bias != nil {
				line[pixel] += bias[o]
			}
			out[pixel*width+o] = line[pixel]
		}
	}
	r.d.Moved.Add(int64(len(x) + len(out)))
}

// round returns x/scale, rounded as npu.Quantized says.
func round(x, scale float32) int32 {
	return int32(max(-127, min(127, math.RoundToEven(float64(x)/float64(scale)))))
}

func quantized(out, x []float32, q *npu.Quantized, bias []float32, rows int) {
	in := make([]int32, len(x))
	for i, v := range x {
		in[i] = round(v, q.Activation)
	}
	size := (q.Cols + 1) / 2
	w := make([]int32, q.Cols)
	for o := range q.Rows {
		for i := range w {
			w[i] = int32(q.Weights[o*size+i/2]>>(4*(i&1))&15) - 8
		}
		for row := range rows {
			var sum int32
			for i, v := range in[row*q.Cols:][:q.Cols] {
				sum += w[i] * v
			}
			y := float32(sum) * q.Scales[o] * q.Activation
			if bias != nil {
				y += bias[o]
			}
			out[row*q.Rows+o] = y
		}
	}
}

func (r *run) rope(out, x []float32, p *npu.Rope, width int) error {
	if len(r.Positions) < r.Rows {
		return errInput
	}
	step, apart := 2, 1
	if p.Pairing == npu.HalfSplit {
		step, apart = 1, p.Dims/2
	}
	copy(out, x)
	for row, pos := range r.Positions[:r.Rows] {
		for h := 0; h < width; h += p.HeadDim {
			head := out[row*width+h:][:p.HeadDim]
			for j := range p.Dims / 2 {
				angle := float64(pos) * math.Pow(p.Base, -2*float64(j)/float64(p.Dims)) / p.Linear
				if p.Factors != nil {
					angle /= float64(p.Factors[j])
				}
				sin, cos := math.Sincos(angle)
				if p.Magnitude != 0 {
					sin, cos = sin*p.Magnitude, cos*p.Magnitude
				}
				a, b := float64(head[j*step]), float64(head[j*step+apart])
				head[j*step], head[j*step+apart] = float32(a*cos-b*sin), float32(a*sin+b*cos)
			}
		}
	}
	return nil
}

// seen returns the slots in the mask of row i, within a window.
func (r *run) seen(i, window int) (slots []int) {
	r.Mask(i).Within(window, func(slot, n int) {
		for t := range n {
			slots = append(slots, slot+t)
		}
	})
	return slots
}

// shortConv stores the rows and convolves them with those before.
func (r *run) shortConv(out, x, w []float32, n *npu.Node) error {
	if len(r.Positions) < r.Rows || len(r.KV) < r.Rows {
		return errInput
	}
	width, reach := n.Width, n.Weight.Cols
	for i := range r.Rows {
		s, slot := r.KV[i].At(int(r.Mask(i).Slot))
		if s == nil {
			return fmt.Errorf("row %d: its cache has no place", i)
		}
		for j := range width {
			s.K[n.Layer][slot*width+j] = quant.F32ToF16(x[i*width+j])
		}
	}
	for i := range r.Rows {
		seen := r.seen(i, reach)
		for j := range width {
			sum := w[j*reach+reach-1] * x[i*width+j]
			for t, slot := range seen[:len(seen)-1] {
				s, at := r.KV[i].At(slot)
				sum += w[j*reach+reach-len(seen)+t] * quant.F16ToF32(s.K[n.Layer][at*width+j])
			}
			out[i*width+j] = sum
		}
	}
	return nil
}

// experts sends each row through its experts.
func (r *run) experts(out, x, scores []float32, n *npu.Node, cols int) error {
	e, width := n.Experts, n.Width
	for i := range r.Rows {
		row := scores[i*len(e.Graphs):][:len(e.Graphs)]
		chosen := e.Choose(nil, row)
		top, sum := float64(slices.Max(row)), 0.0
		for j := range row {
			if !e.SoftmaxTopK || slices.Contains(chosen, j) {
				sum += math.Exp(float64(row[j]) - top)
			}
		}
		for _, j := range chosen {
			y := make([]float32, width)
			p := program{r.d, e.Graphs[j]}
			if err := p.Run(npu.Args{Rows: 1, X: x[i*cols:][:cols], Out: y}); err != nil {
				return err
			}
			for k, v := range y {
				out[i*width+k] += float32(math.Exp(float64(row[j])-top)/sum) * v
			}
		}
	}
	return nil
}

// attention stores the keys and values of all rows; then each row attends. A cache that holds keys by row is transposed before
// the product, as a matrix unit needs it, and that is counted.
func (r *run) attention(out, q, keys, values []float32, a *npu.Attention) error {
	if len(r.Positions) < r.Rows || len(r.KV) < r.Rows {
		return errInput
	}
	if r.Masks != nil && len(r.Masks) < r.Rows {
		return errInput
	}
	for i := range r.Rows {
		mine := a.KVHeads * a.HeadDim
		if err := r.store(i, keys[i*mine:][:mine], values[i*mine:][:mine], a); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	for i := range r.Rows {
		seen := r.seen(i, a.Window)
		for h := range a.Heads {
			at := (i*a.Heads + h) * a.HeadDim
			if err := r.attendHead(out[at:][:a.HeadDim], q[at:][:a.HeadDim], i, h, seen, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// attendHead computes the attention of query head h of row i to the slots that the row sees.
func (r *run) attendHead(out, q []float32, i, h int, seen []int, a *npu.Attention) error {
	from := (a.FirstKVHead + h/(a.Heads/a.KVHeads)) * a.HeadDim
	scores := make([]float64, len(seen))
	var top, sum float64
	for t := range scores {
		s, slot := r.KV[i].At(seen[t])
		var dot float32
		for j := range a.HeadDim {
			dot += q[j] * cachedKey(s, slot, from+j, a)
		}
		if !a.Columns {
			r.d.Moved.Add(int64(a.HeadDim))
		}
		scores[t] = float64(softcap(dot*a.Scale, a.Softcap))
		if t == 0 || scores[t] > top {
			top = scores[t]
		}
	}
	if a.Sinks != nil {
		sink, err := r.d.floats(a.Sinks)
		if err != nil {
			return err
		}
		top = max(top, float64(sink[h]))
		sum = math.Exp(float64(sink[h]) - top)
	}
	for t := range scores {
		scores[t] = math.Exp(scores[t] - top)
		sum += scores[t]
	}
	for j := range a.HeadDim {
		var v float64
		for t, p := range scores {
			s, slot := r.KV[i].At(seen[t])
			v += p / sum * float64(cachedValue(s, slot, from+j, a))
		}
		out[j] = float32(v)
	}
	return nil
}

// store writes the keys and values of row i into its slot of the cache.
func (r *run) store(i int, keys, values []float32, a *npu.Attention) error {
	m := r.Mask(i)
	if err := m.Check(); err != nil {
		return err
	}
	s, slot := r.KV[i].At(int(m.Slot))
	if s == nil {
		return fmt.Errorf("its cache has no place for position %d", m.Slot)
	}
	if s, _ := r.KV[i].At(m.Reach() - 1); s == nil {
		return fmt.Errorf("its cache has no position %d to attend to", m.Reach()-1)
	}
	from := a.FirstKVHead * a.HeadDim
	if a.Cache == npu.CacheQ8_0 {
		at, n := slot*a.CacheRow()+a.Cache.Row(from), a.Cache.Row(len(keys))
		return errors.Join(narrowQ80(s.K[a.Layer][at:][:n], keys), narrowQ80(s.V[a.Layer][at:][:n], values))
	}
	for j := range keys {
		s.K[a.Layer][keyAt(s, slot, from+j, a)] = quant.F32ToF16(keys[j])
		s.V[a.Layer][slot*a.CacheRow()+from+j] = quant.F32ToF16(values[j])
	}
	return nil
}

// keyAt is where a cache of float16 has element e of a slot's keys.
func keyAt(s *npu.Span, slot, e int, a *npu.Attention) int {
	if a.Columns {
		return e*(len(s.K[a.Layer])/a.CacheRow()) + slot
	}
	return slot*a.CacheRow() + e
}

func cachedKey(s *npu.Span, slot, e int, a *npu.Attention) float32 {
	if a.Cache == npu.CacheQ8_0 {
		return cachedQ80(s.K[a.Layer][slot*a.CacheRow():], e)
	}
	return quant.F16ToF32(s.K[a.Layer][keyAt(s, slot, e, a)])
}

func cachedValue(s *npu.Span, slot, e int, a *npu.Attention) float32 {
	row := s.V[a.Layer][slot*a.CacheRow():]
	if a.Cache == npu.CacheQ8_0 {
		return cachedQ80(row, e)
	}
	return quant.F16ToF32(row[e])
}

// narrowQ80 writes numbers as blocks of a CacheQ8_0.
func narrowQ80(dst []uint16, src []float32) error {
	b := make([]byte, 2*len(dst))
	if err := quant.Quantize(npu.Q8_0, b, src); err != nil {
		return err
	}
	_, err := binary.Decode(b, binary.LittleEndian, dst)
	return err
}

// cachedQ80 returns number i of the blocks of a CacheQ8_0.
func cachedQ80(row []uint16, i int) float32 {
	b := row[i/npu.CacheBlock*npu.CacheBlockSize:]
	pair := b[1+i%npu.CacheBlock/2]
	return quant.F16ToF32(b[0]) * float32(int8(pair>>(i%2*8)))
}

package span

import (
	"fmt"

	"tandem/npu"
	"tandem/npu/native"
)

// A rows holds the states of a text's words, each of width numbers.
type rows struct {
	n, width int
	x        []float32
}

func newRows(n, width int) rows { return rows{n, width, make([]float32, n*width)} }

func (r rows) at(i int) []float32 { return r.x[i*r.width : (i+1)*r.width : (i+1)*r.width] }

// add adds y to r.
func (r rows) add(y rows) {
	for i, v := range y.x {
		r.x[i] += v
	}
}

// linear is a matrix with its bias, compiled for the device, or a few rows that are not worth it.
type linear struct {
	program npu.Program
	weight  rows // the rows of a small matrix
	bias    []float32
	out     int
}

// apply returns x·Wᵀ + b.
func (l *linear) apply(x rows) (rows, error) {
	out := newRows(x.n, l.out)
	if l.program == nil {
		for i := range x.n {
			for o := range l.out {
				out.at(i)[o] = dot(x.at(i), l.weight.at(o)) + l.bias[o]
			}
		}
		return out, nil
	}
	for a := 0; a < x.n; a += chunk {
		b := min(a+chunk, x.n)
		err := l.program.Run(npu.Args{Rows: b - a, X: x.x[a*x.width : b*x.width], Out: out.x[a*l.out : b*l.out]})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// one applies l to a single row.
func (l *linear) one(x []float32) ([]float32, error) {
	y, err := l.apply(rows{1, len(x), x})
	return y.x, err
}

// norm is LayerNorm's scale and shift.
type norm struct{ weight, bias []float32 }

// block is gated convolutions, attention and a feed-forward layer, each added to the states.
type block struct {
	convNorm, norm [2]norm
	conv           [2]linear
	reach          [2]int // of the convolutions
	q, kv, o       linear
	up, down       linear
	slope          []float32
}

// concat lays rows side by side.
func concat(parts ...rows) rows {
	width := 0
	for _, p := range parts {
		width += p.width
	}
	out := newRows(parts[0].n, width)
	for i := range out.n {
		at := out.at(i)
		for _, p := range parts {
			at = at[copy(at, p.at(i)):]
		}
	}
	return out
}

// product multiplies element by element.
func product(a, b rows) rows {
	out := newRows(a.n, a.width)
	for i := range out.x {
		out.x[i] = a.x[i] * b.x[i]
	}
	return out
}

// normalise returns (x − mean x) / √(variance + ε) · weight + bias for each row.
func (r *Reader) normalise(x rows, g norm) rows {
	out := newRows(x.n, x.width)
	for i := range x.n {
		to := out.at(i)
		mean := float32(0)
		for _, v := range x.at(i) {
			mean += v
		}
		mean /= float32(x.width)
		for k, v := range x.at(i) {
			to[k] = v - mean
		}
		scale := 1 / sqrt(dot(to, to)/float32(x.width)+r.epsilon)
		for k, v := range to {
			to[k] = float32(float32(v*scale)*g.weight[k]) + g.bias[k]
		}
	}
	return out
}

// run computes a block over the states x, with further states to attend to. It changes x.
func (r *Reader) run(b *block, x, memory rows) error {
	for k := range b.conv {
		h := r.normalise(x, b.convNorm[k])
		ab, err := b.conv[k].apply(around(h, b.reach[k]))
		if err != nil {
			return err
		}
		for i := range x.n {
			to, u := x.at(i), ab.at(i)
			for j := range to {
				to[j] += u[j] * sigmoid(u[x.width+j])
			}
		}
	}
	h := r.normalise(x, b.norm[0])
	a, err := r.attend(b, h, memory)
	if err != nil {
		return err
	}
	x.add(a)
	up, err := b.up.apply(r.normalise(x, b.norm[1]))
	if err != nil {
		return err
	}
	relu(up.x)
	down, err := b.down.apply(up)
	if err == nil {
		x.add(down)
	}
	return err
}

// around joins each word's state with those of the words at a distance, with zeros beyond the text.
func around(h rows, reach int) rows {
	out := newRows(h.n, 3*h.width)
	for i := range h.n {
		to := out.at(i)
		if i >= reach {
			copy(to, h.at(i-reach))
		}
		copy(to[h.width:], h.at(i))
		if i+reach < h.n {
			copy(to[2*h.width:], h.at(i+reach))
		}
	}
	return out
}

// attend lets each word attend to all words of its text, the farther the less, and to the memory.
func (r *Reader) attend(b *block, h, memory rows) (rows, error) {
	d := h.width
	keys := rows{h.n + memory.n, d, append(h.x[:len(h.x):len(h.x)], memory.x...)}
	q, err := b.q.apply(h)
	if err != nil {
		return q, err
	}
	kv, err := b.kv.apply(keys)
	if err != nil {
		return q, err
	}
	size := d / r.heads
	scale := 1 / sqrt(float32(size))
	out, w := newRows(h.n, d), make([]float32, keys.n)
	values := newRows(size, keys.n)
	for a := range r.heads {
		from, to := a*size, (a+1)*size
		for c := range size {
			for j := range keys.n {
				values.at(c)[j] = kv.at(j)[d+from+c]
			}
		}
		slope := b.slope[a] / scale
		for i := range h.n {
			native.Dots(w, q.at(i)[from:to], kv.x[from:], 2*d)
			for j := range h.n {
				w[j] -= float32(slope * float32(min(max(i-j, j-i), r.far)))
			}
			native.Softmax(w, scale)
			native.Dots(out.at(i)[from:to], w, values.x, keys.n)
		}
	}
	return b.o.apply(out)
}

// weighted returns the rows of y weighted by each row of w: w·y.
func weighted(w rows, y rows) rows {
	out, columns := newRows(w.n, y.width), turned(y)
	for i := range w.n {
		native.Dots(out.at(i), w.at(i), columns.x, y.n)
	}
	return out
}

// turned returns the columns of x as rows.
func turned(x rows) rows {
	out := newRows(x.width, x.n)
	for i := range x.n {
		for k, v := range x.at(i) {
			out.x[k*x.n+i] = v
		}
	}
	return out
}

// known is what a text's words are before anything is compared.
type known struct {
	e     rows // embeddings
	align rows // of them
	base  rows // the features of the words by themselves
}

// encode computes what does not depend on another text.
func (r *Reader) encode(t *text, question bool) (known, error) {
	n := len(t.words)
	k := known{e: newRows(n, r.words.width), base: newRows(n, baseFeatures)}
	for i := range t.words {
		w := &t.words[i]
		r.embed(k.e.at(i), w.low)
		copy(k.base.at(i), w.base[:])
		if question {
			k.base.at(i)[baseFeatures-1] = 1
		}
	}
	var err error
	if k.align, err = r.align.apply(k.e); err == nil {
		relu(k.align.x)
	}
	return k, err
}

// embed writes the embedding of a word: its own and those of its parts.
func (r *Reader) embed(out []float32, low string) {
	r.words.into(out, int(r.lexicon.row[low]))
	sum, part := make([]float32, len(out)), make([]float32, len(out))
	for _, b := range parts(low, r.lexicon.buckets) {
		r.parts.into(part, int(b))
		for i, v := range part {
			sum[i] += v
		}
	}
	for i, v := range sum {
		out[i] += v
	}
}

// scores computes the score of each span, [words][longest], and that of "no answer".
func (r *Reader) scores(q, p *text, kq, kp known) (spans rows, none float32, err error) {
	fp, fq := features(q, p, r.fuzzy)
	pf, qf := flat(fp), flat(fq)
	x, err := r.enterP.apply(concat(kp.e, aligned(kq, kp), kp.base, pf))
	if err != nil {
		return spans, 0, err
	}
	y, err := r.enterQ.apply(concat(kq.e, kq.base, qf))
	if err != nil {
		return spans, 0, err
	}
	for _, t := range []rows{x, y} {
		if err := r.run(&r.encoder, t, rows{}); err != nil {
			return spans, 0, err
		}
	}
	h, err := r.meetTexts(x, y)
	if err != nil {
		return spans, 0, err
	}
	for k := range r.blocks {
		if err := r.run(&r.blocks[k], h, y); err != nil {
			return spans, 0, err
		}
	}
	return r.point(h, x, y, pf)
}

// aligned returns for each word of the passage the question's words that are near by their embeddings.
func aligned(kq, kp known) rows {
	near := newRows(kp.e.n, kq.e.n)
	for i := range near.n {
		native.Dots(near.at(i), kp.align.at(i), kq.align.x, kq.align.width)
		native.Softmax(near.at(i), 1./8)
	}
	return weighted(near, kq.e)
}

// meetTexts returns the passage's states x with what they find in the question's y.
func (r *Reader) meetTexts(x, y rows) (rows, error) {
	s := newRows(x.n, y.n)
	seeP, err := r.seeP.apply(x)
	if err != nil {
		return x, err
	}
	seeQ, err := r.seeQ.apply(y)
	if err != nil {
		return x, err
	}
	scale, seen := 1/sqrt(float32(x.width)), make([]float32, x.width)
	for i := range x.n {
		for k, v := range x.at(i) {
			seen[k] = v * r.see[k]
		}
		native.Dots(s.at(i), seen, y.x, y.width)
		for j := range y.n {
			s.at(i)[j] = seeP.x[i] + seeQ.x[j] + float32(s.at(i)[j]*scale)
		}
	}
	back := turned(s) // for each word of the question, over the passage
	for j := range y.n {
		native.Softmax(back.at(j), 1)
	}
	for i := range x.n {
		native.Softmax(s.at(i), 1)
	}
	a, c := weighted(s, y), weighted(s, weighted(back, x))
	m, err := r.mix.apply(concat(x, a, product(x, a), product(x, c)))
	if err != nil {
		return x, err
	}
	m.add(x)
	return m, nil
}

// point scores the spans and "no answer" from the final states.
func (r *Reader) point(h, x, y, pf rows) (spans rows, none float32, err error) {
	pool, err := r.pool.apply(y)
	if err != nil {
		return spans, 0, err
	}
	native.Softmax(pool.x, 1)
	t := weighted(rows{1, y.n, pool.x}, y).x
	asked := newRows(h.n, h.width)
	for i := range h.n {
		for k, v := range h.at(i) {
			asked.at(i)[k] = v * t[k]
		}
	}
	z, err := r.head.apply(concat(h, x, asked))
	if err != nil {
		return spans, 0, err
	}
	relu(z.x)
	ends, err := r.ends.apply(z)
	if err != nil {
		return spans, 0, err
	}
	meet, err := r.meet.apply(z)
	if err != nil {
		return spans, 0, err
	}
	half := meet.width / 2
	spans = newRows(h.n, r.longest)
	for i := range h.n {
		for k := range min(r.longest, h.n-i) {
			spans.at(i)[k] = ends.at(i)[0] + ends.at(i + k)[1] + dot(meet.at(i)[:half], meet.at(i + k)[half:])/8
		}
	}
	none1, err := r.none1.one(append(append(tops(z), t...), tops(pf)...))
	if err != nil {
		return spans, 0, err
	}
	none2, err := r.none2.one(relu(none1))
	if err != nil {
		return spans, 0, err
	}
	return spans, none2[0], nil
}

// tops returns the greatest of each column.
func tops(x rows) []float32 {
	out := append([]float32(nil), x.at(0)...)
	for i := range x.n {
		for k, v := range x.at(i) {
			out[k] = max(out[k], v)
		}
	}
	return out
}

// flat lays features out as rows.
func flat(f [][matchFeatures]float32) rows {
	out := newRows(len(f), matchFeatures)
	for i := range f {
		copy(out.at(i), f[i][:])
	}
	return out
}

// table is a matrix whose rows are looked up.
type table struct {
	tensor npu.Tensor
	width  int
	row    func(dst []float32, src []byte) error
}

// into writes row i.
func (t *table) into(dst []float32, i int) {
	if err := t.row(dst, t.tensor.Row(i)); err != nil { // sizes and types were checked when the file was opened
		panic(fmt.Sprintf("span: row %d of %s: %v", i, t.tensor.Name, err))
	}
}

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
	to := r.x[:len(y.x)]
	for i, v := range y.x {
		to[i] += v
	}
}

// linear is a matrix with its bias, compiled for the device, or a few rows that are not worth it.
type linear struct {
	program npu.Program
	weight  rows // the rows of a small matrix
	bias    []float32
	out     int
}

// apply returns x·Wᵀ + b in rows of their own.
func (l *linear) apply(x rows) (rows, error) { return l.into(newRows(x.n, l.out), x) }

// into writes x·Wᵀ + b to out and returns it.
func (l *linear) into(out, x rows) (rows, error) {
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

// A pass is a reader at work on one passage, with room for the states in between.
type pass struct {
	*Reader
	room scratch
}

// apply returns x·Wᵀ + b.
func (c *pass) apply(l *linear, x rows) (rows, error) { return l.into(c.room.rows(x.n, l.out), x) }

// concat lays rows side by side.
func (c *pass) concat(parts ...rows) rows {
	width := 0
	for _, p := range parts {
		width += p.width
	}
	out := c.room.rows(parts[0].n, width)
	for i := range out.n {
		at := out.at(i)
		for _, p := range parts {
			at = at[copy(at, p.at(i)):]
		}
	}
	return out
}

// product multiplies element by element.
func (c *pass) product(a, b rows) rows {
	out := c.room.rows(a.n, a.width)
	for i := range out.x {
		out.x[i] = a.x[i] * b.x[i]
	}
	return out
}

// normalise returns (x − mean x) / √(variance + ε) · weight + bias for each row.
func (c *pass) normalise(x rows, g norm) rows {
	out := c.room.rows(x.n, x.width)
	for i := range x.n {
		to := out.at(i)
		mean := sum(x.at(i)) / float32(x.width)
		for k, v := range x.at(i) {
			to[k] = v - mean
		}
		scale := 1 / sqrt(dot(to, to)/float32(x.width)+c.epsilon)
		for k, v := range to {
			to[k] = float32(float32(v*scale)*g.weight[k]) + g.bias[k]
		}
	}
	return out
}

// run computes a block over the states x, with further states to attend to. It changes x.
func (c *pass) run(b *block, x, memory rows) error {
	defer c.room.release(c.room.mark())
	for k := range b.conv {
		ab, err := c.apply(&b.conv[k], c.around(c.normalise(x, b.convNorm[k]), b.reach[k]))
		if err != nil {
			return err
		}
		for i := range x.n {
			to, u := x.at(i), ab.at(i)
			gates := u[x.width:][:len(to)]
			u = u[:len(to)]
			for j, gate := range gates {
				to[j] += float32(u[j] * sigmoid(gate))
			}
		}
	}
	a, err := c.attend(b, c.normalise(x, b.norm[0]), memory)
	if err != nil {
		return err
	}
	x.add(a)
	up, err := c.apply(&b.up, c.normalise(x, b.norm[1]))
	if err != nil {
		return err
	}
	relu(up.x)
	down, err := c.apply(&b.down, up)
	if err == nil {
		x.add(down)
	}
	return err
}

// around joins each word's state with those of the words at a distance, with zeros beyond the text.
func (c *pass) around(h rows, reach int) rows {
	out := c.room.rows(h.n, 3*h.width)
	for i := range h.n {
		for k, j := range [...]int{i - reach, i, i + reach} {
			if to := out.at(i)[k*h.width : (k+1)*h.width]; j >= 0 && j < h.n {
				copy(to, h.at(j))
			} else {
				clear(to)
			}
		}
	}
	return out
}

// attend lets each word attend to all words of its text, the farther the less, and to the memory.
func (c *pass) attend(b *block, h, memory rows) (rows, error) {
	d := h.width
	keys := c.room.rows(h.n+memory.n, d)
	copy(keys.x[copy(keys.x, h.x):], memory.x)
	q, err := c.apply(&b.q, h)
	if err != nil {
		return q, err
	}
	kv, err := c.apply(&b.kv, keys)
	if err != nil {
		return q, err
	}
	size := d / c.heads
	scale := 1 / sqrt(float32(size))
	out, w := c.room.rows(h.n, d), c.room.rows(1, keys.n).x
	values := c.room.rows(size, keys.n)
	far := c.room.rows(1, h.n).x // what a distance takes from a score
	for a := range c.heads {
		from, to := a*size, (a+1)*size
		for j := range keys.n {
			for i, v := range kv.at(j)[d+from : d+to] {
				values.x[i*keys.n+j] = v
			}
		}
		slope := b.slope[a] / scale
		for i := range far {
			far[i] = float32(slope * float32(min(i, c.far)))
		}
		for i := range h.n {
			native.Dots(w, q.at(i)[from:to], kv.x[from:], 2*d)
			for j, less := range far[1 : i+1] {
				w[i-1-j] -= less
			}
			for j, less := range far[:h.n-i] {
				w[i+j] -= less
			}
			native.Softmax(w, scale)
			native.Dots(out.at(i)[from:to], w, values.x, keys.n)
		}
	}
	return c.apply(&b.o, out)
}

// weighted returns the rows of y weighted by each row of w: w·y.
func (c *pass) weighted(w, y rows) rows {
	out, columns := c.room.rows(w.n, y.width), c.turned(y)
	for i := range w.n {
		native.Dots(out.at(i), w.at(i), columns.x, y.n)
	}
	return out
}

// turned returns the columns of x as rows.
func (c *pass) turned(x rows) rows {
	out := c.room.rows(x.width, x.n)
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

// scores computes the score of each span, [words][longest], and that of "no answer". pf and qf are the match features of the
// passage's words and of the question's.
func (c *pass) scores(pf, qf rows, kq, kp known) (spans rows, none float32, err error) {
	x, err := c.apply(&c.enterP, c.concat(kp.e, c.aligned(kq, kp), kp.base, pf))
	if err != nil {
		return spans, 0, err
	}
	y, err := c.apply(&c.enterQ, c.concat(kq.e, kq.base, qf))
	if err != nil {
		return spans, 0, err
	}
	for _, t := range []rows{x, y} {
		if err := c.run(&c.encoder, t, rows{}); err != nil {
			return spans, 0, err
		}
	}
	h, err := c.meetTexts(x, y)
	if err != nil {
		return spans, 0, err
	}
	for k := range c.blocks {
		if err := c.run(&c.blocks[k], h, y); err != nil {
			return spans, 0, err
		}
	}
	return c.point(h, x, y, pf)
}

// aligned returns for each word of the passage the question's words that are near by their embeddings.
func (c *pass) aligned(kq, kp known) rows {
	near := c.room.rows(kp.e.n, kq.e.n)
	for i := range near.n {
		native.Dots(near.at(i), kp.align.at(i), kq.align.x, kq.align.width)
		native.Softmax(near.at(i), 1./8)
	}
	return c.weighted(near, kq.e)
}

// meetTexts returns the passage's states x with what they find in the question's y.
func (c *pass) meetTexts(x, y rows) (rows, error) {
	s := c.room.rows(x.n, y.n)
	seeP, err := c.apply(&c.seeP, x)
	if err != nil {
		return x, err
	}
	seeQ, err := c.apply(&c.seeQ, y)
	if err != nil {
		return x, err
	}
	scale, seen := 1/sqrt(float32(x.width)), c.room.rows(1, x.width).x
	for i := range x.n {
		for k, v := range x.at(i) {
			seen[k] = v * c.see[k]
		}
		native.Dots(s.at(i), seen, y.x, y.width)
		for j := range y.n {
			s.at(i)[j] = seeP.x[i] + seeQ.x[j] + float32(s.at(i)[j]*scale)
		}
	}
	back := c.turned(s) // for each word of the question, over the passage
	for j := range y.n {
		native.Softmax(back.at(j), 1)
	}
	for i := range x.n {
		native.Softmax(s.at(i), 1)
	}
	a, found := c.weighted(s, y), c.weighted(s, c.weighted(back, x))
	m, err := c.apply(&c.mix, c.concat(x, a, c.product(x, a), c.product(x, found)))
	if err != nil {
		return x, err
	}
	m.add(x)
	return m, nil
}

// point scores the spans and "no answer" from the final states.
func (c *pass) point(h, x, y, pf rows) (spans rows, none float32, err error) {
	pool, err := c.apply(&c.pool, y)
	if err != nil {
		return spans, 0, err
	}
	native.Softmax(pool.x, 1)
	t := c.weighted(rows{1, y.n, pool.x}, y)
	asked := c.room.rows(h.n, h.width)
	for i := range h.n {
		for k, v := range h.at(i) {
			asked.at(i)[k] = v * t.x[k]
		}
	}
	z, err := c.apply(&c.head, c.concat(h, x, asked))
	if err != nil {
		return spans, 0, err
	}
	relu(z.x)
	ends, err := c.apply(&c.ends, z)
	if err != nil {
		return spans, 0, err
	}
	meet, err := c.apply(&c.meet, z)
	if err != nil {
		return spans, 0, err
	}
	half := meet.width / 2
	spans = c.room.rows(h.n, c.longest)
	for i := range h.n {
		for k := range min(c.longest, h.n-i) {
			spans.at(i)[k] = ends.at(i)[0] + ends.at(i + k)[1] + dot(meet.at(i)[:half], meet.at(i + k)[half:])/8
		}
	}
	none1, err := c.apply(&c.none1, c.concat(c.tops(z), t, c.tops(pf)))
	if err != nil {
		return spans, 0, err
	}
	relu(none1.x)
	none2, err := c.apply(&c.none2, none1)
	if err != nil {
		return spans, 0, err
	}
	return spans, none2.x[0], nil
}

// tops returns a row with the greatest of each column.
func (c *pass) tops(x rows) rows {
	out := c.room.rows(1, x.width)
	copy(out.x, x.at(0))
	for i := range x.n {
		for k, v := range x.at(i) {
			out.x[k] = max(out.x[k], v)
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

package span

import (
	"fmt"
	"math"

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
func (r rows) add(y rows) { native.Add(r.x, r.x, y.x) }

// relu replaces what is negative by 0.
func (r rows) relu() { native.Floor(r.x, r.x, 0, 0) }

// columns sets r to the columns of x from one on, with rows of zeros below.
func (r rows) columns(x rows, from int) {
	for i := range x.n {
		copy(r.at(i), x.at(i)[from:])
	}
	clear(r.x[x.n*r.width:])
}

// turned sets r to a transposed part of x: column j of r is row first+j of x, from column from on, and zeros where x
// has no such row.
func (r rows) turned(x rows, first, from int) {
	if first+r.width > x.n {
		clear(r.x)
	}
	for j := range min(r.width, x.n-first) {
		for k, v := range x.at(first + j)[from : from+r.n] {
			r.x[k*r.width+j] = v
		}
	}
}

// linear is a matrix with its bias, compiled for the device, or a few rows that are not worth it.
type linear struct {
	program npu.Program
	weight  rows // the rows of a small matrix
	bias    []float32
	out     int
}

// into writes x·Wᵀ + b to out and returns it.
func (l *linear) into(out, x rows) (rows, error) {
	if l.program == nil {
		for i := range x.n {
			native.Dots(out.at(i), x.at(i), l.weight.x, l.weight.width)
			native.Add(out.at(i), out.at(i), l.bias)
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
	q, kv, o       linear
	up, down       linear
	slope          []float32
}

// A pass is a reader at work on one passage, with room for the states in between.
type pass struct {
	*Reader
	room scratch
	one  [1]float32 // for dot
}

// dot returns the sum of products.
func (c *pass) dot(x, y []float32) float32 {
	native.Dots(c.one[:], x, y, len(x))
	return c.one[0]
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
	native.Scale(out.x, a.x, b.x, 1)
	return out
}

// normalise sets each row of out to (x − mean x) / √(variance + ε) · weight + bias. out may be x.
func (c *pass) normalise(out, x rows, g norm) {
	for i := range x.n {
		to := out.at(i)
		mean := c.dot(x.at(i), c.ones) / float32(x.width)
		native.Floor(to, x.at(i), -mean, float32(math.Inf(-1)))
		native.Scale(to, to, g.weight, 1/sqrt(c.dot(to, to)/float32(x.width)+c.epsilon))
		native.Add(to, to, g.bias)
	}
}

// normal returns normalised rows.
func (c *pass) normal(x rows, g norm) rows {
	out := c.room.rows(x.n, x.width)
	c.normalise(out, x, g)
	return out
}

// run computes a block over the states x, with further states to attend to. It changes x.
func (c *pass) run(b *block, x, memory rows) error {
	for k := range b.conv {
		if err := c.convolve(b, k, x); err != nil {
			return err
		}
	}
	if err := c.attend(b, x, memory); err != nil {
		return err
	}
	return c.feed(b, x)
}

// convolve lets each word see its neighbours.
func (c *pass) convolve(b *block, k int, x rows) error {
	defer c.room.release(c.room.mark())
	ab, err := c.apply(&b.conv[k], c.around(c.normal(x, b.convNorm[k]), k+1))
	if err != nil {
		return err
	}
	for i := range x.n {
		native.AddGated(x.at(i), ab.at(i)[:x.width], ab.at(i)[x.width:])
	}
	return nil
}

// feed computes the feed-forward layer.
func (c *pass) feed(b *block, x rows) error {
	defer c.room.release(c.room.mark())
	up, err := c.apply(&b.up, c.normal(x, b.norm[1]))
	if err != nil {
		return err
	}
	up.relu()
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
func (c *pass) attend(b *block, x, memory rows) error {
	defer c.room.release(c.room.mark())
	d := x.width
	keys := c.room.rows(x.n+memory.n, d)
	h := rows{x.n, d, keys.x[:x.n*d]}
	c.normalise(h, x, b.norm[0])
	copy(keys.x[len(h.x):], memory.x)
	q, err := c.apply(&b.q, h)
	if err != nil {
		return err
	}
	kv, err := c.apply(&b.kv, keys)
	if err != nil {
		return err
	}
	out := c.room.rows(x.n, d)
	c.heads(out, q, kv, b.slope)
	if out, err = c.apply(&b.o, out); err == nil {
		x.add(out)
	}
	return err
}

// heads sets out to what each head finds in the values of the words that it attends to.
func (c *pass) heads(out, q, kv rows, slopes []float32) {
	padded := (kv.n + native.Columns - 1) / native.Columns * native.Columns
	one, w := c.room.rows(q.n, headWidth), c.room.rows(q.n, padded) // a head's queries and weights
	keys, values := c.room.rows(headWidth, native.Columns), c.room.rows(padded, native.Columns)
	for from := 0; from < q.width; from += headWidth {
		one.columns(q, from)
		for j := 0; j < padded; j += native.Columns {
			keys.turned(kv, j, from)
			native.MulColumns(w.x[j:], padded, keys.x, one.x, headWidth, q.n)
		}
		c.soften(w, kv.n, slopes[from/headWidth])
		for k := from; k < from+headWidth; k += native.Columns {
			values.columns(kv, q.width+k)
			native.MulColumns(out.x[k:], q.width, values.x, w.x, padded, q.n)
		}
	}
}

// nothing is a score whose weight is 0.
const nothing = -1e30

// soften turns each word's scores of keys into weights (softmax). The first keys are the words of its own text, whose scores
// fall with their distance by slope. Columns beyond the keys get weight 0.
func (c *pass) soften(w rows, keys int, slope float32) {
	defer c.room.release(c.room.mark())
	scale := 1 / sqrt(headWidth)
	slope /= scale
	far := c.room.rows(1, 2*w.n-1).x // what a distance from 1 − n to n − 1 adds to a score
	for i := range w.n {
		far[w.n-1+i] = -float32(slope * float32(min(i, c.far)))
		far[w.n-1-i] = far[w.n-1+i]
	}
	for i := range w.n {
		row := w.at(i)
		native.Add(row[:w.n], row[:w.n], far[w.n-1-i:][:w.n])
		for j := keys; j < w.width; j++ {
			row[j] = nothing
		}
		native.Softmax(row, scale)
	}
}

// weighted returns the rows of y weighted by each row of w: w·y.
func (c *pass) weighted(w, y rows) rows {
	out := c.room.rows(w.n, y.width)
	defer c.room.release(c.room.mark())
	columns := c.room.rows(y.n, native.Columns)
	for k := 0; k < y.width; k += native.Columns {
		columns.columns(y, k)
		native.MulColumns(out.x[k:], y.width, columns.x, w.x, y.n, w.n)
	}
	return out
}

// known is the encoding of a text that does not depend on another text.
type known struct {
	e     rows // embeddings; of a question only
	align rows // of the embeddings
	x     rows // the encoded words
}

// encode computes what does not depend on another text. None of it is in the scratch.
func (c *pass) encode(t *text, question bool) (k known, err error) {
	c.room.release(place{})
	n := len(t.words)
	e, base := newRows(n, c.words.width), newRows(n, baseFeatures)
	first := make(map[string]int, n) // where each word stands first
	for i := range t.words {
		w := &t.words[i]
		if j, ok := first[w.read]; ok {
			copy(e.at(i), e.at(j))
		} else {
			first[w.read] = i
			c.embed(e.at(i), w.read)
		}
		copy(base.at(i), w.base[:])
		if question {
			base.at(i)[baseFeatures-1] = 1
		}
	}
	if k.align, err = c.align.into(newRows(n, c.align.out), e); err != nil {
		return k, err
	}
	k.align.relu()
	if question {
		k.e = e
	}
	x, err := c.apply(&c.enter, c.concat(e, base))
	if err != nil {
		return k, err
	}
	for i := range c.encoders {
		if err := c.run(&c.encoders[i], x, rows{}); err != nil {
			return k, err
		}
	}
	k.x = newRows(n, x.width)
	c.normalise(k.x, x, c.encoded)
	return k, nil
}

// embed writes the embedding of a word: its own and those of its parts.
func (c *pass) embed(out []float32, low string) {
	defer c.room.release(c.room.mark())
	sum, part := c.room.rows(1, len(out)).x, c.room.rows(1, len(out)).x
	clear(sum)
	for _, b := range parts(low, c.lexicon.buckets) {
		c.parts.into(part, int(b))
		native.Add(sum, sum, part)
	}
	c.words.into(out, int(c.lexicon.row[low]))
	native.Add(out, out, sum)
}

// scores computes the score of each span, [words][longest], and that of "no answer". pf and qf are the match features of the
// passage's words and of the question's.
func (c *pass) scores(pf, qf rows, kq, kp known) (spans rows, none float32, err error) {
	x, y, err := c.together(pf, qf, kq, kp)
	if err != nil {
		return spans, 0, err
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
	c.normalise(h, h, c.last)
	return c.point(h, x, y, pf)
}

// together returns the states of the passage's and the question's words, combined with the match features and with the aligned
// embeddings of the other text.
func (c *pass) together(pf, qf rows, kq, kp known) (x, y rows, err error) {
	if x, err = c.joined(&c.joinP, c.concat(c.aligned(kq, kp), pf), kp); err == nil {
		y, err = c.joined(&c.joinQ, qf, kq)
	}
	return x, y, err
}

// joined returns a text's encoded words with what the other text says of them.
func (c *pass) joined(l *linear, features rows, k known) (rows, error) {
	x, err := c.apply(l, features)
	if err == nil {
		x.add(k.x)
	}
	return x, err
}

// aligned returns, for each word of the passage, the mean of the question's words weighted by the similarity of their
// embeddings.
func (c *pass) aligned(kq, kp known) rows {
	near := c.room.rows(kp.align.n, kq.align.n)
	for i := range near.n {
		native.Dots(near.at(i), kp.align.at(i), kq.align.x, kq.align.width)
		native.Softmax(near.at(i), 1./8)
	}
	return c.weighted(near, kq.e)
}

// meetTexts returns the passage's states x after attention to the question's states y.
func (c *pass) meetTexts(x, y rows) (rows, error) {
	m := c.room.rows(x.n, c.mix.out)
	defer c.room.release(c.room.mark())
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
		native.Scale(seen, x.at(i), c.see, 1)
		native.Dots(s.at(i), seen, y.x, y.width)
		for j := range y.n {
			s.at(i)[j] = seeP.x[i] + seeQ.x[j] + float32(s.at(i)[j]*scale)
		}
	}
	back := c.room.rows(s.width, s.n) // for each word of the question, over the passage
	back.turned(s, 0, 0)
	for j := range y.n {
		native.Softmax(back.at(j), 1)
	}
	for i := range x.n {
		native.Softmax(s.at(i), 1)
	}
	a, found := c.weighted(s, y), c.weighted(s, c.weighted(back, x))
	if _, err = c.mix.into(m, c.concat(x, a, c.product(x, a), c.product(x, found))); err != nil {
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
		native.Scale(asked.at(i), h.at(i), t.x, 1)
	}
	z, err := c.apply(&c.head, c.concat(h, x, asked))
	if err != nil {
		return spans, 0, err
	}
	z.relu()
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
		to := spans.at(i)[:min(c.longest, h.n-i)]
		native.Dots(to, meet.at(i)[:half], meet.x[i*meet.width+half:], meet.width)
		for k, v := range to {
			to[k] = ends.at(i)[0] + ends.at(i + k)[1] + v/8
		}
	}
	none1, err := c.apply(&c.none1, c.concat(c.tops(z), t, c.tops(pf)))
	if err != nil {
		return spans, 0, err
	}
	none1.relu()
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
			if v > out.x[k] {
				out.x[k] = v
			}
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

// sqrt is exact to the last bit on every processor.
func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

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

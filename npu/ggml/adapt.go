package ggml

import (
	"errors"
	"math/bits"

	"tandem/npu"
	"tandem/npu/quant"
)

// maxSlots is the number of adapters that the device holds at a time, and that one graph can mix.
const maxSlots = 8

// factorKey identifies a factor among those of all graphs.
type factorKey struct {
	name       string
	rows, cols int
	columns    bool
}

func factorKeyOf(f *npu.Factor) factorKey { return factorKey{f.Name, f.Rows, f.Cols, f.Columns} }

// size returns the tensor's sizes on the device, which multiplies by rows: factors multiplied by columns stand there
// transposed.
func (k factorKey) size() (cols, rows int64) {
	if k.columns {
		return int64(k.rows), int64(k.cols)
	}
	return int64(k.cols), int64(k.rows)
}

// slot is memory on the device for the factors of one adapter. Switching between adapters in slots copies nothing.
type slot struct {
	holds *npu.Adapter
	used  int // when, counted in runs
	at    map[factorKey]ptr
	given map[factorKey]bool // which tensors hold numbers of the adapter
	owned []owned
}

// mix says which slots the rows of a run use. It is part of what a graph is drawn for.
type mix struct {
	slots uint8 // bit s: slot s is used
	all   bool  // every row uses the only slot, so that no mask is needed
}

// stretches cuts a run into stretches with at most maxSlots adapters each, in order, so that a stretch finds the keys and
// values of those before it.
func stretches(a *npu.Args, f func(from, n int) error) error {
	if a.Adapters == nil {
		return f(0, a.Rows)
	}
	for from := 0; from < a.Rows; {
		seen, n := map[*npu.Adapter]bool{}, 0
		for ; from+n < a.Rows; n++ {
			if of := a.Adapters[from+n]; of != nil && !seen[of] {
				if len(seen) == maxSlots {
					break
				}
				seen[of] = true
			}
		}
		if err := f(from, n); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// cutArgs returns the part of a run with the given rows. x and out are the widths of input and result, 0 without.
func cutArgs(a npu.Args, from, n, x, out int) npu.Args {
	if from == 0 && n == a.Rows {
		return a
	}
	a.Rows = n
	if a.X != nil {
		a.X = a.X[from*x:]
	}
	if a.Tokens != nil {
		a.Tokens = a.Tokens[from:]
	}
	if a.Positions != nil {
		a.Positions = a.Positions[from:]
	}
	if a.KV != nil {
		a.KV = a.KV[from:]
	}
	if a.Masks != nil {
		a.Masks = a.Masks[from:]
	}
	a.Adapters, a.Out = a.Adapters[from:], a.Out[from*out:]
	return a
}

// occupy puts the run's adapters into slots. of says which slot each row uses, −1 for none.
func (p *program) occupy(a *npu.Args) (m mix, of []int, err error) {
	if a.Adapters == nil || len(p.adapted) == 0 {
		return mix{}, nil, nil
	}
	d := p.dev
	d.runs++
	of = make([]int, a.Rows)
	for i, one := range a.Adapters[:a.Rows] {
		if of[i] = -1; one == nil {
			continue
		}
		s := d.slotOf(one, m.slots)
		if d.slots[s].holds != one {
			d.slots[s].holds, d.slots[s].given = one, map[factorKey]bool{}
		}
		d.slots[s].used, of[i] = d.runs, s
		m.slots |= 1 << s
	}
	m.all = bits.OnesCount8(m.slots) == 1
	for _, s := range of {
		m.all = m.all && s >= 0
	}
	for s := range maxSlots {
		if m.slots>>s&1 != 0 {
			if err := p.fill(&d.slots[s]); err != nil {
				return m, nil, err
			}
		}
	}
	return m, of, nil
}

// slotOf returns the adapter's slot, or else the one used least recently that this run does not need.
func (d *Device) slotOf(a *npu.Adapter, busy uint8) int {
	best := -1
	for s := range d.slots {
		if d.slots[s].holds == a {
			return s
		}
		if busy>>s&1 == 0 && (best < 0 || d.slots[s].used < d.slots[best].used) {
			best = s
		}
	}
	return best
}

// fill copies those of the adapter's factors to its slot that the program needs and that are not there yet.
func (p *program) fill(s *slot) error {
	d := p.dev
	if err := d.makeRoom(s, p.adapted); err != nil {
		return err
	}
	for _, f := range p.adapted {
		k := factorKeyOf(f)
		if s.given[k] {
			continue
		}
		v, err := padded(s.holds.Factors[f.Name], f)
		if err != nil {
			return err
		}
		set(d, s.at[k], v)
		d.api.Sync(d.backend) // v is not staged
		s.given[k] = true
	}
	return nil
}

// makeRoom allocates the slot's tensors.
func (d *Device) makeRoom(s *slot, list []*npu.Factor) error {
	var need []factorKey
	for _, f := range list {
		if k := factorKeyOf(f); s.at[k] == 0 {
			need = append(need, k)
		}
	}
	if len(need) == 0 {
		return nil
	}
	o := owned{ctx: d.api.Init(d.api.Overhead() * uintptr(len(need)+1))}
	if o.ctx == 0 {
		return errors.New("ggml: out of memory for the descriptions of adapters")
	}
	at := map[factorKey]ptr{}
	for _, k := range need {
		if at[k] == 0 {
			cols, rows := k.size()
			at[k] = d.api.New2D(o.ctx, int32(npu.F32), cols, rows)
		}
	}
	if o.buf = d.api.AllocCtx(o.ctx, d.api.DevBuft(d.dev)); o.buf == 0 {
		d.api.Free(o.ctx)
		return failed("%s has no room for an adapter", d.name)
	}
	if s.at == nil {
		s.at = map[factorKey]ptr{}
	}
	for k, x := range at {
		s.at[k] = x
	}
	s.owned = append(s.owned, o)
	return nil
}

// padded returns a factor as it stands on the device: with zeros for the ranks that it lacks, all zero if it is nil.
func padded(t *npu.Tensor, f *npu.Factor) ([]float32, error) {
	v := make([]float32, f.Rows*f.Cols)
	if t == nil {
		return v, nil
	}
	if err := quant.Dequantize(t.Type, v[:t.Rows*t.Cols], t.Data); err != nil || !f.Columns {
		return v, err
	}
	turned := make([]float32, len(v))
	for row := range t.Rows {
		for col := range t.Cols {
			turned[col*f.Rows+row] = v[npu.FactorAt(t.Rows, t.Cols, row, col)]
		}
	}
	return turned, nil
}

// absent reports whether a node needs no tensor, because no row of the run has an adapter: a product with factors is then
// 0, scaled or not, and a sum with it is the other argument.
func (s *sketch) absent(i int, n *npu.Node) bool {
	switch n.Op {
	case npu.OpFactor:
		if s.mix.slots == 0 || s.values[n.Args[0]] == 0 {
			return true
		}
	case npu.OpScale:
		if s.values[n.Args[0]] == 0 {
			return true
		}
	case npu.OpAdd:
		for j, v := range n.Args {
			if s.values[v] == 0 {
				other := n.Args[1-j]
				s.values[i], s.bases[i] = s.values[other], s.bases[other]
				return true
			}
		}
	}
	for _, v := range n.Args {
		s.present(v)
	}
	return false
}

// present makes zeros of an absent value.
func (s *sketch) present(v npu.Value) {
	if s.values[v] != 0 {
		return
	}
	x := s.dev.api.New2D(s.ctx, int32(npu.F32), int64(s.program.graph.Nodes[v].Width), int64(s.rows))
	s.dev.api.SetInput(x)
	s.fed = append(s.fed, fed{int(v), x})
	s.values[v], s.bases[v] = x, x
}

// factor is the sum of the products with the factors of all slots in use, each of the rows that use it.
func (s *sketch) factor(n *npu.Node, x ptr) (sum ptr) {
	a := s.dev.api
	for i := range maxSlots {
		if s.mix.slots>>i&1 == 0 {
			continue
		}
		in := x
		if !s.mix.all {
			in = a.Mul(s.ctx, x, s.rowsOf(i))
		}
		k := factorKeyOf(n.Factor)
		w := s.slot(i, k)
		cols, _ := k.size()
		row := uintptr(4 * cols)
		w = a.View3D(s.ctx, w, cols, int64(n.Width), 1, row, row*uintptr(n.Width), row*uintptr(n.Factor.From))
		y := a.MulMat(s.ctx, w, in)
		if sum != 0 {
			y = a.Add(s.ctx, sum, y)
		}
		sum = y
	}
	return sum
}

// rowsOf is an input that is 1 for the rows that use a slot and 0 for the others.
func (s *sketch) rowsOf(slot int) ptr {
	if s.masks[slot] == 0 {
		s.masks[slot] = s.dev.api.New2D(s.ctx, int32(npu.F32), 1, int64(s.rows))
		s.dev.api.SetInput(s.masks[slot])
	}
	return s.masks[slot]
}

// giveMasks sets the masks of the slots.
func (p *program) giveMasks(g *graph, of []int, rows int) {
	d := p.dev
	for s, at := range g.masks {
		if at == 0 {
			continue
		}
		m := staged[float32](&d.staging, rows)
		clear(m)
		for i, mine := range of {
			if mine == s {
				m[i] = 1
			}
		}
		set(d, at, m)
	}
}

// giveParts sets the mask of a node that selects.
func (p *program) giveParts(f fed, a *npu.Args, rows int) {
	n := &p.graph.Nodes[f.node]
	m := staged[float32](&p.dev.staging, rows*n.Width)
	clear(m)
	part := n.Width / n.Parts
	for row := range a.Rows {
		if of := a.Adapter(row); of != nil {
			for i := range part {
				m[row*n.Width+of.Task*part+i] = 1
			}
		}
	}
	set(p.dev, f.at, m)
}

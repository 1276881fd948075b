package ggml

import (
	"errors"
	"fmt"
	"time"

	"tandem/npu"
	"tandem/npu/quant"
)

// Run implements npu.Program. It computes the rows in use. It writes keys and values to the rows' caches and keeps copies on
// the device.
func (p *program) Run(a npu.Args) error {
	if err := p.check(&a); err != nil {
		return fmt.Errorf("program %s: %w", p.graph.Name, err)
	}
	nodes := p.graph.Nodes
	if len(nodes) == 1 && isFed(nodes[0].Op) { // nothing to compute but lookups in the model file
		return p.feed(0, &a, a.Out)
	}
	d := p.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return fmt.Errorf("program %s: device is closed", p.graph.Name)
	}
	err := stretches(&a, func(from, n int) error {
		part := cutArgs(a, from, n, nodes[0].Width, p.graph.Result().Width)
		return p.run(&part)
	})
	if err != nil {
		d.api.Sync(d.backend)
		return fmt.Errorf("program %s: %w", p.graph.Name, err)
	}
	return nil
}

func (p *program) run(a *npu.Args) error {
	d, bucket := p.dev, rowBucket(a.Rows, p.graph.Chunk)
	d.staging.reset()
	plan := &plan{inputs: &inputs{}}
	var err error
	if p.places {
		if plan, err = d.plan(a, p.attend, bucket); err != nil {
			return err
		}
	}
	m, of, err := p.occupy(a)
	if err != nil {
		return err
	}
	g, err := p.drawn(bucket, plan.inputs, m)
	if err != nil {
		return err
	}
	p.giveMasks(g, of, bucket)
	for _, f := range g.fed {
		if err := p.give(f, a, bucket); err != nil {
			return err
		}
	}
	for _, node := range p.attentions {
		d.send(plan, p.kvOf[node])
	}
	if rc, err := d.compute(g); err != nil || rc != 0 {
		for _, node := range p.attentions {
			plan.settle(p.kvOf[node], false)
		}
		if err != nil {
			return err
		}
		return failed("%s failed with status %d", d.name, rc)
	}
	result := a.Out[:a.Rows*p.graph.Result().Width]
	var from []uint16
	if g.kept != 0 {
		from = staged[uint16](&d.staging, p.keeps*bucket)
		get(d, g.kept, 0, from)
	}
	p.eachAttention(bucket, func(i, layer int) {
		if !d.cpu {
			plan.touch(&d.cache.layers[layer])
		}
	})
	d.receive(g.out, result, func() {
		p.eachAttention(bucket, func(i, layer int) { d.keep(plan, layer, bucket, from[p.keptAt[i]*bucket:]) })
	})
	return nil
}

// eachAttention calls do with each attention's index and its layer of the device's cache, on several threads if that many rows
// have many keys and values.
func (p *program) eachAttention(rows int, do func(i, layer int)) {
	if n := len(p.attentions); n > 0 {
		divide(n, 2*p.keeps*rows/n, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				do(i, p.kvOf[p.attentions[i]])
			}
		})
	}
}

// compute runs a graph. On a processor it uses the number of threads that pace chooses.
func (d *Device) compute(g *graph) (rc int32, err error) {
	t := d.threads
	if t == nil {
		return d.api.Compute(d.backend, g.g), nil
	}
	level := t.choose(g.work)
	if err := t.use(level); err != nil {
		return 0, err
	}
	begun := time.Now()
	rc = d.api.Compute(d.backend, g.g) // on a processor it returns when it is done
	t.done(g.work, level, time.Since(begun))
	return rc, nil
}

// touch has the system provide the memory that keep writes to, while the device computes: the memory of a new prompt is not
// there yet, and a page takes longer to come than to fill. It changes nothing.
func (p *plan) touch(l *cacheLayer) {
	const page = 4096 / 2 // numbers
	for i := 0; i < len(p.own); {
		h, n := p.own[i], 1
		for i+n < len(p.own) && p.own[i+n] == (home{h.want, h.at + n}) {
			n++
		}
		i += n
		s := p.wants[h.want].span
		for _, x := range [][]uint16{s.K[l.layer][h.at*l.width:][:n*l.width], s.V[l.layer][h.at*l.width:][:n*l.width]} {
			for j := 0; j < len(x); j += page {
				if x[j] == 0 {
					x[j] = 0
				}
			}
		}
	}
}

// keep writes the rows' keys and values of a layer to their caches, as rounded by the device.
func (d *Device) keep(p *plan, layer, bucket int, from []uint16) {
	l := &d.cache.layers[layer]
	n := bucket * l.width
	for i, h := range p.own {
		s := p.wants[h.want].span
		copy(s.K[l.layer][h.at*l.width:][:l.width], from[i*l.width:])
		copy(s.V[l.layer][h.at*l.width:][:l.width], from[n+i*l.width:])
	}
	p.settle(layer, true)
}

func isFed(op npu.Op) bool { return op == npu.OpInput || op == npu.OpEmbed || op == npu.OpPosition }

// give sets an input of the graph: the rows in use, and zeros in the others.
func (p *program) give(f fed, a *npu.Args, bucket int) error {
	d, n := p.dev, &p.graph.Nodes[f.node]
	switch n.Op {
	case npu.OpSelect:
		p.giveParts(f, a, bucket)
		return nil
	case npu.OpTemper:
		by := staged[float32](&d.staging, bucket)
		clear(by)
		for i, pos := range a.Positions[:a.Rows] {
			by[i] = n.Temper(pos)
		}
		set(d, f.at, by)
		return nil
	case npu.OpFactor, npu.OpScale, npu.OpAdd: // a product of no adapter
		zeros := staged[float32](&d.staging, bucket*n.Width)
		clear(zeros)
		set(d, f.at, zeros)
		return nil
	}
	rows := a.X
	if n.Op != npu.OpInput || bucket > a.Rows || d.staging.pinned() {
		rows = staged[float32](&d.staging, bucket*n.Width)
		clear(rows[a.Rows*n.Width:])
		if err := p.feed(f.node, a, rows); err != nil {
			return err
		}
	}
	set(d, f.at, rows[:bucket*n.Width])
	return nil
}

// feed writes the rows in use of an input node to out.
func (p *program) feed(node int, a *npu.Args, out []float32) error {
	n := &p.graph.Nodes[node]
	if n.Op == npu.OpInput {
		copy(out, a.X[:a.Rows*n.Width])
		return nil
	}
	which := a.Tokens
	if n.Op == npu.OpPosition {
		which = a.Positions
	}
	errs := make([]error, a.Rows)
	divide(a.Rows, 4*n.Width, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			errs[i] = quant.Dequantize(n.Weight.Type, out[i*n.Width:][:n.Width], n.Weight.Row(int(which[i])))
		}
	})
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%v: %w", n.Weight, err)
	}
	return nil
}

// check checks the bounds of everything that a run reads or writes.
func (p *program) check(a *npu.Args) error {
	g := p.graph
	if a.Rows <= 0 || a.Rows > g.Chunk {
		return fmt.Errorf("takes 1 to %d rows, not %d", g.Chunk, a.Rows)
	}
	if len(a.Out) < a.Rows*g.Result().Width {
		return fmt.Errorf("output too short for %d rows of %d values", a.Rows, g.Result().Width)
	}
	if p.places && len(a.Positions) < a.Rows {
		return fmt.Errorf("%d positions for %d rows", len(a.Positions), a.Rows)
	}
	if p.places {
		for i, pos := range a.Positions[:a.Rows] {
			if pos < 0 {
				return fmt.Errorf("row %d: position %d", i, pos)
			}
		}
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		var err error
		switch n.Op {
		case npu.OpInput:
			if len(a.X) < a.Rows*n.Width {
				err = fmt.Errorf("input has %d values, not %d rows of %d", len(a.X), a.Rows, n.Width)
			}
		case npu.OpEmbed:
			err = inTable("token", a.Tokens, a.Rows, n.Weight)
		case npu.OpPosition:
			err = inTable("position", a.Positions, a.Rows, n.Weight)
		case npu.OpAttention:
			err = checkKV(a, n.Attention)
		}
		if err != nil {
			return err
		}
	}
	if len(p.adapted) == 0 && !p.selects {
		return nil
	}
	return a.CheckAdapters(g)
}

func inTable(what string, list []int32, rows int, w *npu.Tensor) error {
	if len(list) < rows {
		return fmt.Errorf("%d %ss for %d rows", len(list), what, rows)
	}
	for _, r := range list[:rows] {
		if r < 0 || int(r) >= w.Rows {
			return fmt.Errorf("%s %d is out of range 0 to %d", what, r, w.Rows-1)
		}
	}
	return nil
}

var errMasks = errors.New("fewer masks than rows")

// checkKV checks that every row has a slot in its cache, and that the spans before it have enough memory.
func checkKV(a *npu.Args, at *npu.Attention) error {
	if len(a.KV) < a.Rows {
		return fmt.Errorf("%d caches for %d rows", len(a.KV), a.Rows)
	}
	if a.Masks != nil && len(a.Masks) < a.Rows {
		return errMasks
	}
	width := at.KVHeads * at.HeadDim
	for i, kv := range a.KV[:a.Rows] {
		if kv == nil {
			return fmt.Errorf("row %d: no cache", i)
		}
		m := a.Mask(i)
		if err := m.Check(); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		slot := int(m.Slot)
		if s, _ := kv.At(slot); s == nil {
			return fmt.Errorf("row %d: cache has no slot %d", i, slot)
		}
		if s, _ := kv.At(m.Reach() - 1); s == nil {
			return fmt.Errorf("row %d: cache has no slot %d to attend to", i, m.Reach()-1)
		}
		if i > 0 && kv == a.KV[i-1] {
			continue
		}
		for _, s := range kv.Spans {
			if s.Len == 0 {
				continue
			}
			if at.Layer < 0 || at.Layer >= len(s.K) || at.Layer >= len(s.V) {
				return fmt.Errorf("row %d: cache has %d layers and no layer %d", i, len(s.K), at.Layer)
			}
			if len(s.K[at.Layer])/width < s.Len || len(s.V[at.Layer])/width < s.Len {
				return fmt.Errorf("row %d: a span of %d positions has memory for %d", i, s.Len, len(s.K[at.Layer])/width)
			}
		}
	}
	return nil
}

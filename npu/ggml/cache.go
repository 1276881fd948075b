package ggml

import (
	"fmt"
	"slices"
	"unsafe"

	"tandem/npu"
)

// cache is the device memory for keys and values.
type cache struct {
	ctx    ptr
	bufs   []ptr
	layers []cacheLayer
	pages  *pages // nil before the first run
}

// cacheLayer is the cache of one layer: matrices of cells, which are also planes of a bank.
type cacheLayer struct {
	layer, width int // of npu.Span's K and V
	k, v         ptr // [width × cells] F16
	*bank
	plane int // of the bank, for k; the next is v
}

// bank holds the matrices of several layers of one width in one tensor, so that one operation reaches all of them.
type bank struct {
	at    ptr // [width × cells × planes] F16
	cells int
}

// newCacheLayer describes a layer in its own bank, without memory.
func newCacheLayer(a *api, ctx ptr, width, cells int) *cacheLayer {
	w, n := int64(width), int64(cells)
	return &cacheLayer{width: width, k: a.New2D(ctx, int32(npu.F16), w, n), v: a.New2D(ctx, int32(npu.F16), w, n),
		bank: &bank{a.New3D(ctx, int32(npu.F16), w, n, 2), cells}}
}

// cacheLayer returns the index of a layer of the cache, which it adds if it is new.
func (d *Device) cacheLayer(layer, width int) int {
	c := &d.cache
	for i, l := range c.layers {
		if l.layer == layer && l.width == width {
			return i
		}
	}
	c.layers = append(c.layers, cacheLayer{layer: layer, width: width})
	c.pages = nil // allocate again, with this layer
	return len(c.layers) - 1
}

// addWindow adds a window to those that plans have masks for.
func (d *Device) addWindow(window int) {
	if !slices.Contains(d.windows, window) {
		d.windows = append(d.windows, window)
		d.last = nil
		d.epoch++ // built graphs refer to inputs without it
	}
}

const firstPages = 1024 / pageSize

// reserve grows the cache to at least n pages, or to twice its size. The copies in the old memory are dropped.
func (d *Device) reserve(need int) error {
	c, a, n := &d.cache, d.api, firstPages
	for n < need {
		n *= 2
	}
	if c.pages != nil && len(c.pages.free) >= n {
		return nil
	}
	d.last = nil
	d.dropCache()
	d.epoch++ // built graphs point into the old memory
	if c.ctx = a.Init(a.Overhead() * uintptr(3*len(c.layers)+1)); c.ctx == 0 {
		return failed("%s: no memory for the cache", d.name)
	}
	cells := n * pageSize
	for list := c.layers; len(list) > 0; {
		m := d.bankOf(list, cells)
		if !d.newBank(list[:m], cells) {
			d.dropCache()
			size := 0
			for _, l := range c.layers {
				size += 2 * planeBytes(l.width, cells)
			}
			return failed("%s has no room for keys and values of %d positions (%.1f MB): use a shorter context or another device",
				d.name, cells, float64(size)/1e6)
		}
		list = list[m:]
	}
	c.pages = newPages(n, len(c.layers))
	return nil
}

// dropCache frees the cache's memory.
func (d *Device) dropCache() {
	c := &d.cache
	c.pages = nil
	for _, buf := range c.bufs {
		d.api.BufFree(buf)
	}
	c.bufs = nil
	d.drop(owned{ctx: c.ctx})
	c.ctx = 0
}

func planeBytes(width, cells int) int { return 2 * width * cells }

// maxBankBytes bounds a bank's bytes if the device's own bound is higher: drivers cannot address more than 2 or 4 GiB of one
// tensor.
const maxBankBytes = 1 << 30

// bankOf returns how many of the layers, from the first, go into one bank.
func (d *Device) bankOf(list []cacheLayer, cells int) int {
	most := int(min(d.api.BuftMost(d.api.DevBuft(d.dev)), maxBankBytes))
	n := 1
	for n < len(list) && list[n].width == list[0].width && 2*(n+1)*planeBytes(list[0].width, cells) <= most {
		n++
	}
	return n
}

// newBank allocates memory for layers of one width, and reports whether there was enough.
func (d *Device) newBank(list []cacheLayer, cells int) bool {
	a, buft, width := d.api, d.api.DevBuft(d.dev), list[0].width
	b := &bank{a.New3D(d.cache.ctx, int32(npu.F16), int64(width), int64(cells), int64(2*len(list))), cells}
	buf := a.BufAlloc(buft, a.BuftSize(buft, b.at))
	if buf == 0 {
		return false
	}
	d.cache.bufs = append(d.cache.bufs, buf)
	a.BufClear(buf, 0) // a cell must hold numbers even if it is masked
	base := a.BufBase(buf)
	if a.TensorAlloc(buf, b.at, base) != 0 {
		return false
	}
	plane := func(i int) (x ptr, ok bool) {
		x = a.New2D(d.cache.ctx, int32(npu.F16), int64(width), int64(cells))
		return x, a.TensorAlloc(buf, x, base+uintptr(i*planeBytes(width, cells))) == 0
	}
	for i := range list {
		var hasK, hasV bool
		l := &list[i]
		l.bank, l.plane = b, 2*i
		l.k, hasK = plane(2 * i)
		if l.v, hasV = plane(2*i + 1); !hasK || !hasV {
			return false
		}
	}
	return true
}

// inputs holds the tensors that a run fills, for one number of rows and one window.
type inputs struct {
	owned
	rows, window     int
	bytes            int
	positions, slots ptr
	written          ptr // the slots for each plane of a bank, for looking up: [rows × planes]
	planes           int
	masks            []ptr // of each of the device's windows [window × rows]
}

func (d *Device) inputsFor(rows, window int) (*inputs, error) {
	key := [4]int{rows, window, len(d.cache.layers), len(d.windows)}
	if in := d.inputs[key]; in != nil {
		return in, nil
	}
	a, in := d.api, &inputs{rows: rows, window: window, planes: 2 * len(d.cache.layers)}
	in.bytes = rows * (2*window*len(d.windows) + 4*in.planes)
	if d.held.inputs+in.bytes > d.most.inputs {
		d.dropInputs()
	}
	if in.ctx = a.Init(a.Overhead() * uintptr(4+len(d.windows))); in.ctx == 0 {
		return nil, failed("%s: no memory for inputs", d.name)
	}
	in.positions = a.New1D(in.ctx, i32Type, int64(rows))
	if window > 0 {
		in.slots = a.New1D(in.ctx, i64Type, int64(rows))
		in.written = a.New2D(in.ctx, i32Type, int64(rows), int64(in.planes))
		for range d.windows {
			in.masks = append(in.masks, a.New2D(in.ctx, int32(npu.F16), int64(window), int64(rows)))
		}
	}
	if in.buf = a.AllocCtx(in.ctx, a.DevBuft(d.dev)); in.buf == 0 {
		d.drop(in.owned)
		return nil, failed("%s has no room for the mask of %d rows and %d cells", d.name, rows, window)
	}
	d.inputs[key] = in
	d.held.inputs += in.bytes
	return in, nil
}

// dropInputs frees all inputs. Graphs that refer to them are drawn again.
func (d *Device) dropInputs() {
	for _, in := range d.inputs {
		d.drop(in.owned)
	}
	clear(d.inputs)
	d.held.inputs, d.last = 0, nil
	d.epoch++
}

// plan is the data that the runs of all layers in one step share: cells, mask and positions.
type plan struct {
	*inputs
	positions []int32
	masks     []npu.RowMask
	spans     [][]spanRef // of each row's cache
	wants     []want
	own       []home   // the slot for each row's key and value
	changes   []change // to each of wants
}

// home is a slot: a position in a wanted span.
type home struct{ want, at int }

// change says which positions of a wanted span a run writes: n of them, the lowest at low. Without any, low is the number of
// wanted positions.
type change struct{ low, n int }

// note records what a run writes to each wanted span.
func (p *plan) note() {
	p.changes = make([]change, len(p.wants))
	for i := range p.wants {
		p.changes[i].low = p.wants[i].n
	}
	for _, h := range p.own {
		c := &p.changes[h.want]
		c.low, c.n = min(c.low, h.at), c.n+1
	}
}

// fits reports whether the plan was made for the given arguments.
func (p *plan) fits(a *npu.Args, attend bool, bucket int) bool {
	if p == nil || p.rows != bucket || attend != (p.window > 0) || !slices.Equal(p.positions, a.Positions[:a.Rows]) {
		return false
	}
	if !attend {
		return true
	}
	if (a.Masks == nil) != (p.masks == nil) || a.Masks != nil && !slices.Equal(p.masks, a.Masks[:a.Rows]) {
		return false
	}
	for i, kv := range a.KV[:a.Rows] {
		if i > 0 && kv == a.KV[i-1] {
			continue
		}
		if !sameSpans(p.spans[i], kv) {
			return false
		}
	}
	return true
}

// plan returns the plan for the arguments. It reuses the last one if that fits.
func (d *Device) plan(a *npu.Args, attend bool, bucket int) (*plan, error) {
	if d.last.fits(a, attend, bucket) && (!attend || d.cache.pages != nil) {
		return d.last, nil
	}
	d.last = nil
	p := &plan{positions: slices.Clone(a.Positions[:a.Rows])}
	window := 0
	if attend {
		if a.Masks != nil {
			p.masks = slices.Clone(a.Masks[:a.Rows])
		}
		if err := p.collect(a); err != nil {
			return nil, err
		}
		p.note()
		var err error
		if window, err = d.placeAll(p.wants); err != nil {
			return nil, err
		}
	}
	var err error
	if p.inputs, err = d.inputsFor(bucket, window); err != nil {
		return nil, err
	}
	d.fill(p, a)
	d.last = p
	return p, nil
}

// placeAll finds cells for the wanted spans and returns the window that holds them.
func (d *Device) placeAll(wants []want) (window int, err error) {
	need := 0
	for i := range wants {
		need += pagesFor(wants[i].n)
	}
	if err := d.reserve(2 * need); err != nil { // with room for the next positions and for others
		return 0, err
	}
	cells, err := d.cache.pages.place(wants)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", d.name, err)
	}
	return windowBucket(cells), nil
}

// collect finds the spans that the rows attend to, each once, and the rows' slots.
func (p *plan) collect(a *npu.Args) error {
	index := map[*uint16]int{}
	for i, kv := range a.KV[:a.Rows] {
		if i > 0 && kv == a.KV[i-1] {
			p.spans = append(p.spans, p.spans[i-1])
		} else {
			refs := make([]spanRef, len(kv.Spans))
			for j := range kv.Spans {
				refs[j] = refOf(&kv.Spans[j])
			}
			p.spans = append(p.spans, refs)
		}
		slot, reach := int(a.Mask(i).Slot), a.Mask(i).Reach()
		for j := range kv.Spans {
			s := &kv.Spans[j]
			if s.Len == 0 {
				continue
			}
			first := firstOf(s)
			if first == nil {
				return fmt.Errorf("row %d: a span without memory", i)
			}
			w, ok := index[first]
			if !ok {
				w = len(p.wants)
				index[first] = w
				own := *s // the sequence may change its list of spans
				p.wants = append(p.wants, want{span: &own})
			}
			p.wants[w].n = max(p.wants[w].n, min(s.Len, reach))
			if slot >= 0 && slot < s.Len {
				p.own = append(p.own, home{w, slot})
			}
			if slot, reach = slot-s.Len, reach-s.Len; reach <= 0 {
				break
			}
		}
		if len(p.own) != i+1 {
			return fmt.Errorf("row %d: cache has no slot %d", i, a.Mask(i).Slot)
		}
	}
	return nil
}

const (
	masked  = 0xfc00 // −∞ as an F16
	visible = 0
)

// fill computes the inputs of a plan and sends them to the device.
func (d *Device) fill(p *plan, a *npu.Args) {
	pos := staged[int32](&d.staging, p.rows)
	clear(pos[copy(pos, p.positions):])
	set(d, p.inputs.positions, pos)
	if p.window == 0 {
		return
	}
	slots, unused := staged[int64](&d.staging, p.rows), int64(d.cache.pages.unused())
	for i := range slots {
		slots[i] = unused // of a row that is not in use
		if i < a.Rows {
			slots[i] = int64(p.wants[p.own[i].want].cell(p.own[i].at))
		}
	}
	for k, window := range d.windows {
		mask := staged[uint16](&d.staging, p.rows*p.window)
		for i := range p.rows {
			p.fillRow(mask, a, i, window, slots)
		}
		set(d, p.inputs.masks[k], mask)
	}
	written := staged[int32](&d.staging, p.rows*p.planes)
	for i := range written {
		written[i] = int32(slots[i%p.rows])
	}
	set(d, p.slots, slots)
	set(d, p.written, written)
}

func fill(row []uint16, v uint16) {
	n := min(len(row), 32)
	for i := range row[:n] {
		row[i] = v
	}
	for ; n > 0 && n < len(row); n *= 2 { // a copy is faster than a loop
		copy(row[n:], row[:n])
	}
}

// fillRow fills row i of the mask of layers that attend to a window of positions, or to all if that is 0.
func (p *plan) fillRow(mask []uint16, a *npu.Args, i, window int, slots []int64) {
	row := mask[i*p.window:][:p.window]
	switch {
	case i >= a.Rows: // any cell, because a row must attend to something
		fill(row, masked)
		row[0] = visible
	case window == 0 && i > 0 && a.Masks == nil && a.KV[i] == a.KV[i-1] && a.Positions[i] == a.Positions[i-1]+1:
		copy(row, mask[(i-1)*p.window:][:p.window])
		row[slots[i]] = visible
	default:
		fill(row, masked)
		a.Mask(i).Within(window, func(slot, n int) { p.showSlots(row, i, slot, n) })
	}
}

// showSlots unmasks n slots of row i's cache, from slot on.
func (p *plan) showSlots(row []uint16, i, slot, n int) {
	for _, ref := range p.spans[i] {
		if slot >= ref.n {
			slot -= ref.n
			continue
		}
		m := min(ref.n-slot, n)
		if m <= 0 {
			return
		}
		w := p.wantOf(ref.first)
		for _, s := range w.stretches(slot, slot+m) {
			fill(row[s.cell:s.cell+s.n], visible)
		}
		slot, n = 0, n-m
	}
}

func (p *plan) wantOf(first *uint16) *want {
	for i := range p.wants {
		if firstOf(p.wants[i].span) == first {
			return &p.wants[i]
		}
	}
	return nil
}

// send copies to the device the keys and values that a layer attends to and that are not there yet, except those that this
// run computes.
func (d *Device) send(p *plan, layer int) {
	l := &d.cache.layers[layer]
	for i := range p.wants {
		w, own := &p.wants[i], p.changes[i]
		from, to := w.valid[layer], w.n
		if from >= own.low && own.n >= to-own.low || from >= to {
			continue
		}
		if own.n == to-own.low {
			to = own.low
		}
		cell := uintptr(2 * l.width)
		for _, s := range w.stretches(from, to) {
			k, v := w.span.K[l.layer][s.at*l.width:][:s.n*l.width], w.span.V[l.layer][s.at*l.width:][:s.n*l.width]
			d.api.Set(d.backend, l.k, unsafe.Pointer(&k[0]), uintptr(s.cell)*cell, uintptr(s.n)*cell)
			d.api.Set(d.backend, l.v, unsafe.Pointer(&v[0]), uintptr(s.cell)*cell, uintptr(s.n)*cell)
		}
	}
}

// settle records that the layer's copies equal the spans, or that a run has failed.
func (p *plan) settle(layer int, ok bool) {
	for i := range p.wants {
		w := &p.wants[i]
		if ok {
			w.valid[layer] = max(w.valid[layer], w.n)
		} else {
			w.forget(layer, 0)
		}
	}
}

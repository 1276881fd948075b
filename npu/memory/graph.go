package memory

import "tandem/npu"

// minStaged is the least size of a tensor that is staged: norms and biases stay where they are.
const minStaged = 4 << 10

// stage copies a graph with the matrices of its products replaced by places in the arena: one for each
// piece of at most limit bytes, whose products are set side by side again. It returns which object each
// node of the copy reads, −1 for none. A row of a product does not depend on the others, so the copy
// computes the same bits.
//
// An embedding is left in the file: the processor looks up the few rows that a step needs.
func (d *Device) stage(g *npu.Graph) (*npu.Graph, []int) {
	out := &npu.Graph{Name: g.Name, Chunk: g.Chunk}
	var objects []int
	at := make([]npu.Value, len(g.Nodes)) // where each node's value is in the copy
	add := func(n npu.Node, object int) npu.Value {
		out.Nodes, objects = append(out.Nodes, n), append(objects, object)
		return npu.Value(len(out.Nodes) - 1)
	}
	for i, n := range g.Nodes {
		args := make([]npu.Value, len(n.Args))
		for j, a := range n.Args {
			args[j] = at[a]
		}
		n.Args = args
		if n.Op != npu.OpMatMul || len(n.Weight.Data) < minStaged {
			at[i] = add(n, -1)
			continue
		}
		var parts []npu.Value
		for _, id := range d.objectsOf(n.Weight) {
			o := d.objects[id]
			part := n
			part.Weight, part.Width = o.place, o.rows
			if n.Bias != nil && o.rows < n.Width {
				size := int64(n.Bias.Type.RowBytes(1))
				part.Bias = &npu.Tensor{Name: n.Bias.Name, Type: n.Bias.Type, Rows: 1, Cols: o.rows,
					Data: n.Bias.Data[int64(o.from)*size:][:int64(o.rows)*size]}
			}
			parts = append(parts, add(part, id))
		}
		if at[i] = parts[0]; len(parts) > 1 {
			at[i] = add(npu.Node{Op: npu.OpConcat, Args: parts, Width: n.Width}, -1)
		}
	}
	return out, objects
}

// object is a piece of a matrix: some of its rows.
type object struct {
	source     *npu.Tensor
	from, rows int
	off        int64
	place      *npu.Tensor // what programs read: its Data is set while the bytes are there
	own        []byte      // its own mapping, under paging
}

func (o *object) bytes() int64 { return int64(o.rows) * int64(o.source.Type.RowBytes(o.source.Cols)) }

// objectsOf returns the pieces of a tensor, making them when it is new.
func (d *Device) objectsOf(t *npu.Tensor) []int {
	if ids := d.pieces[t]; ids != nil {
		return ids
	}
	row := int64(t.Type.RowBytes(t.Cols))
	rows := int(max(1, min(int64(t.Rows), d.opt.Piece/row)))
	var ids []int
	for from := 0; from < t.Rows; from += rows {
		n := min(rows, t.Rows-from)
		o := &object{source: t, from: from, rows: n, off: int64(from) * row}
		// Until the first run the place shows the source's bytes, so that compilers can check sizes.
		o.place = &npu.Tensor{Name: t.Name, Type: t.Type, Rows: n, Cols: t.Cols, Staged: true, Data: t.Data[o.off:][:int64(n)*row]}
		ids = append(ids, len(d.objects))
		d.objects = append(d.objects, o)
	}
	d.pieces[t], d.laidOut = ids, false
	return ids
}

package memory

import (
	"cmp"
	"slices"
	"time"

	"tandem/npu"
)

// minStaged is the least size in bytes of a tensor that is staged. Norms and biases stay where they are.
const minStaged = 4 << 10

// weights are the matrices of all programs, cut into objects.
type weights struct {
	piece           int64      // bytes of an object, at most
	packer          npu.Packer // of the inner device; may be nil
	objects         []*object
	objectsByTensor map[*npu.Tensor][]int // objects of each tensor
	groups          int                   // of objects whose products do not depend on each other
}

// object is a piece of a matrix: some of its rows.
type object struct {
	source     *npu.Tensor
	group      int // shared by pieces whose products do not depend on each other
	from, rows int
	off        int64
	place      *npu.Tensor // what programs read: its Data is set while the bytes are there
	ownMapping []byte      // its own mapping, under paging
	size       int64       // of the place, in the device's layout

	loadBegins, loadEnds time.Duration // its last load, on the clock: at the earliest, and its end
}

// bytes returns how many bytes are read for the object.
func (o *object) bytes() int64 { return int64(o.rows) * int64(o.source.Type.RowBytes(o.source.Cols)) }

// sizes returns the sizes of all objects.
func (w *weights) sizes() []int64 {
	sizes := make([]int64, len(w.objects))
	for i, o := range w.objects {
		sizes[i] = o.size
	}
	return sizes
}

// stage copies a graph with the matrices of its products replaced by places in the arena: one for each piece, whose
// products are concatenated again. A row of a product does not depend on the others, so the copy computes the same
// bits. It returns which object each node of the copy reads, −1 for none, and whether there are new objects.
//
// Embeddings stay in the file: the processor looks up the few rows that a step needs.
func (w *weights) stage(g *npu.Graph) (staged *npu.Graph, objects []int, added bool) {
	before := len(w.objects)
	out := &npu.Graph{Name: g.Name, Chunk: g.Chunk}
	groups := map[npu.Value]int{}         // of the products of each input
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
		if groups[n.Args[0]] == 0 {
			w.groups++
			groups[n.Args[0]] = w.groups
		}
		var parts []npu.Value
		for _, id := range w.objectsOf(n.Weight) {
			o := w.objects[id]
			if o.group == 0 {
				o.group = groups[n.Args[0]]
			}
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
	return out, objects, len(w.objects) > before
}

// objectsOf returns the objects of a tensor. It makes them if the tensor is new.
func (w *weights) objectsOf(t *npu.Tensor) []int {
	if ids := w.objectsByTensor[t]; ids != nil {
		return ids
	}
	row := int64(t.Type.RowBytes(t.Cols))
	rows := int(max(1, min(int64(t.Rows), w.piece/row)))
	group, each := 0, 0
	if w.packer != nil {
		group, each = w.packer.Group(t)
	}
	packed := group > 0 && rows >= group // else a group takes more than a piece may
	if packed && rows < t.Rows {
		rows -= rows % group
	}
	var ids []int
	for from := 0; from < t.Rows; from += rows {
		n := min(rows, t.Rows-from)
		o := &object{source: t, from: from, rows: n, off: int64(from) * row}
		// Until it is compiled the place shows the source's bytes, so that compilers can check sizes.
		o.place = &npu.Tensor{Name: t.Name, Type: t.Type, Rows: n, Cols: t.Cols, Staged: true, Packed: packed, Data: t.Data[o.off:][:int64(n)*row]}
		if o.size = o.bytes(); packed {
			o.size = int64((n + group - 1) / group * each)
		}
		ids = append(ids, len(w.objects))
		w.objects = append(w.objects, o)
	}
	w.objectsByTensor[t] = ids
	return ids
}

// keep drops all objects but those that are read, and returns the new number of each, −1 for none. The pieces of a tensor
// are read together.
func (w *weights) keep(read []bool) (renumbered []int) {
	var kept []*object
	for id, o := range w.objects {
		if !read[id] {
			renumbered = append(renumbered, -1)
			delete(w.objectsByTensor, o.source)
			continue
		}
		renumbered = append(renumbered, len(kept))
		kept = append(kept, o)
	}
	for _, ids := range w.objectsByTensor {
		for i, id := range ids {
			ids[i] = renumbered[id]
		}
	}
	w.objects = kept
	return renumbered
}

// reorder moves the products of a staged graph that do not depend on each other into the order of rank, the place of
// each object in the order of use. It moves other nodes only where dependencies need it. Every node computes what it
// did.
func reorder(g *npu.Graph, objects []int, groupOf func(object int) int, rank []int) (*npu.Graph, []int) {
	order := make([]int, len(g.Nodes)) // old indices in a new order, regardless of dependencies
	members := map[int][]int{}
	for i := range order {
		order[i] = i
		if objects[i] >= 0 && i < len(order)-1 { // the last is the result and stays
			members[groupOf(objects[i])] = append(members[groupOf(objects[i])], i)
		}
	}
	for _, places := range members {
		nodes := slices.Clone(places)
		slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(rank[objects[a]], rank[objects[b]]) })
		for j, place := range places {
			order[place] = nodes[j]
		}
	}
	out := &npu.Graph{Name: g.Name, Chunk: g.Chunk}
	var moved []int
	at := slices.Repeat([]npu.Value{-1}, len(g.Nodes))
	for len(out.Nodes) < len(g.Nodes) {
		for _, i := range order {
			n := g.Nodes[i]
			if at[i] >= 0 || slices.ContainsFunc(n.Args, func(a npu.Value) bool { return at[a] < 0 }) {
				continue
			}
			n.Args = slices.Clone(n.Args)
			for j, a := range n.Args {
				n.Args[j] = at[a]
			}
			at[i] = npu.Value(len(out.Nodes))
			out.Nodes, moved = append(out.Nodes, n), append(moved, objects[i])
		}
	}
	return out, moved
}

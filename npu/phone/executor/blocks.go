package executor

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"tandem/npu"
)

// Blocks keeps the weights of each of a model's blocks in an arena with room for one graph, as a phone's memory allows
// (sd.npu §3.1). Loading a graph copies its weights into the arena, in the layout that the device's kernels read (see
// npu.Packer). For the native device it packs Q4_0 and Q8_0 and copies other types.
type Blocks struct {
	blocks []*block
	traits npu.Traits
}

type block struct {
	graphs [2][]npu.Program // the layers of the block for large chunks, and for small ones
	arena  []byte
	source []*npu.Tensor // weights
	place  []*npu.Tensor // their places in the arena
	state  atomic.Int32
}

// What a block's arena holds.
const (
	nothing  int32 = iota
	large          // G¹
	small          // G²
	changing       // being loaded
)

// NewBlocks compiles blocks of layers for two chunk sizes. largeGraphs[j] and smallGraphs[j] are the layers of block j,
// over the same tensors. Nothing is loaded yet.
func NewBlocks(d npu.Device, largeGraphs, smallGraphs [][]*npu.Graph) (*Blocks, error) {
	if len(largeGraphs) != len(smallGraphs) {
		return nil, fmt.Errorf("%d blocks for prefill, %d for decoding", len(largeGraphs), len(smallGraphs))
	}
	b := &Blocks{traits: d.Traits()}
	for j := range largeGraphs {
		bl := &block{}
		places := map[*npu.Tensor]*npu.Tensor{}
		for i, graphs := range [2][]*npu.Graph{largeGraphs[j], smallGraphs[j]} {
			for _, g := range graphs {
				p, err := d.Compile(bl.placed(b.traits, g, places))
				if err != nil {
					return nil, fmt.Errorf("block %d: %w", j, err)
				}
				bl.graphs[i] = append(bl.graphs[i], p)
			}
		}
		bl.lay(b.traits)
		b.blocks = append(b.blocks, bl)
	}
	return b, nil
}

// placed returns a copy of a graph with its matrices in the block's arena.
func (bl *block) placed(traits npu.Traits, g *npu.Graph, places map[*npu.Tensor]*npu.Tensor) *npu.Graph {
	out := &npu.Graph{Name: g.Name, Chunk: g.Chunk}
	for _, n := range g.Nodes {
		if n.Op == npu.OpMatMul {
			t := places[n.Weight]
			if t == nil {
				t = &npu.Tensor{}
				*t = *n.Weight
				t.Staged = true
				_, t.Packed = traits.PackedBytes(n.Weight)
				places[n.Weight], bl.source, bl.place = t, append(bl.source, n.Weight), append(bl.place, t)
			}
			n.Weight = t
		}
		out.Nodes = append(out.Nodes, n)
	}
	return out
}

// lay makes the arena. Kernels need matrices that begin at multiples of 64 bytes.
func (bl *block) lay(traits npu.Traits) {
	const line = 64
	up := func(n int) int { return (n + line - 1) &^ (line - 1) }
	size := 0
	for _, t := range bl.source {
		n, _ := traits.PackedBytes(t)
		size += up(n)
	}
	room := make([]byte, size+line)
	bl.arena = room[-uintptr(unsafe.Pointer(&room[0]))&(line-1):][:size:size]
	rest := bl.arena
	for i, t := range bl.source {
		n, _ := traits.PackedBytes(t)
		bl.place[i].Data, rest = rest[:n:n], rest[up(n):]
	}
}

// Len returns the number of blocks.
func (b *Blocks) Len() int { return len(b.blocks) }

// Bytes returns the size of a block's arena.
func (b *Blocks) Bytes(j int) int { return len(b.blocks[j].arena) }

// Load loads the block's graph for prefill, or for decoding if smallGraph, replacing the loaded one.
func (b *Blocks) Load(j int, smallGraph bool) error {
	bl := b.blocks[j]
	if bl.state.Swap(changing) == changing {
		return fmt.Errorf("block %d is being loaded already", j)
	}
	clear(bl.arena) // a run during the load would compute wrong results and be noticed
	for i, t := range bl.source {
		b.bring(bl.place[i], t)
	}
	if b.traits.Clock != nil {
		which := bl.graphs[0]
		if smallGraph {
			which = bl.graphs[1]
		}
		var graphs []*npu.Graph
		for _, p := range which {
			graphs = append(graphs, p.Graph())
		}
		b.traits.Clock.LoadGraphs(graphs)
	}
	if smallGraph {
		bl.state.Store(small)
	} else {
		bl.state.Store(large)
	}
	return nil
}

// bring copies a matrix to its place, packed if the device reads it packed.
func (b *Blocks) bring(to, from *npu.Tensor) {
	if !to.Packed {
		copy(to.Data, from.Data)
		return
	}
	p := b.traits.Packer
	rows, size := p.Group(from)
	for row, at := 0, 0; row < from.Rows; row, at = row+rows, at+size {
		p.PackGroup(to.Data[at:][:size], from, row)
	}
}

// ErrNotLoaded is wrapped by the error of a run on a graph that is not loaded.
var ErrNotLoaded = errors.New("the graph is not loaded")

// Run computes the block's layers for the rows a.X, on G² if smallGraph. The result goes to a.Out, which may be a.X.
func (b *Blocks) Run(j int, smallGraph bool, a npu.Args) error {
	i, want := 0, large
	if smallGraph {
		i, want = 1, small
	}
	a.Stage, a.Loaded = held{b.blocks[j], want}, true
	for _, p := range b.blocks[j].graphs[i] {
		if err := p.Run(a); err != nil {
			return fmt.Errorf("block %d: %w", j, err)
		}
		a.X = a.Out
	}
	return nil
}

// held is the Stage of a loaded block. It moves nothing, and refuses reads while the block is being loaded.
type held struct {
	*block
	want int32
}

// Enter implements npu.Stage.
func (h held) Enter(int) error {
	if h.state.Load() != h.want {
		return ErrNotLoaded
	}
	return nil
}

// Leave implements npu.Stage.
func (h held) Leave(int) {}

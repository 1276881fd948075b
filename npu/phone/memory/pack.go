package memory

import (
	"cmp"
	"slices"

	"tandem/npu"
)

// Life is a range of steps (graph nodes) during which some bytes must stay where they are.
type Life struct {
	Bytes       int64
	First, Last int // the step that writes them and the last that reads them
}

// overlaps reports whether both live at a common step.
func (l Life) overlaps(m Life) bool { return l.First <= m.Last && m.First <= l.Last }

// Lifetimes returns the life of every value of a graph, for full chunks of float32: from the node that computes it to
// the last that reads it. The result lives to the end.
func Lifetimes(g *npu.Graph) []Life {
	lives := make([]Life, len(g.Nodes))
	for i, n := range g.Nodes {
		lives[i] = Life{Bytes: 4 * int64(g.Chunk) * int64(n.Width), First: i, Last: i}
		for _, a := range n.Args {
			lives[a].Last = i
		}
	}
	if len(lives) > 0 {
		lives[len(lives)-1].Last = len(lives)
	}
	return lives
}

// alignment is the alignment of addresses: a vector register of the NPU, 128 bytes.
const alignment = 128

func aligned(n int64) int64 { return (n + alignment - 1) / alignment * alignment }

// Pack gives each life an offset so that overlapping lives share no byte, and returns how many bytes that takes. It
// places the largest first, each in the smallest gap that holds it.
func Pack(lives []Life) (offsets []int64, total int64) {
	offsets = make([]int64, len(lives))
	order := make([]int, len(lives))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lives[b].Bytes, lives[a].Bytes) })
	var placed []int // by offset
	for _, i := range order {
		need := aligned(lives[i].Bytes)
		var best, end int64 = -1, 0
		bestGap := int64(1<<63 - 1)
		for _, j := range placed {
			if !lives[i].overlaps(lives[j]) {
				continue
			}
			if gap := offsets[j] - end; gap >= need && gap < bestGap {
				best, bestGap = end, gap
			}
			end = max(end, offsets[j]+aligned(lives[j].Bytes))
		}
		if best < 0 {
			best = end
		}
		offsets[i], total = best, max(total, best+need)
		at, _ := slices.BinarySearchFunc(placed, best, func(j int, o int64) int { return cmp.Compare(offsets[j], o) })
		placed = slices.Insert(placed, at, i)
	}
	return offsets, total
}

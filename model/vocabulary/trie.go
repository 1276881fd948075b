package vocabulary

import (
	"bytes"
	"slices"
	"strings"
)

// A Trie holds strings by their bytes. Its nodes are numbered level by level, so the children of a node follow one another,
// as do those of the next. The root is node 0. It is immutable.
type Trie struct {
	first []int32 // first child of each node, then the number of nodes
	label []byte  // the byte that leads to each node
	from  []int32 // for each node the first of the keys that end there, an index of keys; then their number
	keys  []int32 // indices of the strings
}

// NewTrie makes a trie of strings. Equal strings share a node. It leaves out empty ones.
func NewTrie(list []string) *Trie {
	order := make([]int32, 0, len(list))
	for i, s := range list {
		if s != "" {
			order = append(order, int32(i))
		}
	}
	slices.SortStableFunc(order, func(i, j int32) int { return strings.Compare(list[i], list[j]) })
	t := &Trie{label: []byte{0}}
	level := [][]int32{order} // for each node of a level the strings that go through it
	for depth := 0; len(level) > 0; depth++ {
		var below [][]int32
		first := len(t.label)
		for _, all := range level {
			t.first, t.from = append(t.first, int32(first+len(below))), append(t.from, int32(len(t.keys)))
			for len(all) > 0 && len(list[all[0]]) == depth {
				t.keys, all = append(t.keys, all[0]), all[1:]
			}
			for len(all) > 0 {
				b, n := list[all[0]][depth], 1
				for n < len(all) && list[all[n]][depth] == b {
					n++
				}
				t.label, below, all = append(t.label, b), append(below, all[:n]), all[n:]
			}
		}
		level = below
	}
	t.first, t.from = append(t.first, int32(len(t.label))), append(t.from, int32(len(t.keys)))
	return t
}

// Children returns the range of a node's children.
func (t *Trie) Children(node int32) (from, to int32) { return t.first[node], t.first[node+1] }

// Child returns the child of a node to which b leads, or -1.
func (t *Trie) Child(node int32, b byte) int32 {
	from, to := t.Children(node)
	if i := bytes.IndexByte(t.label[from:to], b); i >= 0 {
		return from + int32(i)
	}
	return -1
}

// Label returns the byte that leads to a node other than the root.
func (t *Trie) Label(node int32) byte { return t.label[node] }

// At returns the indices of the strings that end at a node.
func (t *Trie) At(node int32) []int32 { return t.keys[t.from[node]:t.from[node+1]] }

// Depth returns how many bytes below a node the next string ends.
func (t *Trie) Depth(node int32) int {
	if len(t.At(node)) > 0 {
		return 0
	}
	least := 0
	from, to := t.Children(node)
	for n := from; n < to; n++ {
		if d := 1 + t.Depth(n); least == 0 || d < least {
			least = d
		}
	}
	return least
}

// Height returns the length of the longest string below a node.
func (t *Trie) Height(node int32) (h int) {
	from, to := t.Children(node)
	for n := from; n < to; n++ {
		h = max(h, 1+t.Height(n))
	}
	return h
}

package tokenizer

import "sync"

// A merger joins neighbouring symbols, the best pair first, until no pair can be joined. Byte-level BPE and
// SentencePiece share this algorithm. With a heap it takes O(n log n), even for a page without spaces.
type merger struct {
	symbols []symbol
	heap    []bigram
}

// A symbol is text[start:end]. It is dead once it is joined to its left neighbour.
type symbol struct {
	start, end int
	prev, next int // indices of the neighbours, -1 at the ends
	id         int32
	dead       bool
}

// A bigram is a pair of neighbours that can be joined to the symbol id.
type bigram struct {
	priority float32
	left     int // index of the left symbol
	end      int // of the right symbol when the pair was found; if it has changed, the pair is stale
	id       int32
}

// before orders by descending priority, then from left to right.
func (b bigram) before(o bigram) bool {
	return b.priority > o.priority || b.priority == o.priority && b.left < o.left
}

// A pairFunc returns the symbol that two neighbours join to, and its priority.
type pairFunc func(left, right symbol) (id int32, priority float32, ok bool)

var mergers = sync.Pool{New: func() any { return new(merger) }}

func newMerger() *merger {
	m := mergers.Get().(*merger)
	m.symbols, m.heap = m.symbols[:0], m.heap[:0]
	return m
}

func (m *merger) free() { mergers.Put(m) }

// add appends the symbol text[start:end].
func (m *merger) add(start, end int, id int32) {
	i := len(m.symbols)
	if i > 0 {
		m.symbols[i-1].next = i
	}
	m.symbols = append(m.symbols, symbol{start: start, end: end, prev: i - 1, next: -1, id: id})
}

func (m *merger) run(pair pairFunc) {
	for i := 1; i < len(m.symbols); i++ {
		m.consider(i-1, i, pair)
	}
	for len(m.heap) > 0 {
		b := m.pop()
		left := &m.symbols[b.left]
		if left.dead || left.next < 0 {
			continue
		}
		right := &m.symbols[left.next]
		if right.end != b.end {
			continue
		}
		left.end, left.id = right.end, b.id
		right.dead = true
		left.next = right.next
		if right.next >= 0 {
			m.symbols[right.next].prev = b.left
		}
		m.consider(left.prev, b.left, pair)
		m.consider(b.left, left.next, pair)
	}
}

func (m *merger) consider(left, right int, pair pairFunc) {
	if left < 0 || right < 0 {
		return
	}
	if id, priority, ok := pair(m.symbols[left], m.symbols[right]); ok {
		m.push(bigram{priority, left, m.symbols[right].end, id})
	}
}

func (m *merger) push(b bigram) {
	h := append(m.heap, b)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !h[i].before(h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
	m.heap = h
}

func (m *merger) pop() bigram {
	h := m.heap
	top, n := h[0], len(h)-1
	h[0] = h[n]
	h = h[:n]
	for i := 0; ; {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(h[i]) {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	m.heap = h
	return top
}

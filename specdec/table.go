package specdec

// table is a hash table from numbers to indices. Drafters fill one for each answer, with several numbers per token. That is
// several times faster than with a Go map, because a table holds no pointers for the garbage collector to follow and is
// allocated at its final size.
type table struct {
	slots []slot // a power of two of them, at most half of them in use
	used  int
}

type slot struct {
	key   uint64
	value int32 // the index plus 2; 0 if the slot is free
}

// room makes room for n more numbers.
func (t *table) room(n int) {
	size := max(64, len(t.slots))
	for 2*(t.used+n) > size {
		size *= 2
	}
	if size == len(t.slots) {
		return
	}
	old := t.slots
	t.slots = make([]slot, size)
	for _, s := range old {
		if s.value != 0 {
			*t.find(s.key) = s
		}
	}
}

// find returns the slot of a number, or the free one where it belongs. The table must not be empty.
func (t *table) find(key uint64) *slot {
	mask := uint64(len(t.slots) - 1)
	for i := (key * 0x9e3779b97f4a7c15) >> 32 & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.value == 0 || s.key == key {
			return s
		}
	}
}

// get returns a number's index, -1 if it has none.
func (t *table) get(key uint64) int32 {
	if t.used == 0 {
		return -1
	}
	return max(-1, t.find(key).value-2)
}

// set gives a number an index; -1 takes it away.
func (t *table) set(key uint64, index int32) {
	t.room(1)
	s := t.find(key)
	if s.value == 0 {
		t.used++
	}
	*s = slot{key, index + 2}
}

package span

// A scratch gives out memory for the states of one computation after the other, and takes it back all at once, so that
// reading a passage allocates next to nothing.
type scratch struct {
	slabs [][]float32
	at    place
}

// A place is how much of a scratch is given out: all slabs before one, and some of that one.
type place struct{ slab, used int }

// slabSize is how many numbers a slab has at least: the states of a passage of about 150 words.
const slabSize = 1 << 19

// rows returns n rows whose numbers may be anything.
func (s *scratch) rows(n, width int) rows {
	size := n * width
	for ; s.at.slab < len(s.slabs); s.at = (place{s.at.slab + 1, 0}) {
		if slab := s.slabs[s.at.slab]; s.at.used+size <= len(slab) {
			x := slab[s.at.used : s.at.used+size : s.at.used+size]
			s.at.used += size
			return rows{n, width, x}
		}
	}
	s.slabs = append(s.slabs, make([]float32, max(size, slabSize)))
	return s.rows(n, width)
}

// mark returns the present place, for release.
func (s *scratch) mark() place { return s.at }

// release takes back what was given out since a mark.
func (s *scratch) release(p place) { s.at = p }

package memory

import "time"

// profile measures how long the device computes from one use of an object to the next.
type profile struct {
	last    int // the object that this run read last, −1 for none
	since   time.Duration
	compute []time.Duration // moving averages, by object
}

// endUse is called when the device comes to a use, or to the end: the computation after the last use is over.
func (p *profile) endUse(now time.Duration) {
	if p.last < 0 {
		return
	}
	took := now - p.since
	if c := &p.compute[p.last]; *c == 0 {
		*c = took
	} else {
		*c += (took - *c) / 8
	}
}

// beginUse is called when a use begins.
func (p *profile) beginUse(id int, now time.Duration) {
	for len(p.compute) <= id {
		p.compute = append(p.compute, 0)
	}
	p.last, p.since = id, now
}

// keep takes the objects' new numbers, −1 for those that are gone.
func (p *profile) keep(renumbered []int) {
	compute := p.compute[:0]
	for id, c := range p.compute {
		if renumbered[id] >= 0 {
			compute = append(compute, c)
		}
	}
	p.compute, p.last = compute, -1
}

// uses returns all objects in the order in which programs were compiled, which is that of use. Objects that were not
// measured get a time in proportion to their bytes.
func (p *profile) uses(sizes []int64) []Use {
	var bytes int64
	var total time.Duration
	for id, c := range p.compute {
		if c > 0 && id < len(sizes) {
			bytes, total = bytes+sizes[id], total+c
		}
	}
	perByte := 0.1 // nanoseconds
	if bytes > 0 {
		perByte = float64(total) / float64(bytes)
	}
	uses := make([]Use, len(sizes))
	for id, size := range sizes {
		uses[id] = Use{Object: id, Compute: time.Duration(perByte * float64(size))}
		if id < len(p.compute) && p.compute[id] > 0 {
			uses[id].Compute = p.compute[id]
		}
	}
	return uses
}

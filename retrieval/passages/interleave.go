package passages

// Interleave takes passages from the lists in turn, without repeats, until it has k.
func Interleave(k int, lists ...[]Passage) []Passage {
	taken := make(map[string]bool)
	var out []Passage
	for rank := 0; len(out) < k; rank++ {
		more := false
		for _, list := range lists {
			if rank >= len(list) {
				continue
			}
			more = true
			if p := list[rank]; !taken[p.ID] && len(out) < k {
				taken[p.ID] = true
				out = append(out, p)
			}
		}
		if !more {
			break
		}
	}
	return out
}

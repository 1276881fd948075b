package memory

// Checking reports whether invariants are checked, by the build tag npucheck.
const Checking = checking

// Adapt places the weights again, by the computation times measured since the start, and reports whether anything was
// measured. What is resident is loaded again when it is next used.
func (d *Device) Adapt() bool {
	d.run.Lock()
	defer d.run.Unlock()
	d.stager.mu.Lock()
	measured := len(d.stager.profile.compute) > 0
	d.stager.mu.Unlock()
	if !measured || d.closed {
		return false
	}
	d.freeArena()
	return true
}

// Layout returns the placement and the sizes of its objects. The placement is zero before the first run and under
// paging.
func (d *Device) Layout() (Placement, []int64) {
	d.run.Lock()
	defer d.run.Unlock()
	return d.stager.placement(), d.weights.sizes()
}

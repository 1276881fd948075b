package sim

import "time"

// Now implements npu.Clock. It returns how long the NPU was busy or waiting so far.
func (d *Device) Now() time.Duration {
	d.statsMu.Lock()
	defer d.statsMu.Unlock()
	return d.stats.Busy
}

// Largest implements npu.Clock. A mapping lies within one session's window.
func (d *Device) Largest() int64 { return d.costs.Window }

// Map implements npu.Clock.
func (d *Device) Map(bytes int64) error {
	if bytes > d.costs.Window {
		return &WindowError{d.costs.SoC, bytes, d.costs.Window}
	}
	if err := d.takeAddresses(bytes); err != nil {
		return err
	}
	d.statsMu.Lock()
	defer d.statsMu.Unlock()
	d.copy(d.stats.Busy, d.costs.MapTime(1, bytes))
	return nil
}

// Unmap implements npu.Clock.
func (d *Device) Unmap(bytes int64) {
	d.statsMu.Lock()
	defer d.statsMu.Unlock()
	d.stats.Mapped -= bytes
}

// Move implements npu.Clock.
func (d *Device) Move(bytes int64, from time.Duration) (begins, ends time.Duration) {
	d.statsMu.Lock()
	defer d.statsMu.Unlock()
	took := d.costs.StageTime(bytes)
	d.copy(from, took)
	return d.copiesEnd - took, d.copiesEnd
}

// copy keeps the core that maps and copies busy, from the given time or when it is free.
func (d *Device) copy(from, took time.Duration) {
	d.copiesEnd = max(d.copiesEnd, from) + took
	d.stats.Joules += took.Seconds() * d.costs.CPUWatts
}

// Await implements npu.Clock.
func (d *Device) Await(until time.Duration) {
	d.statsMu.Lock()
	defer d.statsMu.Unlock()
	wait := max(0, until-d.stats.Busy)
	d.stats.Staging += wait
	d.stats.Busy += wait
}

package batch

// costs estimates the time of a pass as a line over its rows, by least squares over the latest passes.
type costs struct {
	n, x, y, xx, xy float64 // sums over passes; older ones count less
}

// memory is the weight that a pass keeps with each pass after it: about the last hundred count.
const memory = 0.99

// observe records the time of a pass, in seconds.
func (c *costs) observe(rows int, seconds float64) {
	if rows < 1 || seconds < 0 {
		return
	}
	x := float64(rows)
	for _, sum := range []*float64{&c.n, &c.x, &c.y, &c.xx, &c.xy} {
		*sum *= memory
	}
	c.n, c.x, c.y, c.xx, c.xy = c.n+1, c.x+x, c.y+seconds, c.xx+x*x, c.xy+x*seconds
}

// line returns the time of a pass without rows and what each row adds. Before passes of different sizes were seen, a pass
// costs as much as eight of its rows.
func (c *costs) line() (base, row float64) {
	if c.n == 0 {
		return 8, 1
	}
	if spread := c.n*c.xx - c.x*c.x; spread > 1e-3*c.xx {
		row = (c.n*c.xy - c.x*c.y) / spread
		base = (c.y - row*c.x) / c.n
	}
	if mean := c.y / (c.x + 8*c.n); row <= 0 || base < 0 {
		return 8 * mean, mean
	}
	return base, row
}

// at returns the time of a pass of some rows.
func (c *costs) at(rows int) float64 {
	base, row := c.line()
	return base + row*float64(rows)
}

// within returns how many rows a pass may have in some time.
func (c *costs) within(seconds float64) int {
	base, row := c.line()
	if row <= 0 {
		return 1 << 20
	}
	const rounding = 1e-6 // of a row
	return int(min(max((seconds-base)/row+rounding, 0), 1<<20))
}

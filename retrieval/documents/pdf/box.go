package pdf

import "math"

// box is a rectangle. Its axes are turned so that text runs along x and the first line has the greatest y.
type box struct{ left, bottom, right, top float64 }

// turned reports whether texts run in two directions.
func turned(a, b float64) bool { return math.Abs(math.Remainder(a-b, 2*math.Pi)) > 0.1 }

// turn returns the box in axes that are turned by an angle.
func (a box) turn(angle float64) box {
	if angle == 0 {
		return a
	}
	sin, cos := math.Sincos(angle)
	corner := func(x, y float64) box { return box{x*cos + y*sin, y*cos - x*sin, x*cos + y*sin, y*cos - x*sin} }
	return corner(a.left, a.bottom).union(corner(a.right, a.top)).union(corner(a.left, a.top)).union(corner(a.right, a.bottom))
}

func (a box) width() float64  { return a.right - a.left }
func (a box) height() float64 { return a.top - a.bottom }

// center returns the place in the middle of the box.
func (a box) center() (x, y float64) { return (a.left + a.right) / 2, (a.bottom + a.top) / 2 }

// gap returns the horizontal distance of two boxes, whichever comes first: text may run to the left. It is negative if they
// overlap.
func (a box) gap(b box) float64 { return max(b.left-a.right, a.left-b.right) }

// union returns the smallest box that holds a and b.
func (a box) union(b box) box {
	return box{min(a.left, b.left), min(a.bottom, b.bottom), max(a.right, b.right), max(a.top, b.top)}
}

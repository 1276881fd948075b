package pdf

import (
	"math"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/structs"
)

// This file finds the straight lines on a page: those that programs draw as lines, and those that they draw as thin
// rectangles or as the edges of boxes. The upper and lower edges of shaded rectangles are lines, too. And it finds the dots
// that browsers draw as bullets.

// Bounds of looking for lines. A page that exceeds one is a drawing: it is read as if it had no lines.
const (
	maxPageObjects  = 1 << 13 // objects of a page, those of its forms too
	maxPageSegments = 1 << 13 // segments of the paths of a page
	maxPathSegments = 1 << 9  // segments of a path; one with more is part of a drawing
	maxFormDepth    = 3       // forms within forms
	maxFileObjects  = 1 << 17 // objects and segments of a file: go-pdfium remembers each, in some 200 bytes
)

const (
	ruleWidth  = 3.0 // points: a filled rectangle that is not wider is a line
	ruleLength = 5.0 // points: a shorter line is none
)

// drawing is what is drawn on a page.
type drawing struct {
	rules []box // lines: boxes that are thin in one direction
	dots  []box // small discs, rings and squares, which may be bullets
}

// ruleReader reads what is drawn on a page.
type ruleReader struct {
	lib      pdfium.Pdfium
	objects  int // still to read, of the page
	segments int
	drawing
}

// drawing returns what is drawn on a page.
func (d *document) drawing(lib pdfium.Pdfium, page requests.Page) (none drawing) {
	count, err := lib.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil || count.Count > maxPageObjects || d.objects > maxFileObjects {
		return none
	}
	r := ruleReader{lib: lib, objects: maxPageObjects, segments: maxPageSegments}
	for i := range count.Count {
		object, err := lib.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err == nil {
			r.object(object.PageObject, unturned, 0)
		}
		if r.objects--; r.objects < 0 || r.segments < 0 {
			break
		}
	}
	d.objects += maxPageObjects - r.objects + maxPageSegments - r.segments
	if r.objects < 0 || r.segments < 0 {
		return none
	}
	return r.drawing
}

// unturned is the matrix that changes nothing.
var unturned = structs.FPDF_FS_MATRIX{A: 1, D: 1}

// object reads the lines of an object whose points a matrix brings to their place on the page.
func (r *ruleReader) object(o references.FPDF_PAGEOBJECT, place structs.FPDF_FS_MATRIX, depth int) {
	kind, err := r.lib.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: o})
	if err != nil {
		return
	}
	switch {
	case kind.Type == enums.FPDF_PAGEOBJ_PATH:
		r.path(o, place)
	case kind.Type == enums.FPDF_PAGEOBJ_FORM && depth < maxFormDepth:
		count, err := r.lib.FPDFFormObj_CountObjects(&requests.FPDFFormObj_CountObjects{PageObject: o})
		if err != nil {
			return
		}
		place = r.placed(o, place)
		for i := 0; i < count.Count && r.objects >= 0 && r.segments >= 0; i++ {
			r.objects--
			if inner, err := r.lib.FPDFFormObj_GetObject(&requests.FPDFFormObj_GetObject{PageObject: o, Index: uint64(i)}); err == nil {
				r.object(inner.PageObject, place, depth+1)
			}
		}
	}
}

// placed returns the matrix of an object followed by another.
func (r *ruleReader) placed(o references.FPDF_PAGEOBJECT, then structs.FPDF_FS_MATRIX) structs.FPDF_FS_MATRIX {
	own, err := r.lib.FPDFPageObj_GetMatrix(&requests.FPDFPageObj_GetMatrix{PageObject: o})
	if err != nil {
		return then
	}
	m := own.Matrix
	return structs.FPDF_FS_MATRIX{
		A: m.A*then.A + m.B*then.C, B: m.A*then.B + m.B*then.D,
		C: m.C*then.A + m.D*then.C, D: m.C*then.B + m.D*then.D,
		E: m.E*then.A + m.F*then.C + then.E, F: m.E*then.B + m.F*then.D + then.F,
	}
}

// path reads the lines of a path.
func (r *ruleReader) path(o references.FPDF_PAGEOBJECT, place structs.FPDF_FS_MATRIX) {
	mode, err := r.lib.FPDFPath_GetDrawMode(&requests.FPDFPath_GetDrawMode{PageObject: o})
	if err != nil {
		return
	}
	p, ok := r.outline(o, place)
	if !ok {
		return
	}
	wide, high := p.bounds.width(), p.bounds.height()
	switch {
	case isDot(p.bounds) && len(r.dots) < maxDots:
		r.dots = append(r.dots, p.bounds)
	case mode.Stroke:
		r.rules = append(r.rules, p.edges...)
	case len(p.edges) == 4 && !p.curved && high > ruleWidth && wide > ruleWidth: // the shade of a row or cell
		for _, e := range p.edges {
			if e.height() < 0.5 {
				r.rules = append(r.rules, e)
			}
		}
	default:
		r.rules = append(r.rules, thinEdges(p.edges)...)
	}
}

// outline is the shape of a path.
type outline struct {
	edges  []box // its straight edges, also those that close it
	bounds box
	curved bool
}

// outline follows a path. ok is false if it cannot be read, or has too many segments.
func (r *ruleReader) outline(o references.FPDF_PAGEOBJECT, place structs.FPDF_FS_MATRIX) (p outline, ok bool) {
	count, err := r.lib.FPDFPath_CountSegments(&requests.FPDFPath_CountSegments{PageObject: o})
	if err != nil || count.Count > maxPathSegments {
		return p, false
	}
	var start, last [2]float64
	place = r.placed(o, place)
	for i := range count.Count {
		if r.segments--; r.segments < 0 {
			return p, false
		}
		kind, at, ok := r.segment(o, i, place)
		if !ok {
			return p, false
		}
		if here := (box{at[0], at[1], at[0], at[1]}); i == 0 {
			p.bounds = here
		} else {
			p.bounds = p.bounds.union(here)
		}
		switch kind {
		case enums.FPDF_SEGMENT_BEZIERTO:
			p.curved = true
		case enums.FPDF_SEGMENT_MOVETO:
			p.edges = appendEdge(p.edges, last, start)
			start = at
		case enums.FPDF_SEGMENT_LINETO:
			p.edges = appendEdge(p.edges, last, at)
		}
		last = at
	}
	p.edges = appendEdge(p.edges, last, start)
	return p, true
}

// maxDots is the greatest number of dots of a page.
const maxDots = 1 << 9

// isDot reports whether a shape may be a bullet: 1.5 to 8 points wide, and as high.
func isDot(b box) bool {
	wide, high := b.width(), b.height()
	return min(wide, high) >= 1.5 && max(wide, high) <= 8 && math.Abs(wide-high) < 0.2*high
}

// segment returns the kind and the point of a path's segment i.
func (r *ruleReader) segment(o references.FPDF_PAGEOBJECT, i int, place structs.FPDF_FS_MATRIX) (kind enums.FPDF_SEGMENT, at [2]float64, ok bool) {
	s, err := r.lib.FPDFPath_GetPathSegment(&requests.FPDFPath_GetPathSegment{PageObject: o, Index: i})
	if err != nil {
		return 0, at, false
	}
	k, err := r.lib.FPDFPathSegment_GetType(&requests.FPDFPathSegment_GetType{PathSegment: s.PathSegment})
	if err != nil {
		return 0, at, false
	}
	p, err := r.lib.FPDFPathSegment_GetPoint(&requests.FPDFPathSegment_GetPoint{PathSegment: s.PathSegment})
	if err != nil {
		return 0, at, false
	}
	at = [2]float64{float64(p.X*place.A + p.Y*place.C + place.E), float64(p.X*place.B + p.Y*place.D + place.F)}
	return k.Type, at, math.Abs(at[0]) < 1e5 && math.Abs(at[1]) < 1e5 // not for NaN
}

// appendEdge appends the line between two points if it is horizontal or vertical.
func appendEdge(edges []box, a, b [2]float64) []box {
	e := box{min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])}
	if min(e.width(), e.height()) > 0.5 || max(e.width(), e.height()) < ruleLength {
		return edges
	}
	return append(edges, e)
}

// thinEdges returns the edges of a filled shape that are those of a line: another edge runs close to them.
func thinEdges(edges []box) (thin []box) {
	for i, a := range edges {
		for j, b := range edges {
			u := a.union(b)
			if i != j && min(u.width(), u.height()) <= ruleWidth && max(u.width(), u.height()) < (a.right-a.left+a.top-a.bottom)+(b.right-b.left+b.top-b.bottom) {
				thin = append(thin, a)
				break
			}
		}
	}
	return thin
}

package documents

import (
	"bytes"
	"io"
	"math"

	"github.com/ledongthuc/pdf"
)

// This file extracts the text of a PDF's page: which characters its instructions show, and where (ISO 32000-1, section 9).
// The library reads objects. Its own reading of pages is not used: it decodes a font's objects again for every glyph,
// knows only the widths of simple fonts, and gives up on any damage.

// pdfGlyph is the text of one code in a shown string, and its place.
type pdfGlyph struct {
	text       string
	x, y       float64 // of its origin, in units of the page
	width      float64 // 0 where the font does not say
	size       float64 // of the font
	horizontal float64 // size in the horizontal direction
}

// pdfMatrix is [a b 0; c d 0; e f 1].
type pdfMatrix [6]float64

var identity = pdfMatrix{1, 0, 0, 1, 0, 0}

// rotations are the matrices of pages that are shown rotated clockwise by 0, 90, 180 and 270 degrees.
var rotations = [4]pdfMatrix{identity, {0, -1, 1, 0, 0, 0}, {-1, 0, 0, -1, 0, 0}, {0, 1, -1, 0, 0, 0}}

// times returns m·n, which applies m first.
func (m pdfMatrix) times(n pdfMatrix) pdfMatrix {
	return pdfMatrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// pdfState is the graphics state that "q" saves. It also holds the matrices of a text object, which "q" need not save.
type pdfState struct {
	toPage     pdfMatrix
	text, line pdfMatrix
	font       *pdfFont
	size       float64
	scale      float64 // Tz, as a factor
	rise       float64
	leading    float64
	spacing    float64 // between characters, and
	wordSpace  float64 // after spaces
}

// pdfReader reads pages of one file.
type pdfReader struct {
	fonts   map[string]*pdfFont // by the text of their dictionaries
	entries int                 // of all their tables
	glyphs  []pdfGlyph          // of the current page
	nodes   int                 // of the page tree, visited so far
	depth   int                 // of nested forms
	forms   int                 // shown on the current page
	damaged any                 // the last panic of the library
}

const (
	pdfStream  = 64 << 20 // bytes of a page's or a form's instructions
	pdfDepth   = 8
	pdfForms   = 1000
	pdfSaved   = 512
	pdfDepths  = 64 // of the page tree
	pdfEntries = 1 << 20
)

// try calls f and recovers if the library panics, as it does on damage. What f reads is then left out.
func (p *pdfReader) try(f func()) {
	defer func() {
		if v := recover(); v != nil {
			if p.damaged = v; v == errEndless {
				panic(v)
			}
		}
	}()
	f()
}

// pdfPage is a page, with the attributes that it inherits from the nodes above it.
type pdfPage struct {
	contents, resources, rotate pdf.Value
}

// each calls do for the pages at and below a node of the page tree until do returns false. above holds the inherited
// attributes. The library's way to a page by its number would start at the root each time.
func (p *pdfReader) each(node pdf.Value, above pdfPage, depth int, do func(pdfPage) bool) (more bool) {
	if p.nodes++; p.nodes > pdfNodes || depth > pdfDepths {
		return p.nodes <= pdfNodes
	}
	if r := node.Key("Resources"); !r.IsNull() {
		above.resources = r
	}
	if r := node.Key("Rotate"); !r.IsNull() {
		above.rotate = r
	}
	kids := node.Key("Kids")
	if kids.Kind() != pdf.Array {
		above.contents = node.Key("Contents")
		return do(above)
	}
	more = true
	for i := 0; more && i < kids.Len(); i++ {
		p.try(func() { more = p.each(kids.Index(i), above, depth+1, do) })
	}
	return more
}

// page returns the glyphs of a page.
func (p *pdfReader) page(page pdfPage) []pdfGlyph {
	p.glyphs, p.forms = nil, 0
	p.try(func() {
		turn := int(page.rotate.Int64()) / 90 & 3
		p.show(page.contents, page.resources, pdfState{toPage: rotations[turn], text: identity, line: identity, scale: 1})
	})
	return p.glyphs
}

// bytes returns the contents of a stream, or of an array of streams joined together.
func (p *pdfReader) bytes(v pdf.Value) []byte {
	var out bytes.Buffer
	read := func(v pdf.Value) {
		if v.Kind() == pdf.Stream {
			p.try(func() { io.Copy(&out, io.LimitReader(v.Reader(), int64(pdfStream-out.Len()))) }) // the bytes before an error are still of use
			out.WriteByte('\n')
		}
	}
	read(v)
	for i := 0; v.Kind() == pdf.Array && i < v.Len() && out.Len() < pdfStream; i++ {
		read(v.Index(i))
	}
	return out.Bytes()
}

// show interprets instructions, which refer to resources by name.
func (p *pdfReader) show(contents, resources pdf.Value, start pdfState) {
	s := start
	var saved []pdfState
	deeper := 0 // number of "q" beyond pdfSaved
	named := map[string]*pdfFont{}
	scanPDF(p.bytes(contents), func(op string, args []pdfOperand) {
		number := func(i int) float64 {
			if i < len(args) {
				return args[i].number
			}
			return 0
		}
		move := func(x, y float64) {
			s.line = pdfMatrix{1, 0, 0, 1, x, y}.times(s.line)
			s.text = s.line
		}
		matrix := pdfMatrix{number(0), number(1), number(2), number(3), number(4), number(5)}
		var last pdfOperand
		if len(args) > 0 {
			last = args[len(args)-1]
		}
		switch op {
		case "q":
			if len(saved) < pdfSaved {
				saved = append(saved, s)
			} else {
				deeper++
			}
		case "Q":
			if n := len(saved); deeper > 0 {
				deeper--
			} else if n > 0 {
				s, saved = saved[n-1], saved[:n-1]
			}
		case "cm":
			s.toPage = matrix.times(s.toPage)
		case "BT":
			s.text, s.line = identity, identity
		case "Tf":
			if len(args) == 2 {
				name := args[0].text
				if named[name] == nil {
					p.try(func() { named[name] = p.font(resources.Key("Font").Key(name)) })
				}
				s.font, s.size = named[name], number(1)
			}
		case "gs":
			p.try(func() {
				if font := resources.Key("ExtGState").Key(last.text).Key("Font"); font.Len() == 2 {
					s.font, s.size = p.font(font.Index(0)), font.Index(1).Float64()
				}
			})
		case "Tc":
			s.spacing = number(0)
		case "Tw":
			s.wordSpace = number(0)
		case "Tz":
			s.scale = number(0) / 100
		case "TL":
			s.leading = number(0)
		case "Ts":
			s.rise = number(0)
		case "Td":
			move(number(0), number(1))
		case "TD":
			s.leading = -number(1)
			move(number(0), number(1))
		case "Tm":
			s.line = matrix
			s.text = s.line
		case "T*":
			move(0, -s.leading)
		case "\"":
			s.wordSpace, s.spacing = number(0), number(1)
			move(0, -s.leading)
			p.text(&s, last.text)
		case "'":
			move(0, -s.leading)
			p.text(&s, last.text)
		case "Tj":
			p.text(&s, last.text)
		case "TJ":
			for _, x := range last.list {
				if x.kind == pdfString {
					p.text(&s, x.text)
				} else {
					s.advance(-x.number / 1000 * s.size)
				}
			}
		case "Do":
			p.try(func() { p.form(resources.Key("XObject").Key(last.text), resources, s) })
		}
	})
}

// form shows a form, unless forms are nested too deeply or too many.
func (p *pdfReader) form(form, resources pdf.Value, s pdfState) {
	if form.Kind() != pdf.Stream || form.Key("Subtype").Name() != "Form" || p.depth >= pdfDepth || p.forms >= pdfForms {
		return
	}
	if m := form.Key("Matrix"); m.Len() == 6 {
		var to pdfMatrix
		for i := range to {
			to[i] = m.Index(i).Float64()
		}
		s.toPage = to.times(s.toPage)
	}
	if own := form.Key("Resources"); own.Kind() == pdf.Dict {
		resources = own
	}
	p.forms++
	p.depth++
	defer func() { p.depth-- }()
	p.show(form, resources, s)
}

// advance moves the text position by x, in units of text space before scaling.
func (s *pdfState) advance(x float64) {
	s.text = pdfMatrix{1, 0, 0, 1, x * s.scale, 0}.times(s.text)
}

// text adds the glyphs of a shown string.
func (p *pdfReader) text(s *pdfState, raw string) {
	if s.font == nil {
		return
	}
	for len(raw) > 0 {
		n, text, width := s.font.next(raw)
		at := pdfMatrix{s.size * s.scale, 0, 0, s.size, 0, s.rise}.times(s.text).times(s.toPage)
		g := pdfGlyph{text: text, x: at[4], y: at[5], size: math.Hypot(at[2], at[3]), horizontal: math.Hypot(at[0], at[1])}
		g.width = width * g.horizontal
		p.glyphs = append(p.glyphs, g)
		by := width*s.size + s.spacing
		if n == 1 && raw[0] == ' ' {
			by += s.wordSpace
		}
		s.advance(by)
		raw = raw[n:]
	}
}

package retrieval

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf16"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/encoding/charmap"
)

// The text of a PDF's page: which characters its instructions show, and where (ISO 32000-1, section 9). The library reads
// objects; its own reading of pages asks a font's objects anew for every glyph, which stand packed in modern files, and
// knows the widths of simple fonts alone.

// pdfGlyph is what one code of a shown string stands for.
type pdfGlyph struct {
	text       string
	x, y       float64 // where it begins, in units of the page
	width      float64 // 0 where the font does not say
	size       float64 // of the font
	horizontal float64 // size, as wide as glyphs are set
}

// pdfMatrix is [a b 0; c d 0; e f 1].
type pdfMatrix [6]float64

var identity = pdfMatrix{1, 0, 0, 1, 0, 0}

// times is m·n: m comes first.
func (m pdfMatrix) times(n pdfMatrix) pdfMatrix {
	return pdfMatrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// pdfState is what "q" keeps, with the matrices of a text object, which it need not.
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

// pdfPage reads one page.
type pdfPage struct {
	fonts  map[string]*pdfFont // of the file, by what their dictionaries say
	glyphs []pdfGlyph
	depth  int // of forms within forms
	forms  int
}

const (
	pdfDepth  = 8
	pdfForms  = 1000
	pdfSaved  = 512
	pdfCodes  = 1 << 17 // of one font's table
	pdfSpaces = 64      // ranges of codes
)

// show interprets instructions that use those resources.
func (p *pdfPage) show(contents, resources pdf.Value, start pdfState) {
	s := start
	var saved []pdfState
	named := map[string]*pdfFont{}
	pdf.Interpret(contents, func(stack *pdf.Stack, op string) {
		args := make([]pdf.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		number := func(i int) float64 {
			if i < len(args) {
				return args[i].Float64()
			}
			return 0
		}
		matrix := func() (m pdfMatrix) {
			for i := range m {
				m[i] = number(i)
			}
			return m
		}
		move := func(x, y float64) {
			s.line = pdfMatrix{1, 0, 0, 1, x, y}.times(s.line)
			s.text = s.line
		}
		var shown pdf.Value
		if len(args) > 0 {
			shown = args[len(args)-1]
		}
		switch op {
		case "q":
			if len(saved) < pdfSaved {
				saved = append(saved, s)
			}
		case "Q":
			if n := len(saved); n > 0 {
				s, saved = saved[n-1], saved[:n-1]
			}
		case "cm":
			s.toPage = matrix().times(s.toPage)
		case "BT":
			s.text, s.line = identity, identity
		case "Tf":
			if len(args) == 2 {
				name := args[0].Name()
				if named[name] == nil {
					named[name] = p.font(resources.Key("Font").Key(name))
				}
				s.font, s.size = named[name], number(1)
			}
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
			s.line = matrix()
			s.text = s.line
		case "T*":
			move(0, -s.leading)
		case "\"":
			s.wordSpace, s.spacing = number(0), number(1)
			move(0, -s.leading)
			p.text(&s, shown.RawString())
		case "'":
			move(0, -s.leading)
			p.text(&s, shown.RawString())
		case "Tj":
			p.text(&s, shown.RawString())
		case "TJ":
			for i := range shown.Len() {
				switch x := shown.Index(i); x.Kind() {
				case pdf.String:
					p.text(&s, x.RawString())
				default:
					s.advance(-x.Float64() / 1000 * s.size)
				}
			}
		case "Do":
			if len(args) == 1 {
				p.form(resources.Key("XObject").Key(args[0].Name()), resources, s)
			}
		}
	})
}

// form shows a form, unless forms show each other without end.
func (p *pdfPage) form(form, resources pdf.Value, s pdfState) {
	if p.forms++; p.depth >= pdfDepth || p.forms > pdfForms || form.Kind() != pdf.Stream || form.Key("Subtype").Name() != "Form" {
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
	p.depth++
	defer func() { p.depth-- }()
	p.show(form, resources, s)
}

// advance moves on by x of the text's own units, before scaling.
func (s *pdfState) advance(x float64) {
	s.text = pdfMatrix{1, 0, 0, 1, x * s.scale, 0}.times(s.text)
}

// text adds the glyphs of a string.
func (p *pdfPage) text(s *pdfState, raw string) {
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

// pdfFont is a font as far as text needs it.
type pdfFont struct {
	composite bool              // its codes have two bytes, or as many as spaces say
	texts     map[uint64]string // by codeKey
	spaces    []codeSpace
	other     pdf.TextEncoding // of codes that texts does not have
	widths    map[int]float64  // of the font's size
	width     float64          // of all others
}

// codeSpace is codes from low to high, of equally many bytes.
type codeSpace struct{ low, high string }

// codeKey is a code and how many bytes it has.
func codeKey(code string) uint64 {
	key := uint64(len(code)) << 32
	for i := range len(code) {
		key |= uint64(code[i]) << (8 * (len(code) - 1 - i))
	}
	return key
}

// font returns the font of a dictionary, which it reads once.
func (p *pdfPage) font(v pdf.Value) *pdfFont {
	key := v.String() // references are in it, what they refer to is not
	if f := p.fonts[key]; f != nil {
		return f
	}
	f := &pdfFont{texts: map[uint64]string{}, widths: map[int]float64{}, composite: v.Key("Subtype").Name() == "Type0"}
	if f.composite {
		f.readWidths(v.Key("DescendantFonts").Index(0))
	} else {
		first, widths := int(v.Key("FirstChar").Int64()), v.Key("Widths")
		for i := range min(widths.Len(), 256) {
			f.widths[first+i] = widths.Index(i).Float64() / 1000
		}
		f.width = v.Key("FontDescriptor").Key("MissingWidth").Float64() / 1000
	}
	font := pdf.Font{V: v}
	f.other = font.Encoder()
	if !f.composite {
		mac := v.Key("Encoding").Key("BaseEncoding").Name() == "MacRomanEncoding"
		for c := range 256 {
			code := string([]byte{byte(c)})
			text := f.other.Decode(code)
			if c >= 0x80 && text == string(rune(c)) { // a byte that the library leaves as it is
				if text = string(charmap.Windows1252.DecodeByte(byte(c))); mac {
					text = string(charmap.Macintosh.DecodeByte(byte(c)))
				}
			}
			f.texts[codeKey(code)] = ligatures.Replace(text)
		}
	}
	if v.Key("ToUnicode").Kind() == pdf.Stream {
		f.readTexts(v)
	}
	p.fonts[key] = f
	return f
}

// readWidths reads the widths of a composite font: W is [first [w w …]] or [first last w], again and again.
func (f *pdfFont) readWidths(v pdf.Value) {
	f.width = 1
	if w := v.Key("DW"); w.Kind() == pdf.Integer || w.Kind() == pdf.Real {
		f.width = w.Float64() / 1000
	}
	w := v.Key("W")
	for i := 0; i+1 < w.Len(); {
		first, next := int(w.Index(i).Int64()), w.Index(i+1)
		if next.Kind() == pdf.Array {
			for j := range next.Len() {
				f.setWidth(first+j, next.Index(j).Float64())
			}
			i += 2
			continue
		}
		last := min(int(next.Int64()), math.MaxUint16)
		for c := max(first, 0); c <= last; c++ {
			f.setWidth(c, w.Index(i+2).Float64())
		}
		i += 3
	}
}

func (f *pdfFont) setWidth(code int, thousandths float64) {
	if len(f.widths) < pdfCodes {
		f.widths[code] = thousandths / 1000
	}
}

// readTexts reads a font's ToUnicode table.
func (f *pdfFont) readTexts(font pdf.Value) {
	pdf.Interpret(font.Key("ToUnicode"), func(stack *pdf.Stack, op string) {
		var args []pdf.Value
		for stack.Len() > 0 {
			args = append(args, stack.Pop())
		}
		last := len(args) - 1 // the first of them
		switch op {
		case "findresource":
			stack.Push(font) // any dictionary will do: definitions go there
		case "endcodespacerange":
			for i := last; i >= 1 && len(f.spaces) < pdfSpaces; i -= 2 {
				if low, high := args[i].RawString(), args[i-1].RawString(); len(low) == len(high) && len(low) >= 1 && len(low) <= 4 {
					f.spaces = append(f.spaces, codeSpace{low, high})
				}
			}
		case "endbfchar":
			for i := last; i >= 1; i -= 2 {
				f.setText(args[i].RawString(), args[i-1].RawString(), 0)
			}
		case "endbfrange":
			for i := last; i >= 2; i -= 3 {
				f.setTexts(args[i].RawString(), args[i-1].RawString(), args[i-2])
			}
		}
	})
}

// setTexts sets the texts of the codes from low to high: one after the other from to on, or those that to lists.
func (f *pdfFont) setTexts(low, high string, to pdf.Value) {
	if len(low) != len(high) || len(low) == 0 || len(low) > 4 {
		return
	}
	var code [8]byte
	first, last := codeKey(low)&math.MaxUint32, codeKey(high)&math.MaxUint32
	for c := first; c <= min(last, first+math.MaxUint16); c++ {
		binary.BigEndian.PutUint64(code[:], c)
		from := string(code[8-len(low):])
		if to.Kind() == pdf.Array {
			f.setText(from, to.Index(int(c-first)).RawString(), 0)
		} else {
			f.setText(from, to.RawString(), uint16(c-first))
		}
	}
}

// setText sets the text of a code: UTF-16, of which the last unit is so much higher.
func (f *pdfFont) setText(code, text string, add uint16) {
	if len(f.texts) >= pdfCodes || len(text) < 2 || len(text) > 64 || len(code) == 0 || len(code) > 4 {
		return
	}
	units := make([]uint16, len(text)/2)
	for i := range units {
		units[i] = uint16(text[2*i])<<8 | uint16(text[2*i+1])
	}
	units[len(units)-1] += add
	f.texts[codeKey(code)] = ligatures.Replace(string(utf16.Decode(units)))
}

// ligatures are letters that a question has one by one.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// next returns the number of bytes of the first code in raw, what it stands for, and how wide that is.
func (f *pdfFont) next(raw string) (n int, text string, width float64) {
	n = f.length(raw)
	code := raw[:n]
	text, ok := f.texts[codeKey(code)]
	if !ok && f.composite {
		text = f.other.Decode(code)
	}
	width, ok = f.widths[int(codeKey(code)&math.MaxUint32)]
	if !ok {
		width = f.width
	}
	return n, text, width
}

func (f *pdfFont) length(raw string) int {
	if !f.composite {
		return 1
	}
	for _, s := range f.spaces {
		if n := len(s.low); n <= len(raw) && s.low <= raw[:n] && raw[:n] <= s.high {
			return n
		}
	}
	return min(2, len(raw))
}

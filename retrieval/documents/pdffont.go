package documents

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/encoding/charmap"
)

// pdfFont maps the codes of a font to text and to widths, which are fractions of the font's size.
type pdfFont struct {
	// Simple fonts have codes of one byte.
	simple *[256]string
	widths *[256]float64
	// Composite fonts have codes of two bytes, or of the lengths that spaces give.
	texts    map[uint64]string // by codeKey
	spaces   []codeSpace
	cids     map[int]float64 // widths, by code
	cidWidth float64         // width of all other codes
	utf16    bool            // codes are UTF-16
}

// codeSpace is a range of codes of the same length.
type codeSpace struct{ low, high string }

const (
	pdfCodes  = 1 << 17 // entries in a font's table
	pdfSpaces = 64      // code spaces of a font
)

// codeKey combines a code and its length.
func codeKey(code string) uint64 {
	key := uint64(len(code)) << 32
	for i := range len(code) {
		key |= uint64(code[i]) << (8 * (len(code) - 1 - i))
	}
	return key
}

// font returns the font that a dictionary describes. It caches fonts until their tables grow too large together.
func (p *pdfReader) font(v pdf.Value) *pdfFont {
	key := v.String() // holds references, not the objects that they refer to
	if f := p.fonts[key]; f != nil {
		return f
	}
	f := &pdfFont{}
	if v.Key("Subtype").Name() == "Type0" {
		p.try(func() { p.composite(f, v) })
	} else {
		f.simple, f.widths = new([256]string), new([256]float64)
		p.try(func() { f.setSimple(v) })
		p.try(func() { f.setWidths(v) })
	}
	p.try(func() { f.readTable(p.bytes(v.Key("ToUnicode")), true) })
	if p.entries += 256 + len(f.texts) + len(f.cids); p.entries > pdfEntries {
		clear(p.fonts)
		p.entries = 0
	}
	p.fonts[key] = f
	return f
}

// setSimple sets the texts of a simple font's codes by its encoding and the differences from it.
func (f *pdfFont) setSimple(v pdf.Value) {
	encoding := v.Key("Encoding")
	base := charmap.Windows1252 // close enough to the other encodings
	if encoding.Name() == "MacRomanEncoding" || encoding.Key("BaseEncoding").Name() == "MacRomanEncoding" {
		base = charmap.Macintosh
	}
	for c := range f.simple {
		f.simple[c] = string(base.DecodeByte(byte(c)))
	}
	if encoding.Kind() != pdf.Dict {
		return
	}
	differences, font, code := encoding.Key("Differences"), pdf.Font{V: v}, 0
	names := font.Encoder()
	for i := range min(differences.Len(), 1024) {
		x := differences.Index(i)
		if x.Kind() == pdf.Integer {
			code = int(x.Int64())
			continue
		}
		if code >= 0 && code < 256 {
			f.simple[code] = ligatures.Replace(glyphText(x.Name(), names, byte(code)))
		}
		code++
	}
}

// glyphText returns the text of a glyph's name. The name may hold the character's number; the library knows the others.
func glyphText(name string, names pdf.TextEncoding, code byte) string {
	for _, prefix := range []string{"uni", "u"} {
		if digits, ok := strings.CutPrefix(name, prefix); ok && len(digits) >= 4 {
			if n, err := strconv.ParseUint(digits[:min(len(digits), 7-len(prefix))], 16, 32); err == nil {
				return string(rune(n))
			}
		}
	}
	return names.Decode(string([]byte{code}))
}

// setWidths sets the widths of a simple font. A file may leave out those of the standard fonts.
func (f *pdfFont) setWidths(v pdf.Value) {
	unit := 1. / 1000
	if m := v.Key("FontMatrix"); v.Key("Subtype").Name() == "Type3" && m.Len() == 6 {
		unit = math.Abs(m.Index(0).Float64())
	}
	widths := v.Key("Widths")
	if widths.Len() == 0 {
		f.setStandardWidths(v.Key("BaseFont").Name())
		return
	}
	missing := v.Key("FontDescriptor").Key("MissingWidth").Float64() * unit
	for c := range f.widths {
		f.widths[c] = missing
	}
	first := int(v.Key("FirstChar").Int64())
	for i := range min(widths.Len(), 256) {
		if c := first + i; c >= 0 && c < 256 {
			f.widths[c] = widths.Index(i).Float64() * unit
		}
	}
}

// Widths of the characters from space to tilde, in thousandths of the size, from Adobe's metrics of the standard fonts.
var (
	helvetica = [95]uint16{
		278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
		1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
		333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
	}
	times = [95]uint16{
		250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444,
		921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469, 500,
		333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541,
	}
)

func (f *pdfFont) setStandardWidths(name string) {
	table := &helvetica
	if strings.HasPrefix(name, "Times") {
		table = &times
	}
	for c := range f.widths {
		switch i := c - ' '; {
		case strings.HasPrefix(name, "Courier"):
			f.widths[c] = .6
		case i >= 0 && i < len(table):
			f.widths[c] = float64(table[i]) / 1000
		default:
			f.widths[c] = .5
		}
	}
}

// composite sets the code spaces and widths of a composite font. The texts come from its ToUnicode table.
func (p *pdfReader) composite(f *pdfFont, v pdf.Value) {
	f.texts, f.cids = map[uint64]string{}, map[int]float64{}
	encoding := v.Key("Encoding")
	f.utf16 = strings.Contains(encoding.Name(), "UCS2") || strings.Contains(encoding.Name(), "UTF16")
	if encoding.Kind() == pdf.Stream {
		f.readTable(p.bytes(encoding), false)
	}
	f.readWidths(v.Key("DescendantFonts").Index(0))
}

// readWidths reads the widths of a composite font. W is a sequence of "first [w w …]" and "first last w".
func (f *pdfFont) readWidths(v pdf.Value) {
	f.cidWidth = 1
	if w := v.Key("DW"); w.Kind() == pdf.Integer || w.Kind() == pdf.Real {
		f.cidWidth = w.Float64() / 1000
	}
	set := func(code int, width float64) {
		if len(f.cids) < pdfCodes {
			f.cids[code] = width / 1000
		}
	}
	w := v.Key("W")
	for i := 0; i+1 < w.Len(); {
		first, next := int(w.Index(i).Int64()), w.Index(i+1)
		if next.Kind() == pdf.Array {
			for j := range next.Len() {
				set(first+j, next.Index(j).Float64())
			}
			i += 2
			continue
		}
		width := w.Index(i + 2).Float64()
		for c := max(first, 0); c <= min(int(next.Int64()), math.MaxUint16); c++ {
			set(c, width)
		}
		i += 3
	}
}

// readTable reads a CMap: the texts of codes, or else the code spaces.
func (f *pdfFont) readTable(data []byte, texts bool) {
	scanPDF(data, func(op string, args []pdfOperand) {
		switch {
		case op == "endcodespacerange" && !texts:
			for ; len(args) >= 2 && len(f.spaces) < pdfSpaces; args = args[2:] {
				if low, high := args[0].text, args[1].text; len(low) == len(high) && len(low) >= 1 && len(low) <= 4 {
					f.spaces = append(f.spaces, codeSpace{low, high})
				}
			}
		case op == "endbfchar" && texts:
			for ; len(args) >= 2; args = args[2:] {
				f.setText(args[0].text, args[1].text, 0)
			}
		case op == "endbfrange" && texts:
			for ; len(args) >= 3; args = args[3:] {
				f.setTexts(args[0].text, args[1].text, args[2])
			}
		}
	})
}

// setTexts sets the texts of the codes from low to high: consecutive characters that start at to, or the list in to.
func (f *pdfFont) setTexts(low, high string, to pdfOperand) {
	if len(low) != len(high) || len(low) == 0 || len(low) > 4 {
		return
	}
	var code [8]byte
	first, last := codeKey(low)&math.MaxUint32, codeKey(high)&math.MaxUint32
	for c := first; c <= min(last, first+math.MaxUint16); c++ {
		binary.BigEndian.PutUint64(code[:], c)
		from := string(code[8-len(low):])
		if i := int(c - first); to.kind != pdfArray {
			f.setText(from, to.text, uint16(i))
		} else if i < len(to.list) {
			f.setText(from, to.list[i].text, 0)
		}
	}
}

// setText sets the text of a code. text is UTF-16, and add is added to its last unit.
func (f *pdfFont) setText(code, text string, add uint16) {
	if len(text) == 1 {
		text = "\x00" + text
	}
	if len(text) < 2 || len(text) > 64 || len(code) == 0 || len(code) > 4 {
		return
	}
	units := make([]uint16, len(text)/2)
	for i := range units {
		units[i] = uint16(text[2*i])<<8 | uint16(text[2*i+1])
	}
	units[len(units)-1] += add
	text = ligatures.Replace(string(utf16.Decode(units)))
	switch {
	case f.simple != nil && codeKey(code)&math.MaxUint32 < 256:
		f.simple[code[len(code)-1]] = text
	case f.simple == nil && len(f.texts) < pdfCodes:
		f.texts[codeKey(code)] = text
	}
}

// ligatures replaces ligatures by letters, as questions are written.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// next returns the length of the first code in raw, its text and its width.
func (f *pdfFont) next(raw string) (n int, text string, width float64) {
	if f.simple != nil {
		return 1, f.simple[raw[0]], f.widths[raw[0]]
	}
	n = f.length(raw)
	key := codeKey(raw[:n])
	text, ok := f.texts[key]
	if !ok && f.utf16 && n == 2 {
		text = string(rune(key & math.MaxUint16))
	}
	if width, ok = f.cids[int(key&math.MaxUint32)]; !ok {
		width = f.cidWidth
	}
	return n, text, width
}

// length returns the length of the first code in raw.
func (f *pdfFont) length(raw string) int {
	for _, s := range f.spaces {
		if n := len(s.low); n <= len(raw) && s.low <= raw[:n] && raw[:n] <= s.high {
			return n
		}
	}
	return min(2, len(raw))
}

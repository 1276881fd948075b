package documents

import (
	"bytes"
	"strconv"
)

// pdfOperand is an operand in a content stream (ISO 32000-1, 7.8.2) or in a CMap.
type pdfOperand struct {
	kind   pdfKind
	number float64
	text   string       // of a string or a name
	list   []pdfOperand // of an array
}

type pdfKind uint8

const (
	pdfOther pdfKind = iota // dictionaries, true, null
	pdfNumber
	pdfString
	pdfName
	pdfArray
)

const (
	pdfNesting  = 32      // depth of arrays and dictionaries; deeper ones are merged
	pdfOperands = 1 << 16 // of one operator; only the last ones are kept
)

// pdfScanner reads operators and their operands. It has no errors: it reads damaged operands as something else.
type pdfScanner struct {
	in   []byte
	args []pdfOperand
	open []pdfOperand // arrays and dictionaries not closed yet
}

// scanPDF calls do for each operator with its operands. do may keep the slice.
func scanPDF(data []byte, do func(op string, args []pdfOperand)) {
	s := pdfScanner{in: data}
	for {
		s.in = bytes.TrimLeft(s.in, "\x00\t\n\f\r ")
		if len(s.in) == 0 {
			return
		}
		c := s.in[0]
		switch {
		case c == '%':
			s.skipTo(bytes.IndexAny(s.in, "\r\n"))
		case c == '(':
			s.add(pdfOperand{kind: pdfString, text: s.literal()})
		case c == '<' && len(s.in) > 1 && s.in[1] == '<':
			s.in = s.in[2:]
			s.begin(pdfOther)
		case c == '<':
			s.add(pdfOperand{kind: pdfString, text: s.hexadecimal()})
		case c == '[':
			s.in = s.in[1:]
			s.begin(pdfArray)
		case c == ']':
			s.in = s.in[1:]
			s.end()
		case c == '>':
			s.in = s.in[min(2, len(s.in)):]
			s.end()
		case c == '/':
			s.in = s.in[1:]
			s.add(pdfOperand{kind: pdfName, text: unescapeName(s.word())})
		case isPDFDelimiter(c):
			s.in = s.in[1:]
		default:
			s.operator(s.word(), do)
		}
	}
}

func (s *pdfScanner) skipTo(i int) {
	if i < 0 {
		i = len(s.in)
	}
	s.in = s.in[i:]
}

func (s *pdfScanner) begin(kind pdfKind) {
	if len(s.open) < pdfNesting {
		s.open = append(s.open, pdfOperand{kind: kind})
	}
}

func (s *pdfScanner) end() {
	if n := len(s.open); n > 0 {
		done := s.open[n-1]
		s.open = s.open[:n-1]
		s.add(done)
	}
}

func (s *pdfScanner) add(v pdfOperand) {
	if n := len(s.open); n > 0 {
		if s.open[n-1].kind == pdfArray {
			s.open[n-1].list = append(s.open[n-1].list, v)
		}
		return
	}
	if len(s.args) >= pdfOperands {
		s.args = nil
	}
	s.args = append(s.args, v)
}

// operator handles a word, which may be a number.
func (s *pdfScanner) operator(word string, do func(string, []pdfOperand)) {
	if c := word[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		number, _ := strconv.ParseFloat(word, 64) // 0 if malformed
		s.add(pdfOperand{kind: pdfNumber, number: number})
		return
	}
	switch {
	case word == "true", word == "false", word == "null", len(s.open) > 0:
		s.add(pdfOperand{})
		return
	case word == "ID":
		s.image()
	}
	args := s.args
	s.args = nil
	do(word, args)
}

// image skips the bytes of an inline image.
func (s *pdfScanner) image() {
	for at := 0; ; {
		i := bytes.Index(s.in[at:], []byte("EI"))
		if i < 0 {
			s.in = nil
			return
		}
		at += i + 2
		if before := at - 3; (before < 0 || isPDFSpace(s.in[before])) && (at == len(s.in) || isPDFSpace(s.in[at])) {
			s.in = s.in[at:]
			return
		}
	}
}

// word takes the bytes before the next delimiter or space.
func (s *pdfScanner) word() string {
	n := 0
	for n < len(s.in) && !isPDFSpace(s.in[n]) && !isPDFDelimiter(s.in[n]) {
		n++
	}
	w := string(s.in[:n])
	s.in = s.in[n:]
	return w
}

// literal reads a string in parentheses.
func (s *pdfScanner) literal() string {
	var out []byte
	depth, i := 0, 0
	for ; i < len(s.in); i++ {
		c := s.in[i]
		switch {
		case c == '(':
			if depth++; depth == 1 {
				continue
			}
		case c == ')':
			if depth--; depth == 0 {
				s.in = s.in[i+1:]
				return string(out)
			}
		case c == '\\' && i+1 < len(s.in):
			i++
			switch c = s.in[i]; {
			case c >= '0' && c <= '7':
				n := 0
				for ; n < 3 && i+n < len(s.in) && s.in[i+n] >= '0' && s.in[i+n] <= '7'; n++ {
				}
				code, _ := strconv.ParseUint(string(s.in[i:i+n]), 8, 16)
				out = append(out, byte(code))
				i += n - 1
				continue
			case c == '\r' && i+1 < len(s.in) && s.in[i+1] == '\n':
				i++
				continue
			case c == '\r' || c == '\n':
				continue
			}
			if j := bytes.IndexByte([]byte("nrtbf"), c); j >= 0 {
				c = "\n\r\t\b\f"[j]
			}
		}
		out = append(out, c)
	}
	s.in = nil
	return string(out)
}

// hexadecimal reads a string in angle brackets.
func (s *pdfScanner) hexadecimal() string {
	var out []byte
	digits := 0
	i := 1
	for ; i < len(s.in) && s.in[i] != '>'; i++ {
		d, ok := hexDigit(s.in[i])
		if !ok {
			continue
		}
		if digits++; digits%2 == 1 {
			out = append(out, d<<4)
		} else {
			out[len(out)-1] |= d
		}
	}
	s.in = s.in[min(i+1, len(s.in)):]
	return string(out)
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// unescapeName decodes escapes such as #41 for A.
func unescapeName(name string) string {
	out := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		if name[i] == '#' && i+2 < len(name) {
			high, ok := hexDigit(name[i+1])
			low, too := hexDigit(name[i+2])
			if ok && too {
				out = append(out, high<<4|low)
				i += 2
				continue
			}
		}
		out = append(out, name[i])
	}
	return string(out)
}

func isPDFSpace(c byte) bool { return bytes.IndexByte([]byte("\x00\t\n\f\r "), c) >= 0 }

func isPDFDelimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

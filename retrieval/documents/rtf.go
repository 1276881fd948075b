package documents

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/textline"
)

// parseRTF reads Rich Text: its paragraphs, with the cells of tables divided by tabs, as plain text. It leaves out what is
// hidden or deleted, pictures, notes, the heads and feet of pages, and the names of fonts and styles. What is struck out stands between ~~, as in Markdown.
func parseRTF(ctx context.Context, data []byte) (Document, error) {
	data = bytes.TrimLeft(withoutMark(data), " \t\r\n")
	if !bytes.HasPrefix(data, []byte(`{\rtf`)) {
		return Document{}, errors.New("not Rich Text, despite its name")
	}
	r := rtf{data: data, page: charmap.Windows1252, begun: -1}
	for r.next() {
		if ctx.Err() != nil {
			return Document{}, ctx.Err()
		}
	}
	r.change(false, false)
	r.flush()
	if r.out.Len() > blocks.MaxText {
		return Document{}, blocks.ErrMuchText
	}
	text := r.out.String()
	if err := countLines(text); err != nil {
		return Document{}, err
	}
	lines := newTextReader(splitLines(text), true)
	lines.whole = lines.width == 0 // unless a program wrapped the text before it became Rich Text
	return lines.document(ctx), nil
}

// rtf reads Rich Text: groups in braces, control words that begin with a backslash, and text.
type rtf struct {
	data []byte
	page encoding.Encoding // of the characters that are bytes, unless the font has its own
	out  bytes.Buffer
	mark strings.Builder // before an item of a list

	begun int // where the open cell of a table begins in out; -1 outside tables

	fonts    map[int]encoding.Encoding // of those that have their own, by number
	font     int                       // whose entry in the table of fonts was read last
	standard int                       // the font of plain text

	group  rtfGroup
	groups []rtfGroup // those around it

	bytes  []byte            // characters that are bytes, not yet decoded
	coded  encoding.Encoding // of these
	units  []uint16          // characters in UTF-16, not yet decoded either
	struck bool              // the text ends within what is struck out,
	raised bool              // or in small characters above the line
	skip   int               // what follows stands for a character in UTF-16
	fresh  bool              // a group has just begun
}

// rtfGroup is what holds until a group ends.
type rtfGroup struct {
	leftOut   bool // not part of the document
	concealed bool // by the form of its characters, which may end within the group
	struck    bool // by the form of its characters, too,
	raised    bool // and above the line
	listed    bool // the mark before an item of a list
	table     bool // of fonts
	font      int  // by number
	instead   int  // how many bytes follow a character in UTF-16, for programs that do not know it
}

// hidden reports whether the group's text is not shown.
func (g rtfGroup) hidden() bool { return g.leftOut || g.concealed }

// maxRTFGroups bounds how deep groups nest.
const maxRTFGroups = 1 << 10

// next reads the next piece. It returns false at the end.
func (r *rtf) next() bool {
	if len(r.data) == 0 {
		return false
	}
	c := r.data[0]
	r.data = r.data[1:]
	fresh := r.fresh
	r.fresh = false
	switch c {
	case '{':
		if len(r.groups) == maxRTFGroups {
			return false
		}
		r.groups = append(r.groups, r.group)
		r.skip, r.fresh = 0, true
	case '}':
		n := len(r.groups)
		if n < 2 {
			return false
		}
		if r.group.listed && !r.groups[n-1].listed {
			r.endMark()
		}
		r.group, r.groups, r.skip = r.groups[n-1], r.groups[:n-1], 0
	case '\\':
		r.control(fresh)
	case '\r', '\n':
	default:
		r.char(c)
	}
	return true
}

// char adds a character that is a byte.
func (r *rtf) char(c byte) {
	switch {
	case r.skip > 0:
		r.skip--
	case !r.group.hidden():
		r.change(r.group.struck, r.group.raised)
		r.flushUnits()
		page := r.page
		if own := r.fonts[r.group.font]; own != nil {
			page = own
		}
		if page != r.coded {
			r.flushBytes()
			r.coded = page
		}
		r.bytes = append(r.bytes, c)
	}
}

// control reads what follows a backslash. fresh says that it is the first in its group.
func (r *rtf) control(fresh bool) {
	n := 0
	for n < len(r.data) && (r.data[n]|0x20 >= 'a' && r.data[n]|0x20 <= 'z') {
		n++
	}
	if n == 0 {
		r.sign()
		return
	}
	word := string(r.data[:n])
	r.data = r.data[n:]
	n = 0
	for n < len(r.data) && n < 10 && (r.data[n] >= '0' && r.data[n] <= '9' || n == 0 && r.data[n] == '-') {
		n++
	}
	number, err := strconv.Atoi(string(r.data[:n]))
	if r.data = r.data[n:]; len(r.data) > 0 && r.data[0] == ' ' {
		r.data = r.data[1:]
	}
	r.word(word, number, err == nil, fresh)
}

// sign reads a control that is one sign.
func (r *rtf) sign() {
	if len(r.data) == 0 {
		return
	}
	c := r.data[0]
	r.data = r.data[1:]
	switch c {
	case '\'':
		if len(r.data) < 2 {
			return
		}
		code, err := strconv.ParseUint(string(r.data[:2]), 16, 8)
		if r.data = r.data[2:]; err == nil {
			r.char(byte(code))
		}
	case '*': // a group for programs that know it
		r.group.leftOut = true
	case '~':
		r.char(' ')
	case '_':
		r.char('-')
	case '\r', '\n':
		r.text("\n")
	case '\\', '{', '}':
		r.char(c)
	}
}

// rtfLeftOut are the groups whose text is not part of the document.
var rtfLeftOut = map[string]bool{"fonttbl": true, "colortbl": true, "stylesheet": true, "info": true, "pict": true, "object": true, "listtable": true,
	"listoverridetable": true, "rsidtbl": true, "fldinst": true, "footnote": true, "annotation": true, "generator": true, "themedata": true, "xmlnstbl": true, "filetbl": true, "revtbl": true, "bkmkstart": true, "bkmkend": true,
	"header": true, "headerl": true, "headerr": true, "headerf": true, "footer": true, "footerl": true, "footerr": true, "footerf": true}

// rtfTexts are the control words that stand for text.
var rtfTexts = map[string]string{"par": "\n", "line": "\n", "sect": "\n\n", "page": "\n\n", "tab": "\t", "cell": "\t", "row": "\n", "nestcell": " ", "nestrow": " ", "emdash": "—", "endash": "–",
	"bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " "}

// word carries out a control word.
func (r *rtf) word(word string, number int, numbered, fresh bool) {
	switch {
	case fresh && rtfLeftOut[word]:
		r.group.leftOut, r.group.table = true, word == "fonttbl"
	case fresh && (word == "listtext" || word == "pntext"):
		r.flush()
		r.group.listed, r.group.struck = true, false
	case r.group.table && word == "f":
		r.font = number
	case r.group.table && word == "fcharset":
		r.addFont(number)
	case word == "f":
		r.group.font = number
	case word == "deff":
		r.standard, r.group.font = number, number
	case word == "v" || word == "deleted":
		r.group.concealed = !numbered || number != 0
	case word == "strike" || word == "striked":
		r.group.struck = !r.group.listed && (!numbered || number != 0)
	case word == "super" || word == "sub" || word == "nosupersub":
		r.group.raised = word == "super" && (!numbered || number != 0)
	case word == "plain":
		r.group.concealed, r.group.struck, r.group.raised, r.group.font = false, false, false, r.standard
	case word == "uc" && numbered:
		r.group.instead = max(0, min(number, 64)) + 1 // 0 stands for one
	case word == "u" && numbered:
		r.unit(uint16(number))
	case word == "ansicpg" && numbered:
		if page := codePage(number); page != nil {
			r.page = page
		}
	case word == "mac":
		r.page = charmap.Macintosh
	case word == "trowd" || word == "row" || word == "cell":
		r.tableWord(word)
	case word == "bin":
		r.data = r.data[max(0, min(number, len(r.data))):]
	default:
		r.text(rtfTexts[word])
	}
}

// tableWord begins a row, or ends a cell or a row. The paragraphs of a cell stand in one line.
func (r *rtf) tableWord(word string) {
	r.flush()
	if word == "cell" && r.begun >= 0 {
		for i, c := range r.out.Bytes()[r.begun:] {
			if c == '\n' {
				r.out.Bytes()[r.begun+i] = ' '
			}
		}
	}
	r.text(rtfTexts[word])
	r.begun = r.out.Len()
	if word == "row" {
		r.begun = -1
	}
}

// rtfCharsets are the code pages of the character sets of fonts. A font with the set 0 has the document's: programs that write
// Cyrillic say so once.
var rtfCharsets = map[int]int{77: 10000, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257,
	204: 1251, 222: 874, 238: 1250}

// maxRTFFonts is how many fonts may have an encoding of their own.
const maxRTFFonts = 1 << 12

// addFont notes the character set of a font.
func (r *rtf) addFont(set int) {
	page := codePage(rtfCharsets[set])
	if page == nil || len(r.fonts) == maxRTFFonts {
		return
	}
	if r.fonts == nil {
		r.fonts = map[int]encoding.Encoding{}
	}
	r.fonts[r.font] = page
}

// codePage returns the encoding of a code page of Windows, nil if it is unknown.
func codePage(number int) encoding.Encoding {
	switch number {
	case 932:
		return japanese.ShiftJIS
	case 936:
		return simplifiedchinese.GBK
	case 949:
		return korean.EUCKR
	case 950:
		return traditionalchinese.Big5
	case 10000:
		return charmap.Macintosh
	}
	page, _ := charset.Lookup("windows-" + strconv.Itoa(number))
	return page
}

// unit adds a character in UTF-16.
func (r *rtf) unit(c uint16) {
	if r.skip = 1; r.group.instead > 0 {
		r.skip = r.group.instead - 1
	}
	if !r.group.hidden() {
		r.change(r.group.struck, r.group.raised)
		r.flushBytes()
		r.units = append(r.units, c)
	}
}

// text adds text.
func (r *rtf) text(s string) {
	if s != "" && !r.group.hidden() {
		r.change(r.group.struck && !strings.ContainsAny(s, "\n\t"), false)
		r.flush()
		r.write(s)
	}
}

// change begins or ends what is struck out or raised.
func (r *rtf) change(struck, raised bool) {
	if struck != r.struck || raised != r.raised {
		r.flush()
	}
	if struck != r.struck {
		r.write("~~")
	}
	r.struck, r.raised = struck, raised
}

// writeDecoded adds characters in the form that they have.
func (r *rtf) writeDecoded(s string) {
	if r.raised {
		s = textline.Raised(s)
	}
	r.write(s)
}

// endMark adds the mark before an item of a list, with a blank behind it. A single sign is a bullet, whatever its font makes of it.
func (r *rtf) endMark() {
	r.flush()
	mark := strings.TrimSpace(r.mark.String())
	r.mark.Reset()
	switch {
	case mark == "":
		return
	case utf8.RuneCountInString(mark) == 1 && (mark < "0" || mark > "9"):
		mark = "•"
	}
	r.out.WriteString(mark + " ")
}

// write adds text to the mark before an item of a list or, outside such a mark, to the document.
func (r *rtf) write(s string) {
	if r.group.listed {
		r.mark.WriteString(s)
		return
	}
	r.out.WriteString(s)
}

func (r *rtf) flush() {
	r.flushBytes()
	r.flushUnits()
}

// flushBytes decodes the characters that are bytes.
func (r *rtf) flushBytes() {
	if len(r.bytes) == 0 {
		return
	}
	out, err := r.coded.NewDecoder().Bytes(r.bytes)
	if err != nil {
		out = bytes.ToValidUTF8(r.bytes, []byte(string(utf8.RuneError)))
	}
	r.writeDecoded(string(out))
	r.bytes = r.bytes[:0]
}

// flushUnits decodes the characters in UTF-16.
func (r *rtf) flushUnits() {
	if len(r.units) > 0 {
		r.writeDecoded(string(utf16.Decode(r.units)))
		r.units = r.units[:0]
	}
}

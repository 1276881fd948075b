package office

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/net/html/charset"
)

// Bounds of reading an archive of XML files. They hold after decompression: a few kilobytes can stand for gigabytes.
const (
	archiveEntries = 10000
	entryLimit     = 32 << 20 // bytes of an entry
	totalLimit     = 96 << 20 // bytes of all entries that are read
	maxPage        = 8 << 20  // bytes of a book's chapter
	xmlDepth       = 256      // elements within each other
	xmlAttributes  = 1 << 16  // of an element, each of which takes a hundred bytes of memory, however short it is
)

var (
	errLarge = fmt.Errorf("it unpacks to more than %d MB (split it into parts, or save it as PDF)", totalLimit>>20)
	errDeep  = fmt.Errorf("damaged: its XML nests more than %d levels deep", xmlDepth)
	errMany  = fmt.Errorf("damaged: its XML has an element with more than %d attributes", xmlAttributes)
)

// archive is a zip file whose entries are read within bounds.
type archive struct {
	ctx   context.Context
	files map[string]*zip.File
	left  int64 // bytes that may still be unpacked
}

// compound is how files of Microsoft's old formats begin, and encrypted ones of the new formats.
var compound = []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")

// openArchive opens a file of a format that is a zip archive. The format's name, with its article, is for errors.
func openArchive(ctx context.Context, data []byte, format string) (*archive, error) {
	_, kind, _ := strings.Cut(format, " ") // without the article
	switch {
	case bytes.HasPrefix(data, compound) && bytes.Contains(data, utf16Of("EncryptedPackage")):
		return nil, fmt.Errorf("encrypted %s (open it and save it without a password)", kind)
	case bytes.HasPrefix(data, compound):
		return nil, fmt.Errorf("not %s but Microsoft's old format (open it and save it as .docx or PDF)", format)
	case len(data) == 0:
		return nil, fmt.Errorf("empty file, not %s", format)
	case !bytes.HasPrefix(data, []byte("PK")):
		return nil, fmt.Errorf("not %s, despite its name", format)
	case bytes.Count(data, []byte("PK\x01\x02")) > archiveEntries: // what an archive's list of entries begins each with
		return nil, fmt.Errorf("damaged %s (more than %d entries)", kind, archiveEntries)
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("damaged %s (%v): open it in the program that wrote it, and save it again", kind, err)
	}
	a := &archive{ctx, map[string]*zip.File{}, totalLimit}
	for _, f := range r.File {
		if name := path.Clean(strings.ReplaceAll(f.Name, "\\", "/")); a.files[name] == nil {
			a.files[name] = f
		}
	}
	return a, nil
}

func utf16Of(s string) []byte {
	out := make([]byte, 0, 2*len(s))
	for i := range len(s) {
		out = append(out, s[i], 0)
	}
	return out
}

// has reports whether there is an entry of that name.
func (a *archive) has(name string) bool { return a.files[name] != nil }

// open returns a reader of an entry.
func (a *archive) open(name string) (io.ReadCloser, error) {
	f := a.files[name]
	if f == nil {
		return nil, fmt.Errorf("damaged (%q is missing in it)", name)
	}
	if f.Flags&1 != 0 {
		return nil, errors.New("encrypted (unpack it with its password first)")
	}
	r, err := f.Open()
	if err != nil {
		return nil, damaged(name, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{&entry{a, name, r, entryLimit}, r}, nil
}

// entry reads an archive's entry within the bounds.
type entry struct {
	archive *archive
	name    string
	r       io.Reader
	left    int64
}

func (e *entry) Read(p []byte) (int, error) {
	if err := e.archive.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := e.r.Read(p)
	e.left, e.archive.left = e.left-int64(n), e.archive.left-int64(n)
	switch {
	case e.left < 0 || e.archive.left < 0:
		return 0, errLarge
	case err != nil && err != io.EOF:
		return n, damaged(e.name, err)
	}
	return n, err
}

func damaged(name string, err error) error {
	return fmt.Errorf("damaged (%q: %w): open it in the program that wrote it, and save it again", name, err)
}

// read returns an entry's bytes.
func (a *archive) read(name string) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// xmlHandler receives the elements of an XML file. Names are without prefixes.
type xmlHandler interface {
	start(name string, attrs attributes)
	text(s string)
	end(name string)
}

// attributes are those of an element, by name without prefix.
type attributes []xml.Attr

func (a attributes) get(name string) string {
	for _, at := range a {
		if at.Name.Local == name {
			return at.Value
		}
	}
	return ""
}

// isTrue reports whether an attribute is set to true.
func (a attributes) isTrue(name string) bool {
	v := a.get(name)
	return v == "1" || v == "true"
}

// unhandled is an xmlHandler that does nothing. Handlers embed it that need not handle everything.
type unhandled struct{}

func (unhandled) start(string, attributes) {}
func (unhandled) text(string)              {}
func (unhandled) end(string)               {}

// attributeCounter reads XML of which no element has more than xmlAttributes attributes. The decoder keeps all of an element in
// memory before anybody else sees one. Each attribute has an equals sign, and none has a "<". So these signs are counted up to the
// next "<". Those in text are counted, too; a text with as many between two tags is refused.
type attributeCounter struct {
	r    io.Reader
	seen int // equals signs since the last "<"
}

func (c *attributeCounter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for b, found := p[:n], true; found; {
		var before []byte
		before, b, found = bytes.Cut(b, []byte("<"))
		if c.seen += bytes.Count(before, []byte("=")); c.seen > xmlAttributes {
			return 0, errMany
		}
		if found {
			c.seen = 0
		}
	}
	return n, err
}

// scan reads an entry that is an XML file.
func (a *archive) scan(name string, h xmlHandler) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	err = ReadXML(r, func(t xml.Token) {
		switch t := t.(type) {
		case xml.StartElement:
			h.start(t.Name.Local, t.Attr)
		case xml.EndElement:
			h.end(t.Name.Local)
		case xml.CharData:
			h.text(string(t))
		}
	})
	if syntax := (*xml.SyntaxError)(nil); errors.As(err, &syntax) {
		return damaged(name, errors.New(strings.ToValidUTF8(syntax.Error(), "\ufffd")))
	}
	return err
}

// scanIfAny is scan for an entry that may be missing.
func (a *archive) scanIfAny(name string, h xmlHandler) error {
	if !a.has(name) {
		return nil
	}
	return a.scan(name, h)
}

// titleIn returns the title that an entry with a file's properties names, "" if there is none.
func (a *archive) titleIn(name string) (string, error) {
	p := &property{name: "title"}
	err := a.scanIfAny(name, p)
	return p.value.String(), err
}

// ReadXML hands the tokens of XML to a function. It bounds the attributes of an element and how deep elements nest. Its error is an
// *xml.SyntaxError if the XML is damaged. A token is valid until the function returns.
func ReadXML(r io.Reader, handle func(xml.Token)) error {
	d := xml.NewDecoder(&attributeCounter{r: r})
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		decoded, err := charset.NewReaderLabel(label, in)
		return &attributeCounter{r: decoded}, err
	}
	for depth := 0; ; {
		t, err := d.Token()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		switch t.(type) {
		case xml.StartElement:
			if depth++; depth > xmlDepth {
				return errDeep
			}
		case xml.EndElement:
			depth--
		}
		handle(t)
	}
}

package pdf

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/requests"
)

// TestMain keeps the compiled code of PDFium in a folder for the fuzzer's processes too. If the variable names a folder, the tests
// of several packages share it.
func TestMain(m *testing.M) {
	const folder = "TANDEM_TEST_PDFIUM"
	code := func() int {
		if os.Getenv(folder) == "" {
			dir, err := os.MkdirTemp("", "pdfium")
			if err != nil {
				panic(err)
			}
			defer os.RemoveAll(dir)
			os.Setenv(folder, dir)
		}
		Configure(os.Getenv(folder), nil)
		return m.Run()
	}()
	os.Exit(code)
}

// A small file that takes much memory to read is refused, and the next file is still read.
func TestBomb(t *testing.T) {
	flate := func(s, parms string) string {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		w.Write([]byte(s))
		w.Close()
		return fmt.Sprintf("<< /Length %d /Filter /FlateDecode %s >>\nstream\n%s\nendstream", b.Len(), parms, b.String())
	}
	page := func(toUnicode, contents, parms string) []byte {
		return writePDF("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
			"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 5 0 R >> >> /Contents 7 0 R >>", "<< >>",
			"<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R /DescendantFonts [<< /DW 500 >>] >>", flate(toUnicode, ""), flate(contents, parms))
	}
	const (
		begin = "BT /F1 12 Tf 72 700 Td "
		cmap  = "begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfchar <6161> <%s> endbfchar endcmap"
	)
	plain := fmt.Sprintf(cmap, "0061")
	sound := page(plain, begin+"(aa) Tj", "")
	entry := func(first int64) []byte { // adds a cross-reference section for one object
		return bytes.Replace(sound, []byte("trailer"), fmt.Appendf(nil, "%d 1\n0000000009 00000 n \ntrailer", first), 1)
	}
	h := newHost(shared.cache, nil)
	if _, err := h.parse(t.Context(), sound); err != nil {
		t.Fatal(err)
	}
	before := liveMemory()
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"many characters", errTooLate.Error(), page(plain, begin+strings.Repeat("(aaaaaaaaaaaaaaaa) Tj ", 1<<20), "")},
		{"sound", "", sound},
		{"many states", errTooLarge.Error(), page(plain, strings.Repeat("q ", 4<<20)+begin+"(aa) Tj", "")},
		{"a large table of characters", "", page(plain+strings.Repeat("1 ", 15<<20), begin+"(aa) Tj", "")},
		{"wide rows", "no text in it (a scanned PDF?)", page(plain, begin+"(aa) Tj", "/DecodeParms << /Predictor 12 /Columns 30000000000 >>")},
		{"many objects", "", entry(600_000_000)},
		{"a large object number", "", entry(8_000_000_000)},
	} {
		h.pageTime, h.fileTime = time.Hour, time.Hour // a busy machine is slow, too
		if c.want == errTooLate.Error() {
			h.pageTime = time.Second / 2
		}
		doc, err := h.parse(t.Context(), c.data)
		if fmt.Sprint(err) != cmp.Or(c.want, "<nil>") || (err == nil) != (len(doc.Blocks) > 0) {
			t.Errorf("%s: %d blocks from %d kB, error %v, want %q", c.name, len(doc.Blocks), len(c.data)>>10, err, c.want)
		}
	}
	// Neither the files nor PDFium's memory for them are kept.
	if p := h.running; p != nil && cap(p.memory.bytes) > keptMemory {
		t.Errorf("PDFium keeps %d MB", cap(p.memory.bytes)>>20)
	}
	if grown := liveMemory() - before; grown > keptMemory {
		t.Errorf("%d MB are kept", grown>>20)
	}
}

// liveMemory returns the bytes that the program still uses.
func liveMemory() int64 {
	runtime.GC()
	runtime.GC() // what finalizers released
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return int64(memory.HeapAlloc)
}

// Whatever ends the reading of a file, the next file is read.
func TestPDFiumStarts(t *testing.T) {
	data := makePDF("", "BT /F1 12 Tf 72 700 Td (Text.) Tj ET")
	h := newHost(shared.cache, nil)
	begun := 0
	h.preparing = func() { begun++ }
	long := func(lib pdfium.Pdfium, tick func()) error { // longer than any limit
		for {
			opened, err := lib.OpenDocument(&requests.OpenDocument{File: &data})
			if err != nil {
				return err
			}
			lib.FPDF_CloseDocument(&requests.FPDF_CloseDocument{Document: opened.Document})
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		ctx                context.Context
		pageTime, fileTime time.Duration
		read               func(pdfium.Pdfium, func()) error
		want               error
	}{
		{t.Context(), 20 * time.Millisecond, time.Minute, long, errTooLate},
		{t.Context(), time.Minute, 20 * time.Millisecond, long, errTooMany},
		{ctx, time.Minute, time.Minute, func(lib pdfium.Pdfium, tick func()) error { cancel(); return long(lib, tick) }, context.Canceled},
		{ctx, time.Minute, time.Minute, long, context.Canceled},
		{t.Context(), time.Minute, time.Minute, func(pdfium.Pdfium, func()) error { return errors.New("wasm error: unreachable") }, errCrashed},
	} {
		h.pageTime, h.fileTime = c.pageTime, c.fileTime
		if err := h.use(c.ctx, c.read); err != c.want {
			t.Errorf("%v, want %v", err, c.want)
		}
		h.pageTime, h.fileTime = time.Minute, time.Minute
		if doc, err := h.parse(t.Context(), data); err != nil || len(doc.Blocks) != 1 {
			t.Errorf("after %v: %v, %v", c.want, doc, err)
		}
	}
	func() {
		defer func() { recover() }()
		h.use(t.Context(), func(pdfium.Pdfium, func()) error { panic("a mistake") })
	}()
	if h.running != nil {
		t.Error("PDFium goes on after a panic, though it is being stopped")
	}
	if doc, err := h.parse(t.Context(), data); err != nil || len(doc.Blocks) != 1 {
		t.Errorf("after a panic: %v, %v", doc, err)
	}
	if begun != 1 {
		t.Errorf("PDFium was prepared %d times", begun)
	}
}

// A folder that cannot be used, or holds damaged code, costs time only.
func TestPDFiumFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles PDFium twice")
	}
	data := makePDF("", "BT /F1 12 Tf 72 700 Td (Text.) Tj ET")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := t.TempDir()
	if err := os.CopyFS(damaged, os.DirFS(shared.cache)); err != nil {
		t.Fatal(err)
	}
	n := 0
	filepath.WalkDir(damaged, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
			err = os.Truncate(path, 100)
		}
		return err
	})
	if n == 0 {
		t.Error("no compiled code is kept")
	}
	for _, dir := range []string{filepath.Join(file, "x"), damaged} {
		if doc, err := newHost(dir, nil).parse(t.Context(), data); err != nil || len(doc.Blocks) != 1 {
			t.Errorf("%s: %v, %v", dir, doc, err)
		}
	}
}

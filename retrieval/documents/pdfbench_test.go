package documents

import (
	"bytes"
	"testing"

	"github.com/ledongthuc/pdf"
)

// BenchmarkPDF reads a page of 500 lines with packed objects by our reading of pages and by the library's.
func BenchmarkPDF(b *testing.B) {
	data := packedPage(500)
	open := func() *pdf.Reader {
		r, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	b.Run("ours", func(b *testing.B) {
		for range b.N {
			reader, glyphs := pdfReader{fonts: map[string]*pdfFont{}}, 0
			reader.each(open().Trailer().Key("Root").Key("Pages"), pdfPage{}, 0, func(p pdfPage) bool {
				glyphs += len(reader.page(p))
				return true
			})
			if glyphs == 0 {
				b.Fatal("nothing was read")
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		for range b.N {
			if len(open().Page(1).Content().Text) == 0 {
				b.Fatal("nothing was read")
			}
		}
	})
}

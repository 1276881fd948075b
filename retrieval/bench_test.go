package retrieval

import (
	"bytes"
	"testing"

	"github.com/ledongthuc/pdf"

	"tandem/examples"
)

// BenchmarkScores is what sentence weights cost for every token: eight passages, question and sentence.
func BenchmarkScores(b *testing.B) {
	x, err := Memory()
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	if _, err := x.AddFS(b.Context(), examples.Public, "."); err != nil {
		b.Fatal(err)
	}
	const question = "What is the wifi password of the lake cabin, and when does the harbour museum open?"
	hits, err := x.Search(b.Context(), question, 8)
	if err != nil {
		b.Fatal(err)
	}
	var ps []Passage
	for _, h := range hits {
		ps = append(ps, h.Passage)
	}
	prepared := Prepare(Lexical(), ps)
	var dst []float64
	b.ReportAllocs()
	for b.Loop() {
		dst = prepared.Scores(dst[:0], question+" The harbour museum opens at 9:30 and closes")
	}
}

// BenchmarkSampleIndex is what the sample corpora add to the start of a program.
func BenchmarkSampleIndex(b *testing.B) {
	for b.Loop() {
		x, err := Memory()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := x.AddFS(b.Context(), examples.Public, "."); err != nil {
			b.Fatal(err)
		}
		x.Close()
	}
}

// BenchmarkSearch is one compound question against a sample corpus.
func BenchmarkSearch(b *testing.B) {
	x, err := Memory()
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	if _, err := x.AddFS(b.Context(), examples.Public, "."); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := x.Search(b.Context(), "What is the wifi password of the lake cabin, and when does the harbour museum open?", 4); err != nil {
			b.Fatal(err)
		}
	}
}

// A page of 500 lines whose objects are packed, by our reading of pages and by the library's.
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

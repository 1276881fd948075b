package search

import (
	"testing"

	"tandem/examples"
	"tandem/retrieval/passages"
)

// BenchmarkScores is the cost of sentence weights for one token: eight passages, question and sentence.
func BenchmarkScores(b *testing.B) {
	x, err := Memory(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	if _, err := x.AddFS(b.Context(), examples.Public, "."); err != nil {
		b.Fatal(err)
	}
	const question = "What is the wifi password of the lake cabin, and when does the harbour museum open?"
	ps, err := x.Search(b.Context(), passages.Query{Text: question}, 8)
	if err != nil {
		b.Fatal(err)
	}
	scores := Lexical().Prepare(ps)
	var dst []float64
	b.ReportAllocs()
	for b.Loop() {
		dst = scores(dst[:0], question+" The harbour museum opens at 9:30 and closes")
	}
}

// BenchmarkSampleIndex is the cost of the sample corpora at the start of a program.
func BenchmarkSampleIndex(b *testing.B) {
	for b.Loop() {
		x, err := Memory(Options{})
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
	x, err := Memory(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	if _, err := x.AddFS(b.Context(), examples.Public, "."); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := x.Search(b.Context(), passages.Query{Text: "What is the wifi password of the lake cabin, and when does the harbour museum open?"}, 4); err != nil {
			b.Fatal(err)
		}
	}
}

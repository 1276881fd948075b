// Package blockstest shows and checks documents that parsers make.
package blockstest

import (
	"strings"
	"testing"
	"unicode/utf8"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

// Show writes a document, one block on each line: "# heading", "l line", "p paragraph", "h head of a table", "r row", "c code".
func Show(d blocks.Document) string {
	marks := map[blocks.Kind]string{blocks.Heading: "# ", blocks.Paragraph: "p ", blocks.Line: "l ", blocks.TableHead: "h ", blocks.TableRow: "r ", blocks.Code: "c "}
	lines := []string{"title " + d.Title}
	for _, b := range d.Blocks {
		lines = append(lines, marks[b.Kind]+b.Text)
	}
	return strings.Join(lines, "\n")
}

// Check fails on what no file may become. The document and the error are those of a file of size bytes.
func Check(t *testing.T, doc blocks.Document, err error, size int) {
	t.Helper()
	if err != nil {
		if len(doc.Blocks) > 0 || !utf8.ValidString(err.Error()) {
			t.Fatalf("%q and %d blocks", err, len(doc.Blocks))
		}
		return
	}
	if doc.Title == "" || !utf8.ValidString(doc.Title) || english.CountWords(doc.Title) > blocks.MaxTitle+1 {
		t.Fatalf("title %q", doc.Title)
	}
	total := len(doc.Title)
	for _, b := range doc.Blocks {
		if b.Text == "" || b.Text != oneLine(b) || !utf8.ValidString(b.Text) || b.Kind > blocks.Code || (b.Level > 0) != (b.Kind == blocks.Heading) || b.Level > blocks.LowestLevel {
			t.Fatalf("block %q of kind %d", b.Text, b.Kind)
		}
		if b.Kind == blocks.Heading && english.CountWords(b.Text) > blocks.MaxHeading {
			t.Fatalf("heading %q", b.Text)
		}
		total += len(b.Text)
	}
	if total > 64*size+1024 {
		t.Fatalf("%d bytes of text in %d", total, size)
	}
}

// oneLine is a block's text as a document has it.
func oneLine(b blocks.Block) string {
	var d blocks.Document
	if d.AddBlock(b); len(d.Blocks) == 0 {
		return ""
	}
	return d.Blocks[0].Text
}

// Large skips a test of large files in short runs: those are with the race detector, under which it takes minutes, and a parser
// runs in one goroutine.
func Large(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("large files, in one goroutine")
	}
}

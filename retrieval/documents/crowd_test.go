package documents

import (
	"runtime"
	"strings"
	"testing"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/blocks/blockstest"
)

// A file of nothing but ends of lines would take fifty times its size. It is refused before that.
func TestTooManyLines(t *testing.T) {
	blockstest.Large(t)
	const mail = "From: a@b.example\nSubject: x\n\n"
	for name, data := range map[string]string{
		"a.txt": "a\n" + strings.Repeat("\n", 4<<20), "a.md": "a\n" + strings.Repeat("\f", 4<<20), "a.csv": "a,b\n" + strings.Repeat("\r", 4<<20), "a.eml": mail + "a" + strings.Repeat("\n", 4<<20),
		"a.html": "<pre>" + strings.Repeat("\n", 4<<20), "b.txt": "a\u2029" + strings.Repeat("\u2029", 1<<20),
		"a.ics": "BEGIN:VCALENDAR\n" + strings.Repeat("a:\n", 5<<18), "a.vcf": "BEGIN:VCARD\n" + strings.Repeat("a:\n", 5<<18), "a.rtf": `{\rtf1 ` + strings.Repeat(`\sect`, 5<<18),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(t.Context(), name, []byte(data))
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "divide it into several files") {
			t.Errorf("%s: %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 16*uint64(len(data)) {
			t.Errorf("%s: %d MB for %d", name, took>>20, len(data)>>20)
		}
	}
	if doc, err := Parse(t.Context(), "a.txt", []byte("One.\r\n"+strings.Repeat("\r\n", maxLines-10)+"Two.")); err != nil || len(doc.Blocks) != 2 {
		t.Errorf("%d blocks, %v", len(doc.Blocks), err)
	}
}

// A page of nothing but tags would take fifty times its size. It is refused before that.
func TestTooManyElements(t *testing.T) {
	blockstest.Large(t)
	for _, tag := range []string{"<td>", "<p>", "</p>", "<br>", "<!>"} {
		page := "<table><tr>" + strings.Repeat(tag, 7<<20/len(tag))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(t.Context(), "a.html", []byte(page))
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "divide it into several files") {
			t.Errorf("%s: %v", tag, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 16*uint64(len(page)) {
			t.Errorf("%s: %d MB for %d", tag, took>>20, len(page)>>20)
		}
	}
	if doc, err := Parse(t.Context(), "a.html", []byte("<p>x"+strings.Repeat("<i></i>", maxElements-10))); err != nil || len(doc.Blocks) != 1 {
		t.Errorf("%d blocks, %v", len(doc.Blocks), err)
	}
}

// A file of many tiny blocks would take a hundred times its size. It is refused, and told what to do.
func TestTooManyBlocks(t *testing.T) {
	blockstest.Large(t)
	for name, line := range map[string]string{"a.txt": "- a\n", "a.md": "- a\n", "b.md": "A\n\n", "a.html": "<p>a</p>", "a.csv": "a,b\n"} {
		_, err := Parse(t.Context(), name, []byte(strings.Repeat(line, blocks.MaxBlocks+10)))
		if err == nil || !strings.Contains(err.Error(), "divide it into several files") {
			t.Errorf("%s of %q: %v", name, line, err)
		}
	}
	if doc, err := Parse(t.Context(), "a.md", []byte(strings.Repeat("- a\n", blocks.MaxBlocks-10))); err != nil || len(doc.Blocks) < blocks.MaxBlocks-20 {
		t.Errorf("%d blocks, %v", len(doc.Blocks), err)
	}
}

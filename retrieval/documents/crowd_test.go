package documents

import (
	"strings"
	"testing"

	"tandem/retrieval/internal/blocks"
)

// A file of many tiny blocks would take a hundred times its size. It is refused, and told what to do.
func TestTooManyBlocks(t *testing.T) {
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

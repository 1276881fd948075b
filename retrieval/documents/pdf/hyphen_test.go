package pdf

import (
	"testing"

	"tandem/internal/allocated"
)

// A text without spaces, whose lines end with dashes, is not copied for each line.
func TestDashesAreLinear(t *testing.T) {
	cost := func(lines int) uint64 {
		return allocated.Bytes(func() {
			line := run{text: "two–"}
			text := []byte(line.text)
			for range lines {
				text = append(compounds{}.between(text, line, line), line.text...)
			}
			if len(text) != (lines+1)*len(line.text) {
				t.Fatalf("%d bytes", len(text))
			}
		})
	}
	if one, four := cost(1<<12), cost(1<<14); four > 8*one {
		t.Errorf("%d kB, %d kB for four times the lines", one>>10, four>>10)
	}
}

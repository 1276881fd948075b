package documents

import (
	"math"
	"runtime"
	"strings"
	"testing"
)

// The cost of reading a PDF is linear: four times the text takes about four times the memory.
func TestPDFIsLinear(t *testing.T) {
	cost := func(lines int) float64 {
		data := makePDF("", "BT /F1 12 Tf 72 700 Td "+strings.Repeat("(abcdefghijklmn-) Tj 0 -14 Td ", lines)+"ET")
		least := math.Inf(1)
		for range 4 { // other goroutines allocate too, but not each time
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := readPDF(t.Context(), data); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			least = min(least, float64(after.TotalAlloc-before.TotalAlloc))
		}
		return least
	}
	const n = 1 << 11
	if one, four := cost(n), cost(4*n); four > 8*one {
		t.Errorf("%.0f kB of memory for %d lines, %.0f kB for four times that", one/1000, n, four/1000)
	}
}

package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tandem/npu/native"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct{ s, want []float64 }{
		{[]float64{3}, []float64{3, 3, 3}},
		{[]float64{9, 1}, []float64{5, 1, 9}},
		{[]float64{7, 1, 3}, []float64{3, 1, 7}},
		{[]float64{8, 1, 2, 4}, []float64{3, 1, 8}},
	} {
		middle, least, most := median(slices.Clone(c.s))
		if got := []float64{middle, least, most}; !slices.Equal(got, c.want) {
			t.Errorf("%v: median, smallest and largest are %v, want %v", c.s, got, c.want)
		}
	}
}

// A run's share of the limit is relative to the rate measured around that run.
func TestLimitOfTheSameRun(t *testing.T) {
	decode := test{name: "decode 2 rows after 0", rows: 2}
	m := runs{speeds: [][]float64{{20, 80, 40}, {10, 20, 40}}, rates: []float64{100, 400, 160}}
	r := decode.result("F16", m, 9)
	if r.OfLimit != 0.9 || r.Ours != 40 || r.Theirs != 20 || r.Ratio != 2 {
		t.Errorf("%+v", r)
	}
}

// A device's memory rate is measured by products. Here the device is the processor.
func TestDeviceMemory(t *testing.T) {
	r, err := deviceMemory(native.New(1), 8)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	rate := 0.0
	for _, wanted := range []bool{true, false} {
		ran := false
		rate = 0
		if err := r.around(wanted, &rate, func() error { ran = true; return nil }); err != nil || !ran || (rate > 0) != wanted {
			t.Errorf("measured %v: rate %v, ran %v, %v", wanted, rate, ran, err)
		}
	}
	if n, err := r.read(); n != 32*8*8192*2 || err != nil || len(r.seen) != 2 {
		t.Errorf("%d bytes, %v, %d rates", n, err, len(r.seen))
	}
	broken := &memory{read: func() (int, error) { return 0, errors.New("gone") }}
	if err := broken.around(true, &rate, func() error { return nil }); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("%v", err)
	}
}

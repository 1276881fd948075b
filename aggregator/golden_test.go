package aggregator

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem"
)

var update = flag.Bool("update", false, "rewrite testdata/golden.txt")

// goldenDist makes a distribution from integers alone, so that no processor's floating point is in it.
func goldenDist(seed uint64, n, vocab int) tandem.Dist {
	var d tandem.Dist
	left := uint32(tandem.Mass)
	id := tandem.Token(0)
	for i := range n {
		bits := word(seed, 0, tandem.Token(i), 1000)
		id += 1 + tandem.Token(bits%uint64(vocab/n))
		w := left
		if rest := uint32(n - 1 - i); rest > 0 {
			w = 1 + uint32(bits>>32)%((left-rest)*2/(rest+2)+1)
			w = min(w, left-rest)
		}
		left -= w
		d.IDs, d.Weights = append(d.IDs, id), append(d.Weights, w)
	}
	return d
}

// golden lists what must be the same to the bit on every processor.
func golden(t *testing.T) string {
	var b strings.Builder
	for i := range 64 {
		r := word(1, 0, tandem.Token(i), 1001)
		l, h := tandem.Fixed(int32(r)>>(10+i%14)), tandem.Fixed(int32(r>>32)>>(10+i%14))
		fmt.Fprintf(&b, "eta %d %d = %d\n", l, h, Eta(l, h))
	}
	for i := range 64 {
		r := word(2, 0, tandem.Token(i), 1002) >> i
		if i%2 == 1 {
			r = ^r
		}
		fmt.Fprintf(&b, "exponential %016x = %016x\n", r, exponential(r))
		fmt.Fprintf(&b, "exp -%d = %016x\n", r>>43, expNeg(r>>43))
	}
	for i := range 200 {
		seed := word(3, 0, tandem.Token(i), 1003)
		n := []int{1, 2, 4, 9, 30, 200, tandem.MaxSupport}[i%7]
		l := Local{goldenDist(seed, n, 40*n), tandem.Fixed(int32(seed) >> 12)}
		r := Local{goldenDist(seed^1, n, 3*n), tandem.Fixed(int32(seed>>32) >> 12)}
		if i%3 == 0 {
			r.Dist = goldenDist(seed, n, 40*n)
			r.Dist.Weights[0], r.Dist.Weights[n-1] = r.Dist.Weights[n-1], r.Dist.Weights[0]
		}
		for _, d := range []tandem.Dist{l.Dist, r.Dist} {
			if err := d.Check(1 << 20); err != nil {
				t.Fatal(err)
			}
		}
		step := tandem.Step(seed >> 40)
		fmt.Fprintf(&b, "step %d seed %016x support %d:", step, seed, n)
		for _, rule := range []Rule{
			{Coupling: tandem.CouplingShared},
			{Coupling: tandem.CouplingSpeculative, Gamma: 30000},
			{Greedy: true},
			{Coupling: tandem.CouplingLeader, Lead: tandem.Device},
			{Coupling: tandem.CouplingLeader, Lead: tandem.Cloud},
		} {
			rule.Seed = seed
			fmt.Fprintf(&b, " %d %d > %d", rule.Draft(0, step, l.Dist), rule.Draft(1, step, r.Dist), rule.Target(step, l, r))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestGolden holds integer aggregation to committed results. Run it with GOARCH=arm64 and
// -exec=qemu-aarch64-static to compare processors.
func TestGolden(t *testing.T) {
	path := filepath.Join("testdata", "golden.txt")
	got := golden(t)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with -update)", err)
	}
	wantLines := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(wantLines) || wantLines[i] != line {
			t.Fatalf("line %d: %q, not as committed", i+1, line)
		}
	}
}

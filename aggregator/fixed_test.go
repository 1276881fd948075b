package aggregator

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"tandem"
)

// bigLn is ln x for x near 1, by ln x = 2·atanh((x−1)/(x+1)); a reference, not for speed.
func bigLn(x *big.Float) *big.Float {
	f := func() *big.Float { return new(big.Float).SetPrec(200) }
	one := f().SetInt64(1)
	t := f().Quo(f().Sub(x, one), f().Add(x, one))
	t2, term, sum := f().Mul(t, t), f().Set(t), f()
	for k := int64(1); k < 400; k += 2 {
		sum.Add(sum, f().Quo(term, f().SetInt64(k)))
		term.Mul(term, t2)
	}
	return sum.Mul(sum, f().SetInt64(2))
}

func bigFloat(x uint64, exp int) *big.Float {
	f := new(big.Float).SetPrec(200).SetUint64(x)
	return f.SetMantExp(f, exp)
}

func TestTables(t *testing.T) {
	for i := range logs {
		k := i + 1
		x := bigFloat(1, -k)
		want := bigLn(x.Add(x, big.NewFloat(1).SetPrec(200)))
		got := bigFloat(logs[i], -63)
		if diff, _ := got.Sub(got, want).Float64(); math.Abs(diff) > math.Ldexp(1, -64) {
			t.Errorf("ln(1+2^-%d): off by %g", k, diff)
		}
	}
	root := bigFloat(1, -1)
	for i := range halvings {
		root.Sqrt(root)
		got := bigFloat(halvings[i], -63)
		if diff, _ := got.Sub(got, root).Float64(); math.Abs(diff) > math.Ldexp(1, -63) {
			t.Errorf("2^(-2^-%d): off by %g", i+1, diff)
		}
	}
}

// The documented error of exponential: 4 units of 2^-58 everywhere, near u = 1 included.
func TestExponential(t *testing.T) {
	ln2 := bigLn(bigFloat(2, 0))
	worst := 0.0
	check := func(r uint64) {
		// −ln u = n·ln 2 − ln z with z in [½, 1), as the integers have it, but in 200 bits.
		want := bigFloat(r|1, -64)
		n := want.MantExp(want)
		want = bigLn(want)
		want.Add(want, new(big.Float).SetPrec(200).Mul(ln2, big.NewFloat(float64(n)).SetPrec(200)))
		want.Neg(want)
		got := exponential(r)
		if got == 0 {
			t.Fatalf("exponential(%#x) is 0", r)
		}
		diff, _ := new(big.Float).Sub(bigFloat(got, -expUnit), want).Float64()
		if units := math.Abs(math.Ldexp(diff, expUnit)); units > worst {
			worst = units
		}
	}
	for _, r := range []uint64{0, 1, 2, 3, math.MaxUint64, math.MaxUint64 - 1, 1 << 63, 1<<63 - 1, 1<<63 + 1, 1 << 62} {
		check(r)
	}
	for i := range uint64(3000) {
		r := word(7, 0, tandem.Token(i), purposeShared)
		check(r)
		check(r >> (i % 64))
		check(^(r >> (i % 64)))
	}
	t.Logf("worst error %.2f units of 2^-%d", worst, expUnit)
	if worst > 4 {
		t.Errorf("worst error %g units of 2^-%d, documented 4", worst, expUnit)
	}
	if got, want := exponential(0), math.Ldexp(64*math.Ln2, expUnit); math.Abs(float64(got)-want) > want*1e-15 {
		t.Errorf("largest value %d, want %g", got, want)
	}
}

func TestEta(t *testing.T) {
	fixed := rapid.OneOf(rapid.Int32Range(-1<<20, 1<<20), rapid.Int32Range(-200, 200), rapid.Int32())
	rapid.Check(t, func(t *rapid.T) {
		l, r := tandem.Fixed(fixed.Draw(t, "l")), tandem.Fixed(fixed.Draw(t, "r"))
		got := Eta(l, r)
		if got > tandem.Mass || got+Eta(r, l) != tandem.Mass {
			t.Fatalf("Eta(%d, %d) = %d, the other way %d", l, r, got, Eta(r, l))
		}
		want := tandem.Mass / (1 + math.Exp(r.Float()-l.Float()))
		if math.Abs(float64(got)-want) > 1 {
			t.Fatalf("Eta(%v, %v) = %d, want %g", l.Float(), r.Float(), got, want)
		}
		if more := tandem.Fixed(fixed.Draw(t, "more")); more >= l && Eta(more, r) < got || more <= l && Eta(more, r) > got {
			t.Fatalf("Eta(%d, %d) = %d but Eta(%d, %d) = %d", l, r, got, more, r, Eta(more, r))
		}
	})
	last := uint32(0)
	for d := range tandem.Fixed(32 << 16) { // every difference that matters
		if e := Eta(d, 0); e < last {
			t.Fatalf("Eta falls at %d: %d after %d", d, e, last)
		} else {
			last = e
		}
	}
	if Eta(math.MaxInt32, math.MinInt32) != tandem.Mass || Eta(math.MinInt32, math.MaxInt32) != 0 {
		t.Error("extremes do not saturate")
	}
}

// Known answers published with the generator (Random123, kat_vectors).
func TestPhilox(t *testing.T) {
	for _, c := range []struct {
		ctr  [4]uint32
		key  [2]uint32
		want [4]uint32
	}{
		{want: [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{
			[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
		},
		{
			[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	} {
		if got := philox(c.ctr, c.key); got != c.want {
			t.Errorf("philox(%x, %x) = %x, want %x", c.ctr, c.key, got, c.want)
		}
	}
}

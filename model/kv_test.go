package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"tandem/internal/tinymodel"
	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/reference"
)

// saved returns the saved form of a sequence made of several spans.
func saved(t testing.TB, m *Model, n int) []byte {
	t.Helper()
	s := m.NewSeq()
	for at := 0; at < n; at += 100 {
		forward(t, m, Input{Seq: s, Tokens: pattern(n)[at:min(n, at+100)]})
		s = s.Fork()
	}
	var b bytes.Buffer
	if k, err := s.WriteTo(&b); err != nil || k != int64(b.Len()) {
		t.Fatalf("wrote %d of %d bytes: %v", k, b.Len(), err)
	}
	return b.Bytes()
}

func TestSavedSequenceContinues(t *testing.T) {
	t.Run("convolutions", func(t *testing.T) { savedSequenceContinues(t, openTiny(t, tinymodel.Spec{Arch: "lfm2"})) })
	t.Run("f16", func(t *testing.T) { savedSequenceContinues(t, openTiny(t, tinymodel.Spec{})) })
	t.Run("q8_0", func(t *testing.T) {
		savedSequenceContinues(t, variantQ80(t, tinymodel.Spec{HeadDim: 32}, 1, chunkSizes...))
	})
}

func savedSequenceContinues(t *testing.T, m *Model) {
	for _, n := range []int{0, 1, 255, 256, 300} {
		b := saved(t, m, n)
		r := bytes.NewReader(append(slices.Clone(b), "more"...))
		s, err := m.ReadSeq(r)
		if err != nil {
			t.Fatal(err)
		}
		if rest, _ := io.ReadAll(r); string(rest) != "more" {
			t.Errorf("ReadSeq read beyond the end: %q is left, want \"more\"", rest)
		}
		if s.Len() != n {
			t.Fatalf("saved %d positions, read %d", n, s.Len())
		}
		got := forward(t, m, Input{Seq: s, Tokens: pattern(5)})
		want := forward(t, m, Input{Seq: m.NewSeq(), Tokens: append(pattern(n), pattern(5)...)})
		if !bitEqual(got[0], want[0]) {
			t.Errorf("after %d saved positions the logits differ", n)
		}
		// A sequence that was read can be truncated and saved again.
		s.Truncate(n)
		var again bytes.Buffer
		if _, err := s.WriteTo(&again); err != nil || !bytes.Equal(again.Bytes(), b) {
			t.Errorf("%d positions differ when saved again: %v", n, err)
		}
	}
}

func TestReadSeqRefuses(t *testing.T) {
	m := openTiny(t, tinymodel.Spec{})
	good := saved(t, m, 20)
	size := binary.Size(savedHead{})
	resum := func(b []byte) []byte {
		body := b[:len(b)-4]
		return binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, castagnoli))
	}
	bend := func(at int, v byte) []byte {
		b := slices.Clone(good)
		b[at] ^= v
		return b
	}
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty", nil, "is truncated"},
		{"short head", good[:20], "is truncated"},
		{"short body", good[:len(good)-40], "is truncated"},
		{"no checksum", good[:len(good)-2], "is truncated"},
		{"magic", bend(0, 1), "does not start with"},
		{"version", bend(8, 2), "version 3, want 1"},
		{"fingerprint", resum(bend(12, 1)), "another model"},
		{"layers", resum(bend(44, 1)), "do not fit"},
		{"many positions", resum(bend(size-1, 0xff)), "do not fit"},
		{"a few more positions", resum(bend(size-4, 0x40)), "is truncated"},
		{"a flipped bit", bend(size+100, 4), "checksum"},
	} {
		_, err := m.ReadSeq(bytes.NewReader(c.b))
		if !errors.Is(err, errSaved) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	other := openTiny(t, tinymodel.Spec{Seed: 1})
	if _, err := other.ReadSeq(bytes.NewReader(good)); !errors.Is(err, errSaved) || !strings.Contains(err.Error(), "another model") {
		t.Errorf("sequence of another model: error %v", err)
	}
	broken := errors.New("disk on fire")
	if _, err := m.ReadSeq(io.MultiReader(bytes.NewReader(good[:100]), errReader{broken})); !errors.Is(err, broken) || errors.Is(err, errSaved) {
		t.Errorf("failing reader: error %v", err)
	}
}

// Keys and values in Q8_0 take 17/32 of the memory, change logits a little, and are never read as F16 or the other way round. A
// model whose heads are no whole blocks is refused, and so is a device that does not know them.
func TestQ80Cache(t *testing.T) {
	spec := tinymodel.Spec{HeadDim: 64}
	plain, small := variant(t, spec, 1, chunkSizes...), variantQ80(t, spec, 1, chunkSizes...)
	a, b := plain.NewSeq(), small.NewSeq()
	want := forward(t, plain, Input{Seq: a, Tokens: pattern(100)})[0]
	got := forward(t, small, Input{Seq: b, Tokens: pattern(100)})[0]
	off := 0.0
	for i := range want {
		off = max(off, math.Abs(float64(got[i]-want[i]))/deviation(want))
	}
	if off == 0 || off > 0.1 {
		t.Errorf("logits differ by %g of their deviation, want more than 0 and at most .1", off)
	}
	if 32*b.Bytes() != 17*a.Bytes() {
		t.Errorf("%d bytes in Q8_0, %d in F16", b.Bytes(), a.Bytes())
	}
	for _, c := range []struct{ from, to *Model }{{plain, small}, {small, plain}} {
		if _, err := c.to.ReadSeq(bytes.NewReader(saved(t, c.from, 10))); !errors.Is(err, errSaved) {
			t.Errorf("a cache in %v is read as one in %v: %v", c.from.config.KV, c.to.config.KV, err)
		}
	}
	reference, err := OpenBytes("tiny", tinymodel.GGUF(spec), reference.New(), KVCache(npu.CacheQ8_0))
	if err != nil {
		t.Fatal(err)
	}
	defer reference.Close()
	for i, v := range forward(t, reference, Input{Seq: reference.NewSeq(), Tokens: pattern(100)})[0] {
		if d := math.Abs(float64(v-got[i])) / deviation(want); d > 0.02 {
			t.Fatalf("logit %d is %g, on the reference device %g", i, got[i], v)
		}
	}
	if _, err := OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{HeadDim: 24}), native.New(1), KVCache(npu.CacheQ8_0)); err == nil || !strings.Contains(err.Error(), "multiple of 32") {
		t.Errorf("heads of 24: %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// ReadSeq returns an error for any bytes, or a sequence that saves to the same bytes.
func FuzzReadSeq(f *testing.F) {
	m, err := OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Layers: 1, Dim: 32, FF: 32}), native.New(1))
	if err != nil {
		f.Fatal(err)
	}
	defer m.Close()
	f.Add(saved(f, m, 3))
	f.Add(saved(f, m, 0))
	f.Add([]byte(savedMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		// Mend the checksum, so that the fuzzer gets past it.
		if len(b) > binary.Size(savedHead{})+4 {
			body := b[:len(b)-4]
			b = binary.LittleEndian.AppendUint32(slices.Clone(body), crc32.Checksum(body, castagnoli))
		}
		s, err := m.ReadSeq(bytes.NewReader(b))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if _, err := s.WriteTo(&again); err != nil || !bytes.HasPrefix(b, again.Bytes()) {
			t.Fatalf("%d positions are saved as different bytes: %v", s.Len(), err)
		}
	})
}

// Rows of one call can attend to a shared span together, even if one sequence has truncated it.
func TestForksOfDifferentLengthsShareACall(t *testing.T) {
	m := openTiny(t, tinymodel.Spec{})
	for _, keep := range []int{1, 3, 15, 16, 20, 39} {
		long := m.NewSeq()
		forward(t, m, Input{Seq: long, Tokens: pattern(40)})
		short := long.Fork()
		short.Truncate(keep)
		got := forward(t, m, Input{Seq: short, Tokens: pattern(2)}, Input{Seq: long, Tokens: pattern(3)})
		want := [][]float32{
			forward(t, m, Input{Seq: m.NewSeq(), Tokens: append(pattern(keep), pattern(2)...)})[0],
			forward(t, m, Input{Seq: m.NewSeq(), Tokens: append(pattern(40), pattern(3)...)})[0],
		}
		for i := range want {
			if !bitEqual(got[i], want[i]) {
				t.Errorf("%d positions kept: the logits of input %d depend on the other input", keep, i)
			}
		}
	}
}

// Shared spans do not change when a fork grows.
func TestForksDoNotDisturbEachOther(t *testing.T) {
	m := openTiny(t, tinymodel.Spec{})
	a := m.NewSeq()
	forward(t, m, Input{Seq: a, Tokens: pattern(70)})
	b := a.Fork()
	if len(b.kv.Spans) == 0 || &b.kv.Spans[0].K[0][0] != &a.kv.Spans[0].K[0][0] {
		t.Error("Fork copied the spans")
	}
	a.Truncate(10) // into the shared span
	forward(t, m, Input{Seq: a, Tokens: pattern(20)})
	got := forward(t, m, Input{Seq: b, Tokens: pattern(1)})
	want := forward(t, m, Input{Seq: m.NewSeq(), Tokens: append(pattern(70), pattern(1)...)})
	if !bitEqual(got[0], want[0]) {
		t.Error("a fork changed after the other was truncated and extended")
	}
	// Truncating and extending within owned memory needs no new spans.
	c := m.NewSeq()
	forward(t, m, Input{Seq: c, Tokens: pattern(5)})
	for range 50 {
		forward(t, m, Input{Seq: c, Tokens: pattern(3)})
		c.Truncate(5)
	}
	if len(c.kv.Spans) != 1 {
		t.Errorf("%d spans for 5 positions, want 1", len(c.kv.Spans))
	}
}

// A sequence that forgets what its windows have passed computes the same bits, and takes less memory. What would need the
// forgotten is dropped or refused.
func TestForget(t *testing.T) {
	for _, arch := range []string{"gemma2", "gemma3", "gpt-oss"} {
		m := openTiny(t, tinymodel.Spec{Arch: arch, Window: 12, Context: 400})
		whole, s := m.NewSeq(), m.NewSeq()
		for i := range 60 {
			in := Input{Tokens: pattern(1 + i%9), All: true}
			if i%3 == 2 { // a draft tree
				in.Tokens, in.Parents = pattern(4), []int{-1, 0, 0, 2}
			}
			var got [2][][]float32
			for j, s := range []*Seq{whole, s} {
				in.Seq = s
				got[j] = forward(t, m, in)
				if in.Parents != nil {
					if err := s.Keep(0, 2); err != nil {
						t.Fatal(err)
					}
				}
			}
			s.Forget()
			for k := range got[0] {
				if !bitEqual(got[0][k], got[1][k]) {
					t.Fatalf("%s after %d positions: other bits", arch, s.Len())
				}
			}
		}
		if s.Bytes() >= whole.Bytes() || s.from < s.Len()-400/4 {
			t.Errorf("%s: %d bytes of %d, forgotten up to %d of %d", arch, s.Bytes(), whole.Bytes(), s.from, s.Len())
		}
		checkForgotten(t, m, s)
	}
}

// A long prompt is forgotten up to the next position's window, even if it stands in one span that a fork shares.
func TestForgetDividesSpans(t *testing.T) {
	for _, arch := range []string{"gemma2", "gemma3", "gpt-oss"} {
		m := openTiny(t, tinymodel.Spec{Arch: arch, Window: 40, Context: 400})
		whole, s := m.NewSeq(), m.NewSeq()
		for i, n := range []int{150, 3, 1, 90, 2, 5, 17} {
			var got [2][][]float32
			for j, s := range []*Seq{whole, s} {
				got[j] = forward(t, m, Input{Seq: s, Tokens: pattern(n), All: true})
			}
			for k := range got[0] {
				if !bitEqual(got[0][k], got[1][k]) {
					t.Fatalf("%s, pass %d: other bits", arch, i)
				}
			}
			fork := s.Fork()
			s.Forget()
			if fork.from > s.from || s.from < s.Len()-40-16 || s.from > s.Len()-40 {
				t.Errorf("%s: of %d positions the first %d are forgotten, and %d by the fork", arch, s.Len(), s.from, fork.from)
			}
			if a, b := forward(t, m, Input{Seq: fork, Tokens: pattern(4)}), forward(t, m, Input{Seq: s.Fork(), Tokens: pattern(4)}); !bitEqual(a[0], b[0]) {
				t.Errorf("%s: a fork changed when the sequence forgot", arch)
			}
			if s.Len() == 153 {
				s.Truncate(151)
				whole.Truncate(151)
			}
		}
		checkForgotten(t, m, s)
	}
}

// checkForgotten forks, saves and truncates a sequence that has forgotten positions.
func checkForgotten(t *testing.T, m *Model, s *Seq) {
	t.Helper()
	n := s.Len()
	f := s.Fork()
	if !bitEqual(forward(t, m, Input{Seq: f, Tokens: pattern(2)})[0], forward(t, m, Input{Seq: s.Fork(), Tokens: pattern(2)})[0]) {
		t.Error("forks differ")
	}
	if _, err := s.WriteTo(io.Discard); err == nil || !strings.Contains(err.Error(), "forgotten") {
		t.Errorf("saving: %v", err)
	}
	forward(t, m, Input{Seq: s, Tokens: pattern(3)})
	if s.Truncate(n); s.Len() != n {
		t.Errorf("%d positions are left, want %d", s.Len(), n)
	}
	if s.Truncate(s.from + 2); s.Len() != 0 {
		t.Errorf("%d positions are left whose windows have forgotten some", s.Len())
	}
	if got, want := forward(t, m, Input{Seq: s, Tokens: pattern(30)})[0], forward(t, m, Input{Seq: m.NewSeq(), Tokens: pattern(30)})[0]; !bitEqual(got, want) {
		t.Error("an emptied sequence computes other bits than a new one")
	}
}

// A model without windows forgets nothing.
func TestForgetWithoutWindows(t *testing.T) {
	m := openTiny(t, tinymodel.Spec{})
	s := m.NewSeq()
	forward(t, m, Input{Seq: s, Tokens: pattern(60)})
	if s.Forget(); m.Forgets() || s.from != 0 {
		t.Errorf("forgets %v, up to %d", m.Forgets(), s.from)
	}
}

// A sequence that grows by one position a call has little memory that holds nothing: many short answers would have most of it.
func TestSpansLeaveLittleEmpty(t *testing.T) {
	m := openTiny(t, tinymodel.Spec{Context: 512})
	s := m.NewSeq()
	for s.n < 512 {
		s.extend(1)
		s.n++
		if empty := s.free(len(s.kv.Spans) - 1); empty >= max(8, s.n/4) {
			t.Fatalf("%d positions have memory for %d more", s.n, empty)
		}
	}
}

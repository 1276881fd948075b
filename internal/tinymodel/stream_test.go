package tinymodel

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/quant"
)

func stream(t *testing.T, s Spec) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Stream(&b, s, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t *testing.T, data []byte) *gguf.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Both generators make the same file except for the numbers, which have the requested mean and spread in every type.
func TestStreamMatchesParts(t *testing.T) {
	for _, typ := range slices.Concat(npu.DTypes, npu.ReadOnly) {
		s := Spec{Arch: "qwen2", Type: typ, Dim: 256, FF: 2048, Untied: true, Factors: true, Seed: 3}
		f := open(t, stream(t, s))
		if slices.Contains(npu.ReadOnly, typ) {
			s.Type = npu.F32 // Parts would have to quantise
		}
		_, want := Parts(s)
		s.Type = typ
		spec := s.withDefaults()
		_, vocab := spec.meta()
		for i, w := range spec.weights(vocab) {
			got, err := f.Tensor(w.name)
			if err != nil {
				t.Fatal(err)
			}
			if got.Type != w.typ || got.Rows != want[i].Rows || got.Cols != want[i].Cols || got.Name != want[i].Name {
				t.Errorf("%v, want %v", got, want[i])
			}
			x := make([]float32, got.Rows*got.Cols)
			if err := quant.Dequantize(got.Type, x, got.Data); err != nil {
				t.Fatal(err)
			}
			var sum, squares float64
			for _, v := range x {
				sum, squares = sum+float64(v), squares+float64(v)*float64(v)
			}
			n := float64(len(x))
			mean := sum / n
			spread := math.Sqrt(squares/n - mean*mean)
			// Numbers of a sub-block are not independent: in K-quants, 16 or 32 share a scale.
			tolerance := 3 / math.Sqrt(n/32)
			if math.Abs(mean-w.mean) > tolerance*w.spread || math.Abs(spread-w.spread) > (tolerance+0.015)*w.spread {
				t.Errorf("%v: mean %.4g and spread %.4g, want %.4g and %.4g", got, mean, spread, w.mean, w.spread)
			}
		}
	}
}

// A block's integers use their whole range, except −128.
func TestStreamedIntegers(t *testing.T) {
	for typ, integers := range map[npu.DType]func(b []byte) []int{
		npu.Q8_0: func(b []byte) (q []int) {
			for _, v := range b[2:] {
				q = append(q, int(int8(v)))
			}
			return q
		},
		npu.Q4_0: func(b []byte) (q []int) {
			for _, v := range b[2:] {
				q = append(q, int(v&15)-8, int(v>>4)-8)
			}
			return q
		},
	} {
		f := open(t, stream(t, Spec{Type: typ, Dim: 256}))
		w, err := f.Tensor("token_embd.weight")
		if err != nil {
			t.Fatal(err)
		}
		least, most, negative := 0, 0, 0
		for b := w.Data; len(b) > 0; b = b[typ.BlockBytes():] {
			if b[1]&0x80 != 0 {
				negative++
			}
			for _, q := range integers(b[:typ.BlockBytes()]) {
				least, most = min(least, q), max(most, q)
			}
		}
		if want := map[npu.DType][2]int{npu.Q8_0: {-127, 127}, npu.Q4_0: {-8, 7}}[typ]; [2]int{least, most} != want {
			t.Errorf("%v: from %d to %d, want %v", typ, least, most, want)
		}
		if n := len(w.Data) / typ.BlockBytes(); typ == npu.Q4_0 && (negative < n/3 || negative > n*2/3) {
			t.Errorf("%v: %d of %d scales are negative", typ, negative, n)
		}
	}
}

func TestStreamIsReproducible(t *testing.T) {
	s := Spec{Type: npu.Q4_0, Seed: 1}
	one := stream(t, s)
	if !bytes.Equal(one, stream(t, s)) {
		t.Error("the same seed gives different files")
	}
	s.Seed = 2
	if bytes.Equal(one, stream(t, s)) {
		t.Error("different seeds give the same file")
	}
}

// Memory does not grow with the model. An error of the writer or of progress stops Stream.
func TestStreamTakesLittleMemory(t *testing.T) {
	s := Spec{Type: npu.Q8_0, Dim: 1024, FF: 4096}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	size := int64(0)
	if err := Stream(io.Discard, s, func(done, total int64) error {
		if done <= size || done > total {
			t.Fatalf("%d bytes after %d, of %d", done, size, total)
		}
		size = done
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := int64(after.TotalAlloc - before.TotalAlloc); size < 20<<20 || took > 8<<20 {
		t.Errorf("%d bytes of memory for %d bytes of weights", took, size)
	}
	stop := errors.New("enough")
	calls := 0
	if err := Stream(io.Discard, s, func(int64, int64) error { calls++; return stop }); !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	if err := Stream(full{stop}, s, nil); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	if err := Stream(io.Discard, Spec{Type: npu.Q4_K}, nil); err == nil {
		t.Error("rows of 64 were written in blocks of 256")
	}
}

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

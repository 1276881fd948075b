package model

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/llamacpp"
	"tandem/internal/tinymodel"
	"tandem/npu"
	"tandem/npu/native"
)

// Embeddings are llama.cpp's, which scales them to no length.
func TestEmbeddingsAgreeWithLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	bounds := map[npu.DType]float64{npu.F32: 2e-3, npu.Q8_0: 0.02, npu.Q4_K: 0.03}
	for i, spec := range []tinymodel.Spec{
		{Type: npu.F32}, {Type: npu.Q8_0}, {Type: npu.Q4_K, FF: 512}, {Type: npu.F32, Heads: 8, Layers: 12}, {Type: npu.F32, Heads: 2, FF: 768},
	} {
		for _, arch := range []string{"bert", "nomic-bert", "modern-bert"} {
			t.Run(fmt.Sprintf("%s/%v/%d", arch, spec.Type, i), func(t *testing.T) {
				spec := spec
				spec.Arch, spec.Dim, spec.Seed = arch, 256, uint64(i)
				path := filepath.Join(t.TempDir(), "m.gguf")
				if err := os.WriteFile(path, tinymodel.GGUF(spec), 0o600); err != nil {
					t.Fatal(err)
				}
				theirs, err := lib.Open(path, false)
				if err != nil {
					t.Fatal(err)
				}
				defer theirs.Close()
				m, err := Open(path, native.New(1))
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				for _, n := range []int{1, 5, 40, 200} {
					ids, tokens := make([]int32, n), make([]tandem.Token, n)
					for j := range ids {
						ids[j] = int32((j*89 + 17*n) % 256)
						tokens[j] = tandem.Token(ids[j])
					}
					want, err := theirs.Embedding(ids, 256)
					if err != nil {
						t.Fatal(err)
					}
					got, err := m.Embed(context.Background(), tokens)
					if err != nil {
						t.Fatal(err)
					}
					var dot, square, off float64
					for j, v := range want {
						dot += float64(v) * float64(got[j])
						square += float64(v) * float64(v)
					}
					for j, v := range want {
						off += math.Pow(float64(v)/math.Sqrt(square)-float64(got[j]), 2)
					}
					if off = math.Sqrt(off); !(off < bounds[spec.Type]) {
						t.Errorf("%d tokens: the vectors of length 1 are %.2g apart (cosine %.6f), want at most %g", n, off, dot/math.Sqrt(square), bounds[spec.Type])
					}
				}
			})
		}
	}
}

// An embedding does not depend on threads or chunks, has length 1, and is that of the reference; encoders write no text.
func TestEmbed(t *testing.T) {
	for _, arch := range []string{"bert", "nomic-bert"} {
		spec := tinymodel.Spec{Arch: arch, Dim: 64, Type: npu.Q8_0}
		one, many := variant(t, spec, 1, 8), variant(t, spec, 3, 1, 32, 128)
		a, n, err := one.EmbedText(t.Context(), strings.Repeat("the key is under the mat ", 6))
		if err != nil || n < 100 {
			t.Fatal(n, err)
		}
		b, _, err := many.EmbedText(t.Context(), strings.Repeat("the key is under the mat ", 6))
		if err != nil {
			t.Fatal(err)
		}
		length := 0.0
		for i := range a {
			length += float64(a[i]) * float64(a[i])
			if a[i] != b[i] {
				t.Fatalf("%s: element %d is %g and %g", arch, i, a[i], b[i])
			}
		}
		if math.Abs(length-1) > 1e-5 {
			t.Errorf("%s: length %g", arch, length)
		}
		if _, err := one.Forward(t.Context(), []Input{{Seq: one.NewSeq(), Tokens: []tandem.Token{1}}}); err == nil || !strings.Contains(err.Error(), "is an encoder") {
			t.Errorf("%s: error %v", arch, err)
		}
		if _, _, err := one.EmbedText(t.Context(), strings.Repeat("x y ", 500)); err == nil || !strings.Contains(err.Error(), "context of 512") {
			t.Errorf("%s: error %v", arch, err)
		}
	}
	if _, err := variant(t, tinymodel.Spec{}, 1, 8).Embed(t.Context(), []tandem.Token{1}); err == nil || !strings.Contains(err.Error(), "not an encoder") {
		t.Errorf("error %v", err)
	}
}

package model

import (
	"context"
	"fmt"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/npu"
	"tandem/npu/native"
)

// builtinSize has the shape of the built-in decoder.
func builtinSize(typ npu.DType) tinymodel.Spec {
	s := tinymodel.Spec{Arch: "llama", Type: typ, Layers: 5, Dim: 256, Heads: 4, KVHeads: 2, FF: 512, Context: 1024}
	for i := range 1791 { // 2,048 tokens with the 256 bytes and the end token
		s.Words = append(s.Words, string([]byte{byte('a' + i%26), byte('a' + i/26%26), byte('a' + i/676)}))
	}
	return s
}

func BenchmarkDecode(b *testing.B) {
	for _, typ := range []npu.DType{npu.Q8_0, npu.Q4_0, npu.F16, npu.Q4_K, npu.Q6_K} {
		for _, after := range []int{0, 256} {
			b.Run(fmt.Sprintf("%v/after=%d", typ, after), func(b *testing.B) {
				m := openTiny(b, builtinSize(typ))
				base := m.NewSeq()
				if after > 0 {
					forward(b, m, Input{Seq: base, Tokens: pattern(after)})
				}
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					forward(b, m, Input{Seq: base, Tokens: pattern(1)})
					base.Truncate(after)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
			})
		}
	}
}

func BenchmarkPrefill(b *testing.B) {
	for _, typ := range []npu.DType{npu.Q8_0, npu.Q4_K} {
		b.Run(typ.String(), func(b *testing.B) {
			m := openTiny(b, builtinSize(typ))
			b.ResetTimer()
			for range b.N {
				forward(b, m, Input{Seq: m.NewSeq(), Tokens: pattern(256)})
			}
			b.ReportMetric(256*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

func BenchmarkDecodeBatch(b *testing.B) {
	m := openTiny(b, builtinSize(npu.Q8_0))
	const rows, after = 4, 128
	batch := make([]Input, rows)
	for i := range batch {
		batch[i] = Input{Seq: m.NewSeq(), Tokens: pattern(after)}
	}
	forward(b, m, batch...)
	b.ResetTimer()
	for range b.N {
		for i := range batch {
			batch[i].Tokens = pattern(1)
		}
		forward(b, m, batch...)
		for _, r := range batch {
			r.Seq.Truncate(after)
		}
	}
	b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}

func pattern(n int) []tandem.Token {
	t := make([]tandem.Token, n)
	for i := range t {
		t[i] = tandem.Token((i*89 + 17) % 251)
	}
	return t
}

func openTiny(t testing.TB, s tinymodel.Spec) *Model {
	t.Helper()
	m, err := OpenBytes("tiny", tinymodel.GGUF(s), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func forward(t testing.TB, m *Model, rows ...Input) [][]float32 {
	t.Helper()
	logits, err := m.Forward(context.Background(), rows)
	if err != nil {
		t.Fatal(err)
	}
	return logits
}

package convert

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/model/gguf"
)

// llama2cFiles returns a tiny checkpoint, whose numbers count up, and its vocabulary.
func llama2cFiles(vocab int32) (checkpoint, words []byte) {
	const width, hidden, layers, heads, kv, context = 8, 12, 2, 2, 1, 16
	tokens := max(vocab, -vocab)
	for _, v := range []int32{width, hidden, layers, heads, kv, vocab, context} {
		checkpoint = binary.LittleEndian.AppendUint32(checkpoint, uint32(v))
	}
	n := tokens*width + layers*(2*width+2*width*width+2*width/2*width+3*hidden*width) + width + context*width/heads
	if vocab < 0 {
		n += tokens * width
	}
	for i := range n {
		checkpoint = binary.LittleEndian.AppendUint32(checkpoint, math.Float32bits(float32(i)))
	}
	words = []byte{9, 0, 0, 0}
	for i := range tokens {
		text := []string{"<unk>", "\n<s>\n", "\n</s>\n"}[min(i, 2)]
		if i > 2 {
			text = " w"
		}
		words = binary.LittleEndian.AppendUint32(words, math.Float32bits(-float32(i)))
		words = binary.LittleEndian.AppendUint32(words, uint32(len(text)))
		words = append(words, text...)
	}
	return checkpoint, words
}

func llama2cOf(t testing.TB, checkpoint, words []byte) (string, error) {
	t.Helper()
	dir := t.TempDir()
	in, vocabulary, out := filepath.Join(dir, "tiny.bin"), filepath.Join(dir, "tokenizer.bin"), filepath.Join(dir, "out.gguf")
	if err := os.WriteFile(in, checkpoint, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(vocabulary, words, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Llama2C(t.Context(), in, vocabulary, out, Options{})
	return out, err
}

// Every number of a checkpoint ends up in the right tensor, except the precomputed angles.
func TestLlama2C(t *testing.T) {
	for _, vocab := range []int32{262, -262} {
		out, err := llama2cOf(t, first(llama2cFiles(vocab)), second(llama2cFiles(vocab)))
		if err != nil {
			t.Fatal(err)
		}
		f, err := gguf.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		starts := map[string]float32{"token_embd.weight": 0, "blk.0.attn_norm.weight": 262 * 8, "blk.1.attn_norm.weight": 262*8 + 8, "blk.0.attn_q.weight": 262*8 + 16}
		if vocab < 0 {
			starts["output.weight"] = 262*8 + 2*(2*8+2*64+2*32+3*96) + 8 + 16*4
		}
		for name, want := range starts {
			tensor, err := f.Tensor(name)
			if err != nil {
				t.Fatalf("vocabulary %d: %v", vocab, err)
			}
			if got := math.Float32frombits(binary.LittleEndian.Uint32(tensor.Data)); got != want {
				t.Errorf("vocabulary %d: %s begins with %v, want %v", vocab, name, got, want)
			}
		}
		if _, err := f.Tensor("output.weight"); err == nil && vocab > 0 {
			t.Error("the file has an output matrix that the checkpoint lacks")
		}
		f.Close()
	}
}

func first(a, _ []byte) []byte  { return a }
func second(_, b []byte) []byte { return b }

// overflowing returns a header alone, of a checkpoint whose size in bytes is 28 modulo 2⁶⁴.
func overflowing() (b []byte) {
	for _, v := range []uint32{1 << 24, 2732, 4095, 1, 1, 1 << 24, 16760837} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func TestLlama2CRefuses(t *testing.T) {
	checkpoint, words := llama2cFiles(262)
	bend := func(i int, v int32) []byte {
		b := append([]byte(nil), checkpoint...)
		binary.LittleEndian.PutUint32(b[4*i:], uint32(v))
		return b
	}
	for _, c := range []struct {
		checkpoint, words []byte
		want              string
	}{
		{checkpoint[:20], words, "too short"},
		{checkpoint[:len(checkpoint)-4], words, "its header requires"},
		{bend(0, 0), words, "value 1 of the header is 0"},
		{bend(2, math.MaxInt32), words, "value 3 of the header"},
		{bend(2, 4095), words, "its header requires"},
		{bend(5, math.MinInt32), words, "value 6 of the header"},
		{overflowing(), words, "value 1 of the header"},
		{bend(4, 3), words, "3 key-value heads"},
		{checkpoint, words[:100], "too few for the 262 tokens"},
		{checkpoint, words[:len(words)-1], "are left"},
	} {
		out, err := llama2cOf(t, c.checkpoint, c.words)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%q left a file", c.want)
		}
	}
}

func FuzzLlama2C(f *testing.F) {
	checkpoint, words := llama2cFiles(262)
	f.Add(checkpoint, words)
	f.Add(checkpoint[:28], words[:12])
	f.Add(overflowing(), words)
	f.Fuzz(func(t *testing.T, checkpoint, words []byte) {
		if h, err := readLlama2CHeader(checkpoint); err == nil {
			h.tensors(checkpoint)
		}
		llama2cTokens(words, 262)
	})
}

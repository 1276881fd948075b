package phone

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/native"
)

// A model that is larger than its memory budget gives the same logits bit for bit at every chunk
// size: its weights pass through the slots from the file.
func TestLargerThanItsMemory(t *testing.T) {
	for _, spec := range []tinymodel.Spec{
		{Type: npu.Q8_0, Layers: 4, Dim: 128, FF: 256},
		{Type: npu.Q4_K, Layers: 3, Dim: 256, FF: 512, Arch: "qwen2", Untied: true},
		{Type: npu.F16, Layers: 3, Dim: 64, FF: 96, Untied: true},
	} {
		file := filepath.Join(t.TempDir(), "model.gguf")
		data := tinymodel.GGUF(spec)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		whole, err := model.Open(file, native.New(1))
		if err != nil {
			t.Fatal(err)
		}
		defer whole.Close()
		for _, share := range []int64{10, 4, 2} {
			budget := int64(len(data)) / share
			small, device := openFile(t, file, Options{Threads: 2, Memory: budget})
			a, b := whole.NewSeq(), small.NewSeq()
			tokens := make([]tandem.Token, 70)
			for i := range tokens {
				tokens[i] = tandem.Token(7 * i % 250)
			}
			for _, n := range []int{50, 1, 1, 1, 17} {
				x, err := whole.Forward(context.Background(), []model.Input{{Seq: a, Tokens: tokens[:n], All: true}})
				if err != nil {
					t.Fatal(err)
				}
				y, err := small.Forward(context.Background(), []model.Input{{Seq: b, Tokens: tokens[:n], All: true}})
				if err != nil {
					t.Fatal(err)
				}
				for i := range x {
					if !slices.Equal(x[i], y[i]) {
						t.Fatalf("%v: %d bytes of %d: logits %d differ", spec.Type, budget, len(data), i)
					}
				}
				tokens = tokens[n:]
			}
			c, ok := device.Memory()
			if !ok || c.Peak > budget || c.Transfers == 0 {
				t.Errorf("%v: budget %d: %+v", spec.Type, budget, c)
			}
		}
	}
}

// If the file is truncated while in use, the error names the tensor, and the sequence does not
// change.
func TestFileCutWhileInUse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "model.gguf")
	data := tinymodel.GGUF(tinymodel.Spec{Type: npu.F32, Layers: 3, Dim: 64, FF: 128, Untied: true})
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	m, _ := openFile(t, file, Options{Threads: 1, Memory: int64(len(data)) / 3})
	s := m.NewSeq()
	forward := func() error {
		_, err := m.Forward(context.Background(), []model.Input{{Seq: s, Tokens: []tandem.Token{1}}})
		return err
	}
	if err := forward(); err != nil {
		t.Fatal(err)
	}
	// The embedding is first in the file, and is read in place.
	if err := os.Truncate(file, int64(len(data))/2); err != nil {
		t.Fatal(err)
	}
	if err := forward(); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "weights of") {
		t.Errorf("error %v", err)
	}
	if s.Len() != 1 {
		t.Errorf("%d positions, want 1", s.Len())
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := forward(); err != nil || s.Len() != 2 {
		t.Errorf("after restoring the file: %v, %d positions", err, s.Len())
	}
}

func TestTooLittleMemory(t *testing.T) {
	data := tinymodel.GGUF(tinymodel.Spec{Type: npu.F32, Dim: 1024, Heads: 4, Layers: 1, FF: 64})
	m, _ := openBytes(t, data, Options{Memory: 5000})
	_, err := m.Forward(context.Background(), []model.Input{{Seq: m.NewSeq(), Tokens: []tandem.Token{1}}})
	if err == nil || !strings.Contains(err.Error(), "too small") {
		t.Errorf("error %v", err)
	}
}

// Types that are only read are staged as all others are.
func TestReadOnlyTypesAreStaged(t *testing.T) {
	for _, typ := range []npu.DType{npu.Q5_0, npu.Q5_1} {
		stageReadOnly(t, typ)
	}
}

func stageReadOnly(t *testing.T, typ npu.DType) {
	meta, tensors := tinymodel.Parts(tinymodel.Spec{Type: npu.Q8_0, Layers: 2, Dim: 128, FF: 256})
	for i := range tensors {
		w := &tensors[i]
		if w.Rows == 1 {
			continue
		}
		size := typ.BlockBytes()
		w.Type, w.Data = typ, make([]byte, w.Rows*w.Cols/32*size)
		for j := range w.Data {
			switch j % size {
			case 0:
				w.Data[j] = 0
			case 1, 3: // the latter for Q5_1's minimum
				w.Data[j] = 0x20 // with the previous byte, the scale 2^-7
			default:
				w.Data[j] = byte(j * j >> 3)
			}
		}
	}
	var b bytes.Buffer
	if err := gguf.Write(&b, meta, tensors); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	logits := func(opt Options) []float32 {
		m, _ := openFile(t, file, opt)
		out, err := m.Forward(t.Context(), []model.Input{{Seq: m.NewSeq(), Tokens: []tandem.Token{1, 2, 3}}})
		if err != nil {
			t.Fatal(err)
		}
		return out[0]
	}
	if !slices.Equal(logits(Options{Threads: 1}), logits(Options{Threads: 1, Memory: 100_000})) {
		t.Error("different logits with bounded memory")
	}
}

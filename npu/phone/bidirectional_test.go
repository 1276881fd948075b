package phone

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu"
	"tandem/npu/phone/sim"
)

// liveRows returns n rows from a position on that see each other and all before.
func liveRows(r *rand.Rand, from, n int) (rows []model.DenoiseRow) {
	for i := range n {
		rows = append(rows, model.DenoiseRow{Position: from + i, Token: tandem.Token(r.IntN(250)), Sees: from + n, Logits: true})
	}
	return rows
}

// denoised runs a prompt, a block in several steps and a sparse refresh, and returns all logits.
func denoised(t *testing.T, m *model.Model) (all [][]float32) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	s := m.NewSeq()
	for _, rows := range [][]model.DenoiseRow{
		liveRows(r, 0, 150), liveRows(r, 150, 32), liveRows(r, 150, 32), liveRows(r, 150, 32), // more than a chunk, then a block
		{{Position: 7, Token: 9, Sees: 182, Logits: true}, {Position: 80, Token: 11, Sees: 182}, {Position: 160, Token: 3, Sees: 182, Logits: true}},
		liveRows(r, 150, 32), liveRows(r, 150, 64), liveRows(r, 0, 214),
	} {
		logits, err := m.Denoise(t.Context(), s, rows, new(model.Logits))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, logits...)
	}
	return all
}

// A simulated phone, also with less memory than half the weights, denoises to the same bits as native.
func TestDenoisingOnAPhone(t *testing.T) {
	for _, spec := range []tinymodel.Spec{
		{Arch: "llada", Type: npu.Q8_0, Dim: 128, FF: 256, Layers: 4, Untied: true},
		{Arch: "dream", Type: npu.Q4_0, Dim: 128, FF: 256, Layers: 3, Heads: 8},
	} {
		data := tinymodel.GGUF(spec)
		path := filepath.Join(t.TempDir(), "m.gguf")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		m, _ := openFile(t, path, Options{Threads: 1})
		want := denoised(t, m)
		for _, opt := range []Options{
			{Threads: 2, Chip: "sm8750"}, {Threads: 1, Chip: "sm8650/mllm"}, {Threads: 1, Memory: int64(len(data)) / 2},
			{Threads: 1, Memory: int64(len(data)) / 6}, {Threads: 1, Chip: "sm8850", Memory: int64(len(data)) / 4},
		} {
			m, d := openFile(t, path, opt)
			if !slices.EqualFunc(denoised(t, m), want, slices.Equal[[]float32]) {
				t.Errorf("%s, %+v: the logits differ from native's", spec.Arch, opt)
			}
			if c, ok := d.Memory(); ok && (c.Peak > opt.Memory || c.Transfers == 0) {
				t.Errorf("%s, %+v: %+v", spec.Arch, opt, c)
			}
		}
	}
}

// A block is never cut, and most passes load nothing.
func TestBlocksAreNotCut(t *testing.T) {
	m, d := opened(t, Options{Threads: 1, Chip: "sm8750/mllm"}, func(d npu.Device) (*model.Model, error) {
		return model.OpenBytes("m", tinymodel.GGUF(tinymodel.Spec{Arch: "llada", Type: npu.Q8_0, Dim: 256, FF: 512, Layers: 2}), d)
	})
	const blocks = 4 // embedding, layers, head
	r := rand.New(rand.NewPCG(3, 4))
	s := m.NewSeq()
	pass := func(rows []model.DenoiseRow) (runs, loads int) {
		before, _ := d.Stats()
		if _, err := m.Denoise(t.Context(), s, rows, new(model.Logits)); err != nil {
			t.Fatal(err)
		}
		after, _ := d.Stats()
		return after.Runs - before.Runs, after.Switches - before.Switches
	}
	pass(liveRows(r, 0, 8)) // loads the graphs for 8 rows, which would compute a prompt of 32 in 4 runs
	loads := 0
	for range 40 {
		runs, l := pass(liveRows(r, 8, 32))
		if loads += l; runs != blocks {
			t.Fatalf("%d runs for a block of 32 rows, want %d", runs, blocks)
		}
		runs, l = pass([]model.DenoiseRow{{Position: 0, Token: 5, Sees: 1}, {Position: 20, Token: 5, Sees: 40, Logits: true}})
		if loads += l; runs != blocks {
			t.Fatalf("%d runs for two rows, want %d", runs, blocks)
		}
	}
	if loads > 80 { // the smallest graphs that fit would be 240: of two layers and the head in every pass
		t.Errorf("%d loads in 80 passes", loads)
	}
}

// With everything in one budget, a model of twice its size denoises to the same bits. The weights make room as the caches
// grow, and get it back when a sequence is gone.
func TestCachesShareTheBudget(t *testing.T) {
	data := tinymodel.GGUF(tinymodel.Spec{Arch: "llada", Type: npu.Q8_0, Dim: 256, FF: 1024, Layers: 8, Context: 512})
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	m, _ := openFile(t, path, Options{Threads: 1})
	want := denoised(t, m)
	for _, opt := range []Options{
		{Threads: 1, Memory: int64(len(data)) / 2}, {Threads: 2, Memory: int64(len(data)) / 2, Paging: true},
		{Threads: 1, Chip: "sm8750", Memory: int64(len(data)) / 2},
	} {
		m, d := openFile(t, path, opt)
		denoised(t, m)
		weights, _ := d.Memory() // with the whole budget for them
		opt.Caches = true
		m, d = openFile(t, path, opt)
		for i := range 2 { // two sequences do not fit at once
			if !slices.EqualFunc(denoised(t, m), want, slices.Equal[[]float32]) {
				t.Errorf("%+v: the logits differ from those without a bound", opt)
			}
			if c, _ := d.Memory(); i == 0 && c.TransferBytes <= weights.TransferBytes {
				t.Errorf("%+v: %d bytes of weights moved, and %d when the caches counted nothing", opt, c.TransferBytes, weights.TransferBytes)
			}
		}
		if c, _ := d.Memory(); c.Peak > opt.Memory || c.Transfers == 0 {
			t.Errorf("%+v: %+v", opt, c)
		}
	}
	m, _ = openFile(t, path, Options{Threads: 1, Memory: int64(len(data)) / 6, Caches: true})
	if _, err := m.Denoise(t.Context(), m.NewSeq(), liveRows(rand.New(rand.NewPCG(1, 1)), 0, 400), new(model.Logits)); err == nil || !strings.Contains(err.Error(), "KV caches and activations") {
		t.Errorf("a budget too small for the caches: %v", err)
	}
}

// On a simulated phone the second path is the processor's: its passes take none of the NPU's time, and go on while the NPU
// computes until both meet.
func TestSecondPathIsALane(t *testing.T) {
	data := tinymodel.GGUF(tinymodel.Spec{Arch: "llada", Type: npu.Q8_0, Dim: 256, FF: 512, Layers: 2})
	d, err := Open(Options{Threads: 1, Chip: "sm8750", Unpaced: true})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.OpenBytes("m", data, d)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	second, err := m.Second()
	if err != nil || second == m {
		t.Fatalf("no second path: %v", err)
	}
	// pass computes rows of a sequence and returns what that took.
	pass := func(m *model.Model, s *model.Seq, rows []model.DenoiseRow) sim.Stats {
		t.Helper()
		before, _ := d.Stats()
		if _, err := m.Denoise(t.Context(), s, rows, new(model.Logits)); err != nil {
			t.Fatal(err)
		}
		after, _ := d.Stats()
		return after.Sub(before)
	}
	rows := liveRows(rand.New(rand.NewPCG(1, 1)), 0, 40)
	first, other := m.NewSeq(), second.NewSeq()
	pass(m, first, rows)
	second.SyncClocks()
	dense, sparse := pass(m, first, rows), pass(second, other, rows)
	if dense.NPU <= 0 || sparse.NPU != 0 || sparse.Busy != 0 || sparse.CPU <= 0 || sparse.Joules <= 0 || sparse.Runs != 0 {
		t.Errorf("the first path %+v, the second %+v", dense, sparse)
	}
	more := pass(second, second.NewSeq(), append(rows, liveRows(rand.New(rand.NewPCG(1, 2)), 40, 80)...))
	if more.CPU <= sparse.CPU {
		t.Errorf("%v for three times as many rows, %v", more.CPU, sparse.CPU)
	}
	before, _ := d.Stats()
	second.SyncClocks()
	after, _ := d.Stats()
	if wait, want := after.Busy-before.Busy, max(0, sparse.CPU+more.CPU-dense.Busy); wait != want {
		t.Errorf("the NPU waits %v for the second path, want %v", wait, want)
	}
	second.SyncClocks()
	if again, _ := d.Stats(); again.Busy != after.Busy {
		t.Errorf("meeting twice takes %v", again.Busy-after.Busy)
	}
}

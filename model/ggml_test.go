package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/ggml"
	"tandem/npu/native"
)

// needGGML returns the devices of the ggml libraries, or skips the test if there are none. It falls back to
// TANDEM_LLAMA_PATH for the libraries' folder.
func needGGML(t testing.TB) []ggml.Info {
	t.Helper()
	if os.Getenv(ggml.PathVariable) == "" && os.Getenv("TANDEM_LLAMA_PATH") != "" {
		os.Setenv(ggml.PathVariable, os.Getenv("TANDEM_LLAMA_PATH")) // for the whole process: it is read only once
	}
	r, err := ggml.Probe()
	if err != nil {
		t.Skipf("no ggml libraries: %v", err)
	}
	return r.Devices
}

// ggmlBound is how far logits on ggml's devices may be from native's, relative to the standard deviation of a
// position's logits: about three times the largest measured difference. Only rounding differs, as for oracleBound. In
// addition, ggml's F16 attention rounds more in batches of few rows.
var ggmlBound = map[npu.DType]float64{
	npu.F32: 0.02, npu.F16: 0.02, npu.BF16: 0.06, npu.Q8_0: 0.15, npu.Q4_0: 0.15, npu.Q4_K: 0.2, npu.Q5_K: 0.2, npu.Q6_K: 0.2,
	npu.Q4_1: 0.15, npu.Q5_0: 0.15, npu.Q5_1: 0.15, npu.IQ4_NL: 0.15, npu.MXFP4: 0.15, npu.Q2_K: 0.2, npu.Q3_K: 0.2, npu.IQ4_XS: 0.2,
}

// gpuBound is the smallest bound for GPUs, which also round the inputs and sums of products to fewer bits.
const gpuBound = 0.1

func boundOf(t npu.DType, processor bool) float64 {
	if !processor {
		return max(gpuBound, ggmlBound[t])
	}
	return ggmlBound[t]
}

func TestLogitsOnGGMLAgreeWithNative(t *testing.T) {
	devices := needGGML(t)
	var specs []tinymodel.Spec
	for _, arch := range []string{"llama", "qwen2"} {
		for _, typ := range slices.Concat(npu.DTypes, npu.ReadOnly) {
			specs = append(specs, tinymodel.Spec{Arch: arch, Type: typ, Untied: arch == "llama"})
		}
	}
	specs = append(specs, tinymodel.Spec{Bias: true, Factors: true, RopeBase: 500000}, tinymodel.Spec{Arch: "qwen2", Linear: 4, KVHeads: 1, Heads: 8},
		tinymodel.Spec{Arch: "opt"}, tinymodel.Spec{HeadDim: 96}, tinymodel.Spec{Arch: "llada"}, tinymodel.Spec{Arch: "qwen3", HeadDim: 96}, tinymodel.Spec{Arch: "olmo2"},
		tinymodel.Spec{Arch: "smollm3"}, tinymodel.Spec{Arch: "granite"}, tinymodel.Spec{Arch: "gemma"}, tinymodel.Spec{Arch: "phi3", Factors: true}, tinymodel.Spec{YaRN: 4}, tinymodel.Spec{Arch: "mistral3", YaRN: 4}, tinymodel.Spec{Arch: "gemma2", Window: 7},
		tinymodel.Spec{Arch: "gemma3", Layers: 6, Window: 40}, tinymodel.Spec{Arch: "dream", Type: npu.Q8_0})
	for _, info := range devices {
		for i, s := range specs {
			t.Run(fmt.Sprintf("%s/%s/%v/%d", info.Name, s.Arch, s.Type, i), func(t *testing.T) {
				if s.KVHeads == 1 && strings.Contains(info.Description, "llvmpipe") {
					t.Skip("on this driver products of many inputs with weights of 32 rows or fewer are wrong, libllama's too")
				}
				s.Dim, s.FF, s.Seed = 256, 512, uint64(i)
				compareDevices(t, s, "ggml:"+info.Name, info.Kind == "cpu")
			})
		}
	}
}

// openDevice opens native or a device of ggml, with one thread.
func openDevice(t *testing.T, name string) npu.Device {
	t.Helper()
	which, ok := strings.CutPrefix(name, "ggml:")
	if !ok {
		return native.New(1)
	}
	d, err := ggml.Open(which, 1)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// compareDevices compares the logits of a story on native and on the device.
func compareDevices(t *testing.T, s tinymodel.Spec, device string, processor bool) {
	var file bytes.Buffer
	if slices.Contains(npu.ReadOnly, s.Type) { // it cannot be written from numbers
		if err := tinymodel.Stream(&file, s, nil); err != nil {
			t.Fatal(err)
		}
	} else {
		file.Write(tinymodel.GGUF(s))
	}
	b := file.Bytes()
	var logits [2][][]float32
	for j, name := range []string{"native", device} {
		m, err := OpenBytes("tiny", b, openDevice(t, name))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if (m.Rounding() == "") != (name == "native") {
			t.Errorf("%s: Rounding() = %q", name, m.Rounding())
		}
		if m.Processor() != (processor || name == "native") {
			t.Errorf("%s: Processor() = %v", name, m.Processor())
		}
		if m.Config().Diffusion {
			logits[j] = liveStory(t, m)
		} else {
			logits[j] = story(t, m)
		}
	}
	worst := 0.0
	for k := range logits[0] {
		scale := deviation(logits[0][k])
		for l, v := range logits[0][k] {
			off := math.Abs(float64(v-logits[1][k][l])) / scale
			if off != off {
				t.Fatalf("logits %d of %d contain %v", k, len(logits[0]), logits[1][k][l])
			}
			worst = max(worst, off)
		}
	}
	bound := boundOf(s.Type, processor)
	t.Logf("logits differ by %.2g of their deviation", worst)
	if worst > bound {
		t.Errorf("logits differ by %.2g of their deviation, want at most %.2g", worst, bound)
	}
}

// elsewhere is a device other than the processor.
type elsewhere struct{ npu.Device }

func (elsewhere) Traits() npu.Traits { return npu.Traits{} }

func TestProcessor(t *testing.T) {
	f, err := gguf.Parse("test", tinymodel.GGUF(tinymodel.Spec{Type: npu.Q8_0}))
	if err != nil {
		t.Fatal(err)
	}
	m, err := load(f, elsewhere{native.New(1)}, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.Processor() {
		t.Error("Processor() = true for a device that is not a processor")
	}
}

// large is a device that computes many rows at once.
type large struct{ npu.Device }

func (large) Traits() npu.Traits { return npu.Traits{RowsAtOnce: 300} }

func TestChunksFor(t *testing.T) {
	d := native.New(1)
	defer d.Close()
	if got := chunksFor(d); !slices.Equal(got, chunkSizes) {
		t.Errorf("chunksFor(native) = %v, want the default", got)
	}
	if got := chunksFor(large{d}); !slices.Equal(got, []int{1, 8, 32, 128, 300}) || len(chunkSizes) != 4 {
		t.Errorf("chunksFor(a device of 300 rows) = %v", got)
	}
}

// counted records how many rows its programs ran.
type counted struct {
	npu.Device
	rows *[]int
}

func (c counted) Compile(g *npu.Graph) (npu.Program, error) {
	p, err := c.Device.Compile(g)
	return countedProgram{p, c.rows}, err
}

type countedProgram struct {
	npu.Program
	rows *[]int
}

func (c countedProgram) Run(a npu.Args) error {
	*c.rows = append(*c.rows, a.Rows)
	return c.Program.Run(a)
}

func TestWarm(t *testing.T) {
	f, err := gguf.Parse("test", tinymodel.GGUF(tinymodel.Spec{Context: 40}))
	if err != nil {
		t.Fatal(err)
	}
	var rows []int
	m, err := load(f, counted{native.New(1), &rows}, []int{1, 64})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Warm(t.Context()); err != nil {
		t.Error(err)
	}
	for _, n := range []int{1, 2, 5, 8, 16, 40, 64} { // 64 rows of several sequences
		if !slices.Contains(rows, n) {
			t.Errorf("no run of %d rows among %d", n, rows)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Warm(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// story uses a model as an answer does: a shared prefix, forks, batches of several sizes, rollbacks, and a cache that is
// saved and read. It returns all logits.
func story(t *testing.T, m *Model) (logits [][]float32) {
	t.Helper()
	add := func(rows ...Input) {
		l, err := m.Forward(context.Background(), rows)
		if err != nil {
			t.Fatal(err)
		}
		logits = append(logits, l...)
	}
	tokens := func(n, seed int) (list []tandem.Token) {
		for i := range n {
			list = append(list, tandem.Token((i*89+seed*31+17)%250))
		}
		return list
	}
	base := m.NewSeq()
	add(Input{Seq: base, Tokens: tokens(150, 0), All: true}) // more than a chunk
	var forks []*Seq
	for i := range 3 {
		forks = append(forks, base.Fork())
		add(Input{Seq: forks[i], Tokens: tokens(5+20*i, i)})
	}
	for i := range 6 {
		add(Input{Seq: forks[0], Tokens: tokens(1, i)}, Input{Seq: forks[1], Tokens: tokens(1, 2*i)}, Input{Seq: forks[2], Tokens: tokens(1+i, 3*i)})
	}
	forks[1].Truncate(forks[1].Len() - 4)
	add(Input{Seq: forks[1], Tokens: tokens(2, 9)})
	forks[2].Truncate(100) // within the shared prefix
	add(Input{Seq: forks[2], Tokens: tokens(3, 8)})
	var saved strings.Builder
	if _, err := forks[0].WriteTo(&saved); err != nil {
		t.Fatal(err)
	}
	read, err := m.ReadSeq(strings.NewReader(saved.String()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		add(Input{Seq: read, Tokens: tokens(1, i)})
	}
	return logits
}

// On ggml's devices, a draft tree gives the same logits as decoding its paths one by one, except for rounding.
func TestTreesOnGGML(t *testing.T) {
	for _, info := range needGGML(t) {
		t.Run(info.Name, func(t *testing.T) { testTrees(t, "ggml:"+info.Name) })
	}
}

func testTrees(t *testing.T, device string) {
	m, err := OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Dim: 256, FF: 512}), openDevice(t, device))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	prompt := pattern(40)
	tree, plain := m.NewSeq(), m.NewSeq()
	forward(t, m, Input{Seq: tree, Tokens: prompt})
	forward(t, m, Input{Seq: plain, Tokens: prompt})
	// Node 0 is the root, 1 and 2 are its children, 3 is a child of 2.
	drafts, parents := []tandem.Token{7, 8, 9, 10}, []int{-1, 0, 0, 2}
	got := forward(t, m, Input{Seq: tree, Tokens: drafts, Parents: parents, All: true})
	want := forward(t, m, Input{Seq: plain, Tokens: []tandem.Token{7, 9, 10}, All: true})
	for i, node := range []int{0, 2, 3} {
		closeTo(t, fmt.Sprintf("node %d", node), got[node], want[i])
	}
	if err := tree.Keep(0, 2, 3); err != nil { // moves keys and values without telling the device
		t.Fatal(err)
	}
	for i := range 3 {
		closeTo(t, fmt.Sprintf("token %d after the tree", i), forward(t, m, Input{Seq: tree, Tokens: pattern(1)})[0],
			forward(t, m, Input{Seq: plain, Tokens: pattern(1)})[0])
	}
}

func closeTo(t *testing.T, what string, got, want []float32) {
	t.Helper()
	scale := deviation(want)
	for i := range want {
		if off := math.Abs(float64(got[i]-want[i])) / scale; !(off <= 0.02) {
			t.Fatalf("%s: logits differ by %.2g of their deviation, want at most 0.02", what, off)
		}
	}
}

// Package lora reads low-rank adapters, checks them against a model and adds them up, so that one model can do many tasks
// (Samsung §3.1, §3.2; LoRA: Hu et al. 2022). An adapter is a GGUF file as llama.cpp's converter writes it, or a PEFT folder
// with adapter_config.json and safetensors.
//
// Package model computes with adapters, by the three approaches of the paper (model.Approach). This package knows nothing of
// devices, prompts or documents.
package lora

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/model"
	"tandem/model/convert"
	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/quant"
)

// An Adapter holds the factors of a file, not yet scaled.
type Adapter struct {
	Name     string
	Arch     string   // architecture of its base; empty if the file does not say
	Base     [32]byte // fingerprint of the model that it was added for; zero if the file does not say
	BaseName string   // its name
	Factors  []Factors

	// Forecast holds forecast embeddings, whose rows have the factors (DS2D: Samsung §3.5; specdec.Forecast). Nil for an
	// adapter of a text's rows.
	Forecast [][]float32

	hub bool // rows of queries and keys are in the hub's order, with half-split heads
}

// Factors change one product by Scale·(x·Aᵀ)·Bᵀ (Samsung Eq. 1–4).
type Factors struct {
	Weight  string // the base's tensor: "blk.7.attn_q.weight"
	Rank    int
	In, Out int
	A       []float32 // [Rank × In]
	B       []float32 // [Out × Rank]
	Scale   float32   // alpha/rank, or as the file says
	from    string    // the tensor's name in the file, for errors
}

// Limits of what a file may hold.
const (
	maxLayers = 1024
	maxWidth  = 1 << 20
	maxConfig = 1 << 20 // bytes of adapter_config.json
)

// Ranks returns the lowest and the highest rank of the adapter's factors.
func (a *Adapter) Ranks() (low, high int) {
	for i, f := range a.Factors {
		if i == 0 || f.Rank < low {
			low = f.Rank
		}
		high = max(high, f.Rank)
	}
	return low, high
}

// Parts returns the parts of a layer that it changes, such as attn_q, sorted.
func (a *Adapter) Parts() []string {
	var list []string
	for _, f := range a.Factors {
		parts := strings.Split(f.Weight, ".")
		list = append(list, parts[2])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Parameters counts the numbers of all factors.
func (a *Adapter) Parameters() (n int) {
	for _, f := range a.Factors {
		n += len(f.A) + len(f.B)
	}
	return n
}

// Open reads an adapter: a GGUF file, a folder of PEFT, or a safetensors file in one.
func Open(path string) (*Adapter, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return openPEFT(path, "adapter_model.safetensors")
	case filepath.Ext(path) == ".safetensors":
		return openPEFT(filepath.Dir(path), filepath.Base(path))
	}
	b, unmap, err := gguf.Map(path)
	if err != nil {
		return nil, err
	}
	defer unmap()
	return ReadGGUF(path, b)
}

func openPEFT(dir, file string) (*Adapter, error) {
	config, err := os.Open(filepath.Join(dir, "adapter_config.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no adapter_config.json: give the folder that PEFT's save_pretrained wrote, or a GGUF file", dir)
	}
	if err != nil {
		return nil, err
	}
	defer config.Close()
	text, err := io.ReadAll(io.LimitReader(config, maxConfig+1))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, file)); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(dir, "adapter_model.bin")); err == nil {
			return nil, fmt.Errorf("%s: adapter_model.bin is a pickle, which could run programs: save it as safetensors", dir)
		}
	}
	b, unmap, err := gguf.Map(filepath.Join(dir, file))
	if err != nil {
		return nil, err
	}
	defer unmap()
	return readPEFT(dir, text, b)
}

// numbers reads a factor's numbers as float32. A NaN or infinity is an error.
func numbers(name string, typ npu.DType, data []byte, n int) ([]float32, error) {
	v := make([]float32, n)
	if err := quant.Dequantize(typ, v, data); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	for i, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return nil, fmt.Errorf("tensor %q: element %d is %v: the adapter is damaged", name, i, x)
		}
	}
	return v, nil
}

// finish checks what both formats have in common, and sorts the list.
func (a *Adapter) finish() (*Adapter, error) {
	if len(a.Factors) == 0 {
		return nil, fmt.Errorf("%s: no LoRA factors of a layer's products: it changes nothing", a.Name)
	}
	for _, f := range a.Factors {
		if !(math.Abs(float64(f.Scale)) < 1e6) {
			return nil, fmt.Errorf("%s: tensor %q: scale %v: alpha is damaged", a.Name, f.from, f.Scale)
		}
	}
	slices.SortFunc(a.Factors, func(x, y Factors) int { return strings.Compare(x.Weight, y.Weight) })
	for i := 1; i < len(a.Factors); i++ {
		if a.Factors[i].Weight == a.Factors[i-1].Weight {
			return nil, fmt.Errorf("%s: %q and %q change the same product", a.Name, a.Factors[i-1].from, a.Factors[i].from)
		}
	}
	return a, nil
}

// check returns an error that names the tensor if the adapter does not fit the model.
func (a *Adapter) check(m *model.Model) error {
	c := m.Config()
	if a.Forecast != nil && len(a.Forecast[0]) != c.Dim {
		return fmt.Errorf("adapter %s: tensor %q has rows of %d, and the model's have %d: it is for another model", a.Name, forecastTensor, len(a.Forecast[0]), c.Dim)
	}
	if a.Arch != "" && a.Arch != c.Arch {
		return fmt.Errorf("adapter %s is for a model of architecture %s, and this one is %s: use its own base", a.Name, a.Arch, c.Arch)
	}
	if a.Base != ([32]byte{}) && a.Base != m.Fingerprint() {
		sum := m.Fingerprint()
		return fmt.Errorf("adapter %s was added for the model with fingerprint %x, and this one has %x: use that model, or add the adapter again for this one",
			a.Name, a.Base[:4], sum[:4])
	}
	return nil
}

// changes returns the adapter's changes of a model, multiplied by a scale.
func (a *Adapter) changes(m *model.Model, scale float32) ([]model.Change, error) {
	if err := a.check(m); err != nil {
		return nil, err
	}
	c := m.Config()
	list := make([]model.Change, len(a.Factors))
	for i, f := range a.Factors {
		adjacent := a.hub && c.Rope.Dims > 0 && c.Rope.Pairing == npu.Adjacent && rotated(f.Weight)
		if adjacent && f.Out%c.HeadDim != 0 {
			return nil, fmt.Errorf("adapter %s: tensor %q has %d rows, which are not heads of %d: it is for another model", a.Name, f.from, f.Out, c.HeadDim)
		}
		out := model.Change{Weight: f.Weight, Rank: f.Rank, A: f.A, B: make([]float32, len(f.B))}
		for row := range f.Out {
			from := row
			if adjacent {
				from = convert.HalfSplit(row, c.HeadDim)
			}
			for r := range f.Rank {
				out.B[r*f.Out+row] = f.B[from*f.Rank+r] * f.Scale * scale
			}
		}
		list[i] = out
	}
	return list, nil
}

// rotated reports whether positions rotate the product's rows.
func rotated(weight string) bool {
	return strings.HasSuffix(weight, ".attn_q.weight") || strings.HasSuffix(weight, ".attn_k.weight")
}

// A Scaled is an adapter with the share of it that is added; 1 is all of it.
type Scaled struct {
	*Adapter
	Scale float64
}

// sum returns the sum of adapters for a model. Adapters of scale 0 are left out; if none is left, the Delta has no changes.
func sum(m *model.Model, list ...Scaled) (model.Delta, error) {
	var d model.Delta
	at := map[string]int{}
	for _, s := range list {
		if !(math.Abs(s.Scale) <= 1000) {
			return d, fmt.Errorf("adapter %s: scale %v, want −1000 to 1000", s.Name, s.Scale)
		}
		if d.Name != "" {
			d.Name += "+"
		}
		if d.Name += s.Name; s.Scale != 1 {
			d.Name += fmt.Sprintf("=%g", s.Scale)
		}
		changes, err := s.changes(m, float32(s.Scale))
		if err != nil {
			return model.Delta{}, err
		}
		if s.Scale == 0 {
			continue
		}
		for _, c := range changes {
			i, ok := at[c.Weight]
			if !ok {
				at[c.Weight] = len(d.Changes)
				d.Changes = append(d.Changes, c)
				continue
			}
			sum := &d.Changes[i]
			// Both have a row for each rank, so the factors of a sum stand one after the other.
			sum.A, sum.B, sum.Rank = slices.Concat(sum.A, c.A), slices.Concat(sum.B, c.B), sum.Rank+c.Rank
		}
	}
	return d, nil
}

// Mount mounts sums of adapters on a model, by one approach. A sum that changes nothing gives nil, which is the model itself.
func Mount(m *model.Model, how model.Approach, sums ...[]Scaled) ([]*model.Adapter, error) {
	out := make([]*model.Adapter, len(sums))
	var deltas []model.Delta
	var at []int
	for i, list := range sums {
		d, err := sum(m, list...)
		if err != nil {
			return nil, err
		}
		if len(d.Changes) > 0 {
			deltas, at = append(deltas, d), append(at, i)
		}
	}
	mounted, err := m.Mount(how, deltas...)
	if err != nil {
		return nil, err
	}
	for j, a := range mounted {
		out[at[j]] = a
	}
	return out, nil
}

// fingerprint parses the fingerprint of a base.
func fingerprint(text string) (sum [32]byte, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(sum) {
		return sum, fmt.Errorf("%.80q is not a fingerprint", text)
	}
	return [32]byte(b), nil
}

package lora

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tandem/model"
	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/quant"
)

// Keys of an adapter's file. The last two are ours.
const (
	keyType     = "general.type"
	keyKind     = "adapter.type"
	keyAlpha    = "adapter.lora.alpha"
	keyBase     = "tandem.adapter.base"
	keyBaseName = "tandem.adapter.base_name"
)

// forecastTensor holds forecast embeddings [m × Dim], at most maxForecast. train/forecast.py writes it.
const (
	forecastTensor = "forecast.embeddings"
	maxForecast    = 8
)

// weightOf matches the names of products that can be adapted.
var weightOf = regexp.MustCompile(`^blk\.(0|[1-9][0-9]{0,3})\.(attn_q|attn_k|attn_v|attn_output|ffn_gate|ffn_up|ffn_down)\.weight$`)

// adaptable returns an error unless adapters may change the tensor.
func adaptable(weight string) error {
	m := weightOf.FindStringSubmatch(weight)
	if m == nil {
		return fmt.Errorf("%q cannot be adapted: only the products of a layer's attention and feed-forward can (attn_q, attn_k, attn_v, attn_output, ffn_gate, ffn_up, ffn_down)", weight)
	}
	if n, _ := strconv.Atoi(m[1]); n >= maxLayers {
		return fmt.Errorf("%q is of layer %d: at most %d layers", weight, n, maxLayers)
	}
	return nil
}

// ReadGGUF reads an adapter as llama.cpp's converter writes it: blk.N.PART.weight.lora_a [rank × in] and lora_b
// [out × rank], and alpha in the metadata. Errors mention the name. Nothing of the adapter aliases b.
func ReadGGUF(name string, b []byte) (*Adapter, error) {
	f, err := gguf.Parse(name, b)
	if err != nil {
		return nil, err
	}
	a := &Adapter{Name: name}
	if err := a.readMeta(f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if f.Has(forecastTensor) {
		if a.Forecast, err = embeddings(f); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	pairs, err := factorNames(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	alpha, _ := f.Float(keyAlpha)
	for _, weight := range slices.Sorted(maps.Keys(pairs)) {
		x, err := pair(f, weight, pairs[weight])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if x.Scale = 1; alpha != 0 { // as in llama.cpp
			x.Scale = float32(alpha / float64(x.Rank))
		}
		a.Factors = append(a.Factors, x)
	}
	return a.finish()
}

// factorNames returns the names of the two factors of each weight.
func factorNames(f *gguf.File) (map[string]*[2]string, error) {
	pairs := map[string]*[2]string{}
	for _, info := range f.Tensors {
		if info.Name == forecastTensor {
			continue
		}
		weight, isA := strings.CutSuffix(info.Name, ".lora_a")
		which := 0
		if !isA {
			var isB bool
			if weight, isB = strings.CutSuffix(info.Name, ".lora_b"); !isB {
				return nil, fmt.Errorf("tensor %.200q is not a factor (lora_a, lora_b)", info.Name)
			}
			which = 1
		}
		if pairs[weight] == nil {
			pairs[weight] = new([2]string)
		}
		pairs[weight][which] = info.Name
	}
	return pairs, nil
}

// readMeta reads the keys that say what the file is.
func (a *Adapter) readMeta(f *gguf.File) (err error) {
	typ, _ := f.Meta.String(keyType)
	if typ != "adapter" {
		return errors.New("not an adapter: use it with --model if it is a model")
	}
	if kind, _ := f.Meta.String(keyKind); kind != "lora" {
		return fmt.Errorf("adapter of type %.80q: only lora is supported", kind)
	}
	if _, ok := f.Value("adapter.alora.invocation_tokens"); ok {
		return errors.New("activated LoRA (adapter.alora.invocation_tokens) is not supported: it adapts only some of the tokens")
	}
	a.Arch, _ = f.Meta.String("general.architecture")
	if base, ok := f.Meta.String(keyBase); ok {
		if a.Base, err = fingerprint(base); err != nil {
			return fmt.Errorf("%s: %w", keyBase, err)
		}
	}
	a.BaseName, _ = f.Meta.String(keyBaseName)
	return nil
}

// embeddings reads forecast embeddings.
func embeddings(f *gguf.File) (rows [][]float32, err error) {
	t, err := f.Tensor(forecastTensor)
	if err != nil {
		return nil, err
	}
	if t.Rows < 1 || t.Rows > maxForecast || t.Cols < 1 || t.Cols > maxWidth {
		return nil, fmt.Errorf("tensor %q has %d rows of %d: want 1 to %d rows of at most %d", forecastTensor, t.Rows, t.Cols, maxForecast, maxWidth)
	}
	all, err := numbers(forecastTensor, t.Type, t.Data, t.Rows*t.Cols)
	if err != nil {
		return nil, err
	}
	for ; len(all) > 0; all = all[t.Cols:] {
		rows = append(rows, all[:t.Cols])
	}
	return rows, nil
}

// pair reads the two factors of a weight.
func pair(f *gguf.File, weight string, names *[2]string) (x Factors, err error) {
	switch {
	case names[0] == "":
		return x, fmt.Errorf("tensor %q has no %s.lora_a", names[1], weight)
	case names[1] == "":
		return x, fmt.Errorf("tensor %q has no %s.lora_b", names[0], weight)
	}
	if err := adaptable(weight); err != nil {
		return x, err
	}
	x = Factors{Weight: weight, from: names[0]}
	var t [2]npu.Tensor
	for i, name := range names {
		if t[i], err = f.Tensor(name); err != nil {
			return x, err
		}
	}
	x.Rank, x.In, x.Out = t[0].Rows, t[0].Cols, t[1].Rows
	if t[1].Cols != x.Rank {
		return x, fmt.Errorf("tensors %q of %d×%d and %q of %d×%d have different ranks", names[0], x.Rank, x.In, names[1], x.Out, t[1].Cols)
	}
	if x.In > maxWidth || x.Out > maxWidth || x.Rank > model.MaxRank {
		return x, fmt.Errorf("tensor %q: rank %d of %d×%d: at most rank %d of %d×%d", names[0], x.Rank, x.Out, x.In, model.MaxRank, maxWidth, maxWidth)
	}
	if x.A, err = numbers(names[0], t[0].Type, t[0].Data, x.Rank*x.In); err != nil {
		return x, err
	}
	x.B, err = numbers(names[1], t[1].Type, t[1].Data, x.Out*x.Rank)
	return x, err
}

// Write writes the adapter for a model as a GGUF file that llama.cpp reads too, in 16 bits, with the model's fingerprint.
func (a *Adapter) Write(w io.Writer, m *model.Model) error {
	changes, err := a.changes(m, 1)
	if err != nil {
		return err
	}
	sum := m.Fingerprint()
	// With alpha 0 nothing is scaled, so that factors of any scale can stand together: the scale is in B.
	meta := []gguf.KV{{Key: "general.architecture", Value: m.Config().Arch}, {Key: keyType, Value: "adapter"}, {Key: keyKind, Value: "lora"},
		{Key: "general.name", Value: a.Name}, {Key: keyAlpha, Value: float32(0)}, {Key: keyBase, Value: fmt.Sprintf("%x", sum)}, {Key: keyBaseName, Value: m.Config().Name}}
	var infos []gguf.TensorInfo
	var data [][]float32
	for _, c := range changes {
		in, out := uint64(len(c.A)/c.Rank), uint64(len(c.B)/c.Rank)
		infos = append(infos, gguf.TensorInfo{Name: c.Weight + ".lora_a", Type: npu.F16, Shape: []uint64{in, uint64(c.Rank)}},
			gguf.TensorInfo{Name: c.Weight + ".lora_b", Type: npu.F16, Shape: []uint64{uint64(c.Rank), out}})
		b := make([]float32, len(c.B))
		for i, v := range c.B {
			b[i%int(out)*c.Rank+i/int(out)] = v
		}
		data = append(data, c.A, b)
	}
	if a.Forecast != nil {
		infos = append(infos, gguf.TensorInfo{Name: forecastTensor, Type: npu.F16, Shape: []uint64{uint64(len(a.Forecast[0])), uint64(len(a.Forecast))}})
		data = append(data, slices.Concat(a.Forecast...))
	}
	gw, err := gguf.NewWriter(w, meta, infos)
	if err != nil {
		return err
	}
	for _, v := range data {
		b := make([]byte, 2*len(v))
		if err := quant.Quantize(npu.F16, b, v); err != nil {
			return err
		}
		if _, err := gw.Write(b); err != nil {
			return err
		}
	}
	return gw.Close()
}

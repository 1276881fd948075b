package model

import (
	"context"
	"fmt"
	"math"

	"tandem"
	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/phone/pass"
	"tandem/npu/reference"
)

// OpenOn opens the GGUF file at path, or the bytes b under that name, on a device of the caller's, such as
// one that rewrites graphs (package pass). Closing the model closes the device.
func OpenOn(path string, b []byte, d npu.Device) (*Model, error) {
	var f *gguf.File
	var err error
	if b != nil {
		f, err = gguf.ParseNamed(path, b)
	} else {
		f, err = gguf.Open(path)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	m, err := load(f, d, []int{1, 64})
	if err != nil {
		f.Close()
		return nil, err
	}
	return m, nil
}

// Perplexity is e to the mean of −ln p of each token after the first of its window, given those before it
// in the window. Windows follow each other without overlap.
func (m *Model) Perplexity(ctx context.Context, tokens []tandem.Token, window int) (float64, error) {
	if window < 2 || window > m.config.Context {
		return 0, fmt.Errorf("windows of %d tokens: want 2 to the context of %d", window, m.config.Context)
	}
	var sum float64
	var memory Logits
	n := 0
	for len(tokens) >= 2 {
		part := tokens[:min(window, len(tokens))]
		tokens = tokens[len(part):]
		logits, err := m.ForwardInto(ctx, []Input{{Seq: m.NewSeq(), Tokens: part[:len(part)-1], All: true}}, &memory)
		if err != nil {
			return 0, err
		}
		for i, l := range logits {
			sum += logSumExp(l) - float64(l[part[i+1]])
			n++
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("perplexity needs two tokens at least")
	}
	return math.Exp(sum / float64(n)), nil
}

func logSumExp(l []float32) float64 {
	top := math.Inf(-1)
	for _, v := range l {
		top = max(top, float64(v))
	}
	var sum float64
	for _, v := range l {
		sum += math.Exp(float64(v) - top)
	}
	return top + math.Log(sum)
}

// INT4 says how a model's layers are rounded: weights to 4 bits by channel, activations to 8 bits by tensor
// with what calibration saw (Samsung §3.3). Embedding, norms, attention and the head stay as they are.
type INT4 struct{ largest map[string]float32 }

// CalibrateINT4 looks at the inputs of every product in the layers while the model (as OpenOn opens it)
// reads the tokens.
func CalibrateINT4(ctx context.Context, path string, b []byte, tokens []tandem.Token, window int) (INT4, error) {
	c := INT4{map[string]float32{}}
	d := reference.New()
	d.Observe = func(n *npu.Node, x []float32) {
		top := c.largest[n.Weight.Name]
		for _, v := range x {
			top = max(top, v, -v)
		}
		c.largest[n.Weight.Name] = top
	}
	m, err := OpenOn(path, b, d)
	if err != nil {
		return c, err
	}
	defer m.Close()
	_, err = m.Perplexity(ctx, tokens, window)
	delete(c.largest, m.tensors.output(&m.config).Name)
	return c, err
}

// Device computes in INT4 and INT8 what was calibrated.
func (c INT4) Device() npu.Device {
	return pass.Device{Device: reference.New(), Pass: pass.Quantize(c.largest)}
}

package main

import (
	"context"
	"fmt"
	"math"

	"tandem"
	"tandem/internal/llamacpp"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu"
	"tandem/npu/native"
)

// tableTokens are 64 tokens, for llama.cpp and for this program.
func tableTokens() (ids []int32, tokens []tandem.Token) {
	for i := range int32(64) {
		ids = append(ids, (i*89+17)%256)
		tokens = append(tokens, tandem.Token(ids[i]))
	}
	return ids, tokens
}

// logitsOf returns the logits of each token.
func logitsOf(ctx context.Context, m *model.Model, tokens []tandem.Token) ([][]float32, error) {
	if !m.Config().Diffusion {
		return m.Forward(ctx, []model.Input{{Seq: m.NewSeq(), Tokens: tokens, All: true}})
	}
	var rows []model.DenoiseRow
	for i, t := range tokens {
		rows = append(rows, model.DenoiseRow{Position: i, Token: t, Sees: len(tokens), Logits: true})
	}
	return m.Denoise(ctx, m.NewSeq(), rows, new(model.Logits))
}

// largestDifference returns the largest difference of a logit, relative to the spread of its position's logits.
func largestDifference(got, want [][]float32) float64 {
	worst := 0.0
	for i := range want {
		var sum, square, far float64
		for j, v := range want[i] {
			sum, square = sum+float64(v), square+float64(v)*float64(v)
			far = max(far, math.Abs(float64(got[i][j]-v)))
		}
		n := float64(len(want[i]))
		worst = max(worst, far/math.Sqrt(square/n-sum/n*sum/n))
	}
	return worst
}

// keysIn8Bits says how far logits move if keys and values are kept in Q8_0.
func keysIn8Bits(ctx context.Context, arch string) (string, error) {
	b := tinymodel.GGUF(tinymodel.Spec{Arch: arch, Dim: 256, FF: 512, Seed: 1})
	_, tokens := tableTokens()
	var all [2][][]float32
	for i, t := range []npu.CacheType{npu.CacheF16, npu.CacheQ8_0} {
		m, err := model.OpenBytes("tiny", b, native.New(0), model.KVCache(t))
		if err != nil {
			return "", err
		}
		defer m.Close()
		if c := m.Config(); c.Pooling != model.NoPooling || c.Diffusion {
			return "not kept", nil
		}
		if all[i], err = m.Forward(ctx, []model.Input{{Seq: m.NewSeq(), Tokens: tokens, All: true}}); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%.1g", largestDifference(all[1], all[0])), nil
}

// try opens a model and returns the difference of its logits from llama.cpp's.
func (c *modelsTable) try(ctx context.Context, lib *llamacpp.Lib, path string, spec tinymodel.Spec) (string, error) {
	if err := writeModel(path, spec); err != nil {
		return "", err
	}
	m, err := model.Open(path, native.New(0))
	if err != nil {
		return "", err
	}
	defer m.Close()
	ids, tokens := tableTokens()
	if m.Config().Pooling != model.NoPooling {
		return c.embedding(ctx, lib, m, path, ids, tokens)
	}
	got, err := logitsOf(ctx, m, tokens)
	if err != nil || lib == nil {
		return "not measured", err
	}
	theirs, err := lib.Open(path, false)
	if err != nil {
		return "not in llama.cpp", nil
	}
	defer theirs.Close()
	want, err := theirs.Logits(ids)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%.1g", largestDifference(got, want)), nil
}

// embedding is try for an encoder: the distance of two embeddings of length 1.
func (c *modelsTable) embedding(ctx context.Context, lib *llamacpp.Lib, m *model.Model, path string, ids []int32, tokens []tandem.Token) (string, error) {
	got, err := m.Embed(ctx, tokens)
	if err != nil || lib == nil {
		return "not measured", err
	}
	theirs, err := lib.Open(path, false)
	if err != nil {
		return "not in llama.cpp", nil
	}
	defer theirs.Close()
	want, err := theirs.Embedding(ids, len(got))
	if err != nil {
		return "", err
	}
	var square, off float64
	for _, v := range want {
		square += float64(v) * float64(v)
	}
	for i, v := range want {
		off += math.Pow(float64(v)/math.Sqrt(square)-float64(got[i]), 2)
	}
	return fmt.Sprintf("%.1g", math.Sqrt(off)), nil
}

package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/internal/llamacpp"
	"tandem/internal/scripts"
	"tandem/internal/tinymodel"
	"tandem/lab"
	"tandem/model"
	"tandem/model/tokenizer"
	"tandem/npu"
	"tandem/npu/ggml"
	"tandem/npu/native"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// compare says how an architecture's tokens and its speeds, at each of the speedLevels, compare with llama.cpp's. It writes its
// models to path.
func compare(ctx context.Context, lib *llamacpp.Lib, path, arch string) (tokens string, speeds [len(speedLevels)]string, err error) {
	if lib == nil {
		return "not measured", [len(speedLevels)]string{"not measured", "not measured"}, nil
	}
	for i, typ := range []npu.DType{npu.Q8_0, npu.Q4_K} {
		if err := os.WriteFile(path, tinymodel.GGUF(tableSpec(arch, typ)), 0o600); err != nil {
			return "", speeds, err
		}
		if i == 0 {
			why := ""
			if tokens, why, err = compareTokens(lib, path); err != nil {
				return "", speeds, err
			}
			if why != "" {
				return tokens, [len(speedLevels)]string{why, why}, nil
			}
		}
		for level, l := range speedLevels {
			one, err := l.measure(ctx, path, 9, 32)
			if err != nil {
				return "", speeds, err
			}
			if i > 0 {
				speeds[level] += ", "
			}
			speeds[level] += one
		}
	}
	return tokens, speeds, nil
}

// compareTokens says of how many texts a model's ids are llama.cpp's and, if its speed cannot be compared, why.
func compareTokens(lib *llamacpp.Lib, path string) (tokens, why string, err error) {
	m, err := model.Open(path, native.New(1))
	if err != nil {
		return "", "", err
	}
	defer m.Close()
	theirs, err := lib.Open(path, false)
	if err != nil {
		return "not in llama.cpp", "not in llama.cpp", nil
	}
	defer theirs.Close()
	if tokens, err = sameTokens(m, theirs); err != nil {
		return "", "", err
	}
	if c := m.Config(); c.Pooling != model.NoPooling || c.Diffusion {
		why = "not compared: it writes no text token by token"
	}
	return tokens, why, nil
}

// sameTokens says of how many random texts a model's ids are llama.cpp's and give the text back.
func sameTokens(m *model.Model, theirs *llamacpp.Model) (string, error) {
	const texts = 500
	random, same := rand.New(rand.NewPCG(1, 1)), 0
	for range texts {
		text := scripts.Text(random)
		want, err := theirs.Tokenize(text, false, false)
		if err != nil {
			return "", err
		}
		got := m.Tokenizer().Encode(text, tokenizer.Options{})
		if slices.EqualFunc(got, want, func(a tandem.Token, b int32) bool { return int32(a) == b }) && m.Tokenizer().Decode(got) == text {
			same++
		}
	}
	return fmt.Sprintf("%d of %d", same, texts), nil
}

// onGGML says whether ggml's processor computes a model.
func onGGML(b []byte) string {
	d, err := ggml.Open("cpu", 1)
	if err != nil {
		return "not here"
	}
	m, err := model.OpenBytes("tiny", b, d)
	if err != nil {
		return "no"
	}
	m.Close()
	return "yes"
}

// adapters says whether a model's products can be adapted.
func adapters(b []byte) string {
	m, err := model.OpenBytes("tiny", b, native.New(1))
	if err != nil {
		return "no"
	}
	defer m.Close()
	if m.Config().Diffusion || m.Config().Pooling != model.NoPooling {
		return "no"
	}
	var parts []string // matrices that are read in parts, by the end of their names
	for _, g := range m.Graphs(1) {
		for _, n := range g.Nodes {
			if n.Op == npu.OpExperts {
				return "all but experts"
			}
			if n.Op != npu.OpMatMul {
				continue
			}
			name, _, cut := strings.Cut(n.Weight.Name, ".weight[")
			if _, name, _ = strings.Cut(strings.TrimPrefix(name, "blk."), "."); cut && !slices.Contains(parts, name) {
				parts = append(parts, name)
			}
		}
	}
	if len(parts) > 0 {
		return "all but " + strings.Join(parts, ", ")
	}
	return "yes"
}

// trees says whether a model computes a draft tree as it computes each path of it.
func trees(ctx context.Context, b []byte) string {
	m, err := model.OpenBytes("tiny", b, native.New(1))
	if err != nil || m.Config().Diffusion || m.Config().Pooling != model.NoPooling {
		return "no: its rows attend both ways"
	}
	defer m.Close()
	prompt := []tandem.Token{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	s := m.NewSeq()
	if _, err := m.Forward(ctx, []model.Input{{Seq: s, Tokens: prompt}}); err != nil {
		return "no"
	}
	tree, err := m.Forward(ctx, []model.Input{{Seq: s, Tokens: []tandem.Token{20, 30, 31}, Parents: []int{-1, 0, 0}, All: true}})
	if err != nil {
		return "no"
	}
	path, err := m.Forward(ctx, []model.Input{{Seq: m.NewSeq(), Tokens: append(prompt, 20, 31)}})
	if err != nil {
		return "no"
	}
	for i, v := range path[0] {
		if v != tree[2][i] {
			return "no"
		}
	}
	return "to the bit"
}

// pairTexts says how many texts two sides with a model of an architecture give of one seed, over all placements and two networks.
func pairTexts(ctx context.Context, arch string) (string, error) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Arch: arch, Gain: 3, Seed: 3}), native.New(1))
	if err != nil {
		return "", err
	}
	defer m.Close()
	if m.Config().Pooling != model.NoPooling {
		return "no: it writes no text", nil
	}
	x := lab.Latency{Delays: [][2]time.Duration{{2 * time.Millisecond, time.Millisecond}}, RTTs: []time.Duration{0, 20 * time.Millisecond}}
	x.Model, x.Questions = m, []string{"When does the museum open?"}
	x.Settings = tandem.Settings{Nucleus: decoder.DefaultTopP, Support: 64, Lookahead: 12, MaxTokens: 12, Documents: 1, Seed: 5,
		Sampling: tandem.Sampling{Temperature: 1, TopP: 1, RepeatPenalty: 1}}
	for side, text := range []string{"The cabin is at the harbour.", "The museum opens at nine."} {
		documents, err := search.Memory(search.Options{Words: passages.SentenceWords})
		if err != nil {
			return "", err
		}
		defer documents.Close()
		if _, err := documents.AddFS(ctx, fstest.MapFS{"note.txt": {Data: []byte(text)}}, "."); err != nil {
			return "", err
		}
		x.Documents[side] = documents
	}
	if x.Methods, err = lab.Methods([]string{"drdg-tw", "tandem/device", "tandem/cloud", "tandem/greedy", "tandem/mirror"}); err != nil {
		return "", err
	}
	report, err := x.Run(ctx, func(int, int) {})
	if err != nil {
		return "", err
	}
	texts := map[string]int{}
	for _, r := range report.Results {
		if r.Text == "" {
			return "", fmt.Errorf("%s %s gives no text", r.Method, r.Placement)
		}
		texts[r.Text]++
	}
	return fmt.Sprintf("%d of %d equal", slices.Max(slices.Collect(maps.Values(texts))), len(report.Results)), nil
}

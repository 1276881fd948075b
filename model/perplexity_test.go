package model

import (
	"context"
	"math"
	"os"
	"testing"

	"tandem"
	"tandem/internal/testfile"
	"tandem/internal/tinymodel"
	"tandem/model/tokenizer"
	"tandem/npu/native"
	"tandem/npu/phone/pass"
	"tandem/npu/reference"
)

// Perplexity matches its definition, and the reference device agrees with the native one.
func TestPerplexity(t *testing.T) {
	b := tinymodel.GGUF(tinymodel.Spec{Layers: 2, Dim: 32, FF: 64, Gain: 3})
	tokens := make([]tandem.Token, 40)
	for i := range tokens {
		tokens[i] = tandem.Token(i * i % 200)
	}
	ctx := context.Background()
	native, err := OpenBytes("tiny", b, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer native.Close()
	got, err := native.Perplexity(ctx, tokens, 16)
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	n := 0
	for at := 0; at < len(tokens); at += 16 {
		seq := native.NewSeq()
		part := tokens[at:min(at+16, len(tokens))]
		for i, token := range part[:len(part)-1] {
			l, err := native.Forward(ctx, []Input{{Seq: seq, Tokens: []tandem.Token{token}}})
			if err != nil {
				t.Fatal(err)
			}
			sum += logSumExp(l[0]) - float64(l[0][part[i+1]])
			n++
		}
	}
	if want := math.Exp(sum / float64(n)); math.Abs(got-want) > 1e-9*want {
		t.Errorf("perplexity %v, want %v", got, want)
	}
	plain, err := OpenBytes("tiny", b, reference.New())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if p, err := plain.Perplexity(ctx, tokens, 16); err != nil || math.Abs(p/got-1) > 1e-3 {
		t.Errorf("reference %v, native %v: %v", p, got, err)
	}
	for _, bad := range []int{0, 1, 1 << 20} {
		if _, err := native.Perplexity(ctx, tokens, bad); err == nil {
			t.Errorf("no error for windows of %d tokens", bad)
		}
	}
	if _, err := native.Perplexity(ctx, tokens[:1], 16); err == nil {
		t.Error("no error for a text of one token")
	}
}

// The perplexity of a trained model with INT4 weights and INT8 activations, tuned on one text and measured on another, is
// close to that in F32.
func TestSamsung_INT4OfStories(t *testing.T) {
	b := storiesGGUF(t)
	ctx := context.Background()
	plain, err := OpenBytes("stories260K", b, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	read := func(name string) []tandem.Token {
		text, err := os.ReadFile(testfile.Shared(t, "data", "wikitext2", name))
		if err != nil {
			t.Fatal(err)
		}
		return plain.Tokenizer().Encode(string(text[:3000]), tokenizer.Options{})[:512]
	}
	c := pass.NewINT4()
	observed, err := OpenBytes("stories260K", b, c.Observer())
	if err != nil {
		t.Fatal(err)
	}
	defer observed.Close()
	if _, err := observed.Perplexity(ctx, read("wiki.valid.raw"), 256); err != nil {
		t.Fatal(err)
	}
	graphs := plain.Graphs(1)
	rounded, err := OpenBytes("stories260K", b, c.Device(graphs[len(graphs)-1]))
	if err != nil {
		t.Fatal(err)
	}
	defer rounded.Close()
	text := read("wiki.test.raw")
	want, err := plain.Perplexity(ctx, text, 256)
	if err != nil {
		t.Fatal(err)
	}
	got, err := rounded.Perplexity(ctx, text, 256)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("WikiText-2, %d tokens: perplexity %.1f as trained, %.1f in INT4 and INT8 (%+.1f %%)", len(text), want, got, 100*(got/want-1))
	if got > 1.3*want || got < 0.9*want {
		t.Errorf("perplexity %v in INT4 and %v in F32", got, want)
	}
}

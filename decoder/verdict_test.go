package decoder

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/model/tokenizer"
	"tandem/npu/native"
	"tandem/retrieval/search"
)

// openJudging opens a toy model in whose vocabulary the byte '~' marks an unsupported sentence.
func openJudging(t testing.TB, seed uint64) *model.Model {
	t.Helper()
	spec := tinymodel.Spec{Seed: seed, Context: 512, Dim: 32, FF: 48, Gain: 2, Template: template}
	mute, err := model.OpenBytes("toy", tinymodel.GGUF(spec), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	mark := mute.Tokenizer().Encode("~", tokenizer.Options{})
	meta, tensors := tinymodel.Parts(spec)
	meta = append(meta, gguf.KV{Key: "tandem.none_token_id", Value: uint32(mark[len(mark)-1])})
	var file bytes.Buffer
	if err := gguf.Write(&file, meta, tensors); err != nil {
		t.Fatal(err)
	}
	m, err := model.OpenBytes("toy", file.Bytes(), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	if _, ok := m.Tokenizer().Unsupported(); !ok {
		t.Fatal("the model's token for unsupported sentences is not read")
	}
	return m
}

const eagerSupport = "reader:0.7,2,-1,0.4"

// A verdict belongs to a sentence. It is read where the sentence begins, and a rollback restores it.
func TestSupportedWeightsRollBack(t *testing.T) {
	m := openJudging(t, 3)
	cfg, req := toyConfig(m, eagerSupport), Request{Question: bothQuestion, Passages: samplePassages[:4]}
	letters := m.Tokenizer().Encode("The wifi password is x1. The museum opens. It ", tokenizer.Options{})
	d := newDecoder(t, cfg, req)
	r := rand.New(rand.NewPCG(1, 2))
	var answer []tandem.Token
	for range 40 {
		keep := r.IntN(len(answer) + 1)
		var app []tandem.Token
		for range r.IntN(5) {
			app = append(app, letters[r.IntN(len(letters))])
		}
		answer = append(answer[:keep:keep], app...)
		got := next(t, d, keep, app...)
		fresh := newDecoder(t, cfg, req)
		want := next(t, fresh, 0, answer...)
		if !equal(got, want) {
			t.Fatalf("after %d tokens: %v, fresh %v", len(answer), got, want)
		}
		if !reflect.DeepEqual(d.Parts(), fresh.Parts()) {
			t.Fatalf("parts %v, fresh %v", d.Parts(), fresh.Parts())
		}
		behind := newDecoder(t, cfg, req)
		next(t, behind, 0, answer[:r.IntN(len(answer)+1)]...)
		if err := behind.Finish(t.Context(), answer); err != nil || !reflect.DeepEqual(behind.Parts(), fresh.Parts()) {
			t.Fatalf("parts of what was finished %v, fresh %v, %v", behind.Parts(), fresh.Parts(), err)
		}
		mark, _ := m.Tokenizer().Unsupported()
		if slices.Contains(got.Dist.IDs, mark) {
			t.Fatal("the mark of unsupported sentences may be drawn")
		}
	}
}

func TestVerdictHoldsForASentence(t *testing.T) {
	m := openJudging(t, 3)
	d := newDecoder(t, toyConfig(m, eagerSupport), Request{Question: bothQuestion, Passages: samplePassages[:4]})
	first, _ := d.Evidence()
	next(t, d, 0, m.Tokenizer().Encode("The wifi is x1.", tokenizer.Options{})...)
	if same, _ := d.Evidence(); !equalSupport(first, same) {
		t.Errorf("the verdict changed within the sentence: %v, then %v", first, same)
	}
	next(t, d, len(d.answer), m.Tokenizer().Encode(" The museum", tokenizer.Options{})...)
	if other, _ := d.Evidence(); equalSupport(first, other) {
		t.Errorf("the second sentence has the verdict of the first: %v", other)
	}
	if parts := d.Parts(); len(parts) != 2 || parts[1].To != len(d.answer) || parts[0].To != parts[1].From {
		t.Errorf("parts %+v of %d tokens", parts, len(d.answer))
	}
}

func equalSupport(a, b []Evidence) bool {
	return slices.EqualFunc(a, b, func(a, b Evidence) bool { return a.Verdict == b.Verdict })
}

// The context without a passage shares the weight with the passages, and has all of it if there are none.
func TestNothingIsAContext(t *testing.T) {
	m := openJudging(t, 5)
	for _, n := range []int{0, 1, 4} {
		for _, nothing := range []string{"reader:1,1,-100,0", "reader:1,1,100,0"} {
			d := newDecoder(t, toyConfig(m, nothing), Request{Question: bothQuestion, Passages: samplePassages[:n]})
			out := next(t, d, 0)
			sum := 0.0
			for _, w := range d.documentWeights() {
				sum += w
			}
			want := 1.0
			if n == 0 || nothing == "reader:1,1,100,0" {
				want = 0
			}
			if math.Abs(sum-want) > 1e-6 {
				t.Errorf("%d passages, %s: they have a share of %v, want %v", n, nothing, sum, want)
			}
			if n > 0 && want == 0 && out.H.Float() < 99 {
				t.Errorf("%d passages, %s: h = %v", n, nothing, out.H.Float())
			}
			if rows := d.Prefill().Contexts; rows != n+1 {
				t.Errorf("%d passages in %d contexts", n, rows)
			}
		}
	}
}

// With a model that gives no verdicts, the weights Supported equal sentence weights.
func TestSupportedWeightsOfOtherModels(t *testing.T) {
	m := openToy(t, 1, 512)
	req := Request{Question: bothQuestion, Passages: samplePassages[:3]}
	a, b := newDecoder(t, toyConfig(m, "reader"), req), newDecoder(t, toyConfig(m, "sentence"), req)
	app := m.Tokenizer().Encode("The wifi is x. The", tokenizer.Options{})
	if x, y := next(t, a, 0, app...), next(t, b, 0, app...); !equal(x, y) {
		t.Errorf("reader %v, sentence %v", x, y)
	}
	if name := ScorerName(m, search.Lexical()); name != search.Lexical().Name() {
		t.Errorf("scorer %q", name)
	}
	if name := ScorerName(openJudging(t, 1), search.Lexical()); name == search.Lexical().Name() {
		t.Errorf("a model that judges has the scorer %q of one that does not", name)
	}
}

func TestLogOdds(t *testing.T) {
	ln := func(p float64) float32 { return float32(math.Log(p)) }
	for _, c := range []struct {
		end, none, word, want float64
	}{
		{0.0, 0.5, 0.5, -maxLogOdds}, // as training marks unsupported sentences
		{0.0, 0.25, 0.75, 0},         // even odds
		{0.8, 0.05, 0.15, 0},         // ends do not count
		{0.0, 1e-9, 1, maxLogOdds},
	} {
		got := logOdds([]float32{ln(c.end + 1e-30), ln(c.none), ln(c.word)}, 1, []tandem.Token{0})
		if math.Abs(got-c.want) > 1e-5 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

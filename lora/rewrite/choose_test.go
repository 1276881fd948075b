package rewrite

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/sample"
	"tandem/model/tokenizer"
	"tandem/models"
	"tandem/npu/native"
)

func openDecoder(t *testing.T) *model.Model {
	t.Helper()
	m, err := model.OpenBytes("reader", models.Decoder, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// probabilityOf returns the log probability of a text and the end after the start, token by token.
func probabilityOf(t *testing.T, m *model.Model, text string) (sum float64) {
	t.Helper()
	seq, tokens := m.NewSeq(), chat.Encode(m.Tokenizer(), start)
	for _, next := range append(m.Tokenizer().Encode(" "+text, tokenizer.Options{}), m.Tokenizer().EOGs()[0]) {
		logits, err := m.Forward(t.Context(), []model.Input{{Seq: seq, Tokens: tokens}})
		if err != nil {
			t.Fatal(err)
		}
		sum += sample.LogProb(logits[0], next)
		tokens = []tandem.Token{next}
	}
	return sum
}

// The choices agree with the probabilities of whole texts, whatever is computed together.
func TestChoices(t *testing.T) {
	m := openDecoder(t)
	texts := []string{"The wifi password is new.", "Where is the key?", "Key the is where?", "It is."}
	sums := make([]float64, len(texts))
	for i, text := range texts {
		sums[i] = probabilityOf(t, m, text)
	}
	if got, err := likeliest(t.Context(), m.NewSeq(), texts); err != nil || got != texts[slices.Index(sums, slices.Max(sums))] {
		t.Errorf("%q, %v: the sums are %v", got, err, sums)
	}
	for _, list := range [][]string{nil, {"It is."}} {
		if got, err := likeliest(t.Context(), m.NewSeq(), list); err != nil || got != strings.Join(list, "") {
			t.Errorf("of %q: %q, %v", list, got, err)
		}
	}
	// A slot within a text of few words sees the rest of it and the end, so its choice is that of the likelier text.
	for _, word := range []string{"key", "password", "museum"} {
		slots := []slot{{"", []way{{"The", 0}}}, {" ", []way{{"wifi", 0}}}, {"  ", []way{{"key", 0}, {word, 0}, {"", math.Inf(-1)}}}, {" ", []way{{"is", 0}}}, {" ", []way{{"new.", 0}}}}
		want := "The wifi  key is new."
		if probabilityOf(t, m, "The wifi "+word+" is new.") > probabilityOf(t, m, "The wifi key is new.") {
			want = "The wifi  " + word + " is new."
		}
		if got, err := choose(t.Context(), m.NewSeq(), slots); err != nil || got != want {
			t.Errorf("%q, %v: want %q", got, err, want)
		}
		slots[2].Ways[2].Prior = 1e6
		if got, err := choose(t.Context(), m.NewSeq(), slots); err != nil || got != "The wifi is new." {
			t.Errorf("with a prior for nothing: %q, %v", got, err)
		}
	}
	if got, err := choose(t.Context(), m.NewSeq(), nil); err != nil || got != "" {
		t.Errorf("no slots: %q, %v", got, err)
	}
}

func TestMatter(t *testing.T) {
	m := openDecoder(t)
	long := strings.Repeat("key ", m.Config().Context)
	for _, list := range [][]string{{"Hello.", "The museum opens at nine.", "Bye!"}, {"One."}, {long, "One.", long, long}} {
		if i, err := mainSentence(t.Context(), m.NewSeq, list); err != nil || i < 0 || i >= len(list) {
			t.Errorf("%d sentences: %d, %v", len(list), i, err)
		}
	}
}

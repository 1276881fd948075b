package node

import (
	"context"
	"testing"

	"tandem"
	"tandem/decoder"
	"tandem/model/tokenizer"
	"tandem/pair"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// An answer that a model writes by itself counts its tokens, and ends with what there is of its last character.
func TestWrite(t *testing.T) {
	_, m := tiny(t)
	tokens := m.Tokenizer().Encode("At ½", tokenizer.Options{})
	tokens = tokens[:len(tokens)-1] // half of the half
	own := Local{Model: m, Scorer: search.Lexical(), Documents: shelf{passages.Passage{ID: "1", Title: "Museum", Text: "It opens at nine."}}}
	var emitted []tandem.Token
	got, err := own.Write(t.Context(), baselineQuestion, baselineSettings(tandem.WantDrafts), func(_ context.Context, _ *decoder.OnePrompt, emit func([]tandem.Token) error) (pair.Reason, error) {
		return pair.ReasonStop, emit(tokens)
	}, func(t Token) { emitted = append(emitted, t.ID) })
	if err != nil {
		t.Fatal(err)
	}
	if n := len(tokens); got.Text != "At \ufffd" || got.Tokens[n-1].Text != "\ufffd" || len(emitted) != n {
		t.Errorf("%q, %+v, %d tokens emitted", got.Text, got.Tokens, len(emitted))
	}
	if got.Pair.Steps != len(tokens) || got.Pair.Alone != len(tokens) {
		t.Errorf("%+v", got.Pair)
	}
}

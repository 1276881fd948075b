package chat

import (
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model/gguf"
	"tandem/model/tokenizer"
)

func TestTemplateOf(t *testing.T) {
	of := func(spec tinymodel.Spec) *Template {
		t.Helper()
		f, err := gguf.Parse("tiny", tinymodel.GGUF(spec))
		if err != nil {
			t.Fatal(err)
		}
		tok, err := tokenizer.New(f)
		if err != nil {
			t.Fatal(err)
		}
		return TemplateOf(f, tok)
	}
	if got, err := of(tinymodel.Spec{Template: "{{ messages[0].content }}!"}).Render([]Message{{"user", "hi"}}, true); err != nil || got != "hi!" {
		t.Errorf("%q, %v", got, err)
	}
	prefix, suffix, err := of(tinymodel.Spec{}).Split("The key is under the mat.", []Message{{"user", "Where is the key?"}})
	if err != nil || prefix != "The key is under the mat.\n\nQuestion: " || suffix != "Where is the key?\nAnswer:" {
		t.Errorf("plain: %q + %q, %v", prefix, suffix, err)
	}
	if _, err := of(tinymodel.Spec{Template: "{% nonsense %}"}).Render(conversation, true); err == nil || !strings.Contains(err.Error(), "tiny: chat template") || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("broken: %v", err)
	}
}

func TestEncode(t *testing.T) {
	meta, _ := tinymodel.Parts(tinymodel.Spec{})
	eos := uint32(tinymodel.Spec{}.EOS())
	for _, adds := range []bool{false, true} {
		var list []gguf.KV
		for _, kv := range meta {
			if !strings.HasPrefix(kv.Key, "tokenizer.ggml.add_") && kv.Key != "tokenizer.ggml.bos_token_id" {
				list = append(list, kv)
			}
		}
		tok, err := tokenizer.FromMeta(gguf.NewMeta(append(list, gguf.KV{Key: "tokenizer.ggml.bos_token_id", Value: eos},
			gguf.KV{Key: "tokenizer.ggml.add_bos_token", Value: adds}, gguf.KV{Key: "tokenizer.ggml.add_eos_token", Value: true})))
		if err != nil {
			t.Fatal(err)
		}
		bos, _ := tok.BOS()
		name := string(tok.Piece(bos))
		for text, want := range map[string][]tandem.Token{"a": {'a'}, name + "a": {bos, 'a'}, "": nil} {
			if adds && (len(want) == 0 || want[0] != bos) {
				want = append([]tandem.Token{bos}, want...)
			}
			if got := Encode(tok, text); !slices.Equal(got, want) {
				t.Errorf("BOS added %v: %q gives %d, not %d", adds, text, got, want)
			}
		}
	}
}

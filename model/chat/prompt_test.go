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
	if got, err := of(tinymodel.Spec{Template: "{{ messages[0].content }}!"}).Render([]Message{{"user", "hi"}}); err != nil || got != "hi!" {
		t.Errorf("%q, %v", got, err)
	}
	prefix, suffix, err := of(tinymodel.Spec{}).Split("The key is under the mat.", []Message{{"user", "Where is the key?"}})
	if err != nil || prefix != "The key is under the mat.\n\nQuestion: " || suffix != "Where is the key?\nAnswer:" {
		t.Errorf("plain: %q + %q, %v", prefix, suffix, err)
	}
	if _, err := of(tinymodel.Spec{Template: "{% nonsense %}"}).Render(conversation); err == nil || !strings.Contains(err.Error(), "tiny: chat template") || !strings.Contains(err.Error(), "nonsense") {
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

// phi3First is the template of Phi-3's first files, which leaves system messages out without a word.
const phi3First = `{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') %}{{'<|user|>' + '\n' + message['content'] + '<|end|>' + '\n' + '<|assistant|>' + '\n'}}{% elif (message['role'] == 'assistant') %}{{message['content'] + '<|end|>' + '\n'}}{% endif %}{% endfor %}`

// A template that leaves system messages out gets the text with the first question, as one that refuses them.
func TestSystemMessagesThatWouldBeLost(t *testing.T) {
	tpl, err := NewTemplate(phi3First, "", "</s>")
	if err != nil {
		t.Fatal(err)
	}
	prefix, suffix, err := tpl.Split("The key is under the mat.", []Message{{"user", "Where is it?"}, {"assistant", "There."}, {"user", "Where?"}})
	if err != nil || prefix != "<|user|>\nThe key is under the mat.\n\n" ||
		suffix != "Where is it?<|end|>\n<|assistant|>\nThere.<|end|>\n<|user|>\nWhere?<|end|>\n<|assistant|>\n" {
		t.Errorf("%q + %q, %v", prefix, suffix, err)
	}
	prefix, suffix, err = tpl.Split("The key.", []Message{{"assistant", "Hello."}, {"user", "Where is it?"}}) // a conversation that was cut
	if err != nil || prefix != "Hello.<|end|>\n<|user|>\nThe key.\n\n" || suffix != "Where is it?<|end|>\n<|assistant|>\n" {
		t.Errorf("after an answer: %q + %q, %v", prefix, suffix, err)
	}
	if _, suffix, err := tpl.Split("", []Message{{"user", "Where is it?"}}); err != nil || suffix != "Where is it?<|end|>\n<|assistant|>\n" {
		t.Errorf("without a system message: %q, %v", suffix, err)
	}
}

// Templates of models with vision read a message as a list of parts, and find nothing in one that is a text.
func TestContentInParts(t *testing.T) {
	const smolVLM = `<|im_start|>{% for message in messages %}{{message['role'] | capitalize}}{% if message['content'][0]['type'] == 'image' %}{{':'}}{% else %}{{': '}}{% endif %}` +
		`{% for line in message['content'] %}{% if line['type'] == 'text' %}{{line['text']}}{% elif line['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}<end_of_utterance>` + "\n" +
		`{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}`
	tpl, err := NewTemplate(smolVLM, "", "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := tpl.Render([]Message{{"system", "Be brief."}, {"user", "Where is it?"}})
	if want := "<|im_start|>System: Be brief.<end_of_utterance>\nUser: Where is it?<end_of_utterance>\nAssistant:"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	prefix, suffix, err := tpl.Split("Be brief.", []Message{{"user", "Where is it?"}})
	if err != nil || prefix != "<|im_start|>System: Be brief.<end_of_utterance>\nUser: " || suffix != "Where is it?<end_of_utterance>\nAssistant:" {
		t.Errorf("%q + %q, %v", prefix, suffix, err)
	}
	// Templates that read both, or only texts, get texts.
	for _, source := range []string{
		`{% for m in messages %}{% if m.content is string %}S{{ m.content }}{% else %}{% for p in m.content %}P{{ p.text }}{% endfor %}{% endif %}{% endfor %}`,
		`{% for m in messages %}S{{ m.content }}{% endfor %}`,
	} {
		tpl, err := NewTemplate(source, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tpl.Render([]Message{{"user", "a"}}); err != nil || got != "Sa" {
			t.Errorf("%s gives %q, %v", source, got, err)
		}
	}
}

// Later prompts have an earlier answer without the thoughts before it.
func TestThoughtsAreLeftOut(t *testing.T) {
	for _, c := range []struct{ role, text, want string }{
		{"assistant", "<think>\nhm</think>\n\nYes.", "Yes."},
		{"assistant", "hm</think>Yes. </think> is a tag.", "Yes. </think> is a tag."}, // the prompt began the thought
		{"assistant", "[THINK]hm[/THINK]Yes.", "Yes."},
		{"assistant", "\n<seed:think>hm\n</seed:think> Yes.", "Yes."},
		{"assistant", "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.", "Yes."},
		{"assistant", "analysishm<|end|>assistantcommentaryhm<|end|>assistantfinalYes.", "Yes."}, // without the control tokens
		{"assistant", "<|channel|>analysis<|message|>hm", ""},
		{"assistant", "Final: the analysis of the channel.", "Final: the analysis of the channel."},
		{"assistant", "<think>\nhm", ""}, // the answer was cut
		{"assistant", "Yes, I <think> so.", "Yes, I <think> so."},
		{"assistant", " Yes.", " Yes."},
		{"user", "a </think> b", "a </think> b"},
	} {
		if got := (Message{c.role, c.text}).WithoutThoughts(); got != c.want {
			t.Errorf("%s: %q becomes %q", c.role, c.text, got)
		}
	}
}

package chat

import (
	"math/rand/v2"
	"testing"

	"tandem/internal/llamacpp"
)

// Rendered conversations match libllama's, for the templates that it knows. It recognises templates by words in
// them and mistakes Zephyr's for another, so that one is left out. It leaves BOS to its tokenizer, so the templates
// here are rendered without BOS.
func TestTemplatesMatchLlamaCpp(t *testing.T) {
	lib := llamacpp.Need(t)
	conversations := [][]Message{conversation}
	parts := []string{"Where", " is", " the key", "?", "\n", "\n\n", " ", "'s", "\"", "我想", "🦙", "<b>", "&amp;", "{{ x }}", "{% if %}", "[INST]", "é", "4471"}
	r := rand.New(rand.NewPCG(1, 2))
	words := func() (s string) {
		for range r.IntN(7) {
			s += parts[r.IntN(len(parts))]
		}
		return s
	}
	for range 60 {
		var msgs []Message
		if r.IntN(2) == 0 {
			msgs = append(msgs, Message{"system", words()})
		}
		msgs = append(msgs, Message{"user", words()})
		for range r.IntN(3) {
			msgs = append(msgs, Message{"assistant", words()}, Message{"user", words()})
		}
		conversations = append(conversations, msgs)
	}
	for name, skipSystem := range map[string]bool{"chatml": false, "qwen2": false, "llama3": false, "phi3": false, "mistral": true} {
		compared := 0
		for _, msgs := range conversations {
			if name == "qwen2" && msgs[0].Role != "system" || skipSystem && msgs[0].Role == "system" {
				continue // libllama knows neither Qwen's default system message nor Mistral's objections
			}
			var list []llamacpp.Message
			for _, m := range msgs {
				list = append(list, llamacpp.Message{Role: m.Role, Content: m.Content})
			}
			want, err := lib.ApplyTemplate(templates[name], list, true)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			tpl, err := NewTemplate(templates[name], "", "</s>")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := tpl.Render(msgs); err != nil || got != want {
				t.Errorf("%s: %v\n     we render %q\n llama.cpp has %q", name, err, got, want)
			}
			compared++
		}
		if compared < 20 {
			t.Errorf("%s: only %d conversations compared", name, compared)
		}
	}
}

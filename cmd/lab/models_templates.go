package main

import (
	"fmt"
	"math/rand/v2"

	"tandem/internal/llamacpp"
	"tandem/internal/scripts"
	"tandem/model/chat"
)

// formats are the forms of conversation of models that people run, by the names that llama.cpp gives them, as templates.
var formats = map[string]string{
	"chatml": `{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`,
	"llama3": `{% for m in messages %}{{ '<|start_header_id|>' ~ m.role ~ '<|end_header_id|>\n\n' ~ m.content | trim ~ '<|eot_id|>' }}{% endfor %}` +
		`{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}`,
	"gemma": `{% set ns = namespace(system='') %}{% for m in messages %}{% if m.role == 'system' %}{% set ns.system = m.content | trim %}{% else %}` +
		`{{ '<start_of_turn>' ~ ('model' if m.role == 'assistant' else m.role) ~ '\n' }}` +
		`{% if ns.system and m.role != 'assistant' %}{{ ns.system ~ '\n\n' }}{% set ns.system = '' %}{% endif %}` +
		`{{ m.content | trim ~ '<end_of_turn>\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}`,
	"phi3": `{% for m in messages %}{{ '<|' ~ m.role ~ '|>\n' ~ m.content ~ '<|end|>\n' }}{% endfor %}` +
		`{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}`,
	"granite": `{% for m in messages %}{{ '<|start_of_role|>' ~ m.role ~ '<|end_of_role|>' ~ m.content ~ '<|end_of_text|>\n' }}{% endfor %}` +
		`{% if add_generation_prompt %}{{ '<|start_of_role|>assistant<|end_of_role|>' }}{% endif %}`,
	"gpt-oss": `{% for m in messages %}{{ '<|start|>' ~ m.role ~ '<|message|>' ~ m.content ~ ('<|return|>' if m.role == 'assistant' else '<|end|>') }}{% endfor %}` +
		`{% if add_generation_prompt %}{{ '<|start|>assistant' }}{% endif %}`,
	"mistral-v7-tekken": `{% for m in messages %}{% if m.role == 'system' %}{{ '[SYSTEM_PROMPT]' ~ m.content ~ '[/SYSTEM_PROMPT]' }}` +
		`{% elif m.role == 'user' %}{{ '[INST]' ~ m.content ~ '[/INST]' }}{% else %}{{ m.content ~ '</s>' }}{% endif %}{% endfor %}`,
	"olmo": `{% for m in messages %}{{ '<|' ~ m.role ~ '|>\n' ~ m.content ~ '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}`,
}

// formatOf names the format of an architecture's models; those without one are not here. Models may bring other templates.
var formatOf = map[string]string{
	"dream": "chatml", "gemma": "gemma", "gemma2": "gemma", "gemma3": "gemma", "gpt-oss": "gpt-oss", "granite": "granite", "granitemoe": "granite", "lfm2": "chatml",
	"llada": "llama3", "llama": "llama3", "mistral3": "mistral-v7-tekken", "olmo2": "olmo", "olmoe": "olmo", "phi3": "phi3", "qwen2": "chatml", "qwen3": "chatml",
	"qwen3moe": "chatml", "smollm3": "chatml",
}

// conversations is how many random conversations a template is tried with.
const conversations = 60

// sameTemplates says of how many random conversations an architecture's format, as a template, gives what llama.cpp writes.
func sameTemplates(lib *llamacpp.Lib, arch string) (string, error) {
	name, ok := formatOf[arch]
	if !ok {
		return "none: it does not converse", nil
	}
	t, err := chat.NewTemplate(formats[name], "", "</s>")
	if err != nil {
		return "", fmt.Errorf("the template of %s: %w", name, err)
	}
	if lib == nil {
		return name + ", not compared", nil
	}
	random, same := rand.New(rand.NewPCG(3, 1)), 0
	for range conversations {
		ours, theirs := randomConversation(random)
		want, err := lib.ApplyTemplate(name, theirs, true)
		if err != nil {
			return name + ", not in llama.cpp", nil
		}
		if got, err := t.Render(ours); err == nil && got == want {
			same++
		}
	}
	return fmt.Sprintf("%s: %d of %d", name, same, conversations), nil
}

// randomConversation draws up to three turns with texts in many scripts, for both programs.
func randomConversation(r *rand.Rand) (ours []chat.Message, theirs []llamacpp.Message) {
	add := func(role string) {
		m := chat.Message{Role: role, Content: scripts.Text(r)}
		ours, theirs = append(ours, m), append(theirs, llamacpp.Message{Role: m.Role, Content: m.Content})
	}
	if r.IntN(2) == 0 {
		add("system")
	}
	add("user")
	for range r.IntN(3) {
		add("assistant")
		add("user")
	}
	return ours, theirs
}

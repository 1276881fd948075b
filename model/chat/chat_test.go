package chat

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// templates are chat templates in the style of the usual families, without tools.
var templates = map[string]string{
	"chatml": chatML,
	"qwen2": `{%- if messages[0]['role'] == 'system' %}
    {{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}
{%- else %}
    {{- '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
        {%- for call in message.tool_calls %}{{ call | tojson }}{%- endfor %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
`,
	"qwen3": `{%- set ns = namespace(multi_step=true, last=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step = false %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.role == "assistant" %}
        {%- set content = message.content %}
        {%- set thought = '' %}
        {%- if '</think>' in content %}
            {%- set thought = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last and (loop.last or thought) %}
            {{- '<|im_start|>assistant\n<think>\n' + thought.strip('\n') + '\n</think>\n\n' + content.lstrip('\n') }}
        {%- else %}
            {{- '<|im_start|>assistant\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\n' }}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\n\n</think>\n\n' }}
    {%- endif %}
{%- endif %}`,
	"llama3": `{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}`,
	"llama3.2": `{{- bos_token }}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{#- The system message is taken out first. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\n\n" }}
{%- if tools is not none %}
    {{- "Environment: ipython\n" }}
{%- endif %}
{{- "Today Date: " + date_string + "\n\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
`,
	"mistral": `{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token}}{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}`,
	"llama2":  `{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% for message in loop_messages %}{% if loop.index0 == 0 and system_message != false %}{% set content = '<<SYS>>\n' + system_message + '\n<</SYS>>\n\n' + message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}`,
	"phi3":    `{% for message in messages %}{% if message['role'] == 'system' %}{{'<|system|>\n' + message['content'] + '<|end|>\n'}}{% elif message['role'] == 'user' %}{{'<|user|>\n' + message['content'] + '<|end|>\n'}}{% elif message['role'] == 'assistant' %}{{'<|assistant|>\n' + message['content'] + '<|end|>\n'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}`,
	"zephyr": `{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>\n'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}`,
}

func template(t testing.TB, source string) *Template {
	t.Helper()
	tpl, err := NewTemplate(source, "<s>", "</s>")
	if err != nil {
		t.Fatal(err)
	}
	tpl.Now = func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }
	return tpl
}

var conversation = []Message{
	{"system", "You answer from the notes."},
	{"user", "Where is the key?"},
	{"assistant", "Under the mat."},
	{"user", "And the code?"},
}

func TestRender(t *testing.T) {
	for name, want := range map[string]string{
		"chatml":   "<|im_start|>system\nYou answer from the notes.<|im_end|>\n<|im_start|>user\nWhere is the key?<|im_end|>\n<|im_start|>assistant\nUnder the mat.<|im_end|>\n<|im_start|>user\nAnd the code?<|im_end|>\n<|im_start|>assistant\n",
		"qwen2":    "<|im_start|>system\nYou answer from the notes.<|im_end|>\n<|im_start|>user\nWhere is the key?<|im_end|>\n<|im_start|>assistant\nUnder the mat.<|im_end|>\n<|im_start|>user\nAnd the code?<|im_end|>\n<|im_start|>assistant\n",
		"qwen3":    "<|im_start|>system\nYou answer from the notes.<|im_end|>\n<|im_start|>user\nWhere is the key?<|im_end|>\n<|im_start|>assistant\nUnder the mat.<|im_end|>\n<|im_start|>user\nAnd the code?<|im_end|>\n<|im_start|>assistant\n",
		"llama3":   "<s><|start_header_id|>system<|end_header_id|>\n\nYou answer from the notes.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nWhere is the key?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nUnder the mat.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnd the code?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
		"llama3.2": "<s><|start_header_id|>system<|end_header_id|>\n\nToday Date: 04 Mar 2026\n\nYou answer from the notes.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nWhere is the key?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nUnder the mat.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnd the code?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
		"llama2":   "<s>[INST] <<SYS>>\nYou answer from the notes.\n<</SYS>>\n\nWhere is the key? [/INST] Under the mat. </s><s>[INST] And the code? [/INST]",
		"phi3":     "<|system|>\nYou answer from the notes.<|end|>\n<|user|>\nWhere is the key?<|end|>\n<|assistant|>\nUnder the mat.<|end|>\n<|user|>\nAnd the code?<|end|>\n<|assistant|>\n",
		"zephyr":   "<|system|>\nYou answer from the notes.</s>\n<|user|>\nWhere is the key?</s>\n<|assistant|>\nUnder the mat.</s>\n<|user|>\nAnd the code?</s>\n<|assistant|>\n",
	} {
		got, err := template(t, templates[name]).Render(conversation)
		if err != nil || got != want {
			t.Errorf("%s: %v\n got %q\nwant %q", name, err, got, want)
		}
	}
	got, err := template(t, templates["mistral"]).Render(conversation[1:])
	if want := "<s>[INST] Where is the key? [/INST]Under the mat.</s>[INST] And the code? [/INST]"; err != nil || got != want {
		t.Errorf("mistral: %v, %q", err, got)
	}
	got, err = template(t, templates["qwen3"]).Render([]Message{{"user", "a"}, {"assistant", "<think>\nhm\n</think>\n\nb"}, {"user", "c"}})
	if want := "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n"; err != nil || got != want {
		t.Errorf("qwen3 drops old thoughts: %v, %q", err, got)
	}
	got, err = template(t, "").Render([]Message{{"user", "{{ 1 }} <b> & 'x'"}})
	if want := "<|im_start|>user\n{{ 1 }} <b> & 'x'<|im_end|>\n<|im_start|>assistant\n"; err != nil || got != want {
		t.Errorf("content is text, not template: %v, %q", err, got)
	}
}

func TestTemplateRefuses(t *testing.T) {
	_, err := template(t, templates["mistral"]).Render(conversation)
	var refused *TemplateError
	if !errors.As(err, &refused) || refused.Message != "Conversation roles must alternate user/assistant/user/assistant/..." {
		t.Fatalf("error is %v", err)
	}
	if !strings.Contains(err.Error(), "chat template refuses this conversation: Conversation roles must alternate") {
		t.Fatalf("error reads %q", err)
	}
}

func TestSplit(t *testing.T) {
	question := []Message{{"user", "Where is the key?"}}
	history := conversation[1:]
	for name := range templates {
		tpl := template(t, templates[name])
		var prefixes []string
		for _, msgs := range [][]Message{question, {{"user", " The door?"}}, {{"user", "PLACEHOLDER"}}, history} {
			prefix, suffix, err := tpl.Split("Notes: the key is under the mat. PLACEHOLDER", msgs)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			full, err := tpl.Render(append([]Message{{"system", "Notes: the key is under the mat. PLACEHOLDER"}}, msgs...))
			if name == "mistral" {
				full, err = tpl.Render(append([]Message{{"user", "Notes: the key is under the mat. PLACEHOLDER\n\n" + msgs[0].Content}}, msgs[1:]...))
			}
			if err != nil || prefix+suffix != full {
				t.Fatalf("%s: %v, %q + %q is not %q", name, err, prefix, suffix, full)
			}
			if !strings.Contains(prefix, "under the mat") || strings.Contains(prefix, msgs[0].Content) && msgs[0].Content != "PLACEHOLDER" {
				t.Fatalf("%s: the prefix is %q", name, prefix)
			}
			prefixes = append(prefixes, prefix)
		}
		for _, p := range prefixes[1:] {
			if p != prefixes[0] {
				t.Errorf("%s: the prefix depends on the question: %q and %q", name, prefixes[0], p)
			}
		}
		if prefix, suffix, err := tpl.Split("", question); err != nil || !strings.HasPrefix(suffix, "Where is the key?") || strings.Contains(prefix, "system message") {
			t.Errorf("%s without a system message: %v, %q + %q", name, err, prefix, suffix)
		}
	}
	// A template may put the system message after the question.
	late := template(t, `{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}{{ messages[0].content }}`)
	prefix, suffix, err := late.Split("notes", question)
	if err != nil || prefix+suffix != "Where is the key?notes" {
		t.Errorf("late: %v, %q + %q", err, prefix, suffix)
	}
	// If the beginning depends on what follows, the prefix is shorter: here it is empty.
	counting := template(t, `{{ messages | length }}:{% for m in messages %}{{ m.content }}{% endfor %}`)
	if prefix, suffix, err := counting.Split("notes", history); err != nil || prefix != "" || !strings.HasPrefix(suffix, "4:notesWhere") {
		t.Errorf("counting: %v, %q + %q", err, prefix, suffix)
	}
	if _, _, err := template(t, `{{ raise_exception('never') }}`).Split("x", question); err == nil || !strings.Contains(err.Error(), "never") {
		t.Errorf("error is %v", err)
	}
}

// A template that refuses system messages gets the text with the first question.
func TestSplitMergesIntoTheQuestion(t *testing.T) {
	tpl := template(t, `{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system messages') }}{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}`)
	prefix, suffix, err := tpl.Split("notes", []Message{{"user", "Why?"}, {"assistant", "So."}, {"user", "And?"}})
	if err != nil || prefix != "<user>notes\n\n" || suffix != "Why?<assistant>So.<user>And?<assistant>" {
		t.Errorf("%q, %q, %v", prefix, suffix, err)
	}
}

func TestRunawayTemplatesAreStopped(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	os.WriteFile(secret, []byte("secret"), 0o600)
	for name, source := range map[string]string{
		"nested loops":   `{% set r = range(16000) %}{% for a in r %}{% for b in r %}{% for c in r %}{% endfor %}{% endfor %}{% endfor %}`,
		"long range":     `{% for a in range(1000000000) %}{% endfor %}`,
		"output":         `{% for a in range(16000) %}{{ 'x' * 2000 }}{% endfor %}`,
		"doubling":       `{% set x = 'abcdefgh' %}{% for a in range(60) %}{% set x = x ~ x %}{% endfor %}`,
		"doubling in ns": `{% set ns = namespace(x='abcdefgh') %}{% for a in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}`,
		"macro":          `{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}`,
		"recursive loop": `{% for m in messages recursive %}{{ loop(messages) }}{% endfor %}`,
		"division":       `{{ 1 % 0 }}`,
		"unknown filter": `{{ 'x' | nonsense }}`,
		"unknown call":   `{{ nonsense() }}`,
		"unfinished":     `{% if true %}`,
		"include a file": `{% include '` + secret + `' %}`,
		"import a file":  `{% import '` + secret + `' as s %}`,
		"extends a file": `{% extends '` + secret + `' %}`,
	} {
		tpl, err := NewTemplate(source, "", "")
		var out string
		if err == nil {
			out, err = tpl.Render(conversation)
		}
		if name == "doubling" && err == nil {
			continue // in Jinja, each iteration has its own variables
		}
		if err == nil {
			t.Errorf("%s: rendered %d bytes", name, len(out))
		} else if len(err.Error()) > 500 || !strings.Contains(err.Error(), "template") {
			t.Errorf("%s: error is %q", name, err)
		}
	}
}

func TestTemplateFunctions(t *testing.T) {
	for source, want := range map[string]string{
		`{{ {'b': 1, 'a': [true, none, 'é<&>', 1.5]} | tojson }}`:                                                                      `{"b": 1, "a": [true, null, "é<&>", 1.5]}`,
		`{{ {'b': {'c': []}} | tojson(indent=2) }}`:                                                                                    "{\n  \"b\": {\n    \"c\": []\n  }\n}",
		`{{ messages[0] | tojson }}`:                                                                                                   `{"role": "system", "content": "You answer from the notes."}`,
		`{{ strftime_now('%Y-%m-%d %H:%M, %A %%') }}`:                                                                                  "2026-03-04 05:06, Wednesday %",
		`{% for i in range(2, 8, 3) %}{{ i }},{% endfor %}{{ range(3) | list | length }}`:                                              "2,5,3",
		`{{ tools is none }} {{ tools is defined }} {{ messages is defined }}`:                                                         "False False True",
		`{% generation %}x{% endgeneration %}`:                                                                                         "x",
		`{% macro f(x, y='b') %}{{ x }}{{ y }}{% endmacro %}{{ f('a') }}{{ f('c', y='d') }}`:                                           "abcd",
		"{% if true %}\n  a\n{% endif %}\nb\n":                                                                                         "  a\nb",
		`{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}`:                          "4",
		`{{ messages[-1].content[:3] }}{{ ' x ' | trim }}{{ 'a-b'.split('-')[1] }}{{ 'X'.lower() }}`:                                   "Andxbx",
		`{{ 'a b  c '.split() | join('|') }} {{ 'a,b,c'.split(',', 1) | join('|') }} {{ 'a,b,c'.split(',') | join('|') }}`:             "a|b|c a|b,c a|b|c",
		`{{ 'a,b,c'.rsplit(',', 1) | join('|') }} {{ ' a b c'.rsplit(none, 1) | join('|') }} {{ ''.split() }} {{ ''.split(',') }}`:     "a,b|c  a b|c [] ['']",
		`{{ ' 1  2 '.split(none, 1) | join('|') }}{{ ' 1 2  3 '.split(none, 1) | join('|') }}{{ ' 1  2 '.rsplit() | join('|') }}`:      "1|2 1|2  3 1|2",
		`{{ 'aba'.replace('a', 'c') }} {{ 'aba'.replace('a', 'c', 1) }} {{ 'aba'.replace('a', 'c', count=1) }}`:                        "cbc cba cba",
		`{{ ' x '.strip() }}{{ ' x'.lstrip() }}{{ 'x '.rstrip() }}{{ 'xax'.strip('xy') }}{{ '\na'.lstrip('\n') }}`:                     "xxxaa",
		`{{ 'abc'.startswith(('x', 'a')) }} {{ 'abc'.endswith(['x', 'c']) }} {{ 'abc'.endswith('b') }}`:                                "True True False",
		`{{ messages[0].get('role') }} {{ messages[0].get('name', 'none') }}`:                                                          "system none",
		`{% for m in messages %}{% if loop.last %}{{ loop.index }}{% endif %}{% if loop.first %}{% continue %}{% endif %}{% endfor %}`: "4",
	} {
		if got, err := template(t, source).Render(conversation); err != nil || got != want {
			t.Errorf("%s: %v, %q, want %q", source, err, got, want)
		}
	}
}

func TestTemplateFingerprint(t *testing.T) {
	seen := map[[32]byte]bool{}
	for _, args := range [][3]string{{"a", "b", "c"}, {"a", "bc", ""}, {"ab", "", "c"}, {"x", "b", "c"}} {
		tpl, err := NewTemplate(args[0], args[1], args[2])
		if err != nil {
			t.Fatal(err)
		}
		if seen[tpl.Fingerprint()] {
			t.Errorf("%q has the fingerprint of another template", args)
		}
		seen[tpl.Fingerprint()] = true
	}
}

func FuzzTemplate(f *testing.F) {
	for _, source := range templates {
		f.Add(source, "hello")
	}
	for _, source := range ruinous {
		if len(source) < 1<<10 {
			f.Add(source, "hello")
		}
	}
	for _, source := range []string{"((((", "[[[[", "{% if 1 %}{% if 1 %}", "{{ 1+1+1+1 }}", "{{ a.b.c.d() }}", "{{ not not 1 }}", "{{ - - 1 }}"} {
		f.Add(source, "hello")
	}
	f.Fuzz(func(t *testing.T, source, content string) {
		tpl, err := NewTemplate(source, "<s>", "</s>")
		if err != nil {
			return
		}
		prefix, suffix, err := tpl.Split("notes", []Message{{"user", content}})
		if err == nil && len(prefix)+len(suffix) > maxPrompt {
			t.Fatal("too long")
		}
	})
}

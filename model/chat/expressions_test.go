package chat

import "testing"

// The expressions of this test occur in the templates of released models.
func TestJinjaOfRealTemplates(t *testing.T) {
	for source, want := range map[string]string{
		`{%- if tools %}{%- for tool in tools %}{{- "\n" }}{{- tool | tojson }}{%- endfor %}{{- "<tool_call>\n{\"name\": <function-name>}\n</tool_call>" }}{%- endif %}x`:                                                                                                                 "x",
		`{%- for message in messages %}{%- if message.role == "tool" %}{%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}{{- '<|im_start|>user' }}{%- endif %}{%- elif loop.index0 > 0 and messages[loop.index0 - 1].role == "user" %}A{%- endif %}{%- endfor %}`: "A",
		`{%- if builtin_tools is defined %}{{- "Tools: " + builtin_tools | reject('equalto', 'code_interpreter') | join(", ") + "\n\n"}}{%- endif %}y`:                                                                                                                                    "y",
		`{{ messages | selectattr('role', 'equalto', 'user') | list | length }}`:                                                                                                    "2",
		`{{ messages | map(attribute='role') | join(',') }}`:                                                                                                                        "system,user,assistant,user",
		`{{ 'a' if messages else 'b' }}{{ 'c' if tools else 'd' }}`:                                                                                                                 "ad",
		`{%- set x -%}  hi  {%- endset -%}{{ x }}`:                                                                                                                                  "hi",
		`{%- set m = [{'role': 'x', 'content': 'y'}] + messages[1:] %}{{ m[0].role }}{{ m | length }}`:                                                                              "x4",
		`{{ ' '.join(['a', 'b']) }}`:                                                                                                                                                "a b",
		`{{ foo | default('z') }}{{ messages[0].name | default('n') }}`:                                                                                                             "zn",
		`{{ messages[0].content | replace('notes', 'X') | upper }}`:                                                                                                                 "YOU ANSWER FROM THE X.",
		`{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }};{% endfor %}`:                                                                                                    "a=1;b=2;",
		`{% if messages[0]['content'] is string and messages[0].content is not none and not messages[0].tool_calls is defined %}ok{% endif %}`:                                      "ok",
		`{% if messages[0].content is iterable and messages[0].content is not string %}no{% else %}ok{% endif %}`:                                                                   "ok",
		`{{ (messages | length) % 2 == 0 }}{{ 7 // 2 }}{{ messages|length - 1 }}`:                                                                                                   "True33",
		`{% if 'notes' in messages[0].content %}in{% endif %}{% if 'tool_calls' in messages[0] %}no{% endif %}{% if 'x' not in messages[0] %}out{% endif %}`:                        "inout",
		`{% set ns = namespace(found=false) %}{% for m in messages %}{% if m.role == 'user' and not ns.found %}{% set ns.found = true %}{{ m.content[:5] }}{% endif %}{% endfor %}`: "Where",
		`{%- macro show(m) -%}[{{ m.role }}]{%- endmacro -%}{{ show(messages[0]) }}{{ show(messages[-1]) }}`:                                                                        "[system][user]",
		`{{ messages[1:3] | length }}{{ messages[::-1][0].role }}`:                                                                                                                  "2user",
		`{% for m in messages %}{{ loop.index }}{{ ',' if not loop.last else '.' }}{% endfor %}`:                                                                                    "1,2,3,4.",
		`{% for m in messages if m.role != 'system' %}{{ loop.index0 }}{% endfor %}`:                                                                                                "012",
		`{{ "%s-%d" | format("a", 3) }}`:                                                                                                                                            "a-3",
		`{{ messages[0].content.split(' ')[0] }}{{ messages[0].content.strip().endswith('.') }}{{ 'ab'.startswith('a') }}`:                                                          "YouTrueTrue",
		`{{- '<s>' -}}
    {#- comment -#}
    {{- '\n' -}}
x`: "<s>\nx",
		`{% for m in messages %}{% if loop.first %}{% set c = 'first' %}{% else %}{% set c = 'x' %}{% endif %}{{ c[0] }}{% endfor %}`:                                                                                      "fxxx",
		`{% set offset = 1 if messages[0].role == 'system' else 0 %}{% for m in messages[offset:] %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('x') }}{% endif %}{% endfor %}{{ offset }}`: "1",
		`{% set _ = messages.append({'role': 'user', 'content': 'q'}) %}{{ messages | length }}`:                                                                                                                           "5",
		`{{ messages | first | tojson | length > 3 }}{{ (messages | last).role }}`:                                                                                                                                         "Trueuser",
		`{{ 'x' * 3 }}{{ 'a' ~ 1 ~ true }}`:           "xxxa1True",
		`{{ messages[0]['nothing'] }}|{{ nothing }}|`: "||",
		`{%- set d = {'a': {'b': [1, 2]}} -%}{{ d.a.b[1] }}{{ d['a']['b'] | length }}{{ d.get('z', {}).get('y', 'q') }}`: "22q",
		`{% if add_generation_prompt is defined and add_generation_prompt %}g{% else %}n{% endif %}`:                     "g",
		`{{ "it's" }}{{ 'a"b' }}{{ 'tab\there' }}{{ "\u00e9" }}`:                                                         "it'sa\"btab\thereé",
	} {
		got, err := template(t, source).Render(conversation)
		if err != nil || got != want {
			t.Errorf("%s\n   %v\n   got %q want %q", source, err, got, want)
		}
	}
}

func TestTemplateIsSafeForConcurrentUse(t *testing.T) {
	tpl := template(t, templates["qwen3"])
	want, err := tpl.Render(conversation)
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan string)
	for range 4 {
		go func() {
			got := ""
			for range 20 {
				got, _ = tpl.Render(conversation)
			}
			results <- got
		}()
	}
	for range 4 {
		if got := <-results; got != want {
			t.Errorf("another goroutine changed the prompt: %q", got)
		}
	}
}

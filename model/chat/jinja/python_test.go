package jinja

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed testdata/render.py
var script string

// renderPython renders pairs of a template and JSON variables with Python's jinja2, the language's own implementation.
// args are those of render.py.
func renderPython(t *testing.T, cases [][2]string, args ...string) (texts, failures []string) {
	t.Helper()
	if exec.Command("python3", "-c", "import jinja2").Run() != nil {
		t.Skip("needs python3 with jinja2")
	}
	var in []any
	for _, c := range cases {
		in = append(in, []any{c[0], json.RawMessage(c[1])})
	}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", append([]string{"-c", script}, args...)...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(b), os.Stderr
	b, err = cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var out [][2]string
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	for _, r := range out {
		texts, failures = append(texts, r[0]), append(failures, r[1])
	}
	return texts, failures
}

// ordered reads JSON with the order of its keys.
func ordered(t *testing.T, text string) any {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var read func() any
	read = func() any {
		tok, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch tok {
		case json.Delim('{'):
			d := &Dict{}
			for dec.More() {
				key := read()
				d.set(key, read())
			}
			dec.Token()
			return d
		case json.Delim('['):
			l := &List{}
			for dec.More() {
				l.items = append(l.items, read())
			}
			dec.Token()
			return l
		}
		if n, ok := tok.(json.Number); ok {
			if i, err := n.Int64(); err == nil {
				return i
			}
			f, _ := n.Float64()
			return f
		}
		return tok
	}
	return read()
}

var roomy = Limits{Steps: 10_000_000, Bytes: 64 << 20, Output: 16 << 20}

func renderHere(t *testing.T, source, variables string) (string, error) {
	tpl, err := Parse(source)
	if err != nil {
		return "", err
	}
	vars := map[string]any{
		"raise_exception": Func(func(args []any) (any, error) { return nil, errors.New(fmt.Sprint(args...)) }),
		"strftime_now":    Func(func(args []any) (any, error) { return "04 Mar 2026", nil }),
	}
	d := ordered(t, variables).(*Dict)
	for i, k := range d.keys {
		vars[k.(string)] = d.values[i]
	}
	return tpl.Render(vars, roomy)
}

// agree checks that templates give here what they give in Python, with the arguments of render.py, and fail where they
// fail there.
func agree(t *testing.T, names []string, cases [][2]string, args ...string) {
	t.Helper()
	for _, bad := range disagreeing(t, names, cases, args...) {
		t.Error(bad.what)
	}
}

// disagreement is a case that gives something else here than in Python.
type disagreement struct {
	at   int // index of the case
	what string
}

func disagreeing(t *testing.T, names []string, cases [][2]string, args ...string) (out []disagreement) {
	t.Helper()
	texts, failures := renderPython(t, cases, args...)
	for i, c := range cases {
		got, err := renderHere(t, c[0], c[1])
		if (err != nil) != (failures[i] != "") || got != texts[i] {
			out = append(out, disagreement{i, fmt.Sprintf("%s\n  here %q, %v\nPython %q, %s", names[i], got, err, texts[i], failures[i])})
		}
	}
	return out
}

const conversations = `[
{"messages": [{"role": "user", "content": "Where is the key?"}], "add_generation_prompt": true},
{"messages": [{"role": "system", "content": " You answer.\n"}, {"role": "user", "content": " Hi <b>'é'\" "}, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nSo. "}, {"role": "user", "content": "And?"}], "add_generation_prompt": true, "enable_thinking": false},
{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "add_generation_prompt": false, "enable_thinking": true, "thinking": true},
{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "What is the weather in Ulm?"},
  {"role": "assistant", "content": "", "reasoning_content": "I ask.", "tool_calls": [{"type": "function", "id": "call12345", "function": {"name": "weather", "arguments": {"city": "Ulm", "days": 2, "exact": true, "more": [1.5, null]}}}]},
  {"role": "tool", "name": "weather", "tool_call_id": "call12345", "content": "{\"sky\": \"clear\"}"}, {"role": "assistant", "content": "It is clear."}, {"role": "user", "content": "Thanks"}],
 "tools": [{"type": "function", "function": {"name": "weather", "description": "The weather", "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "A town", "enum": ["Ulm", "Bonn"]}, "days": {"type": "integer"}}, "required": ["city"]}}}],
 "add_generation_prompt": true, "enable_thinking": true, "documents": null, "builtin_tools": ["browser"]},
{"messages": [{"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}], "add_generation_prompt": true},
{"messages": [{"role": "assistant", "content": "out of turn"}, {"role": "assistant", "content": "again"}], "add_generation_prompt": true},
{"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "content": "1"}, {"role": "tool", "content": "2"}], "add_generation_prompt": true, "tools": null, "reasoning_effort": "high"}
]`

// Templates of testdata, and of the folder in TANDEM_TEMPLATES, give the text that they give in Python, with a system
// message, tools and thoughts and without. Those of the folder may need what is allowed here besides (render.py).
func TestTemplatesAgreeWithPython(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.jinja")
	more, _ := filepath.Glob(filepath.Join(os.Getenv("TANDEM_TEMPLATES"), "*.jinja"))
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(conversations), &all); err != nil {
		t.Fatal(err)
	}
	var names []string
	var cases [][2]string
	for _, file := range append(files, more...) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range all {
			var vars map[string]json.RawMessage
			json.Unmarshal(c, &vars)
			text := strings.TrimSuffix(strings.TrimSpace(string(c)), "}") + `, "bos_token": "<s>", "eos_token": "</s>"}`
			names = append(names, fmt.Sprintf("%s, conversation %d", filepath.Base(file), i))
			cases = append(cases, [2]string{string(b), text})
		}
	}
	t.Logf("%d templates", len(cases)/len(all))
	var wideNames []string
	var wide [][2]string
	for _, bad := range disagreeing(t, names, cases) {
		if bad.at < len(files)*len(all) {
			t.Error(bad.what)
			continue
		}
		t.Logf("%s: not with Python's own rules", names[bad.at])
		wideNames, wide = append(wideNames, names[bad.at]), append(wide, cases[bad.at])
	}
	if len(wide) > 0 {
		agree(t, wideNames, wide, "wide")
	}
}

// Expressions and statements give what they give in Python.
func TestLanguageAgreesWithPython(t *testing.T) {
	const variables = `{"s": "a-b--c é", "n": 7, "f": 2.5, "l": [3, 1, 2], "d": {"b": 1, "a": {"x": [1, {"y": "z"}]}}, "none": null, "yes": true,
		"people": [{"name": "Bo", "age": 3, "in": {"town": "Ulm"}}, {"name": "al", "age": 3, "in": {"town": "Bonn"}}, {"name": "Cy", "age": 1}]}`
	var names []string
	var cases [][2]string
	for line := range strings.Lines(expressions) {
		if line = strings.TrimSpace(line); line != "" {
			line = strings.ReplaceAll(line, "⏎", "\n")
			names, cases = append(names, line), append(cases, [2]string{line, variables})
		}
	}
	agree(t, names, cases)
}

const expressions = `
{{ 1 + 2 * 3 ** 2 - 4 // 3 }} {{ 7 / 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 2 ** -1 }} {{ 2 ** 3 ** 2 }} {{ -2 ** 2 }}
{{ 1.0 }} {{ 1e20 }} {{ 0.00001 }} {{ 1e15 }} {{ 1e16 }} {{ 0.1 + 0.2 }} {{ 3.0 * 2 }} {{ 5.5 // 2 }} {{ -5.5 % 2 }} {{ 1_000 }} {{ 0x1f }}
{{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 1 == 1.0 }} {{ true == 1 }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ (1, 2) == [1, 2] }} {{ {'a': 1} == {'a': 1.0} }}
{{ not true or false and true }} {{ 0 or 'x' }} {{ '' and 'y' }} {{ [] or none }} {{ not [] }} {{ 1 if 0 else 2 }} {{ 'a' if false }} {{ 1 if 0 else 2 if 1 else 3 }}
{{ 'a' ~ 1 + 2 ~ 'b' }} {{ 'x' * 3 }} {{ 2 * 'ab' }} {{ [1] * 3 }} {{ 'x' * -1 }} {{ [1] + [2] }} {{ (1,) + (2,) }} {{ true + 1 }}
{{ 'a' in 'abc' }} {{ 'd' not in d }} {{ 'a' in d }} {{ 2 in l }} {{ '2' in l }} {{ missing in l }} {{ 'a' in missing }}
{{ l }} {{ d }} {{ (1,) }} {{ () }} {{ {} }} {{ [true, none, 'it\'s', "a\"b", 'a\n\t\\é'] }} {{ [missing] }} {{ none }} {{ missing }}
{{ s[0] }} {{ s[-1] }} {{ s[1:3] }} {{ s[::-1] }} {{ s[-3:] }} {{ s[:-1] }} {{ s[::2] }} {{ l[1:] }} {{ l[::-1] }} {{ l[5:1:-1] }} {{ l[10] }} {{ s[99] }} {{ l[-3] }}
{{ d.a.x[1].y }} {{ d['a']['x'][0] }} {{ d.zzz }} {{ d['zzz'] }} {{ d.get('zzz', 5) }} {{ d.get('zzz') }} {{ l.0 }} {{ d.a['x'].1['y'] }}
{{ d.items() | list }} {{ d.keys() | list }} {{ d.values() | list }} {{ d | items | list }} {{ d | list }} {{ d | length }}
{{ s.upper() }} {{ s.title() }} {{ s.capitalize() }} {{ 'ABC dé'.swapcase() }} {{ s.split('-') }} {{ s.split('-', 1) }} {{ s.rsplit('-', 1) }} {{ ' a  b '.split() }} {{ ' a  b c'.split(none, 1) }} {{ ' a b  c '.rsplit(none, 1) }}
{{ 'xxaxx'.strip('x') }} {{ 'xxaxx'.lstrip('x') }} {{ 'xxaxx'.rstrip('x') }} {{ ' a '.strip() }}| {{ 'abc'.startswith(('x', 'a')) }} {{ 'abc'.endswith('bc') }} {{ 'ab'.removeprefix('a') }} {{ 'ab'.removesuffix('b') }}
{{ s.replace('-', '+') }} {{ s.replace('-', '+', 1) }} {{ s.find('b') }} {{ s.find('q') }} {{ s.rfind('-') }} {{ s.index('é') }} {{ s.count('-') }} {{ s.partition('-') }} {{ s.rpartition('-') }} {{ s.partition('q') }}
{{ 'a'.center(6, '*') }} {{ 'ab'.center(5, '*') }} {{ 'a'.center(4) }}| {{ 'a'.ljust(3, '.') }} {{ 'a'.rjust(3, '.') }} {{ '-7'.zfill(4) }} {{ 'ab\ncd\n'.splitlines() }} {{ 'ab\ncd'.splitlines(true) }} {{ '-'.join(['a', 'b']) }}
{{ 'abc'.isalpha() }} {{ '12'.isdigit() }} {{ ''.isdigit() }} {{ ' '.isspace() }} {{ 'aB'.islower() }} {{ 'ab1'.islower() }} {{ 'AB'.isupper() }} {{ 'a1'.isalnum() }}
{{ '%s-%d-%5.2f-%r' % ('a', 3, 2.5, 'q') }} {{ '%s' % 1 }} {{ '%05d|%-4s|%4s|%x|%%' | format(42, 'a', 'b', 255) }} {{ '%(a)s' % {'a': 1} }}
{{ '{} {}'.format(1, 'a') }} {{ '{1}{0}'.format('a', 'b') }} {{ '{x}'.format(x=1) }} {{ '{:>5}|{:<5}|{:^5}|{:*^7}'.format('a', 'b', 'c', 'd') }} {{ '{:.2f} {:05d} {:d}'.format(1.234, 42, 7) }} {{ '{{}}'.format() }} {{ '{!r}'.format('a') }} {{ '{:5}|'.format(3) }}
{{ l | sort }} {{ l | sort(reverse=true) }} {{ ['b', 'A', 'c'] | sort }} {{ ['b', 'A', 'c'] | sort(case_sensitive=true) }} {{ people | sort(attribute='age') | map(attribute='name') | join(',') }} {{ people | sort(attribute='age,name') | length }}
{{ l | sum }} {{ people | sum(attribute='age') }} {{ l | max }} {{ l | min }} {{ people | map(attribute='in.town', default='?') | list }} {{ people | map(attribute='name') | map('upper') | list }} {{ l | map('string') | join }}
{{ people | selectattr('age', 'equalto', 3) | map(attribute='name') | list }} {{ people | rejectattr('age', 'gt', 2) | map(attribute='name') | list }} {{ people | selectattr('in') | list | length }} {{ l | select('odd') | list }} {{ l | reject('in', [1]) | list }} {{ [0, 1, ''] | select | list }}
{{ people | groupby('age') | length }} {% for age, group in people | groupby('age') %}{{ age }}:{{ group | map(attribute='name') | join('+') }};{% endfor %} {{ d | dictsort }} {{ {'b': 1, 'A': 0} | dictsort(true) }} {{ {'b': 1, 'A': 0} | dictsort(by='value', reverse=true) }}
{{ [1, 1, 2, 'a', 'A'] | unique | list }} {{ l | reverse | list }} {{ 'abc' | reverse }} {{ l | first }} {{ l | last }} {{ [] | first }} {{ 'abc' | first }} {{ l | batch(2) | list }} {{ l | batch(2, 0) | list }} {{ [1,2,3,4,5] | slice(3) | list }} {{ [1,2,3,4,5] | slice(3, 0) | list }}
{{ 'a b' | title }} {{ 'ABC' | lower }} {{ 'abc' | capitalize }} {{ ' a ' | trim }} {{ 'xax' | trim('x') }} {{ 'a' | center(5) }}| {{ 'one two three' | truncate(9) }} {{ 'one two three' | truncate(9, true) }} {{ 'one two three' | truncate(9, false, '..', 0) }} {{ 'a b_c d' | wordcount }}
{{ 'a\nb\n\nc' | indent }} {{ 'a\nb' | indent(2, true) }} {{ 'a\n\nb' | indent('> ', blank=true) }}
{{ '7' | int }} {{ '7.9' | int }} {{ 'x' | int }} {{ 'x' | int(5) }} {{ 'ff' | int(base=16) }} {{ 7.9 | int }} {{ '2.5' | float }} {{ 'x' | float }} {{ 2.5 | round }} {{ 3.5 | round }} {{ 2.456 | round(2) }} {{ 2.1 | round(method='ceil') }} {{ -3 | abs }} {{ n | string }} {{ true | int }}
{{ d | tojson }} {{ d | tojson(indent=2) }} {{ l | tojson(separators=(',', ':')) }} {{ d | tojson(sort_keys=true) }} {{ 'é"\\/\n\u0001😀<>' | tojson }} {{ 'é😀' | tojson(ensure_ascii=true) }} {{ [1.0, 1e20, true, none, [], {}] | tojson }} {{ [[], {}] | tojson(indent=1) }} {{ {1: 2, none: 3} | tojson }}
{{ '<a href="x">\'&' | e }} {{ 'a b/c?é' | urlencode }} {{ missing | default('x') }} {{ '' | default('x') }} {{ '' | default('x', true) }} {{ none | default('x') }} {{ missing | d }}|
{{ missing is defined }} {{ n is defined }} {{ none is none }} {{ n is number }} {{ f is float }} {{ n is integer }} {{ true is integer }} {{ true is number }} {{ s is string }} {{ d is mapping }} {{ l is sequence }} {{ d is sequence }} {{ s is iterable }} {{ n is iterable }} {{ yes is boolean }} {{ yes is true }} {{ n is odd }} {{ n is even }} {{ n is divisibleby 7 }} {{ n is divisibleby(2) }} {{ 'a' is in 'abc' }} {{ n is eq 7 }} {{ n is not none }} {{ s is lower }} {{ 'AB' is upper }} {{ range is callable }} {{ n is gt(3) and n is lt 9 }} {{ missing is undefined }} {{ n is sameas 7 }}
{{ range(3) | list }} {{ range(1, 4) | list }} {{ range(5, 0, -2) | list }} {{ range(0, 7, 3) | list }} {{ range(0) | list }} {{ dict(a=1, b=2) }} {{ dict([('a', 1)]) }} {{ dict(**{'a': 1}) }}
{% set a, b = 1, 2 %}{{ a + b }} {% set t = (1, 2) %}{{ t }} {% set x %}a{{ 1 }}b{% endset %}{{ x }} {% set x | upper %}abc{% endset %}{{ x }}
{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('a', 'b') }}{{ loop.depth }};{% endfor %}
{% for x in [1, 1, 2] %}{{ loop.changed(x) }}{% endfor %} {% for x in [] %}a{% else %}none{% endfor %} {% for x in missing %}a{% else %}none{% endfor %} {% for k, v in d.items() %}{{ k }}{% endfor %} {% for x in 'aé' %}{{ x }},{% endfor %} {% for k in d %}{{ k }}{% endfor %}
{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% if x == 2 %}{% break %}{% endif %}{% endfor %} {% for x in l if x > 1 %}{{ x }}{{ loop.length }}{% endfor %} {% for x in l %}{% for y in l %}{% break %}{% endfor %}{{ x }}{% endfor %}
{% set x = 1 %}{% for y in l %}{% set x = x + y %}{{ x }}{% endfor %}{{ x }} {% if true %}{% set x = 9 %}{% endif %}{{ x }} {% with x = 3, y = n %}{{ x + y }}{% set z = 1 %}{% endwith %}{{ x }}{{ z }}
{% set ns = namespace(x=1) %}{% for y in l %}{% set ns.x = ns.x + y %}{% endfor %}{{ ns.x }} {{ ns.y }} {% set ns.y = [1] %}{{ ns.y }}
{% macro m(a, b=2, c='x') %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }} {{ m(1, c=5) }} {{ m(b=7, a=1) }} {{ m() }} {{ m.name }} {{ m(1) | length }} {% set x = m(1) ~ '!' %}{{ x }}
{% macro w(t) %}<{{ t }}>{{ caller() }}</{{ t }}>{% endmacro %}{% call w('b') %}in{{ n }}{% endcall %} {% macro e(l) %}{% for x in l %}{{ caller(x) }}{% endfor %}{% endmacro %}{% call(x) e(l) %}[{{ x }}]{% endcall %}
{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(4) }} {% macro g() %}{{ later }}{% endmacro %}{% set later = 5 %}{{ g() }}
{% for x in [[1, [2]], [3]] recursive %}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}{% endif %}{% endfor %}
{% filter upper | replace('A', 'b') %}a{{ 'c' }}{% endfilter %} {% raw %}{{ x }} {% if %}{% endraw %} {%- raw -%} x {%- endraw -%} y {# {{ no }} #}z{#- -#} w
  {% if true %}⏎  a⏎  {% endif %}⏎b⏎  {%- if true %} c {% endif -%}  ⏎ d⏎{{ 1 }}⏎⏎{{ 2 }}  ⏎	{# x #}⏎e⏎
x  {% if true -%}  y  {%- endif %}  z⏎   {%+ if true %}⏎k{% endif +%}⏎  {{- 'v' -}}  ⏎  q⏎{% set a = 1 %}⏎⏎r⏎⏎
{% if 1 %}{% if 2 %}a{% elif 3 %}b{% else %}c{% endif %}{% endif %}{% if none %}a{% elif l %}b{% endif %}{% if d.q %}a{% elif 0 %}b{% else %}c{% endif %}
{{ "a" "b" 'c' }} {{ "tab\there" }} {{ '\x41\u00e9' }} {{ 'a\qb' }} {{ "\"" }} {{ '\'' }} {{ 'multi⏎line' }} {{ (1, 2)[1] }} {{ [1, 2,][0] }} {{ {'a': 1,}['a'] }} {{ (1) }} {{ 1, 2 }}
{{ missing.x }}
{{ missing() }}
{{ 1 + 'a' }}
{{ none + 1 }}
{{ 1 / 0 }}
{{ l.nothing }}|{{ n.nothing }}|{{ s.nothing }}|{{ none.nothing }}
{{ l | nothing }}
{{ n is nothing }}
{% nothing %}
{{ 1 2 }}
{{ 'a' + missing }}
{{ 'a'.split('') }}
{{ {}[[]] }}
{{ 'x' if true else missing.y }} {{ true or missing.y }} {{ false and missing.y }}
{% set l.x = 1 %}
{{ s.join(l) }}
{{ [l] | first | last }} {{ l|length > 2 and l|length < 4 }} {{ -l|length }} {{ (l|length) - 1 }} {{ not l|length == 3 }} {{ s|length is odd }} {{ 'a' ~ l|join('-') ~ 'b' }} {{ l[l|length - 1] }}
{% set content = s.split('-')[-1].lstrip(' ') %}{{ content }}{% do l.append(4) if false %}{% do 1 %} {{ l is not string and l is iterable }} {{ (none) is none }} {{ 'a' in ['a'] and 'b' not in ['a'] }} {{ d is defined and d.a is mapping }}
{{ "it's a-b (c) d_e 2nd [x] <y> ß ǆ" | title }} {{ "it's a-b (c) d_e 2nd ß ǆ ﬁn".title() }} {{ '' | title }} {{ 'ΑΣ ΒΣ' | title }}
{{ 2.675 | round(2) }} {{ 1.005 | round(2) }} {{ 0.285 | round(2) }} {{ 1234.5 | round(-2) }} {{ 60.0 | round(-2) }} {{ 5e-324 | round(1100) }} {{ 1e300 | round(5) }} {{ 7 | round }} {{ 7 | round(2) }} {{ 1250 | round(-2) }} {{ 1350 | round(-2) }} {{ -1250 | round(-2) }} {{ 7 | round(1, 'floor') }} {{ -0.4 | round }} {{ true | round }} {{ 3 | round(-30) }} {{ 2.5 | round(-400) }}
{{ 2.5 | round(1, 'up') }}
{{ ['a\nb\r\nc\rd\x0be\x0cf\x1cg\x1dh\x1ei\x85j\u2028k\u2029l\n'.splitlines(), 'a\r\n\n'.splitlines(true), ''.splitlines(), '\n'.splitlines()] }}
{{ 'ßa' | capitalize }} {{ 'ß' | upper }} {{ 'ﬁ'.upper() }} {{ 'ΑΣ' | lower }} {{ 'İ' | lower }} {{ 'Straße'.casefold() }} {{ 'ßX'.swapcase() }} {{ 'ß'.isupper() }} {{ 'ß'.islower() }} {{ 'ß' is upper }} {{ 'ǅ'.isupper() }} {{ 'ǆa' | capitalize }} {{ 'ΑΣ'.capitalize() }} {{ 'aß' is lower }} {{ 'ǅ'.islower() }}
{{ ['a', 1] | join(attribute=none) }} {{ l | join('-', none) }} {{ l | map(attribute=none) | list }} {{ l | sum(none, 3) }} {{ people | selectattr(none) | list | length }} {{ l | join('-', attribute=missing) }}
{{ 9223372036854775807 }} {{ -9223372036854775807 }} {{ 9007199254740993 > 9007199254740992 }} {{ [9007199254740993, 9007199254740992] | sort }} {{ [9007199254740993, 9007199254740992] | min }}
{{ 'inf' | float }} {{ '-Infinity' | float }} {{ 'nan' | float }} {{ '1e999' | float }} {{ 1e999 }} {{ 1e308 * 10 }} {{ -1e308 * 10 }} {{ 'inf' | float + 1 }} {{ 'inf' | int }} {{ 'nan' | float | int }} {{ 'inf' | float - ('inf' | float) }} {{ '0x1p3' | float }} {{ 'x' | float(2.5) }} {{ ('nan' | float) == ('nan' | float) }} {{ ('nan' | float) <= 1 }} {{ ('inf' | float) > 1e308 }} {{ 'inf' | float | round }} {{ 'inf' | float | abs }} {{ 'inf' | float // 2 }}
{{ ['inf' | float, -1e999, 'nan' | float] | tojson }} {{ {1e999: 1} | tojson }} {{ '%f|%6.2f|%e|%F|%06f|%+f' % (1e999, 1e999, -1e999, 1e999, 1e999, 1e999) }}
{{ 1e999 | int }}
{{ 1e999 | round(0, 'ceil') }}
{{ 1e200 ** 2 }}
{{ missing | int }}
{{ missing | float }}
{{ none | int }} {{ none | float }} {{ [] | int(3) }} {{ '0b11' | int(base=2) }} {{ '0x1F' | int(base=16) }} {{ '-0x1f' | int(base=16) }} {{ '0o17' | int(base=8) }} {{ '0x1f' | int }} {{ '0X1f' | int(base=0) }} {{ '1e3' | int }} {{ ' 7 ' | int }} {{ '1_0' | int }} {{ '1__0' | int }} {{ '1__0' | float }} {{ '-3.9' | int }} {{ 1e18 | int }}
{{ 0x7fffffffffffffff }} {{ 0b101 }} {{ 0o17 }} {{ 0XFF }} {{ 1_0.5 }} {{ 1e3 }} {{ 1E-3 }}
{{ 'a' | center(4) }}| {{ 'ab' | center(5) }}| {{ 'one' | indent(2, first=true) }} {{ 'a\r\nb\x0bc' | indent }} {{ 'a\n' | indent }}| {{ 'a\n\n' | indent(2, blank=true) }}|
{{ 'a,b'.split(',', maxsplit=1) }} {{ 'x'.replace('', '-') }} {{ 'abc'.find('c', 1, 2) }} {{ 'abcabc'.count('b', 2) }} {{ 'aaa'.count('') }} {{ 'a'.startswith('') }} {{ 'abc'.startswith('b', 1) }} {{ 'abc'.index('b') }}
`

package chat

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// A full stack or memory ends the process: if one of these templates were not refused, the test would crash. On a
// machine with much memory, the check of the memory that they take together fails.
func TestTemplatesThatWouldEndTheProcess(t *testing.T) {
	const many = 100_000
	repeat := strings.Repeat
	for name, source := range ruinous {
		t.Run(name, func(t *testing.T) { refused(t, source) })
	}
	for name, source := range map[string]string{
		"open parentheses":   "{{ " + repeat("(", many),
		"open brackets":      "{{ " + repeat("[", many),
		"open braces":        "{{ " + repeat("{", many),
		"parentheses":        "{{ " + repeat("(", many) + "1" + repeat(")", many) + " }}",
		"lists":              "{{ " + repeat("[", many) + repeat("]", many) + " }}",
		"calls in calls":     "{{ " + repeat("f(", many) + repeat(")", many) + " }}",
		"calls of calls":     "{{ f" + repeat("()", many) + " }}",
		"indices in indices": "{{ " + repeat("a[", many) + "1" + repeat("]", many) + " }}",
		"indices of indices": "{{ a" + repeat("[1]", many) + " }}",
		"attributes":         "{{ a" + repeat(".b", many) + " }}",
		"arguments":          "{{ 1" + repeat("|f(1", many) + repeat(")", many) + " }}",
		"sum":                "{{ 1" + repeat("+1", many) + " }}",
		"sum in a condition": "{% if 1" + repeat("+1", many) + " %}{% endif %}",
		"sum in set":         "{% set x = 1" + repeat("~1", many) + " %}",
		"or":                 "{{ 1" + repeat(" or 1", many) + " }}",
		"not":                "{{ " + repeat("not ", many) + "1 }}",
		"minus":              "{{ " + repeat("- ", many) + "1 }}",
		"statements":         repeat("{% if 1 %}", many) + repeat("{% endif %}", many),
		"open statements":    repeat("{% for a in b %}", many),
		"generations":        repeat("{% generation %}", many) + repeat("{% endgeneration %}", many),
		"sets":               repeat("{% set x %}", many) + repeat("{% endset %}", many),
		"long and nested":    "{{ (nothing(" + repeat("1,", 200_000) + "1)" + repeat("+1", 150) + ") }}",
	} {
		t.Run(name, func(t *testing.T) { refused(t, source) })
	}
}

// ruinous are templates that make large values from small ones, or values that contain themselves.
var ruinous = map[string]string{
	"times":             `{{ ('a'*2000000000)|length }}`,
	"times in filter":   `{{ 'x'|replace('x', 'a'*2000000000)|length }}`,
	"times in set":      `{% set x = 'a'*2000000000 %}`,
	"times in with":     `{% with x = 'a'*2000000000 %}{% endwith %}`,
	"times in if":       `{% if 'a'*2000000000 %}{% endif %}`,
	"times in elif":     `{% if false %}{% elif 'a'*2000000000 %}{% endif %}`,
	"times in for":      `{% for x in ['a'*2000000000] %}{% endfor %}`,
	"times in for if":   `{% for x in [1] if 'a'*2000000000 %}{% endfor %}`,
	"times in do":       `{% do 'a'*2000000000 %}`,
	"times in call":     `{% macro f(x) %}{{ caller() }}{% endmacro %}{% call f('a'*2000000000) %}{% endcall %}`,
	"times in default":  `{% macro f(x='a'*2000000000) %}{% endmacro %}{{ f() }}`,
	"times in block":    `{% filter replace('x', 'a'*2000000000) %}x{% endfilter %}`,
	"times in dict":     `{{ {'a': 'a'*2000000000}|length }}`,
	"times in index":    `{{ {}['a'*2000000000] }}`,
	"times in slice":    `{{ 'a'[('a'*2000000000)|length:] }}`,
	"times in choice":   `{{ 1 if 'a'*2000000000 else 2 }}`,
	"times in test":     `{{ 1 is eq('a'*2000000000) }}`,
	"times otherwise":   `{{ 1 if false else 'a'*2000000000 }}`,
	"times in method":   `{{ 'a'.strip('a'*2000000000) }}`,
	"swallowed":         `{{ ('a'*2000000000)|default('x') }}`,
	"swallowed macro":   `{% macro f(x) %}{{ f(x)|default('') }}{{ f(x)|default('') }}{% endmacro %}{{ f(1) }}`,
	"center":            `{{ 'a'|center(1500000000) }}`,
	"center, a method":  `{{ 'a'.center(1500000000, 'x') }}`,
	"ljust":             `{{ 'a'.ljust(1500000000, 'x') }}`,
	"rjust":             `{{ 'a'.rjust(1500000000, 'x') }}`,
	"zfill":             `{{ 'a'.zfill(1500000000) }}`,
	"expandtabs":        `{{ '	'.expandtabs('', 1500000000) }}`,
	"indent":            `{{ 'a'|indent(1500000000) }}`,
	"indent by name":    `{{ 'a'|indent(width=1500000000, first=true) }}`,
	"indent by text":    `{{ ('\n'*1000000)|indent('a'*1000000) }}`,
	"replace":           `{{ 'a'` + strings.Repeat(`|replace('a','aaaaaaaaaa')`, 10) + `|length }}`,
	"replace nothing":   `{{ ('a'*1000000)|replace('','a'*1000000)|length }}`,
	"replace, a method": `{% set x = 'a'*1000000 %}{{ x.replace('a',x,-1) }}`,
	"join":              `{{ range(16000)|join('a'*1000000) }}`,
	"join, a method":    `{% set x = 'a'*1000000 %}{{ x.join(range(16000)|map('string')|list) }}`,
	"format":            `{{ ('%999999d'*1000000)|format(1) }}`,
	"format *":          `{{ ('%*d'*1000000)|format(999999, 1) }}`,
	"format again":      `{{ ('%[1]s'*1000000)|format('a'*1000000) }}`,
	"format, a method":  `{{ '{0:>1500000000}'.format('a') }}`,
	"format, nested":    `{{ '{a:>{b}}'.format(a='a', b=1500000000) }}`,
	"format, pieces":    `{{ '{a:>999{b}999}'.format(a='a', b='') }}`,
	"batch":             `{{ [1]|batch(1500000000, 1) }}`,
	"slice":             `{{ [1]|slice(1500000000) }}`,
	"split":             `{% set x = 'a'*16000000 %}{{ x.split('a') }}`,
	"splitlines":        `{% set x = '\n'*16000000 %}{{ x.splitlines() }}`,
	"list":              `{{ ('a'*16000000)|list }}`,
	"urlize":            `{{ ('a.bc '*1000000)|urlize(target='a'*1000000) }}`,
	"map":               `{{ range(16000)|map('center', 4000000)|list }}`,
	"big number":        `{% set x = ('9'*40)|int %}{{ x.Lsh(x, x.TrailingZeroBits()) }}`,
	"plus":              `{{ (` + strings.Repeat(`('a'*16000000)+`, 100) + `'')|length }}`,
	"tilde":             `{{ (` + strings.Repeat(`('a'*16000000)~`, 100) + `'')|length }}`,
	"plus of lists":     `{% set x = range(16000)|list %}{{ ` + strings.Repeat(`x+`, 180) + `x }}`,
	"doubling macro":    `{% macro f(x) %}{{ f(x ~ x) }}{% endmacro %}{{ f('a') }}`,
	"doubling list":     `{% macro f(x) %}{{ f([x, x]) }}{% endmacro %}{{ f('a') }}`,
	"doubling dict":     `{% macro f(x) %}{{ f({'a': x, 'b': x}) }}{% endmacro %}{{ f('a') }}`,
	"variables":         variables(100),
	"macro text":        `{% macro f() %}{% for i in range(16000) %}` + strings.Repeat("a", 1<<19) + `{% endfor %}{% endmacro %}{{ f()|length }}`,
	"macro raw":         `{% macro f() %}{% for i in range(16000) %}{% raw %}` + strings.Repeat("a", 1<<19) + `{% endraw %}{% endfor %}{% endmacro %}{{ f()|length }}`,
	"namespace of self": `{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}`,
	"list of self":      `{% set ns = namespace() %}{% set ns.x = [[ns]] %}{{ ns }}`,
	"item of self":      `{% set ns = namespace() %}{% set ns['x'] = {'a': ns} %}{{ ns }}`,
	"two namespaces":    `{% set a = namespace() %}{% set b = namespace(a=a) %}{% set a.b = b %}{{ a }}`,
	"append of self":    `{% set d = {'a': []} %}{% for k, v in d %}{% set _ = v.append(d) %}{% endfor %}{{ d }}`,
	"growing later":     shared + `{{ list ~ '' }}`,
	"growing, method":   shared + `{{ list.copy() }}`,
	"growing, slice":    shared + `{{ 'a'[list:] }}`,
	"growing, filter":   shared + `{{ list|string }}`,
	"searches":          `{% set x = ('a'*1000 ~ 'b')*1000 %}{% for i in range(16000) %}{% set y = x.rsplit('a'*500 ~ 'b') %}{% endfor %}`,
	"inserts":           `{% set l = [] %}{% for i in range(100000) %}{% do l.insert(0, 1) %}{% endfor %}`,
	"deep keys":         `{% set ns = namespace(t=(1,)) %}{% for i in range(100) %}{% set ns.t = (ns.t,ns.t,ns.t) %}{% endfor %}{{ {ns.t: 1} }}`,
	"deep comparison":   `{% set ns = namespace(t=(1,)) %}{% for i in range(100) %}{% set ns.t = (ns.t,ns.t,ns.t) %}{% endfor %}{{ ns.t == ns.t }}`,
	"two calls a call":  `{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(100) }}`,
	"long sort":         `{{ range(1000000)|sort }}`,
	"growing, output":   shared + `{{ list }}`,
	"growing, call":     shared + `{% call list.copy() %}{% endcall %}`,
	"growing, set":      shared + `{% set d = {} %}{% set d[0] = list %}`,
}

// shared has a list that refers a thousand times to a namespace, which is small when the list is made.
const shared = `{% set ns = namespace(x='') %}{% set list = [ns,ns,ns,ns,ns,ns,ns,ns,ns,ns] %}{% set list = [list,list,list,list,list,list,list,list,list,list] %}{% set list = [list,list,list,list,list,list,list,list,list,list] %}{% set ns.x = 'a'*10000000 %}`

// variables makes many large ones.
func variables(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`{% set x` + strings.Repeat("x", i) + ` = 'a'*16000000 %}`)
	}
	return b.String()
}

func refused(t *testing.T, source string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tpl, err := NewTemplate(source, "", "")
	if err == nil {
		_, err = tpl.Render(conversation)
	}
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Error("the template was rendered")
	} else if len(err.Error()) > 500 {
		t.Errorf("the error is %d bytes long", len(err.Error()))
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("rendering took %d MB", used>>20)
	}
}

func TestTemplatesMayNestALittle(t *testing.T) {
	nest := func(n int, open, inner, end string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	for source, want := range map[string]string{
		`{{ '` + strings.Repeat("(", 1000) + `'|length }}`:                              "1000",
		`{{ ` + nest(100, "(", "1", ")") + ` }}`:                                        "1",
		`{{ ` + nest(50, "[", "", "]") + `|length }}`:                                   "1",
		nest(100, "{% if true %}", "1", "{% endif %}"):                                  "1",
		`{{ 1` + strings.Repeat("+1", 150) + ` }}`:                                      "151",
		strings.Repeat(`{{ 'a' + 'b' }}`, 400):                                          strings.Repeat("ab", 400),
		strings.Repeat(`{{ (1) }}{% if true %}{% endif %}`, 1000):                       strings.Repeat("1", 1000),
		`{% set x = [] %}{% set _ = x.append('a') %}{{ x }}`:                            "['a']",
		`{{ ['a', 'b']|join(', ') }}{{ '%5d'|format(3) }}`:                              "a, b    3",
		`{{ 'a-b'.split('-') }}{{ 'a'|center(5) }}`:                                     "['a', 'b']  a  ",
		`{{ '{a}: {b}'.format(a='1', b=20000) }}`:                                       "1: 20000",
		`{% raw %}{{ x }}{% endraw %}`:                                                  "{{ x }}",
		`{% set messages = messages %}{{ nothing.x|default('d') if nothing else 'd' }}`: "d",
		`{{ 2 * 3 }}{{ 2 * 1.5 }}{{ 'ab' * 2 }}{{ '12'|int }}{{ 'x'|int }}`:             "63.0abab120",
		`{% filter upper %}a{{ 'b' }}{% endfilter %}`:                                   "AB",
		`{% macro f() %}<{{ caller() }}>{% endmacro %}{% call f() %}a{% endcall %}`:     "<a>",
	} {
		got, err := template(t, source).Render(conversation)
		if err != nil || got != want {
			t.Errorf("%.60s: %v\n got %.60q\nwant %.60q", source, err, got, want)
		}
	}
	// Errors name the line and what is missing.
	_, err := template(t, `{{ nothing(1) + (2 * nobody(3)) }}`).Render(conversation)
	if err == nil || !strings.Contains(err.Error(), "line 1: nothing is not callable") {
		t.Errorf("error is %q", err)
	}
}

// BenchmarkRuinousTemplates reports how long the slowest of the templates takes to be refused, and how much memory the
// largest takes.
func BenchmarkRuinousTemplates(b *testing.B) {
	var slowest time.Duration
	var largest uint64
	var name string
	for b.Loop() {
		for n, source := range ruinous {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			if tpl, err := NewTemplate(source, "", ""); err == nil {
				tpl.Render(conversation)
			}
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if took > slowest {
				slowest, name = took, n
			}
			largest = max(largest, after.TotalAlloc-before.TotalAlloc)
		}
	}
	b.Logf("the slowest is %q", name)
	b.ReportMetric(float64(slowest.Microseconds())/1000, "ms-slowest")
	b.ReportMetric(float64(largest)/(1<<20), "MB-largest")
	b.ReportMetric(0, "ns/op")
}

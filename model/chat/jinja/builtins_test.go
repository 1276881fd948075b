package jinja

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// No filter, test, method or function panics, whatever it is given: templates come from untrusted files.
func TestBuiltinsDoNotPanic(t *testing.T) {
	values := func() []any { // made for each call, because some builtins change lists and dictionaries
		self := &List{}
		self.items = []any{self}
		return []any{
			nil, true, int64(0), int64(-1), int64(3), int64(math.MinInt64), int64(math.MaxInt64), 0.5, -1e300, math.Inf(1), math.NaN(),
			"", "a", "é,ü b", "{0!r:>5} {x.y}", "%5.2f %(a)s", "\xff", "==", &undefined{"x"}, NewDict("a", 1, 2, "b"), &namespace{}, self,
			&List{items: []any{int64(2), "x", nil}}, &List{items: []any{"k", int64(1)}, kind: tupleKind}, &List{kind: lazyKind},
			Func(func(args []any) (any, error) { return nil, nil }),
		}
	}
	subjects := func(x any) map[string]builtin {
		all := map[string]builtin{}
		for kind, list := range map[string]map[string]builtin{"filter": filters, "test": tests, "function": functions} {
			for name, run := range list {
				all[kind+" "+name] = run
			}
		}
		switch x.(type) {
		case string:
			maps.Copy(all, textMethods)
		case *Dict:
			maps.Copy(all, dictMethods)
		case *List:
			maps.Copy(all, listMethods)
		}
		return all
	}
	n := len(values())
	for i := range n {
		for name, run := range subjects(values()[i]) {
			try(t, name, run, values()[i], &arguments{})
			for j := range n {
				v := values()
				try(t, name, run, v[i], &arguments{list: []any{v[j]}})
				for _, named := range []string{"attribute", "default", "width", "count", "indent"} {
					v := values()
					try(t, name, run, v[i], &arguments{names: []string{named}, named: []any{v[j]}})
				}
				for k := j % 9; k < n; k += 9 { // a ninth of all pairs
					v := values()
					try(t, name, run, v[i], &arguments{list: []any{v[j], v[k]}})
				}
			}
		}
	}
}

// try runs a builtin within small limits. A failure is what templates' mistakes end in.
func try(t *testing.T, name string, run builtin, x any, a *arguments) {
	t.Helper()
	defer func() {
		r := recover()
		if _, ok := r.(failure); r != nil && !ok {
			t.Errorf("%s of %.40s with %.80s: panic: %v", name, fmt.Sprintf("%T", x), fmt.Sprintf("%T %v", a.list, a.names), r)
		}
	}()
	m := &machine{left: Limits{Steps: 10_000, Bytes: 100_000, Output: 10_000}, out: &strings.Builder{}, scope: &scope{}}
	run(m, x, a)
}

// No source panics: neither when it is parsed nor when it is rendered.
func TestSourcesDoNotPanic(t *testing.T) {
	fragments := strings.Split("{{|}}|{%|%}|{#|#}|-| |\n|'|\"|\\x|\\u12|\\U000|\\1|4|x|y.z|(|)|[|]|{|}|:|,|.|~|+|**|//|==|not|in|is|if|else|for|x in y|endfor|endif|"+
		"set|endset|macro|m(a=1)|endmacro|call|endcall|filter|endfilter|with|endwith|raw|endraw|break|recursive|loop|loop.cycle|defined|"+
		"true|none|1.5|1e9|0x|0x1f|_|é|\xff|selectattr|map|items|*|**y|endgeneration|generation|do|{{ x }}|{% if x %}|{% endif %}|{% for x in y %}|{% endfor %}", "|")
	fragments = append(fragments, "|")
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var source strings.Builder
		source.WriteString([]string{"", "{{ ", "{% "}[r.IntN(3)])
		for range r.IntN(12) {
			source.WriteString(fragments[r.IntN(len(fragments))])
			source.WriteString([]string{"", " "}[r.IntN(2)])
		}
		source.WriteString([]string{"", " }}", " %}"}[r.IntN(3)])
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%q panics: %v", source.String(), p)
				}
			}()
			if p, err := Parse(source.String()); err == nil {
				p.Render(map[string]any{"x": "text", "y": []any{1, "a", map[string]any{"z": 1.5}}}, Limits{Steps: 10_000, Bytes: 100_000, Output: 10_000})
			}
		}()
	}
}

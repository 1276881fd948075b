package jinja

import (
	"errors"
	"testing"
)

// Keys are long texts here, and a template looks them up again and again. Each look-up counts as much as it reads.
func TestKeysCount(t *testing.T) {
	const keys = "{% set s = 'x' * 1000000 %}{% set d = {} %}{% set tuple = (s, s, s, s, s, s, s, s) %}"
	for name, source := range map[string]string{
		"a tuple as an index":  "{% for i in range(40) %}{{ d[tuple] }}{% endfor %}",
		"get of a tuple":       "{% for i in range(40) %}{{ d.get(tuple) }}{% endfor %}",
		"a tuple in":           "{% for i in range(40) %}{{ tuple in d }}{% endfor %}",
		"a tuple as a key":     "{% for i in range(40) %}{% set _ = {tuple: i} %}{% endfor %}",
		"unique":               "{{ [s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s] | unique | list | length }}",
		"a text as an index":   "{% for i in range(40) %}{{ d[s] }}{% endfor %}",
		"equal dictionaries":   "{% set e = {s: 1} %}{% for i in range(40) %}{{ e == e }}{% endfor %}",
		"a format with a name": "{% set e = {s: 1} %}{% for i in range(40) %}{{ ('%(' ~ s ~ ')s') % e }}{% endfor %}",
	} {
		tpl, err := Parse(keys + source)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tpl.Render(nil, Limits{Steps: 400_000, Bytes: 64 << 20, Output: 1 << 20}); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package jinja

import (
	"errors"
	"strings"
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

// Integers have 64 bits, and a result that does not fit is an error, not another number.
func TestIntegersAreBounded(t *testing.T) {
	for _, x := range []string{
		"9223372036854775807 + 1", "-9223372036854775807 - 2", "4611686018427387904 * 2", "2 ** 63",
		"(-9223372036854775807 - 1) // -1", "-(-9223372036854775807 - 1)", "(-9223372036854775807 - 1)|abs",
		"99999999999999999999", "0xffffffffffffffffff", "'99999999999999999999'|int", "'1e19'|int", "1e19|int", "9223372036854775807|round(-1)",
		"'%d' % 1e19", "'99999999999999999999'|from_json",
	} {
		p, err := Parse("{{ " + x + " }}")
		var got string
		if err == nil {
			got, err = p.Render(nil, Limits{Steps: 1000, Bytes: 1000, Output: 1000})
		}
		if err == nil || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("%s = %s, %v", x, got, err)
		}
	}
}

// Rounding makes no finite number infinite: one that is too large stays as it is, or is an error where it is in Python.
func TestRoundedNumbersAreFinite(t *testing.T) {
	for method, want := range map[string]string{"common": "1e+300", "ceil": "", "floor": ""} {
		p, err := Parse("{{ 1e300|round(300, '" + method + "') }}")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Render(nil, Limits{Steps: 1000, Bytes: 1000, Output: 1000}); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v", method, got, err)
		}
	}
}

// What a template gets wrong is an error or stays as it is. It never ends the program.
func TestMistakesDoNotPanic(t *testing.T) {
	for source, want := range map[string]string{
		`{{ "\x4" }}`:                         `\x4`,
		`{{ "\u00e" }}`:                       `\u00e`,
		`{{ "\U0001f60" }}`:                   `\U0001f60`,
		`{{ "\x4" ~ "\x41" }}`:                `\x4A`,
		`{{ [1]|selectattr(attribute="a") }}`: "error",
		`{{ [1]|rejectattr(attribute="a") }}`: "error",
		`{{ [1]|selectattr() }}`:              "error",
		`{{ [1]|map() }}`:                     "error",
		`{{ [1]|select(name="odd")|list }}`:   "[1]",
	} {
		got := "error"
		if p, err := Parse(source); err == nil {
			if text, err := p.Render(nil, Limits{Steps: 1000, Bytes: 10_000, Output: 1000}); err == nil {
				got = text
			}
		}
		if got != want {
			t.Errorf("%s gives %s, want %s", source, got, want)
		}
	}
}

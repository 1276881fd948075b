package jinja

import (
	"errors"
	"strings"
	"testing"
)

func TestFromJSON(t *testing.T) {
	render := func(source string, l Limits) (string, error) {
		tpl, err := Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		return tpl.Render(nil, l)
	}
	for source, want := range map[string]string{
		`{{ '{"a": [1, 2.5, null, true, "é"], "b": {}}' | from_json }}`:                         "{'a': [1, 2.5, None, True, 'é'], 'b': {}}",
		`{% for k, v in ('{"z": 1, "a": 2}' | from_json).items() %}{{ k }}{{ v }} {% endfor %}`: "z1 a2 ",
		`{{ '3' | from_json + 1 }}`: "4",
		// A filter that is not applied need not be known, and none has no items.
		`{% if false %}{{ 1 | nonsense }}{% endif %}{{ none | selectattr('a') | list | length }}{{ none | map('upper') | list }}`: "0[]",
	} {
		if got, err := render(source, roomy); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", source, got, err, want)
		}
	}
	for source, want := range map[string]string{
		`{{ '{"a"' | from_json }}`: "from_json", `{{ '1 2' | from_json }}`: "more than one", `{{ 1 | from_json }}`: "no text", `{{ '1e999' | from_json }}`: "out of range",
		`{{ '` + strings.Repeat("[", 100) + `' | from_json }}`: "nested more than 64 times", `{{ '[' | from_json }}`: "from_json", `{{ 1 | nonsense }}`: `"nonsense" is unknown`,
	} {
		if got, err := render(source, roomy); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v, want %q", source, got, err, want)
		}
	}
	long := `{{ '[` + strings.Repeat("1,", 10000) + `1]' | from_json | length }}`
	if _, err := render(long, Limits{Steps: 100000, Bytes: 100000, Output: 1000}); !errors.Is(err, ErrLimit) {
		t.Errorf("many numbers in little memory: %v", err)
	}
}

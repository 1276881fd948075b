// Package jinja renders the part of Jinja that the chat templates of models use: everything except files, inheritance,
// translation and escapes for HTML. Values, operators and texts behave as in Python, so that a prompt equals, byte for byte,
// what a model was trained on. White space is trimmed as with trim_blocks and lstrip_blocks.
//
// These are missing, and errors when they are used:
//
//   - the filters filesizeformat, forceescape, random, striptags, urlize, wordwrap and xmlattr, urlencode of dictionaries, and
//     groupby's default, grouper and list;
//   - the functions cycler, joiner and lipsum;
//   - the methods encode, expandtabs, format_map, isidentifier, isprintable, istitle, maketrans and translate of texts, those of
//     numbers, and those that remove from a dictionary or from a list, other than pop of a list;
//   - in a text's format, the conversions !s and !a, the types b, n and %, separators of thousands, signs before "=", and fields
//     within fields;
//   - integers of more than 64 bits, and complex numbers.
//
// A template comes from an untrusted source. It can reach only the values that it is given, and its steps, its nesting and the
// memory of all its values are counted before they are spent: see Limits.
package jinja

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Template is a compiled template. It is safe for concurrent use.
type Template struct{ body []stmt }

// Parse compiles a template. Errors name the line.
func Parse(source string) (t *Template, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(syntaxError)
			if !ok {
				panic(r)
			}
			err = e.error
		}
	}()
	source = strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n")
	p := &parser{src: strings.TrimSuffix(source, "\n"), lineStart: true}
	body, _ := p.body()
	return &Template{body}, nil
}

// Render renders the template with variables: nil, bool, int, int64, float64, string, []any, map[string]any, *Dict or
// Func. The error of a Func is returned as it is, wrapped; one of the template names its line; one of the limits wraps
// ErrLimit.
func (t *Template) Render(vars map[string]any, limits Limits) (out string, err error) {
	m := &machine{left: limits, out: &strings.Builder{}, scope: &scope{vars: map[string]any{}}}
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			out, err = "", fmt.Errorf("line %d: %w", m.line, f.error)
		}
	}()
	for name, v := range vars {
		m.scope.vars[name] = valueOf(v)
	}
	m.scope = &scope{outer: m.scope} // what the template sets hides the variables
	m.run(t.body)
	return strings.ToValidUTF8(m.out.String(), string(utf8.RuneError)), nil
}

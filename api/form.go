package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"tandem/model/grammar"
	"tandem/node"
)

// responseFormat is what a request of OpenAI's API, or of one like it, demands of its answer.
type responseFormat struct {
	Type   string          `json:"type"` // text, json_object, json_schema
	Name   string          `json:"name,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"` // where the schema stands in the format itself
	Nested struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema,omitzero"`
}

// forms are what requests demand of the form of an answer in other servers' words: the first two in llama.cpp's, the rest in vLLM's.
type forms struct {
	Grammar       json.RawMessage            `json:"grammar"`
	Schema        json.RawMessage            `json:"json_schema"`
	GuidedJSON    json.RawMessage            `json:"guided_json"`
	GuidedRegex   json.RawMessage            `json:"guided_regex"`
	GuidedChoice  json.RawMessage            `json:"guided_choice"`
	GuidedGrammar json.RawMessage            `json:"guided_grammar"`
	Structured    map[string]json.RawMessage `json:"structured_outputs"` // by the names of the four above, without guided_
}

// demand is a form, and the parameter that demands it.
type demand struct {
	param string
	form  string // as grammar.Of reads it
}

// demand returns the form that a request demands, with an empty param for none.
func (o options) demand() (out demand, err error) {
	set := func(param string, raw json.RawMessage, read func(json.RawMessage) (string, error)) {
		if err != nil || isMissing(raw) {
			return
		}
		form, wrong := read(raw)
		switch {
		case wrong != nil:
			err = badRequest(param, "%s: %v", param, wrong)
		case out.param != "":
			err = badRequest(param, "%s and %s: want one of them", out.param, param)
		default:
			out = demand{param, form}
		}
	}
	if f := o.Format; f != nil && f.Type != "" && f.Type != "text" {
		schema, refused := f.schema(o.formatParam())
		if refused != nil {
			return demand{}, refused
		}
		set(o.formatParam(), schema, schemaOf)
	}
	set("grammar", notEmpty(o.Grammar), unquoted)
	set("json_schema", o.Schema, schemaOf)
	set("guided_json", o.GuidedJSON, schemaOf)
	set("guided_regex", notEmpty(o.GuidedRegex), patternOf)
	set("guided_choice", notEmpty(o.GuidedChoice), choiceOf)
	set("guided_grammar", notEmpty(o.GuidedGrammar), unquoted)
	set("structured_outputs.json", o.Structured["json"], schemaOf)
	set("structured_outputs.regex", notEmpty(o.Structured["regex"]), patternOf)
	set("structured_outputs.choice", notEmpty(o.Structured["choice"]), choiceOf)
	set("structured_outputs.grammar", notEmpty(o.Structured["grammar"]), unquoted)
	for name, raw := range o.Structured {
		known := slices.Contains([]string{"json", "regex", "choice", "grammar"}, name)
		if err == nil && !known && isGiven(raw) && string(raw) != "false" {
			err = badRequest("structured_outputs", "structured_outputs.%.40s is not supported: want json, regex, choice or grammar", name)
		}
	}
	return out, err
}

// formatParam is what an API calls the format of an answer.
func (o options) formatParam() string { return cmp.Or(o.bounds.format, "response_format") }

// schema returns the schema of a format other than text. param is what the request calls the format.
func (f responseFormat) schema(param string) (json.RawMessage, error) {
	given := f.Schema
	if isMissing(given) {
		given = f.Nested.Schema
	}
	switch {
	case f.Type == "json_object" && isMissing(given):
		return json.RawMessage("{}"), nil
	case f.Type != "json_object" && f.Type != "json_schema":
		return nil, badRequest(param, "the response format %.40q is not supported: want text, json_object or json_schema", f.Type)
	case isMissing(given):
		return nil, badRequest(param, "the response format json_schema has no schema")
	}
	return given, nil
}

// isMissing reports whether a field of a request is not there.
func isMissing(raw json.RawMessage) bool {
	text := string(bytes.TrimSpace(raw))
	return text == "" || text == "null"
}

var (
	errWantObject = errors.New("want a schema")
	errWantText   = errors.New("want a text")
	errWantTexts  = errors.New("want a list of texts")
)

// notEmpty returns a field of a request, or nothing if it is an empty text.
func notEmpty(raw json.RawMessage) json.RawMessage {
	if isGiven(raw) {
		return raw
	}
	return nil
}

// schemaOf returns a schema, which some clients send as text.
func schemaOf(raw json.RawMessage) (string, error) {
	text := strings.TrimSpace(string(raw))
	if strings.HasPrefix(text, `"`) {
		return unquoted(raw)
	}
	if !strings.HasPrefix(text, "{") {
		return "", errWantObject
	}
	return text, nil
}

// unquoted returns the text that a field holds.
func unquoted(raw json.RawMessage) (text string, err error) {
	if json.Unmarshal(raw, &text) != nil {
		return "", errWantText
	}
	return text, nil
}

// patternOf returns a regular expression as grammar.Of reads it.
func patternOf(raw json.RawMessage) (string, error) {
	text, err := unquoted(raw)
	return "/" + text + "/", err
}

// choiceOf returns the grammar of the texts of a list.
func choiceOf(raw json.RawMessage) (string, error) {
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return "", errWantTexts
	}
	for i, text := range list {
		list[i] = grammar.Quote(text)
	}
	return "root ::= " + strings.Join(list, " | "), nil
}

// form returns the form of an answer for tandem.Settings, if what answers here can write in it.
func (s *Server) form(o options) (string, error) {
	d, err := o.demand()
	if err != nil || d.param == "" {
		return "", err
	}
	switch {
	case s.cfg.Pointing:
		return "", badRequest(d.param, "%s needs a model that writes, and the built-in reader quotes documents: start the server with --model NAME", d.param)
	case s.cfg.Denoises:
		return "", badRequest(d.param, "%s needs a model that writes token by token, and a diffusion model answers here", d.param)
	}
	form, err := node.FormOf(d.form)
	if err != nil {
		return "", badRequest(d.param, "%s: %v", d.param, err)
	}
	return form, nil
}

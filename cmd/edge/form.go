package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"tandem/node"
)

// formFlags force a text into a form.
type formFlags struct {
	Grammar    string `help:"Write only what this grammar (GBNF) derives: a file, or the grammar itself." env:"-" placeholder:"FILE"`
	JSONSchema string `name:"json-schema" short:"j" help:"Write only JSON that fits this schema: a file, or the schema itself." env:"-" placeholder:"FILE"`
}

// given returns the flag that was given, "" for none.
func (f formFlags) given() string {
	switch {
	case f.Grammar != "":
		return "--grammar"
	case f.JSONSchema != "":
		return "--json-schema"
	}
	return ""
}

// form returns the form of the texts that the flags allow, as tandem.Settings has it; empty for no limit.
func (f formFlags) form() (string, error) {
	switch {
	case f.Grammar != "" && f.JSONSchema != "":
		return "", errors.New("--grammar and --json-schema: choose one of them")
	case f.Grammar != "":
		return readForm("--grammar", f.Grammar, strings.Contains(f.Grammar, "::="))
	case f.JSONSchema != "":
		return readForm("--json-schema", f.JSONSchema, strings.HasPrefix(strings.TrimSpace(f.JSONSchema), "{"))
	}
	return "", nil
}

// readForm reads a grammar or schema, given inline or as a file.
func readForm(flag, value string, inline bool) (string, error) {
	text, source := value, flag
	if !inline {
		file, err := os.Open(value)
		if err != nil {
			return "", fmt.Errorf("%s: %w", flag, err)
		}
		defer file.Close()
		read, err := io.ReadAll(io.LimitReader(file, node.MaxForm+1)) // one more is too many
		if err != nil {
			return "", fmt.Errorf("%s: %w", flag, err)
		}
		text, source = string(read), flag+" "+value
	}
	if isSchema := strings.HasPrefix(strings.TrimSpace(text), "{"); isSchema != (flag == "--json-schema") {
		return "", fmt.Errorf("%s: --json-schema takes a JSON object, and --grammar a grammar", source)
	}
	form, err := node.FormOf(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", source, err)
	}
	return form, nil
}

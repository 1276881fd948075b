package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// readConfig is kong's loader of a configuration file: one JSON object whose keys are the long names of
// flags ("max-tokens"), for all commands that know them. An environment variable wins over it.
func readConfig(r io.Reader) (kong.Resolver, error) {
	data, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	if err := json.Unmarshal(data, &values); err != nil {
		return nil, configError(r, err)
	}
	return config{values, nameOf(r)}, nil
}

func nameOf(r io.Reader) string {
	if f, ok := r.(*os.File); ok {
		return f.Name()
	}
	return "the configuration"
}

func configError(r io.Reader, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%s: byte %d: %w; write an object such as {\"placement\": \"device\"}", nameOf(r), syntax.Offset, err)
	}
	return fmt.Errorf("%s: %w; write an object such as {\"placement\": \"device\"}", nameOf(r), err)
}

// config resolves flags from a file.
type config struct {
	values map[string]any
	file   string
}

// Validate refuses keys that no command knows: a misspelt setting must not be ignored.
func (c config) Validate(app *kong.Application) error {
	known := map[string]bool{}
	var visit func(n *kong.Node)
	visit = func(n *kong.Node) {
		for _, f := range n.Flags {
			known[f.Name] = true
		}
		for _, child := range n.Children {
			visit(child)
		}
	}
	visit(app.Node)
	for key := range c.values {
		if !known[key] {
			return fmt.Errorf("%s: no flag is called %q", c.file, key)
		}
	}
	return nil
}

// Resolve gives the value of a flag that the command line leaves open, unless the environment has one.
func (c config) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return nil, nil
		}
	}
	v, ok := c.values[flag.Name]
	if !ok {
		return nil, nil
	}
	if list, ok := v.([]any); ok {
		var words []string
		for _, item := range list {
			words = append(words, fmt.Sprint(item))
		}
		return strings.Join(words, ","), nil
	}
	return v, nil
}

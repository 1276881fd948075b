package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// configFlag names a configuration file beside the default one, over which it wins.
type configFlag string

// BeforeResolve is called by kong.
func (f configFlag) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	c, err := loadConfig(string(ctx.FlagValue(trace.Flag).(configFlag)))
	if err == nil {
		ctx.AddResolver(c)
	}
	return err
}

// defaultConfig reads the configuration file of a program's folders, if it is there.
func defaultConfig(dirs Dirs) (path string, _ []kong.Resolver, _ error) {
	if dirs.Config == "" {
		return "none without a home folder", nil, nil
	}
	path = filepath.Join(dirs.Config, "config.json")
	c, err := loadConfig(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return path, nil, nil
	case err != nil:
		return path, nil, err
	}
	return path, []kong.Resolver{c}, nil
}

// loadConfig reads a configuration file: one JSON object whose keys are the long names of flags ("max-tokens"), for all
// commands that know them. An environment variable wins over it.
func loadConfig(path string) (c config, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that nobody writes to is empty, not waited for
	if err != nil {
		return c, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return c, err
	}
	c = config{map[string]any{}, path}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // a seed has more digits than a float
	if err = d.Decode(&c.values); err == nil && len(bytes.TrimSpace(data[d.InputOffset():])) > 0 {
		err = errors.New("something comes after the object")
	}
	if err != nil {
		return c, configError(path, err)
	}
	return c, nil
}

func configError(path string, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%s: byte %d: %w; write an object such as {\"placement\": \"device\"}", path, syntax.Offset, err)
	}
	return fmt.Errorf("%s: %w; write an object such as {\"placement\": \"device\"}", path, err)
}

// config resolves flags from a file.
type config struct {
	values map[string]any
	file   string
}

// Validate refuses keys that no command knows as settings: a misspelt one must not be ignored.
func (c config) Validate(app *kong.Application) error {
	setting := map[string]bool{} // by the names of flags: it can be set in the environment, too
	var visit func(n *kong.Node)
	visit = func(n *kong.Node) {
		for _, f := range n.Flags {
			setting[f.Name] = setting[f.Name] || len(f.Envs) > 0
		}
		for _, child := range n.Children {
			visit(child)
		}
	}
	visit(app.Node)
	for key := range c.values {
		switch can, known := setting[key]; {
		case !known:
			return fmt.Errorf("%s: no flag is called %q", c.file, key)
		case !can:
			return fmt.Errorf("%s: --%s is for the command line only", c.file, key)
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
	if !ok || v == nil || len(flag.Envs) == 0 { // Validate will refuse the latter
		return nil, nil
	}
	text, err := typed(v, flag.Tag.Sep)
	if err == nil {
		err = fits(flag, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.file, err)
	}
	return text, nil
}

// typed is a value as one would type it behind a flag: what comes from a file is read as what comes from elsewhere.
func typed(v any, sep rune) (string, error) {
	switch v := v.(type) {
	case nil, map[string]any:
		return "", errors.New("want a text, a number, true or false, or a list of these")
	case []any:
		var words []string
		for _, item := range v {
			word, err := typed(item, sep)
			if err != nil {
				return "", err
			}
			words = append(words, word)
		}
		return kong.JoinEscaped(words, sep), nil
	}
	return fmt.Sprint(v), nil
}

// fits reports why a flag does not take a text, which kong would say without naming the file.
func fits(flag *kong.Flag, text string) error {
	scan := kong.Scan().PushTyped(text, kong.FlagValueToken)
	if err := flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: scan}, reflect.New(flag.Target.Type()).Elem()); err != nil {
		return err
	}
	if flag.Enum != "" && !slices.Contains(flag.EnumSlice(), text) {
		return fmt.Errorf("%q is none of %s", text, strings.Join(flag.EnumSlice(), ", "))
	}
	return nil
}

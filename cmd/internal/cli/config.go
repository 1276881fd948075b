package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"tandem/internal/spelling"
)

// configFlag names a configuration file, which wins over the default one.
type configFlag string

// BeforeResolve is called by kong.
func (f configFlag) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	path := string(ctx.FlagValue(trace.Flag).(configFlag))
	c, err := loadConfig(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--config %s: %w: name another file, or leave the flag out", Escape(path), fs.ErrNotExist)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("--config %s: %w: name a file", Escape(path), syscall.EISDIR)
	case err != nil:
		return err
	}
	ctx.AddResolver(c)
	return nil
}

// defaultConfig reads config.json in the program's configuration folder, if there is one.
func defaultConfig(dirs Dirs) (path string, _ []kong.Resolver, _ error) {
	if dirs.Config == "" {
		return "none without a home folder", nil, nil
	}
	path = filepath.Join(dirs.Config, "config.json")
	c, err := loadConfig(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
		return path, nil, nil
	case err != nil:
		return path, nil, err
	}
	return path, []kong.Resolver{c}, nil
}

// loadConfig reads a configuration file: one JSON object whose keys are long names of flags, such as "max-tokens". A value
// applies to every command that has the flag.
func loadConfig(path string) (c config, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // do not wait for a pipe that nobody writes to
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
	d.UseNumber() // a seed can have more digits than a float64
	switch err = d.Decode(&c.values); {
	case err == io.EOF:
		err = errors.New("it is empty")
	case errors.As(err, new(*json.UnmarshalTypeError)):
		err = errors.New("it is not an object")
	case err == nil && len(bytes.TrimSpace(data[d.InputOffset():])) > 0:
		err = errors.New("text after the object")
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

// withSource adds to the error of a command where a flag that it names was set, if not on the command line.
func (a *App) withSource(chosen *kong.Context, err error) error {
	if err == nil {
		return nil
	}
	for _, flag := range chosen.Flags() {
		if where := a.setIn(chosen, flag); where != "" && concerns(err.Error(), flag) {
			return fmt.Errorf("%w (--%s is set in %s)", err, flag.Name, where)
		}
	}
	return err
}

// concerns reports whether a message names a flag, or quotes its value.
func concerns(message string, flag *kong.Flag) bool {
	value := flag.Target
	return regexp.MustCompile(`--`+regexp.QuoteMeta(flag.Name)+`([^-\w]|$)`).MatchString(message) ||
		value.Kind() == reflect.String && value.Len() > 0 && strings.Contains(message, strconv.Quote(value.String()))
}

// setIn returns the file or the variable that sets a flag, "" if neither does.
func (a *App) setIn(chosen *kong.Context, flag *kong.Flag) (from string) {
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			from = "the environment variable " + name
		}
	}
	for _, p := range chosen.Path {
		switch {
		case p.Flag != flag:
		case !p.Resolved: // on the command line
			return ""
		default:
			dirs, _ := a.Dirs()
			from = filepath.Join(dirs.Config, "config.json")
			if c, err := loadConfig(string(a.Globals.Config)); err == nil && c.values[flag.Name] != nil {
				from = c.file
			}
		}
	}
	return from
}

// config resolves flags from a file.
type config struct {
	values map[string]any
	file   string
}

// Validate refuses keys that are not settings of any command, so that a misspelt one is noticed.
func (c config) Validate(app *kong.Application) error {
	setting := map[string]bool{} // by flag name: whether it can be set outside the command line
	eachFlag(app.Node, func(f *kong.Flag) { setting[f.Name] = setting[f.Name] || len(f.Envs) > 0 })
	for key := range c.values {
		switch can, known := setting[key]; {
		case !known:
			if near := spelling.Nearest(strings.ReplaceAll(key, "_", "-"), slices.Sorted(maps.Keys(setting))); near != "" {
				return fmt.Errorf("%s: there is no flag %q: did you mean %q?", c.file, key, near)
			}
			return fmt.Errorf("%s: there is no flag %q: correct it or remove it", c.file, key)
		case !can:
			return fmt.Errorf("%s: --%s is for the command line only: remove it", c.file, key)
		}
	}
	return nil
}

// eachFlag visits the flags of a command and of those below it.
func eachFlag(n *kong.Node, visit func(*kong.Flag)) {
	for _, f := range n.Flags {
		visit(f)
	}
	for _, child := range n.Children {
		eachFlag(child, visit)
	}
}

// misspelt says which variables of the environment look like a flag's and are none's. Others may be for another program.
func misspelt(app *kong.Application, environ []string) (remarks []string) {
	known := map[string]bool{}
	eachFlag(app.Node, func(f *kong.Flag) {
		for _, name := range f.Envs {
			known[name] = true
		}
	})
	names := slices.Sorted(maps.Keys(known))
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, envPrefix)
	}
	for _, set := range environ {
		name, _, _ := strings.Cut(set, "=")
		own, ours := strings.CutPrefix(name, envPrefix)
		if near := spelling.Nearest(own, names); ours && !known[name] && near != "" {
			remarks = append(remarks, fmt.Sprintf("the environment variable %s is not used: did you mean %s%s?", Escape(name), envPrefix, near))
		}
	}
	return remarks
}

// envPrefix begins the names of variables that set flags.
const envPrefix = "TANDEM_"

// Resolve returns the value of a flag that the command line does not set, unless the environment sets it.
func (c config) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return nil, nil
		}
	}
	v, ok := c.values[flag.Name]
	if !ok || v == nil || len(flag.Envs) == 0 { // Validate refuses flags without a variable
		return nil, nil
	}
	if list, is := v.([]any); is && len(list) == 0 {
		return nil, nil // kong would read it as a list of one empty text
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

// typed returns a value as it would be typed on the command line, so that kong parses both alike.
func typed(v any, sep rune) (string, error) {
	switch v := v.(type) {
	case nil, map[string]any:
		return "", errors.New("want a text, a number, true, false, or a list of these")
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

// fits returns an error if the flag does not take the text. Kong would report it too, but without the file's name.
func fits(flag *kong.Flag, text string) error {
	scan := kong.Scan().PushTyped(text, kong.FlagValueToken)
	if err := flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: scan}, reflect.New(flag.Target.Type()).Elem()); err != nil {
		return err
	}
	if flag.Enum != "" && !slices.Contains(flag.EnumSlice(), text) {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(flag.EnumSlice(), ", "))
	}
	return nil
}

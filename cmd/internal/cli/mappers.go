package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// valueMapper reads a value as kong does, and says in plain words what is wrong with it: kong names Go's types.
type valueMapper struct {
	kong.Mapper
	wants, such string // what a flag takes, with an example
}

// valueMappers returns the options that make kong use mappers for all values that are no plain text.
func valueMappers() (options []kong.Option) {
	r := kong.NewRegistry().RegisterDefaults()
	for _, k := range []struct {
		of          []any
		wants, such string
	}{
		{[]any{true}, "true or false", "true"},
		{[]any{0, int64(0), int32(0)}, "a whole number", "8"},
		{[]any{uint64(0), uint32(0)}, "a whole number, 0 or more", "8"},
		{[]any{0.0, float32(0)}, "a number", "0.5"},
		{[]any{""}, "a value", ""},
	} {
		for _, v := range k.of {
			options = append(options, kong.KindMapper(reflect.TypeOf(v).Kind(), valueMapper{r.ForType(reflect.TypeOf(v)), k.wants, k.such}))
		}
	}
	d := reflect.TypeFor[time.Duration]()
	return append(options, kong.TypeMapper(d, valueMapper{r.ForType(d), "a time with its unit", "2s or 300ms"}))
}

// IsBool says whether a flag alone, without a value, is true.
func (m valueMapper) IsBool() bool {
	b, ok := m.Mapper.(kong.BoolMapper)
	return ok && b.IsBool()
}

// Decode implements kong.Mapper.
func (m valueMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	t := ctx.Scan.Peek()
	if m.takesNumber(ctx, t) { // kong takes "-5" for a flag
		ctx.Scan.Pop()
		ctx.Scan.PushTyped(t.Value, kong.FlagValueToken)
	}
	err := m.Mapper.Decode(ctx, target)
	if err == nil {
		return nil
	}
	wants := m.wants
	if m.such != "" {
		wants += ", such as " + m.such
	}
	if ctx.Value.Enum != "" {
		wants = "one of " + strings.ReplaceAll(strings.TrimPrefix(ctx.Value.Enum, ","), ",", ", ")
	}
	if text, is := t.Value.(string); is && strings.HasPrefix(wants, "a whole number") && isLong(text) {
		return fmt.Errorf("want %s, but %q is too long", wants, text)
	}
	got := "nothing"
	if t.Type != kong.EOLToken {
		got = strconv.Quote(fmt.Sprint(t.Value))
	}
	return fmt.Errorf("want %s, but got %s", wants, got)
}

// isLong reports whether a text is a whole number of more than 64 bits.
func isLong(text string) bool {
	_, signed := strconv.ParseInt(text, 10, 64)
	_, unsigned := strconv.ParseUint(text, 10, 64)
	return errors.Is(signed, strconv.ErrRange) && unsigned != nil
}

// takesNumber reports whether a value is a negative number, and is for a flag that takes numbers.
func (m valueMapper) takesNumber(ctx *kong.DecodeContext, t kong.Token) bool {
	text, ok := t.Value.(string)
	return ok && t.Type == kong.UntypedToken && ctx.Value.Flag != nil && m.such != "" && negative.MatchString(text)
}

var negative = regexp.MustCompile(`^-[0-9.]`)

// pathMappers returns the options that make kong refuse empty paths and empty names (type:"name"). Kong reads an empty path as the
// working directory; an unset shell variable must not mean that.
func pathMappers() (options []kong.Option) {
	r := kong.NewRegistry().RegisterDefaults()
	const path = "the path is empty: name a file or a folder, . for this one"
	missing := map[string]string{"existingdir": "folder", "existingfile": "file"}
	for kind, refusal := range map[string]string{"path": path, "existingdir": path, "existingfile": path, "name": "the name is empty"} {
		plain := r.ForNamedType(kind, reflect.TypeFor[string]())
		mapper := kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
			given, _ := ctx.Scan.Peek().Value.(string)
			if given == "" {
				return errors.New(refusal)
			}
			err := plain.Decode(ctx, target)
			info, e := os.Stat(kong.ExpandPath(given))
			switch {
			case err != nil && missing[kind] != "" && errors.Is(e, fs.ErrNotExist):
				err = fmt.Errorf("there is no %s %s: name one that exists", missing[kind], Escape(given))
			case err != nil && kind == "existingdir" && e == nil && !info.IsDir():
				err = fmt.Errorf("%s is a file: give the folder that it is in", Escape(given))
				if name := ctx.Value.Name; name == "notes" || name == "public" {
					err = fmt.Errorf("%w, or add the file to your index (index add FILE)", err)
				}
			}
			return err
		})
		r.RegisterName(kind, mapper) // the mapper of lists looks here
		options = append(options, kong.NamedMapper(kind, mapper))
	}
	return options
}

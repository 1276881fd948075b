package cli

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// mapper reads a value as kong does, and says in plain words what is wrong with it: kong names Go's types.
type mapper struct {
	kong.Mapper
	wants, such string // what a flag takes, with an example
}

// worded returns the options that make kong use mappers for all values that are no plain text.
func worded() (options []kong.Option) {
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
			options = append(options, kong.KindMapper(reflect.TypeOf(v).Kind(), mapper{r.ForType(reflect.TypeOf(v)), k.wants, k.such}))
		}
	}
	d := reflect.TypeFor[time.Duration]()
	return append(options, kong.TypeMapper(d, mapper{r.ForType(d), "a time with its unit", "2s or 300ms"}))
}

// IsBool says whether a flag alone, without a value, is true.
func (m mapper) IsBool() bool {
	b, ok := m.Mapper.(kong.BoolMapper)
	return ok && b.IsBool()
}

// Decode implements kong.Mapper.
func (m mapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
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
func (m mapper) takesNumber(ctx *kong.DecodeContext, t kong.Token) bool {
	text, ok := t.Value.(string)
	return ok && t.Type == kong.UntypedToken && ctx.Value.Flag != nil && m.such != "" && negative.MatchString(text)
}

var negative = regexp.MustCompile(`^-[0-9.]`)

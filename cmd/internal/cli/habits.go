package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// habits are flags of other programs, with those that do the same here. Of several, the first that a command has is meant.
var habits = map[string][]string{
	"port": {"http", "listen"}, "addr": {"http", "listen"}, "address": {"http", "listen"}, "bind": {"http", "listen"}, "listen": {"http"},
	"key": {"api-key"}, "token": {"api-key"}, "verbose": {"log-level"}, "debug": {"log-level"}, "silent": {"quiet"},
	"format": {"json"}, "output": {"json"}, "max-length": {"max-tokens"}, "max-new-tokens": {"max-tokens"}, "num-predict": {"max-tokens"},
	"n-predict": {"max-tokens"}, "temp": {"temperature"}, "timeout": {"wait"}, "offline": {"local-only"}, "no-cloud": {"local-only"},
	"docs": {"notes", "public"}, "folder": {"notes", "public"}, "dir": {"notes", "public"},
}

// elsewhere says of flags that a command lacks where else the same is set.
var elsewhere = map[string]string{
	"quotes": "it is a flag of \"cloud serve\"", "titles": "it is a flag of \"cloud serve\"",
	"color": "set the environment variable NO_COLOR for no colours", "colour": "set the environment variable NO_COLOR for no colours",
	"no-color": "set the environment variable NO_COLOR", "no-colour": "set the environment variable NO_COLOR",
}

var unknownFlag = regexp.MustCompile(`^unknown flag --([^\s,]+)`)

// helpful returns what an error about a command line says, in the program's words and with what kong leaves out.
func helpful(err error) string {
	text := strings.Replace(err.Error(), "(from envar ", "(from the environment variable ", 1)
	text = strings.Replace(text, `must be one of "",`, "must be one of ", 1)
	var parse *kong.ParseError
	if !errors.As(err, &parse) || parse.Context == nil {
		return text
	}
	node := parse.Context.Selected()
	if node == nil {
		node = parse.Context.Model.Node
	}
	switch m := unknownFlag.FindStringSubmatch(text); {
	case m != nil:
		for _, name := range habits[m[1]] {
			if slices.ContainsFunc(parse.Context.Flags(), func(f *kong.Flag) bool { return f.Name == name }) {
				return fmt.Sprintf("%s, did you mean \"--%s\"?", m[0], name)
			}
		}
		if where := elsewhere[m[1]]; where != "" {
			return m[0] + ": " + where
		}
	case strings.HasPrefix(text, "expected one of ") && strings.HasSuffix(text, ", ..."):
		text = "expected one of " + namesBelow(node)
	case strings.HasPrefix(text, "unexpected argument ") && len(node.Positional) > 0 && !strings.Contains(text, "did you mean"):
		text += fmt.Sprintf(": usage: %s %s; put quotes around a text with spaces", parse.Context.Model.Name, strings.TrimSpace(node.Summary()))
	}
	return text
}

// namesBelow lists the commands below a node.
func namesBelow(node *kong.Node) string {
	var names []string
	for _, c := range node.Children {
		if !c.Hidden {
			names = append(names, fmt.Sprintf("%q", c.Name))
		}
	}
	return strings.Join(names, ", ")
}

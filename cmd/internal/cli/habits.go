package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"tandem/internal/spelling"
)

// habits are flags of other programs, with those that do the same here. Of several, the first that a command has is meant.
var habits = map[string][]string{
	"port": {"http", "listen"}, "addr": {"http", "listen"}, "address": {"http", "listen"}, "bind": {"http", "listen"}, "listen": {"http"},
	"key": {"api-key"}, "token": {"api-key"}, "verbose": {"log-level"}, "debug": {"log-level"}, "silent": {"quiet"},
	"format": {"json-schema", "json"}, "output": {"json"}, "grammar-file": {"grammar"}, "json-schema-file": {"json-schema"}, "schema": {"json-schema"}, "max-length": {"max-tokens"}, "max-new-tokens": {"max-tokens"}, "num-predict": {"max-tokens"},
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

var notOneOf = regexp.MustCompile(`(?s)^(--\S+) must be one of (".*") but got (.*)$`)

// plainWants words what is wrong with a value as a mapper does.
func plainWants(text string) string {
	if m := notOneOf.FindStringSubmatch(text); m != nil {
		names := strings.Trim(strings.ReplaceAll(m[2], `","`, ", "), `", `)
		return fmt.Sprintf("%s: want one of %s, but got %s", m[1], names, m[3])
	}
	if flag, ok := strings.CutSuffix(text, `: missing value, expecting "<arg>,..."`); ok {
		return flag + ": want a value, but got nothing"
	}
	return text
}

// helpful returns what an error about a command line says, in the program's words and with what kong leaves out.
func helpful(err error) string {
	text := strings.Replace(err.Error(), "(from envar ", "(from the environment variable ", 1)
	text = nearOnly(plainWants(text))
	var parse *kong.ParseError
	if !errors.As(err, &parse) || parse.Context == nil {
		return text
	}
	node := parse.Context.Selected()
	if node == nil {
		node = parse.Context.Model.Node
	}
	if long := withOneDash(parse.Context, text); long != "" {
		return fmt.Sprintf("%s, did you mean \"--%s\"?", text, long)
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
	case strings.HasPrefix(text, "unexpected argument ") && len(node.Children) > 0 && !strings.Contains(text, "did you mean"):
		text += commandMeant(node, strings.TrimPrefix(text, "unexpected argument "))
	case strings.HasPrefix(text, "unexpected argument ") && len(node.Positional) > 0 && !strings.Contains(text, "did you mean"):
		text += fmt.Sprintf(": usage: %s %s; put quotes around a text with spaces", parse.Context.Model.Name, strings.TrimSpace(node.Summary()))
	}
	return text
}

// commandMeant says which commands may be meant by an argument that a node with commands lacks: those below the others that have its
// name, "index add" for "add", or else all that the node has. There are too many of a program's.
func commandMeant(node *kong.Node, argument string) string {
	var below []string
	for _, c := range node.Children {
		if found := childNamed(c, argument); found != nil && !c.Hidden {
			below = append(below, fmt.Sprintf("%q", c.Name+" "+found.Name))
		}
	}
	switch {
	case len(below) > 0:
		return fmt.Sprintf(", did you mean %s?", strings.Join(below, " or "))
	case node.Parent != nil:
		return ": want one of " + namesBelow(node)
	}
	return ""
}

// withOneDash returns the flag that was meant by one typed with a single dash, as in "-local-only", if an error is about its
// first letter. It returns "" if there is none.
func withOneDash(ctx *kong.Context, text string) string {
	letter, ok := strings.CutPrefix(text, "unknown flag -")
	if !ok || len(letter) != 1 {
		return ""
	}
	for _, arg := range ctx.Args {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if strings.HasPrefix(arg, "-"+letter) && slices.ContainsFunc(ctx.Flags(), func(f *kong.Flag) bool { return f.Name == name }) {
			return name
		}
	}
	return ""
}

// guess matches an error in which kong names flags or commands that may be meant.
var guess = regexp.MustCompile(`^((?:unknown flag|unexpected argument) (\S+)), did you mean (?:one of )?(".*")\?$`)

// nearOnly leaves out of an error the names that are not like what was typed: to kong, any two short words are alike.
func nearOnly(text string) string {
	m := guess.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	near := slices.DeleteFunc(strings.Split(m[3], ", "), func(name string) bool { return !isNear(m[2], strings.Trim(name, `"`)) })
	switch len(near) {
	case 0:
		return m[1]
	case 1:
		return fmt.Sprintf("%s, did you mean %s?", m[1], near[0])
	}
	return fmt.Sprintf("%s, did you mean one of %s?", m[1], strings.Join(near, ", "))
}

// isNear reports whether typed may be a misspelt or shortened name, of a flag or a command.
func isNear(typed, name string) bool {
	word, flag := strings.CutPrefix(typed, "--")
	known, long := strings.CutPrefix(name, "--")
	a, errors := []rune(word), 1
	if flag != long || len(a) < 2 || strings.HasPrefix(word, "-") {
		return false
	}
	if len(a) >= 8 {
		errors = 2
	}
	return len(a) > 2 && strings.HasPrefix(known, word) || spelling.Distance(a, []rune(known), errors) <= errors
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

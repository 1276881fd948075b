package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// helpOptions lay out the help. The names of environment variables follow from those of the flags and are left out.
var helpOptions = kong.HelpOptions{
	Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100,
	ValueFormatter: described,
}

// described returns the help of a value, with the default where kong shows another text in its place.
func described(v *kong.Value) string {
	help := spaced(v)
	if v.Flag == nil || v.Flag.PlaceHolder == "" || strings.Contains(help, "Default:") {
		return help
	}
	switch v.Default {
	case "", "0", "0s":
		return help
	}
	return help + " Default: " + v.Default + "."
}

// spaced returns the help of a value, with spaces between the words that it can be.
func spaced(v *kong.Value) string {
	if v.Enum == "" {
		return v.Help
	}
	words := slices.DeleteFunc(v.EnumSlice(), func(w string) bool { return w == "" }) // which only says that the flag may be missing
	return strings.ReplaceAll(v.Help, v.Enum, strings.Join(words, ", "))
}

// helpAll is the flag --help-all. It prints the help with all flags, including those with the tag hidden, and what the
// command's method HelpAll() string adds, if it has one.
type helpAll bool

// BeforeReset is called by kong, as for its own --help.
func (helpAll) BeforeReset(ctx *kong.Context) error {
	for _, f := range ctx.Flags() {
		f.Hidden = false
	}
	if command := ctx.Selected(); command != nil {
		if c, ok := command.Target.Addr().Interface().(interface{ HelpAll() string }); ok {
			command.Detail += "\n\n" + c.HelpAll()
		}
		nameProgram(ctx, command)
		plainly(command)
	}
	if err := kong.DefaultHelpPrinter(helpOptions, ctx); err != nil {
		return err
	}
	ctx.Exit(0)
	return nil
}

// nameProgram puts the program's name into the help of a command that several programs have, instead of ${program}.
func nameProgram(ctx *kong.Context, command *kong.Node) {
	command.Detail = strings.ReplaceAll(command.Detail, "${program}", ctx.Model.Name)
}

// plainly leaves the other names of a command out of its usage line, where they look like arguments, and the heading of the
// program's commands off its own.
func plainly(command *kong.Node) {
	command.Aliases = nil
	for n := command; n != nil; n = n.Parent { // a command without a heading takes that of the one above it
		n.Group = nil
	}
	for _, child := range command.Children {
		child.Group = nil
		if len(child.Aliases) > 0 {
			child.Aliases = []string{strings.Join(child.Aliases, ", ")}
		}
	}
}

// leftOut returns the flags that a command's method HelpLeavesOut() []string names, if it has one.
func leftOut(command *kong.Node) []string {
	if command != nil {
		if c, ok := command.Target.Addr().Interface().(interface{ HelpLeavesOut() []string }); ok {
			return c.HelpLeavesOut()
		}
	}
	return nil
}

// printHelp prints the help without hidden flags and, for a command, without those that set up the program (the tag
// program) and those that the command leaves out. It says where these are.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	command := ctx.Selected()
	hidden, program, out := 0, []string{}, leftOut(command)
	for _, f := range ctx.Flags() {
		if command != nil && f.Tag.Has("program") {
			f.Hidden = true
			program = append(program, "--"+f.Name)
		} else if f.Hidden = f.Hidden || slices.Contains(out, f.Name); f.Hidden {
			hidden++
		}
	}
	if command != nil {
		nameProgram(ctx, command)
		plainly(command)
	}
	options.ValueFormatter = helpOptions.ValueFormatter
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil || options.Summary || command == nil {
		return err
	}
	text := fmt.Sprintf("\nEvery command also takes %s:\nsee %s --help.\n", strings.Join(program, ", "), ctx.Model.Name)
	if hidden > 0 {
		text += fmt.Sprintf("%d more flags, for experiments: %s --help-all\n", hidden, command.FullPath())
	}
	_, err := fmt.Fprint(ctx.Stdout, text)
	return err
}

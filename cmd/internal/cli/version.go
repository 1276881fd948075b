package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// ProgramCmds are the commands about a program itself.
type ProgramCmds struct {
	Config     configCmd     `cmd:"" group:"This program:" help:"Show the settings in force and where each comes from."`
	Completion completionCmd `cmd:"" group:"This program:" help:"Print a script that completes commands in a shell."`
	Man        manCmd        `cmd:"" group:"This program:" help:"Print the manual page of a command, or write all pages."`
	Version    versionCmd    `cmd:"" group:"This program:" help:"Print the version and what it was built with."`
	Licenses   licensesCmd   `cmd:"" group:"This program:" help:"Print the licences of the program and of everything built into it."`
	Help       helpCmd       `cmd:"" group:"This program:" help:"Show the help of a command."`
}

// released is the newest version in CHANGELOG.md, 0.0.0 before the first.
const released = "0.0.0"

// Version returns the program's semantic version, which clients of the API compare: the module's or, if the build has none, that of
// a development build with the commit that it was made from, such as 0.0.0-devel+bc69047c35a7.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(info)
}

// versionOf is Version for a build, nil for one that is not known.
func versionOf(info *debug.BuildInfo) string {
	devel := released + "-devel"
	if info == nil {
		return devel
	}
	if v, ok := strings.CutPrefix(info.Main.Version, "v"); ok {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return devel + "+" + s.Value[:12]
		}
	}
	return devel
}

type versionCmd struct{}

func (c *versionCmd) Help() string {
	return `Examples:
  ${program} version
  ${program} version --json | jq -r .version`
}

// versionJSON is the output of version --json.
type versionJSON struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"` // of the commit
	Modified bool   `json:"modified"`       // the sources differed from the commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// versionFlag is the flag --version.
type versionFlag bool

// BeforeReset is called by kong, before it knows the other flags.
func (versionFlag) BeforeReset(ctx *kong.Context, vars kong.Vars) error {
	if slices.Contains(ctx.Args, "--json") {
		if err := (&Screen{Out: ctx.Stdout}).JSON(builtFrom()); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(ctx.Stdout, vars["version"])
	}
	ctx.Exit(0)
	return nil
}

// builtFrom returns the version and what the program was built with.
func builtFrom() versionJSON {
	v := versionJSON{Version: Version(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.time":
				v.Time = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	return v
}

func (c *versionCmd) Run(a *App) error {
	v := builtFrom()
	if a.Globals.JSON {
		return a.JSON(v)
	}
	fmt.Fprintf(a.Out, "%s %s (%s, %s/%s)\n", a.Program, v.Version, v.Go, v.OS, v.Arch)
	if v.Commit != "" {
		line := "commit " + v.Commit
		if v.Time != "" {
			line += " of " + v.Time
		}
		if v.Modified {
			line += ", modified"
		}
		fmt.Fprintln(a.Out, line)
	}
	return nil
}

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command, as in: help index add." placeholder:"COMMAND"`
}

func (c *helpCmd) Help() string {
	return `Examples:
  ${program} help
  ${program} help index add`
}

func (c *helpCmd) Run(a *App) error {
	if _, err := a.commandNamed(c.Command); err != nil {
		return err
	}
	_, err := a.parser.Parse(append(c.Command, "--help")) // which ends the process
	return err
}

// commandNamed finds a command by its names. Without names it returns the whole program.
func (a *App) commandNamed(names []string) (*kong.Node, error) {
	node := a.parser.Model.Node
	for i, name := range names {
		next := childNamed(node, name)
		if next == nil {
			unknown := fmt.Sprintf("there is no command %q", strings.Join(names[:i+1], " "))
			if near := slices.IndexFunc(node.Children, func(c *kong.Node) bool { return !c.Hidden && isNear(name, c.Name) }); near >= 0 {
				return nil, fmt.Errorf("%s, did you mean %q?", unknown, node.Children[near].Name)
			}
			return nil, fmt.Errorf("%s: see %s help", unknown, a.Program)
		}
		node = next
	}
	return node, nil
}

// childNamed returns the command below node that is called name, or nil.
func childNamed(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name || slices.Contains(child.Aliases, name) {
			return child
		}
	}
	return nil
}

// commands calls visit with a command and all commands below it. path is how it is typed, without the program's name.
func commands(node *kong.Node, path []string, visit func(node *kong.Node, path []string)) {
	visit(node, path)
	for _, child := range node.Children {
		if !child.Hidden {
			commands(child, append(path[:len(path):len(path)], child.Name), visit)
		}
	}
}

// shown returns the flags of a command that its help shows, its parents' first.
func shown(node *kong.Node) (flags []*kong.Flag) {
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			if node.Parent == nil || !f.Tag.Has("program") {
				flags = append(flags, f)
			}
		}
	}
	return flags
}

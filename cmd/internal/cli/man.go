package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"
)

type manCmd struct {
	Command []string `arg:"" optional:"" help:"The command, as in: man index add. Default: the whole program." placeholder:"COMMAND"`
	To      string   `help:"Write the pages of the program and all its commands into this folder." type:"path" placeholder:"DIR"`
}

func (c *manCmd) Help() string {
	return `Examples:
  ${program} man | man -l -
  ${program} man index add | man -l -
  ${program} man --to ~/.local/share/man/man1`
}

func (c *manCmd) Run(a *App) error {
	node, err := a.commandNamed(c.Command)
	if err != nil {
		return err
	}
	if c.To == "" && a.Globals.JSON {
		return a.JSON(map[string]string{"page": a.manPage(node, c.Command)})
	}
	if c.To == "" {
		_, err := fmt.Fprint(a.Out, a.manPage(node, c.Command))
		return err
	}
	if len(c.Command) > 0 {
		return fmt.Errorf("a command and --to: --to writes all pages, leave out the command")
	}
	if err := os.MkdirAll(c.To, 0o755); err != nil {
		return err
	}
	files := []string{}
	commands(node, nil, func(n *kong.Node, path []string) {
		name := filepath.Join(c.To, strings.Join(append([]string{a.Program}, path...), "-")+".1")
		if err == nil {
			err = a.WriteOutput(name, []byte(a.manPage(n, path)), 0o644)
		}
		files = append(files, name)
	})
	if err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"files": files})
	}
	fmt.Fprintf(a.Out, "%s in %s\n", Count(len(files), "page"), c.To)
	return nil
}

// page builds a manual page in the man macros of roff.
type page struct{ strings.Builder }

// roff escapes text, so that it stands as it is.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

func (p *page) macro(name, text string) { fmt.Fprintf(p, ".%s %s\n", name, roff(text)) }

func (p *page) line(text string) { fmt.Fprintln(p, roff(text)) }

// item writes a name with its description.
func (p *page) item(name, help string) {
	fmt.Fprintf(p, ".TP\n\\fB%s\\fR\n", roff(name))
	p.line(help)
}

// prose writes help text: paragraphs, and indented lines as they stand.
func (p *page) prose(text string) {
	as := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		indented := strings.HasPrefix(line, "  ")
		switch {
		case indented && !as:
			fmt.Fprintln(p, ".PP\n.nf\n.RS 4")
		case !indented && as:
			fmt.Fprintln(p, ".RE\n.fi")
		}
		as = indented
		switch {
		case line == "" && !as:
			fmt.Fprintln(p, ".PP")
		default:
			p.line(strings.TrimPrefix(line, "  "))
		}
	}
	if as {
		fmt.Fprintln(p, ".RE\n.fi")
	}
}

// manPage returns the manual page of a command.
func (a *App) manPage(node *kong.Node, path []string) string {
	name := strings.Join(append([]string{a.Program}, path...), "-")
	var p page
	fmt.Fprintf(&p, ".TH \"%s\" 1 \"\" \"%s\" \"Tandem\"\n", roff(strings.ToUpper(name)), roff(a.Program+" "+Version()))
	p.macro("SH", "NAME")
	help := strings.TrimSuffix(strings.SplitN(node.Help, "\n", 2)[0], ".")
	fmt.Fprintf(&p, "%s \\- %s\n", roff(name), roff(help))
	p.macro("SH", "SYNOPSIS")
	p.line(strings.TrimSpace(a.Program + " " + strings.TrimPrefix(node.Summary(), a.Program)))
	p.macro("SH", "DESCRIPTION")
	p.line(node.Help)
	if node.Detail != "" {
		fmt.Fprintln(&p, ".PP")
		p.prose(strings.ReplaceAll(node.Detail, "${program}", a.Program))
	}
	if len(node.Positional) > 0 {
		p.macro("SH", "ARGUMENTS")
		for _, arg := range node.Positional {
			p.item(arg.Summary(), arg.Help)
		}
	}
	p.options(node)
	a.manCommands(&p, node, path)
	return p.String()
}

// options writes the flags of a command, by group.
func (p *page) options(node *kong.Node) {
	p.macro("SH", "OPTIONS")
	group := ""
	for _, f := range shown(node) {
		if f.Group != nil && f.Group.Title != group {
			group = f.Group.Title
			p.macro("SS", strings.TrimSuffix(group, ":"))
		}
		name := f.String()
		if f.Short != 0 && !strings.HasPrefix(name, "-"+string(f.Short)) {
			name = "-" + string(f.Short) + ", " + name
		}
		p.item(name, described(f.Value))
	}
}

// manCommands writes the commands below a command, and which pages to see.
func (a *App) manCommands(p *page, node *kong.Node, path []string) {
	var see []string
	if len(path) > 0 {
		see = append(see, strings.Join(append([]string{a.Program}, path[:len(path)-1]...), "-")+"(1)")
	}
	if len(node.Children) > 0 {
		p.macro("SH", "COMMANDS")
	}
	for _, child := range node.Children {
		if !child.Hidden {
			p.item(child.Name, child.Help)
			see = append(see, strings.Join(append(append([]string{a.Program}, path...), child.Name), "-")+"(1)")
		}
	}
	if len(see) > 0 {
		p.macro("SH", "SEE ALSO")
		p.line(strings.Join(see, ", "))
	}
}

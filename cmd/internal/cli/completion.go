package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" help:"The shell: ${enum}." enum:"bash,zsh,fish"`
}

func (c *completionCmd) Help() string {
	return `Examples:
  ${program} completion bash > ~/.local/share/bash-completion/completions/${program}
  ${program} completion zsh > "${fpath[1]}/_${program}"
  ${program} completion fish > ~/.config/fish/completions/${program}.fish
  source <(${program} completion bash)          for this shell alone`
}

func (c *completionCmd) Run(a *App) error {
	var list []completing
	commands(a.parser.Model.Node, nil, func(n *kong.Node, path []string) { list = append(list, completes(n, path)) })
	for _, before := range []string{"help", "man"} { // the names of commands follow, one level after the other
		commands(a.parser.Model.Node, nil, func(n *kong.Node, path []string) {
			if len(path) > 0 {
				list = append(list, completing{path: before + " " + strings.Join(path, " "), commands: below(n)})
			}
		})
	}
	write := map[string]func(program string, list []completing) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}
	script := write[c.Shell](a.Program, list)
	if a.Globals.JSON {
		return a.JSON(map[string]string{"script": script})
	}
	_, err := fmt.Fprint(a.Out, script)
	return err
}

// completing is what may follow a command.
type completing struct {
	path     string // as typed, without the program: "index add"
	commands []word
	flags    []flagWord
	files    bool // files may follow
}

type word struct {
	names []string // the first is the usual one
	help  string
}

type flagWord struct {
	names  []string // with dashes
	help   string
	takes  bool     // a value
	values []string // the values, if they are few
	files  string   // "file" or "dir" if the value is a path
}

// completes says what may follow a command.
func completes(n *kong.Node, path []string) completing {
	c := completing{path: strings.Join(path, " ")}
	c.commands = below(n)
	if len(path) > 0 && (path[0] == "help" || path[0] == "man") {
		c.commands = append(c.commands, below(n.Parent)...)
	}
	for _, arg := range n.Positional {
		if arg.Enum != "" {
			for _, v := range arg.EnumSlice() {
				c.commands = append(c.commands, word{[]string{v}, ""})
			}
		}
		c.files = c.files || pathOf(arg) != ""
	}
	for _, f := range shown(n) {
		w := flagWord{names: []string{"--" + f.Name}, help: firstSentence(spaced(f.Value)), takes: !f.IsBool(), files: pathOf(f.Value)}
		if f.Tag.Negatable != "" {
			w.names = append(w.names, "--no-"+f.Name)
		}
		if f.Short != 0 {
			w.names = append(w.names, "-"+string(f.Short))
		}
		if f.Enum != "" {
			w.values = f.EnumSlice()
		}
		c.flags = append(c.flags, w)
	}
	return c
}

// below lists the commands below a command.
func below(n *kong.Node) (list []word) {
	for _, child := range n.Children {
		if !child.Hidden {
			list = append(list, word{append([]string{child.Name}, child.Aliases...), firstSentence(child.Help)})
		}
	}
	return list
}

// pathOf says whether a value is a path to a "file" or a "dir"; "" if to neither.
func pathOf(v *kong.Value) string {
	switch v.Tag.Type {
	case "existingdir":
		return "dir"
	case "path", "existingfile":
		if v.Tag.PlaceHolder == "DIR" {
			return "dir"
		}
		return "file"
	}
	if v.Tag.PlaceHolder == "FILE" || v.Tag.PlaceHolder == "IN" {
		return "file"
	}
	return ""
}

func firstSentence(help string) string {
	first, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(first, ".")
}

// single quotes text for any of the shells.
func single(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func singles(list []string) string {
	var out []string
	for _, text := range list {
		out = append(out, single(text))
	}
	return strings.Join(out, " ")
}

// steps writes the cases of a shell that follow a command line down to a command: from a path and the next word to a path.
func steps(list []completing, format string) string {
	var out strings.Builder
	for _, c := range list {
		for _, w := range c.commands {
			next := strings.TrimSpace(c.path + " " + w.names[0])
			if !slices.ContainsFunc(list, func(c completing) bool { return c.path == next }) {
				continue // the value of an argument
			}
			for _, name := range w.names {
				fmt.Fprintf(&out, format, single(c.path+":"+name), single(next))
			}
		}
	}
	return out.String()
}

func bashScript(program string, list []completing) string {
	var values, words strings.Builder
	for _, c := range list {
		var commands, flags []string
		for _, w := range c.commands {
			commands = append(commands, w.names...)
		}
		for _, f := range c.flags {
			flags = append(flags, f.names...)
			for _, name := range f.names {
				switch at := single(c.path + ":" + name); {
				case len(f.values) > 0:
					fmt.Fprintf(&values, "    %s) mapfile -t COMPREPLY < <(compgen -W %s -- \"$cur\"); return ;;\n", at, single(strings.Join(f.values, " ")))
				case f.files == "dir":
					fmt.Fprintf(&values, "    %s) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); return ;;\n", at)
				case f.files == "file":
					fmt.Fprintf(&values, "    %s) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return ;;\n", at)
				case f.takes:
					fmt.Fprintf(&values, "    %s) return ;;\n", at)
				}
			}
		}
		fmt.Fprintf(&words, "    %s) words=%s; flags=%s; files=%v ;;\n", single(c.path), single(strings.Join(commands, " ")), single(strings.Join(flags, " ")), c.files)
	}
	return fmt.Sprintf(`# Completes %[1]s in bash. Made by: %[1]s completion bash
_%[1]s() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path='' words='' flags='' files=false i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path:${COMP_WORDS[i]}" in
%[2]s    esac
  done
  case "$path:$prev" in
%[3]s  esac
  case "$path" in
%[4]s  esac
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$cur")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  if $files; then
    compopt -o filenames
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -F _%[1]s %[1]s
`, program, steps(list, "      %s) path=%s ;;\n"), values.String(), words.String())
}

// zshDescribed returns a name with its help, as zsh's _describe takes them.
func zshDescribed(name, help string) string {
	name = strings.ReplaceAll(name, ":", `\:`)
	if help == "" {
		return name
	}
	return name + ":" + help
}

func zshScript(program string, list []completing) string {
	var values, words strings.Builder
	for _, c := range list {
		var commands, flags []string
		for _, w := range c.commands {
			commands = append(commands, zshDescribed(w.names[0], w.help))
		}
		for _, f := range c.flags {
			for _, name := range f.names {
				flags = append(flags, zshDescribed(name, f.help))
				switch at := single(c.path + ":" + name); {
				case len(f.values) > 0:
					fmt.Fprintf(&values, "    %s) compadd -- %s; return ;;\n", at, singles(f.values))
				case f.files == "dir":
					fmt.Fprintf(&values, "    %s) _files -/; return ;;\n", at)
				case f.files == "file":
					fmt.Fprintf(&values, "    %s) _files; return ;;\n", at)
				case f.takes:
					fmt.Fprintf(&values, "    %s) return ;;\n", at)
				}
			}
		}
		fmt.Fprintf(&words, "    %s)\n      list=(%s)\n      flags=(%s)\n      files=%v ;;\n", single(c.path), singles(commands), singles(flags), c.files)
	}
	return fmt.Sprintf(`#compdef %[1]s
# Completes %[1]s in zsh. Made by: %[1]s completion zsh
_%[1]s() {
  local at='' files=false i
  local -a list flags
  for ((i = 2; i < CURRENT; i++)); do
    case "$at:${words[i]}" in
%[2]s    esac
  done
  case "$at:${words[CURRENT-1]}" in
%[3]s  esac
  case "$at" in
%[4]s  esac
  if [[ ${words[CURRENT]} == -* ]]; then
    _describe -o flag flags
    return
  fi
  (( ${#list} )) && _describe command list
  $files && _files
}
if [[ $funcstack[1] == _%[1]s ]]; then
  _%[1]s "$@"
else
  compdef _%[1]s %[1]s
fi
`, program, steps(list, "      %s) at=%s ;;\n"), values.String(), words.String())
}

func fishScript(program string, list []completing) string {
	var out strings.Builder
	fmt.Fprintf(&out, `# Completes %[1]s in fish. Made by: %[1]s completion fish
function __%[1]s_at
  set -l at ''
  for w in (commandline -opc)[2..-1]
    switch "$at:$w"
%[2]s    end
  end
  test "$at" = "$argv[1]"
end
complete -c %[1]s -f
`, program, steps(list, "      case %s\n        set at %s\n"))
	for _, c := range list {
		at := fmt.Sprintf("complete -c %s -n %s", program, single(fmt.Sprintf("__%s_at %s", program, `"`+c.path+`"`)))
		for _, w := range c.commands {
			fmt.Fprintf(&out, "%s -a %s -d %s\n", at, single(w.names[0]), single(w.help))
		}
		if c.files {
			fmt.Fprintf(&out, "%s -F\n", at)
		}
		for _, f := range c.flags {
			for _, name := range f.names {
				line := at + " -l " + strings.TrimPrefix(name, "--")
				if !strings.HasPrefix(name, "--") {
					line = at + " -s " + strings.TrimPrefix(name, "-")
				}
				switch {
				case len(f.values) > 0:
					line += " -x -a " + single(strings.Join(f.values, " "))
				case f.files != "":
					line += " -r -F"
				case f.takes:
					line += " -x"
				}
				fmt.Fprintf(&out, "%s -d %s\n", line, single(f.help))
			}
		}
	}
	return out.String()
}

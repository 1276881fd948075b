package clitest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var (
	codeLine = regexp.MustCompile("(?m)^(?:    |\t|\\$ )(.+)$")
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	flagWord = regexp.MustCompile(`^--(?:no-)?([a-z][a-z0-9-]*)`)
	plain    = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
)

// Documented checks the command lines of a program in the Markdown pages below root: every command exists, and takes the
// flags that stand behind it. It returns the number of command lines.
func Documented(t *testing.T, program string, grammar any, root string) int {
	t.Helper()
	parser, err := kong.New(grammar, kong.Vars{"config": "", "log_level": "error"})
	if err != nil {
		t.Fatal(err)
	}
	begin := regexp.MustCompile(`^(?:\./|bin/|/usr/local/bin/|go run \./cmd/)?` + program + ` +(.*)$`)
	lines := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "shared" || strings.HasPrefix(d.Name(), ".") && path != root):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, by := range []*regexp.Regexp{codeLine, codeSpan} {
			for _, m := range by.FindAllStringSubmatch(string(page), -1) {
				if line := begin.FindStringSubmatch(m[1]); line != nil {
					lines++
					words, _, _ := strings.Cut(line[1], "   ") // behind it stands what the command does
					if problem := misused(parser.Model.Node, strings.Fields(words)); problem != "" {
						t.Errorf("%s: %q: %s", path, m[1], problem)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// misused says which word of a command line is no command or no flag of its command. It is empty if all are.
func misused(command *kong.Node, words []string) string {
	for i, word := range words {
		switch {
		case word == "--" || strings.ContainsAny(word[:1], "|>;&#"): // what follows is not for the program
			return ""
		case strings.HasPrefix(word, "--"):
			if name := flagWord.FindStringSubmatch(word); name != nil && !takes(command, strings.TrimPrefix(name[0], "--"), name[1]) {
				return command.FullPath() + " has no flag " + name[0]
			}
		case len(command.Children) > 0:
			child := child(command, word)
			if child == nil && (i == 0 || plain.MatchString(words[i-1])) && plain.MatchString(word) {
				return command.FullPath() + " has no command " + word
			}
			if child != nil {
				command = child
			}
		}
	}
	return ""
}

// takes reports whether a command takes a flag of one of the given names.
func takes(command *kong.Node, names ...string) bool {
	return slices.ContainsFunc(slices.Concat(command.AllFlags(false)...), func(f *kong.Flag) bool {
		return slices.ContainsFunc(names, func(name string) bool { return f.Name == name || slices.Contains(f.Aliases, name) })
	})
}

// child returns the command of a name below another, nil if there is none.
func child(command *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(command.Children, func(c *kong.Node) bool { return c.Name == name || slices.Contains(c.Aliases, name) })
	if i < 0 {
		return nil
	}
	return command.Children[i]
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/quote"
)

// chatCommand is what can be typed instead of a question.
type chatCommand struct {
	names    []string // the first is shown
	argument string   // how its argument is shown; empty for none
	help     string
	run      func(t *conversation, argument string) error
}

// chatCommands are all commands of a chat. A function, because /help refers to them.
func chatCommands() []chatCommand {
	return []chatCommand{
		{[]string{"help", "?"}, "", "list these commands", (*conversation).help},
		{[]string{"clear", "new"}, "", "start a new conversation", (*conversation).clear},
		{[]string{"docs"}, "", "list the documents of this device", (*conversation).documents},
		{[]string{"sources"}, "", "show the sources of the last answer, and what it cost", (*conversation).lastSources},
		{[]string{"seed"}, "[N]", "show the seed, or set it; -1 draws a new one", (*conversation).seed},
		{[]string{"placement"}, "[NAME]", "show where drafts become tokens, or set it", (*conversation).placement},
		{[]string{"save"}, "FILE", "write the conversation to a new file, as Markdown", (*conversation).save},
		{[]string{"exit", "quit", "bye"}, "", "end the chat", func(*conversation, string) error { return io.EOF }},
	}
}

var commandLine = regexp.MustCompile(`^/([\pL?][\pL\pM\d_-]*)(?:\s+(.*))?$`)

// command splits a line that begins with a slash and a word. A path such as /etc/hosts is not a command.
func command(line string) (name, argument string, is bool) {
	m := commandLine.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	return m[1], strings.TrimSpace(m[2]), true
}

// command carries out the command called name.
func (t *conversation) command(name, argument string) error {
	for _, c := range chatCommands() {
		for _, n := range c.names {
			if n != name {
				continue
			}
			if argument != "" && c.argument == "" {
				return fmt.Errorf("/%s takes no argument", name)
			}
			return c.run(t, argument)
		}
	}
	return fmt.Errorf("there is no command /%s: /help lists them", cli.Escape(name))
}

// chatHelp lists the commands.
func chatHelp() string {
	var out []string
	for _, c := range chatCommands() {
		out = append(out, fmt.Sprintf("  %-18s %s", strings.TrimSpace("/"+c.names[0]+" "+c.argument), c.help))
	}
	return "Commands:\n" + strings.Join(out, "\n")
}

// tell prints the result of a command, which is not part of an answer.
func (t *conversation) tell(format string, args ...any) error {
	_, err := fmt.Fprintln(t.app.Aside, t.app.Fold(fmt.Sprintf(format, args...)))
	return err
}

func (t *conversation) help(string) error {
	return t.tell("%s\n\nA question of several lines begins and ends with %s.", chatHelp(), threeQuotes)
}

func (t *conversation) clear(string) error {
	t.history, t.said, t.last = nil, nil, nil
	return t.tell("A new conversation: the next question sees nothing of the earlier ones.")
}

// longestTitle is how many columns of a title the list of documents shows.
const longestTitle = 40

func (t *conversation) documents(string) error {
	if t.own.index == nil {
		return t.tell("This device has no documents in this chat.")
	}
	list, err := t.own.index.List()
	if err != nil {
		return err
	}
	what := "document"
	if t.own.sample {
		what = "sample document"
	}
	if err := t.tell("%s on this device", cli.Count(len(list), what)); err != nil {
		return err
	}
	width := 0
	for _, d := range list {
		width = max(width, cli.Width(cli.Escape(d.Title)))
	}
	for _, d := range list {
		if err := t.tell("%s", documentLine(cli.Escape(d.Title), t.app.Faint(cli.Escape(d.Path)), width, t.app.Columns())); err != nil {
			return err
		}
	}
	return nil
}

// documentLine returns the line of a document, with the title padded to width. On a terminal with few columns, the path stands
// below the title.
func documentLine(title, path string, width, columns int) string {
	if columns < 2*longestTitle {
		return fmt.Sprintf("  %s\n    %s", cli.Shorten(title, min(longestTitle, columns-2)), path)
	}
	title = cli.Shorten(title, longestTitle)
	return fmt.Sprintf("  %s%s %s", title, strings.Repeat(" ", max(0, min(width, longestTitle)-cli.Width(title))), path)
}

func (t *conversation) lastSources(string) error {
	if t.last == nil {
		return t.tell("There is no answer yet.")
	}
	t.printDetail(*t.last)
	return nil
}

func (t *conversation) seed(text string) error {
	if text == "" {
		return t.tell("seed %d", t.settings.Seed)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < -1 {
		return fmt.Errorf("/seed %s: want 0 or more, or -1 for a new one", cli.Escape(text))
	}
	if t.settings.Seed = uint64(n); n == -1 {
		t.settings.Seed = newSeed()
	}
	return t.tell("seed %d", t.settings.Seed)
}

func (t *conversation) placement(name string) error {
	if name == "" {
		return t.tell("placement %s", t.placementText())
	}
	if t.device.IsPrivate() {
		return errors.New("/placement: this chat is private, and that sets the placement")
	}
	p, err := placement(name, t.settings.Coupling)
	if err != nil {
		return err
	}
	s := t.settings
	s.Placement = p
	if err := s.Check(); err != nil {
		return err
	}
	t.settings, t.flags.Placement = s, name
	return t.tell("placement %s", t.placementText())
}

// asTyped returns a path as a shell would read it: without quotes around it, and with the home folder for ~.
func asTyped(path string) string {
	for _, quote := range []string{`"`, "'"} {
		if len(path) > 1 && strings.HasPrefix(path, quote) && strings.HasSuffix(path, quote) {
			return path[1 : len(path)-1]
		}
	}
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(path, "~/") {
		return filepath.Join(home, path[2:])
	}
	return path
}

func (t *conversation) save(path string) error {
	path = asTyped(path)
	if path == "" {
		return fmt.Errorf("/save needs a file, as in: /save chat.md")
	}
	info, err := cli.CheckOutput(path)
	switch {
	case err != nil:
		return err
	case info != nil && info.Mode().IsRegular():
		return fmt.Errorf("%s exists: name another file", path)
	case len(t.said) == 0:
		return fmt.Errorf("there is nothing to save yet")
	}
	var text strings.Builder
	for i, e := range t.said {
		if i > 0 {
			text.WriteString("\n")
		}
		t.markdown(&text, e)
	}
	if err := t.app.WriteOutput(path, []byte(text.String()), 0o600); err != nil {
		return err
	}
	return t.tell("%s in %s", cli.Count(len(t.said), "answer"), path)
}

// markdown writes a question with its answer and what was shown below it.
func (t *conversation) markdown(text *strings.Builder, e exchange) {
	answer := e.answer.Answer
	if t.reader != nil { // each line is a part, and a model's text may be Markdown already
		answer = strings.ReplaceAll(answer, "\n", "\n\n")
	}
	fmt.Fprintf(text, "## %s\n\n%s\n", strings.Join(strings.Fields(e.question), " "), answer)
	for _, p := range e.answer.Parts {
		p = t.shown(p)
		say, near := t.quotesFor(p, quote.OneLine)
		if line := t.standing(e.answer, p, len(say) > 0); line != "" {
			fmt.Fprintf(text, "\n%s\n", line)
		}
		if isKnown(p) {
			say = append(say, quote.Otherwise(p, quote.OneLine)...)
		}
		for _, line := range say {
			fmt.Fprintf(text, "\n> %s\n", line)
		}
		if len(near) > 0 {
			fmt.Fprintf(text, "\n%s\n", nearHeading(p))
		}
		for _, line := range near {
			fmt.Fprintf(text, "\n> %s\n", strings.TrimSpace(line))
		}
		if p.Unsure {
			fmt.Fprintf(text, "\n%s\n", unsureNote(p))
		}
	}
}

// sidesToAsk names the sides that will be asked.
func (s *session) sidesToAsk() string {
	var r askJSON
	r.LocalOnly = s.device.Cloud == nil || s.settings.Want != tandem.WantDrafts
	return s.sidesAsked(r)
}

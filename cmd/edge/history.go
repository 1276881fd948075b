package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/prompt"
	"tandem/model"
	"tandem/specdec"
)

type historyCmd struct {
	List  historyList  `cmd:"" default:"1" help:"List what is kept: texts by vocabulary, and the questions of chats."`
	Clear historyClear `cmd:"" help:"Delete all of it."`
}

func (*historyCmd) Help() string {
	return `Examples:
  edge history list
  edge history clear`
}

// historyDir returns the folder of this user's histories.
func historyDir(a *cli.App) (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(dirs.Data, "history"), err
}

// questionsPath returns the file of the questions of this user's chats.
func questionsPath(a *cli.App) (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(dirs.State, "questions.jsonl"), err
}

// openHistory opens the history of a model's vocabulary.
func openHistory(a *cli.App, m *model.Model) (*specdec.History, error) {
	dir, err := historyDir(a)
	if err != nil {
		return nil, err
	}
	sum := m.Tokenizer().Fingerprint()
	return specdec.OpenHistory(dir, fmt.Sprintf("%x", sum[:8]), specdec.DefaultHistory)
}

type historyList struct{}

func (c *historyList) Help() string {
	return `Examples:
  edge history list
  edge history list --json

With the drafter history (--draft auto,history), "edge ask", "edge chat" and "edge serve" keep answers and draft from them; "edge run" also keeps prompts. Both are kept as tokens, in at most 1 MB per vocabulary. Without that drafter nothing is kept. "edge chat" keeps questions, for its arrow keys and Ctrl-R, except with --no-history.`
}

func (c *historyList) Run(a *cli.App) error {
	dir, err := historyDir(a)
	if err != nil {
		return err
	}
	files, err := specdec.Histories(dir)
	if err != nil {
		return err
	}
	asked, path := &prompt.History{}, ""
	if path, err = questionsPath(a); err == nil {
		if asked, err = prompt.OpenHistory(path, isQuestion); err != nil {
			return err
		}
	}
	if a.Globals.JSON {
		if files == nil {
			files = []specdec.HistoryFile{}
		}
		return a.JSON(map[string]any{"folder": dir, "histories": files, "questions": asked.Len()})
	}
	if asked.Len() > 0 {
		fmt.Fprintf(a.Out, "%s of chats in %s\n", cli.Count(asked.Len(), "question"), path)
	}
	if len(files) == 0 {
		if asked.Len() == 0 {
			fmt.Fprintln(a.Out, "Nothing is kept.")
		}
		return nil
	}
	t := cli.Table{Header: []string{"TEXTS", "TOKENS", "SIZE", "OLDEST", "NEWEST", "VOCABULARY"}, Right: 3}
	for _, f := range files {
		t.Add(strconv.Itoa(f.Entries), strconv.Itoa(f.Tokens), cli.Bytes(f.Bytes), cli.Day(f.Oldest), cli.Day(f.Newest), f.Vocabulary)
	}
	a.Table(t)
	return nil
}

type historyClear struct{}

func (c *historyClear) Help() string {
	return `Example:
  edge history clear`
}

func (c *historyClear) Run(a *cli.App) error {
	dir, err := historyDir(a)
	if err != nil {
		return err
	}
	n, err := specdec.ClearHistories(dir)
	if err != nil {
		return err
	}
	path, err := questionsPath(a)
	if err != nil {
		return err
	}
	asked, _ := prompt.OpenHistory(path, isQuestion) // a file that cannot be read is removed all the same
	gone := os.Remove(path)
	if gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		return gone
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"cleared": n, "questions": asked.Len()})
	}
	if gone == nil {
		fmt.Fprintln(a.Out, "Questions of chats cleared.")
	}
	switch {
	case n == 1:
		fmt.Fprintln(a.Out, "1 history of answers cleared.")
	case n > 1:
		fmt.Fprintf(a.Out, "%d histories of answers cleared.\n", n)
	case gone != nil:
		fmt.Fprintln(a.Out, "Nothing was kept.")
	}
	return nil
}

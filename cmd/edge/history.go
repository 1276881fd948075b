package main

import (
	"fmt"
	"path/filepath"

	"tandem/cmd/internal/cli"
	"tandem/model"
	"tandem/specdec"
)

type historyCmd struct {
	List  historyList  `cmd:"" help:"List the kept texts, by vocabulary."`
	Clear historyClear `cmd:"" help:"Delete them all."`
}

// historyDir returns the folder of this user's histories.
func historyDir(a *cli.App) (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(dirs.Data, "history"), err
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
  edge --json history list

"edge run --history" keeps prompts and answers, as tokens, in at most 1 MB per vocabulary, and drafts from them. No other command does.`
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
	if a.Globals.JSON {
		if files == nil {
			files = []specdec.HistoryFile{}
		}
		return a.JSON(map[string]any{"folder": dir, "histories": files})
	}
	if len(files) == 0 {
		fmt.Fprintln(a.Out, "Nothing is kept.")
		return nil
	}
	for _, f := range files {
		when := ""
		if f.Entries > 0 {
			when = fmt.Sprintf(", %s to %s", f.Oldest.Format("2006-01-02 15:04"), f.Newest.Format("2006-01-02 15:04"))
		}
		fmt.Fprintf(a.Out, "vocabulary %s: %d texts, %d tokens, %d kB%s\n", f.Vocabulary, f.Entries, f.Tokens, f.Bytes/1000, when)
	}
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
	if a.Globals.JSON {
		return a.JSON(map[string]any{"cleared": n})
	}
	fmt.Fprintf(a.Out, "%d histories cleared.\n", n)
	return nil
}

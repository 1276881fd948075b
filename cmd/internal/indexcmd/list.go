package indexcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

type listCmd struct {
	IndexFlag
	Paths []string `arg:"" optional:"" name:"path" help:"List only these files and what is in these folders." type:"path"`
}

func (c *listCmd) Help() string {
	return `Examples:
  ${program} index list
  ${program} index list ~/Documents/notes
  ${program} index list --json | jq -r '.files[].path'`
}

// listAllCmd is what index does without a command. Kong wants it to have no arguments, as a mistyped command would be one.
type listAllCmd struct{ IndexFlag }

func (c *listAllCmd) Run(a *cli.App) error { return (&listCmd{IndexFlag: c.IndexFlag}).Run(a) }

// fileJSON is an indexed file.
type fileJSON struct {
	Path     string    `json:"path"`
	Title    string    `json:"title"`
	Size     int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
	Passages int       `json:"passages"`
}

func (c *listCmd) Run(a *cli.App) error {
	files := []fileJSON{}
	x, err := c.open(a)
	if err != nil {
		return err
	}
	if x != nil {
		defer x.Close()
		list, err := x.List()
		if err != nil {
			return err
		}
		if list, err = below(a, list, c.Paths); err != nil {
			return err
		}
		for _, s := range list {
			files = append(files, fileJSON(s))
		}
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"files": files})
	}
	switch {
	case x == nil:
		fmt.Fprintf(a.Out, "Nothing has been indexed yet: questions are answered from the sample documents.\nAdd your own with: %s index add FOLDER\n", a.Program)
		return nil
	case len(files) == 0:
		fmt.Fprintf(a.Out, "The index is empty: everything was removed from it.\nAdd documents with: %s index add FOLDER\n", a.Program)
		return nil
	}
	t := cli.Table{Header: []string{"PASSAGES", "SIZE", "MODIFIED", "PATH", "TITLE"}, Right: 2, Long: 3}
	passages, size := 0, int64(0)
	for _, f := range files {
		t.Add(strconv.Itoa(f.Passages), cli.Bytes(f.Size), cli.Day(f.Modified), f.Path, f.Title)
		passages, size = passages+f.Passages, size+f.Size
	}
	a.Table(t)
	fmt.Fprintf(a.Out, "%s, %s, %s\n", cli.Count(len(files), "file"), cli.Count(passages, "passage"), cli.Bytes(size))
	return nil
}

// below returns the files of list that are one of paths or in one of them, all of them if there are no paths. A path without
// indexed files is an error.
func below(a *cli.App, list []search.SourceInfo, paths []string) ([]search.SourceInfo, error) {
	if len(paths) == 0 {
		return list, nil
	}
	kept := map[string]bool{}
	for _, path := range paths {
		names, err := search.PossiblePaths(path)
		if err != nil {
			return nil, err
		}
		found := false
		for _, s := range list {
			if slices.ContainsFunc(names, func(name string) bool { return search.Within(s.Path, name) }) {
				kept[s.Path], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("nothing of %s is in the index: %s index list shows what is", path, a.Program)
		}
	}
	return slices.DeleteFunc(list, func(s search.SourceInfo) bool { return !kept[s.Path] }), nil
}

type showCmd struct {
	Path string `arg:"" help:"A file, as index list shows it, or the end of its path if no other file has it." type:"path"`
}

func (c *showCmd) Help() string {
	return `Examples:
  ${program} index show ~/Documents/notes/cabin.md
  ${program} index show cabin.md
  ${program} index show --json report.pdf | jq -r '.passages[].text'

The passages are shown as they are searched and read, each with the headings above it.`
}

func (c *showCmd) Run(a *cli.App) error {
	x, err := Open(a, PassageFlags{})
	if err != nil {
		return err
	}
	if x == nil {
		return fmt.Errorf("%s is not in the index: nothing has been indexed yet", c.Path)
	}
	defer x.Close()
	path, err := c.meant(x)
	if err != nil {
		return err
	}
	file, list, err := x.Show(a, path)
	if skipped := (*search.SkippedError)(nil); errors.As(err, &skipped) {
		return fmt.Errorf("%s was added, but is not in the index: %s", c.Path, cli.Escape(skipped.Reason))
	}
	if info, e := os.Stat(c.Path); errors.Is(err, search.ErrNotIndexed) && e == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: name a file in it; %s index list shows what is indexed", c.Path, a.Program)
	}
	if errors.Is(err, search.ErrNotIndexed) {
		return fmt.Errorf("%s is not in the index: %s index list shows what is", c.Path, a.Program)
	}
	if err != nil {
		return err
	}
	if a.Globals.JSON {
		type passage struct {
			ID    string `json:"id"`
			Title string `json:"title"` // with the headings above the passage
			Text  string `json:"text"`
		}
		out := []passage{}
		for _, p := range list {
			out = append(out, passage{p.ID, p.Title, p.Text})
		}
		return a.JSON(struct {
			fileJSON
			Texts []passage `json:"passages"` // instead of their number
		}{fileJSON(file), out})
	}
	fmt.Fprintf(a.Out, "%s\n%s, %s, modified %s, %s\n", cli.Escape(file.Title), cli.Escape(file.Path), cli.Bytes(file.Size), cli.Day(file.Modified), cli.Count(len(list), "passage"))
	for i, p := range list {
		fmt.Fprintf(a.Out, "\n%s\n%s\n", a.Faint(passageLabel(i+1, len(list), file.Title, p.Title)), cli.StripControls(p.Text))
	}
	return nil
}

// meant returns the path to show. One that does not exist stands for the indexed file whose path ends with it, as it was given
// below the working folder.
func (c *showCmd) meant(x *search.Index) (string, error) {
	if _, err := os.Lstat(c.Path); !errors.Is(err, os.ErrNotExist) {
		return c.Path, nil
	}
	folder, err := os.Getwd()
	if err != nil {
		return c.Path, nil // then the index knows it or not
	}
	end, err := filepath.Rel(folder, c.Path)
	if err != nil || !filepath.IsLocal(end) {
		return c.Path, nil
	}
	list, err := x.List()
	if err != nil {
		return "", err
	}
	var found []string
	for _, s := range list {
		if s.Path == c.Path { // it was deleted after it was indexed
			return c.Path, nil
		}
		if strings.HasSuffix(s.Path, string(filepath.Separator)+end) {
			found = append(found, s.Path)
		}
	}
	switch len(found) {
	case 0:
		return c.Path, nil
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s may be %s: give more of the path", end, cli.Escape(strings.Join(found, " or ")))
}

// passageLabel numbers a passage of a file and names the headings above it.
func passageLabel(i, of int, file, passage string) string {
	label := fmt.Sprintf("passage %d of %d", i, of)
	if below, ok := strings.CutPrefix(passages.Place(passage), passages.Place(file)); ok && below != "" {
		label += cli.Escape(below)
	} else if !ok {
		label += ": " + cli.Escape(passages.Place(passage))
	}
	return label
}

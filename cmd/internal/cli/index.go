package cli

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"tandem/retrieval/search"
)

// IndexCmd manages the documents that a side answers from.
type IndexCmd struct {
	Add    indexAdd    `cmd:"" help:"Index files and folders, or update what is indexed."`
	List   indexList   `cmd:"" help:"List the indexed files."`
	Remove indexRemove `cmd:"" help:"Forget files or folders. The files themselves stay."`
}

type indexAdd struct {
	Paths []string `arg:"" optional:"" help:"Files or folders (text, Markdown, HTML, PDF, DOCX, ODT, EPUB, CSV, mail). Without any, update what is indexed." type:"path"`
	PassageFlags
}

func (c *indexAdd) Help() string {
	return `Examples:
  ${program} index add ~/Documents/notes          add a folder and everything below it
  ${program} index add report.pdf minutes.md      add files
  ${program} index add                            follow changes and deletions
  ${program} index add --passage-words 64 ~/book  longer passages, for a larger model

Only files that changed are read again, and those that were cut into passages of another length. Files that cannot be read are listed with the reason.`
}

// indexReport is the output of index add and index remove with --json.
type indexReport struct {
	Added     int        `json:"added"`
	Updated   int        `json:"updated"`
	Removed   int        `json:"removed"`
	Unchanged int        `json:"unchanged"`
	Passages  int        `json:"passages"`
	Skipped   []skipJSON `json:"skipped"`
}

type skipJSON struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func (r *indexReport) add(o search.Report) {
	r.Added, r.Updated, r.Removed = r.Added+o.Added, r.Updated+o.Updated, r.Removed+o.Removed
	r.Unchanged, r.Passages = r.Unchanged+o.Unchanged, o.Passages
	for _, s := range o.Skipped {
		r.Skipped = append(r.Skipped, skipJSON(s))
	}
}

func (c *indexAdd) Run(a *App) (err error) {
	defer func() { err = a.fullDisk(err) }()
	x, err := a.openIndex(c.PassageFlags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	start := time.Now()
	show := func(p search.Progress) {
		if time.Since(start) > time.Second {
			a.Progress("%d files, %s", p.Done, p.Path)
		}
	}
	var sum indexReport
	if len(c.Paths) == 0 {
		report, err := x.Refresh(a, show)
		if err != nil {
			return err
		}
		sum.add(report)
	}
	for _, path := range c.Paths {
		report, err := x.Add(a, path, show)
		if err != nil {
			return naming(path, err)
		}
		sum.add(report)
	}
	return a.report(sum)
}

// report prints how the index changed.
func (a *App) report(r indexReport) error {
	a.Clear()
	if a.Globals.JSON {
		return a.JSON(r)
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(a.Out, "skipped %s: %s\n", Plain(s.Path), Plain(s.Reason))
	}
	fmt.Fprintf(a.Out, "%d added, %d updated, %d removed, %d unchanged, %d skipped; %d passages in the index\n",
		r.Added, r.Updated, r.Removed, r.Unchanged, len(r.Skipped), r.Passages)
	return nil
}

// openIndex opens the program's own index for writing. It makes the index on first use.
func (a *App) openIndex(cut PassageFlags) (*search.Index, error) {
	dir, err := a.IndexDir()
	if err != nil {
		return nil, err
	}
	if err := Make(dir); err != nil {
		return nil, err
	}
	return search.Open(dir, cut.options())
}

// fullDisk adds to an error about a full disk what to do. It looks at the text, because bleve does not wrap the error.
func (a *App) fullDisk(err error) error {
	if err == nil || !strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
		return err
	}
	dirs, _ := a.Dirs()
	return fmt.Errorf("the disk of %s is full: make room, or set XDG_DATA_HOME to a folder on another disk: %w", dirs.Data, err)
}

type indexList struct{}

func (c *indexList) Help() string {
	return `Examples:
  ${program} index list
  ${program} index list --json | jq -r '.files[].path'`
}

func (c *indexList) Run(a *App) error {
	type file struct {
		Path     string    `json:"path"`
		Title    string    `json:"title"`
		Size     int64     `json:"size"`
		Modified time.Time `json:"modified"`
		Passages int       `json:"passages"`
	}
	files := []file{}
	x, err := a.OwnIndex()
	if err != nil {
		return err
	}
	if x != nil {
		defer x.Close()
		list, err := x.List()
		if err != nil {
			return err
		}
		for _, s := range list {
			files = append(files, file(s))
		}
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"files": files})
	}
	switch {
	case x == nil:
		fmt.Fprintf(a.Out, "Nothing was ever indexed: questions are answered from the sample documents.\nAdd your own with: %s index add FOLDER\n", a.Program)
	case len(files) == 0:
		fmt.Fprintf(a.Out, "The index is empty: everything was removed from it.\nAdd documents with: %s index add FOLDER\n", a.Program)
	}
	for _, f := range files {
		fmt.Fprintf(a.Out, "%4d passages  %9s  %s  %s\n", f.Passages, Bytes(f.Size), Plain(f.Path), a.Faint(Plain(f.Title)))
	}
	return nil
}

type indexRemove struct {
	Paths []string `arg:"" help:"Files or folders, as index list shows them." type:"path"`
}

func (c *indexRemove) Help() string {
	return `Examples:
  ${program} index remove ~/Documents/notes/old.md
  ${program} index remove ~/Documents/notes          with all below it`
}

func (c *indexRemove) Run(a *App) (err error) {
	defer func() { err = a.fullDisk(err) }()
	x, err := a.openIndex(PassageFlags{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	var sum indexReport
	for _, path := range c.Paths {
		report, err := x.Remove(a, path)
		if err != nil {
			return err
		}
		sum.add(report)
	}
	return a.report(sum)
}

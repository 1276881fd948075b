package indexcmd

import (
	"errors"
	"fmt"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/retrieval/search"
)

type addCmd struct {
	Paths []string `arg:"" optional:"" help:"Files or folders (text, Markdown, Org, RST, AsciiDoc, LaTeX, HTML, PDF, DOCX, ODT, RTF, EPUB, XLSX, ODS, CSV, PPTX, ODP, JSON, YAML, TOML, INI, XML, source code, mail, calendars, contacts, subtitles). Default: update what is indexed." type:"path"`
	PassageFlags
	IndexFlag
	ExcludeFlag
	Skipped bool `help:"List every skipped file. By default, many are summed up by kind."`
}

func (c *addCmd) Help() string {
	return `Examples:
  ${program} index add ~/Documents/notes           add a folder and everything below it
  ${program} index add report.pdf minutes.md       add files
  ${program} index add                             pick up changes and deletions
  ${program} index add --exclude '*.log' --exclude drafts/ ~/notes
  ${program} index add --passage-words 128 ~/book  longer passages, for a larger model
  ${program} index add --index weaviate://h1,h2,h3 ~/library  into a cluster

Only files that changed, or that were cut into passages of another length, are read again. If the command is interrupted, the finished files stay in the index; run it again to continue from there.

What --exclude leaves out of a folder stays out when the folder is updated, until --exclude is given for it again; --exclude "" lifts it. A file .tandemignore in a folder does the same, with one pattern a line. What was indexed before and is left out now leaves the index.`
}

func (c *addCmd) Run(a *cli.App) (err error) {
	defer func() { err = fullDisk(a, err) }()
	if err := c.Check(len(c.Paths) > 0, "name it, as after "+a.Program+" index add"); err != nil {
		return err
	}
	c.exclude = c.Exclude
	x, err := c.openWritable(a, c.PassageFlags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	reports, err := c.addTo(a, x)
	sum := sumOf(reports...)
	if err != nil && a.Err() == nil {
		return err
	}
	if err != nil {
		a.Remark("the finished files stay in the index; run the command again to continue from there")
		return errors.Join(sum.print(a, c.Skipped), err)
	}
	err = sum.print(a, c.Skipped || len(sum.Skipped) <= len(c.Paths))
	unread, empty := c.without(reports)
	if len(empty) > 0 {
		a.Remark("There are no files in %s.", strings.Join(empty, ", "))
	}
	if err == nil && len(unread) > fewSkipped {
		err = fmt.Errorf("nothing was indexed of %d files and folders: all of it was skipped", len(unread))
	} else if err == nil && len(unread) > 0 {
		err = fmt.Errorf("nothing was indexed of %s: all of it was skipped", strings.Join(unread, ", "))
	}
	return err
}

// addTo adds the paths, or updates what was added if there are none.
func (c *addCmd) addTo(a *cli.App, x index) ([]search.Report, error) {
	show := progress(a, "indexing")
	if len(c.Paths) == 0 {
		report, err := x.Refresh(a, show)
		return []search.Report{report}, err
	}
	reports, err := x.AddAll(a, c.Paths, show)
	if err != nil && len(reports) > 0 {
		err = naming(c.Paths[len(reports)-1], err)
	}
	return reports, err
}

// without returns the paths that gave no passage, by whether all in them was skipped or there was nothing.
func (c *addCmd) without(reports []search.Report) (unread, empty []string) {
	for i, path := range c.Paths {
		switch r := reports[i]; {
		case r.Added+r.Updated+r.Unchanged > 0:
		case len(r.Skipped) > 0:
			unread = append(unread, cli.Escape(path))
		default:
			empty = append(empty, cli.Escape(path))
		}
	}
	return unread, empty
}

type rebuildCmd struct {
	PassageFlags
	Skipped bool `help:"List every skipped file. By default, many are summed up by kind."`
}

func (c *rebuildCmd) Help() string {
	return `Examples:
  ${program} index rebuild

Every added file is read again. Until that is complete, the index stays as it was. Files that no longer exist lose their passages.`
}

func (c *rebuildCmd) Run(a *cli.App) (err error) {
	defer func() { err = fullDisk(a, err) }()
	dir, err := indexDir(a)
	if err != nil {
		return err
	}
	c.waiting = waiting(a)
	report, err := search.Rebuild(a, dir, c.options(), progress(a, "indexing"))
	if err != nil {
		return err
	}
	return sumOf(report).print(a, c.Skipped)
}

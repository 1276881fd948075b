package indexcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/retrieval/search"
)

type removeCmd struct {
	Paths []string `arg:"" help:"Files or folders, as index list shows them." type:"path"`
	IndexFlag
}

func (c *removeCmd) Help() string {
	return `Examples:
  ${program} index remove ~/Documents/notes/old.md
  ${program} index remove ~/Documents/notes          with all below it

What is removed stays out, also when a folder above it is added again,
until it is itself named to index add.`
}

func (c *removeCmd) Run(a *cli.App) (err error) {
	defer func() { err = fullDisk(a, err) }()
	x, err := c.openWritable(a, PassageFlags{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	reports, err := x.RemoveAll(a, c.Paths)
	var unknown *search.NotIndexedError
	if err != nil && !errors.As(err, &unknown) {
		return err
	}
	if unknown != nil && len(unknown.Paths) == len(c.Paths) {
		return notIndexed(a, x, unknown)
	}
	sum := sumOf(reports...)
	if unknown != nil {
		sum.NotIndexed = unknown.Paths
	}
	for _, path := range c.Paths {
		if c.Index == "" && !slices.Contains(sum.NotIndexed, path) {
			n, err := deleteUploads(a, path)
			if sum.Deleted += n; err != nil {
				return err
			}
		}
	}
	if err := sum.print(a, true); err != nil {
		return err
	}
	if sum.Deleted > 0 && !a.Globals.JSON {
		fmt.Fprintf(a.Out, "%s deleted\n", cli.Count(sum.Deleted, "uploaded file"))
	}
	if unknown != nil {
		return notIndexed(a, x, unknown)
	}
	return nil
}

// notIndexed names what was to be removed and is not in the index, and what of that name is.
func notIndexed(a *cli.App, x index, e *search.NotIndexedError) error {
	meant := ""
	if files, err := x.List(); err == nil {
		var same []string
		for _, path := range e.Paths {
			same = append(same, sameName(files, path)...)
		}
		slices.Sort(same)
		if same = slices.Compact(same); len(same) > 0 {
			meant = "perhaps you meant " + cli.Escape(strings.Join(same[:min(len(same), mostMeant)], ", ")) + "; "
		}
	}
	return fmt.Errorf("%s: not in the index: %s%s index list shows what is", cli.Escape(strings.Join(e.Paths, ", ")), meant, a.Program)
}

// mostMeant is how many paths are named that a user may have meant.
const mostMeant = 3

// sameName returns the indexed files, and the folders above them, whose name is that of path.
func sameName(files []search.SourceInfo, path string) (same []string) {
	name := filepath.Base(path)
	for _, f := range files {
		for at := f.Path; at != filepath.Dir(at); at = filepath.Dir(at) {
			if filepath.Base(at) == name {
				same = append(same, at)
			}
		}
	}
	return same
}

// deleteUploads deletes the uploaded files at or below path, as a server does that is told to remove them: they are copies
// that nobody else knows of. It returns their number.
func deleteUploads(a *cli.App, path string) (n int, err error) {
	dir, err := UploadsDir(a)
	if err != nil {
		return 0, err
	}
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, f := range list {
		file := filepath.Join(dir, f.Name())
		if f.Type().IsRegular() && within(file, path) {
			if err := os.Remove(file); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, err
}

// within reports whether a file is at path or below it, by the names without symbolic links.
func within(file, path string) bool {
	for _, p := range []*string{&file, &path} {
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	rel, err := filepath.Rel(path, file)
	return err == nil && filepath.IsLocal(rel)
}

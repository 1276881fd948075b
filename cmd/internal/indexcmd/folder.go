package indexcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/retrieval/search"
)

// ReadFolder indexes a folder in memory, without what is to be left out.
func ReadFolder(a *cli.App, dir string, cut PassageFlags, without ExcludeFlag) (*search.Index, error) {
	cut.exclude = without.Exclude
	x, err := search.Memory(cut.options())
	if err != nil {
		return nil, err
	}
	report, err := x.Add(a, dir, progress(a, "reading "+dir))
	a.Clear()
	err = naming(dir, err)
	if err == nil && report.Passages == 0 {
		err = nothingReadable(dir, report.Skipped)
	}
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	skipped := slices.DeleteFunc(sumOf(report).Skipped, func(s skipJSON) bool { return s.Kind == search.Excluded }) // the user said so
	for _, s := range skipped {
		a.Log.Info("skipped", "file", s.Path, "reason", s.Reason)
	}
	switch { // this comes with each question
	case len(skipped) == 1:
		a.Remark("%s", skippedLines(skipped, false)[0])
	case len(skipped) > 1:
		a.Remark("skipped %d files and folders of %s (--log-level info lists them)", len(skipped), cli.Escape(dir))
	}
	return x, nil
}

// nothingReadable says why a folder cannot answer, with the first of its skipped files.
func nothingReadable(dir string, skipped []search.Skip) error {
	err := fmt.Errorf("%s holds no readable documents", dir)
	const some = 3
	if len(skipped) == 0 {
		err = fmt.Errorf("%w: there are no files in it", err)
	}
	for _, s := range skipped[:min(some, len(skipped))] {
		err = fmt.Errorf("%w; %s: %s", err, cli.Escape(s.Path), cli.Escape(s.Reason))
	}
	if n := len(skipped) - some; n > 0 {
		err = fmt.Errorf("%w; and %d more", err, n)
	}
	return err
}

// naming says that there is nothing at path, or adds path to a permission error that does not name it and says who must be
// able to read it.
func naming(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := os.Stat(path); errors.Is(e, fs.ErrNotExist) {
			return fmt.Errorf("%s: no such file or folder: give the path of one that exists, or none to update what is indexed", cli.Escape(path))
		}
	}
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if !strings.Contains(err.Error(), path) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	if uid := os.Getuid(); uid > 0 {
		err = fmt.Errorf("%w: user %d must be able to read the folder, as after: chmod -R o+rX FOLDER", err, uid)
	}
	return err
}

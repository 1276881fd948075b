package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// IndexCmd manages the documents that a side answers from.
type IndexCmd struct {
	Add    indexAdd    `cmd:"" help:"Index files and folders, or update what is indexed."`
	List   indexList   `cmd:"" aliases:"ls" help:"List the indexed files."`
	Show   indexShow   `cmd:"" help:"Show what was read from a file: its passages."`
	Remove indexRemove `cmd:"" aliases:"rm" help:"Remove files or folders from the index. The files themselves stay, except those uploaded to edge serve, which are deleted."`

	Rebuild indexRebuild `cmd:"" help:"Rebuild a damaged index from the files that were added."`
}

func (*IndexCmd) Help() string {
	return `Examples:
  ${program} index add ~/Documents/notes
  ${program} index list
  ${program} index remove ~/Documents/notes/old.md`
}

type indexAdd struct {
	Paths []string `arg:"" optional:"" help:"Files or folders (text, Markdown, Org, RST, HTML, PDF, DOCX, ODT, RTF, EPUB, XLSX, ODS, CSV, PPTX, ODP, JSON, YAML, mail, calendars, contacts, subtitles). Default: update what is indexed." type:"path"`
	PassageFlags
	IndexFlag
	Skipped bool `help:"List every skipped file. By default, many are summed up by kind."`
}

func (c *indexAdd) Help() string {
	return `Examples:
  ${program} index add ~/Documents/notes           add a folder and everything below it
  ${program} index add report.pdf minutes.md       add files
  ${program} index add                             pick up changes and deletions
  ${program} index add --passage-words 128 ~/book  longer passages, for a larger model
  ${program} index add --index weaviate://h1,h2,h3 ~/library  into a cluster

Only files that changed, or that were cut into passages of another length, are read again. If the command is interrupted, the finished files stay in the index; run it again to continue from there.`
}

// indexReport is the output of index add and index remove with --json.
type indexReport struct {
	Added     int        `json:"added"`
	Updated   int        `json:"updated"`
	Removed   int        `json:"removed"`
	Unchanged int        `json:"unchanged"`
	Passages  int        `json:"passages"`
	Skipped   []skipJSON `json:"skipped"`
	Deleted   int        `json:"deleted,omitempty"` // uploaded files

	NotIndexed []string `json:"not_indexed,omitempty"` // what was to be removed
}

type skipJSON struct {
	Path   string      `json:"path"`
	Kind   search.Kind `json:"kind"`
	Reason string      `json:"reason"`
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
	x, err := c.edit(a, c.PassageFlags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	reports, err := c.addTo(a, x)
	sum := indexReport{Skipped: []skipJSON{}}
	for _, r := range reports {
		sum.add(r)
	}
	if err != nil && a.Err() == nil {
		return err
	}
	if err != nil {
		a.Remark("the finished files stay in the index; run the command again to continue from there")
		return errors.Join(a.report(sum, c.Skipped), err)
	}
	err = a.report(sum, c.Skipped || len(sum.Skipped) <= len(c.Paths))
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
func (c *indexAdd) addTo(a *App, x Library) ([]search.Report, error) {
	show := a.indexProgress("indexing")
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
func (c *indexAdd) without(reports []search.Report) (unread, empty []string) {
	for i, path := range c.Paths {
		switch r := reports[i]; {
		case r.Added+r.Updated+r.Unchanged > 0:
		case len(r.Skipped) > 0:
			unread = append(unread, Escape(path))
		default:
			empty = append(empty, Escape(path))
		}
	}
	return unread, empty
}

// indexProgress returns what draws the progress of reading files, once that takes more than a moment.
func (a *App) indexProgress(what string) func(search.Progress) {
	start := time.Now()
	var drawn time.Time
	return func(p search.Progress) {
		now := time.Now()
		if now.Sub(start) < time.Second || now.Sub(drawn) < 100*time.Millisecond && p.Done < p.Files {
			return
		}
		drawn = now
		a.Progress("%s", indexLine(what, p, now.Sub(start)))
	}
}

// waitsForIndex says that another program writes the index.
func (a *App) waitsForIndex() { a.Progress("waiting for another program that writes the index") }

// indexLine returns the line that indexProgress draws after the time spent.
func indexLine(what string, p search.Progress, spent time.Duration) string {
	line := fmt.Sprintf("%s: %d of %s, %s of %s", what, p.Done, Count(p.Files, "file"), Bytes(p.Bytes), Bytes(p.TotalBytes))
	if p.Bytes > 0 && p.Bytes < p.TotalBytes {
		left := time.Duration(float64(spent) * float64(p.TotalBytes-p.Bytes) / float64(p.Bytes))
		line += fmt.Sprintf(", about %v left", left.Round(time.Second))
	}
	return line + ": " + filepath.Base(p.Path)
}

// report prints how the index changed. With every, it lists all that was skipped.
func (a *App) report(r indexReport, every bool) error {
	a.Clear()
	if a.Globals.JSON {
		return a.JSON(r)
	}
	a.printSkipped(r.Skipped, every)
	fmt.Fprintf(a.Out, "%d added, %d updated, %d removed, %d unchanged, %d skipped; %s in the index\n",
		r.Added, r.Updated, r.Removed, r.Unchanged, len(r.Skipped), Count(r.Passages, "passage"))
	return nil
}

// fewSkipped is how many skipped files are listed one by one, of all and of a kind that may surprise.
const fewSkipped = 5

// printSkipped lists skipped files or, if they are many, sums them up by kind.
func (a *App) printSkipped(list []skipJSON, every bool) {
	if every || len(list) <= fewSkipped {
		for _, s := range list {
			fmt.Fprintf(a.Out, "skipped %s: %s\n", Escape(s.Path), Escape(s.Reason))
		}
		return
	}
	kinds := map[search.Kind][]skipJSON{}
	for _, s := range list {
		kinds[s.Kind] = append(kinds[s.Kind], s)
	}
	for _, k := range slices.SortedFunc(maps.Keys(kinds), func(x, y search.Kind) int {
		return cmp.Or(cmp.Compare(len(kinds[y]), len(kinds[x])), cmp.Compare(x, y))
	}) {
		of := kinds[k]
		line := fmt.Sprintf("skipped %d: %s", len(of), kindText(k))
		if k == search.Unsupported {
			line += " " + extensions(of)
		}
		fmt.Fprintln(a.Out, line)
		switch k {
		case search.TooLarge, search.Unreadable, search.Unusable:
			for _, s := range of[:min(len(of), fewSkipped)] {
				fmt.Fprintf(a.Out, "  %s: %s\n", Escape(s.Path), Escape(s.Reason))
			}
			if n := len(of) - fewSkipped; n > 0 {
				fmt.Fprintf(a.Out, "  and %d more\n", n)
			}
		}
	}
	fmt.Fprintln(a.Out, "(--skipped lists every file)")
}

// kindText names a kind of skipped files.
func kindText(k search.Kind) string {
	if k == search.Special {
		return "symbolic links, devices, lock files of office programs"
	}
	return string(k)
}

// extensions counts files by their extensions, the most frequent first.
func extensions(list []skipJSON) string {
	count := map[string]int{}
	for _, s := range list {
		count[cmp.Or(strings.ToLower(filepath.Ext(s.Path)), "no extension")]++
	}
	names := slices.SortedFunc(maps.Keys(count), func(x, y string) int {
		return cmp.Or(cmp.Compare(count[y], count[x]), cmp.Compare(x, y))
	})
	const some = 6
	var out []string
	for _, name := range names[:min(len(names), some)] {
		out = append(out, fmt.Sprintf("%s %d", Escape(name), count[name]))
	}
	if len(names) > some {
		out = append(out, fmt.Sprintf("%d other types", len(names)-some))
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// fullDisk adds to an error about a disk that is full, or may not be written, what to do. Of the first it looks at the text,
// because bleve does not wrap the error.
func (a *App) fullDisk(err error) error {
	dirs, _ := a.Dirs()
	var at *fs.PathError
	switch denied := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS); {
	case err == nil:
		return nil
	case denied && errors.As(err, &at) && (within(at.Path, dirs.Data) || within(dirs.Data, at.Path)): // a folder above it may be missing
		return fmt.Errorf("%s cannot be written: let this user write there, or set XDG_DATA_HOME to a folder where it can: %w", dirs.Data, err)
	case !strings.Contains(err.Error(), syscall.ENOSPC.Error()):
		return err
	}
	return fmt.Errorf("the disk of %s is full: make room, or set XDG_DATA_HOME to a folder on another disk: %w", dirs.Data, err)
}

// needsRoom adds to an error about a full disk what to do, unless it says so. The error names the file.
func needsRoom(err error) error {
	if !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "make room") {
		return err
	}
	return fmt.Errorf("%w: the disk of that file is full: make room on it", err)
}

type indexList struct{ IndexFlag }

func (c *indexList) Help() string {
	return `Examples:
  ${program} index list
  ${program} index list --json | jq -r '.files[].path'`
}

// indexFile is an indexed file.
type indexFile struct {
	Path     string    `json:"path"`
	Title    string    `json:"title"`
	Size     int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
	Passages int       `json:"passages"`
}

func (c *indexList) Run(a *App) error {
	files := []indexFile{}
	x, err := c.read(a)
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
			files = append(files, indexFile(s))
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
	t := Table{Header: []string{"PASSAGES", "SIZE", "MODIFIED", "PATH", "TITLE"}, Right: 2, Long: 3}
	passages, size := 0, int64(0)
	for _, f := range files {
		t.Add(strconv.Itoa(f.Passages), Bytes(f.Size), Day(f.Modified), f.Path, f.Title)
		passages, size = passages+f.Passages, size+f.Size
	}
	a.Table(t)
	fmt.Fprintf(a.Out, "%s, %s, %s\n", Count(len(files), "file"), Count(passages, "passage"), Bytes(size))
	return nil
}

type indexShow struct {
	Path string `arg:"" help:"A file, as index list shows it." type:"path"`
}

func (c *indexShow) Help() string {
	return `Examples:
  ${program} index show ~/Documents/notes/cabin.md
  ${program} index show --json report.pdf | jq -r '.passages[].text'

The passages are shown as they are searched and read, each with the headings above it.`
}

func (c *indexShow) Run(a *App) error {
	x, err := a.OpenOwnIndex(PassageFlags{})
	if err != nil {
		return err
	}
	if x == nil {
		return fmt.Errorf("%s is not in the index: nothing has been indexed yet", c.Path)
	}
	defer x.Close()
	file, list, err := x.Show(a, c.Path)
	if skipped := (*search.SkippedError)(nil); errors.As(err, &skipped) {
		return fmt.Errorf("%s was added, but is not in the index: %s", c.Path, Escape(skipped.Reason))
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
			indexFile
			Texts []passage `json:"passages"` // instead of their number
		}{indexFile(file), out})
	}
	fmt.Fprintf(a.Out, "%s\n%s, %s, modified %s, %s\n", Escape(file.Title), Escape(file.Path), Bytes(file.Size), Day(file.Modified), Count(len(list), "passage"))
	for i, p := range list {
		fmt.Fprintf(a.Out, "\n%s\n%s\n", a.Faint(passageLabel(i+1, len(list), file.Title, p.Title)), StripControls(p.Text))
	}
	return nil
}

// passageLabel numbers a passage of a file and names the headings above it.
func passageLabel(i, of int, file, passage string) string {
	label := fmt.Sprintf("passage %d of %d", i, of)
	if below, ok := strings.CutPrefix(passages.Place(passage), passages.Place(file)); ok && below != "" {
		label += Escape(below)
	} else if !ok {
		label += ": " + Escape(passages.Place(passage))
	}
	return label
}

type indexRemove struct {
	Paths []string `arg:"" help:"Files or folders, as index list shows them." type:"path"`
	IndexFlag
}

func (c *indexRemove) Help() string {
	return `Examples:
  ${program} index remove ~/Documents/notes/old.md
  ${program} index remove ~/Documents/notes          with all below it`
}

func (c *indexRemove) Run(a *App) (err error) {
	defer func() { err = a.fullDisk(err) }()
	x, err := c.edit(a, PassageFlags{})
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
		return a.notIndexed(x, unknown)
	}
	sum := indexReport{Skipped: []skipJSON{}}
	if unknown != nil {
		sum.NotIndexed = unknown.Paths
	}
	for i, report := range reports {
		sum.add(report)
		if c.Index == "" && (unknown == nil || !slices.Contains(unknown.Paths, c.Paths[i])) {
			n, err := a.deleteUploads(c.Paths[i])
			if sum.Deleted += n; err != nil {
				return err
			}
		}
	}
	if err := a.report(sum, true); err != nil {
		return err
	}
	if sum.Deleted > 0 && !a.Globals.JSON {
		fmt.Fprintf(a.Out, "%s deleted\n", Count(sum.Deleted, "uploaded file"))
	}
	if unknown != nil {
		return a.notIndexed(x, unknown)
	}
	return nil
}

// notIndexed names what was to be removed and is not in the index, and what of that name is.
func (a *App) notIndexed(x Library, e *search.NotIndexedError) error {
	meant := ""
	if files, err := x.List(); err == nil {
		var same []string
		for _, path := range e.Paths {
			same = append(same, sameName(files, path)...)
		}
		slices.Sort(same)
		if same = slices.Compact(same); len(same) > 0 {
			meant = "perhaps you meant " + Escape(strings.Join(same[:min(len(same), mostMeant)], ", ")) + "; "
		}
	}
	return fmt.Errorf("%s: not in the index: %s%s index list shows what is", Escape(strings.Join(e.Paths, ", ")), meant, a.Program)
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
func (a *App) deleteUploads(path string) (n int, err error) {
	dir, err := a.UploadsDir()
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

type indexRebuild struct {
	PassageFlags
	Skipped bool `help:"List every skipped file. By default, many are summed up by kind."`
}

func (c *indexRebuild) Help() string {
	return `Examples:
  ${program} index rebuild

Every added file is read again. Until that is complete, the index stays as it was. Files that no longer exist lose their passages.`
}

func (c *indexRebuild) Run(a *App) (err error) {
	defer func() { err = a.fullDisk(err) }()
	dir, err := a.indexDir()
	if err != nil {
		return err
	}
	c.waiting = a.waitsForIndex
	report, err := search.Rebuild(a, dir, c.options(), a.indexProgress("indexing"))
	if err != nil {
		return err
	}
	sum := indexReport{Skipped: []skipJSON{}}
	sum.add(report)
	return a.report(sum, c.Skipped)
}

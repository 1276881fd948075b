package modelcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/model/gguf"
	"tandem/model/hub"
)

// rmCmd removes models from the models folder.
type rmCmd struct {
	Names []string `arg:"" name:"name" help:"Names, as models list shows them, or what models pull was given." placeholder:"NAME"`
	Keep  bool     `help:"Keep the downloaded files, so that another pull need not download them."`
}

func (c *rmCmd) Help() string {
	return `Examples:
  ${program} models rm qwen2.5-0.5b-instruct-q4_k_m
  ${program} models rm qwen2.5:0.5b
  ${program} models rm mine --keep

A model that was pulled is also removed from the hub's cache, unless another name refers to it.`
}

// removed describes a removed model.
type removed struct {
	Name  string `json:"name"`
	Files int    `json:"files"`
	Freed int64  `json:"freed"` // bytes
}

func (c *rmCmd) Run(a *cli.App) error {
	dir, err := modelsDir(a)
	if err != nil {
		return err
	}
	var list []removed
	var errs []error
	for _, name := range c.Names {
		r, err := c.remove(a, dir, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, r)
		if !a.Globals.JSON {
			fmt.Fprintf(a.Out, "%s: removed, %s freed\n", r.Name, cli.Bytes(r.Freed))
		}
	}
	if a.Globals.JSON && len(list) > 0 { // what is gone is said, whatever failed
		errs = append(errs, a.JSON(map[string]any{"removed": list}))
	}
	return errors.Join(errs...)
}

// remove removes the model that the user gives, by its name in dir, the models folder, or by what it was pulled as.
func (c *rmCmd) remove(a *cli.App, dir, given string) (removed, error) {
	name := given
	if name == BuiltInDecoder {
		return removed{}, fmt.Errorf("%s is built in and cannot be removed", name)
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*.gguf"))
	if ref, err := hub.ParseRef(name); err == nil && !slices.ContainsFunc(paths, func(p string) bool { return nameOf(p) == name }) {
		return c.removePulled(a, paths, name, ref)
	}
	if filepath.Base(name) != name {
		return removed{}, fmt.Errorf("%s: want a name from models list; remove files elsewhere yourself", name)
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, ":latest"), ".gguf")
	files, others := divide(paths, func(p string) bool { return nameOf(p) == name })
	if len(files) == 0 {
		return removed{}, fmt.Errorf("no model %q in %s; see: %s models list", given, dir, a.Program)
	}
	return c.files(name, files, others)
}

// nameOf returns the name of the model that a file in the models folder is, or is a part of.
func nameOf(path string) string {
	return strings.TrimSuffix(filepath.Base(gguf.SplitBase(path)), ".gguf")
}

// removePulled removes what a reference was pulled as: the links in the models folder that lead to its files, under whatever
// names.
func (c *rmCmd) removePulled(a *cli.App, paths []string, name string, ref hub.Ref) (removed, error) {
	pulled, err := findPulled(a, name, ref)
	if err != nil {
		return removed{}, err
	}
	files, others := divide(paths, func(p string) bool {
		return slices.ContainsFunc(Files(pulled), func(part string) bool { return sameFile(p, part) })
	})
	if len(files) == 0 {
		return removed{}, fmt.Errorf("%s is in the hub's cache, but no name in the models folder leads to it: remove %s yourself", name, pulled)
	}
	return c.files(name, files, others)
}

// divide returns the paths that are meant, and the others.
func divide(paths []string, meant func(string) bool) (files, others []string) {
	for _, p := range paths {
		if meant(p) {
			files = append(files, p)
		} else {
			others = append(others, p)
		}
	}
	return files, others
}

func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// files removes the files of the model called name and counts them. others are those that stay.
func (c *rmCmd) files(name string, files, others []string) (removed, error) {
	r := removed{Name: name}
	for _, path := range files {
		freed, err := c.file(path, others)
		r.Freed += freed
		if err != nil {
			return r, err
		}
		r.Files++
	}
	return r, nil
}

// file removes a file or a link. It removes the target of a link from the hub's cache, unless one of others leads there.
func (c *rmCmd) file(path string, others []string) (freed int64, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return info.Size(), errors.Join(os.Remove(path), hub.Forget(path))
	}
	shared := slices.ContainsFunc(others, func(o string) bool { return sameFile(path, o) })
	if !c.Keep && !shared {
		freed, err = hub.Discard(path)
	}
	return freed, errors.Join(err, os.Remove(path), hub.Forget(path))
}

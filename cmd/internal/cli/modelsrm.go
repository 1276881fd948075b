package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tandem/model/gguf"
	"tandem/model/hub"
)

// modelsRm removes models from the models folder.
type modelsRm struct {
	Names []string `arg:"" name:"name" help:"Names, as models list shows them." placeholder:"NAME"`
	Keep  bool     `help:"Keep the downloaded files, so that another pull need not download them."`
}

func (c *modelsRm) Help() string {
	return `Examples:
  ${program} models rm qwen2.5-0.5b-instruct-q4_k_m
  ${program} models rm mine --keep

A model that was pulled is also removed from the hub's cache, unless another name refers to it.`
}

// removed describes a removed model.
type removed struct {
	Name  string `json:"name"`
	Files int    `json:"files"`
	Freed int64  `json:"freed"` // bytes
}

func (c *modelsRm) Run(a *App) error {
	dir, err := a.modelsDir()
	if err != nil {
		return err
	}
	list := []removed{}
	for _, name := range c.Names {
		r, err := c.remove(a, dir, name)
		if err != nil {
			return err
		}
		list = append(list, r)
		if !a.Globals.JSON {
			fmt.Fprintf(a.Out, "%s: removed, %s freed\n", r.Name, Bytes(r.Freed))
		}
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"removed": list})
	}
	return nil
}

func (c *modelsRm) remove(a *App, dir, name string) (removed, error) {
	r := removed{Name: strings.TrimSuffix(name, ".gguf")}
	if name == BuiltIn {
		return r, fmt.Errorf("%s is built in and cannot be removed", name)
	}
	if filepath.Base(name) != name {
		return r, fmt.Errorf("%s: want a name from models list; remove files elsewhere yourself", name)
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*.gguf"))
	var files, others []string
	for _, p := range paths {
		if strings.TrimSuffix(filepath.Base(gguf.SplitBase(p)), ".gguf") == r.Name {
			files = append(files, p)
		} else {
			others = append(others, p)
		}
	}
	if len(files) == 0 {
		return r, fmt.Errorf("no model %q in %s; see: %s models list", name, dir, a.Program)
	}
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
func (c *modelsRm) file(path string, others []string) (freed int64, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return info.Size(), errors.Join(os.Remove(path), hub.Forget(path))
	}
	shared := false
	if target, err := os.Stat(path); err == nil {
		for _, o := range others {
			if other, err := os.Stat(o); err == nil && os.SameFile(target, other) {
				shared = true
			}
		}
	}
	if !c.Keep && !shared {
		freed, err = hub.Discard(path)
	}
	return freed, errors.Join(err, os.Remove(path), hub.Forget(path))
}

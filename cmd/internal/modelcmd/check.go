package modelcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/model/hub"
)

// quickCheck is how large a model's file may be, in bytes, to be compared with its checksum each time that it is opened. That
// takes about a tenth of a second.
const quickCheck = 128 << 20

// intact compares the files of the model at path, of at most that many bytes each, with their checksums on record. Of a model
// without one it reads the weights.
func intact(a *cli.App, path string, most int64) error {
	unknown := false
	for _, part := range Files(path) {
		info, err := os.Stat(part)
		if err != nil || info.Size() > most {
			continue // opening it says what is wrong
		}
		if info.Size() > quickCheck {
			a.Progress("comparing %s with its checksum", filepath.Base(part))
			defer a.Clear()
		}
		err = hub.Verify(a, part)
		unknown = unknown || errors.Is(err, hub.ErrNoSum)
		if err != nil && !errors.Is(err, hub.ErrNoSum) {
			return damaged(err)
		}
	}
	if !unknown {
		return nil
	}
	f, err := gguf.Open(path)
	if err != nil {
		return nil // opening it says what is wrong
	}
	defer f.Close()
	return checkWeights(a, path, f)
}

func checkWeights(a *cli.App, path string, f *gguf.File) error {
	if sizeOf(path) > quickCheck {
		a.Progress("reading the weights of %s", filepath.Base(path))
		defer a.Clear()
	}
	if err := model.CheckWeights(a, f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// damaged adds the way out to an error of hub.Verify.
func damaged(err error) error {
	if errors.Is(err, hub.ErrDamaged) {
		return fmt.Errorf("%w: fetch or make it again; if you changed it on purpose, record its new checksum: models check --trust", err)
	}
	return err
}

// checkCmd compares the files of models with their checksums.
type checkCmd struct {
	Names []string `arg:"" optional:"" name:"name" help:"Names, as models list and models adapt list show them, or files. Default: all models and adapters." placeholder:"NAME"`
	Trust bool     `help:"Record the checksums of files as they are now, where none is recorded or it differs."`
}

func (c *checkCmd) Help() string {
	return `Examples:
  ${program} models check
  ${program} models check qwen2.5-0.5b-instruct-q4_k_m
  ${program} models check --trust ~/Downloads/model.gguf

The SHA-256 of a pulled file comes from the hub. That of a file that this program made is in a file of the same name with .sha256 added, which sha256sum -c can read. Files of up to 128 MB are also checked each time they are opened; larger ones are checked when a server starts, and by doctor. Of a file without a checksum, the check reads the header and the weights: a file that is no model, that is cut, or that has weights that are not numbers, is damaged. The check finds damage, not forgery.`
}

// checkedFile is what checkCmd says of a file.
type checkedFile struct {
	Path  string `json:"path"`
	State string `json:"state"` // ok, damaged, unknown, recorded, unreadable
	Error string `json:"error,omitempty"`
}

func (c *checkCmd) Run(a *cli.App) error {
	files, err := c.files(a)
	if err != nil {
		return err
	}
	list, bad := []checkedFile{}, 0
	for _, path := range files {
		a.Progress("reading %s", filepath.Base(path))
		f := c.check(a, path)
		if err := a.Err(); err != nil {
			return err
		}
		if f.Error != "" {
			bad++
		}
		list = append(list, f)
	}
	a.Clear()
	if err := c.print(a, list); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d files are damaged or cannot be read: fetch or make them again", bad, len(list))
	}
	return nil
}

func (c *checkCmd) print(a *cli.App, list []checkedFile) error {
	if a.Globals.JSON {
		return a.JSON(map[string]any{"files": list})
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Out, "There are no files to check: the built-in models are part of the program.")
		return nil
	}
	unknown := false
	t := cli.Table{Header: []string{"STATE", "FILE", ""}}
	for _, f := range list {
		t.Add(f.State, cli.Escape(f.Path), cli.Escape(f.Error))
		unknown = unknown || f.State == "unknown"
	}
	a.Table(t)
	if unknown {
		fmt.Fprintf(a.Out, "No checksum is recorded for files marked unknown. To record what they are now: %s models check --trust\n", a.Program)
	}
	return nil
}

// check compares a file with its checksum, or records that. It does not record a file that is not a model, or that has weights
// that are not numbers.
func (c *checkCmd) check(a *cli.App, path string) checkedFile {
	f := checkedFile{Path: path, State: "ok"}
	err := hub.Verify(a, path)
	if err == nil || errors.Is(err, hub.ErrNoSum) || c.Trust && errors.Is(err, hub.ErrDamaged) {
		if bad := sound(a, path, err != nil); bad != nil {
			f.State, f.Error = "damaged", bad.Error()
			return f
		}
	}
	if err != nil && c.Trust && (errors.Is(err, hub.ErrNoSum) || errors.Is(err, hub.ErrDamaged)) && hub.Recordable(path) {
		f.State, err = "recorded", hub.Record(a, path, "")
	}
	switch {
	case errors.Is(err, hub.ErrNoSum):
		f.State = "unknown"
	case errors.Is(err, hub.ErrDamaged):
		f.State, f.Error = "damaged", err.Error()
	case err != nil:
		f.State, f.Error = "unreadable", err.Error()
	}
	return f
}

// sound returns an error if a file is not a GGUF file or, with weights, has weights that are not numbers.
func sound(a *cli.App, path string, weights bool) error {
	f, err := gguf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if list := Files(path); !weights || list[0] != path { // the first part stands for all
		return nil
	}
	return checkWeights(a, path, f)
}

// files returns the files that are to be checked.
func (c *checkCmd) files(a *cli.App) (files []string, err error) {
	if len(c.Names) == 0 {
		for _, folder := range []func(*cli.App) (string, error){modelsDir, adaptersDir} {
			dir, err := folder(a)
			if err != nil {
				return nil, err
			}
			found, _ := filepath.Glob(filepath.Join(dir, "*.gguf"))
			sort.Strings(found)
			files = append(files, found...)
		}
		return files, nil
	}
	for _, name := range c.Names {
		path, err := Find(a, name)
		if err != nil {
			if dir, e := adaptersDir(a); e == nil && filepath.Base(name) == name {
				if adapter := filepath.Join(dir, strings.TrimSuffix(name, ".gguf")+".gguf"); sizeOf(adapter) > 0 {
					path, err = adapter, nil
				}
			}
		}
		if err != nil {
			return nil, err
		}
		if path == "" {
			return nil, fmt.Errorf("%s is built into the program, and has no file", name)
		}
		files = append(files, Files(path)...)
	}
	return files, nil
}

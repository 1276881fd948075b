package modelcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/model/gguf"
	"tandem/model/hub"
	"tandem/models"
)

// modelsDir returns the folder whose GGUF files can be named without a path. All programs share it.
func modelsDir(a *cli.App) (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(filepath.Dir(dirs.Data), "models"), err
}

// Find returns the path of a model, given its path, its name in the models folder, or what "models pull" was given
// for it. It returns "" for the built-in model.
func Find(a *cli.App, name string) (string, error) {
	if name == "" || name == BuiltInDecoder {
		return "", nil
	}
	if name == SpanReader {
		return "", fmt.Errorf("%s points at words and writes none: it answers when no model is named, so leave out the name", name)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return "", fmt.Errorf("%s is a folder: name a GGUF file, or make one of a folder with safetensors: %s models convert --help", name, a.Program)
	} else if err == nil {
		return name, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	dir, err := modelsDir(a)
	if err == nil && filepath.Base(name) == name {
		if path, err := findInFolder(a, dir, strings.TrimSuffix(name, ":latest")); path != "" || err != nil {
			return path, err
		}
	}
	if ref, err := hub.ParseRef(name); err == nil {
		return findPulled(a, name, ref)
	}
	if filepath.Base(name) == name {
		return "", fmt.Errorf("no model %q: it is neither a file nor in %s; see: %s models list, or fetch it: %s models pull --help", name, dir, a.Program, a.Program)
	}
	return "", fmt.Errorf("there is no model file %s: see %s models list, or fetch one: %s models pull --help", name, a.Program, a.Program)
}

// findInFolder returns the path of a model in the models folder, "" if it has none of that name.
func findInFolder(a *cli.App, dir, name string) (string, error) {
	for _, candidate := range []string{name, name + ".gguf"} {
		path := filepath.Join(dir, candidate)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		if err := leadsNowhere(path); err != nil {
			return "", fmt.Errorf("%w: pull the model again, or remove its name: %s models rm %s", err, a.Program, nameOf(path))
		}
	}
	if first, _ := filepath.Glob(filepath.Join(dir, name+"-00001-of-*.gguf")); len(first) == 1 {
		return first[0], nil
	}
	return "", nil
}

// leadsNowhere returns an error if path is a link to a file that is gone, as of a model whose download was removed by hand.
func leadsNowhere(path string) error {
	target, err := os.Readlink(path)
	if err != nil {
		return nil
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%s leads to %s, which is gone", filepath.Base(path), target)
}

// tagged matches a name with its size, as other programs and models pull call models: gemma3:4b.
var tagged = regexp.MustCompile(`^[\w.-]+:(latest|e?\d+(\.\d+)?[bm](-\S*)?)$`)

// NamesModel reports whether a word is the name of a model, here or elsewhere, rather than the beginning of a text.
func NamesModel(a *cli.App, word string) bool {
	if _, err := hub.ParseRef(word); err == nil || tagged.MatchString(word) {
		return true
	}
	path, err := Find(a, word)
	return err == nil && strings.HasSuffix(path, ".gguf")
}

// findPulled returns the path of a model in the hub's cache.
func findPulled(a *cli.App, name string, ref hub.Ref) (string, error) {
	client, err := hub.FromEnv(os.Getenv)
	if err != nil {
		return "", err
	}
	client.Offline = true
	repo, err := client.List(a, ref)
	if err != nil {
		return "", fmt.Errorf("%s is not downloaded; fetch it: %s models pull %s", name, a.Program, name)
	}
	files, err := repo.Select(ref.What)
	if err != nil {
		return "", fmt.Errorf("of what is downloaded, %w; fetch another: %s models pull %s", err, a.Program, name)
	}
	return client.Cached(repo, files[0]), nil
}

// openFile opens a model's file, or the built-in model if path is empty, and returns its size.
func openFile(path string) (*gguf.File, int64, error) {
	if path == "" {
		f, err := gguf.Parse(BuiltInDecoder, models.Decoder)
		return f, int64(len(models.Decoder)), err
	}
	f, err := gguf.Open(path)
	return f, sizeOf(path), err
}

// sizeOf returns the size of a model's file, or of all its parts together.
func sizeOf(path string) (size int64) {
	for _, p := range Files(path) {
		if info, err := os.Stat(p); err == nil {
			size += info.Size()
		}
	}
	return size
}

// Files returns the files of the model at path, of which there is more than one if it is a part of a split one.
func Files(path string) []string {
	if list := gguf.SplitPaths(path); list != nil {
		return list
	}
	return []string{path}
}

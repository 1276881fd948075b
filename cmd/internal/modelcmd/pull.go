package modelcmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/model/hub"
)

// pullCmd fetches a model from the hub.
type pullCmd struct {
	Model  string `arg:"" help:"hf:OWNER/REPO, hf:OWNER/REPO:QUANT, hf:OWNER/REPO:FILE, or a short name." placeholder:"MODEL"`
	Anyway bool   `help:"Download the model even if this program cannot run it."`
	Name   string `help:"Name in the models folder. Default: the file's own name." placeholder:"NAME"`
}

func (c *pullCmd) Help() string {
	return `Examples:
  ${program} models pull hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF:q4_0
  ${program} models pull qwen2.5:0.5b
  ${program} models pull hf:OWNER/REPO:safetensors      then: ${program} models convert

Short names: ` + strings.Join(hub.Names(), ", ") + `.
A quantisation may follow: qwen2.5:1.5b-q8_0.

Files are stored in the hub's usual cache (HF_HOME, HF_HUB_CACHE) and linked into the models folder. An interrupted download resumes. Checksums are verified, also those of files that are there already; a damaged file is downloaded again. HF_TOKEN gives access to private and gated repositories, HF_ENDPOINT names another server, and HF_HUB_OFFLINE=1 uses only what was pulled before.`
}

func (c *pullCmd) Run(a *cli.App) error {
	dir, err := modelsDir(a)
	if err != nil {
		return err
	}
	ref, err := hub.ParseRef(c.Model)
	if _, e := os.Stat(c.Model); err != nil && e == nil {
		return fmt.Errorf("%s is here already: use it with --model %s, or put it into %s to use it by its name", c.Model, c.Model, dir)
	}
	if err != nil {
		return err
	}
	client, err := hubClient(a)
	if err != nil {
		return err
	}
	repo, err := client.List(a, ref)
	if err != nil {
		return err
	}
	files, names, err := c.choose(client, repo, ref.What, dir)
	if err != nil {
		return err
	}
	if strings.HasSuffix(files[0].Name, ".gguf") && !c.Anyway {
		if err := c.checkHeader(a, client, repo, files[0]); err != nil {
			return err
		}
	}
	got, err := download(a, client, repo, files)
	if err != nil {
		return err
	}
	if err := client.Remember(ref, repo); err != nil {
		return err
	}
	if !strings.HasSuffix(got.Files[0], ".gguf") {
		got.Folder = client.Snapshot(repo)
		return printFolder(a, got, ref.What)
	}
	if err := link(a, dir, names, got.Files); err != nil {
		return err
	}
	got.Name, got.Path = names[0], filepath.Join(dir, names[0])
	return c.printModel(a, got)
}

// pulled is what was pulled, as --json prints it.
type pulled struct {
	Bytes      int64    `json:"bytes"`
	Commit     string   `json:"commit"`
	Encodes    string   `json:"encodes,omitempty"`
	Error      string   `json:"error,omitempty"`
	Files      []string `json:"files"`
	Folder     string   `json:"folder,omitempty"` // of files that are not models
	Name       string   `json:"name,omitempty"`   // in the models folder
	Path       string   `json:"path,omitempty"`
	Repository string   `json:"repository"`
}

// hubClient returns a client that says what it does and what it waits for.
func hubClient(a *cli.App) (*hub.Client, error) {
	client, err := hub.FromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	client.Agent = "tandem/" + cli.Version()
	client.Progress = progressBar(a)
	client.Waiting = func(err error, d time.Duration) { a.Remark("%v; trying again in %v", err, d.Round(time.Second)) }
	return client, nil
}

// choose returns the files to download, and the names of those that are models in dir, the models folder.
func (c *pullCmd) choose(client *hub.Client, repo *hub.Repo, what, dir string) (files []hub.File, names []string, err error) {
	files, err = repo.Select(what)
	if err != nil && client.Offline {
		return nil, nil, fmt.Errorf("%w; HF_HUB_OFFLINE is set, so only files pulled before are used: unset it to download", err)
	}
	if err != nil {
		return nil, nil, err
	}
	if names, err = c.names(files); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if err := notTaken(filepath.Join(dir, name), client.Folder(repo.Name)); err != nil {
			return nil, nil, err
		}
	}
	return files, names, nil
}

func download(a *cli.App, client *hub.Client, repo *hub.Repo, files []hub.File) (pulled, error) {
	got := pulled{Repository: repo.Name, Commit: repo.Commit}
	for _, f := range files {
		if sizeOf(client.Cached(repo, f)) > quickCheck {
			a.Progress("comparing %s with its checksum", path.Base(f.Name))
		}
		path, err := client.Get(a, repo, f)
		if err != nil {
			return got, err
		}
		got.Files, got.Bytes = append(got.Files, path), got.Bytes+f.Size
	}
	a.Clear()
	return got, nil
}

// printFolder says where files are that are not models, and how to make a model of them if that is what was asked for.
func printFolder(a *cli.App, got pulled, what string) error {
	if a.Globals.JSON {
		return a.JSON(got)
	}
	fmt.Fprintf(a.Out, "%s: %d files, %s, in\n%s\n", got.Repository, len(got.Files), cli.Bytes(got.Bytes), got.Folder)
	if what == "safetensors" {
		fmt.Fprintf(a.Out, "To use it: %s models convert %s NAME.gguf\n", a.Program, got.Folder)
	}
	return nil
}

// printModel says how to use a model, or why this program cannot run it.
func (c *pullCmd) printModel(a *cli.App, got pulled) error {
	what, unfit := c.check(got.Files[0])
	if a.Globals.JSON {
		got.Encodes = encodes(what)
		if unfit != nil {
			got.Error = unfit.Error()
		}
		return a.JSON(got)
	}
	flag := "--model"
	if what != model.NoPooling {
		flag = "--scorer"
	}
	fmt.Fprintf(a.Out, "%s: %s, verified; use it with %s %s\n", c.Model, cli.Bytes(got.Bytes), flag, nameOf(got.Name))
	if unfit != nil {
		a.Remark("It is downloaded, but this program cannot run it: %v", unfit)
	}
	return nil
}

// names returns the names of the files in the models folder, or nil if the files are not models.
func (c *pullCmd) names(files []hub.File) ([]string, error) {
	if c.Name != "" && (!filepath.IsLocal(c.Name) || filepath.Base(c.Name) != c.Name) {
		return nil, fmt.Errorf("--name %s: want a name without folders", c.Name)
	}
	if !strings.HasSuffix(files[0].Name, ".gguf") {
		return nil, nil
	}
	var names []string
	for i, f := range files {
		name := path.Base(f.Name)
		if c.Name != "" {
			name = strings.TrimSuffix(c.Name, ".gguf")
			if len(files) > 1 {
				name += fmt.Sprintf("-%05d-of-%05d", i+1, len(files))
			}
			name += ".gguf"
		}
		names = append(names, name)
	}
	return names, nil
}

// notTaken returns an error if the link in the models folder leads elsewhere than into folder, the repository's cache.
// Many repositories use the same file names.
func notTaken(link, folder string) error {
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil // hub.Link reports a file in the way
	}
	target, err := filepath.EvalSymlinks(link)
	if err != nil || slices.Contains(strings.Split(filepath.ToSlash(target), "/"), filepath.Base(folder)) {
		return nil
	}
	return fmt.Errorf("%s already points to %s: choose another name for this model with --name", link, target)
}

// link links the files into the models folder, under names. Where the system has no such links, it writes their checksums beside
// them.
func link(a *cli.App, dir string, names, paths []string) error {
	if err := cli.MakePrivateDir(dir); err != nil {
		return err
	}
	for i, p := range paths {
		to := filepath.Join(dir, names[i])
		if err := hub.Link(p, to); err != nil {
			return fmt.Errorf("%w; the file itself is %s", err, p)
		}
		if hub.Recordable(to) {
			if err := hub.Record(a, to, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkHeader reads the first megabytes of a model and returns an error if the engine cannot compute it. If they cannot be
// read, the download will say why.
func (c *pullCmd) checkHeader(a *cli.App, client *hub.Client, repo *hub.Repo, file hub.File) error {
	const least, most = 1 << 20, 64 << 20 // a vocabulary takes a few
	for n := int64(least); n <= most; n *= 4 {
		b, err := client.Head(a, repo, file, n)
		if err != nil || len(b) == 0 {
			return a.Err()
		}
		f, err := gguf.ParseHeader(file.Name, b, file.Size)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			continue
		}
		if err == nil {
			err = model.Check(f)
		}
		if err != nil {
			return fmt.Errorf("this program cannot run it, so it was not downloaded: %w; --anyway downloads it all the same", err)
		}
		return nil
	}
	return nil
}

// check returns how a model pools, if it is an encoder, and an error if the engine cannot compute it.
func (c *pullCmd) check(path string) (model.Pooling, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return model.NoPooling, err
	}
	return model.PoolingOf(f), errors.Join(model.Check(f), f.Close())
}

// progressBar draws downloads: name, bar, bytes, speed and remaining time.
func progressBar(a *cli.App) func(hub.Progress) {
	var file string
	var begun, drawn time.Time
	return func(p hub.Progress) {
		now := time.Now()
		if p.File != file {
			file, begun = p.File, now
		}
		if now.Sub(drawn) < 100*time.Millisecond && p.Done < p.Total {
			return
		}
		drawn = now
		a.Progress("%s", progressLine(p, now.Sub(begun)))
	}
}

// progressLine returns the line that progressBar draws after the time spent. Bytes of an earlier, interrupted download
// count for the bar but not for the speed. An empty file is complete.
func progressLine(p hub.Progress, spent time.Duration) string {
	const width = 24
	full := width
	if p.Total > 0 {
		full = int(p.Done * width / p.Total)
	}
	line := fmt.Sprintf("%s [%s%s] %s of %s", filepath.Base(p.File), strings.Repeat("=", full), strings.Repeat(" ", width-full), cli.Bytes(p.Done), cli.Bytes(p.Total))
	if spent > time.Second && p.Done > p.Resumed {
		rate := float64(p.Done-p.Resumed) / spent.Seconds()
		left := time.Duration(float64(p.Total-p.Done) / rate * float64(time.Second))
		line += fmt.Sprintf(", %s/s, %v left", cli.Bytes(int64(rate)), left.Round(time.Second))
	}
	return line
}

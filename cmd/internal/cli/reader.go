package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/model"
	"tandem/models"
	"tandem/node"
	"tandem/retrieval"
)

// ModelFlags choose the model.
type ModelFlags struct {
	Model   string  `help:"GGUF file, or its name in the models folder; without it the built-in reader." placeholder:"FILE"`
	Threads int     `help:"Threads to compute with; 0 for all cores." default:"0"`
	Compute string  `name:"device" help:"What computes: native, auto (a GPU or NPU that ggml can use, else native), or one of ggml's devices, such as ggml:cpu or ggml:cuda0; doctor lists them." default:"native" placeholder:"NAME"`
	Memory  float64 `name:"npu-memory" help:"Megabytes of the model's weights that the device may hold, as a phone's NPU may; the rest is staged from the file while it computes. 0 for all." default:"0" placeholder:"MB"`
	Phone   string  `kong:"-"` // the chip whose NPU is simulated, at its pace; for commands that have a flag for it

	Switching string `kong:"-"` // how its graphs are changed: see model.Options
}

// BuiltIn is the name of the embedded model.
const BuiltIn = "tandem-reader"

// Open opens the chosen model.
func (f ModelFlags) Open(a *App) (*model.Model, error) {
	path, err := a.FindModel(f.Model)
	if err != nil {
		return nil, err
	}
	return f.open(path)
}

// open opens the model file at path, the built-in model when path is empty.
func (f ModelFlags) open(path string) (*model.Model, error) {
	if f.Threads < 0 || f.Threads > 1024 {
		return nil, fmt.Errorf("--threads %d: want 0 (all cores) to 1024", f.Threads)
	}
	if !(f.Memory >= 0 && f.Memory <= 1<<20) {
		return nil, fmt.Errorf("--npu-memory %v: want megabytes, or 0 for no bound", f.Memory)
	}
	opt := model.Options{Threads: f.Threads, Device: f.Compute, Memory: int64(f.Memory * (1 << 20)), Phone: f.Phone, Switching: f.Switching}
	if path == "" {
		return model.OpenBytes(BuiltIn, models.Reader, opt)
	}
	return model.Open(path, opt)
}

// PassageFlags say how files are cut.
type PassageFlags struct {
	PassageWords int `help:"Words of the passages that files are cut into, about; 0 for a sentence each. Larger models may read longer ones as well." default:"0"`
}

// Validate is called by kong.
func (f PassageFlags) Validate() error {
	if f.PassageWords < 0 {
		return fmt.Errorf("--passage-words %d: want 0 (a sentence each) or more", f.PassageWords)
	}
	return nil
}

func (f PassageFlags) options() retrieval.Options { return retrieval.Options{Words: f.PassageWords} }

// CacheFlags bound the store of computed passages.
type CacheFlags struct {
	CacheMB int64 `name:"cache-mb" help:"Megabytes of disk for the computed states of passages; 0 for none." default:"512"`
}

// Validate is called by kong.
func (f CacheFlags) Validate() error {
	if f.CacheMB < 0 || f.CacheMB > 1<<24 {
		return fmt.Errorf("--cache-mb %d: want 0 (none) to %d", f.CacheMB, 1<<24)
	}
	return nil
}

// KV opens the store of computed passages. A store that cannot be used costs time, not answers: the error
// is logged and nil returned.
func (f CacheFlags) KV(a *App) *retrieval.KVStore {
	dirs, err := a.Dirs()
	if err != nil || f.CacheMB <= 0 {
		return nil
	}
	store, err := retrieval.OpenKV(filepath.Join(dirs.Cache, "kv"), f.CacheMB<<20)
	if err != nil {
		a.Log.Warn("passages are computed anew each time", "error", err)
		return nil
	}
	return store
}

// IndexDir is where the program's own index lies.
func (a *App) IndexDir() (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(dirs.Data, "index"), err
}

// OwnIndex opens the index that `index add` made, for reading. It returns nil when there is none.
func (a *App) OwnIndex() (*retrieval.Index, error) {
	dir, err := a.IndexDir()
	if err != nil {
		return nil, nil // no home: nothing can have been indexed
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	x, err := retrieval.Open(dir, retrieval.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	if list, err := x.List(); err != nil || len(list) == 0 {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// Folder indexes a folder in memory, for one question.
func (a *App) Folder(dir string, cut PassageFlags) (*retrieval.Index, error) {
	x, err := retrieval.MemoryWith(cut.options())
	if err != nil {
		return nil, err
	}
	start := time.Now()
	report, err := x.Add(a, dir, func(p retrieval.Progress) {
		if time.Since(start) > time.Second {
			a.Progress("reading %s: %d files", dir, p.Done)
		}
	})
	a.Clear()
	err = naming(dir, err)
	if err == nil && report.Passages == 0 {
		err = fmt.Errorf("%s holds no readable documents", dir)
		const some = 3
		for _, s := range report.Skipped[:min(some, len(report.Skipped))] {
			err = fmt.Errorf("%w; %s: %s", err, Plain(s.Path), Plain(s.Reason))
		}
		if n := len(report.Skipped) - some; n > 0 {
			err = fmt.Errorf("%w; and %d more", err, n)
		}
	}
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	for _, s := range report.Skipped {
		a.Remark("skipped %s: %s", Plain(s.Path), Plain(s.Reason))
	}
	return x, nil
}

// naming adds to an error of files below path that may not be read where that was, unless it says so.
func naming(path string, err error) error {
	if !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), path) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Sample indexes an embedded corpus in memory.
func Sample(ctx context.Context, corpus fs.FS, cut PassageFlags) (*retrieval.Index, error) {
	x, err := retrieval.MemoryWith(cut.options())
	if err != nil {
		return nil, err
	}
	if _, err := x.AddFS(ctx, corpus, "."); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// Reader puts together what a side reads with.
func Reader(m *model.Model, x *retrieval.Index, kv *retrieval.KVStore) node.Reader {
	return node.Reader{Model: m, Scorer: retrieval.Lexical(), Index: x, KV: kv}
}

package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"tandem/decoder/kvstore"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/model/span"
	"tandem/models"
	"tandem/node"
	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/phone"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// ModelFlags choose the model and what computes it.
type ModelFlags struct {
	Model   string  `short:"m" help:"GGUF file, its name in the models folder, or what models pull was given for it. Default: the built-in models (see --reader, where a command has it)." placeholder:"FILE"`
	Compute string  `name:"device" help:"Device to compute on: native, auto (a GPU or NPU that ggml can use, else native), or a ggml device, such as ggml:cpu or ggml:cuda0; doctor lists them." default:"native" placeholder:"NAME"`
	Threads int     `help:"Threads to compute with; 0 for all cores." default:"0"`
	Long    bool    `name:"long-context" help:"Read models with LongRoPE (Phi-3, Phi-4-mini) with the frequencies for contexts longer than those of their first training." hidden:""`
	KVType  string  `name:"kv-type" help:"Format of the KV cache: ${enum}. q8_0 takes about half the memory of f16." enum:"f16,q8_0" default:"f16" hidden:""`
	Memory  float64 `name:"npu-memory" help:"Megabytes of weights that the device may hold, as on a phone's NPU; the rest is staged from the file during the computation. 0 for all." default:"0" placeholder:"MB" hidden:""`
	All     bool    `name:"npu-memory-all" help:"Count the KV cache and the activations in the megabytes of --npu-memory, too." hidden:""`

	// For commands that have flags for them: see phone.Options.
	Chip      string `kong:"-"`
	Switching string `kong:"-"`

	// For programs that go on for long: compare the file with its checksum, however large it is. See App.intact.
	Verify bool `kong:"-"`
}

// BuiltInDecoder is the name of the embedded decoder, the model that writes token by token.
const BuiltInDecoder = "tandem-reader"

// SpanReader is the name of the embedded span reader, which answers where no model is chosen.
const SpanReader = "tandem-span-reader"

// AnswererName returns the name of what answers: the span reader, or the model if that is nil.
func AnswererName(m *model.Model, reader *span.Reader) string {
	if reader != nil {
		return SpanReader
	}
	return m.Config().Name
}

// Open opens the model that the flags choose.
func (f ModelFlags) Open(a *App) (*model.Model, error) {
	m, _, err := f.OpenWithDevice(a)
	return m, err
}

// OpenWithDevice opens the chosen model and returns also the device that computes it, which the model closes.
func (f ModelFlags) OpenWithDevice(a *App) (*model.Model, *phone.Device, error) {
	path, err := a.FindModel(f.Model)
	if err != nil {
		return nil, nil, err
	}
	most := int64(quickCheck)
	if f.Verify {
		most = math.MaxInt64
	}
	if path != "" {
		if err := a.intact(path, most); err != nil {
			return nil, nil, err
		}
	}
	m, d, err := f.open(path)
	if format := (*gguf.FormatError)(nil); errors.As(err, &format) && format.Offset == 0 {
		err = fmt.Errorf("%w; name a GGUF file: %s models list shows those that are here", err, a.Program)
	}
	return m, d, err
}

// open opens the model file at path, or the built-in model if path is empty.
func (f ModelFlags) open(path string) (*model.Model, *phone.Device, error) {
	d, err := f.device(path)
	if err != nil {
		return nil, nil, err
	}
	if path == "" {
		m, err := model.OpenBytes(BuiltInDecoder, models.Decoder, d, f.options()...)
		return m, d, err
	}
	m, err := model.Open(path, d, f.options()...)
	return m, d, err
}

// options returns what the flags say of positions, keys and values.
func (f ModelFlags) options() (list []model.Option) {
	if f.KVType == npu.CacheQ8_0.String() {
		list = append(list, model.KVCache(npu.CacheQ8_0))
	}
	if f.Long {
		list = append(list, model.LongContext())
	}
	return list
}

// device opens the device for the model file at path.
func (f ModelFlags) device(path string) (*phone.Device, error) {
	if f.Threads < 0 || f.Threads > 1024 {
		return nil, fmt.Errorf("--threads %d: want 0 (all cores) to 1024", f.Threads)
	}
	if !(f.Memory >= 0 && f.Memory <= 1<<20) {
		return nil, fmt.Errorf("--npu-memory %v: want megabytes, or 0 for no limit", f.Memory)
	}
	if f.All && f.Memory == 0 {
		return nil, errors.New("--npu-memory-all: needs --npu-memory with a number of megabytes")
	}
	opt := phone.Options{Device: f.Compute, Threads: f.Threads, Weights: uint64(len(models.Decoder)),
		Memory: int64(f.Memory * (1 << 20)), Caches: f.All, Chip: f.Chip, Switching: f.Switching}
	if path != "" {
		file, err := gguf.Open(path)
		if err != nil {
			return nil, err
		}
		opt.Weights = file.Describe().Bytes
		file.Close()
	}
	return phone.Open(opt)
}

// ReaderFlags choose how the built-in models answer.
type ReaderFlags struct {
	By string `name:"reader" help:"What answers without --model: ${enum}. span points at the words of a document that answer; decoder, the built-in decoder, writes a sentence word by word." enum:",span,decoder" default:"" hidden:""`
}

// Passages that each side retrieves by default. A span reader reads one in 2 to 4 ms.
const (
	SpanDocuments    = 8
	DecoderDocuments = 4
)

// OpenSpan returns the built-in span reader, or nil if a decoder answers: the one that the flags of the model choose, or the
// built-in one if the flag says so.
func (f ReaderFlags) OpenSpan(m ModelFlags) (*span.Reader, error) {
	if m.Model != "" || f.By == "decoder" {
		return nil, nil
	}
	file, err := gguf.Parse("tandem-span", models.Span)
	if err != nil {
		return nil, err
	}
	return span.New(file, native.New(1), m.Threads)
}

// PassageFlags say how files are cut into passages.
type PassageFlags struct {
	PassageWords int `help:"Cut files into passages of about this many words; 0 for 64, or for one sentence each if the built-in decoder reads them." default:"0"`

	Related search.Related `kong:"-"` // of search.Options
	Rerank  search.Rerank  `kong:"-"` // likewise
}

// Validate is called by kong.
func (f PassageFlags) Validate() error {
	if f.PassageWords < 0 {
		return fmt.Errorf("--passage-words %d: want 0 (the default) or more", f.PassageWords)
	}
	return nil
}

// BySentence returns the flags with another default: a sentence each, which the built-in decoder was trained on.
func (f PassageFlags) BySentence() PassageFlags {
	f.PassageWords = cmp.Or(f.PassageWords, passages.SentenceWords)
	return f
}

func (f PassageFlags) options() search.Options {
	return search.Options{Words: f.PassageWords, Related: f.Related, Rerank: f.Rerank}
}

// CacheFlags bound the store of computed passages (KV caches, and what a span reader encoded).
type CacheFlags struct {
	CacheMB int64 `name:"cache-mb" help:"Megabytes of disk for the computed states of passages; 0 for none." default:"512" hidden:""`
}

// Validate is called by kong.
func (f CacheFlags) Validate() error {
	if f.CacheMB < 0 || f.CacheMB > 1<<24 {
		return fmt.Errorf("--cache-mb %d: want 0 (none) to %d", f.CacheMB, 1<<24)
	}
	return nil
}

// OpenKV opens the store of computed passages, in which a span reader keeps its encodings, too. It returns nil if it
// cannot. That costs time but no answer, so it only logs the error.
func (f CacheFlags) OpenKV(a *App, r *span.Reader) *kvstore.Store {
	dirs, err := a.Dirs()
	if err != nil || f.CacheMB <= 0 {
		return nil
	}
	store, err := kvstore.Open(filepath.Join(dirs.Cache, "kv"), f.CacheMB<<20)
	if err != nil {
		a.Log.Warn("passages are computed again for each question", "error", err)
		return nil
	}
	if r != nil {
		r.Keep(store.Disk())
	}
	return store
}

// IndexDir returns the folder of the program's own index.
func (a *App) IndexDir() (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(dirs.Data, "index"), err
}

// HasIndex reports whether anything was ever indexed. Where the folders are unknown, so is that: samples must not answer in
// the place of documents that are there.
func (a *App) HasIndex() (bool, error) {
	dir, err := a.IndexDir()
	if err != nil {
		return false, fmt.Errorf("the index cannot be found: %w", err)
	}
	return search.Exists(dir), nil
}

// OpenOwnIndex opens the index that "index add" made, for reading. It returns nil if nothing was ever indexed. The index may be
// empty, if everything was removed from it. Of cut it takes what concerns searching alone.
func (a *App) OpenOwnIndex(cut PassageFlags) (*search.Index, error) {
	if has, err := a.HasIndex(); !has {
		return nil, err
	}
	dir, err := a.IndexDir()
	if err != nil {
		return nil, err
	}
	return search.Open(dir, search.Options{ReadOnly: true, Related: cut.Related, Rerank: cut.Rerank})
}

// SampleMark is what citations add to the titles of sample documents.
const SampleMark = " (sample document)"

// IndexFolder indexes a folder in memory, for one question.
func (a *App) IndexFolder(dir string, cut PassageFlags) (*search.Index, error) {
	x, err := search.Memory(cut.options())
	if err != nil {
		return nil, err
	}
	report, err := x.Add(a, dir, a.indexProgress("reading "+dir))
	a.Clear()
	err = naming(dir, err)
	if err == nil && report.Passages == 0 {
		err = fmt.Errorf("%s holds no readable documents", dir)
		const some = 3
		if len(report.Skipped) == 0 {
			err = fmt.Errorf("%w: there are no files in it", err)
		}
		for _, s := range report.Skipped[:min(some, len(report.Skipped))] {
			err = fmt.Errorf("%w; %s: %s", err, Escape(s.Path), Escape(s.Reason))
		}
		if n := len(report.Skipped) - some; n > 0 {
			err = fmt.Errorf("%w; and %d more", err, n)
		}
	}
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	if n := len(report.Skipped); n > fewSkipped {
		a.Remark("%d files of %s were skipped: edge index add --skipped says why", n, Escape(dir))
	} else {
		for _, s := range report.Skipped {
			a.Remark("skipped %s: %s", Escape(s.Path), Escape(s.Reason))
		}
	}
	return x, nil
}

// naming says that there is nothing at path, or adds path to a permission error that does not name it and says who must be
// able to read it.
func naming(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := os.Stat(path); errors.Is(e, fs.ErrNotExist) {
			return fmt.Errorf("%s: no such file or folder: give the path of one that exists, or none to update what is indexed", Escape(path))
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

// IndexSample indexes an embedded corpus in memory.
func IndexSample(ctx context.Context, corpus fs.FS, cut PassageFlags) (*search.Index, error) {
	x, err := search.Memory(cut.options())
	if err != nil {
		return nil, err
	}
	if _, err := x.AddFS(ctx, corpus, "."); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// SameFiles reports whether a folder holds the same files as a corpus has below a folder of its own, as where a container mounts
// the sample documents. It stops at the first file that differs.
func SameFiles(dir string, corpus fs.FS, below string) bool {
	corpus, err := fs.Sub(corpus, below)
	if err != nil {
		return false
	}
	missing := map[string]bool{}
	list := fs.WalkDir(corpus, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			missing[name] = true
		}
		return err
	})
	folder := os.DirFS(dir)
	err = fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case !missing[name] || !d.Type().IsRegular():
			return fs.ErrInvalid
		}
		delete(missing, name)
		return equalFiles(folder, corpus, name)
	})
	return list == nil && err == nil && len(missing) == 0
}

// equalFiles returns an error unless a file is the same in two file systems.
func equalFiles(a, b fs.FS, name string) error {
	infoA, err := fs.Stat(a, name)
	if err != nil {
		return err
	}
	infoB, err := fs.Stat(b, name)
	if err != nil {
		return err
	}
	if infoA.Size() != infoB.Size() {
		return fs.ErrInvalid
	}
	dataA, err := fs.ReadFile(a, name)
	if err != nil {
		return err
	}
	dataB, err := fs.ReadFile(b, name)
	if err == nil && !bytes.Equal(dataA, dataB) {
		err = fs.ErrInvalid
	}
	return err
}

// NewLocal returns what a node answers with: a model and, if it is not nil, a span reader, with the lexical scorer. documents is
// nil for a side without any.
func NewLocal(m *model.Model, r *span.Reader, documents node.Searcher, kv *kvstore.Store) node.Local {
	return node.Local{Model: m, Reader: r, Scorer: search.Lexical(), Documents: documents, KV: kv, Past: new(node.Past)}
}

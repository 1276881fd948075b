package modelcmd

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"tandem/cmd/internal/cli"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/models"
	"tandem/npu"
	"tandem/npu/phone"
)

// ModelFlags choose the model and what computes it.
type ModelFlags struct {
	Model   string  `short:"m" help:"GGUF file, its name in the models folder, or what models pull was given for it. Default: the built-in models." placeholder:"FILE"`
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

// Open opens the model that the flags choose.
func (f ModelFlags) Open(a *cli.App) (*model.Model, error) {
	m, _, err := f.OpenWithDevice(a)
	return m, err
}

// OpenWithDevice opens the chosen model and returns also the device that computes it, which the model closes.
func (f ModelFlags) OpenWithDevice(a *cli.App) (*model.Model, *phone.Device, error) {
	path, err := Find(a, f.Model)
	if err != nil {
		return nil, nil, err
	}
	most := int64(quickCheck)
	if f.Verify {
		most = math.MaxInt64
	}
	if path != "" {
		if err := intact(a, path, most); err != nil {
			return nil, nil, err
		}
		a.Progress("opening %s", filepath.Base(path))
		defer a.Clear()
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

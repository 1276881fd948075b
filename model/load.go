package model

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"tandem/model/chat"
	"tandem/model/gguf"
	"tandem/model/tokenizer"
	"tandem/npu"
)

// A Model is a transformer compiled for a device, with its tokenizer and chat template. It is safe for concurrent use,
// but each Seq is for one goroutine at a time.
type Model struct {
	config     Config
	tensors    *tensors
	file       *gguf.File
	tokenizer  *tokenizer.Tokenizer
	template   *chat.Template
	device     npu.Device
	base       *graphSet     // programs without adapters
	scheduler  npu.Scheduler // the device's; may be nil
	workspaces sync.Pool     // of *workspace
	chunks     []int         // that programs are compiled for

	setsMu sync.Mutex
	sets   map[string]*graphSet // graphs with adapters as inputs, by rank and targets

	fingerprint func() [32]byte
	singly      func() (*npu.Programs, error) // for Denoise: layers one by one, for the largest chunk
	secondOnce  func() (*Model, error)
	second      *Model // what that made; nil if nothing
}

// Parameters returns how many numbers the model's tensors hold.
func (m *Model) Parameters() uint64 { return m.file.Describe().Parameters }

// Quantization names what most of the model is stored as, such as Q4_K_M.
func (m *Model) Quantization() string { return m.file.Quantization() }

// Programs are compiled for these chunk sizes.
var chunkSizes = []int{1, 8, 32, 128}

// chunksFor adds the number of rows that the device computes best at once, if that is larger.
func chunksFor(d npu.Device) []int {
	if n := d.Traits().RowsAtOnce; n > slices.Max(chunkSizes) {
		return append(slices.Clone(chunkSizes), n)
	}
	return chunkSizes
}

// Open opens the GGUF file at path on a device. Errors name the key or tensor at fault. The file is mapped, not read, and
// must not change until Close. Closing the model closes the device; if Open fails, it closes the device.
func Open(path string, d npu.Device, opts ...Option) (*Model, error) {
	f, err := gguf.Open(path)
	return open(f, err, d, opts)
}

// An Option changes how a model is opened.
type Option func(*Config)

// KVCache makes sequences store keys and values as the given type. F16 is the default. Q8_0 nearly halves their memory; it
// needs heads of whole blocks of 32 numbers, and a device that knows it, which ggml's do not.
func KVCache(t npu.CacheType) Option { return func(c *Config) { c.KV = t } }

// LongContext makes a model with LongRoPE use its factors for contexts longer than the original training context. The model
// then reads short texts slightly worse. Other models are not affected.
func LongContext() Option {
	return func(c *Config) {
		if c.long != nil {
			c.Rope, c.Context, c.Long = c.long.rope, c.long.context, true
		}
	}
}

// OpenBytes is Open for a GGUF file in memory. Errors mention its name. The bytes must not change until Close.
func OpenBytes(name string, b []byte, d npu.Device, opts ...Option) (*Model, error) {
	f, err := gguf.Parse(name, b)
	return open(f, err, d, opts)
}

func open(f *gguf.File, err error, d npu.Device, opts []Option) (*Model, error) {
	if err != nil {
		d.Close()
		return nil, err
	}
	m, err := load(f, d, chunksFor(d), opts...)
	if err != nil {
		f.Close()
		return nil, err
	}
	return m, nil
}

// load makes a model on a device, with programs for these chunk sizes. On failure it closes the device.
func load(f *gguf.File, device npu.Device, chunks []int, opts ...Option) (m *Model, err error) {
	defer func() {
		if err != nil {
			device.Close()
		}
	}()
	m = &Model{file: f, device: device, chunks: chunks, base: &graphSet{}, sets: map[string]*graphSet{}}
	m.workspaces.New = func() any { return new(workspace) }
	m.fingerprint = sync.OnceValue(m.computeFingerprint)
	m.secondOnce = sync.OnceValues(m.makeSecond)
	if m.config, m.tensors, err = readTransformer(f); err != nil {
		return nil, err
	}
	for _, o := range opts {
		o(&m.config)
	}
	if c := &m.config; c.KV == npu.CacheQ8_0 && c.HeadDim%npu.CacheBlock != 0 {
		return nil, fmt.Errorf("%s: keys and values in %v need heads of a multiple of %d elements, and this model's have %d: keep them in %v",
			f.Name, c.KV, npu.CacheBlock, c.HeadDim, npu.CacheF16)
	}
	if m.tokenizer, err = tokenizer.New(f); err != nil {
		return nil, err
	}
	if m.tokenizer.Size() != m.config.Vocab {
		return nil, fmt.Errorf("%s: the tokenizer has %d tokens, but the embedding has %d rows", f.Name, m.tokenizer.Size(), m.config.Vocab)
	}
	m.template = chat.TemplateOf(f, m.tokenizer)
	if err := m.compile(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return m, nil
}

// compile compiles the model's programs.
func (m *Model) compile() error {
	for _, chunk := range m.chunks {
		p, err := compileFor(m.device, m.config.blocks(m.tensors, chunk), chunk, m.device.Traits().LayersAtOnce)
		if err != nil {
			return err
		}
		m.base.programs = append(m.base.programs, p)
	}
	m.singly = sync.OnceValues(func() (*npu.Programs, error) {
		chunk := slices.Max(m.chunks)
		return compileFor(m.device, m.config.blocks(m.tensors, chunk), chunk, 1)
	})
	m.scheduler = m.device.Traits().Scheduler
	m.keep(m.base)
	return nil
}

// Second returns the model on a group of threads of its own (see npu.Traits), for passes that run at the same time as
// m's, with sequences of their own; CopyFrom takes positions from one to the other. It returns m if the device has no
// such group. m owns what it returns.
func (m *Model) Second() (*Model, error) { return m.secondOnce() }

// SyncClocks must be called on a Second after it and its model have computed at the same time. If their device is simulated,
// the clocks of both continue from the later one.
func (m *Model) SyncClocks() {
	if sync := m.device.Traits().SyncClocks; sync != nil {
		sync()
	}
}

func (m *Model) makeSecond() (*Model, error) {
	second := m.device.Traits().Second
	if second == nil {
		return m, nil
	}
	o := &Model{config: m.config, tensors: m.tensors, tokenizer: m.tokenizer, template: m.template, device: second(), chunks: m.chunks,
		base: &graphSet{}, sets: map[string]*graphSet{}, fingerprint: m.fingerprint}
	o.workspaces.New = m.workspaces.New
	o.secondOnce = func() (*Model, error) { return o, nil }
	if err := o.compile(); err != nil {
		o.device.Close()
		return nil, err
	}
	m.second = o
	return o, nil
}

// compileFor compiles the blocks for one chunk size: the embedding, the layers in groups, and the head.
func compileFor(device npu.Device, blocks []*npu.Graph, chunk, atOnce int) (*npu.Programs, error) {
	var err error
	p := &npu.Programs{Chunk: chunk}
	atOnce, last := max(1, atOnce), len(blocks)-1
	if p.Embed, err = device.Compile(blocks[0]); err != nil {
		return nil, err
	}
	for group := range slices.Chunk(blocks[1:last], atOnce) {
		program, err := device.Compile(npu.Join(group...))
		if err != nil {
			return nil, err
		}
		p.Layers = append(p.Layers, program)
	}
	if p.Head, err = device.Compile(blocks[last]); err != nil {
		return nil, err
	}
	if atOnce >= last { // the head counts as one more layer
		p.Whole, err = device.Compile(npu.Join(blocks[1:]...))
	}
	return p, err
}

// Check reports whether a file can be opened as a model. It computes nothing. If only the header of a file is there, it
// checks names, types and shapes. Of the first of several parts it checks only the metadata.
func Check(f *gguf.File) error {
	var err error
	if parts, _ := f.Uint("split.count"); f.HeaderOnly() && parts > 1 {
		_, err = readConfig(f)
	} else {
		_, _, err = readTransformer(f)
	}
	if err == nil {
		_, err = tokenizer.New(f)
	}
	return err
}

// Close closes the device and the file. No pass may run during or after it.
func (m *Model) Close() error {
	err := m.device.Close()
	if m.second != nil {
		err = errors.Join(err, m.second.device.Close())
	}
	return errors.Join(err, m.file.Close())
}

// Config returns the hyper-parameters.
func (m *Model) Config() Config { return m.config }

// Tokenizer returns the model's tokenizer.
func (m *Model) Tokenizer() *tokenizer.Tokenizer { return m.tokenizer }

// Template returns the model's chat template, or a plain one if the file has none.
func (m *Model) Template() *chat.Template { return m.template }

// Device returns the name of the device.
func (m *Model) Device() string { return m.device.Name() }

// Graphs returns the graphs of the transformer's blocks for a chunk size, for inspection.
func (m *Model) Graphs(chunk int) []*npu.Graph { return m.config.blocks(m.tensors, chunk) }

// Fingerprint returns a hash of the model's metadata and vocabulary, of the shapes and types of its tensors, and of a
// sample of each tensor's data. KV caches are valid only for a model with the same fingerprint.
func (m *Model) Fingerprint() [32]byte { return m.fingerprint() }

func (m *Model) computeFingerprint() (sum [32]byte) {
	const sample = 512 // bytes, at the start, the middle and the end of each tensor
	h := sha256.New()
	vocabulary := m.tokenizer.Fingerprint()
	h.Write(vocabulary[:])
	for _, kv := range m.file.KVs() {
		switch kv.Value.(type) {
		case string, bool, float32, float64, uint8, int8, uint16, int16, uint32, int32, uint64, int64:
			fmt.Fprintf(h, "%q=%#v\n", kv.Key, kv.Value)
		default: // arrays: the vocabulary, hashed above, and values that do not affect results
			fmt.Fprintf(h, "%q\n", kv.Key)
		}
	}
	for _, info := range m.file.Tensors {
		t, err := m.file.Tensor(info.Name)
		if err != nil {
			continue // of a type that no model uses
		}
		fmt.Fprintf(h, "%q %v %v\n", t.Name, t.Type, info.Shape)
		n := len(t.Data)
		for _, at := range []int{0, n / 2, max(0, n-sample)} {
			h.Write(t.Data[at:min(n, at+sample)])
		}
	}
	h.Sum(sum[:0])
	return sum
}

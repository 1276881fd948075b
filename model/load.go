package model

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"tandem/model/chat"
	"tandem/model/gguf"
	"tandem/model/tokenizer"
	"tandem/npu"
	"tandem/npu/phone/plan"
	"tandem/npu/phone/sim"
)

// Options say how a model is computed.
type Options struct {
	Threads int    // how many the device may use; 0 for one on each processor
	Device  string // "native", or empty for that; others as OpenDevice knows them
	Memory  int64  // bytes that the device may hold of the weights, the rest is staged from the file; 0 for no bound
	Paging  bool   // with Memory: plain paging instead, the baseline (see npu/phone/memory)
	Phone   string // the chip whose NPU to simulate, at its pace, such as "sm8750" (see npu/phone/sim); empty for none

	// Switching is the strategy by which the phone changes from graphs for prompts to those for decoding (see
	// plan.Strategies); empty for progressive.
	Switching string
}

// Model is an open model: a transformer compiled for a device, its tokenizer and its chat template. It is
// safe for use by several goroutines, each with its own Seqs.
type Model struct {
	config    Config
	tensors   *tensors
	file      *gguf.File
	tokenizer *tokenizer.Tokenizer
	template  *chat.Template
	device    npu.Device
	phone     *sim.Device     // the simulated NPU that device is or stages weights for; nil without one
	strategy  plan.Strategy   // of the phone's changes of graphs
	programs  []chunkPrograms // by ascending chunk size
	spaces    sync.Pool       // of *space: what a Forward needs beside its programs

	fingerprint func() [32]byte
}

// chunkPrograms are the blocks compiled for one chunk size.
type chunkPrograms struct {
	chunk       int
	embed, head npu.Program
	layers      []npu.Program
	whole       npu.Program // layers and head as one, for rows that all want their logits; nil where that saves nothing
}

// chunkSizes are what programs are compiled for. Forward takes the smallest that holds the rows at hand.
var chunkSizes = []int{1, 8, 32, 128}

// chunksFor adds the chunk that the device had better compute at once, if it wants larger ones.
func chunksFor(d npu.Device) []int {
	if n := d.Traits().RowsAtOnce; n > slices.Max(chunkSizes) {
		return append(slices.Clone(chunkSizes), n)
	}
	return chunkSizes
}

// Open opens a GGUF file of architecture llama, qwen2 or opt. Errors name the key or tensor that is at fault.
// The file is mapped, not read: it must not change until Close.
func Open(path string, opt Options) (*Model, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	return open(f, opt)
}

// OpenBytes opens a GGUF file that is in memory, under a name for its errors. The bytes must not change
// until Close.
func OpenBytes(name string, b []byte, opt Options) (*Model, error) {
	f, err := gguf.ParseNamed(name, b)
	if err != nil {
		return nil, err
	}
	return open(f, opt)
}

func open(f *gguf.File, opt Options) (*Model, error) {
	strategy, err := opt.switching()
	if err != nil {
		f.Close()
		return nil, err
	}
	device, err := OpenDevice(opt.Device, opt.Threads, f.Describe().Bytes)
	var phone *sim.Device
	if err == nil && opt.Phone != "" {
		device, phone, err = simulated(device, opt.Phone, strategy)
	}
	if err == nil {
		device, err = within(device, f, opt.Memory, opt.Paging)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	m, err := load(f, device, chunksFor(device))
	if err != nil {
		f.Close()
		return nil, err
	}
	if phone != nil {
		m.phone, m.strategy, m.programs = phone, strategy, worthwhile(m.programs, phone.Costs())
	}
	return m, nil
}

// load makes a model of the file's tensors on the device, which it closes on failure.
func load(f *gguf.File, device npu.Device, chunks []int) (m *Model, err error) {
	defer func() {
		if err != nil {
			device.Close()
		}
	}()
	m = &Model{file: f, device: device}
	m.spaces.New = func() any { return new(space) }
	m.fingerprint = sync.OnceValue(m.computeFingerprint)
	if m.config, m.tensors, err = readTransformer(f); err != nil {
		return nil, err
	}
	if m.tokenizer, err = tokenizer.New(f); err != nil {
		return nil, err
	}
	if m.tokenizer.Size() != m.config.Vocab {
		return nil, fmt.Errorf("%s: the tokenizer has %d tokens, but the embedding %d rows", f.Name, m.tokenizer.Size(), m.config.Vocab)
	}
	m.template = chat.TemplateOf(f, m.tokenizer)
	for _, chunk := range chunks {
		p, err := compileFor(device, m.config.blocks(m.tensors, chunk), chunk)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		m.programs = append(m.programs, p)
	}
	return m, nil
}

// compileFor makes programs of a chunk size's blocks: the embedding, layers, the head.
func compileFor(device npu.Device, blocks []*npu.Graph, chunk int) (p chunkPrograms, err error) {
	p.chunk = chunk
	atOnce, last := max(1, device.Traits().LayersAtOnce), len(blocks)-1
	if p.embed, err = device.Compile(blocks[0]); err != nil {
		return p, err
	}
	for group := range slices.Chunk(blocks[1:last], atOnce) {
		program, err := device.Compile(npu.Join(group...))
		if err != nil {
			return p, err
		}
		p.layers = append(p.layers, program)
	}
	if p.head, err = device.Compile(blocks[last]); err != nil {
		return p, err
	}
	if atOnce >= last { // the head is as good as one more layer
		p.whole, err = device.Compile(npu.Join(blocks[1:]...))
	}
	return p, err
}

// Check says why a file could not be opened as a model, without computing anything.
func Check(f *gguf.File) error {
	_, _, err := readTransformer(f)
	if err == nil {
		_, err = tokenizer.New(f)
	}
	return err
}

// Close frees the device and the file. No Forward may run during or after it.
func (m *Model) Close() error {
	err := m.device.Close()
	if e := m.file.Close(); err == nil {
		err = e
	}
	return err
}

// Config returns the hyper-parameters.
func (m *Model) Config() Config { return m.config }

// Tokenizer returns the model's tokenizer.
func (m *Model) Tokenizer() *tokenizer.Tokenizer { return m.tokenizer }

// Template returns the model's chat template, a plain one where the file has none.
func (m *Model) Template() *chat.Template { return m.template }

// Device says what computes the model.
func (m *Model) Device() string { return m.device.Name() }

// Graphs returns the transformer's blocks for the given chunk size, to look at.
func (m *Model) Graphs(chunk int) []*npu.Graph { return m.config.blocks(m.tensors, chunk) }

// Fingerprint identifies the model: its metadata, vocabulary, tensors' shapes and types, and a sample of
// each tensor's data. KV caches are valid only for the model of the same fingerprint.
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
		default: // arrays: the vocabulary, hashed above, and what does not matter to the numbers
			fmt.Fprintf(h, "%q\n", kv.Key)
		}
	}
	for _, info := range m.file.Tensors {
		t, err := m.file.Tensor(info.Name)
		if err != nil {
			continue // readTransformer has refused tensors that matter
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

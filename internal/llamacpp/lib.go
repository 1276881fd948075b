//go:build !static && (amd64 || arm64) && (darwin || (linux && (cgo || (ggml && !android))))

//lint:file-ignore U1000 the structs have the library's layout, used or not

package llamacpp

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// The C structs of llama.h v0.5.0, with explicit padding. Load checks their sizes and some of the library's defaults.
type modelParams struct {
	devices, tensorBuftOverrides                                     uintptr
	nGPULayers, splitMode, loadMode, lazyMode, mainGPU, _            int32
	tensorSplit, progressCallback, progressData, kvOverrides         uintptr
	vocabOnly, checkTensors, useExtraBufts, noHost, noAlloc, loadMTP bool
	_                                                                [2]byte
}

type contextParams struct {
	nCtx, nBatch, nUbatch, nSeqMax, nRSSeq, nOutMax, nOutMaxSeq    uint32
	nThreads, nThreadsBatch                                        int32
	ctxType, ropeScaling, pooling, attention, flashAttn            int32
	ropeAndYarn                                                    [6]float32
	yarnOrigCtx                                                    uint32
	defrag                                                         float32
	evalCallback, evalData                                         uintptr
	typeK, typeV                                                   int32
	abort, abortData                                               uintptr
	embeddings, offloadKQV, noPerf, opOffload, swaFull, kvUnified_ bool
	_                                                              [2]byte
	samplers, nSamplers, ctxOther                                  uintptr
}

type batch struct {
	n, _                                    int32
	token, embd, pos, nSeqID, seqID, logits uintptr
}

type chatMessage struct{ role, content *byte }

type quantizeParams struct {
	threads, fileType, outputType, embeddingType                        int32
	requantize, quantizeOutput, onlyCopy, pure, keepSplit, dryRun, _, _ bool
	importance, metaOverrides, typeOverrides, prunedLayers              uintptr
}

// functions are the functions of llama.h. Their names are the C names without the prefix.
type functions struct {
	version              func() string
	backendInit          func()
	logSet               func(callback, data uintptr)
	modelDefaultParams   func() modelParams
	contextDefaultParams func() contextParams
	modelLoadFromFile    func(string, modelParams) uintptr
	modelFree            func(uintptr)
	initFromModel        func(uintptr, contextParams) uintptr
	free                 func(uintptr)
	decode               func(uintptr, batch) int32
	encode               func(uintptr, batch) int32
	getLogitsIth         func(uintptr, int32) unsafe.Pointer
	getEmbeddingsSeq     func(uintptr, int32) unsafe.Pointer
	modelGetVocab        func(uintptr) uintptr
	vocabNTokens         func(uintptr) int32
	vocabBOS, vocabEOS   func(uintptr) int32
	vocabSEP             func(uintptr) int32
	vocabGetAddBOS       func(uintptr) bool
	vocabGetAddEOS       func(uintptr) bool
	vocabGetAddSEP       func(uintptr) bool
	vocabIsEOG           func(uintptr, int32) bool
	tokenize             func(vocab uintptr, text *byte, n int32, tokens *int32, max int32, addSpecial, parseSpecial bool) int32
	tokenToPiece         func(vocab uintptr, token int32, buf *byte, n, lstrip int32, special bool) int32
	quantizeDefault      func() quantizeParams
	modelQuantize        func(in, out string, p *quantizeParams) uint32
	chatApplyTemplate    func(tmpl *byte, chat unsafe.Pointer, n uintptr, addAssistant bool, buf *byte, size int32) int32
}

// Lib is the loaded library.
type Lib struct {
	c          functions
	quantize   func(typ int32, src *float32, dst *byte, start, rows, cols int64, weights *float32) uintptr
	dequantize map[string]func(src *byte, dst *float32, n int64)

	base, ggml, llama uintptr // the loaded libraries
}

// Model is a GGUF file opened by the library.
type Model struct {
	lib   *Lib
	model uintptr
	vocab uintptr
}

// Load finds and loads the library, once per process.
var Load = sync.OnceValues(load)

func load() (*Lib, error) {
	dir, flavour, err := find()
	if err != nil {
		return nil, err
	}
	l := &Lib{}
	if err := l.openLibraries(dir, flavour); err != nil {
		return nil, err
	}
	if err := l.register(); err != nil {
		return nil, err
	}
	l.c.logSet(purego.NewCallback(func(level uintptr, text, data uintptr) uintptr { return 0 }), 0)
	if err := l.loadBackends(dir); err != nil {
		return nil, err
	}
	l.c.backendInit()
	if err := l.checkLayouts(); err != nil {
		return nil, err
	}
	return l, nil
}

// openLibraries opens the three libraries in a folder, of which each needs those before it.
func (l *Lib) openLibraries(dir, flavour string) (err error) {
	for _, lib := range []struct {
		name   string
		handle *uintptr
	}{{"ggml-base", &l.base}, {"ggml" + flavour + "." + version, &l.ggml}, {"llama" + flavour + "." + version, &l.llama}} {
		if *lib.handle, err = purego.Dlopen(filepath.Join(dir, libName(lib.name)), purego.RTLD_NOW|purego.RTLD_GLOBAL); err != nil {
			return err
		}
	}
	return nil
}

// register finds the functions of the libraries.
func (l *Lib) register() error {
	purego.RegisterLibFunc(&l.quantize, l.base, "ggml_quantize_chunk")
	l.dequantize = map[string]func(*byte, *float32, int64){}
	for _, name := range []string{"q8_0", "q4_0", "q4_K", "q5_K", "q6_K", "q5_0", "iq4_nl",
		"q4_1", "q5_1", "q2_K", "q3_K", "iq4_xs", "mxfp4"} {
		var f func(*byte, *float32, int64)
		purego.RegisterLibFunc(&f, l.base, "dequantize_row_"+name)
		l.dequantize[strings.ToUpper(name)] = f
	}
	c := &l.c
	for name, f := range map[string]any{
		"version": &c.version, "backend_init": &c.backendInit, "log_set": &c.logSet,
		"model_default_params": &c.modelDefaultParams, "context_default_params": &c.contextDefaultParams,
		"model_load_from_file": &c.modelLoadFromFile, "model_free": &c.modelFree,
		"init_from_model": &c.initFromModel, "free": &c.free, "decode": &c.decode, "get_logits_ith": &c.getLogitsIth,
		"encode": &c.encode, "get_embeddings_seq": &c.getEmbeddingsSeq,
		"model_get_vocab": &c.modelGetVocab, "vocab_n_tokens": &c.vocabNTokens, "vocab_is_eog": &c.vocabIsEOG,
		"vocab_bos": &c.vocabBOS, "vocab_eos": &c.vocabEOS, "vocab_sep": &c.vocabSEP,
		"vocab_get_add_bos": &c.vocabGetAddBOS, "vocab_get_add_eos": &c.vocabGetAddEOS, "vocab_get_add_sep": &c.vocabGetAddSEP,
		"model_quantize_default_params": &c.quantizeDefault, "model_quantize": &c.modelQuantize,
		"tokenize": &c.tokenize, "token_to_piece": &c.tokenToPiece, "chat_apply_template": &c.chatApplyTemplate,
	} {
		if _, err := purego.Dlsym(l.llama, "llama_"+name); err != nil {
			return err
		}
		purego.RegisterLibFunc(f, l.llama, "llama_"+name)
	}
	return nil
}

// loadBackends loads ggml's libraries for processors and GPUs from a folder, unless they are linked in or package npu/ggml
// has loaded them.
func (l *Lib) loadBackends(dir string) error {
	var devices func() uintptr
	purego.RegisterLibFunc(&devices, l.ggml, "ggml_backend_dev_count")
	if devices() > 0 {
		return nil
	}
	v := held(os.Getenv("GODEBUG"))
	if v == "" {
		var loadAll func(string)
		purego.RegisterLibFunc(&loadAll, l.ggml, "ggml_backend_load_all_from_path")
		loadAll(dir)
		return nil
	}
	var loadOne func(string) uintptr
	purego.RegisterLibFunc(&loadOne, l.ggml, "ggml_backend_load")
	if path := filepath.Join(dir, libName("ggml-cpu-"+v)); loadOne(path) == 0 {
		return fmt.Errorf("llama.cpp's library for processors with AVX2 alone, %s, cannot be loaded: unset GODEBUG", path)
	}
	return nil
}

// checkLayouts compares the structs with those of the library, as far as its defaults show them.
func (l *Lib) checkLayouts() error {
	mp, cp := l.c.modelDefaultParams(), l.c.contextDefaultParams()
	if unsafe.Sizeof(mp) != 80 || unsafe.Sizeof(cp) != 160 || unsafe.Sizeof(batch{}) != 56 {
		return fmt.Errorf("struct layouts do not match llama.h %s", version)
	}
	if cp.nCtx != 512 || cp.typeK != 1 || cp.typeV != 1 || mp.vocabOnly {
		return fmt.Errorf("the library's defaults do not match those of llama.h %s", version)
	}
	return nil
}

// Variant returns the variant of ggml's CPU library that is loaded, such as "zen4" or "haswell". It returns "" outside Linux
// and for libraries without variants.
func (*Lib) Variant() string { return loadedVariant("/proc/self/maps") }

// Quantize quantises one row of values to a ggml type, given by its number.
func (l *Lib) Quantize(ggmlType uint32, dst []byte, src []float32) error {
	if n := l.quantize(int32(ggmlType), &src[0], &dst[0], 0, 1, int64(len(src)), nil); n != uintptr(len(dst)) {
		return fmt.Errorf("ggml_quantize_chunk wrote %d bytes, want %d", n, len(dst))
	}
	return nil
}

// QuantizeFile quantises a model as a file type, given by its number: 15 is Q4_K_M.
func (l *Lib) QuantizeFile(in, out string, fileType uint32) error {
	p := l.c.quantizeDefault()
	if unsafe.Sizeof(p) != 56 || p.fileType != 7 || !p.quantizeOutput || p.outputType != p.embeddingType {
		return fmt.Errorf("the library's parameters of quantisation do not match those of llama.h %s", version)
	}
	p.threads, p.fileType = 1, int32(fileType)
	if code := l.c.modelQuantize(in, out, &p); code != 0 {
		return fmt.Errorf("llama_model_quantize of %s failed with %d", in, code)
	}
	return nil
}

// Dequantize dequantises blocks of a type, given by its name, such as "Q4_K".
func (l *Lib) Dequantize(name string, dst []float32, src []byte) error {
	f := l.dequantize[name]
	if f == nil {
		return fmt.Errorf("no dequantize_row for %s", name)
	}
	f(&src[0], &dst[0], int64(len(dst)))
	return nil
}

// Open opens a GGUF file as a reference for results. With vocabOnly it needs no tensors and gives no Logits.
func (l *Lib) Open(path string, vocabOnly bool) (*Model, error) {
	return l.open(path, func(p *modelParams) {
		p.vocabOnly = vocabOnly
		p.useExtraBufts = false // the plain kernels, without repacked weights, are the reference
	})
}

// OpenFast opens a GGUF file for speed. On the processor, "cpu", weights are repacked if the library can, which doubles
// the speed of Q4_0. On another device, such as "cuda0", it puts all layers there.
func (l *Lib) OpenFast(path, device string) (*Model, error) {
	if device == "cpu" {
		return l.open(path, func(*modelParams) {})
	}
	at, err := l.device(device)
	if err != nil {
		return nil, err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	list := &[2]uintptr{at}
	pin.Pin(list)
	return l.open(path, func(p *modelParams) {
		p.nGPULayers, p.splitMode, p.devices = 1<<20, 0, uintptr(unsafe.Pointer(list))
	})
}

// device returns ggml's device with a name. Upper and lower case are the same.
func (l *Lib) device(name string) (uintptr, error) {
	var count func() uintptr
	var get func(uintptr) uintptr
	var nameOf func(uintptr) string
	purego.RegisterLibFunc(&count, l.ggml, "ggml_backend_dev_count")
	purego.RegisterLibFunc(&get, l.ggml, "ggml_backend_dev_get")
	purego.RegisterLibFunc(&nameOf, l.base, "ggml_backend_dev_name")
	var have []string
	for i := range count() {
		if n := nameOf(get(i)); strings.EqualFold(n, name) {
			return get(i), nil
		} else {
			have = append(have, strings.ToLower(n))
		}
	}
	return 0, fmt.Errorf("llama.cpp has no device %s here, only %s: set TANDEM_LLAMA_PATH to the folder of a build for that device", name, strings.Join(have, ", "))
}

// noDevices is an empty list of devices, which ends with 0.
var noDevices [1]uintptr

func (l *Lib) open(path string, set func(*modelParams)) (*Model, error) {
	p := l.c.modelDefaultParams()
	// Without an empty list of devices the library would compute long prompts on a GPU, even with no layers there.
	p.nGPULayers, p.devices = 0, uintptr(unsafe.Pointer(&noDevices))
	set(&p)
	m := l.c.modelLoadFromFile(path, p)
	if m == 0 {
		return nil, fmt.Errorf("llama.cpp cannot load %s", path)
	}
	return &Model{lib: l, model: m, vocab: l.c.modelGetVocab(m)}, nil
}

// Close frees the model.
func (m *Model) Close() { m.lib.c.modelFree(m.model) }

// Size returns the number of tokens of the vocabulary.
func (m *Model) Size() int { return int(m.lib.c.vocabNTokens(m.vocab)) }

// IsEOG reports whether the token ends a generation.
func (m *Model) IsEOG(token int32) bool { return m.lib.c.vocabIsEOG(m.vocab, token) }

// Tokenize returns the ids of text.
func (m *Model) Tokenize(text string, addSpecial, parseSpecial bool) ([]int32, error) {
	b := append([]byte(text), 0)
	ids := make([]int32, len(text)+16)
	n := m.lib.c.tokenize(m.vocab, &b[0], int32(len(text)), &ids[0], int32(len(ids)), addSpecial, parseSpecial)
	if n < 0 {
		return nil, fmt.Errorf("llama_tokenize: %d", n)
	}
	return ids[:n], nil
}

// Pair returns the ids of two texts for a cross-encoder, framed as llama.cpp's server does.
func (m *Model) Pair(first, second string) ([]int32, error) {
	c, v := &m.lib.c, m.vocab
	var ids []int32
	if c.vocabGetAddBOS(v) {
		ids = append(ids, c.vocabBOS(v))
	}
	end := c.vocabEOS(v)
	if end < 0 {
		end = c.vocabSEP(v)
	}
	for i, text := range []string{first, second} {
		if i == 1 && c.vocabGetAddSEP(v) {
			ids = append(ids, c.vocabSEP(v))
		}
		of, err := m.Tokenize(text, false, false)
		if err != nil {
			return nil, err
		}
		if ids = append(ids, of...); c.vocabGetAddEOS(v) {
			ids = append(ids, end)
		}
	}
	return ids, nil
}

// Piece returns the bytes of a token, special tokens included.
func (m *Model) Piece(token int32) ([]byte, error) {
	b := make([]byte, 1024)
	n := m.lib.c.tokenToPiece(m.vocab, token, &b[0], int32(len(b)), 0, true)
	if n < 0 {
		return nil, fmt.Errorf("llama_token_to_piece: %d", n)
	}
	return b[:n], nil
}

// ApplyTemplate renders a conversation. The library does not run Jinja: it recognises the usual templates by their text
// and renders them with C code. Other templates are an error.
func (l *Lib) ApplyTemplate(template string, messages []Message, addGeneration bool) (string, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	cstr := func(s string) *byte {
		b := append([]byte(s), 0)
		pin.Pin(&b[0])
		return &b[0]
	}
	chat := make([]chatMessage, len(messages)+1)
	size := 256
	for i, m := range messages {
		chat[i] = chatMessage{cstr(m.Role), cstr(m.Content)}
		size += 4 * (len(m.Role) + len(m.Content) + 64)
	}
	buf := make([]byte, size)
	n := l.c.chatApplyTemplate(cstr(template), unsafe.Pointer(&chat[0]), uintptr(len(messages)), addGeneration, &buf[0], int32(size))
	if n < 0 || int(n) > size {
		return "", fmt.Errorf("llama_chat_apply_template: %d: not a template that the library knows", n)
	}
	return strings.Clone(string(buf[:n])), nil
}

// Embedding returns the embedding [n] of a sequence of tokens of any length, pooled as the file says. For a cross-encoder
// it has one number for each label; the first is the score.
func (m *Model) Embedding(tokens []int32, n int) ([]float32, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := m.lib.c.contextDefaultParams()
	p.nCtx, p.nBatch, p.nUbatch = uint32(max(256, len(tokens))), uint32(max(256, len(tokens))), uint32(max(256, len(tokens)))
	p.nThreads, p.nThreadsBatch = 1, 1
	p.typeK, p.typeV, p.flashAttn = 1, 1, 0
	p.embeddings, p.noPerf = true, true
	ctx := m.lib.c.initFromModel(m.model, p)
	if ctx == 0 {
		return nil, fmt.Errorf("llama_init_from_model failed")
	}
	defer m.lib.c.free(ctx)
	b, unpin := newBatch(tokens)
	defer unpin()
	if rc := m.lib.c.encode(ctx, b); rc != 0 {
		return nil, fmt.Errorf("llama_encode: %d", rc)
	}
	row := m.lib.c.getEmbeddingsSeq(ctx, 0)
	if row == nil {
		return nil, fmt.Errorf("llama_get_embeddings_seq: none")
	}
	return append([]float32(nil), unsafe.Slice((*float32)(row), n)...), nil
}

// newBatch returns a batch of the tokens of one sequence, with the results of all; unpin releases its memory.
func newBatch(tokens []int32) (b batch, unpin func()) {
	n := len(tokens)
	pos, nSeq, seqs, want := make([]int32, n), make([]int32, n), make([]*int32, n), make([]int8, n)
	zero := new(int32)
	pin := &runtime.Pinner{}
	pin.Pin(zero)
	for i := range n {
		pos[i], nSeq[i], seqs[i], want[i] = int32(i), 1, zero, 1
	}
	pin.Pin(&tokens[0])
	pin.Pin(&pos[0])
	pin.Pin(&nSeq[0])
	pin.Pin(&seqs[0])
	pin.Pin(&want[0])
	addr := func(p unsafe.Pointer) uintptr { return uintptr(p) }
	return batch{n: int32(n), token: addr(unsafe.Pointer(&tokens[0])), pos: addr(unsafe.Pointer(&pos[0])),
		nSeqID: addr(unsafe.Pointer(&nSeq[0])), seqID: addr(unsafe.Pointer(&seqs[0])), logits: addr(unsafe.Pointer(&want[0]))}, pin.Unpin
}

// Logits returns the logits after each token of a sequence. It uses an F16 KV cache, flash attention (which sums in
// float32) and one thread.
func (m *Model) Logits(tokens []int32) ([][]float32, error) { return m.LogitsWith(tokens, nil, nil) }

// PlainLogits is Logits without flash attention.
func (m *Model) PlainLogits(tokens []int32) ([][]float32, error) {
	return m.logits(tokens, nil, nil, 0)
}

// LogitsWith is Logits with adapters, each with its scale.
func (m *Model) LogitsWith(tokens []int32, adapters []*Adapter, scales []float32) ([][]float32, error) {
	return m.logits(tokens, adapters, scales, 1)
}

func (m *Model) logits(tokens []int32, adapters []*Adapter, scales []float32, flash int32) ([][]float32, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := m.lib.c.contextDefaultParams()
	p.nCtx, p.nBatch, p.nUbatch = uint32(max(256, len(tokens))), uint32(len(tokens)), uint32(len(tokens))
	p.nOutMax = uint32(len(tokens))
	p.nThreads, p.nThreadsBatch = 1, 1
	p.typeK, p.typeV, p.flashAttn = 1, 1, flash
	p.noPerf = true
	ctx := m.lib.c.initFromModel(m.model, p)
	if ctx == 0 {
		return nil, fmt.Errorf("llama_init_from_model failed")
	}
	defer m.lib.c.free(ctx)
	if len(adapters) > 0 {
		if err := m.lib.use(ctx, adapters, scales); err != nil {
			return nil, err
		}
	}

	n := len(tokens)
	b, unpin := newBatch(tokens)
	defer unpin()
	if rc := m.lib.c.decode(ctx, b); rc != 0 {
		return nil, fmt.Errorf("llama_decode: %d", rc)
	}
	vocab := m.Size()
	out := make([][]float32, n)
	for i := range out {
		row := m.lib.c.getLogitsIth(ctx, int32(i))
		if row == nil {
			return nil, fmt.Errorf("llama_get_logits_ith(%d): none", i)
		}
		out[i] = append([]float32(nil), unsafe.Slice((*float32)(row), vocab)...)
	}
	return out, nil
}

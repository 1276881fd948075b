//go:build !static && (amd64 || arm64) && (darwin || (linux && (cgo || (ggml && !android))))

package llamacpp

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// A Session decodes tokens in one context, with a pool of threads, an F16 KV cache and flash attention. It is for
// measurements of speed.
type Session struct {
	m       *Model
	ctx     uintptr
	clear   func(memory uintptr, data bool)
	copySeq func(memory uintptr, from, to, low, high int32)
	remove  func(memory uintptr, seq, low, high int32) bool
	memory  uintptr
	threads uintptr
	free    uintptr // ggml_threadpool_free
}

// NewSession makes a context for a number of sequences, each with a number of positions.
func (m *Model) NewSession(threads, positions, sequences int) (*Session, error) {
	p := m.lib.c.contextDefaultParams()
	p.nCtx, p.nBatch, p.nUbatch, p.nSeqMax = uint32(positions*sequences), 512, 512, uint32(sequences)
	p.nThreads, p.nThreadsBatch = int32(threads), int32(threads)
	p.typeK, p.typeV, p.flashAttn = 1, 1, 1
	p.noPerf = true
	s := &Session{m: m}
	if s.ctx = m.lib.c.initFromModel(m.model, p); s.ctx == 0 {
		return nil, fmt.Errorf("llama_init_from_model failed")
	}
	l := m.lib
	var getMemory func(uintptr) uintptr
	purego.RegisterLibFunc(&getMemory, l.llama, "llama_get_memory")
	purego.RegisterLibFunc(&s.clear, l.llama, "llama_memory_clear")
	purego.RegisterLibFunc(&s.copySeq, l.llama, "llama_memory_seq_cp")
	purego.RegisterLibFunc(&s.remove, l.llama, "llama_memory_seq_rm")
	s.memory = getMemory(s.ctx)
	if err := s.attachThreads(threads); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// attachThreads attaches a pool of threads. Without one, the library starts threads for every token.
func (s *Session) attachThreads(threads int) error {
	l := s.m.lib
	var byType func(int32) uintptr
	var registry func(uintptr) uintptr
	var address func(uintptr, string) uintptr
	var initParams func(*[1024]byte, int32)
	var attach func(ctx, pool, poolBatch uintptr)
	purego.RegisterLibFunc(&byType, l.ggml, "ggml_backend_dev_by_type")
	purego.RegisterLibFunc(&registry, l.base, "ggml_backend_dev_backend_reg")
	purego.RegisterLibFunc(&address, l.base, "ggml_backend_reg_get_proc_address")
	purego.RegisterLibFunc(&initParams, l.base, "ggml_threadpool_params_init")
	purego.RegisterLibFunc(&attach, l.llama, "llama_attach_threadpool")
	create := address(registry(byType(0)), "ggml_threadpool_new")
	s.free = address(registry(byType(0)), "ggml_threadpool_free")
	if create == 0 || s.free == 0 {
		return fmt.Errorf("the library has no ggml_threadpool_new and _free")
	}
	var params [1024]byte // larger than the struct
	initParams(&params, int32(threads))
	s.threads, _, _ = purego.SyscallN(create, uintptr(unsafe.Pointer(&params)))
	if s.threads == 0 {
		return fmt.Errorf("ggml_threadpool_new failed")
	}
	attach(s.ctx, s.threads, s.threads)
	return nil
}

// Close frees the context and its threads.
func (s *Session) Close() {
	s.m.lib.c.free(s.ctx)
	if s.threads != 0 {
		purego.SyscallN(s.free, s.threads)
	}
}

// Clear drops all sequences.
func (s *Session) Clear() { s.clear(s.memory, true) }

// Copy copies the sequence from to the sequence to. The library may do so in the next Decode.
func (s *Session) Copy(from, to int32) { s.copySeq(s.memory, from, to, -1, -1) }

// Truncate drops the positions of a sequence from n on. It reports whether the model's memory can do so.
func (s *Session) Truncate(seq, n int32) bool { return s.remove(s.memory, seq, n, -1) }

// Decode puts token i at position pos[i] of sequence seq[i]. It computes the logits of tokens with want[i] = 1.
func (s *Session) Decode(tokens, pos, seq []int32, want []int8) error {
	n := len(tokens)
	one, seqs := make([]int32, n), make([]*int32, n)
	var pin runtime.Pinner
	defer pin.Unpin()
	for i := range n {
		one[i], seqs[i] = 1, &seq[i]
	}
	pin.Pin(&seq[0])
	pin.Pin(&tokens[0])
	pin.Pin(&pos[0])
	pin.Pin(&one[0])
	pin.Pin(&seqs[0])
	pin.Pin(&want[0])
	addr := func(p unsafe.Pointer) uintptr { return uintptr(p) }
	b := batch{n: int32(n), token: addr(unsafe.Pointer(&tokens[0])), pos: addr(unsafe.Pointer(&pos[0])),
		nSeqID: addr(unsafe.Pointer(&one[0])), seqID: addr(unsafe.Pointer(&seqs[0])), logits: addr(unsafe.Pointer(&want[0]))}
	if rc := s.m.lib.c.decode(s.ctx, b); rc != 0 {
		return fmt.Errorf("llama_decode: %d", rc)
	}
	s.m.lib.c.getLogitsIth(s.ctx, -1) // waits for the computation
	return nil
}

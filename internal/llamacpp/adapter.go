//go:build !static && (amd64 || arm64) && (darwin || (linux && (cgo || (ggml && !android))))

package llamacpp

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// An Adapter is an adapter's file, opened for a model. It is freed with the model.
type Adapter struct{ at uintptr }

// Adapter opens an adapter in GGUF.
func (m *Model) Adapter(path string) (*Adapter, error) {
	var open func(model uintptr, path string) uintptr
	purego.RegisterLibFunc(&open, m.lib.llama, "llama_adapter_lora_init")
	at := open(m.model, path)
	if at == 0 {
		return nil, fmt.Errorf("llama.cpp cannot load the adapter %s", path)
	}
	return &Adapter{at}, nil
}

// use sets the adapters of a context.
func (l *Lib) use(ctx uintptr, adapters []*Adapter, scales []float32) error {
	var set func(ctx uintptr, adapters unsafe.Pointer, n uintptr, scales unsafe.Pointer) int32
	purego.RegisterLibFunc(&set, l.llama, "llama_set_adapters_lora")
	list := make([]uintptr, len(adapters)+1)
	for i, a := range adapters {
		list[i] = a.at
	}
	scales = append(scales[:len(adapters):len(adapters)], 0)
	rc := set(ctx, unsafe.Pointer(&list[0]), uintptr(len(adapters)), unsafe.Pointer(&scales[0]))
	runtime.KeepAlive(list)
	runtime.KeepAlive(scales)
	if rc != 0 {
		return fmt.Errorf("llama_set_adapters_lora: %d", rc)
	}
	return nil
}

// Use sets the adapters of all tokens to come, each with its scale.
func (s *Session) Use(adapters []*Adapter, scales []float32) error {
	return s.m.lib.use(s.ctx, adapters, scales)
}

package ggml

import (
	"fmt"
	"strings"
	"unsafe"
)

// ptr is the address of a C object: a context, tensor, graph, buffer or backend. Zero means none.
type ptr = uintptr

// api is the part of the libraries that this package calls, each function under its C name. No field of a C struct is read
// or written, so only signatures, numbers of enumerations and the one struct that Init passes can differ between versions.
// check.go tests those.
type api struct {
	// Init is ggml_init with the given bytes for descriptions of tensors, without their data. It passes a struct.
	Init func(size uintptr) ptr

	Version  func() string                   `c:"ggml_version"`
	LogSet   func(callback, data uintptr)    `c:"ggml_log_set"`
	Free     func(ctx ptr)                   `c:"ggml_free"`
	MemSize  func(ctx ptr) uintptr           `c:"ggml_get_mem_size"`
	UsedMem  func(ctx ptr) uintptr           `c:"ggml_used_mem"`
	NoAlloc  func(ctx ptr) bool              `c:"ggml_get_no_alloc"`
	TypeName func(t int32) string            `c:"ggml_type_name"`
	BlckSize func(t int32) int64             `c:"ggml_blck_size"`
	TypeSize func(t int32) uintptr           `c:"ggml_type_size"`
	Overhead func() uintptr                  `c:"ggml_tensor_overhead"`
	GraphMem func(n uintptr, g bool) uintptr `c:"ggml_graph_overhead_custom"`
	Bytes    func(t ptr) uintptr             `c:"ggml_nbytes"`
	Elements func(t ptr) int64               `c:"ggml_nelements"`
	OpDesc   func(t ptr) string              `c:"ggml_op_desc"`

	New1D     func(ctx ptr, typ int32, a int64) ptr                     `c:"ggml_new_tensor_1d"`
	New2D     func(ctx ptr, typ int32, a, b int64) ptr                  `c:"ggml_new_tensor_2d"`
	New3D     func(ctx ptr, typ int32, a, b, c int64) ptr               `c:"ggml_new_tensor_3d"`
	View3D    func(ctx, x ptr, a, b, c int64, nb1, nb2, at uintptr) ptr `c:"ggml_view_3d"`
	Reshape2D func(ctx, x ptr, a, b int64) ptr                          `c:"ggml_reshape_2d"`
	Reshape3D func(ctx, x ptr, a, b, c int64) ptr                       `c:"ggml_reshape_3d"`
	Permute   func(ctx, x ptr, a, b, c, d int32) ptr                    `c:"ggml_permute"`
	Cont      func(ctx, x ptr) ptr                                      `c:"ggml_cont"`
	Cpy       func(ctx, from, to ptr) ptr                               `c:"ggml_cpy"`
	GetRows   func(ctx, from, rows ptr) ptr                             `c:"ggml_get_rows"`
	SetInput  func(x ptr)                                               `c:"ggml_set_input"`
	SetOutput func(x ptr)                                               `c:"ggml_set_output"`

	RMSNorm    func(ctx, x ptr, eps float32) ptr                                                                          `c:"ggml_rms_norm"`
	Norm       func(ctx, x ptr, eps float32) ptr                                                                          `c:"ggml_norm"`
	Mul        func(ctx, a, b ptr) ptr                                                                                    `c:"ggml_mul"`
	Add        func(ctx, a, b ptr) ptr                                                                                    `c:"ggml_add"`
	MulMat     func(ctx, w, x ptr) ptr                                                                                    `c:"ggml_mul_mat"`
	SwiGLU     func(ctx, gate, up ptr) ptr                                                                                `c:"ggml_swiglu_split"`
	GeGLU      func(ctx, gate, up ptr) ptr                                                                                `c:"ggml_geglu_split"`
	GELU       func(ctx, x ptr) ptr                                                                                       `c:"ggml_gelu"`
	Tanh       func(ctx, x ptr) ptr                                                                                       `c:"ggml_tanh"`
	Concat     func(ctx, a, b ptr, dim int32) ptr                                                                         `c:"ggml_concat"`
	Scale      func(ctx, x ptr, by float32) ptr                                                                           `c:"ggml_scale"`
	ReLU       func(ctx, x ptr) ptr                                                                                       `c:"ggml_relu"`
	SetRows    func(ctx, dst, src, rows ptr) ptr                                                                          `c:"ggml_set_rows"`
	FlashAttn  func(ctx, q, k, v, mask ptr, scale, bias, softcap float32) ptr                                             `c:"ggml_flash_attn_ext"`
	FlashPrec  func(x ptr, prec int32)                                                                                    `c:"ggml_flash_attn_ext_set_prec"`
	SoftMax    func(ctx, x, mask ptr, scale, bias float32) ptr                                                            `c:"ggml_soft_max_ext"`
	Rope       func(ctx, x, pos, factors ptr, dims, mode, original int32, base, scale, ext, attn, fast, slow float32) ptr `c:"ggml_rope_ext"`
	NewGraph   func(ctx ptr, size uintptr, grads bool) ptr                                                                `c:"ggml_new_graph_custom"`
	Expand     func(graph, x ptr)                                                                                         `c:"ggml_build_forward_expand"`
	GraphNodes func(graph ptr) int32                                                                                      `c:"ggml_graph_n_nodes"`
	GraphNode  func(graph ptr, i int32) ptr                                                                               `c:"ggml_graph_node"`

	PoolInit func(params unsafe.Pointer, n int32)                  `c:"ggml_threadpool_params_init"`
	LoadAll  func(dir string)                                      `c:"ggml_backend_load_all_from_path"`
	Devs     func() uintptr                                        `c:"ggml_backend_dev_count"`
	DevGet   func(i uintptr) ptr                                   `c:"ggml_backend_dev_get"`
	DevName  func(dev ptr) string                                  `c:"ggml_backend_dev_name"`
	DevDesc  func(dev ptr) string                                  `c:"ggml_backend_dev_description"`
	DevType  func(dev ptr) int32                                   `c:"ggml_backend_dev_type"`
	DevMem   func(dev ptr, free, total *uintptr)                   `c:"ggml_backend_dev_memory"`
	DevInit  func(dev ptr, params uintptr) ptr                     `c:"ggml_backend_dev_init"`
	DevReg   func(dev ptr) ptr                                     `c:"ggml_backend_dev_backend_reg"`
	DevBuft  func(dev ptr) ptr                                     `c:"ggml_backend_dev_buffer_type"`
	DevHost  func(dev ptr) ptr                                     `c:"ggml_backend_dev_host_buffer_type"`
	DevCan   func(dev, op ptr) bool                                `c:"ggml_backend_dev_supports_op"`
	Proc     func(reg ptr, name string) ptr                        `c:"ggml_backend_reg_get_proc_address"`
	End      func(backend ptr)                                     `c:"ggml_backend_free"`
	Sync     func(backend ptr)                                     `c:"ggml_backend_synchronize"`
	Compute  func(backend, graph ptr) int32                        `c:"ggml_backend_graph_compute_async"`
	Set      func(backend, x ptr, p unsafe.Pointer, at, n uintptr) `c:"ggml_backend_tensor_set_async"`
	Get      func(backend, x ptr, p unsafe.Pointer, at, n uintptr) `c:"ggml_backend_tensor_get_async"`

	AllocCtx    func(ctx, buft ptr) ptr               `c:"ggml_backend_alloc_ctx_tensors_from_buft"`
	BufAlloc    func(buft ptr, n uintptr) ptr         `c:"ggml_backend_buft_alloc_buffer"`
	BufBase     func(buf ptr) ptr                     `c:"ggml_backend_buffer_get_base"`
	BufFree     func(buf ptr)                         `c:"ggml_backend_buffer_free"`
	BufClear    func(buf ptr, v uint8)                `c:"ggml_backend_buffer_clear"`
	BufUsage    func(buf ptr, usage int32)            `c:"ggml_backend_buffer_set_usage"`
	BuftMost    func(buft ptr) uintptr                `c:"ggml_backend_buft_get_max_size"`
	BuftSize    func(buft, x ptr) uintptr             `c:"ggml_backend_buft_get_alloc_size"`
	FromPtr     func(p unsafe.Pointer, n uintptr) ptr `c:"ggml_backend_cpu_buffer_from_ptr"`
	TensorAlloc func(buf, x, at ptr) int32            `c:"ggml_backend_tensor_alloc"`
	GallocNew   func(buft ptr) ptr                    `c:"ggml_gallocr_new"`
	GallocKeep  func(g, graph ptr) bool               `c:"ggml_gallocr_reserve"`
	Galloc      func(g, graph ptr) bool               `c:"ggml_gallocr_alloc_graph"`
	GallocSize  func(g ptr, i int32) uintptr          `c:"ggml_gallocr_get_buffer_size"`
	GallocFree  func(g ptr)                           `c:"ggml_gallocr_free"`

	// bind is for functions that only a backend provides, by Proc.
	bind func(f any, p ptr) // makes the function at p callable as *f
}

// kinds are the types of devices in the order of ggml's numbers.
var kinds = []string{"cpu", "gpu", "integrated gpu", "accelerator", "several"}

func kind(t int32) string {
	if t >= 0 && int(t) < len(kinds) {
		return kinds[t]
	}
	return fmt.Sprintf("type %d", t)
}

// devices lists what the libraries offer.
func (a *api) devices() []Info {
	list := []Info{}
	for i := range a.Devs() {
		dev := a.DevGet(i)
		var free, total uintptr
		a.DevMem(dev, &free, &total)
		list = append(list, Info{Name: strings.ToLower(a.DevName(dev)), Description: a.DevDesc(dev),
			Kind: kind(a.DevType(dev)), Free: uint64(free), Total: uint64(total)})
	}
	return list
}

// lib is the loaded library. If loading failed, it is nil or contains only the report.
type lib struct {
	api    api
	report Report
}

package ggml

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"tandem/npu"
)

// fake is a library that passes checkTypes.
func fake() *api {
	contexts := map[ptr]uintptr{}
	elements := map[ptr]int64{}
	next := ptr(0)
	tensor := func(n ...int64) ptr {
		next++
		elements[next] = 1
		for _, k := range n {
			elements[next] *= k
		}
		return next
	}
	known := func(t int32) npu.DType {
		for _, d := range slices.Concat(npu.DTypes, npu.ReadOnly) {
			if int32(d) == t {
				return d
			}
		}
		return npu.F32
	}
	return &api{
		Init:     func(size uintptr) ptr { next++; contexts[next] = size; return next },
		Free:     func(ptr) {},
		MemSize:  func(c ptr) uintptr { return contexts[c] },
		UsedMem:  func(ptr) uintptr { return 0 },
		NoAlloc:  func(ptr) bool { return true },
		Overhead: func() uintptr { return 368 },
		TypeName: func(t int32) string {
			switch t {
			case i32Type:
				return "i32"
			case i64Type:
				return "i64"
			}
			return strings.ToLower(known(t).String())
		},
		BlckSize:  func(t int32) int64 { return int64(known(t).BlockSize()) },
		TypeSize:  func(t int32) uintptr { return uintptr(known(t).BlockBytes()) },
		New2D:     func(_ ptr, _ int32, a, b int64) ptr { return tensor(a, b) },
		View3D:    func(_, _ ptr, a, b, c int64, _, _, _ uintptr) ptr { return tensor(a, b, c) },
		Reshape2D: func(_, _ ptr, a, b int64) ptr { return tensor(a, b) },
		Reshape3D: func(_, _ ptr, a, b, c int64) ptr { return tensor(a, b, c) },
		Permute:   func(_, x ptr, _, _, _, _ int32) ptr { return x },
		Elements:  func(x ptr) int64 { return elements[x] },
		Bytes:     func(x ptr) uintptr { return uintptr(4 * elements[x]) },
	}
}

// A library whose structs or types differ from the expected ones is refused, and the error names its version.
func TestOtherTypesAreRefused(t *testing.T) {
	if err := fake().checkTypes("9.9"); err != nil {
		t.Fatalf("a matching library: %v", err)
	}
	for name, change := range map[string]func(a *api){
		"another struct for ggml_init": func(a *api) { a.MemSize = func(ptr) uintptr { return 1 } },
		"no_alloc at another offset":   func(a *api) { a.NoAlloc = func(ptr) bool { return false } },
		"no context":                   func(a *api) { a.Init = func(uintptr) ptr { return 0 } },
		"huge tensors":                 func(a *api) { a.Overhead = func() uintptr { return 1 << 20 } },
		"types renumbered": func(a *api) {
			was := a.TypeName
			a.TypeName = func(t int32) string { return was(t + 1) }
		},
		"other blocks": func(a *api) { a.TypeSize = func(int32) uintptr { return 3 } },
		"int64 renumbered": func(a *api) {
			was := a.TypeName
			a.TypeName = func(t int32) string {
				if t == i64Type {
					return "f64"
				}
				return was(t)
			}
		},
		"other views": func(a *api) { a.View3D = func(_, x ptr, _, _, _ int64, _, _, _ uintptr) ptr { return x } },
		"other sizes": func(a *api) { a.Bytes = func(ptr) uintptr { return 0 } },
		"other shapes": func(a *api) {
			a.Reshape2D = func(_, _ ptr, _, _ int64) ptr { return 0 }
		},
	} {
		a := fake()
		change(a)
		if err := a.checkTypes("9.9"); err == nil || !strings.Contains(err.Error(), "version 9.9") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// otherProducts makes products with weights of one type 2 % too large.
func otherProducts(a *api, typ npu.DType) {
	types := map[ptr]npu.DType{}
	create, was := a.New2D, a.MulMat
	a.New2D = func(ctx ptr, t int32, cols, rows int64) ptr {
		x := create(ctx, t, cols, rows)
		types[x] = npu.DType(t)
		return x
	}
	a.MulMat = func(ctx, w, x ptr) ptr {
		if types[w] == typ {
			x = a.Scale(ctx, x, 1.02)
		}
		return was(ctx, w, x)
	}
}

// The real library passes. With an operation that computes something else it is refused.
func TestOtherResultsAreRefused(t *testing.T) {
	need(t, 1)
	l, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(a *api){
		"nothing": func(*api) {},
		"the other pairs rotated": func(a *api) {
			was := a.Rope
			a.Rope = func(ctx, x, pos, factors ptr, dims, mode, original int32, base, scale, ext, attn, fast, slow float32) ptr {
				return was(ctx, x, pos, factors, dims, 2-mode, original, base, scale, ext, attn, fast, slow)
			}
		},
		"no frequency factors": func(a *api) {
			was := a.Rope
			a.Rope = func(ctx, x, pos, factors ptr, dims, mode, original int32, base, scale, ext, attn, fast, slow float32) ptr {
				return was(ctx, x, pos, 0, dims, mode, original, base, scale, ext, attn, fast, slow)
			}
		},
		"gate and up exchanged": func(a *api) {
			was := a.SwiGLU
			a.SwiGLU = func(ctx, gate, up ptr) ptr { return was(ctx, up, gate) }
		},
		"another scale in fused attention": func(a *api) {
			was := a.FlashAttn
			a.FlashAttn = func(ctx, q, k, v, mask ptr, scale, bias, softcap float32) ptr {
				return was(ctx, q, k, v, mask, 1, bias, softcap)
			}
		},
		"no mask": func(a *api) {
			was := a.SoftMax
			a.SoftMax = func(ctx, x, mask ptr, scale, bias float32) ptr { return was(ctx, x, 0, scale, bias) }
		},
		"another scale": func(a *api) {
			was := a.Scale
			a.Scale = func(ctx, x ptr, by float32) ptr { return was(ctx, x, 2*by) }
		},
		"other products of Q4_0": func(a *api) { otherProducts(a, npu.Q4_0) },
		"other products of Q8_0": func(a *api) { otherProducts(a, npu.Q8_0) },
		"other keys stored": func(a *api) {
			was := a.SetRows
			a.SetRows = func(ctx, dst, src, rows ptr) ptr { return was(ctx, dst, a.ReLU(ctx, src), rows) }
		},
	} {
		a := l.api
		change(&a)
		err := a.checkResults("9.9")
		if name == "nothing" && err != nil || name != "nothing" && (err == nil || !strings.Contains(err.Error(), "version 9.9")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every device agrees with native up to rounding. A device that computes something else is refused by name.
func TestCheck(t *testing.T) { each(t, 1, testCheck) }

func testCheck(t *testing.T, d *Device) {
	off, lacks, err := d.check()
	bound := 0.005
	if !d.cpu {
		bound *= gpuFactor
	}
	if err != nil || !(off < bound) || len(lacks) > 0 {
		t.Errorf("off by %v, lacks %v, %v", off, lacks, err)
	}
	t.Logf("off by %.2g", off)
	a := *d.api
	d.api = &a
	was, can := a.SwiGLU, a.DevCan
	a.SwiGLU = func(ctx, gate, up ptr) ptr { return was(ctx, up, gate) }
	if _, _, err := d.check(); !errors.Is(err, ErrWrong) || !strings.Contains(err.Error(), d.which) {
		t.Errorf("gate and up exchanged: %v", err)
	}
	a.SwiGLU = was
	a.DevCan = func(dev, op ptr) bool { return can(dev, op) && (a.OpDesc(op) != "MUL_MAT" || a.Elements(op) != 5*256) }
	if _, lacks, err := d.check(); err != nil || len(lacks) != len(npu.DTypes) {
		t.Errorf("without products of five rows: lacks %v, %v", lacks, err)
	}
}

// Fused attention is checked with heads of a width that GPUs fuse.
func TestCheckDeep(t *testing.T) {
	d := need(t, 1)
	off, err := d.checkDeep()
	if err != nil || !(off < deepBound) {
		t.Errorf("off by %v, %v", off, err)
	}
	t.Logf("off by %.2g", off)
	a := *d.api
	d.api = &a
	was, fused := a.FlashAttn, 0
	a.FlashAttn = func(ctx, q, k, v, mask ptr, scale, bias, softcap float32) ptr {
		if a.Elements(q) > 4*4*16 { // of the wide heads
			fused++
			scale /= 4
		}
		return was(ctx, q, k, v, mask, scale, bias, softcap)
	}
	d.cpu = false // a GPU's check includes it
	if _, _, err := d.check(); !errors.Is(err, ErrWrong) || !strings.Contains(err.Error(), "four layers") || fused == 0 {
		t.Errorf("another scale of %d fused attentions: %v", fused, err)
	}
}

// A result that is wrong only sometimes is found.
func TestCheckDeepRepeats(t *testing.T) {
	d := need(t, 1)
	a, was := *d.api, *d.api
	runs := 0
	a.Get = func(backend, x ptr, p unsafe.Pointer, at, n uintptr) {
		was.Get(backend, x, p, at, n)
		if n == 4*4*64 { // the result of one row
			if runs++; runs == 12 {
				*(*float32)(p) += 10
			}
		}
	}
	d.api = &a
	if off, err := d.checkDeep(); !errors.Is(err, ErrWrong) {
		t.Errorf("off by %v in one of %d runs, %v", off, runs, err)
	}
}

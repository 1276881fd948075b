//go:build !amd64 && !arm64

package native

func bestKernels() *kernels { return &plainKernels }

func allKernels() []*kernels { return []*kernels{&plainKernels} }

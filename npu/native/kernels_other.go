//go:build !amd64

package native

func bestKernels() *kernels { return &plainKernels }

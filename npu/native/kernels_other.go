//go:build !amd64 && !arm64

package native

func available() []*kernels { return []*kernels{&plainKernels} }

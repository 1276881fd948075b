//go:build !unix

package native

// allocate returns memory for weights.
func allocate(n int) (memory []byte, free func([]byte)) { return align64(nil, n), nil }

func adviseHuge([]byte) {}

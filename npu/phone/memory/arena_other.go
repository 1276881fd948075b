//go:build !unix

package memory

func mapMemory(bytes int) ([]byte, error) { return make([]byte, bytes), nil }

func unmapMemory([]byte) error { return nil }

//go:build !linux && !darwin

package retrieval

func bound(uint64) {}

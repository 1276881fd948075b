//go:build !linux && !darwin

package documents

func bound(uint64) {}

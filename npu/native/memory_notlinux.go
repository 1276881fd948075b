//go:build unix && !linux

package native

func adviseHuge([]byte) {}

//go:build unix && !linux

package native

func adviseHuge([]byte) {}

func memoryLeft() (left, all int64, known bool) { return 0, 0, false }

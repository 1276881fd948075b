//go:build npucheck

package memory

// checking: see check_off.go.
const checking = true

//go:build amd64 && !linux

package native

// allowTiles reports false: elsewhere it was not tried.
func allowTiles() bool { return false }

//go:build !npucheck

package memory

// checking is on in builds with the tag npucheck: weights are compared with their source before each use
// and with themselves after it, and places that are given up are overwritten.
const checking = false

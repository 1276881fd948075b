//go:build !npucheck

package memory

// checking is on in builds with the tag npucheck. Then weights are compared with their source before each use and after
// it, and places are overwritten before they are filled.
const checking = false

package ground

import "bytes"

// A text loops if it ends with several copies of a short piece.
const (
	copies        = 4
	shortestPiece = 3 // bytes
	longestPiece  = 96
)

// Loops reports whether a text ends in a repetition.
func Loops(text []byte) bool {
	for n := shortestPiece; n <= longestPiece && n*copies <= len(text); n++ {
		end := text[len(text)-n*copies:]
		if bytes.Equal(end[n:], end[:len(end)-n]) {
			return true
		}
	}
	return false
}

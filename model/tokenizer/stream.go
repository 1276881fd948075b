package tokenizer

import (
	"unicode/utf8"

	"tandem"
)

// A Stream turns tokens into text as they arrive. What it returns is always complete UTF-8: the bytes of
// a character that is split over tokens are held back until the last one is there. The zero Stream is
// not usable; call Tokenizer.Stream.
type Stream struct {
	t     *Tokenizer
	held  []byte
	strip bool
}

// Stream begins a new text. All that it returns, put together, is the tokens' Decode, with U+FFFD for
// bytes that are no UTF-8.
func (t *Tokenizer) Stream() *Stream { return &Stream{t: t, strip: t.stripSpace} }

// Write returns the text that the token completes, often empty for part of a character.
func (s *Stream) Write(id tandem.Token) string {
	if !s.t.valid(id) || s.t.IsControl(id) {
		return ""
	}
	s.held = append(s.held, s.t.strip(id, &s.strip)...)
	var out []byte
	for len(s.held) > 0 && utf8.FullRune(s.held) {
		r, n := utf8.DecodeRune(s.held)
		out = utf8.AppendRune(out, r)
		s.held = s.held[n:]
	}
	return string(out)
}

// Flush returns what is left at the end: U+FFFD for each byte of a character that was not finished.
func (s *Stream) Flush() string {
	out := string([]rune(string(s.held)))
	s.held = nil
	return out
}

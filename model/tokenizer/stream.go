package tokenizer

import (
	"unicode/utf8"

	"tandem"
)

// A Stream decodes tokens as they arrive. It returns complete characters: it holds back the bytes of a character that
// several tokens share until the last one arrives. Tokenizer.Stream makes one.
type Stream struct {
	t     *Tokenizer
	held  []byte
	strip bool
}

// Stream starts a new text. All that the Stream returns together equals Decode, with U+FFFD for bytes that are not
// UTF-8.
func (t *Tokenizer) Stream() *Stream { return &Stream{t: t, strip: t.stripSpace} }

// Write returns the text that the token completes. It is empty if the token ends within a character.
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

// Flush ends the text. It returns U+FFFD for each byte of an incomplete character.
func (s *Stream) Flush() string {
	out := string([]rune(string(s.held)))
	s.held = nil
	return out
}

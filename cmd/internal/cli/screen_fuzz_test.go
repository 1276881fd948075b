package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// No text that is printed controls a terminal, and JSON says the same as before.
func FuzzEscape(f *testing.F) {
	for _, text := range []string{"plain", "a\x1b[2Jb\r\n\tc", "\u009b31m\u202e\u2066", "\xff\x9b", "é漢\U0001f600\u2028\u200f"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		obeys := func(allowed string) func(rune) bool {
			return func(r rune) bool {
				return (unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069') && !strings.ContainsRune(allowed, r)
			}
		}
		for _, c := range []struct{ name, out, allowed string }{
			{"Escape", Escape(text), ""}, {"EscapeLines", EscapeLines(text), "\n"}, {"StripControls", StripControls(text), "\n\t"},
		} {
			if strings.ContainsFunc(c.out, obeys(c.allowed)) || c.name != "StripControls" && !utf8.ValidString(c.out) {
				t.Errorf("%s: %q", c.name, c.out)
			}
		}
		var out bytes.Buffer
		if err := (&Screen{Out: &out}).JSONLine(text); err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != strings.ToValidUTF8(text, "\ufffd") && utf8.ValidString(text) {
			t.Errorf("%q: %v", back, err)
		}
		if strings.ContainsFunc(out.String(), obeys("\n")) {
			t.Errorf("JSON: %q", out.String())
		}
	})
}

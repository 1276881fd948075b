package hub

import "testing"

// A file's name that leads out of its repository is refused before anything is asked for.
func TestRefStaysInside(t *testing.T) {
	for _, s := range []string{"hf:a/b:../../../c", "hf:a/b:/etc/passwd/x", "hf:a/b:x/../y", `hf:a/b:x\y`} {
		if r, err := ParseRef(s); err == nil {
			t.Errorf("%s: %+v", s, r)
		}
	}
	for _, s := range []string{"hf:a/b:q4_k_m", "hf:a/b:sub/model.gguf", "hf:a/b"} {
		if _, err := ParseRef(s); err != nil {
			t.Error(err)
		}
	}
}

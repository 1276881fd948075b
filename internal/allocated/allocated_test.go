package allocated

import "testing"

var kept []byte

func TestBytes(t *testing.T) {
	first := true
	got := Bytes(func() {
		kept = make([]byte, 1<<16)
		if first {
			first, kept = false, make([]byte, 1<<20)
		}
	})
	if got < 1<<16 || got > 1<<17 {
		t.Errorf("%d bytes", got)
	}
}

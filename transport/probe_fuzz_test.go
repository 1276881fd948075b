package transport

import (
	"bytes"
	"testing"
)

// Anybody may answer a probe, as it asks no key. Only a packet that repeats both IDs, in each other's place, is an answer.
func FuzzProbed(f *testing.F) {
	to, from := []byte("12345678"), []byte("abcdefgh")
	answer := bytes.Join([][]byte{{0x80, 0, 0, 0, 0, probeID}, from, {probeID}, to, {0, 0, 0, 1}}, nil)
	f.Add(answer)
	f.Add(answer[:len(answer)-4])
	f.Add(append([]byte{0xc0}, answer[1:]...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		try, ok := probed(b, to, from)
		if !ok {
			return
		}
		own := append(bytes.Clone(from[:probeID-1]), try)
		if !bytes.Equal(b[6:6+probeID], own) || !bytes.Equal(b[7+probeID:7+2*probeID], to) {
			t.Errorf("%x is taken for an answer", b)
		}
	})
}

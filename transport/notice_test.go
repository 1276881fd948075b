package transport

import (
	"encoding/binary"
	"testing"
	"time"
)

// A peer of an earlier version takes a notice for an echo, and ignores it: no answer, no measurement.
func TestOldPeersIgnoreNotices(t *testing.T) {
	for _, id := range []uint64{0, 1, 4, 127, 128, 1 << 40} {
		for _, before := range []int{0, 1, 127, 128, maxBefore} {
			b := binary.AppendUvarint(binary.AppendUvarint([]byte{notice}, id), uint64(before))
			if got, n, ok := readNotice(b); !ok || got != id || n != before {
				t.Fatalf("%d, %d: %d, %d, %v", id, before, got, n, ok)
			}
			var l link
			now := time.Now()
			for range 3 { // pings wait for their answers
				l.nonce++
				l.pinged[l.nonce%uint64(len(l.pinged))] = now
			}
			if l.echo(b, now.Add(time.Second)) || l.smooth != 0 || len(l.pongs) != 0 {
				t.Errorf("%d, %d: an earlier version obeys %x", id, before, b)
			}
		}
	}
}

func FuzzNotice(f *testing.F) {
	f.Add([]byte{notice, 4, 3})
	f.Add([]byte{notice, 0xff, 0xff, 0xff, 0xff, 0x0f, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, before, ok := readNotice(b); ok && (before < 0 || before > maxBefore) {
			t.Errorf("%x: %d", b, before)
		}
	})
}

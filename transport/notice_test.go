package transport

import (
	"testing"
	"time"
)

// A peer of an earlier version takes a notice for an echo, and ignores it: no answer, no measurement.
func TestOldPeersIgnoreNotices(t *testing.T) {
	for _, id := range []uint64{0, 1, 4, 127, 128, 1 << 40} {
		for _, before := range []int{0, 1, 127, 128, maxBefore} {
			want := Busy{before, time.Duration(before) * 7 * tenth}
			b := appendBusy(nil, id, want)[1:]
			if want.About = min(want.About, maxAbout); want.About < 0 {
				t.Fatal("an overflow")
			}
			if got, m := readNotice(b); got != id || m != want {
				t.Fatalf("%d, %v: %d, %v", id, want, got, m)
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

// The same holds for the notice of a cloud that is about to end.
func TestOldPeersIgnoreLeaving(t *testing.T) {
	for _, id := range []uint64{0, 1, 2, 127, 128, 1 << 40} {
		b := appendLeaving(nil, id)[1:]
		if got, m := readNotice(b); got != id || m != (Leaving{}) {
			t.Errorf("%d: %d, %v", id, got, m)
		}
		l := link{nonce: id}
		for i := range l.pinged {
			l.pinged[i] = time.Now()
		}
		if l.echo(b, time.Now().Add(time.Second)) || l.smooth != 0 {
			t.Errorf("%d: an earlier version obeys %x", id, b)
		}
	}
}

func FuzzNotice(f *testing.F) {
	f.Add([]byte{noticeBusy, 4, 3, 200, 1})
	f.Add([]byte{noticeLeaving, 4, 0})
	f.Add([]byte{noticeBusy, 0xff, 0xff, 0xff, 0xff, 0x0f, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		_, m := readNotice(b)
		if busy, ok := m.(Busy); ok && (busy.Before < 0 || busy.Before > maxBefore || busy.About < 0 || busy.About > maxAbout) {
			t.Errorf("%x: %v", b, busy)
		}
	})
}

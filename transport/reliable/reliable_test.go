package reliable

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// limit is the size of a datagram.
const limit = 1150

// wire connects two Flows by a path that loses and reorders datagrams, and by streams that do neither.
type wire struct {
	rng      *rand.Rand
	loss     float64
	delay    time.Duration
	jitter   time.Duration
	now      time.Time
	ends     [2]Flow
	seq      [2]uint64
	inFlight []packet
	got      [2][]string
	sent     [2]int // datagrams
}

type packet struct {
	to     int
	at     time.Time
	data   []byte // a datagram without its id
	seq    uint64 // or a stream message
	stream []byte
}

func (w *wire) rtt() time.Duration { return 2 * w.delay }

// send sends the next message of end, whose body is its number, by datagram or by stream.
func (w *wire) send(end int, stream bool) {
	seq := w.seq[end]
	w.seq[end]++
	body := fmt.Appendf(nil, "%d", seq)
	if stream {
		w.stream(end, seq, body)
	} else {
		w.ends[end].Push(seq, body)
	}
	if w.ends[end].Span(w.seq[end]) >= Window/2 {
		for _, m := range w.ends[end].Withdraw() {
			w.stream(end, m.Seq, m.Frame)
		}
	}
	w.flush()
}

func (w *wire) stream(end int, seq uint64, body []byte) {
	at := w.now.Add(w.delay)
	for _, p := range w.inFlight { // streams keep their order and repair losses with a delay
		if p.to == 1-end && p.stream != nil && p.at.After(at) {
			at = p.at
		}
	}
	if w.rng.Float64() < w.loss {
		at = at.Add(3 * w.delay)
	}
	w.inFlight = append(w.inFlight, packet{to: 1 - end, at: at, seq: seq, stream: body})
}

// flush sends the datagrams that are due.
func (w *wire) flush() {
	for end := range w.ends {
		for {
			b := w.ends[end].Pack(0, w.now, w.rtt(), 200)
			if b == nil {
				break
			}
			w.sent[end]++
			if w.rng.Float64() < w.loss {
				continue
			}
			at := w.now.Add(w.delay + time.Duration(w.rng.Int64N(int64(w.jitter)+1)))
			w.inFlight = append(w.inFlight, packet{to: 1 - end, at: at, data: b[1:]})
		}
	}
}

// step advances to the next event, but not beyond limit.
func (w *wire) step(limit time.Time) error {
	next, which := limit, -1
	for i, p := range w.inFlight {
		if p.at.Before(next) {
			next, which = p.at, i
		}
	}
	for end := range w.ends {
		if at := w.ends[end].Deadline(w.now, w.rtt()); !at.IsZero() && at.Before(next) {
			next, which = at, -1
		}
	}
	if next.After(w.now) {
		w.now = next
	}
	if which >= 0 {
		p := w.inFlight[which]
		w.inFlight = append(w.inFlight[:which], w.inFlight[which+1:]...)
		end := &w.ends[p.to]
		var err error
		if p.stream != nil {
			err = end.Insert(p.seq, p.stream)
		} else {
			err = end.Receive(p.data, w.now, w.rng.Float64() < 0.9) // sometimes the application falls behind
		}
		if err != nil {
			return err
		}
		for frame, ok := end.Take(); ok; frame, ok = end.Take() {
			w.got[p.to] = append(w.got[p.to], string(frame))
		}
	}
	w.flush()
	return nil
}

// All messages arrive once and in order, whatever datagrams are lost, late or reordered. Then nothing more is sent.
func TestFlowDelivers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &wire{
			rng:    rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)),
			loss:   rapid.Float64Range(0, 0.6).Draw(t, "loss"),
			delay:  time.Duration(rapid.IntRange(0, 200).Draw(t, "delay")) * time.Millisecond,
			jitter: time.Duration(rapid.IntRange(0, 100).Draw(t, "jitter")) * time.Millisecond,
			now:    time.Unix(1000, 0),
		}
		streams := rapid.Float64Range(0, 0.5).Draw(t, "streams")
		n := rapid.IntRange(1, 700).Draw(t, "messages")
		gap := time.Duration(rapid.IntRange(0, 40).Draw(t, "gap")) * time.Millisecond
		for range n {
			w.send(w.rng.IntN(2), w.rng.Float64() < streams)
			for until := w.now.Add(gap); w.now.Before(until); {
				if err := w.step(until); err != nil {
					t.Fatal(err)
				}
			}
		}
		end := w.now.Add(10 * time.Minute)
		for w.now.Before(end) {
			if err := w.step(end); err != nil {
				t.Fatal(err)
			}
		}
		for from := range w.ends {
			got := w.got[1-from]
			if len(got) != int(w.seq[from]) {
				t.Fatalf("%d of %d messages arrived", len(got), w.seq[from])
			}
			for i, m := range got {
				if m != fmt.Sprint(i) {
					t.Fatalf("message %d is %q", i, m)
				}
			}
			f := &w.ends[from]
			if len(f.flights) > 0 || !f.Deadline(w.now, w.rtt()).IsZero() || f.held != 0 || len(f.early) > 0 {
				t.Fatalf("not silent at the end: %+v", f)
			}
		}
	})
}

// A lost datagram is repaired by the next message, long before any timer.
func TestFlowNextMessageRepairs(t *testing.T) {
	var a, b Flow
	now, rtt := time.Unix(1000, 0), 100*time.Millisecond
	a.Push(0, []byte("one"))
	if a.Pack(4, now, rtt, limit) == nil {
		t.Fatal("nothing to send")
	} // lost
	if d := a.Pack(4, now.Add(copyAfter-1), rtt, limit); d != nil {
		t.Fatalf("sent %x again at once", d)
	}
	a.Push(1, []byte("two"))
	d := a.Pack(4, now.Add(copyAfter-1), rtt, limit)
	if err := b.Receive(d[1:], now, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two"} {
		if got, ok := b.Take(); !ok || string(got) != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	if a.repeats != 1 || a.resends != 0 {
		t.Errorf("%d repeats, %d resends", a.repeats, a.resends)
	}
	// The acknowledgement goes out alone if there is no message to carry it, and silences the sender.
	if d := b.Pack(4, now, rtt, limit); d != nil {
		t.Fatalf("acknowledged at once by %x", d)
	}
	ack := b.Pack(4, now.Add(ackDelay), rtt, limit)
	if err := a.Receive(ack[1:], now, true); err != nil {
		t.Fatal(err)
	}
	if at := a.Deadline(now, rtt); !at.IsZero() {
		t.Errorf("acknowledged, but due at %v", at)
	}
}

// A message is repeated in few datagrams, at growing intervals, however long the round trip is.
func TestFlowRepeatsThinOut(t *testing.T) {
	var a Flow
	now := time.Unix(1000, 0)
	var held []int
	for seq := range uint64(40) {
		a.Push(seq, []byte{byte(100 + seq)})
		if bytes.IndexByte(a.Pack(0, now, time.Minute, limit), 100) >= 0 {
			held = append(held, int(seq))
		}
	}
	if want := []int{0, 1, 2, 3, 4, 8, 16, 32}; !slices.Equal(held, want) {
		t.Errorf("message 0 was in datagrams %v, want %v", held, want)
	}
	// The timer repeats all messages.
	d := a.Pack(0, now.Add(2*time.Minute), time.Minute, limit)
	for seq := range uint64(40) {
		if bytes.IndexByte(d, byte(100+seq)) < 0 {
			t.Errorf("message %d is not repeated", seq)
		}
	}
}

// New messages go first when not everything fits.
func TestFlowNewFirst(t *testing.T) {
	var a, b Flow
	now := time.Unix(1000, 0)
	body := bytes.Repeat([]byte{1}, 40)
	for seq := range uint64(5) {
		a.Push(seq, body)
		d := a.Pack(0, now, 0, 100) // space for two messages
		if len(d) > 100 {
			t.Fatalf("datagram of %d bytes", len(d))
		}
		b.Receive(d[1:], now, true)
		if _, ok := b.early[seq]; !ok {
			t.Errorf("message %d was not in the datagram after its push", seq)
		}
	}
}

func TestFlowBounds(t *testing.T) {
	var f Flow
	if err := f.Insert(Window, []byte{1}); err == nil {
		t.Error("a stream message beyond the Window was kept")
	}
	// A datagram's message beyond the window is dropped: the peer repeats it later.
	far := binary.AppendUvarint([]byte{0, 0}, Window+5)
	if err := f.Receive(append(far, 1, 9), time.Time{}, true); err != nil || len(f.early) > 0 {
		t.Errorf("a datagram beyond the Window: %v, %d kept", err, len(f.early))
	}
	big := make([]byte, earlyBytes/4)
	var err error
	for seq := uint64(1); seq < 10 && err == nil; seq++ {
		err = f.Insert(seq, big)
	}
	if err == nil || f.held > earlyBytes {
		t.Errorf("%d bytes were kept: %v", f.held, err)
	}
}

func FuzzDatagram(f *testing.F) {
	var a Flow
	for seq := range uint64(3) {
		a.Push(seq, []byte{byte(seq), 7})
		f.Add(a.Pack(4, time.Unix(1000, 0), 0, limit)[1:])
	}
	f.Add([]byte{1, 0})
	f.Add([]byte{9, 0}) // acknowledges what was never sent
	f.Fuzz(func(t *testing.T, b []byte) {
		var f Flow
		f.Push(0, []byte{1})
		f.Pack(0, time.Unix(1000, 0), 0, limit)
		f.Push(1, []byte{2})
		if f.Receive(b, time.Unix(1000, 0), true) != nil {
			return
		}
		if f.held > len(b) || len(f.early) > Window {
			t.Fatalf("%d messages of %d bytes from a datagram of %d", len(f.early), f.held, len(b))
		}
		if f.fresh != 1 || len(f.flights) == 0 {
			t.Fatal("a message that was never sent counts as acknowledged")
		}
		for _, ok := f.Take(); ok; _, ok = f.Take() {
		}
	})
}

// If no other message follows, a message is soon repeated once, so that the loss of one datagram costs a slow sender
// little. A message that has been acknowledged is not repeated.
func TestFlowCopies(t *testing.T) {
	const rtt = 100 * time.Millisecond
	start := time.Unix(1000, 0)
	var f Flow
	f.Push(0, []byte("draft"))
	if f.Pack(4, start, rtt, limit) == nil {
		t.Fatal("nothing is sent")
	}
	if at := f.Deadline(start, rtt); at != start.Add(copyAfter) {
		t.Fatalf("due after %v", at.Sub(start))
	}
	if f.Pack(4, start.Add(copyAfter-1), rtt, limit) != nil {
		t.Error("repeated too early")
	}
	var got Flow
	if err := got.Receive(f.Pack(4, start.Add(copyAfter), rtt, limit)[1:], start, true); err != nil {
		t.Fatal(err)
	}
	if frame, ok := got.Take(); !ok || string(frame) != "draft" {
		t.Errorf("the copy holds %q", frame)
	}
	if at := f.Deadline(start, rtt); at != start.Add(copyAfter+f.resendAfter(rtt)) {
		t.Errorf("after the copy, due after %v", at.Sub(start))
	}
	f.acknowledged(1, 0)
	f.Push(1, []byte("next"))
	f.Pack(4, start.Add(time.Second), rtt, limit)
	f.acknowledged(2, 0)
	if at := f.Deadline(start, rtt); !at.IsZero() {
		t.Errorf("everything is acknowledged, but something is due after %v", at.Sub(start))
	}
}

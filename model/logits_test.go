package model

import (
	"runtime"
	"testing"
	"time"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/npu"
	"tandem/npu/native"
)

// hosting is a device with memory of its own for results. It counts what it gives and gets back.
type hosting struct {
	npu.Device
	given, freed chan int // numbers
	none         bool
}

func (h hosting) Traits() npu.Traits {
	t := h.Device.Traits()
	t.Host = func(n int) ([]float32, func()) {
		if h.none {
			return nil, nil
		}
		h.given <- n
		return make([]float32, n), func() { h.freed <- n }
	}
	return t
}

// Logits of NewLogits are in the device's memory, which is given back once: when they need more, or when nobody has them.
func TestNewLogits(t *testing.T) {
	h := hosting{native.New(1), make(chan int, 9), make(chan int, 9), false}
	m, err := OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{}), h)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	vocab := m.Config().Vocab
	func() {
		l := m.NewLogits()
		out, err := m.ForwardInto(t.Context(), []Input{{Seq: m.NewSeq(), Tokens: []tandem.Token{1, 2}, All: true}}, l)
		if err != nil || len(out) != 2 || &out[0][0] != &l.numbers[0] || cap(l.numbers) != 2*vocab {
			t.Fatalf("%d logits in memory for %d, %v", len(out), cap(l.numbers), err)
		}
		want, err := m.Forward(t.Context(), []Input{{Seq: m.NewSeq(), Tokens: []tandem.Token{1, 2}}})
		if err != nil || want[0][5] != out[1][5] {
			t.Errorf("%v, want %v, %v", out[1][5], want[0][5], err)
		}
		l.Take(1, vocab)
		if len(h.given) != 1 || len(h.freed) != 0 {
			t.Errorf("%d times memory, %d times given back", len(h.given), len(h.freed))
		}
		l.Take(3, vocab) // more than there is
		if a, b := <-h.given, <-h.given; a != 2*vocab || b != 4*vocab || len(h.freed) != 1 || <-h.freed != a {
			t.Errorf("memory for %d and %d numbers", a, b)
		}
		runtime.KeepAlive(l)
	}()
	for range 6000 { // two minutes
		runtime.GC()
		select {
		case n := <-h.freed:
			if n != 4*vocab || len(h.freed) > 0 {
				t.Errorf("%d numbers were given back, want %d", n, 4*vocab)
			}
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
	t.Error("memory that nobody has was not given back")
}

// Without the device's memory, logits are in ordinary memory.
func TestNewLogitsElsewhere(t *testing.T) {
	m, err := OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{}), hosting{native.New(1), nil, nil, true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, l := range []*Logits{m.NewLogits(), {}} {
		if out := l.Take(2, 5); len(out) != 2 || len(out[1]) != 5 {
			t.Errorf("%d logits", len(out))
		}
	}
}

// Memory that was given back is nobody's, and the device's memory stays with its Logits.
func TestReleaseLogits(t *testing.T) {
	l := new(Logits)
	for range 3 {
		if out := l.Take(2, 5); len(out) != 2 || len(out[1]) != 5 {
			t.Errorf("%d logits", len(out))
		}
		if l.Release(); l.numbers != nil || l.rows != nil {
			t.Error("logits keep what they gave back")
		}
	}
	m, err := OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{}), hosting{native.New(1), make(chan int, 9), make(chan int, 9), false})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	l = m.NewLogits()
	l.Take(2, 5)
	if l.Release(); l.numbers == nil {
		t.Error("the device's memory was given to others")
	}
}

package model

import (
	"context"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/models"
)

// A simulated phone computes the same bits, with bounded memory too, and counts what its NPU does.
func TestPhoneSameBits(t *testing.T) {
	logits := func(opt Options) ([]float32, *Model) {
		m, err := OpenBytes("reader", models.Reader, opt)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		out, err := m.Forward(context.Background(), []Row{{Seq: m.NewSeq(), Tokens: []tandem.Token{1, 2, 3, 4, 5}}})
		if err != nil {
			t.Fatal(err)
		}
		return out[0], m
	}
	want, plain := logits(Options{Threads: 1})
	if _, ok := plain.Phone(); ok {
		t.Error("a phone without being asked for")
	}
	for _, opt := range []Options{{Threads: 1, Phone: "sm8750"}, {Threads: 1, Phone: "sm8650/mllm", Memory: 3 << 20}} {
		got, m := logits(opt)
		if !slices.Equal(got, want) {
			t.Errorf("%+v: other logits", opt)
		}
		s, ok := m.Phone()
		if !ok || s.Runs == 0 || s.Busy == 0 || !strings.Contains(m.Device(), "simulated") {
			t.Errorf("%+v: %+v on %s", opt, s, m.Device())
		}
	}
	if _, err := OpenBytes("reader", models.Reader, Options{Phone: "nokia"}); err == nil || !strings.Contains(err.Error(), "want one of") {
		t.Errorf("an unknown chip: %v", err)
	}
}

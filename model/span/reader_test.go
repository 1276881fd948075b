package span

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"tandem/model/gguf"
	"tandem/npu/native"
)

// TestOtherFilesAreRefused checks that a file that is not a span reader gives an error that says so.
func TestOtherFilesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		meta []gguf.KV
		want string
	}{
		"another architecture": {[]gguf.KV{{Key: "general.architecture", Value: "llama"}}, `architecture "llama"`},
		"nothing":              {nil, "not a span reader"},
		"other rules":          {[]gguf.KV{{Key: "general.architecture", Value: Architecture}, {Key: Architecture + ".rules", Value: uint32(7)}}, "version 7"},
		"no numbers":           {[]gguf.KV{{Key: "general.architecture", Value: Architecture}, {Key: Architecture + ".rules", Value: uint32(rules)}}, "head_count"},
	} {
		var b bytes.Buffer
		if err := gguf.Write(&b, c.meta, nil); err != nil {
			t.Fatal(err)
		}
		f, err := gguf.Parse("test", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(f, native.New(1), 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}

// TestPosteriorIsIndependentOfOthers checks that a passage's posterior depends neither on other passages nor on threads.
func TestPosteriorIsIndependentOfOthers(t *testing.T) {
	f := shipped(t)
	passages := []string{museum, "Bring the kayak back by 18:00. Ask Jürgen Müller for the key.", ""}
	var first []*Posterior
	for _, threads := range []int{1, 2} {
		r, err := New(f, native.New(1), threads)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			var ps []*Passage
			for _, s := range passages {
				p, err := r.Passage(s)
				if err != nil {
					t.Fatal(err)
				}
				ps = append(ps, p)
			}
			got, err := r.Read("When does the museum close?", ps)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = got
			}
			for i, s := range passages {
				alone := read(t, r, "When does the museum close?", s)
				for _, p := range []*Posterior{got[i], alone} {
					if p.None != first[i].None || len(p.Spans) != len(first[i].Spans) {
						t.Fatalf("passage %d: P(none) %v, was %v", i, p.None, first[i].None)
					}
					for k := range p.Spans {
						if p.Spans[k] != first[i].Spans[k] {
							t.Fatalf("passage %d: %v, was %v", i, p.Spans[k], first[i].Spans[k])
						}
					}
				}
			}
		}
	}
}

// A passage is read once for the questions that follow, and the passages that a reader keeps are bounded.
func TestKeptPassages(t *testing.T) {
	r, err := New(shipped(t), native.New(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) *Passage {
		t.Helper()
		p, err := r.Passage(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := read(museum)
	if read(museum) != first {
		t.Error("the same passage is read twice")
	}
	for i := range 2 * mostKept {
		read(fmt.Sprint("Room ", i))
	}
	read(strings.Repeat(museum, 40)) // too long to keep
	if n := len(r.kept.passages); n != mostKept || len(r.kept.order) != n {
		t.Errorf("%d passages are kept, want %d", n, mostKept)
	}
	if read(museum) == first {
		t.Error("the oldest passage is still kept")
	}
}

// A panic is the caller's, who may contain it.
func TestEachPanicsForItsCaller(t *testing.T) {
	var did atomic.Int64
	defer func() {
		if p := recover(); p != "third" || did.Load() < 2 {
			t.Errorf("panic %v after %d calls", p, did.Load())
		}
	}()
	each(8, 2, func(i int) {
		if i == 3 {
			panic("third")
		}
		did.Add(1)
	})
}

package model

import (
	"bytes"
	"cmp"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"tandem/internal/tinymodel"
)

// Keys, values and logits count from when they come until they go, what forks share once.
func TestMemory(t *testing.T) {
	m := openTiny(t, tinymodel.Spec{Layers: 3, KVHeads: 2, HeadDim: 16})
	const position = 3 * 2 * 2 * 16 * 2 // layers, keys and values, heads, numbers, bytes
	row := 4 * int64(m.Config().Vocab)
	var memory Memory
	check := func(what string, now, most int64) {
		t.Helper()
		if memory.Bytes() != now || memory.Most() != most {
			t.Errorf("%s: %d bytes, at most %d: want %d and %d", what, memory.Bytes(), memory.Most(), now, most)
		}
	}
	a, logits := m.NewSeq(), new(Logits)
	a.CountIn(&memory)
	logits.CountIn(&memory)
	pass := func(s *Seq, n int) {
		t.Helper()
		if _, err := m.ForwardInto(t.Context(), []Input{{Seq: s, Tokens: pattern(n), All: true}}, logits); err != nil {
			t.Fatal(err)
		}
	}
	pass(a, 20)
	check("a prompt", 20*position+20*row, 20*position+20*row)
	logits.Release()
	b, c := a.Fork(), a.Fork()
	check("forks", 20*position, 20*position+20*row)
	pass(b, 1)
	check("a fork with one position more, which has memory for eight", 28*position+row, 20*position+20*row)
	logits.Take(0, 0)
	a.Release()
	b.Truncate(21)
	check("without the first", 28*position, 20*position+20*row)
	c.Truncate(3)
	b.Release()
	check("a fork that was cut", 20*position, 20*position+20*row)
	pass(c, 40)
	check("it grows", 60*position+40*row, 60*position+40*row)
	c.Release()
	logits.Release()
	check("nothing", 0, 60*position+40*row)
	pass(c, 2)
	check("it is used again", 8*position+2*row, 60*position+40*row)
}

// Without a count nothing counts.
func TestNoMemory(t *testing.T) {
	m := openTiny(t, tinymodel.Spec{})
	var none *Memory
	s, logits := m.NewSeq(), new(Logits)
	s.CountIn(none)
	logits.CountIn(none)
	if _, err := m.ForwardInto(t.Context(), []Input{{Seq: s, Tokens: pattern(3)}}, logits); err != nil {
		t.Fatal(err)
	}
	if none.Bytes() != 0 || none.Most() != 0 {
		t.Errorf("%d bytes count, at most %d", none.Bytes(), none.Most())
	}
	s.Fork().Release()
	s.Release()
	logits.Release()
}

// What was there before a count began, or went to another, is not taken from it when it goes.
func TestMemoryBegunLater(t *testing.T) {
	m := openTiny(t, tinymodel.Spec{})
	var first, second Memory
	s, logits := m.NewSeq(), new(Logits)
	for _, memory := range []*Memory{nil, &first, &second, nil} {
		s.CountIn(memory)
		logits.CountIn(memory)
		if _, err := m.ForwardInto(t.Context(), []Input{{Seq: s, Tokens: pattern(3), All: memory == nil}}, logits); err != nil {
			t.Fatal(err)
		}
		for _, other := range []*Memory{&first, &second} {
			if n := other.Bytes(); other == memory && n != referred([]*Seq{s})+4*int64(m.Config().Vocab) || other != memory && n != 0 {
				t.Errorf("%d bytes count", n)
			}
		}
	}
}

// Whatever sequences do, what counts is the memory that they refer to, each part once.
func TestMemoryCountsWhatSequencesReferTo(t *testing.T) {
	for _, arch := range []string{"llama", "gemma3", "lfm2"} {
		m := openTiny(t, tinymodel.Spec{Arch: arch, Window: 12, Context: 200})
		t.Run(arch, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var memory Memory
				first := m.NewSeq()
				first.CountIn(&memory)
				seqs, most := []*Seq{first}, int64(0)
				for range rapid.IntRange(1, 30).Draw(t, "steps") {
					i := rapid.IntRange(0, len(seqs)-1).Draw(t, "sequence")
					seqs = act(t, seqs, i)
					most = max(most, referred(seqs))
					if memory.Bytes() != referred(seqs) || memory.Most() < most {
						t.Fatalf("%d bytes count, at most %d, and %d are referred to, at most %d", memory.Bytes(), memory.Most(), referred(seqs), most)
					}
				}
				for _, s := range seqs {
					s.Release()
				}
				if memory.Bytes() != 0 {
					t.Fatalf("%d bytes count without a sequence", memory.Bytes())
				}
			})
		})
	}
}

// A sequence that forgets positions divides memory that a fork still refers to, whichever of them ends first.
func TestMemoryOfDividedSpans(t *testing.T) {
	m := openTiny(t, tinymodel.Spec{Arch: "gemma3", Window: 12, Context: 200})
	for first := range 2 {
		var memory Memory
		s := m.NewSeq()
		s.CountIn(&memory)
		forward(t, m, Input{Seq: s, Tokens: pattern(60)})
		seqs := []*Seq{s, s.Fork()}
		if s.Forget(); len(s.kv.Spans) != 2 || memory.Bytes() != referred(seqs) {
			t.Errorf("%d spans, %d bytes count, and %d are referred to", len(s.kv.Spans), memory.Bytes(), referred(seqs))
		}
		seqs[first].Release()
		if memory.Bytes() != referred(seqs) {
			t.Errorf("without sequence %d: %d bytes count, and %d are referred to", first, memory.Bytes(), referred(seqs))
		}
	}
}

// act does something with sequence i, and returns the sequences then.
func act(t *rapid.T, seqs []*Seq, i int) []*Seq {
	s := seqs[i]
	n := rapid.IntRange(1, 40).Draw(t, "n")
	switch rapid.IntRange(0, 7).Draw(t, "action") {
	case 0, 1:
		if s.Len()+n <= s.m.config.Context {
			mustForward(t, Input{Seq: s, Tokens: pattern(n)})
		}
	case 2: // a draft tree, of which a path is kept
		if s.Len()+3 <= s.m.config.Context {
			mustForward(t, Input{Seq: s, Tokens: pattern(3), Parents: []int{-1, 0, 0}, All: true})
			if err := s.Keep([][]int{nil, {0}, {0, 2}}[n%3]...); err != nil {
				t.Fatal(err)
			}
		}
	case 3:
		seqs = append(seqs, s.Fork())
	case 4:
		s.Truncate(s.Len() - n)
	case 5:
		s.Forget()
	case 6:
		if s.Release(); len(seqs) > 1 {
			seqs = slices.Delete(seqs, i, i+1)
		}
	case 7: // saved and read
		var b bytes.Buffer
		if s.from > 0 {
			return seqs
		}
		if _, err := s.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		read, err := s.m.ReadSeq(&b)
		if err != nil {
			t.Fatal(err)
		}
		read.CountIn(s.memory)
		seqs = append(seqs, read)
	}
	return seqs
}

func mustForward(t *rapid.T, in Input) {
	if _, err := in.Seq.m.Forward(t.Context(), []Input{in}); err != nil {
		t.Fatal(err)
	}
}

// referred returns the size of the memory that sequences refer to.
func referred(seqs []*Seq) (sum int64) {
	type piece struct{ from, to uintptr }
	var all []piece
	for _, s := range seqs {
		for _, span := range s.kv.Spans {
			for _, x := range slices.Concat(span.K, span.V) {
				from := uintptr(unsafe.Pointer(unsafe.SliceData(x)))
				all = append(all, piece{from, from + 2*uintptr(len(x))})
			}
		}
	}
	slices.SortFunc(all, func(a, b piece) int { return cmp.Compare(a.from, b.from) })
	end := uintptr(0)
	for _, p := range all {
		if p.to > end {
			sum += int64(p.to - max(p.from, end))
			end = p.to
		}
	}
	return sum
}

package transport

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem"
)

// drawDist draws any well-formed distribution.
func drawDist(t *rapid.T, vocab int) tandem.Dist {
	n := rapid.IntRange(1, min(vocab, rapid.SampledFrom([]int{1, 4, 16, 64, tandem.MaxSupport}).Draw(t, "at most"))).Draw(t, "support")
	ids := rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(vocab-1)), n, n, rapid.ID).Draw(t, "ids")
	cuts := rapid.SliceOfNDistinct(rapid.Uint32Range(1, tandem.Mass-1), n-1, n-1, rapid.ID).Draw(t, "cuts")
	return distOf(ids, cuts)
}

func distOf(ids []int32, cuts []uint32) (d tandem.Dist) {
	slices.Sort(ids)
	slices.Sort(cuts)
	last := uint32(0)
	for i, c := range append(cuts, tandem.Mass) {
		d.IDs, d.Weights = append(d.IDs, tandem.Token(ids[i])), append(d.Weights, c-last)
		last = c
	}
	return d
}

// drawDraft draws a draft that follows the last one or, as often, any other.
func drawDraft(t *rapid.T, vocab int, last tandem.Draft) tandem.Draft {
	d := tandem.Draft{Dist: drawDist(t, vocab), H: tandem.Fixed(rapid.Int32().Draw(t, "h"))}
	d.Token = rapid.SampledFrom(d.Dist.IDs).Draw(t, "token")
	d.Decode = time.Duration(rapid.Uint32().Draw(t, "decode")) * decodeUnit
	if rapid.Bool().Draw(t, "follows") {
		d.Epoch, d.Version, d.Step, d.Prefix = last.Epoch, last.Version, last.Step+1, last.Prefix.Then(last.Token)
		switch rapid.IntRange(0, 8).Draw(t, "but for") {
		case 0:
			d.Epoch++
		case 1:
			d.Version++
		case 2:
			d.Step++
		case 3:
			d.Prefix++
		}
	} else {
		d.Epoch, d.Version = rapid.Uint32().Draw(t, "epoch"), rapid.Uint32().Draw(t, "version")
		d.Step, d.Prefix = tandem.Step(rapid.Uint32().Draw(t, "step")), tandem.Prefix(rapid.Uint32().Draw(t, "prefix"))
	}
	return d
}

func drawVocab(t *rapid.T) int {
	return rapid.SampledFrom([]int{1, 2, 3, 260, 2048, 151_936, math.MaxInt32}).Draw(t, "vocabulary")
}

// Frames that are read in the order in which they were written give back exactly the messages.
func TestFramesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vocab := drawVocab(t)
		w, r := frameWriter{vocab: vocab}, frameReader{vocab: vocab}
		last := tandem.Draft{}
		for range rapid.IntRange(1, 8).Draw(t, "messages") {
			var m Message
			if rapid.Bool().Draw(t, "target") {
				m = tandem.Target{
					Epoch: rapid.Uint32().Draw(t, "epoch"), Step: tandem.Step(rapid.Uint32().Draw(t, "step")),
					Prefix: tandem.Prefix(rapid.Uint32().Draw(t, "prefix")), By: tandem.By(rapid.IntRange(0, 3).Draw(t, "by")),
					Token: tandem.Token(rapid.IntRange(0, vocab-1).Draw(t, "token")),
				}
			} else {
				last = drawDraft(t, vocab, last)
				m = last
			}
			frame, err := w.frame(m)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.message(frame)
			if err != nil {
				t.Fatalf("%v: %v", m, err)
			}
			if !reflect.DeepEqual(got, m) {
				t.Fatalf("%+v became %+v", m, got)
			}
		}
	})
}

func TestDraftRefuses(t *testing.T) {
	good := simpleDraft(0)
	for name, spoil := range map[string]func(*tandem.Draft){
		"token outside":     func(d *tandem.Draft) { d.Token = 6 },
		"empty":             func(d *tandem.Draft) { d.Dist = tandem.Dist{} },
		"mass":              func(d *tandem.Draft) { d.Dist.Weights = []uint32{1, 2} },
		"order":             func(d *tandem.Draft) { d.Dist.IDs = []tandem.Token{9, 5} },
		"outside the vocab": func(d *tandem.Draft) { d.Dist.IDs = []tandem.Token{5, testVocab} },
	} {
		d := good
		spoil(&d)
		w := frameWriter{vocab: testVocab}
		if _, err := w.frame(d); err == nil {
			t.Errorf("%s: sent", name)
		}
	}
	// A decode time out of range saturates rather than failing.
	for _, took := range []time.Duration{-time.Second, 100 * time.Hour} {
		d := good
		d.Decode = took
		w, r := frameWriter{vocab: testVocab}, frameReader{vocab: testVocab}
		frame, err := w.frame(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.message(frame); err != nil {
			t.Error(err)
		}
	}
}

// Every frame that ends early or has bytes after its end is refused.
func TestDraftTruncated(t *testing.T) {
	w := frameWriter{vocab: 151_936}
	frame, err := w.frame(benchDraft(rand.New(rand.NewPCG(1, 2)), 16, 151_936))
	if err != nil {
		t.Fatal(err)
	}
	for n := range frame {
		r := frameReader{vocab: 151_936}
		if m, err := r.message(frame[:n]); err == nil {
			t.Errorf("%d of %d bytes were read as %v", n, len(frame), m)
		}
	}
	r := frameReader{vocab: 151_936}
	if _, err := r.message(append(frame, 0)); err == nil {
		t.Error("a trailing byte was accepted")
	}
}

func FuzzFrames(f *testing.F) {
	w := frameWriter{vocab: testVocab}
	for i := range 3 {
		frame, _ := w.frame(simpleDraft(i))
		f.Add(frame, []byte{})
	}
	frame, _ := w.frame(tandem.Target{Step: 3, Token: 7})
	f.Add(frame, frame)
	for _, m := range []Message{Begin{Question: "what?", History: []Turn{{Role: "user", Content: "hi"}}}, Sync{Epoch: 2, Tokens: []tandem.Token{1, 2}}, NeedSync{}, tandem.Handover{Epoch: 1, Step: 5, Versions: [2]uint32{0, 2}, Accept: [2]float64{0.5, 1}}, Passages{Passages: []Passage{{Title: "a", Text: "b"}}, Saved: []int{9}}, Piece{Data: []byte("kv")}, Got{Bytes: 2}, testHello(tandem.Cloud)} {
		frame, _ := encodeControl(m)
		f.Add(frame, frame)
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		r := frameReader{vocab: testVocab}
		w := frameWriter{vocab: testVocab}
		for _, frame := range [][]byte{first, second} {
			m, err := r.message(frame)
			if err != nil {
				continue
			}
			if d, ok := m.(tandem.Draft); ok {
				if err := d.Dist.Check(testVocab); err != nil {
					t.Fatal(err)
				}
			}
			again, err := w.frame(m)
			if err != nil {
				t.Fatalf("%+v was read but cannot be sent: %v", m, err)
			}
			if _, ok := m.(tandem.Target); ok && !slices.Equal(frame, again) {
				t.Fatalf("%x was read and written as %x", frame, again)
			}
		}
	})
}

// benchDraft returns a draft whose nucleus of n tokens follows Zipf's law, with ids spread evenly.
func benchDraft(rng *rand.Rand, n, vocab int) tandem.Draft {
	ids := map[int32]bool{}
	for len(ids) < n {
		ids[rng.Int32N(int32(vocab))] = true
	}
	d := tandem.Draft{Dist: tandem.Dist{Weights: make([]uint32, n)}, Decode: time.Duration(20+rng.IntN(20)) * time.Millisecond, H: tandem.FixedOf(rng.Float64() * 4)}
	for id := range ids {
		d.Dist.IDs = append(d.Dist.IDs, tandem.Token(id))
	}
	slices.Sort(d.Dist.IDs)
	total, sum := 0.0, uint32(0)
	share := make([]float64, n)
	for i, rank := range rng.Perm(n) {
		share[i] = (0.5 + rng.Float64()) / float64(rank+1)
		total += share[i]
	}
	top := 0
	for i := range share {
		d.Dist.Weights[i] = max(1, uint32(share[i]/total*(tandem.Mass-float64(n))))
		sum += d.Dist.Weights[i]
		if share[i] > share[top] {
			top = i
		}
	}
	d.Dist.Weights[top] += tandem.Mass - sum
	d.Token = d.Dist.IDs[top]
	return d
}

// dragonBytes is the size of a draft message in the published code of DRAGON, by size of the nucleus.
var dragonBytes = []struct{ support, bytes int }{{1, 294}, {2, 298}, {4, 306}, {8, 323}, {16, 354}, {64, 544}}

// frameSize returns the mean frame size of an answer's drafts with nuclei of n tokens.
func frameSize(n, vocab int) float64 {
	const steps = 200
	rng := rand.New(rand.NewPCG(uint64(n), uint64(vocab)))
	w := frameWriter{vocab: vocab}
	last, bytes := tandem.Draft{}, 0
	for i := range steps {
		d := benchDraft(rng, n, vocab)
		d.Epoch, d.Step = 1, tandem.Step(i)
		if i > 0 {
			d.Prefix = last.Prefix.Then(last.Token)
		}
		frame, err := w.frame(d)
		if err != nil {
			panic(err)
		}
		bytes, last = bytes+len(frame), d
	}
	return float64(bytes) / steps
}

// A draft frame takes at most an eighth of DRAGON's bytes for nuclei of up to eight tokens, the usual result of top-p 0.8.
// Larger nuclei take a larger share, because the frame holds their exact integers.
func TestDRAGON_DraftBytes(t *testing.T) {
	for _, d := range dragonBytes {
		limit := float64(d.bytes) / 8
		switch {
		case d.support == 16:
			limit = float64(d.bytes) / 5.5
		case d.support == 64:
			limit = float64(d.bytes) / 2.5
		}
		if size := frameSize(d.support, 151_936); size > limit {
			t.Errorf("nucleus of %d: %.1f bytes, want at most %.1f", d.support, size, limit)
		}
	}
}

// BenchmarkDraftFrame prints the table of frame sizes next to DRAGON's, and times encoding and decoding.
func BenchmarkDraftFrame(b *testing.B) {
	for _, d := range dragonBytes {
		for _, vocab := range []int{2048, 151_936} {
			b.Run(fmt.Sprintf("nucleus=%d/vocab=%d", d.support, vocab), func(b *testing.B) {
				size := frameSize(d.support, vocab)
				draft := benchDraft(rand.New(rand.NewPCG(1, 1)), d.support, vocab)
				for b.Loop() {
					w, r := frameWriter{vocab: vocab}, frameReader{vocab: vocab}
					frame, err := w.frame(draft)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := r.message(frame); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(size, "bytes/frame")
				b.ReportMetric(float64(d.bytes), "dragon-bytes")
				b.ReportMetric(float64(d.bytes)/size, "times-smaller")
			})
		}
	}
}

// spread returns a uniform distribution of n tokens from all over the vocabulary.
func spread(n, vocab int) (d tandem.Dist) {
	for i := range n {
		d.IDs, d.Weights = append(d.IDs, tandem.Token(i*vocab/n)), append(d.Weights, tandem.Mass/uint32(n))
	}
	d.Weights[0] += tandem.Mass % uint32(n)
	return d
}

// A hedge (AnyVersion) between two drafts arrives as it was sent. It takes as many bytes as a draft of its distribution and
// at most 20 more for its position. The draft after it takes no more bytes than without the hedge.
func TestHedgesBetweenDrafts(t *testing.T) {
	const vocab, most = 32000, 20
	for _, dist := range []tandem.Dist{simpleDraft(0).Dist, spread(tandem.MaxSupport, vocab)} {
		one := simpleDraft(3)
		one.Dist, one.Token = dist, dist.IDs[0]
		two := one
		two.Step, two.Prefix = one.Step+1, one.Prefix.Then(one.Token)
		hedge := two
		hedge.Version, hedge.Prefix, hedge.Decode = tandem.AnyVersion, one.Prefix.Then(dist.IDs[1]), 0
		plain, hedged, read := frameWriter{vocab: vocab}, frameWriter{vocab: vocab}, frameReader{vocab: vocab}
		var without, with []int
		for _, d := range []tandem.Draft{one, two} {
			frame, err := plain.appendDraft(nil, d)
			if err != nil {
				t.Fatal(err)
			}
			without = append(without, len(frame))
		}
		for _, d := range []tandem.Draft{one, hedge, two} {
			frame, err := hedged.appendDraft(nil, d)
			if err != nil {
				t.Fatal(err)
			}
			with = append(with, len(frame))
			if got, err := read.readDraft(frame); err != nil || !reflect.DeepEqual(got, d) {
				t.Errorf("%+v arrives as %+v, %v", d, got, err)
			}
		}
		t.Logf("%d tokens: drafts of %d and %d bytes, a hedge of %d", len(dist.IDs), with[0], with[2], with[1])
		if with[0] != without[0] || with[2] != without[1] || with[1] > without[1]+most {
			t.Errorf("frames take %v bytes, without the hedge %v", with, without)
		}
	}
}

package transport

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"tandem"
)

// decodeUnit is the resolution of Draft.Decode on the wire.
const decodeUnit = 16 * time.Microsecond

// Orders of the Golomb codes, chosen for changes of h of about 0.1 and decode times of about 30 ms.
const (
	hOrder      = 13
	decodeOrder = 10
)

// Frames start with a prefix code of their kind: drafts are by far the most frequent.
const (
	kindDraft   = 0b0   // 1 bit
	kindTarget  = 0b10  // 2 bits
	kindControl = 0b110 // 3 bits, then the rest of the byte is zero; see control.go
)

// frameWriter turns the messages of one direction of an exchange into frames. A frame holds only what the frame before it
// does not imply, so frames must be read in the order in which they were written.
//
// The frame of a draft begins with one bit: whether the draft follows the previous one (same epoch and version, next step,
// prefix extended by the previous draft's token). If it does not, its epoch, version, step and prefix come next. Then come
// h as a difference, the decode time, and the distribution as two sorted sets in binary interpolative coding: its n ids,
// and the n-1 inner partial sums of its weights. The last weight makes the sum tandem.Mass. The token is an index.
type frameWriter struct {
	vocab int
	draft tandem.Draft // the last one
}

// frameReader is the inverse of frameWriter.
type frameReader struct {
	vocab int
	draft tandem.Draft
}

// follows reports whether the position of d is implied by the draft before it.
func follows(last, d tandem.Draft) bool {
	return len(last.Dist.IDs) > 0 && d.Epoch == last.Epoch && d.Version == last.Version &&
		last.Step < math.MaxUint32 && d.Step == last.Step+1 && d.Prefix == last.Prefix.Then(last.Token)
}

// appendDraft appends the frame of d. Decode is rounded down to decodeUnit.
func (w *frameWriter) appendDraft(buf []byte, d tandem.Draft) ([]byte, error) {
	if err := d.Dist.Check(w.vocab); err != nil {
		return nil, err
	}
	index, ok := slices.BinarySearch(d.Dist.IDs, d.Token)
	if !ok {
		return nil, fmt.Errorf("draft of step %d: token %d is outside its distribution", d.Step, d.Token)
	}
	b := bitWriter{buf: buf}
	b.write(kindDraft, 1)
	if follows(w.draft, d) {
		b.write(1, 1)
	} else {
		b.write(0, 1)
		b.writeGamma(uint64(d.Epoch))
		b.writeGamma(uint64(d.Version))
		b.writeGamma(uint64(d.Step))
		b.write(uint64(d.Prefix), 32)
	}
	if d.H == w.draft.H { // always so while document weights do not change
		b.write(1, 1)
	} else {
		b.write(0, 1)
		b.writeGolomb(zigzag(int64(d.H)-int64(w.draft.H)), hOrder)
	}
	b.writeGolomb(uint64(min(max(d.Decode, 0)/decodeUnit, math.MaxUint32)), decodeOrder)
	b.writeDist(d.Dist, index, w.vocab)
	if d.Version != tandem.AnyVersion { // a draft after a hedge follows the draft before the hedge
		w.draft = d
	}
	return b.buf, nil
}

func (r *frameReader) readDraft(frame []byte) (tandem.Draft, error) {
	d, b := tandem.Draft{}, bitReader{buf: frame}
	b.read(1)
	if b.read(1) == 1 {
		last := r.draft
		if len(last.Dist.IDs) == 0 || last.Step == math.MaxUint32 {
			return d, errors.New("draft follows another, but there was none")
		}
		d.Epoch, d.Version, d.Step, d.Prefix = last.Epoch, last.Version, last.Step+1, last.Prefix.Then(last.Token)
	} else {
		d.Epoch, d.Version = b.read32(), b.read32()
		d.Step, d.Prefix = tandem.Step(b.read32()), tandem.Prefix(b.read(32))
	}
	d.H = r.draft.H
	if b.read(1) == 0 {
		h := int64(d.H) + unzigzag(b.readGolomb(hOrder))
		if h < math.MinInt32 || h > math.MaxInt32 {
			return d, fmt.Errorf("draft of step %d: weight out of range", d.Step)
		}
		d.H = tandem.Fixed(h)
	}
	took := b.readGolomb(decodeOrder)
	if took > math.MaxUint32 {
		return d, fmt.Errorf("draft of step %d: decode time out of range", d.Step)
	}
	d.Decode = time.Duration(took) * decodeUnit
	var err error
	if d.Dist, d.Token, err = b.readDist(r.vocab); err == nil {
		err = b.end()
	}
	if err != nil {
		return d, fmt.Errorf("draft of step %d: %w", d.Step, err)
	}
	if d.Version != tandem.AnyVersion {
		r.draft = d
	}
	return d, nil
}

// writeDist writes a distribution over a vocabulary, and which of its tokens is the draft. Both the ids and the partial sums of
// the weights are sets in ascending order.
func (w *bitWriter) writeDist(d tandem.Dist, index, vocab int) {
	n := len(d.IDs)
	ids, sums := make([]uint64, n), make([]uint64, n)
	sum := uint64(0)
	for i, id := range d.IDs {
		sum += uint64(d.Weights[i])
		ids[i], sums[i] = uint64(id), sum
	}
	w.writeGamma(uint64(n - 1))
	w.writeBelow(uint64(index), uint64(n))
	w.writeSet(ids, 0, uint64(vocab))
	w.writeSet(sums[:n-1], 1, tandem.Mass)
}

// readDist reads what writeDist wrote, and returns the draft's token with its distribution.
func (r *bitReader) readDist(vocab int) (d tandem.Dist, token tandem.Token, err error) {
	n := r.readGamma() + 1
	if n > tandem.MaxSupport || n > uint64(vocab) {
		return d, 0, fmt.Errorf("%d tokens in its distribution", n)
	}
	index := r.readBelow(n)
	ids, sums := make([]uint64, n), make([]uint64, n)
	r.readSet(ids, 0, uint64(vocab))
	r.readSet(sums[:n-1], 1, tandem.Mass)
	if r.err != nil {
		return d, 0, r.err
	}
	sums[n-1] = tandem.Mass
	d = tandem.Dist{IDs: make([]tandem.Token, n), Weights: make([]uint32, n)}
	last := uint64(0)
	for i := range ids {
		d.IDs[i], d.Weights[i], last = tandem.Token(ids[i]), uint32(sums[i]-last), sums[i]
	}
	return d, d.IDs[index], nil
}

// appendTarget appends the frame of t: a few bytes, independent of other frames.
func (w *frameWriter) appendTarget(buf []byte, t tandem.Target) ([]byte, error) {
	if t.Token < 0 || int(t.Token) >= w.vocab || t.By > tandem.ByBoth {
		return nil, fmt.Errorf("target of step %d: token %d by %d", t.Step, t.Token, uint8(t.By))
	}
	b := bitWriter{buf: buf}
	b.write(kindTarget, 2)
	b.write(uint64(t.By), 2)
	b.writeGamma(uint64(t.Epoch))
	b.writeGamma(uint64(t.Step))
	b.write(uint64(t.Prefix), 32)
	b.writeBelow(uint64(t.Token), uint64(w.vocab))
	return b.buf, nil
}

func (r *frameReader) readTarget(frame []byte) (tandem.Target, error) {
	t, b := tandem.Target{}, bitReader{buf: frame}
	b.read(2)
	t.By = tandem.By(b.read(2))
	t.Epoch = b.read32()
	t.Step = tandem.Step(b.read32())
	t.Prefix = tandem.Prefix(b.read(32))
	t.Token = tandem.Token(b.readBelow(uint64(r.vocab)))
	if err := b.end(); err != nil {
		return t, fmt.Errorf("target of step %d: %w", t.Step, err)
	}
	return t, nil
}

// read32 reads a gamma code that must fit 32 bits.
func (r *bitReader) read32() uint32 {
	v := r.readGamma()
	if v > math.MaxUint32 && r.err == nil {
		r.err = errors.New("number out of range")
	}
	return uint32(v)
}

func zigzag(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

package model

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"slices"

	"tandem"
	"tandem/npu"
)

// A Seq is the KV cache of a sequence: the keys and values of every position in every layer, stored as Config.KV says. Forward
// makes it grow. It is not safe for concurrent use, but forks of one sequence may be used by different goroutines.
type Seq struct {
	m       *Model
	n       int            // positions
	kv      npu.KV         // spans whose Len add up to n and the nodes of tree, except during a pass
	owned   []bool         // for each span, whether only this sequence refers to it and may write to it
	tree    []int          // the parents of a draft tree in the slots from n on, until Keep or another call
	adapter *Adapter       // of all positions; nil for none
	from    int            // layers with windows have forgotten the positions before this one (Forget)
	input   int            // the last input of the last pass that named this sequence
	text    []tandem.Token // the positions' tokens, if the model is remote; then there are no spans

	memory    *Memory      // counts that of the spans; nil for none
	allocated []spanMemory // of each span, if memory is not nil
}

// NewSeq returns an empty sequence.
func (m *Model) NewSeq() *Seq { return &Seq{m: m} }

// NewSeqWith returns an empty sequence whose positions have the adapter, nil for none. A sequence keeps its adapter, since
// its keys and values depend on it: for another adapter, compute the tokens again in a new sequence.
func (m *Model) NewSeqWith(a *Adapter) *Seq { return &Seq{m: m, adapter: a} }

// Adapter returns the sequence's adapter, nil for none.
func (s *Seq) Adapter() *Adapter { return s.adapter }

// Model returns the sequence's model.
func (s *Seq) Model() *Model { return s.m }

// Len returns the number of positions.
func (s *Seq) Len() int { return s.n }

// Bytes returns the size of the keys and values of all positions that the sequence has.
func (s *Seq) Bytes() int64 {
	return int64(s.n)*s.m.config.KVBytes() - int64(s.from)*s.m.config.windowBytes()
}

// Forgets reports whether Forget can free memory: the model must have layers with windows, and its device must read the
// cache in place.
func (m *Model) Forgets() bool { return m.config.windowBytes() > 0 && m.Rounding() == "" }

// Forget frees the memory of keys and values that no later position attends to: those of layers with windows, before the
// window of the next position. Forks keep theirs. Afterwards the sequence cannot be saved, and Truncate drops the whole
// sequence if a window would reach positions that were forgotten. Forget does nothing if Forgets reports false.
func (s *Seq) Forget() {
	if !s.m.Forgets() {
		return
	}
	s.dropTree()
	window := s.m.config.window
	unseen, end := s.n-window, 0 // the positions that no window reaches
	for i := 0; i < len(s.kv.Spans) && end < unseen; i++ {
		span := &s.kv.Spans[i]
		start := end
		end += span.Len
		if end <= s.from {
			continue
		}
		if end > unseen {
			if unseen-start < max(minSpan, window/4) { // so that little is copied for what is given back
				return
			}
			s.divide(i, unseen-start)
			span, end = &s.kv.Spans[i], unseen
		}
		span.K, span.V = slices.Clone(span.K), slices.Clone(span.V) // forks share the slices
		for l := range span.K {
			if s.m.config.windowOf(l) > 0 {
				span.K[l], span.V[l] = nil, nil
			}
		}
		s.leaveWindows(i)
		s.from = end
	}
}

// divide makes two spans of span i, the first with n positions. The second has memory of its own for layers with windows.
func (s *Seq) divide(i, n int) {
	c, whole := &s.m.config, s.kv.Spans[i]
	first, second := npu.Span{Len: n}, npu.Span{Len: whole.Len - n}
	for l := range whole.K {
		k, v := c.kvRows(l)
		first.K, first.V = append(first.K, whole.K[l][:n*k:n*k]), append(first.V, whole.V[l][:n*v:n*v])
		restK, restV := whole.K[l][n*k:], whole.V[l][n*v:]
		if c.windowOf(l) > 0 {
			restK, restV = slices.Clone(restK), slices.Clone(restV)
		}
		second.K, second.V = append(second.K, restK), append(second.V, restV)
	}
	s.kv.Spans = slices.Replace(s.kv.Spans, i, i+1, first, second)
	s.owned = slices.Insert(s.owned, i, s.owned[i])
	s.divideAllocated(i)
}

// Fork returns a second sequence with the same positions. It copies nothing: the sequences share the memory of these
// positions, which never changes again, and each adds positions in separate memory.
func (s *Seq) Fork() *Seq {
	s.dropTree()
	clear(s.owned)
	return &Seq{
		m: s.m, n: s.n, from: s.from, adapter: s.adapter,
		kv: npu.KV{Spans: slices.Clone(s.kv.Spans)}, owned: make([]bool, len(s.owned)), text: slices.Clone(s.text),
		memory: s.memory, allocated: s.shareAllocated(),
	}
}

// Truncate drops the positions from n on. If there are none, it does nothing. Decoding the same tokens again gives the
// same bits. After Forget, look at Len: it may have dropped all.
func (s *Seq) Truncate(n int) {
	s.dropTree()
	switch n = max(n, 0); {
	case n >= s.n:
	case n < s.from+s.m.config.window && s.from > 0:
		s.Release()
	default:
		s.cut(n)
	}
}

// dropTree drops a draft tree.
func (s *Seq) dropTree() {
	if len(s.tree) > 0 {
		s.tree = s.tree[:0]
		s.cut(s.n)
	}
}

// cut shortens the spans to n positions.
func (s *Seq) cut(n int) {
	s.n = n
	s.text = s.text[:min(n, len(s.text))]
	for i := range s.kv.Spans {
		span := &s.kv.Spans[i]
		if n > span.Len {
			n -= span.Len
			continue
		}
		span.Len = n
		if keep := i + 1; keep < len(s.owned) && s.owned[keep] && s.free(i) == 0 {
			// The positions after a shared prefix are often computed again: keep their memory.
			s.kv.Spans[keep].Len = 0
			i++
		}
		clear(s.kv.Spans[i+1:]) // release the memory
		s.kv.Spans, s.owned = s.kv.Spans[:i+1], s.owned[:i+1]
		s.leaveFrom(i + 1)
		return
	}
}

// The capacity of a new span in positions is at least minSpan. It grows with what the sequence shares with no other, up to
// maxSpan: many answers that read the same long passages take little memory each, and an answer leaves little of it empty.
const minSpan, maxSpan = 8, 1024

// extend adds n slots. cut(s.n) removes them again.
func (s *Seq) extend(n int) {
	if last := len(s.kv.Spans) - 1; last >= 0 {
		more := min(n, s.free(last))
		s.kv.Spans[last].Len += more
		n -= more
	}
	if n > 0 {
		own := 0
		for i, span := range s.kv.Spans {
			if s.owned[i] {
				own += span.Len
			}
		}
		capacity := min(max(n, min(max(own/4, minSpan), maxSpan)), s.m.config.Context-s.n)
		s.kv.Spans = append(s.kv.Spans, newSpan(&s.m.config, n, max(n, capacity)))
		s.owned = append(s.owned, true)
		if last := len(s.kv.Spans) - 1; s.memory != nil {
			s.allocated = append(s.allocated, s.allocate(&s.kv.Spans[last]))
		}
	}
}

// free returns how many positions the sequence may add to span i.
func (s *Seq) free(i int) int {
	if !s.owned[i] {
		return 0
	}
	span := &s.kv.Spans[i]
	row, _ := s.m.config.kvRows(0)
	return len(span.K[0])/row - span.Len // the last span has forgotten nothing
}

// newSpan returns a span of n positions. Layers with windows have memory of their own, which Forget can give back.
func newSpan(c *Config, n, capacity int) npu.Span {
	span := npu.Span{Len: n, K: make([][]uint16, c.Layers), V: make([][]uint16, c.Layers)}
	near := int(c.windowBytes() / 2)
	memory := [2][]uint16{make([]uint16, capacity*(c.kvElements()-near)), make([]uint16, capacity*near)}
	for l := range c.Layers {
		k, v := c.kvRows(l)
		from := &memory[min(c.windowOf(l), 1)]
		span.K[l], *from = (*from)[:capacity*k:capacity*k], (*from)[capacity*k:]
		span.V[l], *from = (*from)[:capacity*v:capacity*v], (*from)[capacity*v:]
	}
	return span
}

// copyPosition copies keys and values of all layers from position a of one span to position b of another.
func (c *Config) copyPosition(dst *npu.Span, b int, src *npu.Span, a int) {
	for l := range src.K {
		k, v := c.kvRows(l)
		copy(dst.K[l][b*k:][:k], src.K[l][a*k:][:k])
		copy(dst.V[l][b*v:][:v], src.V[l][a*v:][:v])
	}
}

// The format of a saved sequence, little-endian: magic, version, the fingerprint of the model, of the cache's type and, if there
// is one, of the adapter; layers, width (16-bit elements of a position in all layers) and positions; then pieces of at most
// savedPiece positions, each with the keys and values of all layers; then the CRC-32C of everything before.
const (
	savedMagic   = "TandemKV"
	savedVersion = 1
	savedPiece   = 256
)

type savedHead struct {
	Magic         [8]byte
	Version       uint32
	Fingerprint   [32]byte
	Layers, Width uint32
	Positions     uint32
}

// errSaved is wrapped by errors of ReadSeqWith about data that is not a saved sequence, is damaged, or belongs to another
// model. The remedy is to compute the sequence again.
var errSaved = errors.New("saved sequence cannot be used")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// WriteTo saves the sequence. It implements io.WriterTo.
func (s *Seq) WriteTo(w io.Writer) (int64, error) {
	if s.from > 0 {
		return 0, fmt.Errorf("layers with windows have forgotten the first %d positions, so the sequence cannot be saved", s.from)
	}
	s.dropTree()
	c := &s.m.config
	out := savedWriter{w: w, sum: crc32.New(castagnoli)}
	head := savedHead{Version: savedVersion, Fingerprint: s.m.cacheFingerprint(s.adapter),
		Layers: uint32(c.Layers), Width: uint32(c.kvElements()), Positions: uint32(s.n)}
	copy(head.Magic[:], savedMagic)
	out.b, _ = binary.Append(out.b, binary.LittleEndian, head)
	out.flush()
	for at := 0; at < s.n; at += savedPiece {
		n := min(savedPiece, s.n-at)
		for l := range c.Layers {
			k, v := c.kvRows(l)
			for pos := at; pos < at+n; pos++ {
				span, i := s.kv.At(pos)
				out.numbers(span.K[l][i*k:][:k])
			}
			for pos := at; pos < at+n; pos++ {
				span, i := s.kv.At(pos)
				out.numbers(span.V[l][i*v:][:v])
			}
			out.flush()
		}
	}
	out.b = binary.LittleEndian.AppendUint32(out.b, out.sum.Sum32())
	out.flush()
	return out.n, out.err
}

type savedWriter struct {
	w   io.Writer
	b   []byte
	sum hash.Hash32
	n   int64
	err error
}

func (o *savedWriter) numbers(v []uint16) {
	for _, x := range v {
		o.b = binary.LittleEndian.AppendUint16(o.b, x)
	}
}

func (o *savedWriter) flush() {
	if o.err == nil {
		o.sum.Write(o.b)
		var n int
		n, o.err = o.w.Write(o.b)
		o.n += int64(n)
	}
	o.b = o.b[:0]
}

// ReadSeqWith reads a sequence with an adapter that was written by WriteTo, and no byte beyond it; the adapter may be nil. It
// returns an error if the sequence belongs to another model, adapter or version, or is damaged. It allocates memory only as
// data arrives.
func (m *Model) ReadSeqWith(r io.Reader, a *Adapter) (*Seq, error) {
	c := &m.config
	width := c.kvElements()
	sum := crc32.New(castagnoli)
	var head savedHead
	b := make([]byte, binary.Size(head))
	if err := readSaved(r, b, sum); err != nil {
		return nil, err
	}
	if _, err := binary.Decode(b, binary.LittleEndian, &head); err != nil {
		return nil, fmt.Errorf("%w: %w", errSaved, err)
	}
	switch {
	case string(head.Magic[:]) != savedMagic:
		return nil, fmt.Errorf("%w: it does not start with %q", errSaved, savedMagic)
	case head.Version != savedVersion:
		return nil, fmt.Errorf("%w: it has version %d, want %d", errSaved, head.Version, savedVersion)
	case head.Fingerprint != m.cacheFingerprint(a):
		return nil, fmt.Errorf("%w: it belongs to another model or adapter (fingerprint %x, want %x)", errSaved, head.Fingerprint[:4], first4(m.cacheFingerprint(a)))
	case int64(head.Layers) != int64(c.Layers) || int64(head.Width) != int64(width) || int64(head.Positions) > int64(c.Context):
		return nil, fmt.Errorf("%w: %d positions of %d layers × %d do not fit %d of %d × %d",
			errSaved, head.Positions, head.Layers, head.Width, c.Context, c.Layers, width)
	}
	s := m.NewSeqWith(a)
	for s.n < int(head.Positions) {
		n := min(savedPiece, int(head.Positions)-s.n)
		span := newSpan(c, n, n)
		for l := range c.Layers {
			for _, to := range [][]uint16{span.K[l], span.V[l]} {
				b = slices.Grow(b[:0], 2*len(to))[:2*len(to)]
				if err := readSaved(r, b, sum); err != nil {
					return nil, err
				}
				for i := range to {
					to[i] = binary.LittleEndian.Uint16(b[2*i:])
				}
			}
		}
		s.kv.Spans, s.owned, s.n = append(s.kv.Spans, span), append(s.owned, true), s.n+n
	}
	want := sum.Sum32()
	b = slices.Grow(b[:0], 4)[:4]
	if err := readSaved(r, b, sum); err != nil {
		return nil, err
	}
	if got := binary.LittleEndian.Uint32(b); got != want {
		return nil, fmt.Errorf("%w: its checksum is %08x, want %08x", errSaved, want, got)
	}
	return s, nil
}

func readSaved(r io.Reader, b []byte, sum io.Writer) error {
	if _, err := io.ReadFull(r, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%w: it is truncated", errSaved)
		}
		return fmt.Errorf("read saved sequence: %w", err)
	}
	sum.Write(b)
	return nil
}

func first4(sum [32]byte) []byte { return sum[:4] }

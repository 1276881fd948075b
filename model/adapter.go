package model

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandem/npu"
	"tandem/npu/quant"
)

// A Delta is what an adapter adds to products of a model: y + (x·Aᵀ)·B (Samsung Eq. 1–4). Package lora makes it from files.
type Delta struct {
	Name    string
	Changes []Change
}

// A Change is a Delta's part for one matrix.
type Change struct {
	Weight string    // "blk.7.attn_q.weight"
	Rank   int       // at least 1
	A, B   []float32 // [Rank × columns of the weight], [Rank × its rows]; B includes every scale
}

// Approach says how a model's graphs reach adapters (Samsung §3.2).
type Approach uint8

const (
	// Inputs passes factors to one graph with each run. Rows of one pass may have different adapters, and another
	// adapter needs neither another graph nor a copy of weights.
	Inputs Approach = iota
	// Masked has one graph with all adapters, of which a mask keeps one for each row.
	Masked
	// Graphs has a graph for each adapter. They share the model's weights. Rows of different adapters take a pass each.
	Graphs
)

// Approaches are all of them, the default first.
var Approaches = []Approach{Inputs, Masked, Graphs}

func (a Approach) String() string {
	if int(a) < len(Approaches) {
		return [...]string{"inputs", "masked", "graphs"}[a]
	}
	return fmt.Sprintf("approach(%d)", uint8(a))
}

// Bounds of adapters.
const (
	MaxRank   = 1024 // of an adapter or a sum of adapters
	maxMasked = 64   // adapters in one graph
)

// An Adapter is a mounted Delta. Sequences that have it compute all their positions with it. Its factors are kept in 8 or 16
// bits: see factorType.
type Adapter struct {
	model       *Model
	name        string
	fingerprint [32]byte
	rank        int
	bytes       int64
	row         *npu.Adapter
	set         *graphSet
	targets     []string
}

// Name returns the Delta's name.
func (a *Adapter) Name() string { return a.name }

// Fingerprint returns a hash of the factors. Caches are valid only for an adapter with the same fingerprint.
func (a *Adapter) Fingerprint() [32]byte { return a.fingerprint }

// Rank returns the highest rank of its factors.
func (a *Adapter) Rank() int { return a.rank }

// Bytes returns the size of its factors.
func (a *Adapter) Bytes() int64 { return a.bytes }

// A graphSet holds a model's graphs, as an approach needs them.
type graphSet struct {
	programs []*npu.Programs // in ascending order of chunk sizes
	schedule npu.Schedule    // of passes without a scheduler
	everyRow bool            // rows without an adapter cannot join: every row gets the adapter
	inputs   *inputsOf
}

// inputsOf says which factors graphs take as inputs.
type inputsOf struct {
	rank    int      // of all factors
	targets []string // parts of the layer, sorted
}

// buckets are the ranks of graphs. An adapter of a lower rank counts as padded with zeros, so that adapters of ranks up to
// 64 can share one graph.
var buckets = []int{16, 64, 256, MaxRank}

// Mount turns deltas into adapters, by one approach. All adapters of one call share their graphs, whatever their ranks, if
// the approach has one graph for all. It is an error that names the tensor if a delta does not fit the model; then nothing
// is mounted.
func (m *Model) Mount(how Approach, deltas ...Delta) ([]*Adapter, error) {
	if m.config.Remote && len(deltas) > 0 {
		return nil, errRemote
	}
	list := make([]*Adapter, len(deltas))
	for i, d := range deltas {
		a, err := m.adapter(d, how)
		if err != nil {
			return nil, fmt.Errorf("adapter %s: %w", d.Name, err)
		}
		list[i] = a
	}
	var err error
	switch {
	case len(list) == 0:
		return nil, nil
	case how == Inputs:
		var set *graphSet
		if set, err = m.inputsSet(list); err == nil {
			for _, a := range list {
				a.set = set
			}
		}
	case how == Masked:
		err = m.mountMasked(list)
	case how == Graphs:
		err = m.mountGraphs(list)
	default:
		err = errors.New("not an approach")
	}
	if err != nil {
		return nil, fmt.Errorf("mount adapters (%v): %w", how, err)
	}
	return list, nil
}

// adapter checks a delta and rounds its factors, as factorType says.
func (m *Model) adapter(d Delta, how Approach) (*Adapter, error) {
	a := &Adapter{model: m, name: d.Name, row: &npu.Adapter{Factors: map[string]*npu.Tensor{}}}
	h := sha256.New()
	var both [2][]*npu.Tensor
	changes := slices.Clone(d.Changes)
	slices.SortStableFunc(changes, func(a, b Change) int { return strings.Compare(a.Weight, b.Weight) })
	for _, c := range changes {
		w := m.tensors.found[c.Weight]
		part, ok := layerPart(c.Weight)
		switch {
		case w == nil || !ok || !m.adapts(part):
			return nil, fmt.Errorf("the model has no product with %q that can be adapted: use an adapter of its layers' %s", c.Weight, strings.Join(m.adaptable(), ", "))
		case a.row.Factors[factorA(c.Weight)] != nil:
			return nil, fmt.Errorf("tensor %q: two changes", c.Weight)
		case c.Rank < 1 || c.Rank > MaxRank:
			return nil, fmt.Errorf("tensor %q: rank %d, want 1 to %d", c.Weight, c.Rank, MaxRank)
		case len(c.A) != c.Rank*w.Cols || len(c.B) != c.Rank*w.Rows:
			return nil, fmt.Errorf("tensor %q: factors of %d and %d numbers for rank %d do not fit its %d×%d: the adapter is for another model",
				c.Weight, len(c.A), len(c.B), c.Rank, w.Rows, w.Cols)
		}
		for columns, f := range []struct {
			name string
			cols int
			v    []float32
		}{{factorA(c.Weight), w.Cols, c.A}, {factorB(c.Weight), w.Rows, inBlocks(c.B, c.Rank, w.Rows)}} {
			t, err := rounded(f.name, factorType(how, w, f.cols), c.Rank, f.cols, f.v)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(h, "%q %d %d\n", t.Name, t.Rows, t.Cols)
			h.Write(t.Data)
			a.row.Factors[f.name] = t
			both[columns] = append(both[columns], t)
		}
		a.rank = max(a.rank, c.Rank)
		if !slices.Contains(a.targets, part) {
			a.targets = append(a.targets, part)
		}
	}
	if len(changes) == 0 {
		return nil, errors.New("it changes nothing: leave it out")
	}
	if p := m.device.Traits().Packer; p != nil {
		p.PackFactors(inUse(changes, both))
	}
	for _, t := range a.row.Factors {
		a.bytes += int64(len(t.Data))
	}
	slices.Sort(a.targets)
	h.Sum(a.fingerprint[:0])
	return a, nil
}

// inUse returns factors A and B in the order in which a layer uses them.
func inUse(changes []Change, both [2][]*npu.Tensor) (a, b []*npu.Tensor) {
	order := []string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}
	at := make([]int, len(changes))
	for i := range at {
		at[i] = i
	}
	layer := func(c Change) (string, int) {
		part, _ := layerPart(c.Weight)
		return strings.TrimSuffix(c.Weight, part+".weight"), slices.Index(order, part)
	}
	slices.SortStableFunc(at, func(i, j int) int {
		x, p := layer(changes[i])
		y, q := layer(changes[j])
		return cmp.Or(strings.Compare(x, y), cmp.Compare(p, q))
	})
	for _, i := range at {
		a, b = append(a, both[0][i]), append(b, both[1][i])
	}
	return a, b
}

// factorType returns the type in which factors for a weight are stored: 8 bits for inputs next to quantised weights, 16 bits
// otherwise. 8 bits are at least as precise as such weights, and reading factors takes most of the time of adapters (measured
// with 8 rows of 8 adapters).
func factorType(how Approach, w *npu.Tensor, cols int) npu.DType {
	if how == Inputs && w.Type.BlockSize() > 1 && cols%npu.Q8_0.BlockSize() == 0 {
		return npu.Q8_0
	}
	return npu.F16
}

// inBlocks returns B in the order of npu.FactorAt.
func inBlocks(b []float32, rank, out int) []float32 {
	v := make([]float32, len(b))
	for row := range rank {
		for col := range out {
			v[npu.FactorAt(rank, out, row, col)] = b[row*out+col]
		}
	}
	return v
}

// rounded rounds a factor.
func rounded(name string, typ npu.DType, rows, cols int, v []float32) (*npu.Tensor, error) {
	const most = 65504
	for i, x := range v {
		if !(x >= -most && x <= most) {
			return nil, fmt.Errorf("tensor %q: element %d is %v, not a number up to %d: the adapter is damaged", name, i, x, most)
		}
	}
	t := &npu.Tensor{Name: name, Type: typ, Rows: rows, Cols: cols, Data: make([]byte, rows*typ.RowBytes(cols))}
	return t, quant.Quantize(typ, t.Data, v)
}

func factorA(weight string) string { return weight + ".lora_a" }
func factorB(weight string) string { return weight + ".lora_b" }

// layerPart returns "attn_q" of "blk.7.attn_q.weight".
func layerPart(weight string) (string, bool) {
	name, ok := strings.CutSuffix(weight, ".weight")
	rest, layer := strings.CutPrefix(name, "blk.")
	_, part, dot := strings.Cut(rest, ".")
	return part, ok && layer && dot
}

// adaptable returns the parts of a layer whose products adapters may change.
func (m *Model) adaptable() []string {
	var list []string
	for name := range m.tensors.found {
		if part, ok := layerPart(name); ok && strings.HasPrefix(name, "blk.0.") && m.adapts(part) {
			list = append(list, part)
		}
	}
	slices.Sort(list)
	return list
}

// adapts reports whether a part of a layer is a matrix of a product.
func (m *Model) adapts(part string) bool {
	w := m.tensors.found["blk.0."+part+".weight"]
	return w != nil && w.Rows > 1
}

// inputsSet returns graphs that take the factors of all adapters as inputs. It compiles them if there are none yet.
func (m *Model) inputsSet(list []*Adapter) (*graphSet, error) {
	in := &inputsOf{}
	for _, a := range list {
		in.rank = max(in.rank, a.rank)
		in.targets = append(in.targets, a.targets...)
	}
	return m.inputs(in)
}

func (m *Model) inputs(in *inputsOf) (*graphSet, error) {
	at, _ := slices.BinarySearch(buckets, in.rank)
	in.rank = buckets[min(at, len(buckets)-1)]
	slices.Sort(in.targets)
	in.targets = slices.Compact(in.targets)
	key := fmt.Sprintf("rank %d, %s", in.rank, strings.Join(in.targets, " "))
	m.setsMu.Lock()
	defer m.setsMu.Unlock()
	if s := m.sets[key]; s != nil {
		return s, nil
	}
	s, err := m.compileAdapted("", func(b *block, y, x npu.Value, weight string) npu.Value {
		if part, _ := layerPart(weight); slices.Contains(in.targets, part) {
			return b.LoRA(y, x, in.rank, factorA(weight), factorB(weight))
		}
		return y
	})
	if err != nil {
		return nil, err
	}
	s.inputs = in
	m.sets[key] = s
	return s, nil
}

// mountGraphs compiles a graph for each adapter, with its factors as weights.
func (m *Model) mountGraphs(list []*Adapter) error {
	for _, a := range list {
		s, err := m.compileAdapted(" for "+a.name, func(b *block, y, x npu.Value, weight string) npu.Value {
			low, up := a.row.Factors[factorA(weight)], a.row.Factors[factorB(weight)]
			if low == nil {
				return y
			}
			return b.Add(y, b.MatMul(b.MatMul(x, low, nil), unpackB(up, up.Rows, 0, nil), nil))
		})
		if err != nil {
			return err
		}
		s.everyRow = true
		a.set, a.row = s, nil
	}
	return nil
}

// mountMasked compiles one graph with all adapters.
func (m *Model) mountMasked(list []*Adapter) error {
	if len(list) > maxMasked {
		return fmt.Errorf("%d adapters in one graph, at most %d: use inputs", len(list), maxMasked)
	}
	stacked := map[string][2]*npu.Tensor{} // graphs of all chunk sizes share them
	s, err := m.compileAdapted(fmt.Sprintf(" for %d adapters", len(list)), func(b *block, y, x npu.Value, weight string) npu.Value {
		pair, ok := stacked[weight]
		if !ok {
			pair = stack(list, weight)
			stacked[weight] = pair
		}
		if pair[0] == nil {
			return y
		}
		return b.Add(y, b.MatMul(b.Select(b.MatMul(x, pair[0], nil), len(list)), pair[1], nil))
	})
	if err != nil {
		return err
	}
	for i, a := range list {
		a.set, a.row = s, &npu.Adapter{Task: i}
	}
	return nil
}

// stack returns the factors of all adapters for a weight as two matrices [adapters·rank × in] and [out × adapters·rank],
// padded with zeros to the highest rank; nil if none changes it.
func stack(list []*Adapter, weight string) (pair [2]*npu.Tensor) {
	rank, in := 0, 0
	for _, a := range list {
		if t := a.row.Factors[factorA(weight)]; t != nil {
			rank, in = max(rank, t.Rows), t.Cols
		}
	}
	if rank == 0 {
		return pair
	}
	ranks := len(list) * rank
	low := &npu.Tensor{Name: factorA(weight), Type: npu.F16, Rows: ranks, Cols: in, Data: make([]byte, 2*ranks*in)}
	var up *npu.Tensor
	for i, a := range list {
		if t := a.row.Factors[factorA(weight)]; t != nil {
			copy(low.Data[2*i*rank*in:], t.Data)
			up = unpackB(a.row.Factors[factorB(weight)], ranks, i*rank, up)
		}
	}
	return [2]*npu.Tensor{low, up}
}

// unpackB writes LoRA-B as the weights of a product [out × ranks], from column from on, into to, or into a new tensor if
// to is nil.
func unpackB(b *npu.Tensor, ranks, from int, to *npu.Tensor) *npu.Tensor {
	if to == nil {
		to = &npu.Tensor{Name: b.Name, Type: b.Type, Rows: b.Cols, Cols: ranks, Data: make([]byte, 2*b.Cols*ranks)}
	}
	for row := range b.Rows {
		for col := range b.Cols {
			copy(to.Data[2*(col*ranks+from+row):][:2], b.Data[2*npu.FactorAt(b.Rows, b.Cols, row, col):])
		}
	}
	return to
}

// compileAdapted compiles the model's blocks with adapters, for all chunk sizes. more is added to the names of the layers'
// graphs: graphs of one name are one to a phone's NPU.
func (m *Model) compileAdapted(more string, adapt adapt) (*graphSet, error) {
	s := &graphSet{}
	for _, chunk := range m.chunks {
		blocks := m.config.blocksWith(m.tensors, chunk, adapt)
		for _, g := range blocks[1 : len(blocks)-1] {
			g.Name += more
		}
		programs, err := compileFor(m.device, blocks, chunk, m.device.Traits().LayersAtOnce)
		if err != nil {
			return nil, err
		}
		s.programs = append(s.programs, programs)
	}
	m.keep(s)
	return s, nil
}

// keep drops programs that the device's scheduler does not need.
func (m *Model) keep(s *graphSet) {
	if m.scheduler != nil {
		s.programs = m.scheduler.Keep(s.programs)
	}
	s.schedule = smallest(s.programs)
}

// A share is the inputs of a pass that run on the same graphs.
type share struct {
	*graphSet
	inputs  []Input
	indices []int // of the inputs in the pass
}

// shares divides a pass by graphs. Inputs whose adapters are inputs of graphs go together with those without an adapter.
func (m *Model) shares(inputs []Input) ([]share, error) {
	var list []share
	add := func(s *graphSet, i int) {
		at := slices.IndexFunc(list, func(x share) bool { return x.graphSet == s })
		if at < 0 {
			at, list = len(list), append(list, share{graphSet: s})
		}
		list[at].inputs, list[at].indices = append(list[at].inputs, inputs[i]), append(list[at].indices, i)
	}
	var joint []*Adapter
	for _, in := range inputs {
		for _, a := range []*Adapter{in.Seq.adapter, in.EmbedsAdapter} {
			if a != nil && a.set.inputs != nil && !slices.Contains(joint, a) {
				joint = append(joint, a)
			}
		}
	}
	host, err := m.jointGraphs(joint) // of inputs without adapters
	if err != nil {
		return nil, err
	}
	for i, in := range inputs {
		switch a := in.Seq.adapter; {
		case a != nil && a.set.inputs != nil:
			add(host, i)
		case a != nil:
			add(a.set, i)
		case in.EmbedsAdapter != nil:
			add(host, i)
		}
	}
	if host == nil {
		for _, s := range list {
			if !s.everyRow {
				host = s.graphSet
				break
			}
		}
	}
	if host == nil {
		host = m.base
	}
	for i, in := range inputs {
		if in.Seq.adapter == nil && in.EmbedsAdapter == nil {
			add(host, i)
		}
	}
	return list, nil
}

// jointGraphs returns the graphs of the adapters, or others for all of them if they were mounted apart; nil without adapters.
func (m *Model) jointGraphs(list []*Adapter) (*graphSet, error) {
	if len(list) == 0 {
		return nil, nil
	}
	set := list[0].set
	if !slices.ContainsFunc(list, func(a *Adapter) bool { return a.set != set }) {
		return set, nil
	}
	in := &inputsOf{}
	for _, a := range list {
		in.rank = max(in.rank, a.set.inputs.rank)
		in.targets = append(in.targets, a.set.inputs.targets...)
	}
	return m.inputs(in)
}

// cacheFingerprint is the fingerprint of KV caches that were computed with an adapter, or with none: the model's, if they are
// stored as F16 and rotated as usual.
func (m *Model) cacheFingerprint(a *Adapter) [32]byte {
	sum := m.Fingerprint()
	if a == nil && m.config.KV == npu.CacheF16 && !m.config.Long {
		return sum
	}
	h := sha256.New()
	h.Write(sum[:])
	if m.config.KV != npu.CacheF16 {
		fmt.Fprintf(h, "cache %v\n", m.config.KV)
	}
	if m.config.Long {
		fmt.Fprintln(h, "long context")
	}
	if a != nil {
		h.Write(a.fingerprint[:])
	}
	return [32]byte(h.Sum(nil))
}

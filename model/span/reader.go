package span

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/quant"
)

// Architecture is the value of general.architecture of the files that Open reads.
const Architecture = "tandem-span"

// rules is the version of how text becomes words and features that this package follows.
const rules = 2

// version is that of the network that this package computes.
const version = 3

// headWidth is how many numbers of a word's state a head of attention sees.
const headWidth = 32

// chunk is how many rows a product takes at once.
const chunk = 512

// Bounds of what a file may ask for.
const (
	maxBlocks = 64
	maxWidth  = 4096
	maxWords  = 4096
)

// Reader is a span reader. Several goroutines may use it at once.
type Reader struct {
	name    func() string
	whole   func() [32]byte // see wholeOf
	device  npu.Device
	threads int
	lexicon lexicon

	words, parts           table
	align, enter           linear
	joinP, joinQ           linear
	mix, head, meet        linear
	seeP, seeQ, pool, ends linear
	none1, none2           linear
	see                    []float32
	encoders, blocks       []block
	encoded, last          norm

	far, longest                int
	maxPassage, maxQuestion     int
	epsilon, fuzzy              float32
	ones                        []float32 // as many as a state has numbers
	noneBias, temperature, most float32

	passes sync.Pool // of *pass
	kept   kept

	store    Store // for other processes; nil for none
	unstored sync.Once
}

// Parameters returns how many numbers a span reader's file holds that were trained. How rare each word is was counted.
func Parameters(f *gguf.File) (n uint64) {
	for _, t := range f.Tensors {
		if t.Name != "idf" {
			n += t.Elements()
		}
	}
	return n
}

// New makes a reader of a GGUF file whose products run on a device. It reads as many passages at once as it is given
// threads, or as there are processors for 0: products of one passage are too small to share, so the device itself needs one
// thread. The file and the device must stay open while the reader is in use.
func New(f *gguf.File, d npu.Device, threads int) (*Reader, error) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	r := &Reader{device: d, threads: threads}
	r.passes.New = func() any { return &pass{Reader: r} }
	r.name = sync.OnceValue(func() string { return nameOf(f) })
	r.whole = sync.OnceValue(func() [32]byte { return wholeOf(f, r.name()) })
	l := loader{f: f, device: d}
	if a, _ := f.String("general.architecture"); a != Architecture {
		return nil, fmt.Errorf("%s: architecture %q is not a span reader: want %q", f.Name, a, Architecture)
	}
	if v := l.number("rules", 1<<30); l.err() == nil && v != rules {
		return nil, fmt.Errorf("%s: made for version %d of the word rules; this program has version %d", f.Name, v, rules)
	}
	if v := l.number("network", 1<<30); l.err() == nil && v != version {
		return nil, fmt.Errorf("%s: version %d of the network; this program computes version %d", f.Name, v, version)
	}
	r.far, r.longest = l.number("far", maxWords), l.number("longest", maxWords)
	r.maxPassage, r.maxQuestion = l.number("max_passage", maxWords), l.number("max_question", maxWords)
	r.epsilon, r.fuzzy = l.float("epsilon"), l.float("fuzzy")
	r.noneBias, r.temperature, r.most = l.float("none_bias"), l.float("temperature"), l.float("threshold")
	d0, e := l.number("hidden_length", maxWidth), l.number("embedding_length", maxWidth)
	l.is("base_features", baseFeatures)
	l.is("match_features", matchFeatures)
	l.is("parts", numParts)
	encoders, blocks := l.number("encoder_count", maxBlocks), l.number("block_count", maxBlocks)
	l.is("head_count", max(1, d0/headWidth))
	if err := l.err(); err != nil {
		return nil, err
	}
	if d0%headWidth != 0 || e%native.Columns != 0 || r.temperature <= 0 {
		return nil, fmt.Errorf("%s: width %d for heads of %d, embeddings of %d, temperature %v", f.Name, d0, headWidth, e, r.temperature)
	}
	r.ones = slices.Repeat([]float32{1}, d0)
	r.lexicon = l.lexicon()
	go r.lexicon.abroad() // some milliseconds, while the network is loaded
	r.network(&l, d0, e, encoders, blocks)
	return r, l.err()
}

// network loads the layers of width d over embeddings of width e.
func (r *Reader) network(l *loader, d, e, encoders, blocks int) {
	r.words, r.parts = l.table("words.weight", len(r.lexicon.idf)+1, e), l.table("parts.weight", int(r.lexicon.buckets), e)
	r.align = l.linear("align", e, e)
	r.enter = l.linear("enter", e+baseFeatures, d)
	r.encoders = l.blocks("encoder", encoders, d)
	r.encoded, r.last = l.norm("encoded", d), l.norm("read", d)
	r.joinP, r.joinQ = l.linear("join_p", e+matchFeatures, d), l.linear("join_q", matchFeatures, d)
	r.seeP, r.seeQ, r.see = l.linear("see_p", d, 1), l.linear("see_q", d, 1), l.vector("see", d)
	r.mix = l.linear("mix", 4*d, d)
	r.pool, r.head = l.linear("pool", d, 1), l.linear("head", 3*d, d)
	r.ends, r.meet = l.linear("ends", d, 2), l.linear("meet", d, 128)
	r.none1, r.none2 = l.linear("none1", 2*d+matchFeatures, 64), l.linear("none2", 64, 1)
	r.blocks = l.blocks("blocks", blocks, d)
}

// Threshold is the P(no answer) above which the reader refuses to answer.
func (r *Reader) Threshold() float64 { return float64(r.most) }

// Name identifies the reader and its weights. Two sides compare it, because the posteriors of different readers are not
// comparable.
func (r *Reader) Name() string { return r.name() }

// Device returns the name of the device that computes the reader.
func (r *Reader) Device() string { return r.device.Name() }

// nameOf returns the version of the network and a hash of the file's tensors and of the lists of other languages.
func nameOf(f *gguf.File) string {
	sum := sha256.New()
	for _, t := range f.Tensors {
		raw, err := f.Tensor(t.Name)
		if err != nil { // New has read them all
			continue
		}
		fmt.Fprintf(sum, "%s %d %d %d\n", t.Name, raw.Type, raw.Rows, raw.Cols)
		sum.Write(raw.Data)
	}
	fmt.Fprintf(sum, "%08x\n", dictionariesSum())
	return fmt.Sprintf("span-%d-%x", version, sum.Sum(nil)[:4])
}

// Passage is a passage with all that does not depend on a question.
type Passage struct {
	text  *text
	known func() (known, error) // computed when it is first asked for
}

// Passage analyses a passage, of which it takes the first words up to the reader's limit. The first Read computes what does not
// depend on the question. The reader keeps the passages that it was given last.
func (r *Reader) Passage(s string) *Passage {
	if p := r.kept.find(s); p != nil {
		return p
	}
	return r.kept.add(s, r.passage(s))
}

func (r *Reader) passage(s string) *Passage {
	t := r.lexicon.analyse(s, r.maxPassage)
	return &Passage{t, once(func() (known, error) { return r.encoding(s, t) })}
}

// once returns a function that calls f on the first call and returns the same result from then on. After an error it
// calls f again.
func once(f func() (known, error)) func() (known, error) {
	var mu sync.Mutex
	var done bool
	var k known
	return func() (_ known, err error) {
		mu.Lock()
		defer mu.Unlock()
		if !done {
			k, err = f()
			done = err == nil
		}
		return k, err
	}
}

// encode computes what does not depend on another text.
func (r *Reader) encode(t *text, question bool) (known, error) {
	c := r.passes.Get().(*pass)
	defer r.passes.Put(c)
	return c.encode(t, question)
}

// Len returns how many words the reader takes of the passage.
func (p *Passage) Len() int { return len(p.text.words) }

// Span is a part of a passage, from byte Begin up to byte End, with its probability.
type Span struct {
	Begin, End int
	P          float64
}

// Posterior is what a reader makes of a question and a passage. The probabilities of all spans and None sum to 1.
type Posterior struct {
	None  float64 // that the passage does not answer
	Spans []Span  // those above 0, by their first byte, then by their last
}

// Best returns the n likeliest spans, the likeliest first.
func (p *Posterior) Best(n int) []Span {
	s := slices.Clone(p.Spans)
	slices.SortFunc(s, func(a, b Span) int {
		return cmp.Or(cmp.Compare(b.P, a.P), cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End))
	})
	return s[:min(n, len(s))]
}

// Read asks an English question of passages. ctx stops it between passages, with the context's error.
func (r *Reader) Read(ctx context.Context, question string, passages []*Passage) ([]*Posterior, error) {
	return r.ReadIn(ctx, English, question, passages)
}

// ReadIn is Read for a question whose function words and verbs are English, and whose other words are in the language
// t.
func (r *Reader) ReadIn(ctx context.Context, t Language, question string, passages []*Passage) ([]*Posterior, error) {
	q := r.lexicon.analyseIn(question, r.maxQuestion, t)
	asked := &Passage{q, once(func() (known, error) { return r.encode(q, true) })}
	out, failed := make([]*Posterior, len(passages)), make([]error, len(passages))
	each(len(passages), r.threads, func(i int) {
		if ctx.Err() == nil {
			out[i], failed[i] = r.read(asked, passages[i])
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, errors.Join(failed...)
}

// each calls f with 0 to n−1, on as many goroutines as there are threads. If a call panics, so does each, when all have ended.
func each(n, threads int, f func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	var panicked atomic.Pointer[any]
	for range min(n, threads) {
		wait.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panicked.Store(&p)
				}
			}()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wait.Wait()
	if p := panicked.Load(); p != nil {
		panic(*p)
	}
}

// read asks a question of a passage.
func (r *Reader) read(q, p *Passage) (*Posterior, error) {
	if len(q.text.words) == 0 || len(p.text.words) == 0 {
		return &Posterior{None: 1}, nil
	}
	kp, err := p.known()
	if err != nil {
		return nil, err
	}
	kq, err := q.known()
	if err != nil {
		return nil, err
	}
	c := r.passes.Get().(*pass)
	defer r.passes.Put(c)
	c.room.release(place{})
	f, g := features(q.text, p.text, c.fuzzy, c.lexicon.relations)
	spans, none, err := c.scores(flat(f), flat(g), kq, kp)
	if err != nil {
		return nil, err
	}
	return c.posterior(p.text, spans, none), nil
}

// posterior turns scores into probabilities.
func (r *Reader) posterior(t *text, spans rows, none float32) *Posterior {
	z := make([]float32, 0, spans.n*r.longest+1)
	for i := range spans.n {
		for k := range min(r.longest, spans.n-i) {
			z = append(z, spans.at(i)[k]/r.temperature)
		}
	}
	z = append(z, (none+r.noneBias)/r.temperature)
	native.Softmax(z, 1)
	p := &Posterior{None: float64(z[len(z)-1]), Spans: make([]Span, 0, len(z))}
	at := 0
	for i := range spans.n {
		for k := range min(r.longest, spans.n-i) {
			if z[at] > 0 {
				p.Spans = append(p.Spans, Span{t.words[i].begin, t.words[i+k].end, float64(z[at])})
			}
			at++
		}
	}
	return p
}

// loader reads a file's values and remembers the first thing that is wrong.
type loader struct {
	f      *gguf.File
	device npu.Device
	first  error
}

func (l *loader) err() error { return l.first }

func (l *loader) fail(format string, args ...any) {
	if l.first == nil {
		l.first = fmt.Errorf("%s: %w", l.f.Name, fmt.Errorf(format, args...))
	}
}

// number returns an integer from 1 to limit.
func (l *loader) number(key string, limit uint64) int {
	v, ok := l.f.Uint(Architecture + "." + key)
	if !ok || v < 1 || v > limit {
		l.fail("%s.%s is %d: want 1 to %d", Architecture, key, v, limit)
		return 1
	}
	return int(v)
}

func (l *loader) is(key string, want int) {
	if v := l.number(key, 1<<30); v != want {
		l.fail("%s.%s is %d: want %d", Architecture, key, v, want)
	}
}

func (l *loader) float(key string) float32 {
	v, ok := l.f.Float(Architecture + "." + key)
	if !ok || v != v {
		l.fail("%s.%s is missing or no number", Architecture, key)
	}
	return float32(v)
}

func (l *loader) strings(key string) []string {
	v, ok := l.f.Strings(Architecture + "." + key)
	if !ok {
		l.fail("%s.%s is missing", Architecture, key)
	}
	return v
}

func (l *loader) set(key string) map[string]bool {
	out := map[string]bool{}
	for _, w := range l.strings(key) {
		out[w] = true
	}
	return out
}

// lexicon reads what the file says about words.
func (l *loader) lexicon() lexicon {
	known := l.strings("words")
	x := lexicon{
		row: make(map[string]int32, len(known)), idf: l.vector("idf", len(known)), stop: l.set("stop_words"),
		abbreviations: l.set("abbreviations"), suffixes: l.strings("suffixes"),
		irregular: map[string]string{}, fold: map[rune]rune{}, buckets: uint32(l.number("buckets", 1<<24)),
	}
	for i, w := range known {
		x.row[w] = int32(i + 1)
	}
	for _, pair := range l.strings("irregular") {
		from, to, _ := strings.Cut(pair, ":")
		x.irregular[from] = to
	}
	for _, pair := range l.strings("fold") {
		from, n := utf8.DecodeRuneInString(pair)
		to, m := utf8.DecodeRuneInString(pair[n:])
		if m == 0 || n+m != len(pair) {
			l.fail("%s.fold holds %q: want two letters", Architecture, pair)
			continue
		}
		x.fold[from] = to
	}
	x.relations = l.relations()
	x.abroad = sync.OnceValue(x.formsAbroad)
	return x
}

// relations reads the lines "word other5 another3".
func (l *loader) relations() relations {
	lines := l.strings("relations")
	out := make(relations, len(lines))
	for _, line := range lines {
		head, others, _ := strings.Cut(line, " ")
		for other := range strings.FieldsSeq(others) {
			if grade := other[len(other)-1]; grade < '1' || grade > '9' {
				l.fail("%s.relations holds %q after %q: want a word and a digit from 1 to 9", Architecture, other, head)
			}
		}
		out[head] = others
	}
	return out
}

// tensor returns a tensor of the given shape.
func (l *loader) tensor(name string, rows, cols int) (npu.Tensor, bool) {
	t, err := l.f.Tensor(name)
	if err == nil && (t.Rows != rows || t.Cols != cols) {
		err = fmt.Errorf("tensor %q is %d×%d: want %d×%d", name, t.Rows, t.Cols, rows, cols)
	}
	if err == nil {
		err = t.Check()
	}
	if err != nil {
		l.fail("%w", err)
	}
	return t, err == nil
}

// vector returns a tensor of one row as numbers.
func (l *loader) vector(name string, n int) []float32 {
	out := make([]float32, n)
	if t, ok := l.tensor(name, 1, n); ok {
		if err := quant.Dequantize(t.Type, out, t.Data); err != nil {
			l.fail("tensor %q: %w", name, err)
		}
	}
	return out
}

func (l *loader) table(name string, rows, cols int) table {
	t, _ := l.tensor(name, rows, cols)
	return table{t, cols, func(dst []float32, src []byte) error { return quant.Dequantize(t.Type, dst, src) }}
}

// linear loads a layer from in to out numbers.
func (l *loader) linear(name string, in, out int) linear {
	x := linear{out: out, bias: make([]float32, out)}
	if l.f.Has(name + ".bias") {
		x.bias = l.vector(name+".bias", out)
	}
	t, ok := l.tensor(name+".weight", out, in)
	if !ok {
		return x
	}
	if t.Type == npu.F32 && out < 32 {
		x.weight = newRows(out, in)
		if err := quant.Dequantize(t.Type, x.weight.x, t.Data); err != nil {
			l.fail("tensor %q: %w", t.Name, err)
		}
		return x
	}
	g := npu.NewGraph(name, chunk)
	var bias *npu.Tensor
	if l.f.Has(name + ".bias") {
		b, _ := l.tensor(name+".bias", 1, out)
		bias = &b
	}
	g.MatMul(g.Input(in), &t, bias)
	program, err := l.device.Compile(g)
	if err != nil {
		l.fail("%w", err)
	}
	x.program = program
	return x
}

func (l *loader) norm(name string, d int) norm {
	return norm{l.vector(name+".weight", d), l.vector(name+".bias", d)}
}

// blocks loads n blocks of width d.
func (l *loader) blocks(name string, n, d int) (out []block) {
	for k := range n {
		out = append(out, l.block(fmt.Sprintf("%s.%d", name, k), d))
	}
	return out
}

// block loads a block of width d.
func (l *loader) block(name string, d int) block {
	b := block{
		q: l.linear(name+".q", d, d), kv: l.linear(name+".kv", d, 2*d), o: l.linear(name+".o", d, d),
		up: l.linear(name+".up", d, 3*d), down: l.linear(name+".down", 3*d, d),
		slope: l.vector(name+".slope", d/headWidth),
	}
	for k := range b.conv {
		b.convNorm[k] = l.norm(fmt.Sprintf("%s.conv_norm.%d", name, k), d)
		b.conv[k] = l.linear(fmt.Sprintf("%s.conv.%d", name, k), 3*d, 2*d)
		b.norm[k] = l.norm(fmt.Sprintf("%s.norm%d", name, k+1), d)
	}
	return b
}

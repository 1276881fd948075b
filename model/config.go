package model

import (
	"fmt"
	"math"
	"slices"

	"tandem"
	"tandem/model/gguf"
	"tandem/npu"
)

// Config holds a transformer's hyper-parameters.
type Config struct {
	Arch    string // one of Architectures
	Name    string // as the file calls it
	Layers  int
	Dim     int // width of the residual stream
	Heads   int // query heads
	KVHeads int // key-value heads; Heads/KVHeads query heads share one
	HeadDim int
	FF      int // width of the feed-forward layer
	Vocab   int
	Context int      // the most positions of a sequence
	Eps     float32  // of the norms
	Rope    npu.Rope // zero where positions are not rotated

	// Pooling says, for an encoder, how the vectors of a text's tokens become one (Model.Embed); NoPooling for models that
	// write.
	Pooling Pooling

	KV   npu.CacheType // how sequences store keys and values; no key of the file
	Long bool          // whether positions are rotated for a long context (see LongContext)

	scales     scales
	caps       caps
	temper     temper
	experts    experts
	plainNorms bool                 // LayerNorms have no bias
	long       *longRope            // what LongRoPE does beyond the context of the first training; nil for none
	convolved  []bool               // layers with a short convolution instead of attention; nil for none
	conv       int                  // positions of such a convolution
	window     int                  // of layers that attend to the last positions only; 0 for none
	windowed   func(layer int) bool // which do
	localRope  npu.Rope             // of these layers, if it differs; zero if not

	Remote bool // another program computes the model, and only its vocabulary is here (OpenVocabulary)

	// For diffusion models, whose rows attend both ways (Model.Denoise); else zero.
	Diffusion bool
	Shifted   bool         // the row of a token gives the logits of the next position, instead of its own
	Mask      tandem.Token // stands for a token that is not decided
	// CausalPrompt says that the rows of a prompt attend only to those before: only the answer's rows attend both ways.
	CausalPrompt bool
}

// windowOf returns how many of the last positions a layer attends to; 0 for all.
func (c *Config) windowOf(layer int) int {
	if c.window > 0 && c.window < c.Context && c.windowed(layer) {
		return c.window
	}
	return 0
}

// kvRows returns how many elements of a span's K and V a position takes in a layer. Short convolutions keep their inputs, as
// F16, instead of keys, so that a sequence can be cut anywhere.
func (c *Config) kvRows(layer int) (k, v int) {
	if c.convolved != nil && c.convolved[layer] {
		return c.Dim, 0
	}
	row := c.KV.Row(c.KVHeads * c.HeadDim)
	return row, row
}

// kvElements returns how many elements a position takes in all layers.
func (c *Config) kvElements() (n int) {
	for l := range c.Layers {
		k, v := c.kvRows(l)
		n += k + v
	}
	return n
}

// windowBytes returns the size of the keys and values of a position in the layers with windows.
func (c *Config) windowBytes() (n int64) {
	for l := range c.Layers {
		if c.windowOf(l) > 0 {
			k, v := c.kvRows(l)
			n += 2 * int64(k+v)
		}
	}
	return n
}

// KVBytes returns the size of the keys and values of a position, in all layers.
func (c *Config) KVBytes() int64 { return 2 * int64(c.kvElements()) }

// scales are an architecture's constant factors, 0 for none. That of attention replaces 1/√HeadDim.
type scales struct{ embedding, residual, attention, logits float32 }

// A longRope is the rotation and the context of a model that was trained on for longer contexts (Ding et al. 2024).
type longRope struct {
	rope    npu.Rope
	context int
}

// temper scales queries by their position (see npu.OpTemper); scale 0 means no scaling.
type temper struct {
	scale float32
	every int
}

// experts are the sizes of feed-forward layers that are mixtures of experts; all zero if there are none.
type experts struct {
	count, used, ff int
	all             bool // their weights are the softmax of all scores, not of the highest
}

// caps are limits of scores and of logits (see npu.OpSoftcap), 0 for none.
type caps struct{ scores, logits float32 }

// No model of these architectures comes near these bounds. They keep products of sizes within an int.
const (
	maxLayers  = 1024
	maxWidth   = 1 << 20
	maxContext = 1 << 24
)

// readConfig reads and checks the hyper-parameters in a file's metadata. Vocab and the frequency factors of the rotary
// embedding come with the tensors.
func readConfig(f *gguf.File) (Config, error) {
	r := metaReader{file: f}
	c := Config{Arch: r.text("general.architecture"), Name: r.optionalText("general.name")}
	if r.err != nil {
		return c, r.err
	}
	arch, err := architectureOf(c.Arch)
	if err != nil {
		return c, fmt.Errorf("%s: %w", f.Name, err)
	}
	r.arch = c.Arch + "."
	c.Layers = r.size("block_count", 1, maxLayers, 0)
	c.Context = r.size("context_length", 1, maxContext, 0)
	c.Dim = r.size("embedding_length", 1, maxWidth, 0)
	c.FF = r.size("feed_forward_length", 1, maxWidth, 0)
	c.Heads = r.size("attention.head_count", 1, maxWidth, 0)
	c.KVHeads = r.keyHeads(&c)
	r.features(arch, &c)
	c.HeadDim = r.size("attention.key_length", 1, maxWidth, c.Dim/max(1, c.Heads))
	values := r.size("attention.value_length", 1, maxWidth, c.HeadDim)
	if arch.moe {
		r.experts(&c)
	} else {
		r.refuse("expert_count", "mixtures of experts of this architecture")
	}
	switch {
	case r.err != nil:
	case c.Heads%c.KVHeads != 0:
		r.fail("%d heads cannot share %d key-value heads evenly", c.Heads, c.KVHeads)
	case c.Heads*c.HeadDim > maxWidth:
		r.fail("%d heads of %d elements are too many", c.Heads, c.HeadDim)
	case values != c.HeadDim:
		r.fail("%sattention.value_length is %d and key_length %d: they must be equal", r.arch, values, c.HeadDim)
	}
	arch.config(&r, &c)
	return c, r.err
}

// A metaReader reads metadata and keeps the first error.
type metaReader struct {
	file *gguf.File
	arch string
	err  error
}

func (r *metaReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %s", r.file.Name, fmt.Sprintf(format, args...))
	}
}

func (r *metaReader) text(key string) string {
	s, ok := r.file.Meta.String(key)
	if !ok {
		r.fail("metadata key %s is missing or not a text", key)
	}
	return s
}

func (r *metaReader) optionalText(key string) string {
	s, _ := r.file.Meta.String(key)
	return s
}

// size reads an integer from low to high. A missing key gives the fallback, or an error if that is 0.
func (r *metaReader) size(key string, low, high, fallback int) int {
	key = r.arch + key
	v, present := r.file.Value(key)
	if !present && fallback != 0 {
		return fallback
	}
	if !present {
		r.fail("metadata key %s is missing", key)
		return low
	}
	u, ok := r.file.Uint(key)
	if !ok {
		r.fail("metadata key %s is %T, not one whole number", key, v)
		return low
	}
	if u < uint64(low) || u > uint64(high) {
		r.fail("metadata key %s is %d: it must lie between %d and %d", key, u, low, high)
		return low
	}
	return int(u)
}

// number reads a finite number. A missing key gives the fallback, or an error if that is negative.
func (r *metaReader) number(key string, fallback float64) float64 {
	key = r.arch + key
	v, present := r.file.Value(key)
	if !present && fallback >= 0 {
		return fallback
	}
	f, ok := r.file.Float(key)
	switch {
	case !present:
		r.fail("metadata key %s is missing", key)
	case !ok:
		r.fail("metadata key %s is %T, not a number", key, v)
	case math.IsNaN(f) || math.IsInf(f, 0):
		r.fail("metadata key %s is %v", key, f)
	}
	return f
}

// factor reads an optional factor; 0 means none.
func (r *metaReader) factor(key string) float32 {
	f := float32(r.number(key, 0))
	if f != 0 && !(f > 1e-6 && f < 1e6) {
		r.fail("%s%s is %v: it must lie between 1e-6 and 1e6", r.arch, key, f)
	}
	return f
}

// epsilon reads what a norm adds to the variance.
func (r *metaReader) epsilon(key string) float32 {
	eps := float32(r.number(key, -1))
	if !(eps > 0 && eps < 1) {
		r.fail("%s%s is %v: it must lie between 0 and 1", r.arch, key, eps)
	}
	return eps
}

// rope reads the rotary position embedding of heads with headDim elements.
func (r *metaReader) rope(pairing npu.Pairing, headDim int) npu.Rope {
	rope := npu.Rope{
		Pairing: pairing, HeadDim: headDim,
		Dims:   r.size("rope.dimension_count", 2, maxWidth, headDim),
		Base:   r.number("rope.freq_base", 10000),
		Linear: 1,
	}
	r.scaling(&rope)
	switch {
	case rope.Dims%2 != 0 || rope.Dims > headDim:
		r.fail("%srope.dimension_count is %d: it must be even and at most the head's %d", r.arch, rope.Dims, headDim)
	case !(rope.Base > 1 && rope.Base < 1e12):
		r.fail("%srope.freq_base is %v: it must lie between 1 and 1e12", r.arch, rope.Base)
	case !(rope.Linear > 1e-6 && rope.Linear < 1e6):
		r.fail("%srope.scaling.factor is %v: it must lie between 1e-6 and 1e6", r.arch, rope.Linear)
	}
	return rope
}

// scaling reads how positions beyond those of the first training are scaled. As in llama.cpp, linear is the default, the
// factor may have its old name, and 0 means none. What LongRoPE does is in its tensors.
func (r *metaReader) scaling(rope *npu.Rope) {
	kind := r.optionalText(r.arch + "rope.scaling.type")
	if kind == "none" || kind == "longrope" {
		return
	}
	factor := r.number("rope.scaling.factor", r.number("rope.scale_linear", 0))
	switch {
	case kind == "" || kind == "linear":
		if factor != 0 {
			rope.Linear = factor
		}
	case kind == "yarn":
		if factor != 0 {
			r.yarn(rope, factor)
		}
	default:
		r.fail("%srope.scaling.type %q is not supported: only none, linear, yarn and longrope are", r.arch, kind)
	}
}

// yarn sets the frequency factors of YaRN (Peng et al. 2023, §3): pairs that turn often within the first training's context
// keep their frequency, those that turn less than once are slowed by the factor, and between them there is a ramp.
func (r *metaReader) yarn(rope *npu.Rope, factor float64) {
	first := float64(r.size("rope.scaling.original_context_length", 1, maxContext, r.size("context_length", 1, maxContext, 0)))
	fast, slow := r.number("rope.scaling.yarn_beta_fast", 32), r.number("rope.scaling.yarn_beta_slow", 1)
	if !(factor >= 1 && factor < 1e6) || !(rope.Base > 1) || !(fast > slow && slow > 0) || rope.Dims < 2 || rope.Dims > maxWidth {
		r.fail("%srope.scaling: a factor of %v and turns from %v to %v are out of range", r.arch, factor, slow, fast)
		return
	}
	pair := func(turns float64) float64 { // that turns so often in the first training's context
		return float64(rope.Dims) * math.Log(first/(turns*2*math.Pi)) / (2 * math.Log(rope.Base))
	}
	low, high := max(0, math.Floor(pair(fast))), min(float64(rope.Dims-1), math.Ceil(pair(slow)))
	rope.Factors = make([]float32, rope.Dims/2)
	for i := range rope.Factors {
		keep := 1 - min(1, max(0, (float64(i)-low)/max(0.001, high-low)))
		rope.Factors[i] = float32(1 / (keep + (1-keep)/factor))
	}
	rope.Magnitude = (1 + 0.1*math.Log(factor)) * r.number("rope.scaling.attn_factor", 1)
	if by := r.number("rope.scaling.yarn_log_multiplier", 0); by != 0 {
		rope.Magnitude /= 1 + 0.1*by*math.Log(factor)
	}
}

// keyHeads reads the number of key-value heads. It may differ by layer only where layers have none, which are those with
// short convolutions.
func (r *metaReader) keyHeads(c *Config) int {
	key := r.arch + "attention.head_count_kv"
	v, _ := r.file.Value(key)
	list, ok := v.([]int32)
	if unsigned, is := v.([]uint32); is {
		ok = true
		for _, n := range unsigned {
			list = append(list, int32(min(n, math.MaxInt32)))
		}
	}
	if !ok {
		return r.size("attention.head_count_kv", 1, maxWidth, c.Heads)
	}
	heads := int32(0)
	for _, n := range list {
		if n != 0 && heads != 0 && n != heads {
			r.fail("metadata key %s: layers of %d and of %d heads are not supported", key, heads, n)
		}
		heads = max(heads, n)
		c.convolved = append(c.convolved, n == 0)
	}
	if len(list) != c.Layers || heads < 1 || heads > maxWidth {
		r.fail("metadata key %s has %d numbers up to %d for %d layers", key, len(list), heads, c.Layers)
		return 1
	}
	if !slices.Contains(c.convolved, true) {
		c.convolved = nil
	}
	return int(heads)
}

// features refuses what the layers of an architecture do not compute, so that no file runs as another model.
func (r *metaReader) features(arch *architecture, c *Config) {
	if layer := slices.Index(c.convolved, true); layer >= 0 && !arch.conv {
		r.fail("%sattention.head_count_kv: layer %d has 0 heads, and of all architectures only %s may have layers without attention: use another model",
			r.arch, layer, architecturesWith(func(a *architecture) bool { return a.conv }))
	}
	var long string // what says that a file has LongRoPE
	if key := r.arch + "rope.scaling.type"; r.optionalText(key) == "longrope" {
		long = "metadata key " + key
	}
	for _, name := range []string{longFactors, shortFactors} {
		if r.file.Has(name) {
			long = "tensor " + name
		}
	}
	if long != "" && !arch.long {
		r.fail("%s: LongRoPE is supported with architecture %s only, and this is %s: use another model",
			long, architecturesWith(func(a *architecture) bool { return a.long }), arch.name)
	}
}

// experts reads the sizes of mixtures of experts.
func (r *metaReader) experts(c *Config) {
	n := r.size("expert_count", 0, 4096, -1)
	if n <= 0 {
		return
	}
	c.experts = experts{count: n, used: r.size("expert_used_count", 1, n, 0), ff: r.size("expert_feed_forward_length", 1, maxWidth, c.FF)}
}

// diffusion reads what a diffusion model's file says of its masks, as llama.cpp writes it. A file need not say whether
// logits are shifted: llama.cpp writes no such key for Dream. Then shifted is what the architecture does.
func (r *metaReader) diffusion(c *Config, shifted bool) {
	c.Diffusion = true
	if causal, ok := r.file.Meta.Bool(r.arch + "attention.causal"); ok && causal {
		r.fail("%sattention.causal is true: a diffusion model attends both ways", r.arch)
	}
	c.Shifted = shifted
	if shift, ok := r.file.Meta.Bool("diffusion.shift_logits"); ok {
		c.Shifted = shift
	}
	c.CausalPrompt, _ = r.file.Meta.Bool("tandem.causal_prompt")
	mask, ok := r.file.Uint("tokenizer.ggml.mask_token_id")
	if !ok || mask > math.MaxInt32 {
		r.fail("metadata key tokenizer.ggml.mask_token_id is missing: a diffusion model needs a mask token; convert the model again")
		return
	}
	c.Mask = tandem.Token(mask)
}

func (r *metaReader) refuse(key, what string) {
	if n, ok := r.file.Uint(r.arch + key); ok && n > 0 {
		r.fail("%s%s is %d: %s are not supported", r.arch, key, n, what)
	}
}

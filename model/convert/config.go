package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"tandem/model/gguf"
)

// An hfConfig holds the fields of config.json. Optional values are pointers.
type hfConfig struct {
	Type      string `json:"model_type"`
	Hidden    uint32 `json:"hidden_size"`
	Layers    uint32 `json:"num_hidden_layers"`
	Heads     uint32 `json:"num_attention_heads"`
	KVHeads   uint32 `json:"num_key_value_heads"`
	HeadDim   uint32 `json:"head_dim"`
	FF        uint32 `json:"intermediate_size"`
	Vocab     uint32 `json:"vocab_size"`
	Positions uint32 `json:"max_position_embeddings"`
	Act       string `json:"hidden_act"`
	Tied      *bool  `json:"tie_word_embeddings"`

	RMSEps    *float64     `json:"rms_norm_eps"`
	Theta     *float64     `json:"rope_theta"`
	Scaling   *ropeScaling `json:"rope_scaling"`
	Rope      *ropeScaling `json:"rope_parameters"` // replaces rope_theta and rope_scaling in newer files
	Window    *uint32      `json:"sliding_window"`
	UseWindow *bool        `json:"use_sliding_window"`

	family  *family
	nested  bool // the file describes more than text: text_config holds the rest
	granite graniteFactors
	gemma   gemmaConfig
	phi3    phi3Config
	lfm2    lfm2Config
	oss     gptOSSConfig

	rotary    uint32 // elements of a head that are rotated; 0 for all
	convolved []bool // layers with a convolution instead of attention; nil for none
}

type ropeScaling struct {
	Type     string   `json:"type"`
	RopeType string   `json:"rope_type"`
	Theta    *float64 `json:"rope_theta"`
	Factor   float64  `json:"factor"`
	Low      float64  `json:"low_freq_factor"`
	High     float64  `json:"high_freq_factor"`
	Original float64  `json:"original_max_position_embeddings"`

	// Of YaRN.
	Fast        *float64 `json:"beta_fast"`
	Slow        *float64 `json:"beta_slow"`
	Magnitude   *float64 `json:"attention_factor"`
	Scale       *float64 `json:"mscale"`
	ScaleAll    *float64 `json:"mscale_all_dim"`
	Temperature float64  `json:"llama_4_scaling_beta"`
}

func (s *ropeScaling) kind() string {
	switch {
	case s == nil:
		return "default"
	case s.RopeType != "":
		return s.RopeType
	case s.Type != "":
		return s.Type
	}
	return "default"
}

// maxDim bounds the sizes in a configuration, so that the product of two is at most 2^40.
const maxDim = 1 << 20

func readHFConfig(dir string) (*hfConfig, error) {
	path := filepath.Join(dir, "config.json")
	b, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no config.json: want the folder of a Hugging Face model", dir)
	} else if err != nil {
		return nil, err
	}
	c, err := parseHFConfig(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func parseHFConfig(b []byte) (*hfConfig, error) {
	c := &hfConfig{}
	if err := json.Unmarshal(b, c); err != nil {
		return nil, err
	}
	var err error
	if c.family, err = familyOf(c.Type); err != nil {
		return nil, err
	}
	var outer struct {
		Text json.RawMessage `json:"text_config"`
	}
	if err := json.Unmarshal(b, &outer); err != nil {
		return nil, err
	}
	if c.nested = len(outer.Text) > 0 && string(outer.Text) != "null"; c.nested {
		if err := json.Unmarshal(outer.Text, c); err != nil {
			return nil, fmt.Errorf("text_config: %w", err)
		}
		b = outer.Text
	}
	if err := c.family.config(c, b); err != nil {
		return nil, err
	}
	if c.KVHeads == 0 {
		c.KVHeads = c.Heads
	}
	for name, v := range map[string]uint32{"hidden_size": c.Hidden, "num_hidden_layers": c.Layers, "num_attention_heads": c.Heads,
		"num_key_value_heads": c.KVHeads, "the feed-forward size": c.FF, "vocab_size": c.Vocab, "max_position_embeddings": c.Positions} {
		if v == 0 || v > maxDim && name != "max_position_embeddings" || v > 1<<24 {
			return nil, fmt.Errorf("%s is %d, which is out of range", name, v)
		}
	}
	if c.HeadDim == 0 {
		c.HeadDim = c.Hidden / c.Heads
		if c.HeadDim*c.Heads != c.Hidden {
			return nil, fmt.Errorf("hidden_size %d is not divisible by %d heads", c.Hidden, c.Heads)
		}
	}
	if c.HeadDim%2 != 0 || uint64(c.Heads)*uint64(c.HeadDim) > maxDim || c.Heads%c.KVHeads != 0 {
		return nil, fmt.Errorf("cannot use %d heads of %d elements with %d key-value heads", c.Heads, c.HeadDim, c.KVHeads)
	}
	return c, nil
}

func (c *hfConfig) checkRope() error {
	if c.Rope != nil {
		if c.Theta == nil {
			c.Theta = c.Rope.Theta
		}
		if c.Scaling == nil {
			c.Scaling = c.Rope
		}
	}
	positive := func(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
	s := c.Scaling
	switch kind := s.kind(); kind {
	case "default":
	case "linear":
		if !positive(s.Factor) {
			return fmt.Errorf("rope_scaling: invalid factor %v", s.Factor)
		}
	case "yarn":
		return c.checkYaRN()
	case "llama3":
		if !positive(s.Factor) || !positive(s.Low) || !positive(s.High) || !positive(s.Original) || s.High <= s.Low {
			return fmt.Errorf("rope_scaling: invalid llama3 parameters: factor %v, low %v, high %v, original %v", s.Factor, s.Low, s.High, s.Original)
		}
	default:
		return fmt.Errorf("rope_scaling of type %.100q is not supported: only default, linear, llama3 and yarn are", kind)
	}
	return nil
}

// checkYaRN checks YaRN's parameters. A file that does not say how long the context of the first training was means that of the
// configuration.
func (c *hfConfig) checkYaRN() error {
	s := c.Scaling
	if s.Original == 0 {
		s.Original = float64(c.Positions)
	}
	in := func(v *float64, low, high float64) bool { return v == nil || *v > low && *v < high }
	switch {
	case !(s.Factor >= 1 && s.Factor < 1e6) || !(s.Original >= 1 && s.Original <= 1<<24):
		return fmt.Errorf("rope_scaling: yarn with factor %v from a context of %v is out of range", s.Factor, s.Original)
	case !in(s.Fast, 0, 1e6) || !in(s.Slow, 0, 1e6) || !in(s.Magnitude, 0, 1e6) || !in(s.ScaleAll, 0, 1e6):
		return fmt.Errorf("rope_scaling: invalid parameters of yarn")
	case s.Scale != nil && *s.Scale != 1:
		return fmt.Errorf("rope_scaling: mscale %v is not supported: want 1", *s.Scale)
	}
	return nil
}

// scalingMeta returns the keys that say how positions are scaled; none for Llama 3's scaling, which is a tensor.
func (c *hfConfig) scalingMeta() (list []gguf.KV) {
	s := c.Scaling
	add := func(key string, value any) { list = append(list, gguf.KV{Key: "rope.scaling." + key, Value: value}) }
	optional := func(key string, v *float64) {
		if v != nil {
			add(key, float32(*v))
		}
	}
	switch kind := s.kind(); kind {
	case "linear":
		add("type", kind)
		add("factor", float32(s.Factor))
	case "yarn":
		add("type", kind)
		add("factor", float32(s.Factor))
		add("original_context_length", uint32(s.Original))
		optional("yarn_beta_fast", s.Fast)
		optional("yarn_beta_slow", s.Slow)
		optional("yarn_log_multiplier", s.ScaleAll)
		if s.Magnitude != nil { // of which the usual one is part
			add("attn_factor", float32(*s.Magnitude/(1+0.1*math.Log(s.Factor))))
		}
	}
	return list
}

func (c *hfConfig) tied() bool {
	if c.Tied != nil {
		return *c.Tied
	}
	return c.family.tied
}

func (c *hfConfig) theta() float64 {
	if c.Theta != nil {
		return *c.Theta
	}
	return 10000
}

// window returns how many positions a layer with a window attends to; 4096 if the file does not say.
func (c *hfConfig) window() uint32 {
	if c.Window == nil {
		return 4096
	}
	return *c.Window
}

// context returns the length of the context in tokens. Windows that a GGUF file of the architecture cannot describe limit it,
// because within one window the model computes the same without.
func (c *hfConfig) context() uint32 {
	if c.Window != nil && *c.Window > 0 && (c.family.windowed || c.UseWindow != nil && *c.UseWindow) {
		return min(c.Positions, *c.Window)
	}
	return c.Positions
}

// meta returns the hyperparameters as GGUF metadata.
func (c *hfConfig) meta(name string) []gguf.KV {
	arch := c.family.arch
	p := arch + "."
	list := []gguf.KV{
		{Key: "general.architecture", Value: arch}, {Key: "general.name", Value: name},
		{Key: p + "block_count", Value: c.Layers}, {Key: p + "context_length", Value: c.context()},
		{Key: p + "embedding_length", Value: c.Hidden}, {Key: p + "feed_forward_length", Value: c.FF},
		{Key: p + "attention.head_count", Value: c.Heads}, {Key: p + "attention.head_count_kv", Value: c.keyHeads()},
	}
	for _, kv := range c.family.meta(c) {
		list = append(list, gguf.KV{Key: p + kv.Key, Value: kv.Value})
	}
	return list
}

// keyHeads returns the number of key-value heads or, if layers differ, that of each layer.
func (c *hfConfig) keyHeads() any {
	if c.convolved == nil {
		return c.KVHeads
	}
	list := make([]int32, len(c.convolved))
	for i, convolved := range c.convolved {
		if !convolved {
			list[i] = int32(c.KVHeads)
		}
	}
	return list
}

// ropeFactors returns the divisors of the frequencies in Llama 3's scaling, one for each rotary pair, or nil for other
// kinds of scaling. Long wavelengths are stretched, short ones are kept, and those between are interpolated.
func (c *hfConfig) ropeFactors() []float32 {
	s := c.Scaling
	if s.kind() != "llama3" {
		return nil
	}
	factors := make([]float32, c.HeadDim/2)
	for i := range factors {
		wave := 2 * math.Pi * math.Pow(c.theta(), 2*float64(i)/float64(c.HeadDim))
		switch {
		case wave < s.Original/s.High:
			factors[i] = 1
		case wave > s.Original/s.Low:
			factors[i] = float32(s.Factor)
		default:
			keep := (s.Original/wave - s.Low) / (s.High - s.Low)
			factors[i] = float32(1 / ((1-keep)/s.Factor + keep))
		}
	}
	return factors
}

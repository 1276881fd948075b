package lora

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"tandem/model"
	"tandem/model/convert"
	"tandem/npu"
)

// peftConfig is what adapter_config.json says. PEFT has many more methods: those that change the arithmetic are refused.
type peftConfig struct {
	Type          string            `json:"peft_type"`
	Rank          int               `json:"r"`
	Alpha         *float64          `json:"lora_alpha"`
	RankPattern   patterns[int]     `json:"rank_pattern"`
	AlphaPattern  patterns[float64] `json:"alpha_pattern"`
	RSLoRA        bool              `json:"use_rslora"`
	DoRA          bool              `json:"use_dora"`
	Bias          string            `json:"bias"`
	LoRABias      bool              `json:"lora_bias"`
	Transposed    bool              `json:"fan_in_fan_out"`
	ModulesToSave []string          `json:"modules_to_save"`
	Tokens        json.RawMessage   `json:"trainable_token_indices"`
	Initial       any               `json:"init_lora_weights"` // true, false or a method's name
	Activated     []int             `json:"alora_invocation_tokens"`
	Replicated    [][]int           `json:"layer_replication"`
	Base          string            `json:"base_model_name_or_path"`
}

// plainInitial are the methods to begin training with that leave the base's weights as they are. Others, such as PiSSA, move a
// part of the weights into the factors.
var plainInitial = []string{"gaussian", "eva", "orthogonal"}

// Bounds of patterns: how many, the bytes of one, and the instructions of all. A pattern of a few bytes, "(.{1000}){1000}", may
// have many instructions.
const (
	maxPatterns     = 4096
	maxPattern      = 256
	maxInstructions = 1 << 17
)

// check refuses what the arithmetic of LoRA does not cover, by its name.
func (c *peftConfig) check() error {
	initial, named := c.Initial.(string)
	switch {
	case !strings.EqualFold(c.Type, "LORA"):
		return fmt.Errorf("peft_type %.80q: only LORA is supported", c.Type)
	case len(c.ModulesToSave) > 0:
		return fmt.Errorf("modules_to_save holds whole matrices of %.200q, which are not an adapter: train without modules_to_save, or merge it into the model", c.ModulesToSave)
	case c.DoRA:
		return errors.New("use_dora: DoRA rescales the base's weights and is not supported: merge it into the model")
	case c.Bias != "" && c.Bias != "none", c.LoRABias:
		return errors.New("bias, lora_bias: trained biases are not supported: train with bias none")
	case c.Transposed:
		return errors.New("fan_in_fan_out: transposed weights are not supported")
	case len(c.Tokens) > 0 && string(c.Tokens) != "null":
		return errors.New("trainable_token_indices: trained tokens are not supported: merge them into the model")
	case named && !slices.Contains(plainInitial, strings.ToLower(initial)):
		return fmt.Errorf("init_lora_weights %.80q: training changed the base's weights, too, and the adapter fits only those: save it as plain LoRA (path_initial_model_for_weight_conversion of PEFT's save_pretrained), or merge it into the model", initial)
	case len(c.Activated) > 0:
		return errors.New("alora_invocation_tokens: activated LoRA is not supported: it adapts only some of the tokens")
	case len(c.Replicated) > 0:
		return errors.New("layer_replication: it makes a model with other layers than the base's: merge the adapter into that model")
	case c.Rank < 0 || c.Rank > model.MaxRank:
		return fmt.Errorf("r is %d, want 1 to %d", c.Rank, model.MaxRank)
	}
	return nil
}

// patterns are regular expressions for the ends of modules' names, with what they stand for, in the order of the file: the
// first that matches counts.
type patterns[T any] struct {
	list   []*regexp.Regexp
	values []T
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *patterns[T]) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t == nil { // null
		return err
	} else if t != json.Delim('{') {
		return errors.New("patterns are not an object")
	}
	left := maxInstructions
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var v T
		if err := d.Decode(&v); err != nil {
			return err
		}
		r, n, err := compile(fmt.Sprint(key))
		if err != nil {
			return err
		}
		if left -= n; left < 0 || len(p.list) == maxPatterns {
			return errors.New("there are too many patterns, or they repeat too much")
		}
		p.list, p.values = append(p.list, r), append(p.values, v)
	}
	return nil
}

// compile compiles a pattern, and counts its instructions.
func compile(pattern string) (r *regexp.Regexp, instructions int, err error) {
	if len(pattern) > maxPattern {
		return nil, 0, fmt.Errorf("the pattern %.80q… has more than %d bytes", pattern, maxPattern)
	}
	text := fmt.Sprintf(`^(?:.*\.)?(?:%s)$`, pattern)
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, 0, fmt.Errorf("%.80q is not a pattern", pattern)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err == nil {
		r, err = regexp.Compile(text)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%.80q is not a pattern", pattern)
	}
	return r, len(program.Inst), nil
}

// find returns what stands for a module, or else the default.
func (p patterns[T]) find(module string, otherwise T) T {
	for i, r := range p.list {
		if r.MatchString(module) {
			return p.values[i]
		}
	}
	return otherwise
}

var (
	factorName = regexp.MustCompile(`^(?:base_model\.model\.)?(.+)\.lora_([AB])(?:\.[A-Za-z0-9_-]+)?\.weight$`)
	moduleName = regexp.MustCompile(`^(?:.*\.)?layers\.(0|[1-9][0-9]{0,3})\.(?:self_attn|mlp)?\.?([a-z0-9_]+)$`)
)

// parts are the names of products in the hub's models.
var parts = map[string]string{"q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output", "out_proj": "attn_output",
	"gate_proj": "ffn_gate", "up_proj": "ffn_up", "down_proj": "ffn_down", "fc1": "ffn_up", "fc2": "ffn_down"}

// readPEFT reads an adapter as PEFT saves it: adapter_config.json, and a safetensors file with lora_A [rank × in] and lora_B
// [out × rank] of each module. Errors mention the name. Nothing of the adapter aliases tensors.
func readPEFT(name string, config, tensors []byte) (*Adapter, error) {
	fail := func(err error) (*Adapter, error) { return nil, fmt.Errorf("%s: %w", name, err) }
	if len(config) > maxConfig {
		return fail(fmt.Errorf("adapter_config.json has more than %d bytes", maxConfig))
	}
	var c peftConfig
	if err := json.Unmarshal(config, &c); err != nil {
		return fail(fmt.Errorf("adapter_config.json: %w", err))
	}
	if err := c.check(); err != nil {
		return fail(fmt.Errorf("adapter_config.json: %w", err))
	}
	stored, err := convert.Safetensors(name, tensors)
	if err != nil {
		return nil, err
	}
	modules, err := modulesOf(stored)
	if err != nil {
		return fail(err)
	}
	a := &Adapter{Name: name, hub: true}
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		f, err := readModule(module, modules[module], stored)
		if err != nil {
			return fail(err)
		}
		if want := c.RankPattern.find(module, c.Rank); want != f.Rank {
			return fail(fmt.Errorf("tensor %q has rank %d, and adapter_config.json says %d", f.from, f.Rank, want))
		}
		alpha := float64(8) // PEFT's default
		if c.Alpha != nil {
			alpha = *c.Alpha
		}
		alpha = c.AlphaPattern.find(module, alpha)
		if f.Scale = float32(alpha / float64(f.Rank)); c.RSLoRA {
			f.Scale = float32(alpha / math.Sqrt(float64(f.Rank)))
		}
		a.Factors = append(a.Factors, f)
	}
	return a.finish()
}

// modulesOf returns the names of the two factors of each module.
func modulesOf(stored map[string]convert.Stored) (map[string]*[2]string, error) {
	modules := map[string]*[2]string{}
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		m := factorName.FindStringSubmatch(name)
		if m == nil {
			return nil, fmt.Errorf("tensor %.200q is not a factor (lora_A, lora_B): embeddings, biases and whole matrices are not supported", name)
		}
		pair := modules[m[1]]
		if pair == nil {
			pair = new([2]string)
			modules[m[1]] = pair
		}
		which := int(m[2][0] - 'A')
		if pair[which] != "" {
			return nil, fmt.Errorf("tensors %.200q and %.200q are the same factor: the file holds several adapters", pair[which], name)
		}
		pair[which] = name
	}
	return modules, nil
}

// readModule reads the two factors of a module.
func readModule(module string, names *[2]string, stored map[string]convert.Stored) (f Factors, err error) {
	if names[0] == "" || names[1] == "" {
		return f, fmt.Errorf("tensor %q has no partner: lora_A and lora_B go together", names[0]+names[1])
	}
	f.from = names[0]
	m := moduleName.FindStringSubmatch(module)
	if m == nil || parts[m[2]] == "" {
		return f, fmt.Errorf("tensor %.200q: module %.200q cannot be adapted: only the projections of attention and feed-forward layers can", f.from, module)
	}
	f.Weight = fmt.Sprintf("blk.%s.%s.weight", m[1], parts[m[2]])
	if err := adaptable(f.Weight); err != nil {
		return f, fmt.Errorf("tensor %q: %w", f.from, err)
	}
	a, b := stored[names[0]], stored[names[1]]
	switch {
	case len(a.Shape) != 2 || len(b.Shape) != 2 || a.Shape[0] != b.Shape[1]:
		return f, fmt.Errorf("tensors %q of shape %d and %q of shape %d are not factors of one product", names[0], a.Shape, names[1], b.Shape)
	case a.Shape[0] < 1 || a.Shape[0] > model.MaxRank:
		return f, fmt.Errorf("tensor %q: rank %d, want 1 to %d", names[0], a.Shape[0], model.MaxRank)
	case a.Shape[1] < 1 || a.Shape[1] > maxWidth || b.Shape[0] < 1 || b.Shape[0] > maxWidth:
		return f, fmt.Errorf("tensors %q and %q: widths %d and %d, want 1 to %d", names[0], names[1], a.Shape[1], b.Shape[0], maxWidth)
	}
	for i, t := range []convert.Stored{a, b} {
		if t.Type != npu.F32 && t.Type != npu.F16 && t.Type != npu.BF16 {
			return f, fmt.Errorf("tensor %q is not of floating-point numbers: F32, F16 and BF16 can be read", names[i])
		}
	}
	f.Rank, f.In, f.Out = int(a.Shape[0]), int(a.Shape[1]), int(b.Shape[0])
	if f.A, err = numbers(names[0], a.Type, a.Data, f.Rank*f.In); err != nil {
		return f, err
	}
	f.B, err = numbers(names[1], b.Type, b.Data, f.Out*f.Rank)
	return f, err
}

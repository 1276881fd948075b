package dllm

import (
	"fmt"
	"slices"
	"strings"

	"tandem"
)

// Suffix says what a pass does with the masked positions after the current block.
type Suffix uint8

// The suffixes.
const (
	NoSuffix      Suffix = iota // the positions are not there until their block is current, or the window reaches them
	WholeSequence               // every pass computes prompt, answer and all masks (LLaDA, Nie et al. 2025)
	LiveSuffix                  // every pass computes the current block and the rest (Fast-dLLM's prefix cache, Wu et al. 2025)
	CachedSuffix                // what follows is computed when a block begins, then reused (Fast-dLLM's dual cache)
)

// Method says how an answer is denoised.
type Method struct {
	Block  int // positions that are decided together, before any after them: 32 in the papers; 0 for the whole answer
	Suffix Suffix

	// Visible is the confidence from which a guess becomes context for other positions, Stable that from which it is final
	// (llada.cpp §3.3: .7 and .9). If they are equal, there is no intermediate state. If they are above 1, only AtLeast
	// decides which guesses are taken.
	Visible, Stable float32
	AtLeast         int // positions that a pass decides at least, the most confident first; 0 counts as 1

	// Sliding moves the window along the first undecided position, at constant size, instead of from block to block
	// (llada.cpp §3.2, strategy 1).
	Sliding bool
	// Trigger is the number of undecided positions of the current block from which on the window grows into future blocks,
	// to the next step of the device's latency (llada.cpp §3.2, strategy 2: 4); 0 for never.
	Trigger int
	// SkipLogits requests logits only for positions that are open (llada.cpp §3.3, selective logits skipping). It
	// changes no token.
	SkipLogits bool
	// Refresh is how many visible tokens of the prefix a second path computes again during each pass (llada.cpp §3.3,
	// sparse cache refresh); 0 for none.
	Refresh int
}

// The paper's parameters.
const (
	DefaultBlock   = 32
	DefaultVisible = .7
	DefaultStable  = .9
	DefaultTrigger = 4
	// DefaultRefresh is about as many rows as a phone's processor computes while its NPU takes a pass, by the simulator's
	// costs of LLaDA-8B. The paper does not name a number.
	DefaultRefresh = 2
)

// never is a confidence that no guess has.
const never = 2

// Methods are the baselines, and llada.cpp's techniques added one after the other, as in the rows of its Table 6. Swap-optimized
// memory is not among them: it belongs to the device.
var Methods = []struct {
	Name string
	Method
}{
	{"vanilla", Method{Suffix: WholeSequence, Visible: never, Stable: never}},
	{"prefix-kv", Method{Block: DefaultBlock, Visible: never, Stable: never}},
	{"fast-dllm", Method{Block: DefaultBlock, Suffix: LiveSuffix, Visible: .9, Stable: .9}},
	{"dual-cache", Method{Block: DefaultBlock, Suffix: CachedSuffix, Visible: .9, Stable: .9}},
	{"parallel", Method{Block: DefaultBlock, Visible: .9, Stable: .9}},
	{"+mbsd", Method{Block: DefaultBlock, Visible: .9, Stable: .9, Sliding: true, Trigger: DefaultTrigger}},
	{"+sts", Method{Block: DefaultBlock, Visible: DefaultVisible, Stable: DefaultStable, Sliding: true, Trigger: DefaultTrigger}},
	{"+sls", Method{Block: DefaultBlock, Visible: DefaultVisible, Stable: DefaultStable, Sliding: true, Trigger: DefaultTrigger, SkipLogits: true}},
	{"+scr", Full()},
}

// Full returns the method with all techniques.
func Full() Method {
	return Method{Block: DefaultBlock, Visible: DefaultVisible, Stable: DefaultStable, Sliding: true, Trigger: DefaultTrigger, SkipLogits: true, Refresh: DefaultRefresh}
}

// FindMethod returns the method of that name; "full" is the last.
func FindMethod(name string) (Method, error) {
	if name == "full" {
		return Full(), nil
	}
	var names []string
	for _, m := range Methods {
		if m.Name == name {
			return m.Method, nil
		}
		names = append(names, m.Name)
	}
	return Method{}, fmt.Errorf("method %q is not known: use full or one of %s", name, strings.Join(names, ", "))
}

// Config is a generation.
type Config struct {
	Method
	Prompt []tandem.Token
	Length int            // positions of the answer
	Mask   tandem.Token   // stands for an undecided token
	Stop   []tandem.Token // the answer ends before the first of them
	// Shifted says that the row of a token guesses the next position (Dream), instead of its own (LLaDA).
	Shifted bool
	// CausalPrompt says that rows of the prompt see only themselves and those before.
	CausalPrompt bool
	// Ordered says that positions are decided in the order of the text, each finally, because the tokens allowed at a
	// position depend on those before it. It requires Visible and Stable to be equal.
	Ordered bool
	// Costs holds the measured times of passes in seconds: entry i is that of a pass of i+1 rows. The window does not grow
	// beyond len(Costs) rows.
	Costs []float64
	// Slack is the share by which rows of future blocks may lengthen a pass; 0 counts as .1.
	Slack float64
}

// check reports settings that no generation can have.
func (c *Config) check() error {
	switch {
	case len(c.Prompt) == 0:
		return fmt.Errorf("denoise: the prompt has no tokens")
	case c.Length < 1 || c.Length > 1<<20:
		return fmt.Errorf("denoise %d tokens: want 1 to %d", c.Length, 1<<20)
	case c.Block < 0:
		return fmt.Errorf("denoise in blocks of %d: want 1 or more, or 0 for one block", c.Block)
	case !(c.Visible > 0 && c.Stable >= c.Visible):
		return fmt.Errorf("denoise with thresholds %v and %v: the first must be above 0 and not above the second", c.Visible, c.Stable)
	case c.Suffix > CachedSuffix:
		return fmt.Errorf("denoise with suffix %d: not known", c.Suffix)
	case c.Suffix != NoSuffix && (c.Sliding || c.Trigger > 0 || c.Refresh > 0):
		return fmt.Errorf("denoise: a window, lookahead and refresh need a prefix that is reused: leave out the suffix")
	case c.Ordered && c.Visible < c.Stable:
		return fmt.Errorf("denoise in the text's order with thresholds %v and %v: they must be equal, since tokens are not revised", c.Visible, c.Stable)
	case c.AtLeast < 0 || c.Trigger < 0 || c.Refresh < 0 || !(c.Slack >= 0):
		return fmt.Errorf("denoise: negative settings")
	case slices.Contains(c.Prompt, c.Mask):
		return fmt.Errorf("denoise: the prompt contains the mask token %d", c.Mask)
	}
	return nil
}

// minGrowth is the least number of rows by which a window grows, so that growth does not depend on noise in the
// measured times.
const minGrowth = 8

// grow returns the largest number of rows, at most limit, of a pass that takes at most 1+slack times as long as a pass
// of the given rows: the end of the current step of the latency staircase (llada.cpp §3.2). The result is a multiple of
// 8, rows or limit. costs[i] is the time of a pass of i+1 rows; a pass does not grow beyond len(costs).
func grow(costs []float64, rows, limit int, slack float64) int {
	if rows < 1 || rows > len(costs) {
		return rows
	}
	most := costs[rows-1] * (1 + slack)
	for limit = min(limit, len(costs)); rows < limit; {
		next := min((rows/minGrowth+1)*minGrowth, limit)
		if !(costs[next-1] <= most) {
			break
		}
		rows = next
	}
	return rows
}

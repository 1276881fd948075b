package convert

import (
	"fmt"
	"strings"
)

// The parts of the patterns below. A stage is "re:" and a regular expression, each match of which becomes a piece, or the
// name of a simpler split. Stages are separated by newlines and apply in order.
const (
	contractionsI = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	contractionsC = `(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])`
	gpt2Stage     = `re:'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	wordsStage    = `|[^\r\n\p{L}\p{N}]?\p{L}+|`
	restStage     = `| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	upperStage    = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
	lowerStage    = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
	casedStages   = `re:[^\r\n\p{L}\p{N}]?` + upperStage + "*" + lowerStage + "+" + contractionsI + `?|[^\r\n\p{L}\p{N}]?` + upperStage + "+" + lowerStage +
		"*" + contractionsI + `?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	qwenStages = "re:" + contractionsI + wordsStage + `\p{N}` + restStage
)

// patterns maps the pre-tokenizers that tokenizer.json spells out to their names in GGUF.
var patterns = []struct {
	stages       string
	name         string
	ignoreMerges bool
}{
	{gpt2Stage, "gpt-2", false},
	{qwenStages, "qwen2", false},
	{"re:" + contractionsI + wordsStage + `\p{N}{1,3}` + restStage, "llama-bpe", true},
	{"re:" + contractionsI + wordsStage + `\p{N}{1,3}` + restStage, "dbrx", false},
	{"digits:1\n" + gpt2Stage, "smollm", false},
	{`re:[^\r\n\p{L}\p{N}]?` + upperStage + "*" + lowerStage + `+|[^\r\n\p{L}\p{N}]?` + upperStage + "+" + lowerStage +
		`*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`, "tekken", true},
	{casedStages, "gpt-4o", false},
	{casedStages, "gpt-4o", true},
	{"re:[\\r\\n]\nre:\\s?\\p{L}+\nre:\\s?\\p{P}+\nre:[一-龥ࠀ-一가-퟿]+\ndigits:1", "deepseek-coder", false},
	{"punctuation\n" + gpt2Stage + "\ndigits\nre:[0-9][0-9][0-9]", "falcon", false},
}

// pre returns the GGUF name of the pre-tokenizer. The error for an unknown one shows its pattern.
func (t *tokenizerJSON) pre() (string, error) {
	var stages []string
	refuse := func(what string, args ...any) (string, error) {
		return "", fmt.Errorf("pre-tokenizer: %s is not supported", fmt.Sprintf(what, args...))
	}
	for _, p := range t.PreTokenizer.flat() {
		switch p.Type {
		case "Split":
			isolates := p.Behavior == "Isolated" && !p.Invert || p.Behavior == "Removed" && p.Invert
			if p.Pattern.Regex == nil || !isolates {
				return refuse("splitting with behavior %.50q (invert %v)", p.Behavior, p.Invert)
			}
			stages = append(stages, "re:"+strings.ReplaceAll(*p.Pattern.Regex, contractionsC, contractionsI))
		case "Digits":
			if p.Individual {
				stages = append(stages, "digits:1")
			} else {
				stages = append(stages, "digits")
			}
		case "Punctuation":
			stages = append(stages, "punctuation")
		case "ByteLevel":
			if p.AddPrefix {
				return refuse("a space before the text (add_prefix_space)")
			}
			if p.UseRegex == nil || *p.UseRegex {
				stages = append(stages, gpt2Stage)
			}
		default:
			return refuse("%.100q", p.Type)
		}
	}
	key := strings.Join(stages, "\n")
	for _, p := range patterns {
		if p.stages == key && p.ignoreMerges == t.Model.IgnoreMerges {
			return p.name, nil
		}
	}
	return refuse("the pattern %.500q with ignore_merges %v", key, t.Model.IgnoreMerges)
}

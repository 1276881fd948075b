package tokenizer

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
	"pgregory.net/rapid"
)

const (
	gpt2Pattern   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	modernPattern = `(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,DIGITS}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

const (
	contractionPattern = `(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?`
	casedPattern       = `[^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))*((?=[\p{L}])([^A-Z]))+CONTRACTION|[^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))+((?=[\p{L}])([^A-Z]))*CONTRACTION|\p{N}DIGITS| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// patterns are the regular expressions of the stages. Text between the matches of a stage is also a word.
var patterns = map[string][]string{
	"gpt-2":          {gpt2Pattern},
	"smollm":         {`\p{N}`, gpt2Pattern},
	"qwen2":          {strings.Replace(modernPattern, "DIGITS", "1", 1)},
	"llama-bpe":      {strings.Replace(modernPattern, "DIGITS", "3", 1)},
	"dbrx":           {strings.Replace(modernPattern, "DIGITS", "3", 1)},
	"gpt-4o":         {strings.NewReplacer("CONTRACTION", contractionPattern, "DIGITS", "{1,3}").Replace(casedPattern)},
	"tekken":         {strings.NewReplacer("CONTRACTION", "", "DIGITS", "").Replace(casedPattern)},
	"deepseek-coder": {`[\r\n]`, `\s?\p{L}+`, `\s?\p{P}+`, `[一-龥ࠀ-一가-퟿]+`, `\p{N}`},
	"deepseek-llm":   {`[\r\n]`, `\s?[` + seekLetters + `]+`, `\s?[` + seekPunct + `]+`, `\s+$`, `[一-龥ࠀ-一가-퟿]+`, `\p{N}+`},
	"kimi-k2": {`[` + ideographs + `]+|[^\r\n\p{L}\p{N}]?(?:(?![` + ideographs + `])\p{L})+` + contractionPattern +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`},
	"qwen35": {`(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|` +
		` ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`},
	"deepseek-v3": {`\p{N}{1,3}`, `[一-龥぀-ゟ゠-ヿ]+`, "[!-/:-@\\[-`{-~][A-Za-z]+|" + `[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|` +
		` ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`},
	"seed-coder": {strings.NewReplacer("DIGITS", "1", `[\r\n]*|`, "|").Replace(modernPattern)},
	"falcon":     {"[\\p{P}\\$\\+<=>\\^~\\|`]+", gpt2Pattern, `[0-9][0-9][0-9]`},
	"default":    {`[\p{P}\$\+<=>\^~\|]+`, gpt2Pattern, `\p{N}+`, `[0-9][0-9][0-9]`},
}

func splitByPattern(t *rapid.T, text string, stages []*regexp2.Regexp) []string {
	if len(stages) == 0 {
		return []string{text}
	}
	var words []string
	runes, at := []rune(text), 0
	add := func(from, to int) {
		if to > from {
			words = append(words, splitByPattern(t, string(runes[from:to]), stages[1:])...)
		}
	}
	m, err := stages[0].FindStringMatch(text)
	for ; m != nil && err == nil; m, err = stages[0].FindNextMatch(m) {
		add(at, m.Index)
		add(m.Index, m.Index+m.Length)
		at = m.Index + m.Length
	}
	if err != nil {
		t.Fatal(err)
	}
	add(at, len(runes))
	return words
}

// The scanners split text like the regular expressions that they replace.
func TestScannersEqualTheirPatterns(t *testing.T) {
	for name, list := range patterns {
		t.Run(name, func(t *testing.T) {
			var stages []*regexp2.Regexp
			for _, p := range list {
				stages = append(stages, regexp2.MustCompile(p, regexp2.None))
			}
			runes := []rune(" \t\n\r\v\u0085\u00a0\u2003\u3000'sStTrReEvVmMlLdD0123456789٣½²abcéÜßſKİ我想ǅʔა。\u3000ก็e\u0301!?.,-_$+<=>^~|`/XYZ\"🦙\u200d\u0000\ufffd\uf900\ufa6e\ua700")
			rapid.Check(t, func(t *rapid.T) {
				text := rapid.StringOfN(rapid.OneOf(rapid.SampledFrom(runes), rapid.SampledFrom(runes[:24]), rapid.Rune()), 0, 24, -1).Draw(t, "text")
				if !utf8.ValidString(text) {
					t.Skip()
				}
				var got []string
				splitWords(text, preTokenizers[name].stages, func(w string) { got = append(got, w) })
				if want := splitByPattern(t, text, stages); !slices.Equal(got, want) {
					t.Fatalf("%q is split into %q, by the pattern into %q", text, got, want)
				}
			})
		})
	}
}

func TestEveryNameHasAPattern(t *testing.T) {
	for name, p := range preTokenizers {
		if patterns[p.name] == nil {
			t.Errorf("%s has the pattern %q, which no test covers", name, p.name)
		}
	}
}

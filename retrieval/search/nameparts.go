package search

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/registry"
)

// analyzerName is the analyser of titles and texts: bleve's for English, which also takes names such as "max_upload_size" and
// "openingHours" by their parts, and "wi-fi" also as "wifi".
const analyzerName = "en_names"

func init() {
	err := registry.RegisterAnalyzer(analyzerName, func(_ map[string]any, cache *registry.Cache) (analysis.Analyzer, error) {
		base, err := cache.AnalyzerNamed(en.AnalyzerName)
		if err != nil {
			return nil, err
		}
		analyser := *base.(*analysis.DefaultAnalyzer)
		analyser.Tokenizer = joiner{analyser.Tokenizer}
		analyser.TokenFilters = append([]analysis.TokenFilter{nameParts{}}, analyser.TokenFilters...)
		return &analyser, nil
	})
	if err != nil {
		panic(err) // another analyser has this name
	}
}

// joiner is a tokenizer that adds each two words with a hyphen between them as one word: some write "wifi", others "Wi-Fi".
type joiner struct{ analysis.Tokenizer }

// hyphens are those that programs write within words.
const hyphens = "-\u2010\u2011"

// Tokenize implements analysis.Tokenizer.
func (j joiner) Tokenize(text []byte) analysis.TokenStream {
	tokens := j.Tokenizer.Tokenize(text)
	if !bytes.ContainsAny(text, hyphens) {
		return tokens
	}
	out := make(analysis.TokenStream, 0, len(tokens))
	for i, t := range tokens {
		out = append(out, t)
		if i == 0 {
			continue
		}
		before := tokens[i-1]
		first, _ := utf8.DecodeRune(before.Term)
		if before.End < t.Start && strings.Contains(hyphens, string(text[before.End:t.Start])) && unicode.IsLetter(first) { // no dates
			joined := *t
			joined.Term = bytes.ToLower(slices.Concat(before.Term, t.Term)) // a capital within it would divide it again
			out = append(out, &joined)
		}
	}
	return out
}

// nameParts is a filter that adds the parts of names behind each name, at its position.
type nameParts struct{}

// Filter implements analysis.TokenFilter.
func (nameParts) Filter(tokens analysis.TokenStream) analysis.TokenStream {
	if !slices.ContainsFunc(tokens, func(t *analysis.Token) bool { return mayHaveParts(t.Term) }) {
		return tokens
	}
	out := make(analysis.TokenStream, 0, len(tokens))
	for _, t := range tokens {
		out = append(out, t)
		if !mayHaveParts(t.Term) {
			continue
		}
		parts := partsOf(t.Term)
		if len(parts) == 1 && len(parts[0]) == len(t.Term) { // no underscore around it
			continue
		}
		for _, p := range parts {
			if utf8.RuneCount(p) > 1 { // no "e" of "eBay"
				part := *t
				part.Term = slices.Clone(p) // the filters behind this one change terms in place
				out = append(out, &part)
			}
		}
	}
	return out
}

// mayHaveParts reports whether a term has a sign by which partsOf may divide it. Most have none.
func mayHaveParts(term []byte) bool {
	for i, c := range term {
		if c == '_' || i > 0 && 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// partsOf divides a name where it has an underscore, and before a capital that follows a lower-case letter.
func partsOf(name []byte) (parts [][]byte) {
	for word := range bytes.SplitSeq(name, []byte("_")) {
		from, before := 0, ' '
		for i, r := range string(word) {
			if unicode.IsUpper(r) && unicode.IsLower(before) {
				parts, from = append(parts, word[from:i]), i
			}
			before = r
		}
		if from < len(word) {
			parts = append(parts, word[from:])
		}
	}
	return parts
}

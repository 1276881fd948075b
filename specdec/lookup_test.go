package specdec

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tandem"
)

// plainNgrams counts in a map what Ngrams counts in its tables.
func plainNgrams(text []tandem.Token, most int) map[string][]follower {
	counts := map[string][]follower{}
	for i, token := range text {
		for n := 1; n <= min(most, i) && token != Separator && text[i-n] != Separator; n++ {
			key := string(textOf(text[i-n : i]))
			counts[key] = count(counts[key], token)
		}
	}
	return counts
}

func textOf(tokens []tandem.Token) (out []rune) {
	for _, t := range tokens {
		out = append(out, rune(t)+1)
	}
	return out
}

// Ngrams has the counts of plain maps, also after it took tokens back.
func TestNgramsEqualPlainMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vocabulary := rapid.SampledFrom([]int{2, 12, 40}).Draw(t, "vocabulary")
		var g Ngrams
		text := append(tokens(t, 80, vocabulary, "prompt"), 1)
		g.Committed(text)
		firm := len(text)
		for range rapid.IntRange(0, 3).Draw(t, "edits") {
			keep := rapid.IntRange(firm, len(text)).Draw(t, "keep")
			g.Rewind(keep)
			more := tokens(t, 20, vocabulary, "more")
			g.Committed(more)
			text = append(text[:keep:keep], more...)
		}
		for key, want := range plainNgrams(text, 4) {
			h := uint64(0)
			for _, r := range slices.Backward([]rune(key)) {
				h = hash(h, tandem.Token(r-1))
			}
			var memory [followers]follower
			got := []follower(nil)
			if at := g.where.get(h); at >= 0 {
				got = g.list(g.runs[at], &memory)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("after %q of %d: %v, want %v", key, text, got, want)
			}
		}
	})
}

// A table holds what a map holds.
func TestTableEqualsMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got table
		want := map[uint64]int32{}
		for range rapid.IntRange(0, 400).Draw(t, "steps") {
			key := rapid.Uint64Range(0, 150).Draw(t, "key") << rapid.SampledFrom([]int{0, 32}).Draw(t, "shift")
			if index := int32(rapid.IntRange(-1, 9).Draw(t, "index")); index < 0 {
				delete(want, key)
				got.set(key, index)
			} else {
				want[key] = index
				got.set(key, index)
			}
			index, ok := want[key]
			if !ok {
				index = -1
			}
			if got.get(key) != index {
				t.Fatalf("%d at %d, want %d", got.get(key), key, index)
			}
		}
		for key, index := range want {
			if got.get(key) != index {
				t.Fatalf("%d at %d, want %d", got.get(key), key, index)
			}
		}
	})
}

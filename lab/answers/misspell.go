package answers

import (
	"slices"
	"unicode"
)

// minMisspelt is the length in letters of the words that Misspelt touches.
const minMisspelt = 5

// Misspelt returns the set with up to n words of each question misspelt: in each a letter after the first is left out,
// doubled, replaced or swapped with the next. Words with a capital or a digit stay, since another letter may make another
// name. The same seed misspells alike.
func (s Set) Misspelt(n int, seed uint64) Set {
	r := random(s.Name+"/misspelt", seed)
	out := Set{Name: s.Name}
	for _, w := range s.Worlds {
		questions := slices.Clone(w.Questions)
		for i := range questions {
			text := []rune(questions[i].Text)
			words := plainWords(text)
			chosen := r.Perm(len(words))
			chosen = chosen[:min(n, len(chosen))]
			slices.SortFunc(chosen, func(a, b int) int { return b - a }) // from the end, so that places stay
			for _, k := range chosen {
				from, to := words[k][0], words[k][1]
				text = slices.Concat(text[:from], slip(text[from:to], r.IntN(4), 1+r.IntN(to-from-2), 'a'+rune(r.IntN(26))), text[to:])
			}
			questions[i].Text = string(text)
		}
		out.Worlds = append(out.Worlds, World{w.Sides, questions})
	}
	return out
}

// plainWords returns the ranges of a text's longer words that have only lower-case letters.
func plainWords(text []rune) (out [][2]int) {
	for from := 0; from < len(text); {
		to, plain := from, true
		for to < len(text) && !unicode.IsSpace(text[to]) && !unicode.IsPunct(text[to]) {
			plain = plain && unicode.IsLower(text[to])
			to++
		}
		if plain && to-from >= minMisspelt {
			out = append(out, [2]int{from, to})
		}
		from = max(to, from+1)
	}
	return out
}

// slip returns a word with one slip of the keyboard at letter i, which has a neighbour on both sides.
func slip(word []rune, kind, i int, other rune) []rune {
	out := slices.Clone(word)
	switch kind {
	case 0:
		return slices.Delete(out, i, i+1)
	case 1:
		return slices.Insert(out, i, out[i])
	case 2:
		out[i] = other
	default:
		out[i], out[i+1] = out[i+1], out[i]
	}
	return out
}

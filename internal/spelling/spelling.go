// Package spelling compares words letter by letter.
package spelling

// Nearest returns the word that is most like a misspelt one, "" if none is like it.
func Nearest(misspelt string, among []string) (nearest string) {
	typed := []rune(misspelt)
	least := 3
	switch n := len(typed); { // a short word with more errors is another word
	case n < 4:
		least = 1
	case n < 8:
		least = 2
	}
	for _, word := range among {
		if d := Distance(typed, []rune(word), least-1); d < least {
			nearest, least = word, d
		}
	}
	return nearest
}

// Distance returns the number of insertions, deletions, replacements and swaps of neighbours that turn a into b (optimal
// string alignment). Beyond limit it returns limit+1, in less time.
func Distance(a, b []rune, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	two, one, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			x := one[j-1]
			if a[i-1] != b[j-1] {
				x++
			}
			x = min(x, one[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				x = min(x, two[j-2]+1)
			}
			row[j] = x
			least = min(least, x)
		}
		if least > limit {
			return limit + 1
		}
		two, one, row = one, row, two
	}
	return min(one[len(b)], limit+1)
}

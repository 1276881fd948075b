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
		if d := Distance(typed, []rune(word)); d < least {
			nearest, least = word, d
		}
	}
	return nearest
}

// Distance returns the number of insertions, deletions, replacements and swaps of neighbours that turn a into b (optimal
// string alignment).
func Distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range b {
			row[j+1] = min(last[j+1], row[j]) + 1
			if a[i] == b[j] {
				row[j+1] = min(row[j+1], last[j])
			} else {
				row[j+1] = min(row[j+1], last[j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

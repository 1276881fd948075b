package specdec

import (
	"cmp"
	"slices"

	"tandem"
)

// Lookup is prompt lookup decoding (PLD, Saxena 2023). It searches the text for its own last MaxNgram tokens, then for
// fewer, and drafts what followed the latest occurrence. With Branches above 1, several occurrences become branches.
type Lookup struct {
	MaxNgram int // tokens to search for; 0 means 3
	Length   int // of the draft; 0 means 10
	Branches int // 0 means 1
	text     []tandem.Token
}

// Committed implements Drafter.
func (l *Lookup) Committed(tokens []tandem.Token) { l.text = append(l.text, tokens...) }

// Rewind implements Drafter.
func (l *Lookup) Rewind(n int) { l.text = l.text[:min(n, len(l.text))] }

// Settle implements Drafter.
func (l *Lookup) Settle(*Verdict) {}

// Propose implements Drafter. It looks at each place of the text once.
func (l *Lookup) Propose(t *Tree) {
	most, length, branches := min(cmp.Or(l.MaxNgram, 3), len(l.text)-1), cmp.Or(l.Length, 10), cmp.Or(l.Branches, 1)
	if most <= 0 {
		return
	}
	found := make([][]int, most) // the latest places by the length of the match, less one
	last := l.text[len(l.text)-1]
	for end := len(l.text) - 1; end > 0 && len(found[most-1]) < branches; end-- {
		if l.text[end-1] != last {
			continue
		}
		n := 1
		for n < most && n < end && l.text[end-1-n] == l.text[len(l.text)-1-n] {
			n++
		}
		if len(found[n-1]) < branches {
			found[n-1] = append(found[n-1], end)
		}
	}
	for n := most; n > 0 && branches > 0; n-- {
		for _, end := range found[n-1][:min(branches, len(found[n-1]))] {
			after := l.text[end:min(end+length, len(l.text))]
			if i := slices.Index(after, Separator); i >= 0 {
				after = after[:i]
			}
			t.Chain(-1, after, FromPrompt, n)
			branches--
		}
	}
}

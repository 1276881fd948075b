package api

import "tandem/internal/sentences"

// WithoutMark returns the citation as people are shown it: without the bullet or the number of an item at its start. A
// number stays where it may belong to the text, or answers.
func (c Citation) WithoutMark() Citation {
	n := sentences.ItemMark(c.Text)
	if n == 0 || c.To > c.From && c.To <= n {
		return c
	}
	c.Text, c.From, c.To = c.Text[n:], max(0, c.From-n), max(0, c.To-n)
	return c
}

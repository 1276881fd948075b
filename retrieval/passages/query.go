package passages

import "strings"

// Query is a question to search passages for.
type Query struct {
	Before string // the question before it, which may name what Text leaves out; "" for none
	Text   string
}

// QueryOf returns the query for a text of several lines: the last one asks, after what the others say.
func QueryOf(text string) Query {
	text = strings.TrimSpace(text)
	if line := strings.LastIndexByte(text, '\n'); line >= 0 {
		return Query{Before: text[:line], Text: text[line+1:]}
	}
	return Query{Text: text}
}

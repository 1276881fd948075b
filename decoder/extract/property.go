package extract

import (
	"strings"

	"tandem/decoder"
)

// property returns the value of a line such as "Type: number" below a heading, where a question has the words of both and no others:
// "What type is the depth setting?"
func (p passage) property(question string) (from, to int, ok bool) {
	if formOf(question) != value {
		return 0, 0, false
	}
	wanted := p.besidesNames(decoder.ContentWords(question))
	for begin := p.body; begin < len(p.text); begin = p.lineEnd(begin) + 1 {
		end := p.lineEnd(begin)
		label := labelOf(p.text[begin:end])
		words := decoder.ContentWords(label)
		if len(words) == 0 || len(words) > 2 || decoder.SharedWords(words, wanted) < len(words) {
			continue
		}
		above := p.above(begin)
		if i := strings.LastIndex(above, ": "); i >= 0 {
			above = above[i+2:]
		}
		head := decoder.ContentWords(above)
		rest := decoder.WithoutWords(decoder.WithoutWords(wanted, words), head)
		if len(head) == 0 || decoder.SharedWords(head, decoder.ContentWords(question)) < len(head) || len(besides(rest, defaultWords)) > 0 {
			continue
		}
		if ok {
			return 0, 0, false
		}
		from, to, ok = begin+strings.Index(p.text[begin:end], label)+len(label)+len(": "), end, true
	}
	return from, to, ok
}

// besides returns the words that are not in a set.
func besides(words []string, in map[string]bool) (out []string) {
	for _, w := range words {
		if !in[w] {
			out = append(out, w)
		}
	}
	return out
}

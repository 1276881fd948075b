package decoder

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"tandem/internal/refusal"
	"tandem/internal/words"
	"tandem/retrieval/passages"
)

// MaxQuotes is the largest number of quotes for a part of an answer.
const MaxQuotes = 3

// MaxQuoteBytes is the largest number of bytes of the text around a sentence that are quoted. A window of a document is
// rarely longer.
const MaxQuoteBytes = 800

// A citer finds the sentences of passages that say what an answer says.
type citer struct {
	topic    string
	passages []passages.Passage
	scorer   Scorer
}

// quotes returns the sentences of the part's passages that best support it and share a word with it. If the part says that the
// answer is unknown, quotes returns the passages most relevant to the question. base holds the scorer's relevance of each
// passage at the beginning of the part.
func (c citer) quotes(p Part, said string, base []float64) []Quote {
	question := join(c.topic, said)
	unknown := refusal.Unknown(said, p.Nothing)
	if unknown {
		question = c.topic
	}
	var out []Quote
	for i, w := range p.Weights {
		if !unknown && w < MinShare || strings.TrimSpace(c.passages[i].Text) == "" {
			continue
		}
		text := c.passages[i].Text
		all := sentencesOf(text)
		best := c.nearest(text, all, question)
		q := Quote{Passage: i, Relevance: base[i]}
		if unknown {
			from, to := around(all, best, MaxQuoteBytes)
			q.Text, q.From, q.To = text[from:to], all[best].from-from, all[best].to-from
		} else {
			q.Text, q.Weight = text[all[best].from:all[best].to], w
			if words.Shared(words.Content(said), words.Content(q.Text)) == 0 {
				continue // an answer without any of its words is not cited for it
			}
			q.From, q.To = repeated(q.Text, said, words.Content(c.topic))
		}
		out = append(out, q)
	}
	slices.SortStableFunc(out, func(x, y Quote) int {
		return cmp.Or(cmp.Compare(y.Weight, x.Weight), cmp.Compare(y.Relevance, x.Relevance))
	})
	return out[:min(MaxQuotes, len(out))]
}

// extent is a range of bytes.
type extent struct{ from, to int }

// nearest returns the index of the sentence that the scorer finds most relevant to a query.
func (c citer) nearest(text string, all []extent, query string) (best int) {
	var each []passages.Passage
	for _, s := range all {
		each = append(each, passages.Passage{Text: text[s.from:s.to]})
	}
	scores := c.scorer.Prepare(each)(nil, query)
	return slices.Index(scores, slices.Max(scores))
}

// sentencesOf returns the sentences and lines of a text that is not blank, without the space between them.
func sentencesOf(text string) (out []extent) {
	from := 0
	add := func(to int) {
		s := text[from:to]
		begin := from + len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, extent{begin, begin + len(s)})
		}
		from = to
	}
	for i := 1; i < len(text); i++ {
		if c := text[i]; (c == ' ' || c == '\t' || c == '\n') && sentenceStart([]byte(text[from:i+1])) > 0 {
			add(i)
		}
	}
	add(len(text))
	return out
}

// around returns the range of sentence i with as many sentences around it as fit in most bytes, first those after it,
// then those before it.
func around(all []extent, i, most int) (from, to int) {
	a, b := i, i+1
	for grown := true; grown; {
		grown = false
		if b < len(all) && all[b].to-all[a].from <= most {
			b, grown = b+1, true
		}
		if a > 0 && all[b-1].to-all[a-1].from <= most {
			a, grown = a-1, true
		}
	}
	return all[a].from, all[b-1].to
}

// repeated returns the bytes of a text with the longest run of words that an answer repeats and the question does not have,
// without function words at its ends; none if there is no such word.
func repeated(text, answer string, asked []string) (from, to int) {
	a, b := wordsOf(text), wordsOf(answer)
	fresh := func(w string) bool { return !words.Function(w) && !words.Has(asked, w) }
	longest := 0
	for i := range a {
		for j := range b {
			for n := 0; i+n < len(a) && j+n < len(b) && a[i+n].low == b[j+n].low; n++ {
				if n+1 > longest && fresh(a[i].low) && fresh(a[i+n].low) {
					longest, from, to = n+1, a[i].from, a[i+n].to
				}
			}
		}
	}
	return from, to
}

// lowWord is a word in lower case and its place.
type lowWord struct {
	low string
	extent
}

// wordsOf returns the runs of letters and digits of a text.
func wordsOf(text string) (out []lowWord) {
	from := -1
	for i, r := range text + " " {
		word := unicode.IsLetter(r) || unicode.IsDigit(r)
		if word && from < 0 {
			from = i
		} else if !word && from >= 0 {
			out, from = append(out, lowWord{strings.ToLower(text[from:i]), extent{from, i}}), -1
		}
	}
	return out
}

package answers

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"tandem"
	"tandem/decoder"
	"tandem/decoder/extract"
	"tandem/internal/refusal"
)

// addCitations fills in what the programs show below an answer, and the span reader's confidence in the answer's weakest
// part. The answer is Unknown if no document supports any sentence of it.
func (a *Answer) addCitations(sides []side, decode func([]tandem.Token) string, ids []tandem.Token) {
	a.Unknown, a.Confidence = len(ids) > 0, 1
	for _, lead := range sides[0].Parts() {
		shares, other, nothing := sharesAt(sides, lead.From)
		if len(shares) > 0 {
			a.Confidence = min(a.Confidence, extract.Confidence(shares[0].relevance, other.Relevance))
		}
		best := math.Inf(-1)
		for _, s := range shares {
			best = max(best, s.relevance)
		}
		for _, s := range shares[:min(decoder.MaxQuotes, len(shares))] {
			if decoder.WorthShowing(s.weight, s.relevance, best) {
				a.Shown = append(a.Shown, s.text)
			}
		}
		if other.Text != "" && !slices.ContainsFunc(shares, func(s quoteShare) bool { return s.weight >= decoder.MinShare && s.text == other.Text }) {
			a.Other = append(a.Other, other.Text)
		}
		from := min(lead.From, len(ids))
		sentence := strings.TrimSpace(decode(ids[from:max(from, min(lead.To, len(ids)))]))
		refused := sentence == "" || refusal.Unknown(sentence, nothing)
		a.Unknown = a.Unknown && refused
		if len(shares) > 0 && refused && shares[0].points != "" {
			a.First = append(a.First, shares[0].points)
		} else if len(shares) > 0 {
			a.First = append(a.First, shares[0].text)
		}
	}
}

// quoteShare is a quote with its share of an answer's part.
type quoteShare struct {
	text, points      string // the whole quote, and the words of it that answer
	weight, relevance float64
}

// sharesAt returns the quotes of both sides for the part of an answer that begins at a token, by weight, the sentence that
// contradicts them with the highest relevance, and the share of the contexts without a document.
func sharesAt(sides []side, from int) (shares []quoteShare, other decoder.Quote, nothing float64) {
	other.Relevance = math.Inf(-1)
	total := math.Inf(-1)
	for _, s := range sides {
		if part := partFrom(s.Parts(), from); part != nil {
			total = decoder.LogSumExp([]float64{total, part.H})
		}
	}
	for _, s := range sides {
		part := partFrom(s.Parts(), from)
		if part == nil {
			continue
		}
		eta := math.Exp(part.H - total)
		nothing += eta * part.Nothing
		for _, q := range part.Quotes {
			shares = append(shares, quoteShare{q.Text, q.Text[q.From:q.To], eta * q.Weight, q.Relevance})
		}
		for _, q := range part.Otherwise {
			if q.Relevance > other.Relevance {
				other = q
			}
		}
	}
	slices.SortStableFunc(shares, func(x, y quoteShare) int {
		return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(y.relevance, x.relevance))
	})
	return shares, other, nothing
}

func partFrom(parts []decoder.Part, from int) *decoder.Part {
	for i := range parts {
		if parts[i].From == from {
			return &parts[i]
		}
	}
	return nil
}

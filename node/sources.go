package node

import (
	"strings"

	"tandem"
	"tandem/transport"
)

// sourcesMessage is the cloud's message about its documents, with titles and quotes only if they may be shown.
func sourcesMessage(sources []Source, parts []sidePart, titles, quotes bool) transport.Sources {
	var m transport.Sources
	if titles {
		m.Sources = wireSources(sources, transport.MaxSources)
	}
	for _, p := range parts[:min(len(parts), transport.MaxParts)] {
		w := transport.Part{From: tandem.Step(p.from), H: p.h, Nothing: share(p.nothing)}
		if titles {
			w.Sources = wireSources(p.sources, transport.MaxPartSources)
		}
		if !quotes {
			p = p.unquoted()
		}
		w.Quotes, w.Otherwise = wireQuotes(p.quotes, titles), wireQuotes(p.alternatives, titles)
		m.Parts = append(m.Parts, w)
	}
	return m
}

func wireSources(sources []Source, most int) []transport.Source {
	var out []transport.Source
	for _, s := range sources[:min(len(sources), most)] {
		out = append(out, transport.Source{Title: wireTitle(s.Title), Weight: share(s.Weight)})
	}
	return out
}

// wireTitle cuts a name to the bytes that a message may have.
func wireTitle(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), transport.MaxTitle)], "")
}

func wireQuotes(quotes []Quote, titles bool) []transport.Quote {
	var out []transport.Quote
	for _, q := range quotes[:min(len(quotes), transport.MaxPartQuotes)] {
		w := transport.Quote{Text: q.Text, From: q.From, To: q.To, Weight: share(q.Weight), Relevance: q.Relevance}
		if len(w.Text) > transport.MaxQuote {
			continue // no sentence is that long
		}
		w.Column = wireTitle(q.Column)
		if titles {
			w.Title = wireTitle(q.Title)
		}
		out = append(out, w)
	}
	return out
}

// share keeps a rounded share within 0 to 1.
func share(x float64) float64 { return min(max(x, 0), 1) }

func sourcesOf(list []transport.Source) []Source {
	var out []Source
	for _, s := range list {
		out = append(out, Source{Title: s.Title, Weight: share(s.Weight)})
	}
	return out
}

func partsOf(m transport.Sources) []sidePart {
	var out []sidePart
	for _, p := range m.Parts {
		out = append(out, sidePart{from: int(p.From), h: p.H, nothing: p.Nothing, sources: sourcesOf(p.Sources), quotes: quotesOf(p.Quotes), alternatives: quotesOf(p.Otherwise)})
		if len(p.Sources) == 0 {
			out[len(out)-1].sources = []Source{{Weight: 1 - p.Nothing}}
		}
	}
	return out
}

func quotesOf(list []transport.Quote) []Quote {
	var out []Quote
	for _, q := range list {
		out = append(out, Quote{Title: q.Title, Text: q.Text, From: q.From, To: q.To, Column: q.Column, Weight: share(q.Weight), Relevance: q.Relevance})
	}
	return out
}
